"""What a robot is made of, as users write it: rods, bodies, markers, and what joins them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from supple.errors import DescriptionError
from supple.model.laws import AbstractLaw, as_law
from supple.numeric import Scalar, check_positive, check_vector, is_traced, row_of
from supple.reprs import brief
from supple.robot.checks import GROUND_NAME, check_first, check_fraction, check_law, check_name
from supple.robot.joint import AbstractJointSpec, Fixed, Free, Spherical
from supple.robot.looks import check_looks
from supple.robot.placement import unit_axis
from supple.robot.references import HoldsTwo, RefersToOne
from supple.section import AbstractProperties, AbstractShape, Material, SolidProperties
from supple.space import Magnus, RungeKutta, SpaceIntegrator, Spectral
from supple.space.grid import nodes_needed
from supple.strain import (
    AUTO_STRAINS,
    ROD_MODELS,
    STRAIGHT,
    AbstractBasis,
    PiecewiseConstant,
    StrainField,
    strain_field,
)
from supple.tried import number, tried

MOST_MODES = 300
"""Modes of one strain of a rod."""
MOST_PIECES, MOST_NODES, LEAST_NODES = 400, 1000, 9
"""Smooth pieces of a rod, nodes in one, and in each of so many: a matrix is as large as their square."""
MOST_ENTRIES = 5_000_000
"""Modes times steps along a rod: arrays have up to eighteen numbers for each."""


@dataclass(frozen=True)
class Place:
    """Where an item sits: on which parent, where on it, and how it is turned there.

    ``fraction`` is that of a parent rod's length (1, its tip, by default); ``position`` (m) and ``rotation``
    (rotation vector, quaternion or matrix) are in the frame there. ``position`` may also name a
    side of a body that has a shape ("x", "-z", …): the point of its surface there. ``link`` names a moving
    part of the parent's joint to sit on instead of the parent.
    """

    parent: str = GROUND_NAME
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)
    link: str | None = None

    def check(self, item: str) -> None:
        """Raise unless ``fraction`` is on the rod."""
        check_fraction(item, "fraction", self.fraction)


@dataclass(frozen=True, kw_only=True)
class _Item:
    parent: str | None = GROUND_NAME
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)
    link: str | None = None

    @property
    def place(self) -> Place:
        """Parent, place on it and pose there."""
        parent = self.parent or GROUND_NAME
        return Place(parent, self.fraction, self.position, self.rotation, self.link)


@dataclass(frozen=True, kw_only=True)
class _Jointed(_Item):
    """Something on a joint; without a ``parent`` (None) it goes where a :class:`Connection` puts it.

    ``joint_position`` and ``joint_rotation`` say where on the item the joint sits (its own frame, or a rod's
    first section, by default), ``joint_name`` what the joint is called (as the item by default).
    """

    joint: AbstractJointSpec = field(default_factory=Fixed)
    joint_position: Any = (0.0, 0.0, 0.0)
    joint_rotation: Any = (0.0, 0.0, 0.0)
    joint_name: str | None = None

    def check_joint(self, item: str) -> None:
        """Raise unless the joint is one."""
        if not isinstance(self.joint, AbstractJointSpec):
            raise DescriptionError(item, "joint", self.joint, "a joint such as Revolute('z')")
        if self.parent is None and not isinstance(self.joint, Fixed):
            need = (
                "no joint: connections bring theirs (or parent='ground' for an item on this joint)"
            )
            raise DescriptionError(item, "joint", self.joint, need)


@dataclass(frozen=True)
class Rod(_Jointed):
    """A slender elastic rod of ``length`` (m) along its local x axis.

    ``section`` and ``material`` give its matrices, or ``properties`` gives them directly.
    ``strains`` names a rod model ("kirchhoff", "reissner", "planar", …) or lists strains; "auto" and
    "planar-auto" take stretch and shear in only where the accuracy asked for needs them. Where nothing is
    named it is "auto", and with a ``basis`` "kirchhoff".
    ``basis`` is a number of Legendre modes, a basis, or one basis for each strain; "auto" takes as
    many modes as the accuracy needs. Piecewise bases go by the names of the literature, with segments
    between the rod's ``breaks`` or with their number: "pcc" and "pcs" (constant), "pls" (linear), "pcc:3";
    "constant" is one segment.
    ``rest`` is the strain at rest: six numbers or a function of u -> (n, 6), best defined once in a
    module (a new function, such as a lambda in a loop, recompiles).
    ``nodes`` overrides the number of quadrature nodes per smooth piece.
    ``growth`` is a law of time that multiplies the length. Rods that grow by laws of one kind (tables or
    splines with the same instants) are computed as one batch. They grow everywhere alike; with ``slides``
    they are pushed out of their base instead, and their material slides past it (uniform undamped rods only).
    """

    name: str
    length: Scalar
    section: AbstractShape | None = None
    material: Material | None = None
    properties: AbstractProperties | None = None
    strains: str | Sequence[str] | None = None
    basis: AbstractBasis | int | str | Mapping[str, AbstractBasis | int | str] = "auto"
    rest: Any = STRAIGHT
    nodes: int | None = None
    breaks: Sequence[float] = ()
    space: SpaceIntegrator = field(default_factory=Magnus)
    growth: AbstractLaw | Callable[[Any], Any] | None = None
    slides: bool = False

    entries: ClassVar[int] = 0
    """Numbers that the arrays of its model have, about."""
    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        self.place.check(self.name)
        check_positive(self.name, "length", self.length)
        self.sectional().check(self.name)
        breaks: Any = self.breaks
        need = "a tuple of fractions in (0, 1)"
        row = row_of(self.name, "breaks", breaks, need)
        if not isinstance(breaks, list | tuple) or any(not 0.0 < b < 1.0 for b in row):
            raise DescriptionError(self.name, "breaks", breaks, need)
        field = self.resolved(1e-2).strain_field()
        self._check_rest()
        nodes: Any = self.nodes
        if nodes is not None and (not isinstance(nodes, int) or nodes < 2):
            raise DescriptionError(self.name, "nodes", self.nodes, "an integer >= 2, or None")
        if not isinstance(self.space, Magnus | Spectral | RungeKutta):
            need = "Magnus(…), Spectral() or RungeKutta(…)"
            raise DescriptionError(self.name, "space", self.space, need)
        if not self.is_in_pieces():
            self._check_size(field)
        self.check_joint(self.name)
        growth: Any = self.growth
        if growth is not None and not isinstance(growth, AbstractLaw) and not callable(growth):
            raise DescriptionError(self.name, "growth", growth, "a law or a function of time")
        if growth is not None:
            check_first(self.name, "growth", growth, positive=True)
        if self.slides:
            self._check_slides()

    def _check_size(self, field: StrainField) -> None:
        """Raise where the arrays of the rod would not fit into a machine, or take many seconds to fill."""
        modes = max((basis.count for _, basis in field.components), default=0)
        if modes > MOST_MODES:
            raise DescriptionError(
                self.name, "basis", modes, f"at most {MOST_MODES} modes a strain"
            )
        pieces = len({*field.breaks, *self.breaks}) + 1
        if pieces > MOST_PIECES:
            need = f"at most {MOST_PIECES} pieces between breaks and segments"
            raise DescriptionError(self.name, "breaks", pieces, need)
        edges = tuple(sorted({0.0, *field.breaks, *self.breaks, 1.0}))
        nodes = self.nodes or nodes_needed(field, self.rest, edges, self.length, inside=True)
        if nodes > MOST_NODES or pieces * nodes > MOST_PIECES * LEAST_NODES:
            turns = "fewer turns of its rest shape, modes, breaks or nodes"
            need = (
                f"{turns}: at most {MOST_NODES} nodes a piece, {MOST_PIECES * LEAST_NODES} in all"
            )
            named = "rest" if self.nodes is None and nodes > field.degree + MOST_MODES else "nodes"
            raise DescriptionError(self.name, named, f"{pieces} × {nodes} nodes", need)
        steps = pieces * nodes * (self.space.substeps if isinstance(self.space, Magnus) else 1)
        if steps * field.count > MOST_ENTRIES:
            need = f"fewer nodes, substeps or modes: their product at most {MOST_ENTRIES:.0e}"
            raise DescriptionError(self.name, "nodes", steps * field.count, need)
        # Kept, since a robot of many rods asks for the sum.
        object.__setattr__(self, "entries", (pieces * nodes) ** 2 + 18 * steps * field.count)

    def _check_slides(self) -> None:
        """Material that passes a sample must be alike, and its strain continuous."""
        if self.growth is None:
            raise DescriptionError(self.name, "slides", True, "a law of growth")
        matrices = self.sectional().matrices(np.linspace(0.0, 1.0, 5))
        uniform = is_traced(matrices) or all(
            np.allclose(part, part[:1], rtol=1e-12, atol=0.0)
            for part in (matrices.stiffness, matrices.inertia)
        )
        if callable(self.rest) or not uniform or self.resolved(1e-2).strain_field().breaks:
            need = "False: only rods alike along their length, on a basis without breaks, can slide"
            raise DescriptionError(self.name, "slides", True, need)
        if not is_traced(matrices) and np.any(matrices.damping):
            need = "False, or a material without damping"
            raise DescriptionError(self.name, "slides", True, need)

    @property
    def rod_model(self) -> str | Sequence[str]:
        """Its rod model or strains, also where none are named."""
        if self.strains is not None:
            return self.strains
        return "auto" if isinstance(self.basis, str) and self.basis == "auto" else "kirchhoff"

    def strain_field(self) -> StrainField:
        """The rod's strain field; "auto" choices must be resolved first."""
        named = self.rod_model
        strains = named if isinstance(named, str) else tuple(named)
        breaks: Any = self.breaks
        return strain_field(self.name, strains, self.basis, tuple(breaks))

    def is_in_pieces(self) -> bool:
        """Whether all strains are constant between the same edges: the formulation "pcs" takes any number."""
        bases = {basis for _, basis in self.resolved(1e-2).strain_field().components}
        return len(bases) == 1 and isinstance(bases.pop(), PiecewiseConstant)

    def settled(self, accuracy: float) -> "Rod":
        """As :meth:`resolved`, for one matrix along the whole rod: raises where it would be too large."""
        found = self.resolved(accuracy)
        if self.is_in_pieces():
            found._check_size(found.strain_field())
        return found

    def resolved(self, accuracy: float) -> "Rod":
        """The rod with "auto" choices made for a displacement accuracy relative to its length.

        Bending takes four Legendre modes for each decimal digit, the other strains two. Stretch and
        shear are left out while EI/(GA L²) and EI/(EA L²) stay below accuracy²: their effect on the
        frequencies of a slender rod is that small.
        """
        strains, basis = self.rod_model, self.basis
        if not isinstance(strains, str | list | tuple):
            raise DescriptionError(self.name, "strains", strains, "a name or a tuple of names")
        if isinstance(strains, str) and strains in AUTO_STRAINS:
            slender = _compliance_ratio(self) < accuracy**2
            strains = AUTO_STRAINS[strains][0 if slender else 1]
        if isinstance(basis, str) and basis == "auto":
            names = ROD_MODELS.get(strains, ()) if isinstance(strains, str) else tuple(strains)
            digits = max(1.0, -np.log10(accuracy))
            few, many = int(np.ceil(2 * digits)), int(np.ceil(4 * digits))
            basis = {name: many if name in ("ky", "kz") else few for name in names}
            if not names:
                basis = few  # the name is unknown: let the check of the strains say so
        return (
            replace(self, strains=strains, basis=basis)
            if (strains is not self.strains or basis is not self.basis)
            else self
        )

    def sectional(self) -> AbstractProperties:
        """The rod's sectional properties."""
        if self.properties is not None:
            if self.section is not None or self.material is not None:
                need = "either properties, or section and material"
                raise DescriptionError(self.name, "properties", self.properties, need)
            if not isinstance(self.properties, AbstractProperties):
                need = "GivenProperties(…), or a section and a material"
                raise DescriptionError(self.name, "properties", self.properties, need)
            return self.properties
        if not isinstance(self.section, AbstractShape):
            need = "a section such as Circle(radius), with a material; or properties"
            raise DescriptionError(self.name, "section", self.section, need)
        if not isinstance(self.material, Material):
            need = "a Material(E=…, density=…), with a section; or properties"
            raise DescriptionError(self.name, "material", self.material, need)
        return SolidProperties(self.section, self.material)

    def _check_rest(self) -> None:
        if not callable(self.rest):
            check_vector(self.name, "rest", self.rest, (6,))
            return
        u = np.linspace(0.0, 1.0, 5)
        need = "a function of u (n,) -> finite strains (n, 6)"
        values = tried(self.name, "rest", self.rest, (u,), need, traced=False)
        if is_traced(values):
            return
        if np.shape(values) != (5, 6) or not np.all(np.isfinite(values)):
            need = "a function of u (n,) -> finite strains (n, 6)"
            raise DescriptionError(self.name, "rest", np.shape(values), need)
        if isinstance(self.space, RungeKutta):
            self._check_rest_compiles()

    def _check_rest_compiles(self) -> None:
        """Adaptive steps are taken while compiled code runs, and so is the rest shape evaluated."""
        need = "a function written with jax.numpy for RungeKutta(…); Magnus(…) takes any function"
        tried(self.name, "rest", self.rest, (number(5),), need)


