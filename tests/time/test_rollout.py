"""Gradients and batches of short runs and of equilibria."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.solve.equilibrium import solve_equilibrium
from supple.system.strain import Strain

TOL_FD = 1e-6  # central difference, relative step 1e-4, float64


def robot(E, length, force):
    """A tip-loaded cantilever whose material, geometry and load are numbers to differentiate by."""
    return sp.Robot(
        sp.Rod(
            "rod",
            length,
            sp.Circle(0.01),
            sp.Material(E=E, density=1000.0),
            strains="planar",
            basis=2,
        ),
        sp.Wrench("F", on="rod", force=jnp.array([0.0, 1.0, 0.0]) * force),
        gravity=(9.81, 0.0, 0.0),
    ).build()


THETA = jnp.array([1e6, 0.7, 0.05])


def settled(theta):
    model = robot(*theta)
    found = solve_equilibrium(Strain(model), jnp.zeros(model.nv), jnp.zeros(()))
    return found.q, found.status


def after_steps(theta):
    model = robot(*theta)
    found = sp.rollout(model, sp.initial_state(model), sp.generalized_alpha(0.8), 0.02, 4)
    return found.states.q[-1], found.status


def check_gradient_and_batch(function):
    """Forward derivatives equal differences, which a batch computes; its first member is the single run."""
    forward, one = jax.jit(jax.jacfwd(lambda t: 2 * (function(t)[0],), has_aux=True))(THETA)
    steps = jnp.diag(1e-4 * THETA)
    others = THETA * jnp.array([[0.8, 1.1, 2.0], [3.0, 0.9, -1.0]])
    many = jnp.concatenate([THETA[None], THETA + steps, THETA - steps, others])
    batch, status = jax.jit(jax.vmap(function))(many)
    assert status.shape == (9,)
    np.testing.assert_allclose(batch[0], one, rtol=1e-9, atol=1e-10)
    differences = (batch[1:4] - batch[4:7]).T / (2e-4 * THETA)
    weight = jnp.abs(differences).max(axis=0)
    assert jnp.max(jnp.abs(forward - differences) / weight) < TOL_FD


def test_gradient_and_batch_of_an_equilibrium():
    check_gradient_and_batch(settled)


def test_gradient_and_batch_of_an_implicit_run():
    check_gradient_and_batch(after_steps)


@pytest.mark.parametrize("function", [settled, pytest.param(after_steps, marks=pytest.mark.slow)])
def test_reverse_derivatives_equal_forward_ones(function):
    forward = jax.jit(jax.jacfwd(lambda t: function(t)[0][0]))(THETA)
    reverse = jax.jit(jax.grad(lambda t: function(t)[0][0]))(THETA)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)


def test_batch_members_fail_alone():
    forces = jnp.array([0.05, jnp.nan])
    _, status = jax.jit(jax.vmap(lambda f: after_steps(THETA.at[2].set(f))))(forces)
    assert list(status) == [sp.Status.DONE, sp.Status.NOT_CONVERGED]


def swinging(theta, count):
    """The end of a run of Radau: a tree of so many rods on a hinge."""
    stiffness, density, force = theta
    material = sp.Material(E=stiffness, density=density)
    rods = [
        sp.Rod(
            f"r{i}", 0.3, sp.Circle(0.01), material, basis=2, nodes=4,
            joint=sp.Revolute("z") if i == 0 else sp.Fixed(),
            rotation=(0, 0, 0.4 * i), **({"parent": f"r{(i - 1) // 2}"} if i else {}),
        )
        for i in range(count)
    ]  # fmt: skip
    pull = sp.Wrench("F", on="r1", force=jnp.array([0.0, 1.0, 0.5]) * force)
    model = sp.Robot(*rods, pull, gravity=(0, 0, -9.81)).build()
    found = sp.rollout(model, sp.initial_state(model), sp.radau(2), 0.01, 2)
    return found.states.q[-1], found.status


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12])
def test_derivatives_of_a_radau_run(count):
    """Forward against differences, reverse against forward; with one matrix, and along the tree."""
    theta, way = jnp.array([1e6, 1000.0, 0.05]), jnp.array([1e5, 50.0, 0.01])

    def run(theta):
        return swinging(theta, count)[0]

    forward = jax.jit(lambda s: jax.jvp(lambda s: run(theta + s * way), (s,), (1.0,))[1])(0.0)
    ends = jax.jit(jax.vmap(lambda s: run(theta + s * way)))(jnp.array([1e-3, -1e-3]))
    differences = (ends[0] - ends[1]) / 2e-3
    size = jnp.abs(differences).max()
    np.testing.assert_allclose(forward, differences, atol=TOL_FD * size)
    weights = jnp.cos(jnp.arange(len(forward)))
    reverse = jax.jit(jax.grad(lambda theta: weights @ run(theta)))(theta)
    np.testing.assert_allclose(reverse @ way, weights @ forward, rtol=1e-8)
