"""A robot as a graph of named items, checked when it is described."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import jax
import numpy as np

from supple.errors import DescriptionError
from supple.model.model import Model
from supple.numeric import check_vector
from supple.reprs import short
from supple.robot.build import build_model
from supple.robot.checks import check_printable
from supple.robot.formulations import (
    DEFAULT,
    check_formulation,
    formulation_name,
    formulation_named,
)
from supple.robot.graph import Graph, Item, check_graph, parents_first
from supple.robot.items import Rod, Solid
from supple.robot.plausibility import hint_at_slips
from supple.robot.spanning_tree import cut_open
from supple.robot.surfaces import on_surfaces
from supple.robot.try_controllers import try_controllers
from supple.shooting.settings import Shooting

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
DEFAULT_ACCURACY = 1e-3
RESOLUTION = ("strains", "basis", "nodes", "breaks")
"""Fields of a rod that tell how finely it is computed."""


@dataclass(frozen=True, init=False)
class Robot:
    """Named rods, bodies, joints, actuators and loads under ``gravity`` (m/s², (3,)); immutable.

    >>> robot = Robot(
    ...     Rod("arm", length=0.5, section=Circle(2e-3), material=Material(E=2e11, density=7800)),
    ...     Body("tool", parent="arm", mass=0.05),
    ...     Wrench("pull", on="tool", force=(0, 1, 0)),
    ... )
    """

    items: tuple[Item, ...]
    gravity: Any
    name: str
    formulation: str | Shooting

    def __init__(
        self,
        *items: Item,
        gravity: Any = STANDARD_GRAVITY,
        name: str = "robot",
        formulation: str | Shooting = "strain",
    ) -> None:
        object.__setattr__(self, "items", on_surfaces(items))
        object.__setattr__(self, "gravity", gravity)
        object.__setattr__(self, "name", name)
        own = Shooting() if formulation == "shooting" else formulation
        object.__setattr__(self, "formulation", own)
        if not isinstance(name, str):
            raise DescriptionError("robot", "name", name, "a text")
        check_printable("robot", "name", name)
        check_vector(name, "gravity", gravity, (3,))
        check_formulation(name, formulation)
        check_graph(Graph(self.items, gravity, name))

    def __repr__(self) -> str:
        lines = [repr(item) for item in self.items]
        if self.gravity is not STANDARD_GRAVITY:
            lines.append(f"gravity={short(self.gravity)}")
        if self.formulation != DEFAULT:
            lines.append(f"formulation={self.formulation!r}")
        return (
            "Robot(\n" + "".join(f"    {line},\n" for line in [*lines, f"name={self.name!r}"]) + ")"
        )

    def __eq__(self, other: object) -> bool:
        """Whether all is the same: names, numbers (however they are written), laws, and the order."""
        return _same(self, other) if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, *(item.name for item in self.items)))

    @property
    def solids(self) -> tuple[Solid, ...]:
        """Rods, bodies and markers, each after its parent."""
        return parents_first(self.items)

    def __getitem__(self, name: str) -> Item:
        """The item of that name."""
        if name not in self._by_name:
            raise DescriptionError(self.name, "item", name, f"one of {[*self._by_name]}")
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Item]:
        return {item.name: item for item in self.items}

    def with_items(self, *items: Item) -> "Robot":
        """A robot of other items, all else the same."""
        return Robot(*items, gravity=self.gravity, name=self.name, formulation=self.formulation)

    def with_formulation(self, formulation: str | Shooting) -> "Robot":
        """The same robot, computed by another formulation: one of :data:`supple.FORMULATIONS`."""
        return Robot(*self.items, gravity=self.gravity, name=self.name, formulation=formulation)

    def adding(self, *items: Item) -> "Robot":
        """A robot with further items: a grasped object, a tool, a load."""
        return self.with_items(*self.items, *items)

    def removing(self, *names: str) -> "Robot":
        """A robot without the named items and everything that hangs on them."""
        for name in names:
            self[name]
        gone = set(names)
        for item in self.solids:
            if item.parent in gone:
                gone.add(item.name)
        kept = [
            item
            for item in self.items
            if item.name not in gone and not gone.intersection(getattr(item, "refers_to", ()))
        ]
        return self.with_items(*kept)

    def replacing(self, *items: Item) -> "Robot":
        """A robot with the items of the same names replaced."""
        new = {item.name: item for item in items}
        for name in new:
            self[name]
        kept = [new.get(item.name, item) for item in self.items]
        return self.with_items(*kept)

    def resolved(self, accuracy: float = DEFAULT_ACCURACY) -> "Robot":
        """The robot with all that its rods leave to "auto" chosen for an accuracy, as :meth:`build` does."""
        items = formulation_named(self.formulation).resolved(self.items, accuracy)
        same = all(a is b for a, b in zip(items, self.items, strict=True))
        return self if same else self.with_items(*items)

    def resolved_as(self, other: "Robot") -> "Robot":
        """The robot with strains, modes, pieces and nodes of its rods as those of the same names in another.

        With ``other`` from :func:`supple.refine` nothing is left to choose, also where numbers are traced.
        """
        rods = []
        for rod in (item for item in self.items if isinstance(item, Rod)):
            like = other[rod.name]
            if not isinstance(like, Rod):
                raise DescriptionError(other.name, rod.name, type(like).__name__, "a rod")
            own = {name: getattr(like, name) for name in RESOLUTION}
            rods.append(replace(rod, **own))
        return self.replacing(*rods)

    def build(self, accuracy: float = DEFAULT_ACCURACY) -> Model:
        """The immutable model that everything else computes with.

        ``accuracy`` (displacement error over size) settles what rods leave to "auto".
        """
        chosen = formulation_named(self.formulation)
        items = chosen.resolved(self.items, accuracy)
        graph = Graph(
            tuple(cut_open(items)), self.gravity, self.name, formulation_name(self.formulation)
        )
        check_graph(graph)
        model = build_model(graph)
        hint_at_slips(self.name, self.items, self.gravity)
        try_controllers(model)
        if chosen.finished is not None:
            model = chosen.finished(graph.items, model, self.formulation)
        return model


def _same(a: Any, b: Any) -> bool:
    """Equality of descriptions; vectors may be tuples, lists or arrays."""
    if isinstance(a, _VECTOR) and isinstance(b, _VECTOR):
        if isinstance(a, np.ndarray | jax.Array) or isinstance(b, np.ndarray | jax.Array):
            return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if is_dataclass(a) and type(a) is type(b):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


_VECTOR = (tuple, list, np.ndarray, jax.Array)