def _compliance_ratio(rod: Rod) -> float:
    """Largest EI/(GA L²) or EI/(EA L²) along a rod; infinite where it cannot be known."""
    matrices = rod.sectional().matrices(np.linspace(0.0, 1.0, 9))
    if is_traced((matrices, rod.length)):
        return float("inf")
    diagonal = np.einsum("nii->ni", matrices.stiffness)
    bending = diagonal[:, 1:3].max(axis=1)
    direct = diagonal[:, 3:].min(axis=1)
    ratio = bending / np.where(direct > 0, direct, np.inf)
    return float(np.max(ratio) / float(rod.length) ** 2)


@dataclass(frozen=True)
class Body(_Jointed):
    """A rigid body of ``mass`` (kg).

    ``inertia`` is about the center of mass, in the body's axes: (Ixx, Iyy, Izz) or a 3x3 matrix
    (kg m²); ``com`` is the center of mass in the body frame (m). ``shape`` is how it looks: a
    :class:`Box`, :class:`Cylinder`, :class:`Sphere` or :class:`Mesh`, or several; it weighs nothing.
    """

    name: str
    mass: Scalar
    inertia: Any = (0.0, 0.0, 0.0)
    com: Any = (0.0, 0.0, 0.0)
    shape: Any = None

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        self.place.check(self.name)
        check_positive(self.name, "mass", self.mass)
        check_vector(self.name, "com", self.com, (3,))
        self.inertia_matrix()
        check_looks(self.name, self.shape)
        self.check_joint(self.name)

    def inertia_matrix(self) -> Any:
        """Inertia about the center of mass, (3, 3) kg m²."""
        traced = is_traced(self.inertia)
        diagonal = np.shape(self.inertia) == (3,)
        matrix = check_vector(self.name, "inertia", self.inertia, (3,) if diagonal else (3, 3))
        matrix = np.eye(3) * matrix if diagonal else matrix
        if traced:
            return matrix
        moments = np.linalg.eigvalsh((matrix + matrix.T) / 2)
        slack = 1e-9 * max(moments[-1], 1e-300)
        if not np.allclose(matrix, matrix.T):
            raise DescriptionError(self.name, "inertia", self.inertia, "a symmetric matrix")
        if moments[0] < -slack:
            raise DescriptionError(self.name, "inertia", self.inertia, "no negative moment")
        if moments[0] + moments[1] < moments[2] - slack:
            need = "moments that satisfy the triangle inequality (Ixx + Iyy >= Izz)"
            raise DescriptionError(self.name, "inertia", self.inertia, need)
        return matrix


