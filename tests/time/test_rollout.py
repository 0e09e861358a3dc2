"""Gradients and batches of short runs and of equilibria."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.solve.equilibrium import solve_equilibrium

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
    found = solve_equilibrium(model, jnp.zeros(model.nv), jnp.zeros(()))
    return found.q, found.status


def after_steps(theta):
    model = robot(*theta)
    found = sp.rollout(model, sp.initial_state(model), sp.generalized_alpha(0.8), 0.02, 4)
    return found.states.q[-1], found.status


def central_differences(function, theta):
    columns = []
    for i in range(len(theta)):
        step = 1e-4 * theta[i]
        ends = [function(theta.at[i].add(s * step))[0] for s in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2 * step))
    return jnp.stack(columns, axis=-1)


def check_gradient_and_batch(function):
    value = jax.jit(function)
    forward = jax.jit(jax.jacfwd(lambda t: function(t)[0]))(THETA)
    reverse = jax.jit(jax.grad(lambda t: function(t)[0][0]))(THETA)
    expected = central_differences(value, THETA)
    weight = jnp.abs(expected).max(axis=0)
    assert jnp.max(jnp.abs(forward - expected) / weight) < TOL_FD
    np.testing.assert_allclose(reverse, forward[0], rtol=1e-9)
    many = THETA * jnp.array([[1.0, 1.0, 1.0], [0.8, 1.1, 2.0], [3.0, 0.9, -1.0]])
    batch, status = jax.jit(jax.vmap(function))(many)
    assert status.shape == (3,)
    for row, theta in zip(batch, many, strict=True):
        np.testing.assert_allclose(row, value(theta)[0], rtol=1e-9, atol=1e-10)


def test_gradient_and_batch_of_an_equilibrium():
    check_gradient_and_batch(settled)


@pytest.mark.slow
def test_gradient_and_batch_of_an_implicit_run():
    check_gradient_and_batch(after_steps)


def test_batch_members_fail_alone():
    forces = jnp.array([0.05, jnp.nan])
    _, status = jax.jit(jax.vmap(lambda f: after_steps(THETA.at[2].set(f))))(forces)
    assert list(status) == [sp.Status.DONE, sp.Status.NOT_CONVERGED]
