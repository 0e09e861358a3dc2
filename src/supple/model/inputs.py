"""Inputs of a model: the laws that controllers set, as one vector."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import ArgumentError, DescriptionError
from supple.model.laws import Input
from supple.model.model import Model


def _is_input(leaf: object) -> bool:
    return isinstance(leaf, Input)


def inputs_of(model: Model) -> dict[str, Any]:
    """Name and present value of each input."""
    found: dict[str, Any] = {}
    for leaf in jax.tree.leaves(model, is_leaf=_is_input):
        if isinstance(leaf, Input):
            if leaf.name in found and np.shape(found[leaf.name]) != np.shape(leaf.value):
                shapes = np.shape(found[leaf.name]), np.shape(leaf.value)
                raise DescriptionError(leaf.name, "value", shapes, "one shape for one input")
            found.setdefault(leaf.name, leaf.value)
    return found


def input_slices(model: Model) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Place in the vector of inputs, and shape, of each."""
    places, start = {}, 0
    for name, value in inputs_of(model).items():
        shape = np.shape(value)
        size = int(np.prod(shape, dtype=int))
        places[name] = (slice(start, start + size), shape)
        start += size
    return places


def input_names(model: Model) -> tuple[str, ...]:
    """A name for each number of the vector of inputs."""
    found: list[str] = []
    for name, value in inputs_of(model).items():
        size = int(np.size(value))
        found += [name] if np.shape(value) == () else [f"{name}[{i}]" for i in range(size)]
    return tuple(found)


def find_input(model: Model, name: str, asking: str = "input") -> tuple[slice, tuple[int, ...]]:
    """Place and shape of the input of that name; ``asking`` is who needs it, for the message."""
    places = input_slices(model)
    if name not in places:
        known = ", ".join(places) or "none: no law of the robot is an Input"
        raise ArgumentError(f"{asking}: got {name!r}; need one of: {known}")
    return places[name]


def input_vector(model: Model) -> Float[Array, " m"]:
    """All inputs in one row."""
    parts = [jnp.asarray(value, dtype=float).reshape(-1) for value in inputs_of(model).values()]
    return jnp.concatenate([jnp.zeros(0), *parts])


def with_inputs(model: Model, vector: Float[Array, " m"]) -> Model:
    """The model with other inputs."""
    places = input_slices(model)
    if not places:
        return model

    def changed(leaf: Any) -> Any:
        if not isinstance(leaf, Input):
            return leaf
        where, shape = places[leaf.name]
        return Input(leaf.name, vector[where].reshape(shape))

    return jax.tree.map(changed, model, is_leaf=_is_input)
