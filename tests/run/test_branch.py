"""Branches of equilibria: bifurcations where closed forms have them, ends, other branches, readings."""

from functools import cache

import numpy as np
import pytest
from matplotlib.pyplot import close
from scipy.special import ellipk

import supple as sp
from supple.errors import ArgumentError
from supple.robots.rfrfr_prototype import ANGLE, rfrfr_prototype

ROUNDING = 1e-9
"""Meters; the branch and the equilibrium are converged to about 1e-10 of a radian."""
LOCATED = 1e-6
"""Of the parameter: how well special points are to be found."""
LENGTH, RADIUS, E = 1.0, 2e-3, 2e9
EI = E * np.pi * RADIUS**4 / 4
PLASTIC = sp.Material(E=E, nu=0.3, density=1000.0)
ROOTS = {"free": np.pi / 2, "pinned": np.pi, "propped": 4.493409457909064, "clamped": 2 * np.pi}
"""√(P L² / EI) at which a column buckles, by how it is held."""


def falling(t):
    return ANGLE - t


def rising(t):
    return t


@cache
def column(ends):
    """A column under its critical load at t = 1."""
    critical = EI * ROOTS[ends] ** 2 / LENGTH**2
    base = sp.Revolute("z") if ends == "pinned" else sp.Fixed()
    beam = sp.Rod("beam", LENGTH, sp.Circle(RADIUS), PLASTIC, strains="planar", basis=10, nodes=16,
                  joint=base)  # fmt: skip
    if ends == "free":
        items, on = [beam], "beam"
    else:
        end = sp.Fixed() if ends == "clamped" else sp.Revolute("z")
        slider = sp.Body("slider", mass=0.01, joint=sp.Prismatic("x"), position=(LENGTH, 0, 0))
        items, on = [beam, slider, sp.Closure("end", on="beam", to="slider", joint=end)], "slider"
    press = sp.Wrench("press", on=on, force=(-critical, 0, 0), law=rising)
    return sp.Robot(*items, press, gravity=(0, 0, 0)).build()


def straight(model):
    return sp.equilibrium(model, initial=np.zeros(model.nq), settle=False)


@pytest.mark.parametrize(
    "ends", ["free", *(pytest.param(x, marks=pytest.mark.slow) for x in list(ROOTS)[1:])]
)
def test_columns_buckle_at_eulers_loads_and_leave_to_both_sides(ends):
    model = column(ends)
    branch = sp.follow(model, initial=straight(model), until=1.2, step=0.3, largest=0.4, switch=1)
    assert [point.kind for point in branch.special] == ["branch"]
    assert branch.special[0].t == pytest.approx(1.0, rel=LOCATED)
    assert branch.t[-1] == 1.2
    assert branch.unstable[[0, -1]].tolist() == [0, 1]
    assert branch.stable[0]
    assert not branch.stable[-1]
    there, back = branch.others
    middle = np.stack([one.position("beam", 0.5) for one in (there, back)])
    np.testing.assert_allclose(middle[0, -1] * (1, -1, 1), middle[1, -1], atol=1e-7)
    assert np.ptp(middle[..., 1]) > 0.05
    assert all(one.t[0] == branch.special[0].t for one in branch.others)
    axes = sp.plot.branches(branch, lambda one: one.position("beam", 0.5)[:, 1], label="y (m)")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert set(labels) == {"stable", "unstable", "branch"}
    close(axes.figure)
    if ends != "propped":  # its branch turns back
        assert all(one.t[-1] == 1.2 and one.stable[-1] for one in branch.others)


def test_the_buckled_branch_is_the_elastica_and_reads_like_all_else():
    """A cantilever whose tip has turned by α carries P = (2 K(sin(α/2)) / π)² times Euler's load."""
    model = column("free")
    branch = sp.follow(model, initial=straight(model), until=1.2, step=0.3, largest=0.4)
    bent = sp.follow(model, initial=branch.branchings[0], until=1.2, largest=0.4)
    tip = bent.pose("beam").rotation[1:]
    turned = np.abs(np.arctan2(tip[:, 1, 0], tip[:, 0, 0]))
    expected = (2 * ellipk(np.sin(turned / 2) ** 2) / np.pi) ** 2
    np.testing.assert_allclose(bent.t[1:], expected, rtol=1e-7)
    held = sp.equilibrium(model, initial=bent.q[-1], t=1.2)
    np.testing.assert_allclose(bent.position("beam")[-1], held.position("beam"), atol=ROUNDING)
    np.testing.assert_allclose(bent.strain("beam", 5)[-1], held.strain("beam", 5), atol=1e-7)
    np.testing.assert_allclose(bent.energies.elastic[-1], held.energies.elastic, rtol=1e-7)
    for name in ("reaction", "internal_wrench"):
        ours, theirs = getattr(bent, name)("beam")[-1], getattr(held, name)("beam")
        np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert len(bent.stability) == len(bent)
    with pytest.raises(ArgumentError, match="side"):
        sp.follow(model, initial=branch.branchings[0], side=0, until=1.2)
    with pytest.raises(ArgumentError, match="motion: got 1"):
        sp.follow(model, initial=branch.branchings[0], motion=1, until=1.2)


