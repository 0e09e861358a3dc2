"""Friction laws of joints and motors: an effort against the motion, as a function of speed and load."""

import abc
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.numeric import stack
from supple.reprs import brief

Tree = TypeVar("Tree")


class AbstractFriction(eqx.Module):
    """A friction law of your own: subclass it, add fields, and say its effort.

    Its fields are numbers; other fields are declared with ``equinox.field(static=True)``. A law is smooth,
    and takes energy out: its sign is that of the speed.
    """

    __repr__ = brief

    @abc.abstractmethod
    def __call__(self, speed: Float[Array, ""], load: Float[Array, ""]) -> Float[Array, ""]:
        """Effort (N m, N) against a speed (rad/s, m/s), written with ``jax.numpy``.

        ``load`` is what a motor drives with (N m, N); it is zero in a joint, whose reaction is not known.
        """


class DryFriction(AbstractFriction):
    """``largest`` · tanh(speed / ``width``): nearly its largest beyond some ``width`` (rad/s, m/s)."""

    largest: Any
    width: Any = 1e-2

    def __call__(self, speed: Float[Array, ""], load: Float[Array, ""]) -> Float[Array, ""]:
        return self.largest * jnp.tanh(speed / self.width)


class ArctanFriction(AbstractFriction):
    """``largest`` · 2/π · arctan(``sharpness`` · speed), with the sharpness in s/rad or s/m."""

    largest: Any
    sharpness: Any

    def __call__(self, speed: Float[Array, ""], load: Float[Array, ""]) -> Float[Array, ""]:
        return self.largest * (2 / jnp.pi) * jnp.arctan(self.sharpness * speed)


class _Held(AbstractFriction):
    """A law whose effort counts as constant: it has no derivatives."""

    law: AbstractFriction

    def __call__(self, speed: Float[Array, ""], load: Float[Array, ""]) -> Float[Array, ""]:
        return lax.stop_gradient(self.law(speed, load))


def held(tree: Tree) -> Tree:
    """A model, or anything else, with friction laws that have no derivatives."""

    def is_law(node: Any) -> bool:
        return isinstance(node, AbstractFriction)

    return jax.tree.map(lambda node: _Held(node) if is_law(node) else node, tree, is_leaf=is_law)


def friction_at(
    law: AbstractFriction, speeds: Float[Array, " n"], loads: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Efforts at n bearings, with the numbers of one in each row of the law's."""
    return jax.vmap(lambda law, speed, load: law(speed, load))(law, speeds, loads)


def friction_rows(law: AbstractFriction, count: int) -> AbstractFriction:
    """The same law for each of ``count`` bearings: a row of its numbers for each."""
    return jax.tree.map(lambda leaf: stack([leaf] * count), law)
