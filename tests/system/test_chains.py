"""Accelerations of chains of pieces, condensed by halving, are those of the dense mass matrix."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.bench.pcs import _error, robot, state
from supple.mechanics.element_motion import Coordinates, neutral
from supple.system.chains import chain_of
from supple.system.forward_dynamics import forward_dynamics
from tests.samples import BENT, RUBBER
from tests.tools import jit, tangent

TOL = 1e-10  # of a solution in units of the coordinates, with condition numbers of 1e5
TOL_ENERGY = 1e-11  # the same in the norm of the mass matrix

accelerate = jit(forward_dynamics)


def loaded(joint, **options) -> sp.Robot:
    """A rod with a body, loads and a tendon that ends at the end of a piece, on a joint."""
    rod = sp.Rod(
        "arm", 0.6, sp.Circle(lambda u: 0.02 - 0.008 * u), RUBBER, joint=joint, rest=BENT,
        position=(0.1, 0.2, 0.3), rotation=(0.0, 0.3, 0.1), basis=sp.PiecewiseConstant(5), **options,
    )  # fmt: skip
    return sp.Robot(
        rod,
        sp.Body("tool", 0.1, (1e-4, 2e-4, 2e-4), com=(0.01, 0.0, 0.02), parent="arm"),
        sp.Wrench("push", on="arm", fraction=0.4, force=(0.1, 0.4, 0.2), follower=True),
        sp.Wrench("pull", on="tool", force=(0.3, -0.4, 0.2)),
        sp.Tendon("cable", on="arm", offset=(0.004, -0.003), end=0.8, tension=3.0),
        formulation="pcs",
    )


@pytest.mark.parametrize(
    ("joint", "strains"),
    [(sp.Free(), "reissner"), (sp.Revolute("y", stiffness=0.1, damping=0.01), "kirchhoff")],
)
def test_accelerations_are_those_of_the_dense_matrix(rng, joint, strains):
    model = loaded(joint, strains=strains).build()
    assert chain_of(model) is not None
    scale = np.asarray(model.scale)
    q, rod = neutral(model), model.topology.rod_slots[0]
    q[rod.q] += 0.5 * rng.normal(size=model.nv)[rod.v] * scale[rod.v]
    v = rng.normal(size=model.nv) * scale
    found = np.asarray(accelerate(model, q, v, 0.3))
    zero = np.zeros(model.nv)
    t = tangent(model, Coordinates(q, zero, v, zero, jnp.asarray(0.3)))
    expected = -np.linalg.solve(t.mass, t.residual)
    np.testing.assert_allclose(
        found / scale, expected / scale, atol=TOL * np.abs(expected / scale).max()
    )


@pytest.mark.parametrize(
    ("case", "pieces"),
    [
        ("kirchhoff", 6),
        *(
            pytest.param(case, pieces, marks=pytest.mark.slow)
            for case in ("kirchhoff", "reissner")
            for pieces in (1, 2, 3, 17, 50)
        ),
    ],
)
def test_from_one_to_fifty_pieces(case, pieces):
    model = robot(case, pieces).build()
    assert _error(model, *state(model)) < TOL_ENERGY


def test_what_is_no_chain_goes_along_the_graph():
    arm = sp.Rod("arm", 0.5, sp.Circle(0.01), RUBBER, basis="pcc:2")
    for item in (
        sp.Rod("twig", 0.2, sp.Circle(0.01), RUBBER, parent="arm", basis="pcc:2"),
        sp.Body("ball", 0.1, (1e-4,) * 3, parent="arm", joint=sp.Spherical()),
        sp.Wrench("poke", on="arm", fraction=0.3, force=(0, 1, 0)),
        sp.Spring("band", on="arm", to="ground", to_position=(0.6, 0.1, 0.0), stiffness=1.0),
    ):
        assert chain_of(sp.Robot(arm, item, formulation="pcs").build()) is None
    assert chain_of(sp.Robot(arm).build()) is None
