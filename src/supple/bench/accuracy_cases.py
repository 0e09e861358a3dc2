"""Robots at rest whose shape is known from elsewhere: closed forms and collocation of the strong form.

The numbers of each case stand here; ``benchmarks/reference/accuracy.py`` computes from them, by other means,
where the points at ``PLACES`` of each rod are, and writes that to ``data/accuracy.npz``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from supple.robot.actuators import Chamber, Spring, Tendon
from supple.robot.items import Body, Closure, Rod
from supple.robot.joint import Fixed
from supple.robot.loads import ActiveStress, DistributedLoad, Wrench
from supple.robot.robot import Robot
from supple.section import Circle, GivenProperties, Material
from supple.strain import STRAIGHT

PLACES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Fractions of each rod where the error is looked at."""
LENGTH, RADIUS = 1.0, 5e-3
E, NU, DENSITY = 1e9, 0.3, 1000.0
BENDING = E * np.pi * RADIUS**4 / 4
TORSION = BENDING / (1 + NU)
WEIGHT = DENSITY * np.pi * RADIUS**2 * 9.81
"""Of a meter (N/m)."""
MATERIAL = Material(E=E, nu=NU, density=DENSITY)
NONE, DOWN = (0.0, 0.0, 0.0), (0.0, -9.81, 0.0)

PULL, TIP_PULL = 4.0, 5.0
PULL_AT = 0.37
OFFSET, TENSION = 0.01, 20.0
TENDON_ENDS = (0.3, 0.55, 0.8)
AREA, PRESSURE = 2e-5, 1e6
CHAMBER = (0.25, 0.7)
TURNS = 60.0
"""Angle (rad) by which a moment winds the rod up."""
FOLLOWER = 15.0
"""Follower force over EI/L²."""
COILS = 625.0
"""The same for 001 test 2 with the printed diameter."""
STRING_RADIUS, STRING_LENGTH, STRING_E, STRING_DENSITY = 1e-3, 2.0, 1e6, 8000.0
BODY, BODY_AT = 0.02, 0.45
TAPER = 0.6
"""Share of the radius that is lost towards the tip."""
CURVE = 6 * np.pi
"""Angle (rad) of the rest shape, three turns."""
ARC = np.pi / 2
SIDE_PULL = 1.5
CLAMPED = (0.8, 0.15)
"""Where the second end of the clamped rod is held, level."""
SOFT = 0.5
"""Radius of the second of two rods, over that of the first."""
STIFFNESS, ANCHOR = 20.0, (0.5, 0.8, 0.0)
THICK = (2.0, 60.0, 25.0)
"""EI (N m²), EA and GA (N) of a rod that stretches and shears."""
WAVE = 0.08
"""Amplitude (N m) of an active moment of two waves along the rod."""
PRINTED_FORCE, PRINTED_LENGTH, PRINTED_RADIUS = 10.0, 0.4, 1e-3
PRINTED_E, PRINTED_DENSITY, PRINTED_GRAVITY = 2e9, 8000.0, 9.81


@dataclass(frozen=True)
class Case:
    """A robot at rest, its rods, and the length (m) that errors are told by."""

    build: Callable[[], Robot]
    rods: tuple[str, ...] = ("rod",)
    length: float = LENGTH
    initial: Callable[[Robot], object] | None = None


def _rod(**options: object) -> Rod:
    given = {"section": Circle(RADIUS), "material": MATERIAL, "strains": "planar"}
    return Rod("rod", LENGTH, **(given | options))  # type: ignore[arg-type]


def _robot(*items: object, gravity: tuple[float, float, float] = NONE, **options: object) -> Robot:
    return Robot(_rod(**options), *items, gravity=gravity)  # type: ignore[arg-type]


def _tip_force() -> Robot:
    return _robot(Wrench("pull", on="rod", force=(0.0, TIP_PULL, 0.0)))


def _wound() -> Robot:
    return _robot(Wrench("turn", on="rod", moment=(0.0, 0.0, TURNS * BENDING / LENGTH)))


def _follower(size: float) -> Robot:
    force = (0.0, size * BENDING / LENGTH**2, 0.0)
    return _robot(Wrench("push", on="rod", force=force, follower=True))


def _load_in_span() -> Robot:
    return _robot(Wrench("pull", on="rod", force=(0.0, PULL, 0.0), fraction=PULL_AT))


def _tendons(*ends: float, gravity: tuple[float, float, float] = NONE) -> Robot:
    tendons = [
        Tendon(f"tendon {k}", on="rod", offset=(OFFSET, 0.0), tension=TENSION, end=end)
        for k, end in enumerate(ends)
    ]
    return _robot(*tendons, gravity=gravity)


