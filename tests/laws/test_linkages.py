"""Closed chains of rigid bodies against their closed forms: four-bar, slider-crank, screw, spring, grids.

All stand side by side on one ground, as one robot, so that one compilation serves all.
"""

from functools import cache

import numpy as np
import pytest

import supple as sp
from supple.mechanics.frames import find_joint

G = 9.81
# Four-bar linkage: crank, coupler, rocker, ground (m). It can turn fully, and never comes near a singularity
# in the time simulated.
CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.45
RADIUS, LINK = 0.15, 0.4  # slider-crank
PITCH, NUT_MASS, NUT_INERTIA = 0.05, 0.3, 2e-3
SPRING, BLOCK_MASS, PULLED = 40.0, 0.5, 0.5  # its spring is at rest PULLED meters away
BAR, BAR_MASS, PLATE_MASS = 0.3, 0.2, 0.6  # three equal cranks under one plate
DURATION, DT = 0.4, 0.01
# Radau IIA of order 5 with steps of 0.01 s; motions last some tenths of a second.
TOL_RUN = 1e-6
TOL_CLOSED = 1e-9


def bar(name, length, mass=0.3, **place):
    """A slender bar along its x axis, on a hinge about z."""
    inertia = mass * length**2 / 12
    return sp.Body(
        name, mass=mass, com=(length / 2, 0, 0), inertia=(0.0, inertia, inertia),
        joint=sp.Revolute("z"), **place,
    )  # fmt: skip


def four_bar_angles(crank):
    """Angles of coupler and rocker (rad, absolute) by the law of cosines; the open branch."""
    x, y = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)
    apart = np.hypot(x, y)
    rocker = np.arctan2(y, x) - np.arccos(
        (apart**2 + ROCKER**2 - COUPLER**2) / (2 * apart * ROCKER)
    )
    tip = np.stack([ROCKER * np.cos(rocker) - x, ROCKER * np.sin(rocker) - y])
    return np.arctan2(tip[1], tip[0]), rocker


START = 1.0
COUPLER_START, ROCKER_START = four_bar_angles(START)


def turned(angle):
    return (0.0, 0.0, float(angle))


def four_bar(cut, z):
    """The same linkage, cut at the rocker's base or between coupler and rocker, in a plane of its own."""
    base = (GROUND, 0.0, z)
    crank = bar(f"crank {cut}", CRANK, position=(0, 0, z), rotation=turned(START))
    coupler = bar(
        f"coupler {cut}", COUPLER, parent=f"crank {cut}", position=(CRANK, 0, 0),
        rotation=turned(COUPLER_START - START),
    )  # fmt: skip
    hinge = sp.Revolute("z")
    if cut == "tip":
        rocker = bar("rocker tip", ROCKER, position=base, rotation=turned(ROCKER_START))
        loop = sp.Closure(
            "four-bar tip", on="coupler tip", to="rocker tip", joint=hinge,
            position=(COUPLER, 0, 0), to_position=(ROCKER, 0, 0),
        )  # fmt: skip
    else:
        # The bar is symmetric about its middle, so that it may as well begin at its other end.
        rocker = bar(
            "rocker base", ROCKER, parent="coupler base", position=(COUPLER, 0, 0),
            rotation=turned(ROCKER_START + np.pi - COUPLER_START),
        )  # fmt: skip
        loop = sp.Closure(
            "four-bar base", on="ground", to="rocker base", joint=hinge,
            position=base, to_position=(ROCKER, 0, 0),
        )  # fmt: skip
    return crank, coupler, rocker, loop


def slider_crank():
    reach = np.arcsin(RADIUS * np.sin(START) / LINK)
    return (
        bar("disc", RADIUS, rotation=turned(START), position=(0, 0, 3)),
        bar("link", LINK, parent="disc", position=(RADIUS, 0, 0), rotation=turned(-reach - START)),
        sp.Body("piston", mass=0.4, joint=sp.Prismatic("x"), position=(0, 0, 3)),
        sp.Closure("pin", on="link", to="piston", joint=sp.Revolute("z"), position=(LINK, 0, 0),
                   to_position=(RADIUS * np.cos(START) + LINK * np.cos(reach), 0, 0)),
    )  # fmt: skip


def screw_and_spring():
    return (
        sp.Body("nut", mass=NUT_MASS, inertia=(1e-3, NUT_INERTIA, 1e-3), position=(0, 0, 4),
                joint=sp.Cylindrical("y")),
        sp.Closure("thread", on="ground", to="nut", joint=sp.Helical("y", pitch=PITCH),
                   position=(0, 0, 4)),
        sp.Body("block", mass=BLOCK_MASS, joint=sp.Prismatic("x"), position=(0, 0, 5)),
        sp.Closure("spring", on="ground", to="block", position=(0, 0, 5),
                   joint=sp.Prismatic("x", stiffness=SPRING, rest=PULLED)),
    )  # fmt: skip


def three_cranks():
    """A plate on three parallel cranks: two loops share it, and one crank more than it needs."""
    columns = [
        bar(f"column {i}", BAR, BAR_MASS, position=(0.2 * i, 0, 6), rotation=turned(START))
        for i in range(3)
    ]
    plate = sp.Body("plate", parent="column 0", mass=PLATE_MASS, inertia=(1e-3, 1e-3, 1e-3),
                    joint=sp.Revolute("z"), position=(BAR, 0, 0), rotation=turned(-START))  # fmt: skip
    loops = [
        sp.Closure(f"pivot {i}", on="plate", to=f"column {i}", joint=sp.Revolute("z"),
                   position=(0.2 * i, 0, 0), to_position=(BAR, 0, 0))
        for i in (1, 2)
    ]  # fmt: skip
    return *columns, plate, *loops


