"""Many members of one program, side by side, with members on the last axis of every array.

A device reads memory in rows of neighbors, and neighbors should be members: then slices, sums and products of
the small matrices of one member are nothing but loops over rows, which XLA joins in few, large kernels. What
does not differ from member to member (counters of loops, tables, constants) is computed once.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from supple.fleet.axes import ENTRYWISE, Value, of_all, with_members
from supple.fleet.flat import as_it_is


def abreast(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of one member for many: arguments and results have a leading axis of members."""

    def all_of_them(*args: Any) -> Any:
        leaves, structure = jax.tree.flatten(args)
        one = [jax.ShapeDtypeStruct(np.shape(leaf)[1:], jnp.result_type(leaf)) for leaf in leaves]
        traced, shapes = jax.make_jaxpr(
            lambda *own: function(*jax.tree.unflatten(structure, own)), return_shape=True
        )(*one)
        count = np.shape(leaves[0])[0]
        given = [Value(jnp.moveaxis(jnp.asarray(leaf), 0, -1), True) for leaf in leaves]
        found = _evaluated(traced, given, count)
        leading = [jnp.moveaxis(of_all(value, count), -1, 0) for value in found]
        return jax.tree.unflatten(jax.tree.structure(shapes), leading)

    return all_of_them


def _evaluated(closed: Any, given: Sequence[Value], count: int) -> list[Value]:
    """A program for all members."""
    known: dict[Any, Value] = {}

    def value(atom: Any) -> Value:
        return Value(atom.val, False) if hasattr(atom, "val") else known[atom]

    known.update(zip(closed.jaxpr.constvars, (Value(c, False) for c in closed.consts), strict=True))
    known.update(zip(closed.jaxpr.invars, given, strict=True))
    for equation in closed.jaxpr.eqns:
        own = [value(atom) for atom in equation.invars]
        name = equation.primitive.name
        if name in _CALLED:
            found = _evaluated(_CALLED[name](equation), own, count)
        elif not any(one.many for one in own) and name not in _LOOPS:
            found = [
                Value(array, False) for array in as_it_is(equation, [one.array for one in own])
            ]
        elif name in _LOOPS:
            found = _LOOPS[name](equation, own, count)
        elif name in ENTRYWISE:
            found = _entry_by_entry(equation, own, count)
        elif (changed := with_members(equation, own, count)) is not None:
            found = [Value(array, True) for array in as_it_is(*changed)]
        else:
            found = _mapped(equation, own)
        known.update(zip(equation.outvars, found, strict=True))
    return [value(atom) for atom in closed.jaxpr.outvars]


def _mapped(equation: Any, own: list[Value]) -> list[Value]:
    """An operation by JAX's own rule, which may move axes."""
    axes = tuple(-1 if one.many else None for one in own)
    found = jax.vmap(lambda *arrays: as_it_is(equation, list(arrays)), in_axes=axes, out_axes=-1)(
        *(one.array for one in own)
    )
    return [Value(array, True) for array in found]


def _entry_by_entry(equation: Any, own: list[Value], count: int) -> list[Value]:
    """An operation on entries; a single number goes with all entries."""
    shape = (*equation.outvars[0].aval.shape, count)
    arrays = []
    for one in own:
        array = jnp.asarray(one.array)
        if array.shape != shape:
            axes = tuple(range(array.ndim))
            if one.many:  # a single number of each member
                axes = (len(shape) - 1,) if array.ndim == 1 else axes
            array = lax.broadcast_in_dim(array, shape, axes)
        arrays.append(array)
    return [Value(array, True) for array in as_it_is(equation, arrays)]


def _spread(closed: Any, many: Sequence[bool]) -> list[bool]:
    """Which results of a program differ from member to member, if these of its arguments do."""
    known = dict(zip(closed.jaxpr.invars, many, strict=True))

    def differs(atom: Any) -> bool:
        return not hasattr(atom, "val") and known.get(atom, False)

    for equation in closed.jaxpr.eqns:
        own, name = [differs(atom) for atom in equation.invars], equation.primitive.name
        if name in _CALLED:
            found = _spread(_CALLED[name](equation), own)
        elif name == "while":
            found = _carried(equation, own)[0]
        elif name == "scan":
            found = _scanned(equation, own)[1]
        else:
            found = [any(own)] * len(equation.outvars)
        known.update(zip(equation.outvars, found, strict=True))
    return [differs(atom) for atom in closed.jaxpr.outvars]