def _chamber() -> Robot:
    start, end = CHAMBER
    own = Chamber(
        "chamber",
        on="rod",
        area=AREA,
        offset=(OFFSET, 0.0),
        pressure=PRESSURE,
        start=start,
        end=end,
    )
    return _robot(own)


def _string() -> Robot:
    material = Material(E=STRING_E, density=STRING_DENSITY)
    rod = Rod("rod", STRING_LENGTH, Circle(STRING_RADIUS), material, strains="planar")
    return Robot(rod, gravity=DOWN)


def _body_in_span() -> Robot:
    return _robot(Body("body", parent="rod", fraction=BODY_AT, mass=BODY), gravity=DOWN)


def _tapered() -> Robot:
    return _robot(section=Circle(lambda u: RADIUS * (1 - TAPER * u)), gravity=DOWN)


def _coil_at_rest() -> Robot:
    rest = (0.0, 0.0, CURVE / LENGTH, *STRAIGHT[3:])
    return _robot(rest=rest, gravity=DOWN)


def _arc_out_of_plane() -> Robot:
    rest = (0.0, 0.0, ARC / LENGTH, *STRAIGHT[3:])
    pull = Wrench("pull", on="rod", force=(0.0, 0.0, SIDE_PULL))
    return _robot(pull, rest=rest, strains="kirchhoff")


def _clamped_twice() -> Robot:
    hold = Closure("hold", on="ground", to="rod", joint=Fixed(), position=(*CLAMPED, 0.0))
    return _robot(hold, gravity=DOWN)


def _two_rods() -> Robot:
    second = Rod("tip", LENGTH, Circle(SOFT * RADIUS), MATERIAL, parent="rod", strains="planar")
    return Robot(_rod(), second, gravity=DOWN)


def _spring() -> Robot:
    own = Spring(
        "spring", on="rod", to="ground", stiffness=STIFFNESS, length=0.0, to_position=ANCHOR
    )
    return _robot(own, gravity=DOWN)


def _thick() -> Robot:
    bending, axial, shear = THICK
    mass = DENSITY * np.pi * RADIUS**2
    properties = GivenProperties(
        stiffness=(bending, bending, bending, axial, shear, shear),
        inertia=(1e-3, 1e-3, 1e-3, mass, mass, mass),
    )
    rod = Rod("rod", LENGTH, properties=properties, strains="planar-reissner")
    return Robot(rod, Wrench("pull", on="rod", force=(0.0, TIP_PULL, 0.0)), gravity=NONE)


def _waves() -> Robot:
    return _robot(ActiveStress("waves", on="rod", stress=_wave), gravity=DOWN)


def _wave(X, t):  # type: ignore[no-untyped-def]
    zero = 0.0 * X
    return jnp.stack([zero, zero, WAVE * jnp.sin(4 * np.pi * X), zero, zero, zero], axis=1)


def _wind() -> Robot:
    return _robot(DistributedLoad("wind", on="rod", density=_pressure, follower=True))


def _pressure(t, X, pose, twist):  # type: ignore[no-untyped-def]
    return jnp.zeros(6).at[4].set(6.0 * X**2)


def _printed() -> Robot:
    material = Material(E=PRINTED_E, density=PRINTED_DENSITY)
    rod = Rod("rod", PRINTED_LENGTH, Circle(PRINTED_RADIUS), material, strains="planar")
    pull = Wrench("pull", on="rod", force=(0.0, PRINTED_FORCE, 0.0))
    return Robot(rod, pull, gravity=(PRINTED_GRAVITY, 0.0, 0.0))


CASES = {
    "tip-force": Case(_tip_force),
    "wound-up": Case(_wound),
    "follower": Case(lambda: _follower(FOLLOWER)),
    "follower-coils": Case(lambda: _follower(COILS)),
    "load-in-span": Case(_load_in_span),
    "tendon-ends": Case(lambda: _tendons(TENDON_ENDS[1])),
    "three-tendons": Case(lambda: _tendons(*TENDON_ENDS)),
    "tendon-and-weight": Case(lambda: _tendons(TENDON_ENDS[1], gravity=DOWN)),
    "chamber-ends": Case(_chamber),
    "heavy-string": Case(_string, length=STRING_LENGTH),
    "body-in-span": Case(_body_in_span),
    "tapered": Case(_tapered),
    "coil-at-rest": Case(_coil_at_rest),
    "arc-out-of-plane": Case(_arc_out_of_plane),
    "clamped-twice": Case(_clamped_twice),
    "two-rods": Case(_two_rods, rods=("rod", "tip")),
    "spring": Case(_spring),
    "thick": Case(_thick),
    "active-waves": Case(_waves),
    "wind": Case(_wind),
    "printed-cantilever": Case(_printed, length=PRINTED_LENGTH),
}
"""Cases at rest by name."""