@dataclass(frozen=True)
class Marker(_Item):
    """A named, massless frame fixed to an item: a sensor, a tool center; ``shape`` is how it looks."""

    name: str
    shape: Any = None

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        self.place.check(self.name)
        check_looks(self.name, self.shape)


@dataclass(frozen=True)
class Closure(HoldsTwo):
    """A joint that closes a loop: between a frame of item ``on`` (inner) and one of item ``to`` (outer).

    Either may be the ground; ``fraction`` and ``to_fraction`` are those of a rod's length, so that a loop may
    close in the middle of a rod. The joint allows the motions its name says, from the inner to the
    outer frame; it has coordinates of its own only where it needs them (a screw, a spring, a damper).
    """

    name: str
    on: str
    to: str
    joint: AbstractJointSpec = field(default_factory=Spherical)
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)
    to_fraction: float = 1.0
    to_position: Any = (0.0, 0.0, 0.0)
    to_rotation: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "place"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        self.inner.check(self.name)
        self.outer.check(self.name)
        joint: Any = self.joint
        if not isinstance(joint, AbstractJointSpec) or isinstance(joint, Free):
            need = "a joint that holds something, such as Spherical() or Revolute('z')"
            raise DescriptionError(self.name, "joint", self.joint, need)

    @property
    def inner(self) -> Place:
        """Where the joint begins."""
        return Place(self.on, self.fraction, self.position, self.rotation)

    @property
    def outer(self) -> Place:
        """Where it ends."""
        return Place(self.to, self.to_fraction, self.to_position, self.to_rotation)