def test_a_follower_force_brings_flutter_at_becks_load():
    """P L² / EI = 20.05; rotary inertia lowers it by about (RADIUS / L)²."""
    beam = sp.Rod("beam", LENGTH, sp.Circle(RADIUS), PLASTIC, strains="planar", basis=10, nodes=16)
    push = sp.Wrench("push", on="beam", force=(-20.05095 * EI, 0, 0), follower=True, law=rising)
    model = sp.Robot(beam, push, gravity=(0, 0, 0)).build()
    branch = sp.follow(model, initial=straight(model), until=1.2, step=0.3, largest=0.4)
    assert [point.kind for point in branch.special] == ["flutter"]
    assert branch.special[0].t == pytest.approx(1.0, rel=3e-5)
    assert branch.stability[-1] == sp.Stability.FLUTTER
    assert branch.unstable[-1] == 0


def greenhill(tension):
    """Torque L / EI at which a clamped rod with (T L² / EI) leaves its axis.

    EI w'''' - i M w''' - T w'' = 0 for w = y + i z, w = w' = 0 at both ends.
    """
    from scipy.optimize import brentq

    def determinant(torque):
        root = np.sqrt(torque**2 - 4 * tension)
        a, b = (torque + root) / 2, (torque - root) / 2
        turns = np.exp(1j * a), np.exp(1j * b)
        matrix = [[1, 0, 1, 1], [0, 1, 1j * a, 1j * b], [1, 1, *turns],
                  [0, 1, 1j * a * turns[0], 1j * b * turns[1]]]  # fmt: skip
        return (np.linalg.det(np.array(matrix)) * np.exp(-0.5j * (a + b))).imag

    grid = np.linspace(2 * np.sqrt(max(tension, 0.0)) + 0.1, 25.0, 2401)
    values = np.array([determinant(x) for x in grid])
    first = np.flatnonzero(values[1:] * values[:-1] < 0)[0]
    return brentq(determinant, grid[first], grid[first + 1], xtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("tension", [-20.0, 10.0, 30.0])
def test_a_twisted_rod_leaves_its_axis_at_greenhills_torque(tension):
    """In any direction: two motions need no force at once, and one goes on to need none."""
    torque = greenhill(tension) * EI / LENGTH
    robot = sp.Robot(
        sp.Rod("rod", LENGTH, sp.Circle(RADIUS), PLASTIC, basis=14, nodes=20),
        sp.Body("chuck", mass=0.01, inertia=(1e-6,) * 3, joint=sp.Cylindrical("x"),
                position=(LENGTH, 0, 0)),
        sp.Closure("grip", on="rod", to="chuck", joint=sp.Fixed()),
        sp.Wrench("turn", on="chuck", moment=(torque, 0, 0), law=rising),
        sp.Wrench("pull", on="chuck", force=(tension * EI / LENGTH**2, 0, 0)),
        gravity=(0, 0, 0),
    )  # fmt: skip
    model = robot.build()
    branch = sp.follow(model, until=1.2, step=0.3, largest=1.0)
    assert [point.kind for point in branch.special] == ["branch"]
    assert branch.special[0].t == pytest.approx(1.0, rel=LOCATED)
    assert len(branch.special[0].motions) == 2
    bent = sp.follow(
        model, initial=branch.special[0], until=1.2, largest=0.5, max_points=8, throw=False
    )
    assert np.linalg.norm(bent.position("rod", 0.5)[-1, 1:]) > 0.02


@pytest.mark.slow
def test_large_robots_are_followed_by_their_structure():
    """Many columns, each with a load of its own; the weakest goes first."""
    items, share = [], np.linspace(1.0, 2.0, 16)
    for i, part in enumerate(share):
        name, load = f"beam {i}", -EI * (np.pi / 2) ** 2 / part
        items.append(sp.Rod(name, LENGTH, sp.Circle(RADIUS), PLASTIC, strains="planar", basis=6,
                            nodes=12, position=(0, 0.1 * i, 0)))  # fmt: skip
        items.append(sp.Wrench(f"press {i}", on=name, force=(load, 0, 0), law=rising))
    model = sp.Robot(*items, gravity=(0, 0, 0)).build()
    assert model.linear == "structured"
    branch = sp.follow(model, initial=straight(model), until=1.1, step=0.5, largest=0.5)
    times = [point.t for point in branch.branchings]
    np.testing.assert_allclose(times, share[share < 1.1], rtol=LOCATED)
    bent = sp.follow(model, initial=branch.branchings[0], until=1.03, step=0.2, largest=1.0)
    assert bent.t[-1] == 1.03
    assert abs(bent.position("beam 0")[-1, 1]) > 0.1
    assert abs(bent.position("beam 15")[-1, 1] - 1.5) < ROUNDING


@pytest.mark.slow
def test_positions_and_shapes_follow_the_branch():
    model = rfrfr_prototype(angle=falling).build()
    held = sp.equilibrium(model)
    branch = sp.follow(model, initial=held, until=2 * ANGLE, max_points=5, throw=False)
    platform = branch.position("platform")
    assert platform.shape == (5, 3)
    assert np.allclose(platform[0], held.position("platform"), atol=ROUNDING)
    left, right = (branch.shape(name, 11).position for name in ("left", "right"))
    assert np.allclose(left[:, -1], platform, atol=ROUNDING)
    assert np.allclose(right[:, -1], platform, atol=ROUNDING)
    with pytest.raises(ArgumentError, match="need one of"):
        branch.position("nothing")
