"""Roots of equations with derivatives of every order, by the implicit function theorem.

Where r(y, p) = 0, the root moves by ẏ = -(∂r/∂y)⁻¹ (∂r/∂p) ṗ. That rule is written in what can be
differentiated itself: the root in it is the root with its derivatives again, and the linear system is one
whose matrix is ∂r/∂y there. So derivatives of derivatives are right, too, though factors are only found once
and the loop that led to the root is never looked at.
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from jaxtyping import Float

from supple.arrays import Array

Vector = Float[Array, "..."]
SOLUTION = "solution"
"""Name of what solves lead to, for who keeps it instead of solving again."""
Product = Callable[[Any], Any]
"""A matrix, as its product with a vector."""


class AbstractSolver(eqx.Module):
    """How a linear system with the derivative of some equations at their root is solved."""

    @abc.abstractmethod
    def solve(self, product: Product, right: Vector) -> Vector:
        """The solution for a right-hand side; ``product`` is that with the exact matrix."""

    @abc.abstractmethod
    def solve_transposed(self, product: Product, right: Vector) -> Vector:
        """The same with the transposed matrix, whose product is given."""


class WithFactors(AbstractSolver):
    """By factors of the exact matrix."""

    factors: Any

    def solve(self, product: Product, right: Vector) -> Vector:
        return self.factors.solve_checked(right)

    def solve_transposed(self, product: Product, right: Vector) -> Vector:
        return jax.linear_transpose(self.factors.solve_checked, right)(right)[0]


def implicit_root(
    residual: Callable[[Vector], Vector], root: Vector, solver: AbstractSolver
) -> Vector:
    """A root with the derivatives by all that the residual depends on.

    Works forward and in reverse, again and again; nothing is computed where nothing is differentiated.
    ``root`` and ``solver`` carry no derivatives: they come from a loop behind ``stop_gradient``.
    """
    arrays, rest = eqx.partition(solver, eqx.is_array)
    root, arrays = lax.stop_gradient((root, arrays))
    root = checkpoint_name(root, SOLUTION)
    factors, structure = jax.tree.flatten(arrays)
    # What the residual closes over becomes arguments: laws of users may be functions of traced numbers.
    closed = jax.make_jaxpr(residual)(root)

    def left(y: Vector, given: Sequence[Any]) -> Vector:
        return jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, given))(y)[0]

    def solved(y: Vector, given: Sequence[Any], factors: Sequence[Any], right: Vector) -> Vector:
        own = eqx.combine(jax.tree.unflatten(structure, factors), rest)

        def product(v: Vector) -> Vector:
            return jax.jvp(lambda x: left(x, given), (y,), (v,))[1]

        return lax.custom_linear_solve(product, right, own.solve, own.solve_transposed)

    count = len(closed.consts)
    return _root.bind(root, *closed.consts, *factors, count=count, left=left, solved=solved)


# An operation of its own: JAX drops custom rules where it takes loops apart to go through them in reverse,
# and derivatives of derivatives would be wrong in silence.
_root = Primitive("implicit_root")
_root.def_impl(lambda root, *_, **__: root)
_root.def_abstract_eval(lambda root, *_, **__: root)
mlir.register_lowering(_root, mlir.lower_fun(lambda root, *_, **__: root, multiple_results=False))


def _derivative(primals: Any, tangents: Any, *, count: int, left: Any, solved: Any) -> Any:
    """The root with its own derivatives, and how it moves."""
    y = _root.bind(*primals, count=count, left=left, solved=solved)
    given, factors = list(primals[1 : 1 + count]), list(primals[1 + count :])
    moving = [i for i, d in enumerate(tangents[1 : 1 + count]) if not isinstance(d, ad.Zero)]
    if not moving:
        return y, jnp.zeros_like(y)

    def by(*moved: Any) -> Vector:
        own = list(given)
        for i, value in zip(moving, moved, strict=True):
            own[i] = value
        return left(y, own)

    own = tuple(given[i] for i in moving)
    _, change = jax.jvp(by, own, tuple(tangents[1 + i] for i in moving))
    return y, -solved(y, given, factors, change)


def _batched(values: Any, axes: Any, *, count: int, left: Any, solved: Any) -> Any:
    """Many roots side by side: the same with residuals of all of them."""
    many = [axis is not None for axis in axes]
    size = next(x.shape[a] for x, a, own in zip(values, axes, many, strict=True) if own)
    moved = [
        jnp.moveaxis(x, a, 0) if own else x for x, a, own in zip(values, axes, many, strict=True)
    ]
    if not many[0]:
        moved[0] = jnp.broadcast_to(moved[0], (size, *moved[0].shape))
    places = [0 if own else None for own in many]
    given, factors = places[1 : 1 + count], places[1 + count :]
    lefts = jax.vmap(left, in_axes=(0, given))
    solutions = jax.vmap(solved, in_axes=(0, given, factors, 0))
    return _root.bind(*moved, count=count, left=lefts, solved=solutions), 0


ad.primitive_jvps[_root] = _derivative
batching.primitive_batchers[_root] = _batched