@cache
def museum():
    return sp.Robot(
        *four_bar("tip", 1.0), *four_bar("base", 2.0), *slider_crank(), *screw_and_spring(),
        *three_cranks(), gravity=(0, -G, 0),
    ).build()  # fmt: skip


@cache
def run():
    model = museum()
    found = sp.simulate(model, DURATION, dt=DT, scheme=sp.radau(3))
    assert found.ok
    return found


def angle(name):
    return run().joint(name).position[:, 0]


def speed(name):
    return run().v[:, find_joint(museum(), name).v][:, 0]


def test_planar_loops_and_a_crank_too_many_leave_one_freedom_each():
    model = museum()
    # Two equations for each four-bar, slider-crank and pivot, one of them superfluous; five hold the nut's
    # thread with its angle and shift, one the spring.
    assert model.nv - model.equations == 6
    assert any("pivot" in text for text in model.closures.dropped)


def test_loops_stay_closed_and_energy_stays():
    assert np.abs(run().violation).max() < TOL_CLOSED
    total = run().energies.total
    swing = np.ptp(run().energies.kinetic)
    assert swing > 1.0
    assert np.abs(total - total[0]).max() < TOL_RUN * swing


@pytest.mark.parametrize("cut", ["tip", "base"])
def test_a_four_bar_linkage_moves_by_its_closed_form(cut):
    crank = START + angle(f"crank {cut}")
    assert np.ptp(crank) > 0.5
    coupler, rocker = four_bar_angles(crank)
    turn = crank + angle(f"coupler {cut}") + COUPLER_START - START
    np.testing.assert_allclose(np.exp(1j * turn), np.exp(1j * coupler), atol=TOL_CLOSED)
    tip = run().poses[f"rocker {cut}"]
    if cut == "tip":
        turn = ROCKER_START + angle("rocker tip")
        np.testing.assert_allclose(np.exp(1j * turn), np.exp(1j * rocker), atol=TOL_CLOSED)
        # Transmission: r₂ θ̇₂ sin(θ₃ - θ₂) = r₄ θ̇₄ sin(θ₃ - θ₄).
        left = CRANK * speed("crank tip") * np.sin(coupler - crank)
        right = ROCKER * speed("rocker tip") * np.sin(coupler - rocker)
        # Radau on the closure itself: velocities have order 3 only.
        np.testing.assert_allclose(left, right, atol=2e-3 * np.abs(left).max())
    else:
        end = np.stack([GROUND + ROCKER * np.cos(rocker), ROCKER * np.sin(rocker)], axis=1)
        np.testing.assert_allclose(tip.position[:, :2], end, atol=TOL_CLOSED)


def test_the_choice_of_the_cut_does_not_change_the_motion():
    np.testing.assert_allclose(angle("crank tip"), angle("crank base"), atol=TOL_RUN)


def test_a_slider_crank_moves_by_its_closed_form():
    crank = START + angle("disc")
    offset = RADIUS * np.cos(START) + np.sqrt(LINK**2 - (RADIUS * np.sin(START)) ** 2)
    slid = RADIUS * np.cos(crank) + np.sqrt(LINK**2 - (RADIUS * np.sin(crank)) ** 2) - offset
    assert np.ptp(slid) > 0.1
    np.testing.assert_allclose(angle("piston"), slid, atol=TOL_CLOSED)


def test_a_screw_that_closes_a_loop_keeps_its_pitch_and_accelerates_by_its_formula():
    turn, shift = run().joint("nut").position.T
    np.testing.assert_allclose(shift, PITCH * turn, atol=TOL_CLOSED)
    np.testing.assert_allclose(run().joint("thread").position[:, 0], turn, atol=TOL_CLOSED)
    falling = -G * NUT_MASS / (NUT_MASS + NUT_INERTIA / PITCH**2)
    np.testing.assert_allclose(shift, falling * run().t ** 2 / 2, atol=TOL_CLOSED)
    assert np.abs(turn).max() > np.pi  # more than half a turn, where an angle could have wrapped


def test_a_spring_that_closes_a_loop_swings_as_an_oscillator():
    omega = np.sqrt(SPRING / BLOCK_MASS)
    expected = PULLED * (1 - np.cos(omega * run().t))
    np.testing.assert_allclose(angle("block"), expected, atol=TOL_RUN * PULLED)
    np.testing.assert_allclose(angle("block"), angle("spring"), atol=TOL_CLOSED)
    # The joint pulls the block along by what its mass needs.
    pull = run().closure("spring")[1:, 3]
    np.testing.assert_allclose(pull, BLOCK_MASS * PULLED * omega**2 * np.cos(omega * run().t[1:]),
                               atol=1e-3 * SPRING * PULLED)  # fmt: skip


def test_two_loops_that_share_a_plate_swing_as_one_pendulum():
    theta, rate = angle("column 0"), speed("column 0")
    for i in (1, 2):
        np.testing.assert_allclose(angle(f"column {i}"), theta, atol=TOL_CLOSED)
    inertia = 3 * BAR_MASS * BAR**2 / 3 + PLATE_MASS * BAR**2
    moment = (3 * BAR_MASS / 2 + PLATE_MASS) * BAR
    fallen = moment * G * (np.sin(START) - np.sin(START + theta))
    np.testing.assert_allclose(inertia * rate**2 / 2, fallen, atol=TOL_RUN * fallen.max())
