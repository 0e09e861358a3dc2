"""Rods that are known at nodes: poses as free frames, strains and wrenches beside them.

A formulation that integrates rods along their length (:mod:`supple.shooting`) tells what it found as a
model whose rods are rows of frames. Everything that follows from poses and twists is read of it as of any
model; what only rods have is found here. Nodes belong to *segments*, which share the nodes at their ends;
strains and wrenches may jump there, and each segment has its own.
"""

import dataclasses
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from supple.arrays import Array


class RodFields(eqx.Module):
    """The nodes of all rods: s segments with k nodes each."""

    fractions: Float[Array, "s k"]
    """u of the nodes."""
    nodes: Int[Array, "s k"]
    """The frame of each, counted from the first one."""
    weights: Float[Array, "s k"]
    """Quadrature weights (m)."""
    lengths: Float[Array, " s"]
    """Of the rods that segments belong to (m)."""
    stiffness: Float[Array, "s k 6 6"]
    rest: Float[Array, "s k 6"]
    parts: Any
    """What the formulation that found them solves."""
    names: tuple[str, ...] = eqx.field(static=True)
    """Of the rods."""
    first: tuple[int, ...] = eqx.field(static=True)
    """First segment of each rod; their number comes last."""
    edges: tuple[float, ...] = eqx.field(static=True)
    """u at the start of each segment."""
    lumped: tuple[int, ...] = eqx.field(static=True)
    """Rods of the bodies that stand for their inertia, which come last."""
    grows: bool = eqx.field(static=True)
    """Whether lengths are laws of time: then those here are the ones described."""
    group: int = eqx.field(static=True)
    """Group of the frames; that of the fields follows, then that of the joints' wrenches."""

    def with_lengths_at(self, t: Float[Array, ""]) -> tuple["RodFields", Float[Array, " r"]]:
        """With rods as long as they are at time t; and what that is over the described lengths."""
        ratios = self.parts.growth_at(t)[0]
        each = ratios[np.repeat(np.arange(len(self.names)), np.diff(self.first))]
        lengths, weights = self.lengths * each, self.weights * each[:, None]
        found = dataclasses.replace(self, lengths=lengths, weights=weights, grows=False)
        return found, ratios

    def without_loads(self) -> "RodFields":
        """Of the robot with none of its loads."""
        models = {name: getattr(self.parts, name).without_loads() for name in ("companion", "host")}
        return dataclasses.replace(self, parts=dataclasses.replace(self.parts, **models))

    @property
    def shape(self) -> tuple[int, int]:
        """Segments, and nodes of each."""
        return self.weights.shape[0], self.weights.shape[1]

    def segments(self, name: str) -> slice:
        """Segments of a rod."""
        rod = self.names.index(name)
        return slice(self.first[rod], self.first[rod + 1])