def _carried(equation: Any, many: Sequence[bool]) -> tuple[list[bool], bool]:
    """Which of what a loop carries differs, and whether its end does."""
    params = equation.params
    c, b = params["cond_nconsts"], params["body_nconsts"]
    carry = list(many[c + b :])
    while True:
        (ends,) = _spread(params["cond_jaxpr"], [*many[:c], *carry])
        found = _spread(params["body_jaxpr"], [*many[c : c + b], *carry])
        then = [old or new or ends for old, new in zip(carry, found, strict=True)]
        if then == carry:
            return carry, ends
        carry = then


def _held_and_carried(params: dict[str, Any]) -> tuple[int, int]:
    """How many arguments of a scan stay, and how many are carried on, as JAX's version tells it."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    held, carried, _ = params["ft_in"].unpack()
    return len(held), len(carried)


def _scanned(equation: Any, many: Sequence[bool]) -> tuple[list[bool], list[bool]]:
    """Which of what a scan carries differs, and of its results."""
    k, n = _held_and_carried(equation.params)
    carry = list(many[k : k + n])
    while True:
        found = _spread(equation.params["jaxpr"], [*many[:k], *carry, *many[k + n :]])
        then = [old or new for old, new in zip(carry, found[:n], strict=True)]
        if then == carry:
            return carry, [*carry, *found[n:]]
        carry = then


def _as(flags: Sequence[bool], values: Sequence[Value], count: int) -> list[Any]:
    """Arrays of which those are of all members."""
    return [
        of_all(one, count) if flag else one.array for flag, one in zip(flags, values, strict=True)
    ]


def _while(equation: Any, own: list[Value], count: int) -> list[Value]:
    """A loop that goes on while some member needs it; the others stay as they are."""
    params = equation.params
    c, b = params["cond_nconsts"], params["body_nconsts"]
    flags, ends = _carried(equation, [one.many for one in own])
    types = [(atom.aval.dtype) for atom in equation.outvars]

    def values(carry: Sequence[Any]) -> list[Value]:
        return [Value(array, flag) for array, flag in zip(carry, flags, strict=True)]

    def goes_on(carry: Sequence[Any]) -> Any:
        return _evaluated(params["cond_jaxpr"], [*own[:c], *values(carry)], count)[0].array

    def body(carry: Sequence[Any]) -> list[Any]:
        found = _evaluated(params["body_jaxpr"], [*own[c : c + b], *values(carry)], count)
        return _as(flags, found, count)

    first = [jnp.asarray(x, t) for x, t in zip(_as(flags, own[c + b :], count), types, strict=True)]
    if not ends:
        return values(lax.while_loop(goes_on, body, first))

    def once(now: Any) -> Any:
        going, carry = now
        then = [jnp.where(going, new, old) for new, old in zip(body(carry), carry, strict=True)]
        return goes_on(then) & going, then

    begun = jnp.broadcast_to(goes_on(first), (count,))
    _, end = lax.while_loop(lambda now: jnp.any(now[0]), once, (begun, first))
    return values(end)


def _scan(equation: Any, own: list[Value], count: int) -> list[Value]:
    params = equation.params
    k, n = _held_and_carried(params)
    carried, results = _scanned(equation, [one.many for one in own])
    rows = [one.many for one in own[k + n :]]
    types = [atom.aval.dtype for atom in equation.outvars[:n]]

    def once(carry: Any, row: Any) -> tuple[list[Any], list[Any]]:
        now = [Value(array, flag) for array, flag in zip(carry, carried, strict=True)]
        part = [Value(array, flag) for array, flag in zip(row, rows, strict=True)]
        found = _as(results, _evaluated(params["jaxpr"], [*own[:k], *now, *part], count), count)
        return found[:n], found[n:]

    first = [
        jnp.asarray(x, t) for x, t in zip(_as(carried, own[k : k + n], count), types, strict=True)
    ]
    end, stacked = lax.scan(
        once,
        first,
        [one.array for one in own[k + n :]],
        length=params["length"],
        reverse=params["reverse"],
        unroll=params["unroll"],
    )
    return [Value(array, flag) for array, flag in zip([*end, *stacked], results, strict=True)]


_LOOPS: dict[str, Callable[[Any, list[Value], int], list[Value]]] = {"while": _while, "scan": _scan}
_CALLED: dict[str, Callable[[Any], Any]] = {
    "jit": lambda equation: equation.params["jaxpr"],
    "pjit": lambda equation: equation.params["jaxpr"],
}
