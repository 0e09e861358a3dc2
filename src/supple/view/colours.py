"""What rods are coloured by: quantities with their units, the colours of their values, and a legend."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.errors import StateError
from supple.numeric import on_grid
from supple.robot.items import Rod

PLAIN = (126, 164, 204)
"""Colour of rods that show no quantity."""
TAUT, LOOSE = np.array([200.0, 40.0, 40.0]), np.array([40.0, 44.0, 52.0])
"""Colour of a tendon at the largest tension of the run, and at a small one."""
SLACK = (176, 180, 188)


@dataclass(frozen=True)
class Quantity:
    """A quantity along rods: its unit, and whether its sign counts."""

    unit: str
    signed: bool = False


QUANTITIES = {
    "curvature": Quantity("1/m"),
    "twist": Quantity("rad/m", signed=True),
    "stretch": Quantity("%", signed=True),
    "surface strain": Quantity("%"),
    "bending moment": Quantity("N m"),
    "axial stress": Quantity("MPa"),
}
"""Changes against the shape at rest; moments and stresses are the elastic ones."""
CHOICES = ("plain", *QUANTITIES)


def check_choice(colour: str) -> None:
    """Raise unless rods can be coloured so."""
    if colour not in CHOICES:
        raise StateError(f"colour: got {colour!r}; need one of: {', '.join(CHOICES)}")


def rod_values(
    rod: Rod, u: np.ndarray, strain: np.ndarray, outline: np.ndarray
) -> dict[str, np.ndarray]:
    """Each quantity (t, n) at the fractions u, from strains against rest (t, n, 6) and outlines (n, k, 2).

    At the point (y, z) of a section the fibre along the rod is strained by γx + κy z - κz y.
    """
    turn, stretch = strain[..., :3], strain[..., 3]
    fibres = (
        stretch[..., None]
        + turn[..., 1, None] * outline[..., 1]
        - turn[..., 2, None] * outline[..., 0]
    )
    surface = np.abs(fibres).max(axis=-1)
    stress = np.einsum("nij,tnj->tni", rod.sectional().matrices(u).stiffness, strain)
    values = {
        "curvature": np.linalg.norm(turn[..., 1:], axis=-1),
        "twist": turn[..., 0],
        "stretch": 100 * stretch,
        "surface strain": 100 * surface,
        "bending moment": np.linalg.norm(stress[..., 1:3], axis=-1),
    }
    if rod.material is not None:
        values["axial stress"] = 1e-6 * surface * np.asarray(on_grid(rod.material.E, u))
    return values


def colours_of(name: str, values: np.ndarray, largest: float) -> np.ndarray:
    """Colours (…, 3) of values, as bytes; ``largest`` has the last colour."""
    from matplotlib import colormaps

    share = values / max(largest, 1e-300)
    if QUANTITIES[name].signed:
        share = (share + 1) / 2
    return colormaps[colour_map(name)](np.clip(share, 0.0, 1.0), bytes=True)[..., :3]


def colour_map(name: str) -> str:
    """Matplotlib's name of the colours of a quantity."""
    return "coolwarm" if QUANTITIES[name].signed else "viridis"


def tension_look(tension: float, largest: float) -> tuple[tuple[int, int, int], float]:
    """Colour and width (pixels) of a tendon: grey and thin where it is slack."""
    share = tension / max(largest, 1e-300)
    if share < 1e-3:
        return SLACK, 1.0
    mixed = LOOSE + min(share, 1.0) * (TAUT - LOOSE)
    return (int(mixed[0]), int(mixed[1]), int(mixed[2])), 1.5 + 2.5 * min(share, 1.0)


def legend_html(name: str, largest: float) -> str:
    """A bar of the colours with its numbers and unit."""
    if name == "plain":
        return ""
    quantity: Any = QUANTITIES[name]
    ends = (-largest if quantity.signed else 0.0, largest)
    stops = np.linspace(*ends, 9)
    colours = ", ".join("rgb({},{},{})".format(*c) for c in colours_of(name, stops, largest))
    middle = sum(ends) / 2
    return (
        f'<div style="margin:4px 12px 8px;font:12px system-ui,sans-serif">{name} ({quantity.unit})'
        f'<div style="height:10px;border-radius:3px;background:linear-gradient(90deg,{colours})">'
        '</div><div style="display:flex;justify-content:space-between">'
        + "".join(f"<span>{value:.3g}</span>" for value in (ends[0], middle, ends[1]))
        + "</div></div>"
    )