@dataclass(frozen=True)
class Connection(HoldsTwo):
    """A joint from a frame of item ``on`` to one of item ``to``, in a robot drawn as a graph.

    It may carry an item that has no parent (``parent=None``) or close a loop; which one is chosen for the
    whole graph (:mod:`supple.robot.spanning_tree`), unless ``cut`` says so: True closes a loop, False
    carries.
    Frames are as in :class:`Closure`, but a rod ``to`` is met at its first section by default.
    """

    name: str
    on: str
    to: str
    joint: AbstractJointSpec = field(default_factory=Fixed)
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)
    to_fraction: float = 0.0
    to_position: Any = (0.0, 0.0, 0.0)
    to_rotation: Any = (0.0, 0.0, 0.0)
    cut: bool | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        self.closure(on_rod=True)

    def closure(self, *, on_rod: bool) -> Closure:
        """The same joint as one that closes a loop; ``on_rod`` if its outer item is a rod."""
        return Closure(
            self.name,
            self.on,
            self.to,
            self.joint,
            self.fraction,
            self.position,
            self.rotation,
            self.to_fraction if on_rod else 1.0,
            self.to_position,
            self.to_rotation,
        )


@dataclass(frozen=True)
class PrescribedCoordinate(RefersToOne):
    """A coordinate imposed in time: that of the joint of item ``on``, or a strain mode of a rod.

    ``on`` may also name a :class:`Connection` or a :class:`Closure`: the coordinate of that joint.

    ``value`` is a number or a law of time (rad, m; 1/m for curvatures); ``coordinate`` counts those of the
    joint (``of="joint"``) or of the rod's basis (``of="rod"``). The effort it needs is an outcome.
    """

    name: str
    on: str
    value: AbstractLaw | Callable[[Any], Any] | float = 0.0
    coordinate: int = 0
    of: str = "joint"

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.of not in ("joint", "rod"):
            raise DescriptionError(self.name, "of", self.of, "'joint' or 'rod'")
        check_law(self.name, "value", self.value)
        coordinate: Any = self.coordinate
        if not isinstance(coordinate, int) or isinstance(coordinate, bool):
            raise DescriptionError(self.name, "coordinate", coordinate, "an integer, from 0")

    def time_law(self) -> AbstractLaw:
        """The law as an object."""
        return as_law(self.value)


