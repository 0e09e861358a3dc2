"""Hold, release: the robot starts where it was held and swings as its one mode says."""

from functools import cache

import numpy as np
import pytest

import supple as sp

LENGTH, RADIUS, E, DENSITY = 1.0, 2e-3, 1e10, 1500.0
AREA, SECOND = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
# One constant-curvature mode: ω² = EI L / (ρA L⁵/20 + ρI L³/3), deflection F L³ / 4EI.
MASS = DENSITY * (AREA * LENGTH**5 / 20 + SECOND * LENGTH**3 / 3)
PERIOD = 2 * np.pi / np.sqrt(E * SECOND * LENGTH / MASS)
FORCES = {"left": 2e-3, "right": -1e-3}
STEPS = 40
# Trapezoidal rule: the period is long by a factor 1 + (2π/40)²/12, and deflections are small
# (below 2 % of the length), so that what remains is of the order of the square of both.
TOL_PHASE = 5e-3
TOL_ENERGY = 1e-4


def trident() -> sp.Robot:
    """Three equal rods side by side; the outer two are pulled in the middle of their length.

    With a load inside, the outer rods have a sample more than the middle one and are computed in
    another group: coordinates are numbered left, right, middle. Without it, all three are one group.
    """
    prongs = [
        sp.Rod(
            name, length=LENGTH, section=sp.Circle(RADIUS), strains="planar", basis=1,
            material=sp.Material(E=E, density=DENSITY), position=(0, y, 0),
        )
        for name, y in (("left", 1.0), ("middle", 0.0), ("right", -1.0))
    ]  # fmt: skip
    pulls = [
        sp.Wrench(f"pull {name}", on=name, fraction=0.5, force=(0, 4 * force, 0))
        for name, force in FORCES.items()
    ]
    return sp.Robot(*prongs, *pulls, gravity=(0, 0, 0))


@cache
def held():
    return sp.equilibrium(trident())


@cache
def released():
    return sp.release(
        trident(), [f"pull {name}" for name in FORCES], PERIOD / 2, dt=PERIOD / (2 * STEPS),
        scheme=sp.trapezoidal(),
    )  # fmt: skip


def offset(name: str) -> float:
    return {"left": 1.0, "middle": 0.0, "right": -1.0}[name]


def test_the_held_robot_is_where_its_loads_put_it():
    """A force 4F at half the length does the work of F at the tip: κ = F L / 2EI."""
    for name, force in {**FORCES, "middle": 0.0}.items():
        curvature = force * LENGTH / (2 * E * SECOND)
        found = held().strain(name, 2)[0, 2]
        assert found == pytest.approx(curvature, rel=1e-3, abs=1e-9)


def test_a_released_robot_starts_where_it_was_held():
    first = {name: released().position(name)[0] for name in ("left", "middle", "right")}
    for name, position in first.items():
        np.testing.assert_allclose(position, held().position(name), atol=1e-9)


def test_half_a_period_later_it_is_on_the_other_side():
    for name in ("left", "middle", "right"):
        start = held().position(name)[1] - offset(name)
        end = released().position(name)[-1, 1] - offset(name)
        assert end == pytest.approx(-start, abs=TOL_PHASE * 0.02 * LENGTH)


def test_energy_is_kept_while_it_swings():
    run = released()
    assert run.ok
    assert len(run) == STEPS + 1
    total = np.asarray(run.energies.total)
    np.testing.assert_allclose(total, total[0], rtol=TOL_ENERGY)
    assert run.energies.kinetic.max() > 0.9 * total[0]


def test_its_energy_is_that_of_the_held_robot():
    expected = float(held().energies.elastic)
    assert float(released().energies.elastic[0]) == pytest.approx(expected, rel=1e-9)
    middle = released().coordinates("middle")
    np.testing.assert_allclose(middle, 0.0, atol=1e-9)


def test_a_run_from_another_robots_equilibrium_starts_each_item_where_it_was():
    """Start of a run, of a sweep or of a solve: coordinates belong to names, not to positions."""
    free = trident().removing(*(f"pull {name}" for name in FORCES))
    run = sp.simulate(
        free, PERIOD / 2, dt=PERIOD / (2 * STEPS), scheme=sp.trapezoidal(), initial=held()
    )
    for name in ("left", "middle", "right"):
        np.testing.assert_allclose(run.position(name)[0], held().position(name), atol=1e-9)
