"""How bodies look, where a file says so."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """How a link looks: a mesh file or a simple shape, and its pose in the link's frame."""

    shape: str
    """ "mesh", "box", "cylinder" or "sphere"."""
    file: str = ""
    size: tuple[float, ...] = ()
    """Scale of a mesh; lengths (m) of a box; radius and length of a cylinder; radius of a sphere."""
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
