"""How rods are integrated: what users choose of the shooting formulation."""

from dataclasses import dataclass
from typing import Any

from supple.errors import DescriptionError
from supple.shooting.law import RodLaw, variables_of

RULES = ("rk4", "euler", "adaptive")
HISTORIES = ("hermite", "linear")
ORIENTATIONS = ("quaternion", "matrix")


@dataclass(frozen=True)
class Shooting:
    """The strong form, integrated along the rods: ``formulation=Shooting(points=150)``.

    ``points`` are the nodes of a rod and ``segments`` the pieces that it is shot in; with one, errors grow
    along the whole rod (single shooting), with several they grow along a piece only. ``space`` is the rule
    along the rod: "rk4", "euler", or "adaptive" (Bogacki-Shampine steps between nodes, to ``tolerance``).
    ``history`` says how the past is interpolated between nodes: by cubics ("hermite") or linearly.
    ``orientation`` is what is integrated: a quaternion or a rotation matrix. ``rotary_inertia=False`` leaves
    out the rotational inertia of the sections. ``law`` is what rods are made of, where that is more than
    stiffness and damping: a function from a place (:class:`RodPlace`) to C, D and f of C z + D ż = f.
    """

    points: int = 81
    segments: int = 8
    space: str = "rk4"
    history: str = "hermite"
    orientation: str = "quaternion"
    rotary_inertia: bool = True
    tolerance: float = 1e-8
    law: RodLaw | None = None

    def __post_init__(self) -> None:
        item = "Shooting"
        points: Any = self.points
        segments: Any = self.segments
        if not isinstance(points, int) or not 5 <= self.points <= 2001:
            raise DescriptionError(item, "points", self.points, "an integer from 5 to 2001")
        if not isinstance(segments, int) or not 1 <= self.segments <= self.points - 1:
            need = f"an integer from 1 to {self.points - 1}"
            raise DescriptionError(item, "segments", self.segments, need)
        for name, known in (
            ("space", RULES),
            ("history", HISTORIES),
            ("orientation", ORIENTATIONS),
        ):
            if getattr(self, name) not in known:
                need = f"one of: {', '.join(known)}"
                raise DescriptionError(item, name, getattr(self, name), need)
        if not 0 < self.tolerance < 1:
            raise DescriptionError(item, "tolerance", self.tolerance, "a number in (0, 1)")
        if self.law is not None:
            variables_of(self.law)

    @property
    def variables(self) -> int:
        """Variables of its own that the law has at each place."""
        return 0 if self.law is None else variables_of(self.law)

    @property
    def steps(self) -> int:
        """Steps along each segment."""
        return -(-(self.points - 1) // self.segments)
