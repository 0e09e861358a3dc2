"""Loads on a robot, as users write them: wrenches, internal stress, distributed loads, fluids."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose
from supple.model.laws import AbstractLaw, as_law
from supple.numeric import Scalar, check_positive, check_vector, times_of
from supple.reprs import brief
from supple.robot.checks import check_fraction, check_law, check_name
from supple.robot.joint import Axis
from supple.robot.placement import unit_axis
from supple.robot.references import RefersToOne
from supple.tried import check_numbers, number, tried


@dataclass(frozen=True)
class Wrench(RefersToOne):
    """Force (N) and moment (N m) at a point of an item, times a law of time.

    ``follower=False``: components fixed in space. ``follower=True``: fixed in the item's frame.
    ``fraction`` is that of a rod's length, ``position`` (m) a point in the frame there. The law gives one
    number, or six that multiply the components of moment and force.
    """

    name: str
    on: str
    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    follower: bool = False
    law: AbstractLaw | Callable[[Any], Any] | float = 1.0

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_vector(self.name, "force", self.force, (3,))
        check_vector(self.name, "moment", self.moment, (3,))
        check_vector(self.name, "position", self.position, (3,))
        check_fraction(self.name, "fraction", self.fraction)
        check_law(self.name, "law", self.law, vector=6)

    def time_law(self) -> AbstractLaw:
        """The law as an object."""
        return as_law(self.law)


@dataclass(frozen=True)
class PlaneFriction(RefersToOne):
    """Friction of a point of an item that slides on a plane with the normal ``normal``.

    The force is against the velocity v along the plane: dry friction of ``friction`` (N; the coefficient
    times the force that presses) and ``damping`` (N s/m). Dry friction is smooth: friction · v / √(v² + v₀²)
    with v₀ = ``friction_speed`` (m/s). What presses is given, not computed: the plane carries nothing.
    """

    name: str
    on: str
    friction: Scalar = 0.0
    damping: Scalar = 0.0
    friction_speed: Scalar = 1e-2
    normal: Axis = "z"
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_positive(self.name, "friction", self.friction, allow_zero=True)
        check_positive(self.name, "damping", self.damping, allow_zero=True)
        check_positive(self.name, "friction_speed", self.friction_speed)
        unit_axis(self.name, "normal", self.normal)
        check_vector(self.name, "position", self.position, (3,))
        check_fraction(self.name, "fraction", self.fraction)


@dataclass(frozen=True)
class ActiveStress(RefersToOne):
    """Internal stress Λ(X, t) of a rod, added to the elastic stress: ``stress(X, t) -> (n, 6)``.

    X (n,) is arc length in meters; write the function with ``jax.numpy``, and define it once in a module
    (a new function, such as a lambda in a loop, recompiles). ``kinks`` are times (s) at which it is not
    smooth.
    """

    name: str
    on: str
    stress: Callable[[Any, Any], Any]
    kinks: Any = ()

    needs: ClassVar[str] = "rod"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        need = "a function of (X (n,), t) -> (n, 6), written with jax.numpy"
        found = tried(self.name, "stress", self.stress, (number(5), number()), need)
        check_numbers(self.name, "stress", found, [(5, 6)], need)
        times_of(self.name, "kinks", self.kinks)


@dataclass(frozen=True)
class DistributedLoad(RefersToOne):
    """A load along a rod: ``density(t, X, pose, twist) -> (6,)``, moment (N m/m) and force (N/m) a meter.

    For one section: X is its arc length (m), pose its world pose, twist its body twist (rad/s, m/s). In the
    section's axes, or in those of the world with ``follower=False``. Write it with ``jax.numpy``, and define
    it once in a module (a new function, such as a lambda in a loop, recompiles).
    """

    name: str
    on: str
    density: Callable[[Any, Any, Pose, Any], Any]
    follower: bool = False
    law: AbstractLaw | Callable[[Any], Any] | float = 1.0

    needs: ClassVar[str] = "rod"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_law(self.name, "law", self.law)
        need = "a function of (t, X, pose, twist) -> (6,), written with jax.numpy"
        given = (number(), number(), Pose(number(3, 3), number(3)), number(6))
        found = tried(self.name, "density", self.density, given, need)
        check_numbers(self.name, "density", found, [(6,)], need)

    def time_law(self) -> AbstractLaw:
        """The law as an object."""
        return as_law(self.law)


@dataclass(frozen=True)
class Drag(RefersToOne):
    """Drag of a fluid, along the three axes of the section or body: -(linear v + quadratic |v| v).

    Three numbers each (along x, y, z) or one for all, a meter of rod (N s/m², kg/m²) or for a body
    (N s/m, kg/m). v is the velocity against the fluid, which flows with ``current`` (m/s, in space).
    """

    name: str
    on: str
    linear: Any = 0.0
    quadratic: Any = 0.0
    current: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        for field in ("linear", "quadratic"):
            value = getattr(self, field)
            array = check_vector(self.name, field, value, (3,) if np.ndim(value) else ())
            if not isinstance(array, jax.Array) and np.any(array < 0):
                raise DescriptionError(self.name, field, value, "numbers >= 0: drag slows down")
        check_vector(self.name, "current", self.current, (3,))


@dataclass(frozen=True)
class Buoyancy(RefersToOne):
    """Weight of the fluid that a rod displaces (by its sections) or a body (by its ``volume``, m³)."""

    name: str
    on: str
    density: Scalar = 1000.0
    volume: Scalar = 0.0
    position: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_positive(self.name, "density", self.density)
        check_positive(self.name, "volume", self.volume, allow_zero=True)
        check_vector(self.name, "position", self.position, (3,))


@dataclass(frozen=True)
class Swimming:
    """Reactive forces of a fluid of ``density`` (kg/m³) on a slender swimmer, from head to tail.

    Lighthill's large-amplitude elongated-body theory: each section carries the added mass of its ellipse or
    circle, and what it leaves behind pushes at the tail, the tip of the last rod of ``on``. Rods must not
    stretch or shear. Drag is another item.
    """

    name: str
    on: Sequence[str]
    density: Scalar = 1000.0

    needs: ClassVar[str] = "rod"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_positive(self.name, "density", self.density)
        if isinstance(self.on, str) or not self.on:
            raise DescriptionError(self.name, "on", self.on, "rods from head to tail, a tuple")

    @property
    def refers_to(self) -> tuple[str, ...]:
        """Names of the items it cannot do without."""
        return tuple(self.on)
