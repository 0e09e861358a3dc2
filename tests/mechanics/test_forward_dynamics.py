"""Forward and inverse dynamics undo each other; the mass matrix is what it should be."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import retract
from supple.mechanics.energy import energies
from supple.mechanics.inverse_dynamics import inverse_dynamics, violation
from supple.mechanics.inverse_dynamics_tangent import mass_matrix
from supple.robots.rfrfr import rfrfr
from supple.system.forward_dynamics import _rates
from tests.samples import (
    accelerate,
    at,
    model_of,
    random_configuration,
    random_vector,
    residual,
)
from tests.tools import jit, tangent

TOL = 1e-10  # one solve with the mass matrix
TOL_ENERGY = 1e-12  # the same sums in another order

kinetic = jit(lambda model, q, v: energies(model, q, v).kinetic)


@pytest.mark.parametrize("robot", ["crawler", "floating"])
def test_inverse_dynamics_of_forward_dynamics_is_zero(rng, robot):
    model = model_of(robot)
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    found = accelerate(model, q, v, 0.3)
    left = tangent(model, at(q, v, np.asarray(found))).residual
    size = np.abs(np.asarray(tangent(model, at(q, v)).residual)).max()
    assert np.abs(np.asarray(left)).max() <= TOL * size


def test_forward_dynamics_of_inverse_dynamics_is_the_acceleration(rng):
    """Apply what the inverse dynamics asks for, and the robot accelerates as wanted."""
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    wanted = random_vector(model, rng, 2.0, 4.0)
    t = tangent(model, at(q, v, wanted))
    free = np.asarray(accelerate(model, q, v, 0.3))
    found = free + np.linalg.solve(t.mass, t.residual)
    np.testing.assert_allclose(found, wanted, atol=TOL * np.abs(free).max())


@pytest.mark.parametrize("robot", ["clamped", "reissner", "tree", "crawler"])
def test_mass_matrix_is_symmetric_and_positive_definite(rng, robot):
    model = model_of(robot)
    c = at(random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0))
    mass = np.asarray(tangent(model, c).mass)
    np.testing.assert_allclose(mass, mass.T, atol=1e-13 * np.abs(mass).max())
    assert np.linalg.eigvalsh(mass)[0] > 0


def test_kinetic_energy_is_half_the_mass_matrix_in_the_velocities(rng):
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    mass = np.asarray(tangent(model, at(q, v)).mass)
    assert float(kinetic(model, q, v)) == pytest.approx(v @ mass @ v / 2, rel=TOL_ENERGY)


def test_mass_matrix_alone_equals_that_of_the_tangent(rng):
    model = model_of("floating")
    q = random_configuration(model, rng)
    expected = tangent(model, at(q, np.zeros(model.nv))).mass
    np.testing.assert_allclose(jit(mass_matrix)(model, q), expected, atol=1e-15)


def test_residual_is_affine_in_the_acceleration(rng):
    """No reduction of the model: R(a) - R(0) = M a, for any a."""
    model = model_of("clamped")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    a = random_vector(model, rng, 2.0, 50.0)
    gap = residual(model, at(q, v, a)) - residual(model, at(q, v))
    mass = np.asarray(tangent(model, at(q, v)).mass)
    np.testing.assert_allclose(gap, mass @ a, atol=1e-12 * np.abs(gap).max())


def test_a_batch_of_robots_equals_its_members(rng):
    """Parameters are arrays: here gravity under vmap, one compilation."""
    model = model_of("clamped")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    gravities = rng.normal(size=(3, 3))

    def one(gravity):
        return inverse_dynamics(eqx.tree_at(lambda m: m.gravity, model, gravity), at(q, v))

    batch = jit(jax.vmap(one))(gravities)
    for row, gravity in zip(batch, gravities, strict=True):
        single = residual(eqx.tree_at(lambda m: m.gravity, model, gravity), at(q, v))
        np.testing.assert_allclose(row, single, atol=1e-13)


def test_rates_of_violation_are_its_derivatives_along_the_motion(rng):
    """Against automatic differentiation: closures, an imposed coordinate, tendons of imposed length."""
    wires = (
        sp.Tendon("inner", on="left", offset=(1e-3, 0.0), pull=lambda t: 1e-3 * t**2, push=True),
        sp.Tendon("outer", on=("ground", "left"), pull=lambda t: 1e-3 * t, push=True, discs=3,
                  offset={"ground": (0.1, 0.1, 0.0), "left": (1e-3, 2e-3)}),
        sp.PrescribedCoordinate("turn", on="right", value=lambda t: 0.3 * jnp.sin(t)),
    )  # fmt: skip
    model = rfrfr().adding(*wires).build()
    q, v = 0.1 * rng.normal(size=model.nq), rng.normal(size=model.nv)
    t = np.asarray(0.3)

    def moved(s):
        return violation(model, retract(model, q, s * v), t + s)

    def rate(s):
        return jax.jvp(moved, (s,), (jnp.ones(()),))[1]

    expected = jit(lambda s: jax.jvp(rate, (s,), (jnp.ones(()),)), quick=True)(jnp.zeros(()))
    found = jit(_rates, quick=True)(model, q, v, t)
    assert len(found[0]) == model.equations == 5
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max())
