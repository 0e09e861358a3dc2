"""What drives a robot, as users write it: tendons, fluid chambers, motors, springs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from supple.errors import DescriptionError
from supple.model.friction import AbstractFriction, DryFriction
from supple.model.laws import AbstractEffortLaw, AbstractLaw, Constant, Table, as_law
from supple.numeric import Scalar, asarray, check_number, check_positive, check_vector, is_traced
from supple.reprs import brief
from supple.robot.checks import (
    GROUND_NAME,
    check_fraction,
    check_friction,
    check_law,
    check_name,
)
from supple.robot.references import HoldsTwo, RefersToOne
from supple.tried import check_numbers, tried

Law = AbstractLaw | AbstractEffortLaw | Callable[[Any], Any] | Scalar


@dataclass(frozen=True)
class Tendon:
    """A tendon in a channel along a rod, or along several items in a row.

    ``on`` names rods, and bodies, markers or the ground that it passes on the way. ``offset`` is where it
    runs: (y, z) in meters in a rod's section, or a function of u in [0, 1] (n,) -> (n, 2) written with plain
    NumPy operations; with several items a mapping from name to offset (three numbers, a point of its frame,
    for bodies and the ground). It begins at fraction ``start`` of the first rod and ends, tied to the
    section, at fraction ``end`` of the last. With ``discs`` (a number of them, or fractions of the length) it
    runs straight between discs instead of in a channel.

    Give one of: ``tension`` (N, a law of time or an :class:`AbstractEffortLaw`); ``pull`` (m), by how much it
    is shortened, its tension then is an outcome; ``pull`` with ``stiffness`` (N/m) and ``damping`` (N s/m)
    for an elastic tendon; ``winch``, the name of a motor on whose ``drum`` (radius, m) it is wound (also with
    stiffness). A tendon goes slack instead of pushing, unless ``push=True`` makes it a rod that may; an
    elastic one is linear then.

    ``friction`` is the Capstan coefficient μ in its channel or over its discs, smooth below
    ``friction_speed`` (m/s), and ``viscous`` β (s/m) the damping of sliding, both in proportion to the
    tension and to the angle by which the tendon is turned.
    """

    name: str
    on: str | Sequence[str]
    offset: Any = (0.0, 0.0)
    tension: Law | None = None
    pull: Law | None = None
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    start: float = 0.0
    end: float = 1.0
    discs: int | Sequence[float] | None = None
    winch: str | None = None
    drum: Scalar = 0.0
    push: bool = False
    friction: Scalar = 0.0
    friction_speed: Scalar = 1e-3
    viscous: Scalar = 0.0

    needs: ClassVar[str] = "place"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        self._check_drive()
        for field in ("stiffness", "damping", "friction", "viscous", "drum"):
            check_positive(self.name, field, getattr(self, field), allow_zero=True)
        check_positive(self.name, "friction_speed", self.friction_speed)
        for field in ("start", "end"):
            check_fraction(self.name, field, getattr(self, field))
        if len(self.items) == 1 and not self.start < self.end:
            raise DescriptionError(self.name, "end", self.end, f"more than start = {self.start}")
        self._check_discs()
        for item in self.items:  # which of them are rods is not known here
            if not isinstance(self.offset, Mapping) or callable(self.offset.get(item)):
                self.offsets(item, np.array([0.0, 0.5, 1.0]))

    def _check_drive(self) -> None:
        given = [name for name in ("tension", "pull", "winch") if getattr(self, name) is not None]
        if not given or ("tension" in given and len(given) > 1):
            need = "a tension, or a pull, or a winch, or a pull and a winch"
            raise DescriptionError(self.name, "tension, pull, winch", given, need)
        for field in ("tension", "pull"):
            if field in given:
                check_law(self.name, field, getattr(self, field), effort=field == "tension")
        if (self.winch is None) != (not is_traced(self.drum) and self.drum == 0):
            need = "both a winch (the name of a motor) and a drum (its radius, m)"
            raise DescriptionError(self.name, "winch, drum", (self.winch, self.drum), need)
        law = self.time_law()
        values = law.values if isinstance(law, Table) else getattr(law, "value", 0.0)
        if (
            "tension" in given
            and not self.push
            and not is_traced(values)
            and np.any(np.asarray(values, dtype=float) < 0)
        ):
            need = "tensions >= 0, or push=True for a rod that may push"
            raise DescriptionError(self.name, "tension", float(np.min(values)), need)

    def _check_discs(self) -> None:
        if self.discs is None:
            return
        discs: Any = self.discs
        need = "a number of discs >= 2, or increasing fractions of the length in [0, 1]"
        if isinstance(discs, int) and not isinstance(discs, bool) and discs >= 2:
            return
        if isinstance(discs, int | float | str) or len(discs) < 2:
            raise DescriptionError(self.name, "discs", discs, need)
        for fraction in discs:
            check_fraction(self.name, "discs", fraction)
        if any(a >= b for a, b in pairwise(discs)):
            raise DescriptionError(self.name, "discs", discs, need)

    @property
    def items(self) -> tuple[str, ...]:
        """Names of the items it runs along."""
        return (self.on,) if isinstance(self.on, str) else tuple(self.on)

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Names of the items it cannot do without."""
        return self.items if self.winch is None else (*self.items, self.winch)

    @property
    def kind(self) -> str:
        """What drives it: "tension", "length", or "elastic"."""
        if self.tension is not None:
            return "tension"
        plain = not is_traced(self.stiffness) and np.asarray(self.stiffness) == 0
        return "length" if plain else "elastic"

    @property
    def rubs(self) -> bool:
        """Whether it has friction."""
        both = self.friction, self.viscous
        return is_traced(both) or any(np.asarray(value) > 0 for value in both)

    def time_law(self) -> AbstractLaw:
        """Tension (N) or shortening (m) as a law of time."""
        if self.tension is not None:
            return as_law(self.tension)
        return Constant(0.0) if self.pull is None else as_law(self.pull)

    def stops(self, first: float, last: float) -> np.ndarray:
        """Fractions at which discs hold it, from ``first`` to ``last`` on a rod."""
        if isinstance(self.discs, int):
            return np.linspace(first, last, self.discs)
        assert self.discs is not None
        inside = [u for u in self.discs if first < u < last]
        return np.array([first, *inside, last])

    def _offset(self, item: str) -> Any:
        if not isinstance(self.offset, Mapping):
            return self.offset
        if item not in self.offset:
            need = f"an offset for each of {self.items}; {item!r} has none"
            raise DescriptionError(self.name, "offset", tuple(self.offset), need)
        return self.offset[item]

    def offsets(self, rod: str, u: np.ndarray) -> Any:
        """(y, z) of the channel in a rod at fractions u, (n, 2)."""
        offset = self._offset(rod)
        need = "(y, z) in meters, or a function of u (n,) -> (n, 2)"
        if not callable(offset):
            place = asarray(check_vector(self.name, "offset", offset, (2,)))
            return place + np.zeros((len(u), 1))
        value = tried(self.name, "offset", offset, (u,), need, traced=False)
        check_numbers(self.name, "offset", value, [(len(u), 2)], need)
        array = asarray(value)
        if not is_traced(array) and not np.all(np.isfinite(array)):
            raise DescriptionError(self.name, "offset", array.tolist(), need)
        return array

    def is_parallel(self, rod: str) -> bool:
        """Whether its channel in a rod is everywhere at one place of the section."""
        return not callable(self._offset(rod))

    def point(self, item: str) -> Any:
        """Where it passes a body, a marker or the ground, in that frame (m)."""
        offset = self._offset(item)
        if callable(offset) or np.shape(offset) != (3,):
            need = f"a point (x, y, z) for {item!r}, as in offset={{{item!r}: (0, 0.01, 0)}}"
            raise DescriptionError(self.name, "offset", offset, need)
        return asarray(check_vector(self.name, "offset", offset, (3,)))