@dataclass(frozen=True)
class KnifeEdge(RefersToOne):
    """An edge at a point of item ``on`` that may slide along itself and turn, but not move ``across``.

    ``across`` is a direction in the item's frame there ("x" … "-z" or a vector); ``fraction`` is that of a
    rod's length and ``position`` (m) a point in the frame there. The edge restricts velocities, not places:
    statics leaves it out, that is, finds where the robot rests without its force.
    """

    name: str
    on: str
    across: str | Sequence[float] = "y"
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_fraction(self.name, "fraction", self.fraction)
        check_vector(self.name, "position", self.position, (3,))
        unit_axis(self.name, "across", self.across)


@dataclass(frozen=True)
class RollingContact(RefersToOne):
    """A ball, or with an ``axle`` a thin wheel, that rolls on a plane without slipping.

    Its center is at a point of item ``on`` (as in :class:`KnifeEdge`), ``radius`` (m) above the plane whose
    ``normal`` is given in the world; ``axle`` is a direction in the item's frame. Statics leaves it out.
    """

    name: str
    on: str
    radius: Scalar
    axle: str | Sequence[float] | None = None
    normal: str | Sequence[float] = "z"
    fraction: float = 1.0
    position: Any = (0.0, 0.0, 0.0)

    needs: ClassVar[str] = "solid"

    __repr__ = brief

    def __post_init__(self) -> None:
        check_name(self.name)
        check_fraction(self.name, "fraction", self.fraction)
        check_positive(self.name, "radius", self.radius)
        check_vector(self.name, "position", self.position, (3,))
        unit_axis(self.name, "normal", self.normal)
        if self.axle is not None:
            unit_axis(self.name, "axle", self.axle)


Solid = Rod | Body | Marker
Contact = KnifeEdge | RollingContact
