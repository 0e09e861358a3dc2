"""The space integrator is a choice of accuracy and speed, not of physics."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from tests.samples import at, random_configuration, random_vector, residual, rod

TOL = 1e-8  # relative, on 16 nodes, for a rod curved by 3 rad


def forces(space, basis) -> np.ndarray:
    model = sp.Robot(rod(space=space, nodes=16, basis=basis)).build()
    rng = np.random.default_rng(1)
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    return np.asarray(residual(model, at(q, v, random_vector(model, rng, 1.0, 5.0))))


@pytest.mark.parametrize(
    ("space", "basis"),
    [
        (sp.Spectral(), 3),
        (sp.RungeKutta(), 3),
        (sp.Spectral(), sp.PiecewiseConstant((0.05, 0.23))),
    ],
)
def test_inverse_dynamics_does_not_depend_on_the_space_integrator(space, basis):
    expected = forces(sp.Magnus(), basis)
    np.testing.assert_allclose(
        forces(space, basis), expected, rtol=0, atol=TOL * np.abs(expected).max()
    )


def bent(u):
    """A curved and twisted rest shape with a corner in the middle."""
    bend = jnp.where(u < 0.5, 1.0 + u, 0.2)
    none = 0.0 * u
    return jnp.stack([0.5 + u, none, bend, 1.0 + none, none, none], axis=-1)


@pytest.mark.parametrize("space", [sp.Spectral(), sp.RungeKutta()])
def test_rest_shapes_with_corners_do_not_depend_on_the_space_integrator(space):
    tips = []
    for one in (sp.Magnus(), space):
        robot = sp.Robot(rod(space=one, nodes=16, rest=bent, breaks=(0.5,)))
        held = sp.equilibrium(robot)
        tips.append(held.position("arm"))
        np.testing.assert_allclose(held.shape("arm").position[-1], tips[-1], rtol=0, atol=TOL)
    np.testing.assert_allclose(tips[1], tips[0], rtol=0, atol=TOL)


def test_bases_that_span_the_same_space_give_the_same_accelerations_of_the_tip():
    """Legendre, Chebyshev and monomials of one order: other numbers, the same generalized force."""
    u = np.linspace(0.0, 1.0, 9)
    legendre = sp.Legendre(2)
    rng = np.random.default_rng(2)
    q, v, a = rng.uniform(-1, 1, (3, 9))
    found = {}
    for basis in (legendre, sp.Chebyshev(2), sp.Monomial(2)):
        model = sp.Robot(rod(basis=basis)).build()
        # Coordinates of the same strains: values = Φ_L q_L = Φ q.
        change = np.linalg.lstsq(basis.values(u), legendre.values(u), rcond=None)[0]
        change = np.kron(np.eye(3), change)
        forces = np.asarray(residual(model, at(change @ q, change @ v, change @ a)))
        found[basis] = change.T @ forces
    expected = found.pop(legendre)
    for forces in found.values():
        np.testing.assert_allclose(forces, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
