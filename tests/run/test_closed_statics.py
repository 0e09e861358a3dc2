"""Statics of closed loops: assembly and its failures, beams held at both ends, buckling, snap-through."""

from functools import cache

import numpy as np
import pytest

import supple as sp
from supple.robots.rfrfr import rfrfr

LENGTH, RADIUS, E, DENSITY = 1.0, 2e-3, 2e9, 1000.0
EI, LINE = E * np.pi * RADIUS**4 / 4, DENSITY * np.pi * RADIUS**2
PLASTIC = sp.Material(E=E, density=DENSITY)


def beam(**options):
    return sp.Rod(
        "beam", length=LENGTH, section=sp.Circle(RADIUS), material=PLASTIC, nodes=16,
        **{**dict(strains="planar", basis=8), **options},
    )  # fmt: skip


@cache
def dyad():
    """Two bars of 0.5 m to a point 0.7 m away: an elbow on either side."""
    bar = dict(mass=0.1, inertia=(1e-4, 1e-3, 1e-3), com=(0.25, 0, 0), joint=sp.Revolute("z"))
    return sp.Robot(
        sp.Body("upper", **bar),
        sp.Body("lower", parent="upper", position=(0.5, 0, 0), **bar),
        sp.Closure("hand", on="lower", to="ground", joint=sp.Revolute("z"), position=(0.5, 0, 0),
                   to_position=(0.7, 0, 0)),
        gravity=(0, 0, 0),
    ).build()  # fmt: skip


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_guess_decides_between_two_ways_to_assemble(side):
    found = sp.assemble(dyad(), initial=side * np.array([0.1, -0.4]))
    elbow = np.sqrt(0.5**2 - 0.35**2)
    np.testing.assert_allclose(found.position("lower"), (0.35, side * elbow, 0.0), atol=1e-9)


def test_a_start_that_is_open_is_refused_by_name():
    with pytest.raises(sp.ArgumentError, match=r"closure 'hand' is open by 0\.3 m.*assemble"):
        sp.simulate(dyad(), 0.1, dt=0.01, initial=sp.initial_state(dyad()))
    with pytest.raises(sp.ArgumentError, match="closure 'hand' is open"):
        sp.modes(dyad(), at=np.zeros(2))


def test_rods_too_short_to_meet_are_told_with_the_gap_left():
    with pytest.raises(sp.SolveError) as caught:
        sp.assemble(rfrfr(distance=2.5, basis=2))
    assert "cannot be closed: no motion brings closure 'tip' nearer than 0." in str(caught.value)


@cache
def held_at_both_ends():
    """Clamped at its base, and clamped to the ground at its tip by a closure; it can stretch and shear."""
    return sp.Robot(
        beam(strains="planar-reissner", basis={"kz": 8, "gx": 2, "gy": 2}),
        sp.Closure("wall", on="beam", to="ground", joint=sp.Fixed(), to_position=(LENGTH, 0, 0)),
        gravity=(0, 0, 0),
    ).build()


def test_modes_of_a_beam_clamped_at_both_ends_are_the_textbooks():
    found = sp.modes(held_at_both_ends())
    roots = np.array([4.73004074, 7.85320462, 10.9956079])
    expected = roots**2 * np.sqrt(EI / (LINE * LENGTH**4)) / (2 * np.pi)
    # Shear and rotary inertia lower the n-th frequency by some (roots RADIUS)²/2.
    np.testing.assert_allclose(found.frequencies[:3], expected, rtol=2e-3)
    assert found.stable


def test_a_beam_propped_in_its_middle_bends_as_the_textbook_says():
    """Clamped at 0, on a sliding prop at l = L/2, pushed at L: δ = F l³ (1/4 + 1/3) / EI."""
    force, half = 1e-3, LENGTH / 2
    robot = sp.Robot(
        beam(basis=sp.PiecewiseLinear(2)),  # the moment is linear on either side of the prop
        sp.Body("slider", mass=0.01, joint=sp.Prismatic("x"), position=(half, 0, 0)),
        sp.Closure("prop", on="beam", fraction=0.5, to="slider", joint=sp.Revolute("z")),
        sp.Wrench("push", on="beam", force=(0, force, 0)),
        gravity=(0, 0, 0),
    )
    found = sp.equilibrium(robot)
    assert abs(found.frame("beam", fraction=0.5).pose.position[1]) < 1e-10
    expected = force * half**3 * (1 / 4 + 1 / 3) / EI
    assert found.position("beam")[1] == pytest.approx(expected, rel=1e-4)


def growing(t):
    return 1.0 + 0.5 * t


def test_a_grown_rod_sags_as_one_made_that_long():
    """A quarter longer at t = 0.5 s; strains of the other are those at the same fractions of its length."""
    grown = sp.equilibrium(sp.Robot(beam(basis=4, growth=growing), gravity=(0, -9.81, 0)), t=0.5)
    made = beam(basis=4)
    long = sp.Robot(sp.Rod("beam", 1.25 * LENGTH, made.section, PLASTIC, strains="planar", basis=4,
                           nodes=16), gravity=(0, -9.81, 0))  # fmt: skip
    expected = sp.equilibrium(long)
    assert expected.position("beam")[1] < -0.1
    np.testing.assert_allclose(grown.position("beam"), expected.position("beam"), atol=1e-9)


