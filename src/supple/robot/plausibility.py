"""Numbers that are almost certainly a slip: a unit, a digit, degrees for radians.

Nothing here is an error. Each is told once, as a :class:`~supple.hints.Hint`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from supple.hints import hint
from supple.numeric import is_traced, on_grid
from supple.robot.items import Body, Marker, Rod
from supple.section import SolidProperties

SOFTEST, STIFFEST = 500.0, 2e12
"""Young's moduli (Pa): softer is jelly, stiffer than diamond."""
LIGHTEST, HEAVIEST = 30.0, 25e3
"""Densities (kg/m³) of solids: foam and osmium."""
SLENDER, STOUT = 5e4, 1.0
"""Length over thickness of a rod."""
STRONG = 100.0
"""Gravity (m/s²), ten times that of the earth."""
TURNED = 2 * np.pi
"""A rotation vector (rad) is hardly ever longer than a turn."""
MIDDLE = np.array([0.5])


def hint_at_slips(name: str, items: Iterable[Any], gravity: Any) -> None:
    """Tell numbers of a robot that can hardly be meant."""
    if not is_traced(gravity) and np.linalg.norm(np.asarray(gravity)) > STRONG:
        hint(f"{name}: gravity: {np.asarray(gravity).tolist()} m/s²; the earth's is 9.81")
    for item in items:
        for text in _slips(item):
            hint(f"{item.name}: {text}")


def _slips(item: Any) -> Iterator[str]:
    if isinstance(item, Rod):
        yield from _of_rod(item)
    if isinstance(item, Rod | Body | Marker):
        yield from _turns("rotation", item.rotation)
    if isinstance(item, Rod | Body):
        for field in ("lower", "upper", "rest"):
            yield from _angles(item.joint, field)


def _of_rod(rod: Rod) -> Iterator[str]:
    made = rod.sectional()
    if not isinstance(made, SolidProperties):
        return
    if is_traced((rod.length, vars(made.material), vars(made.shape))):
        return
    modulus = float(on_grid(made.material.E, MIDDLE)[0])
    density = float(on_grid(made.material.density, MIDDLE)[0])
    if 0 < modulus < SOFTEST:
        yield f"material.E: {modulus:g} Pa is softer than jelly; steel has 2e11, rubber 1e6 (Pa)"
    if modulus > STIFFEST:
        yield f"material.E: {modulus:g} Pa is stiffer than diamond; steel has 2e11 (Pa)"
    if density < LIGHTEST:
        yield f"material.density: {density:g} kg/m³ is lighter than foam; steel has 7800 (kg/m³)"
    if density > HEAVIEST:
        yield f"material.density: {density:g} kg/m³ is heavier than any metal; steel has 7800 (kg/m³)"
    thickness = 2 * float(np.sqrt(made.shape.moments(MIDDLE).area[0] / np.pi))
    ratio = float(rod.length) / thickness
    if not STOUT < ratio < SLENDER:
        yield f"length: {float(rod.length):g} m with a section {thickness:.3g} m thick; both are in meters"


def _turns(field: str, rotation: Any) -> Iterator[str]:
    """More than a turn, by a number such as people write for degrees; sums of angles are none."""
    if is_traced(rotation) or np.shape(rotation) != (3,):
        return
    angles = np.asarray(rotation, dtype=float)
    large = np.abs(angles) > TURNED
    if np.any(large & (np.abs(2 * angles - np.round(2 * angles)) < 1e-9)):
        yield f"{field}: a turn by {np.linalg.norm(rotation):.4g} rad; angles are in radians"


def _angles(joint: Any, field: str) -> Iterator[str]:
    """Angles of a joint in degrees; what is a length is not looked at."""
    value = getattr(joint, field, None)
    if value is None or is_traced(value) or type(joint).__name__ not in ANGULAR:
        return
    finite = np.abs(np.asarray(value, dtype=float))
    if np.any(finite[np.isfinite(finite)] > 10 * np.pi):
        yield f"joint.{field}: {np.asarray(value).tolist()} rad is many turns; angles are in radians"


ANGULAR = ("Revolute", "Universal", "Spherical")