@dataclass(frozen=True)
class Chamber(RefersToOne):
    """A fluid chamber along a rod: cross-section ``area`` (m²) at ``offset`` (y, z) (m) of the section.

    Give one of: ``pressure`` (Pa above the atmosphere); ``volume`` (m³) of an incompressible fluid, the
    pressure then is an outcome; ``gas`` (J), the content n R T of an ideal gas. Each a number or a law.
    It reaches from fraction ``start`` to ``end`` of the rod; its caps are part of it.
    """

    name: str
    on: str
    area: Scalar
    offset: Any = (0.0, 0.0)
    pressure: Law | None = None
    volume: Law | None = None
    gas: Law | None = None
    start: float = 0.0
    end: float = 1.0

    needs: ClassVar[str] = "rod"
    kinds: ClassVar[tuple[str, ...]] = ("pressure", "volume", "gas")

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_positive(self.name, "area", self.area)
        check_vector(self.name, "offset", self.offset, (2,))
        _check_one_law(self)
        for field in ("start", "end"):
            check_fraction(self.name, field, getattr(self, field))
        if not self.start < self.end:
            raise DescriptionError(self.name, "end", self.end, f"more than start = {self.start}")

    @property
    def kind(self) -> str:
        """What drives it: "pressure", "volume" or "gas"."""
        return _given(self)[0]

    def time_law(self) -> AbstractLaw:
        """The input as a law of time."""
        return as_law(getattr(self, self.kind))


