"""A function of one robot for many of them, by one compiled program.

On the CPU members go through the program one after the other, some at a time, on all cores: each does what it
needs, and none waits for another. On other devices all members go side by side, by a program made flat.
"""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit, platform
from supple.errors import ArgumentError
from supple.fleet.abreast import abreast
from supple.fleet.flat import flattened
from supple.model.model import Model
from supple.numeric import is_traced
from supple.robot.robot import Robot
from supple.threads import as_completed, cores

LARGEST = 64
"""Members that one call goes through, at most, ..."""
CALLS = 4
"""... and calls for each core, at least: so that all cores end at about the same time."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Batch(Generic[_P, _T]):
    """A function for many members; made by :func:`batch`."""

    def __init__(
        self, function: Callable[_P, _T], threads: int | None, side_by_side: bool | None
    ) -> None:
        self._function, self._threads = function, threads
        self._side_by_side = side_by_side
        self._programs: dict[Any, Any] = {}
        self._lock = Lock()

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """What the function returns for each member, stacked along a leading axis."""
        if kwargs:
            raise ArgumentError(f"batch: got {', '.join(kwargs)} by name; need all by position")
        given = tuple(_stacked(value, f"argument {i}") for i, value in enumerate(args))
        count = _members(given)
        if is_traced(given):  # inside another program
            return jax.vmap(self._told)(*given)
        side_by_side = platform() != "cpu" if self._side_by_side is None else self._side_by_side
        if side_by_side:
            return self._program(given, whole=True)(*given)
        return self._on_cores(given, count)

    def compiled(self, *args: Any) -> Any:
        """The compiled program for such arguments, for a look at it: its cost, its text."""
        given = tuple(_stacked(value, f"argument {i}") for i, value in enumerate(args))
        side_by_side = platform() != "cpu" if self._side_by_side is None else self._side_by_side
        if side_by_side:
            return self._program(given, whole=True)
        return self._program(_rows(given, 0, self._size(_members(given))), whole=False)

    def _told(self, *args: Any) -> Any:
        """The function, with errors of tracing in our words."""
        try:
            return self._function(*args)  # type: ignore[call-arg]
        except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
            text = str(error).strip().partition("\n")[0]
            raise ArgumentError(
                f"batch: what a member is made of must not depend on the numbers that differ: {text}; need "
                "members of one structure, and functions that can be traced (rollout, step, equilibrium, …)"
            ) from error

    def _size(self, count: int) -> int:
        """Members a call: a power of two, so that few programs are made."""
        threads = self._threads or cores()
        return min(LARGEST, 2 ** int(np.log2(max(1, count // (CALLS * threads)))))

    def _program(self, given: Any, *, whole: bool) -> Any:
        """The program for arguments of these shapes, compiled once."""
        leaves, structure = jax.tree.flatten(given)
        shapes = tuple((np.shape(leaf), jnp.result_type(leaf)) for leaf in leaves)
        key = (platform(), whole, structure, shapes)
        with self._lock:
            if key not in self._programs:
                if whole:
                    program = jit(abreast(flattened(self._told)))
                else:
                    program = jit(partial(_one_by_one, self._told))
                self._programs[key] = program.lower(*given).compile()
            return self._programs[key]

    def _on_cores(self, given: Any, count: int) -> Any:
        size = self._size(count)
        program = self._program(_rows(given, 0, size), whole=False)

        def some(start: int) -> Any:
            return jax.tree.map(np.asarray, program(*_rows(given, start, size)))

        found = dict(as_completed(some, range(0, count, size), self._threads))
        parts = [found[start] for start in range(0, count, size)]
        return jax.tree.map(lambda *own: np.concatenate(own)[:count], *parts)


def batch(
    function: Callable[_P, _T], *, threads: int | None = None, lockstep: bool | None = None
) -> Batch[_P, _T]:
    """The function of one member as a function of many: arguments get a leading axis, results have one.

    ``function`` is any function of arrays (or of trees of them: states, models) that can be traced: one that
    changes parameters of a robot and calls :func:`rollout`, :func:`equilibrium`, :func:`modes` … Lists of
    robots or models are stacked; their structure must be the same. Members that fail say so by their status.
    On CPUs members run independently on all cores (``threads``: fewer), on other devices in ``lockstep``.
    Inside ``jax.jit`` and ``jax.grad`` it is ``jax.vmap``.
    """
    return Batch(function, threads, lockstep)


def _one_by_one(function: Callable[..., Any], *given: Any) -> Any:
    return jax.lax.map(lambda own: function(*own), given)


def _rows(given: Any, start: int, size: int) -> Any:
    """Members from one on; the last is repeated where there are not enough."""

    def own(leaf: Any) -> Any:
        rows = np.asarray(leaf)[start : start + size]
        missing = size - len(rows)
        return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing else rows

    return jax.tree.map(own, given)


def _stacked(value: Any, name: str) -> Any:
    """A list of robots or models as one model whose arrays have a leading axis; else what was given."""
    if isinstance(value, Robot | Model):
        raise ArgumentError(
            f"batch: {name}: got one {type(value).__name__}; need a list of them, or a function that makes it"
        )
    if not (isinstance(value, Sequence) and value and isinstance(value[0], Robot | Model)):
        return value
    models = [one.build() if isinstance(one, Robot) else one for one in value]
    known: list[tuple[Any, Any]] = [
        (jax.tree.structure(model), jax.tree.leaves(model)) for model in models
    ]
    first, *others = known
    for index, (structure, leaves) in enumerate(others, 1):
        shapes = [np.shape(leaf) for leaf in leaves] == [np.shape(leaf) for leaf in first[1]]
        if structure != first[0] or not shapes:
            raise ArgumentError(
                f"batch: {name}: {_difference(models[0], models[index], index)}; need robots of one "
                "structure: the same items, joints, modes and nodes"
            )
    return jax.tree.map(lambda *own: np.stack([np.asarray(x) for x in own]), *models)


def _difference(one: Model, other: Model, index: int) -> str:
    """How a model differs from the first one, in a few words."""
    sizes = [
        ("coordinates", one.nv, other.nv),
        ("equations", one.equations, other.equations),
        ("kinds of elements", len(one.groups), len(other.groups)),
    ]
    for what, first, own in sizes:
        if first != own:
            return f"member {index} has {own} {what}, member 0 has {first}"
    return f"member {index} differs from member 0 in what it is made of"


def _members(given: Any) -> int:
    """The number of members, which all arrays agree on."""
    sizes: dict[int, str] = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(given):
        name = jax.tree_util.keystr(path)
        if np.ndim(leaf) == 0:
            raise ArgumentError(f"batch: argument {name}: got one number; need one for each member")
        sizes.setdefault(np.shape(leaf)[0], name)
    if not sizes:
        raise ArgumentError("batch: got no arrays; need at least one argument with a leading axis")
    if len(sizes) > 1:
        told = ", ".join(f"{size} in argument {name}" for size, name in sizes.items())
        raise ArgumentError(f"batch: got different numbers of members: {told}")
    (count,) = sizes
    if count == 0:
        raise ArgumentError("batch: got no members; need at least one")
    return count
