"""Rods in pieces of constant strain are the rods of the default formulation on piecewise constant bases.

Both have the same equations and not one line of their kinematics in common: Magnus steps and quadrature
there, exponentials of rigid motions here. So they agree term by term as far as the default's nodes allow.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.energy import energies
from supple.mechanics.frames import frame_motion, frame_poses, rod_shape, rod_strain
from supple.mechanics.kinematics import kinematics
from supple.mechanics.section_wrenches import internal_wrenches
from supple.mechanics.transmissions import transmission_motion
from supple.model.model import Model
from supple.model.state import State
from supple.space.piece import nodes_for_turn
from tests.samples import BENT, RUBBER
from tests.tools import jit, tangent

TOL = 1e-11  # sixteen nodes a panel of the default, for turns of two radians
TOL_RUN = 1e-9  # of Newton iterations
NODES = 16
SOFT = sp.Material(E=1e6, density=1000.0, nu=0.45)
EDGES = (0.2, 0.5, 0.7)


def tapered(u):
    return 0.02 - 0.008 * u


def blowing(t, X, pose, twist):
    """More along the rod, and against its motion."""
    return jnp.concatenate(
        [jnp.zeros(3), jnp.stack([0.0 * X, 3.0 * X**2, 1.0 + X]) - 0.1 * twist[3:]]
    )


@cache
def robot(formulation: str) -> sp.Robot:
    """A tree with loads, tendons and chambers that begin and end within pieces, and things within them."""
    arm = sp.Rod(
        "arm", 0.8, sp.Circle(tapered), RUBBER, strains="reissner", rest=BENT,
        basis=sp.PiecewiseConstant(EDGES), joint=sp.Revolute("z", stiffness=5.0), nodes=NODES,
    )  # fmt: skip
    branch = sp.Rod(
        "branch", 0.3, sp.Rectangle(0.03, 0.02), RUBBER, parent="arm", fraction=0.6,
        basis="pcc:2", rotation=(0.0, 0.3, 0.2), nodes=NODES,
    )  # fmt: skip
    items = [
        arm,
        branch,
        sp.Rod("stub", 0.1, sp.Circle(0.01), RUBBER, parent="branch", strains="rigid", basis=1),
        sp.Body(
            "tool", 0.2, (1e-4, 2e-4, 2e-4), parent="arm", joint=sp.Revolute("y", stiffness=0.4)
        ),
        sp.Wrench(
            "pull", on="arm", fraction=0.35, force=(0.3, -0.4, 0.2), moment=(0.01, 0.0, 0.02)
        ),
        sp.Wrench("push", on="branch", force=(0.1, 0.4, 0.2), follower=True),
        sp.DistributedLoad("wind", on="arm", density=blowing),
        sp.Tendon("short", on="arm", offset=(0.004, -0.003), end=0.6, tension=3.0),
        sp.Tendon(
            "long",
            on=("arm", "tool"),
            tension=2.0,
            offset={"arm": (0.0, 0.004), "tool": (0.05, 0.004, 0.0)},
        ),
        sp.Chamber(
            "bladder", on="branch", offset=(0.002, 0.001), area=1e-5, start=0.3, pressure=2e4
        ),
    ]
    return sp.Robot(*items, formulation=formulation)


def piece_order(model: Model, other: Model) -> np.ndarray:
    """Where the coordinates of rods in pieces are in the model that lists them strain by strain."""
    order = np.arange(other.nv)
    for slot, whole in zip(model.topology.rod_slots, other.topology.rod_slots, strict=True):
        if slot.in_pieces:
            own = np.arange(whole.v_start, whole.v_stop).reshape(-1, slot.pieces)
            order[slot.v] = own.T.reshape(-1)
    for slot, joint in zip(model.topology.joint_slots, other.topology.joint_slots, strict=True):
        order[slot.v] = np.arange(joint.v_start, joint.v_stop)
    return order


@jit
def points(model, q, v, a):
    """Motion of points within pieces and between two."""
    return [frame_motion(model, "arm", q, v, a, fraction=u) for u in (0.1, 0.5, 0.93)]


U = (0.0, 0.1, 0.2, 0.35, 0.6, 0.85, 1.0)


@jit
def readings(model, state):
    """Strains, poses, wrenches and energies."""
    c = Coordinates(state.q, jnp.zeros(model.nv), state.v, state.a, state.t)
    return {
        "strain": [rod_strain(model, name, state.q, np.array(U)) for name in ("arm", "branch")],
        "shape": [rod_shape(model, name, state.q, np.array(U)) for name in ("arm", "branch")],
        "wrench": internal_wrenches(model, state, "arm", U),
        "frames": frame_poses(model, state.q),
        "energies": energies(model, state.q, state.v),
        "tendons": transmission_motion(model, c, kinematics(model, c)).length,
    }


@pytest.fixture(scope="module")
def models() -> tuple[Model, Model, np.ndarray]:
    pieces, whole = robot("pcs").build(), robot("strain").build()
    return pieces, whole, piece_order(pieces, whole)


def motion(rng, model: Model) -> list[np.ndarray]:
    """Pieces that turn by up to two radians, and move fast."""
    return [
        rng.normal(size=model.nv) * np.asarray(model.scale) * size for size in (0.8, 0.0, 2.0, 5.0)
    ]


def test_every_term_is_that_of_the_default_formulation(rng, models):
    pieces, whole, order = models
    given = motion(rng, whole)
    t = jnp.asarray(0.3)
    expected = tangent(whole, Coordinates(*given, t))
    found = tangent(pieces, Coordinates(*(part[order] for part in given), t))
    for name in ("residual", "mass", "damping", "stiffness"):
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        b = b[order] if b.ndim == 1 else b[order][:, order]
        np.testing.assert_allclose(a, b, atol=TOL * np.abs(b).max(), err_msg=name)


def test_what_is_read_of_a_motion_is_the_same(rng, models):
    pieces, whole, order = models
    q, _, v, a = motion(rng, whole)
    t = np.asarray(0.3)
    found = readings(pieces, State(t, q[order], v[order], a[order], None))
    expected = readings(whole, State(t, q, v, a, None))
    for name, one in found.items():
        for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(expected[name]), strict=True):
            np.testing.assert_allclose(x, y, atol=TOL * (1 + np.abs(y).max()), err_msg=name)


def test_points_within_a_piece_move_as_in_the_default(rng, models):
    pieces, whole, order = models
    q, _, v, a = motion(rng, whole)
    places = zip(points(pieces, q[order], v[order], a[order]), points(whole, q, v, a), strict=True)
    for found, expected in places:
        for name in ("twist", "acceleration"):
            one, other = getattr(found, name), getattr(expected, name)
            np.testing.assert_allclose(one, other, atol=TOL * np.abs(other).max(), err_msg=name)
        np.testing.assert_allclose(found.jacobian, expected.jacobian[:, order], atol=TOL)
        rate, other = found.jacobian_rate, expected.jacobian_rate[:, order]
        np.testing.assert_allclose(rate, other, atol=TOL * np.abs(other).max())
        changed = found.acceleration - found.jacobian @ a[order]
        np.testing.assert_allclose(rate @ v[order], changed, atol=TOL * np.abs(changed).max())


@pytest.mark.slow
def test_equilibria_and_runs_are_the_same(models):
    pieces, whole, order = models
    held = [sp.equilibrium(model) for model in (pieces, whole)]
    np.testing.assert_allclose(held[0].q, held[1].q[order], atol=TOL_RUN)
    runs = [sp.simulate(model, 0.02, dt=0.01) for model in (pieces, whole)]
    size = np.abs(runs[1].q).max()
    np.testing.assert_allclose(runs[0].q, runs[1].q[:, order], atol=TOL_RUN * size)
    np.testing.assert_array_equal(runs[0].newton, runs[1].newton)


@pytest.mark.parametrize("robot_of", ["one rod", "two rods"])
def test_explicit_runs_lead_where_implicit_ones_lead(robot_of):
    """Along a chain that is halved, and along the graph of a tree."""
    section = sp.Circle(0.02)
    arm = sp.Rod("arm", 0.3, section, SOFT, strains="planar", basis=2, joint=sp.Revolute("z"))
    twig = sp.Rod("twig", 0.2, section, SOFT, strains="planar", basis=2, parent="arm", fraction=0.5)
    items = [arm] if robot_of == "one rod" else [arm, twig]
    model = sp.Robot(*items, gravity=(0.0, -9.81, 0.0), formulation="pcs").build()
    exact = sp.simulate(model, 0.1, dt=2.5e-3, scheme=sp.gauss(3)).position("arm")[-1]
    off = [
        np.linalg.norm(sp.simulate(model, 0.1, dt=dt, scheme="rk4").position("arm")[-1] - exact)
        for dt in (4e-3, 1e-3)
    ]
    assert off[1] < 1e-7
    assert (
        off[1] < off[0] / 40
    )  # beside slow motions of fourth order there are fast ones, less regular


def test_few_nodes_suffice_for_small_turns():
    assert [nodes_for_turn(angle) for angle in (0.05, 0.5, 2.0)] == [3, 5, 8]


def test_what_has_no_pieces_is_told():
    rod = sp.Rod("arm", 1.0, sp.Circle(0.01), RUBBER, basis=sp.Legendre(3))
    with pytest.raises(sp.DescriptionError, match=r"arm: basis.*pieces of constant strain"):
        sp.Robot(rod, formulation="pcs").build()
    with pytest.raises(sp.DescriptionError, match=r"formulation: got 'pcc'.*'strain'.*'pcs'"):
        sp.Robot(rod, formulation="pcc")
    mixed = {"ky": sp.PiecewiseConstant(2), "kz": sp.PiecewiseConstant(3)}
    rod = sp.Rod("arm", 1.0, sp.Circle(0.01), RUBBER, strains="bending", basis=mixed)
    with pytest.raises(sp.DescriptionError, match="the same pieces for all strains"):
        sp.equilibrium(sp.Robot(rod), formulation="pcs")
    with pytest.raises(sp.ArgumentError, match="formulation: got 'pcs' for a model"):
        sp.simulate(sp.Robot(rod).build(), 0.1, formulation="pcs")


@pytest.mark.slow
def test_the_error_falls_with_the_square_of_the_number_of_pieces():
    def tip(basis, formulation):
        rod = sp.Rod("arm", 0.5, sp.Circle(0.01), SOFT, basis=basis)
        pull = sp.Wrench("pull", on="arm", force=(0.0, 0.05, 0.02))
        return sp.equilibrium(sp.Robot(rod, pull), formulation=formulation).position("arm")

    exact = tip(sp.Legendre(12), "strain")
    errors = [np.linalg.norm(tip(n, "pcs") - exact) for n in (8, 16, 32)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.1)