@dataclass(frozen=True)
class Motor:
    """A motor on a coordinate of the joint of item ``on``; without ``on``, a winch that stands by itself.

    Give one of: ``torque`` (N m, or N on a sliding joint) of the rotor; ``position`` (rad, m) of the joint,
    followed with ``stiffness`` and ``damping`` at the joint (N m/rad, N m s/rad); ``velocity`` (rad/s),
    followed with ``damping``. Each a number or a law. ``limit`` is the rotor's largest torque, ``inertia``
    (kg m²), ``viscous`` (N m s/rad) and ``friction`` (N m, smooth below ``friction_speed``, rad/s) are the
    rotor's; the joint feels torques times ``gear``, the inertia and the damping times its square. Instead of
    a number ``friction`` may be a law of the rotor's speed and of the torque that drives it.
    """

    name: str
    on: str | None = None
    coordinate: int = 0
    torque: Law | None = None
    position: Law | None = None
    velocity: Law | None = None
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    limit: Scalar = float("inf")
    inertia: Scalar = 0.0
    gear: Scalar = 1.0
    viscous: Scalar = 0.0
    friction: Scalar | AbstractFriction = 0.0
    friction_speed: Scalar = 1e-2

    needs: ClassVar[str] = "solid"
    kinds: ClassVar[tuple[str, ...]] = ("torque", "position", "velocity")

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        _check_one_law(self)
        for field in ("stiffness", "damping", "inertia", "viscous", "friction"):
            if isinstance(value := getattr(self, field), AbstractFriction):
                check_friction(self.name, field, value, loaded=True)
            else:
                check_positive(self.name, field, value, allow_zero=True)
        for field in ("gear", "friction_speed"):
            check_positive(self.name, field, getattr(self, field))
        if is_traced(self.limit) or self.limit != float("inf"):
            check_positive(self.name, "limit", self.limit)
        gains = {"position": "stiffness", "velocity": "damping"}.get(self.kind)
        if gains and not is_traced(getattr(self, gains)) and getattr(self, gains) == 0:
            raise DescriptionError(self.name, gains, 0.0, f"a gain > 0 to follow the {self.kind}")
        coordinate: Any = self.coordinate
        if not isinstance(coordinate, int) or isinstance(coordinate, bool) or coordinate < 0:
            raise DescriptionError(self.name, "coordinate", coordinate, "an integer, from 0")
        if self.on is None and not is_traced(self.inertia) and self.inertia == 0:
            need = "the rotor's inertia (kg m²) > 0: a winch moves by itself"
            raise DescriptionError(self.name, "inertia", self.inertia, need)

    def dry(self) -> AbstractFriction | None:
        """Friction law of the rotor; None without."""
        if isinstance(self.friction, AbstractFriction):
            return self.friction
        if not is_traced(self.friction) and self.friction == 0:
            return None
        return DryFriction(asarray(self.friction), asarray(self.friction_speed))

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Names of the items it cannot do without."""
        return () if self.on is None else (self.on,)

    @property
    def joint(self) -> str:
        """Name of the joint it turns: that of its item, or its own."""
        return self.name if self.on is None else self.on

    @property
    def kind(self) -> str:
        """What it follows: "torque", "position" or "velocity"."""
        return _given(self)[0]

    def time_law(self) -> AbstractLaw:
        """The input as a law of time."""
        return as_law(getattr(self, self.kind))


@dataclass(frozen=True)
class Spring(HoldsTwo):
    """A spring and damper along the line between a point of item ``on`` and one of item ``to``.

    ``stiffness`` (N/m) and ``damping`` (N s/m); ``length`` (m) is that at rest, by default as described. It
    pulls and pushes; ``fraction`` and ``to_fraction`` are those of a rod's length, positions (m) are in the
    frames there.
    """

    name: str
    on: str
    to: str = GROUND_NAME
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    length: Scalar | None = None
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    to_fraction: float = 1.0
    to_position: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "place"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        for field in ("stiffness", "damping"):
            check_positive(self.name, field, getattr(self, field), allow_zero=True)
        if self.length is not None:
            check_number(self.name, "length", self.length)
            check_positive(self.name, "length", self.length, allow_zero=True)
        for field in ("fraction", "to_fraction"):
            check_fraction(self.name, field, getattr(self, field))
        for field in ("position", "to_position"):
            check_vector(self.name, field, getattr(self, field), (3,))


Actuator = Tendon | Chamber | Motor | Spring


def _given(item: Chamber | Motor) -> list[str]:
    """Which of its laws an item has."""
    return [kind for kind in item.kinds if getattr(item, kind) is not None]


def _check_one_law(item: Chamber | Motor) -> None:
    kinds, given = item.kinds, _given(item)
    if len(given) != 1:
        need = f"exactly one of {', '.join(kinds[:-1])} and {kinds[-1]}"
        raise DescriptionError(item.name, ", ".join(kinds), given, need)
    may_follow = given[0] in ("pressure", "torque")
    check_law(item.name, given[0], getattr(item, given[0]), effort=may_follow)
