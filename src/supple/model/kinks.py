"""Kinks of functions of time, found by looking inside: when does a comparison, a maximum, a floor change?

A function that JAX can trace is a list of simple operations. Those whose result is a whole number (a
comparison, an index) although time is not, and those with a corner (max, abs, floor, …), say on which of
its smooth pieces a function is; where what they say depends on time alone, it is followed through a run, and
the instants at which it changes are found to the last digit. Nobody needs to declare them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.lie import Pose
from supple.model.laws import AbstractEffortLaw, Function
from supple.model.loads import GivenLine, GivenLoad, InternalStress, LineLoad
from supple.model.special_joints import DrivenJoint

SAMPLES = 4001
"""Instants of a run at which functions are looked at; what changes twice between two of them is missed."""
SAME = 1e-12
"""Share of a run within which two kinks are one."""
MOST = 1000
"""Kinks of one function; with more it is left to the control of steps."""

_ZERO = np.zeros(())
_POINT = Pose(np.eye(3), np.zeros(3))
_TWIST = np.zeros(6)


def kinks_between(model: Any, start: float, stop: float) -> list[float]:
    """Instants in (start, stop) at which a model is not smooth: declared ones, and those found."""
    declared = {kink for kink in model.corners if start < kink < stop}
    near, found = SAME * (stop - start), sorted(declared | hidden_kinks(model, start, stop))
    # Of two that are one up to round-off, the later belongs to what follows both.
    return [a for a, b in pairwise([*found, np.inf]) if b - a > near]


def hidden_kinks(model: Any, start: float, stop: float) -> set[float]:
    """Instants in (start, stop) at which some function of time of a model is not smooth."""
    found: set[float] = set()
    for function, given, place in _functions(model):
        found.update(_kinks(function, given, place, start, stop))
    return found


def _functions(part: Any) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], int]]:
    """Functions of users inside a model, with arguments of the right shapes, and which is the time."""
    if isinstance(part, Function):
        yield part.function, (_ZERO,), 0
    elif isinstance(part, DrivenJoint):
        yield part.motion, (_ZERO,), 0
    elif isinstance(part, InternalStress):
        yield part.stress, (np.zeros(5), _ZERO), 1
    elif isinstance(part, LineLoad):
        yield part.function, (_ZERO, _ZERO, _POINT, _TWIST), 0
        yield from _functions(part.law)
    elif isinstance(part, GivenLine):
        yield part.own.density, (_ZERO, _ZERO, _POINT, _TWIST), 0
    elif isinstance(part, GivenLoad):
        yield part.own.wrench, (_ZERO, _POINT, _TWIST), 0
    elif isinstance(part, AbstractEffortLaw):
        yield part, (_ZERO, _ZERO, _ZERO), 0
    elif isinstance(part, tuple | list):
        for one in part:
            yield from _functions(one)
    elif isinstance(part, eqx.Module):
        for value in vars(part).values():
            yield from _functions(value)


def _kinks(
    function: Callable[..., Any], given: tuple[Any, ...], place: int, start: float, stop: float
) -> tuple[float, ...]:
    """Kinks of one function; none where it cannot be traced alone."""
    try:
        hash(function)
    except TypeError:  # an item with arrays of its own
        return _found(function, given, place, start, stop)
    return _remembered(function, place, len(given), start, stop, _Given(given))


class _Given(tuple[Any, ...]):
    """Arguments of no interest to a cache."""

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return True


@lru_cache(maxsize=256)
def _remembered(
    function: Callable[..., Any], place: int, count: int, start: float, stop: float, given: _Given
) -> tuple[float, ...]:
    return _found(function, tuple(given), place, start, stop)


def _found(
    function: Callable[..., Any], given: tuple[Any, ...], place: int, start: float, stop: float
) -> tuple[float, ...]:
    try:
        traced = jax.make_jaxpr(function)(*given)
    except Exception:  # told where it is used
        return ()
    leaves = [len(jax.tree.leaves(one)) for one in given]
    at = sum(leaves[:place])
    kinds = [_OTHER] * sum(leaves)
    kinds[at] = _TIME

    def pieces(t: Any) -> list[Any]:
        values: list[Any] = [None] * len(kinds)
        values[at] = t
        told: list[Any] = []
        _walk(traced.jaxpr, traced.consts, kinds, values, told)
        return [jnp.ravel(one).astype(int) for one in told]

    if not jax.eval_shape(pieces, 0.0):
        return ()
    evaluate = jit(jax.vmap(lambda t: jnp.concatenate(pieces(t))), quick=True)
    times = np.linspace(start, stop, SAMPLES)
    told = np.asarray(evaluate(times))
    before, which = np.nonzero(told[1:] != told[:-1])
    if len(before) > MOST:
        return ()
    low, high, low_value = times[before], times[before + 1], told[before, which]
    for _ in range(80):
        middle = low + (high - low) / 2
        if np.all((middle <= low) | (middle >= high)):
            break
        padded = np.concatenate([middle, np.full(SAMPLES - len(middle), start)])
        same = np.asarray(evaluate(padded))[np.arange(len(middle)), which] == low_value
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    # The first instant that belongs to what follows.
    inside = (high > start + SAME * (stop - start)) & (high < stop)
    return tuple(np.unique(high[inside]).tolist())


_FIXED, _TIME, _OTHER = 0, 1, 2
"""What a value depends on: nothing, time alone, or something else too."""

_CORNERS: dict[str, Callable[..., Any]] = {
    "max": lambda a, b: a > b,
    "min": lambda a, b: a > b,
    "abs": lambda x: x >= 0,
    "sign": lambda x: x >= 0,
    "clamp": lambda low, x, high: (x >= low).astype(int) + (x >= high),
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "rem": lambda a, b: jnp.trunc(a / b),
}
"""Operations on real numbers that have corners, and what says on which side one is."""


def _walk(
    jaxpr: Any, consts: Sequence[Any], kinds: Sequence[int], values: Sequence[Any], told: list[Any]
) -> list[tuple[int, Any]]:
    """Compute what depends on time alone, and note what tells of its pieces."""
    known: dict[Any, tuple[int, Any]] = {}

    def read(atom: Any) -> tuple[int, Any]:
        return (_FIXED, atom.val) if hasattr(atom, "val") else known[atom]

    known.update({var: (_FIXED, value) for var, value in zip(jaxpr.constvars, consts, strict=True)})
    known.update(zip(jaxpr.invars, zip(kinds, values, strict=True), strict=True))
    for eqn in jaxpr.eqns:
        own = [read(atom) for atom in eqn.invars]
        kind = max((kind for kind, _ in own), default=_FIXED)
        inner = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
        name = eqn.primitive.name
        if inner is not None and name not in ("while", "scan", "cond"):
            closed = getattr(inner, "jaxpr", inner)
            found = _walk(
                closed,
                getattr(inner, "consts", ()),
                [kind for kind, _ in own],
                [value for _, value in own],
                told,
            )
            known.update(zip(eqn.outvars, found, strict=True))
            continue
        if kind == _OTHER:
            known.update({var: (_OTHER, None) for var in eqn.outvars})
            continue
        given = [value for _, value in own]
        bound: Any = eqn.primitive.get_bind_params(eqn.params)  # a pair in older versions of JAX
        extra, params = bound if isinstance(bound, tuple) else ((), bound)
        result = eqn.primitive.bind(*extra, *given, **params)
        results = list(result) if eqn.primitive.multiple_results else [result]
        known.update({var: (kind, one) for var, one in zip(eqn.outvars, results, strict=True)})
        if kind == _TIME:
            if name in _CORNERS:
                told.append(_CORNERS[name](*(jnp.asarray(one) for one in given)))
            elif any(_real(value) for value in given):
                told.extend(one for one in results if not _real(one))
    return [read(var) for var in jaxpr.outvars]


def _real(value: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(value), jnp.floating))
