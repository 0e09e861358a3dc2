"""Colors of things, and what rods are colored by: quantities with their units, and colors of values."""

from dataclasses import dataclass

import numpy as np

from supple.errors import ArgumentError
from supple.numeric import on_grid
from supple.robot.items import Rod

PLAIN = (126, 164, 204)
"""Color of rods that show no quantity."""
SOLIDS = {
    "body": (160, 166, 178),
    "joint": (92, 100, 116),
    "clamp": (92, 100, 116),
    "motor": (226, 140, 52),
    "closure": (60, 142, 140),
    "disc": (206, 210, 217),
    "contact": (110, 150, 110),
}
"""Colors of rigid things by their kind."""
ARROWS = {"force": (224, 122, 20), "moment": (150, 70, 190), "contact": (20, 140, 90)}
TAUT, LOOSE = np.array([200.0, 40.0, 40.0]), np.array([40.0, 44.0, 52.0])
"""Color of a tendon at the largest tension of the run, and at a small one."""
SLACK = (176, 180, 188)
FULL, EMPTY = np.array([20.0, 90.0, 200.0]), np.array([214.0, 232.0, 248.0])
"""Color of a chamber at the largest pressure of the run, and at none."""


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
ROUND_OFF = 1e-9
"""Strain, or curvature times length, below which there is none."""
CHOICES = ("plain", *QUANTITIES)


def check_choice(color: str) -> None:
    """Raise unless rods can be colored so."""
    if color not in CHOICES:
        raise ArgumentError(f"color: got {color!r}; need one of: {', '.join(CHOICES)}")


def rod_values(
    rod: Rod, u: np.ndarray, strain: np.ndarray, outline: np.ndarray
) -> dict[str, np.ndarray]:
    """Each quantity (t, n) at the fractions u, from strains against rest (t, n, 6) and outlines (n, k, 2).

    At the point (y, z) of a section the fiber along the rod is strained by γx + κy z - κz y.
    """
    # What is round-off has no color.
    size = np.array([float(rod.length)] * 3 + [1.0] * 3)
    strain = np.where(np.abs(strain) * size < ROUND_OFF, 0.0, strain)
    turn, stretch = strain[..., :3], strain[..., 3]
    fibers = (
        stretch[..., None]
        + turn[..., 1, None] * outline[..., 1]
        - turn[..., 2, None] * outline[..., 0]
    )
    surface = np.abs(fibers).max(axis=-1)
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


def colors_of(name: str, values: np.ndarray, largest: float) -> np.ndarray:
    """Colors (…, 3) of values, as bytes; ``largest`` has the last color."""
    from matplotlib import colormaps

    share = values / max(largest, 1e-300)
    if QUANTITIES[name].signed:
        share = (share + 1) / 2
    return colormaps[color_map(name)](np.clip(share, 0.0, 1.0), bytes=True)[..., :3]


def color_map(name: str) -> str:
    """Matplotlib's name of the colors of a quantity."""
    return "coolwarm" if QUANTITIES[name].signed else "viridis"


def tension_look(tension: float, largest: float) -> tuple[tuple[int, int, int], float]:
    """Color and width (pixels) of a tendon: gray and thin where it is slack."""
    share = tension / max(largest, 1e-300)
    if share < 1e-3:
        return SLACK, 1.0
    mixed = LOOSE + min(share, 1.0) * (TAUT - LOOSE)
    return (int(mixed[0]), int(mixed[1]), int(mixed[2])), 1.5 + 2.5 * min(share, 1.0)


def pressure_color(pressure: float, largest: float) -> np.ndarray:
    """Color (3,) of a chamber."""
    share = min(max(pressure / max(largest, 1e-300), 0.0), 1.0)
    return EMPTY + share * (FULL - EMPTY)


def table_of(name: str) -> np.ndarray:
    """The colors (256, 3) of a scale from its low to its high end, as bytes.

    ``name`` is a quantity of rods, "tension" or "pressure".
    """
    share = np.linspace(0.0, 1.0, 256)
    ends = {"tension": (LOOSE, TAUT), "pressure": (EMPTY, FULL)}.get(name)
    if ends is not None:
        mixed = ends[0] + share[:, None] * (ends[1] - ends[0])
        return mixed.round().astype(np.uint8)
    return colors_of(name, 2 * share - 1 if QUANTITIES[name].signed else share, 1.0)