@pytest.mark.slow
def test_a_pinned_rod_buckles_at_eulers_load():
    critical = np.pi**2 * EI / LENGTH**2
    robot = sp.Robot(
        beam(basis=5, joint=sp.Revolute("z")),
        sp.Body("slider", mass=0.01, joint=sp.Prismatic("x"), position=(LENGTH, 0, 0)),
        sp.Closure("pin", on="beam", to="slider", joint=sp.Revolute("z")),
        sp.Wrench("press", on="slider", force=(-critical, 0, 0), law=lambda t: t),
        gravity=(0, 0, 0),
    )  # fmt: skip
    model = robot.build()
    straight = sp.equilibrium(model, initial=np.zeros(model.nq))
    branch = sp.follow(model, initial=straight, until=1.3, step=0.1)
    kinds = [point.kind for point in branch.special]
    assert kinds == ["branch"]
    assert branch.special[0].t == pytest.approx(1.0, rel=1e-4)
    assert list(branch.unstable[[0, -1]]) == [0, 1]


def test_a_shallow_truss_snaps_through_at_its_closed_form():
    """Half a von Mises truss: a spring bar to an apex on a vertical guide."""
    base, height, stiffness = 1.0, 0.3, 100.0
    free = np.hypot(base, height)
    robot = sp.Robot(
        sp.Body("bar", mass=0.1, inertia=(1e-3,) * 3, joint=sp.Revolute("z"),
                rotation=(0, 0, np.arctan2(height, base))),
        sp.Body("ram", parent="bar", mass=0.1, inertia=(1e-3,) * 3, position=(free, 0, 0),
                joint=sp.Prismatic("x", stiffness=stiffness)),
        sp.Body("apex", mass=0.1, joint=sp.Prismatic("y"), position=(base, height, 0)),
        sp.Closure("top", on="ram", to="apex", joint=sp.Revolute("z")),
        sp.Wrench("press", on="apex", force=(0, -1, 0), law=lambda t: t),
        gravity=(0, 0, 0),
    )  # fmt: skip
    length = (free * base**2) ** (1 / 3)
    highest = stiffness * (free - length) / length * np.sqrt(length**2 - base**2)
    branch = sp.follow(robot, until=2.0, step=0.05)
    assert branch.limits[0].t == pytest.approx(highest, rel=1e-5)
    assert [point.kind for point in branch.special] == ["limit"]
    assert branch.unstable.max() == 1
    # Flat, it carries nothing and would need a pull to be held: the branch has come back to t = 0.
    assert branch.status == sp.BranchStatus.CAME_BACK
    assert branch.ok
    assert branch.t[-1] == 0.0
    # Let go on, it turns again under a pull as large and comes back to where it began, upside down.
    whole = sp.follow(robot, until=highest, step=0.05, since=-np.inf)
    assert [point.kind for point in whole.special] == ["limit", "limit"]
    assert whole.limits[1].t == pytest.approx(-highest, rel=1e-5)
    assert whole.status == sp.BranchStatus.DONE
    with pytest.raises(sp.SolveError, match="limit on the number of points") as raised:
        sp.follow(robot, until=2.0, step=0.05, max_points=5)
    part = raised.value.result
    np.testing.assert_allclose(part.q, branch.q[:5], atol=1e-12)
    assert part.status == sp.BranchStatus.STEP_LIMIT
    assert "after 5 points" in str(part)


@pytest.mark.slow
def test_a_branching_point_just_after_a_limit_point_is_told_from_it():
    """A truss of two steep spring bars: both points lie within one step, and are known in closed form."""
    base, height, stiffness = 1.0, 2.68, 100.0
    free = np.hypot(base, height)

    def bar(name, side):
        slope = np.arctan2(height, side * -base)
        return (
            sp.Body(f"{name} bar", mass=0.1, inertia=(1e-3,) * 3, joint=sp.Revolute("z"),
                    position=(side * base, 0, 0), rotation=(0, 0, slope)),
            sp.Body(f"{name} ram", parent=f"{name} bar", mass=0.1, inertia=(1e-3,) * 3,
                    position=(free, 0, 0), joint=sp.Prismatic("x", stiffness=stiffness)),
            sp.Closure(f"{name} end", on=f"{name} ram", to="apex", joint=sp.Spherical()),
        )  # fmt: skip

    robot = sp.Robot(
        sp.Body("apex", mass=0.1, inertia=(1e-3,) * 3, position=(0, height, 0),
                joint=sp.Planar("z", stiffness=(0.0, 0.0, 1.0))),
        *bar("left", -1), *bar("right", 1),
        sp.Wrench("press", on="apex", force=(0, -1, 0), law=lambda t: 100 * t),
        gravity=(0, 0, 0),
    )  # fmt: skip

    def load(length):
        return 2 * stiffness * (free - length) / length * np.sqrt(length**2 - base**2) / 100

    limit = (free * base**2) ** (1 / 3)  # vertical stiffness vanishes
    # Its sideways stiffness vanishes where l³ - l₀ l² + l₀ b² = 0.
    after, before = sorted(r.real for r in np.roots([1.0, -free, 0.0, free * base**2]))[1:]
    branch = sp.follow(
        robot,
        until=2 * load(limit),
        step=0.1,
        largest=0.4,
        since=-np.inf,
        max_points=25,
        throw=False,
    )
    assert [point.kind for point in branch.special[:3]] == ["branch", "limit", "branch"]
    assert branch.special[1].index == branch.special[2].index
    for point, length in zip(branch.special, (before, limit, after), strict=False):
        assert point.t == pytest.approx(load(length), rel=1e-9)
