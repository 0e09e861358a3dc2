"""The softest motions, found iteratively, against dense eigenvalues and against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates, neutral
from supple.solve import modes
from supple.solve.softest import softest_motions, unstable_motions
from supple.system.strain import Strain
from tests.system.test_linear import robot, rod

TOL = 1e-8  # of eigenvalues: round-off of dense ones, over the largest of about 1e5 times these
DENSE = 1e-10  # round-off of dense eigenvalues, over the largest


def whip(rods=3, **options):
    """A floating chain of rods; ``pushed`` by a force that follows its tip."""
    chain = [rod(f"r{i}", **({"parent": f"r{i - 1}"} if i else options)) for i in range(rods)]
    return sp.Robot(*chain, gravity=(0, 0, 0))


def pushed():
    push = sp.Wrench("push", on="r2", force=(-2.0, 0.3, 0.0), follower=True)
    return whip().adding(push).build()


MODELS = {
    "floating": lambda: whip(joint=sp.Free()).build(),
    "follower": pushed,
    "parallel legs": lambda: robot("legs"),  # whose equations depend on each other
    "bush": lambda: robot("bush"),  # unstable, with hinges
}


def at_rest(model):
    formulation = Strain(model).frozen_at(jnp.zeros(()), of_velocities=True)
    zero, forces = np.zeros(model.nv), np.zeros(model.equations) if model.equations else None
    return formulation, Coordinates(
        np.asarray(neutral(model)), zero, zero, zero, np.zeros(()), forces
    )


def dense(formulation, c):
    tangent = modes.tangent_at(formulation, c.q, multipliers=c.multipliers)
    free = modes.free_motions(tangent, np.asarray(formulation.coordinate_scale))
    stiffness, mass = (free.T @ part @ free for part in (tangent.stiffness, tangent.mass))
    return modes._eigenmodes(stiffness, mass)[0], tangent


@pytest.mark.parametrize("name", MODELS)
def test_softest_motions_are_the_lowest_of_the_dense_matrices(name):
    formulation, c = at_rest(MODELS[name]())
    expected, tangent = dense(formulation, c)
    found = softest_motions(formulation, c, 7)
    atol = DENSE * np.abs(expected).max()
    np.testing.assert_allclose(found.values, expected[:7], rtol=TOL, atol=atol)
    if name != "follower":  # motions of unsymmetric matrices are not orthogonal, and may flutter
        gram = found.shapes.T @ tangent.mass @ found.shapes
        np.testing.assert_allclose(gram, np.eye(7), atol=1e-7)
        assert unstable_motions(formulation, c) == int(np.sum(expected < -atol))


def test_a_few_modes_of_a_long_chain_are_those_of_one_beam(monkeypatch):
    """Damping in proportion to stiffness: ζ = μ ω / 2."""
    rods, length, radius = 10, 0.3, 0.01
    material = sp.Material(E=1e7, density=1100.0, damping=sp.StiffnessDamping(0.01))
    planar = dict(strains="planar", basis=4, length=length, section=sp.Circle(radius))
    items = [
        sp.Rod(f"r{i}", material=material, **planar, **({"parent": f"r{i - 1}"} if i else {}))
        for i in range(rods)
    ]
    monkeypatch.setattr(modes, "LARGE", 0)
    found = sp.modes(sp.Robot(*items, gravity=(0, 0, 0)), count=3)
    beta = np.array([1.8751040687, 4.6940911330, 7.8547574382])
    whole, bending = rods * length, np.sqrt(1e7 * radius**2 / 4 / 1100.0)
    expected = beta**2 * bending / whole**2
    np.testing.assert_allclose(
        2 * np.pi * found.frequencies, expected, rtol=1e-3
    )  # slenderness 300
    np.testing.assert_allclose(found.damping_ratios, 0.01 * np.pi * found.frequencies, rtol=1e-7)
