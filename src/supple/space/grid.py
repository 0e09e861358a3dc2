"""The grid of one rod: where strain is sampled, and the constant operators between those points.

*Nodes* carry the rod's motion subspace, mass and stress. *Samples* are the nodes followed by any
further points whose motion is wanted (the tip, attachments, loads, points to draw). One integration
operator carries velocities, accelerations and virtual displacements from nodes to samples, and its
transpose carries wrenches back.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from supple.arrays import Array
from supple.lie import Pose, small
from supple.numeric import asarray, is_traced
from supple.space import magnus, spectral
from supple.space.integrator import Magnus, RungeKutta, SpaceIntegrator
from supple.space.quadrature import Panels
from supple.strain import StrainField

EXTRA_NODES = 8
"""Nodes per panel beyond the degree of the strain basis: resolves rotations up to about π a panel."""

NODES_FOR_POINTS = 2
"""Further ones where things sit inside the span: integrals up to there lack the last panel's full order."""

NODES_PER_RADIAN = 0.7
"""Further ones for each radian beyond π by which the rest shape turns in a panel."""


class RodGrid(eqx.Module):
    """Constant operators of one rod on u = X/L; scale by the length where meters are wanted."""

    points: Float[Array, " p"]
    """u of the samples; the first n are the nodes."""
    integration: Float[Array, "p n"]
    """∫₀ᵘ of what is known at the nodes, for each sample."""
    weights: Float[Array, " n"]
    """The same up to u = 1."""
    basis: Float[Array, "n 6 m"]
    """Φ at the nodes."""
    rest: Float[Array, "n 6"]
    """ξ₀ at the nodes."""
    chain_basis: Float[Array, "k 3 m"]
    """Curvature rows of Φ where the Magnus steps sample them: k points, as many in each of the s steps."""
    chain_rest: Float[Array, "k 3"]
    """Curvatures at rest there."""
    chain_widths: Float[Array, " s"]
    """Δu of the steps."""
    chain_index: Int[Array, " p"]
    """The step that ends at each sample."""
    integrator: SpaceIntegrator = eqx.field(static=True)
    field: StrainField = eqx.field(static=True)
    rest_profile: Callable[[Any], Any] | None = eqx.field(static=True)
    edges: tuple[float, ...] = eqx.field(static=True)
    """Ends of the smooth pieces, from 0 to 1."""

    @property
    def count(self) -> int:
        """Number of nodes, the first samples."""
        return self.weights.shape[-1]

    def strain(self, q: Float[Array, " m"]) -> Float[Array, "n 6"]:
        """Strain at the nodes."""
        return self.rest + jnp.einsum("nim,m->ni", self.basis, q)

    def poses(self, q: Float[Array, " m"], length: Float[Array, ""]) -> Pose:
        """Pose of each sample relative to the rod's start: positions by quadrature of R γ."""
        rotation = self.rotations(q, length)
        # Half of what `strain` gives: curvatures at the nodes are not needed here.
        stretch = self.rest[:, 3:] + jnp.einsum("nim,m->ni", self.basis[:, 3:], q)
        tangent = small.times(rotation[: self.weights.shape[0]], stretch)
        return Pose(rotation, (length * self.integration) @ tangent)

    def rotations(self, q: Float[Array, " m"], length: Float[Array, ""]) -> Float[Array, "p 3 3"]:
        """Orientation of each sample relative to the rod's start."""
        if isinstance(self.integrator, Magnus):
            return self._magnus(q, length)
        if isinstance(self.integrator, RungeKutta):
            return self._runge_kutta(q, length, self.integrator.tolerance)
        return spectral.rotations(length * self.strain(q)[:, :3], self.integration)

    def _magnus(self, q: Float[Array, " m"], length: Float[Array, ""]) -> Float[Array, "p 3 3"]:
        curvature = self.chain_rest + jnp.einsum("kim,m->ki", self.chain_basis, q)
        steps = self.chain_widths.shape[0]
        vectors = magnus.step_rotation_vectors(
            length * curvature.reshape(steps, -1, 3), self.chain_widths
        )
        return magnus.cumulative_rotations(vectors)[self.chain_index]

    def _runge_kutta(
        self, q: Float[Array, " m"], length: Float[Array, ""], tolerance: float
    ) -> Float[Array, "p 3 3"]:
        from supple.space import runge_kutta  # diffrax is slow to import and rarely needed

        def curvature_at(u: Float[Array, ""]) -> Float[Array, " 3"]:
            phi = self.field.values(u[None])[0, :3]
            rest = self.rest_profile(u[None])[0] if self.rest_profile else self.rest[0]
            return length * (rest[:3] + phi @ q)

        increasing = jnp.sort(self.points)
        found = runge_kutta.rotations(curvature_at, increasing, self.edges[1:-1], tolerance)
        return found[jnp.searchsorted(increasing, self.points)]


def rod_grid(
    field: StrainField,
    rest: Callable[[Any], Any] | Any,
    samples: tuple[float, ...],
    integrator: SpaceIntegrator,
    nodes_per_panel: int | None = None,
    breaks: tuple[float, ...] = (),
    length: Any = 1.0,
) -> RodGrid:
    """Grid for a strain field with the given extra sample points (u) and further breaks (u).

    Unless their number is given, there are as many nodes as the basis and the coils of a rest shape of
    ``length`` (m) need.
    """
    edges = tuple(sorted({0.0, *field.breaks, *breaks, 1.0}))
    inside = any(0.0 < u < 1.0 for u in samples)
    count = nodes_per_panel or nodes_needed(field, rest, edges, length, inside)
    panels = Panels(edges, count, integrator.node_family)
    nodes = panels.nodes
    points = np.concatenate([nodes, np.asarray(samples, dtype=float)])
    # Orientation advances through every sample and every break, in order of u.
    stations = np.unique(np.concatenate([[0.0], points, edges]))
    substeps = integrator.substeps if isinstance(integrator, Magnus) else 1
    gauss = magnus.GAUSS_POINTS[integrator.order if isinstance(integrator, Magnus) else 6]
    fine = np.concatenate(
        [np.linspace(a, b, substeps + 1)[:-1] for a, b in pairwise(stations)] + [stations[-1:]]
    )
    widths = np.diff(fine)
    chain = (fine[:-1, None] + widths[:, None] * gauss).reshape(-1)
    # A sample at u = 0 has the identity: one zero-width step in front keeps the indices uniform.
    chain = np.concatenate([np.zeros(len(gauss)), chain])
    widths = np.concatenate([[0.0], widths])
    index = np.searchsorted(stations, points) * substeps
    profile = rest if callable(rest) else None
    return RodGrid(
        points=points,
        integration=panels.integration_to(points),
        weights=panels.weights,
        basis=np.asarray(field.values(one_sided(nodes, edges)), dtype=float),
        rest=_rest_at(rest, one_sided(nodes, edges)),
        chain_basis=np.asarray(field.values(chain), dtype=float)[:, :3],
        chain_rest=_rest_at(rest, chain)[:, :3],
        chain_widths=widths,
        chain_index=index,
        integrator=integrator,
        field=field,
        rest_profile=profile,
        edges=edges,
    )


def nodes_needed(
    field: StrainField,
    rest: Callable[[Any], Any] | Any,
    edges: tuple[float, ...],
    length: Any,
    inside: bool,
) -> int:
    """Nodes in each piece between edges, with or without samples ``inside``."""
    smooth = field.degree + EXTRA_NODES + inside * NODES_FOR_POINTS
    return smooth + _nodes_for_coils(rest, length, edges)


def _nodes_for_coils(
    rest: Callable[[Any], Any] | Any, length: Any, edges: tuple[float, ...]
) -> int:
    """Nodes for turns of the rest shape; none where it is traced, and cannot be known."""
    turns = []
    for a, b in pairwise(edges):
        places = a + (b - a) * (np.arange(32) + 0.5) / 32
        curvature = length * _rest_at(rest, places)[:, :3]
        if is_traced(curvature):
            return 0
        turns.append((b - a) * np.mean(np.linalg.norm(curvature, axis=1)))
    needed = NODES_PER_RADIAN * max(0.0, max(turns) - np.pi)
    return int(np.ceil(min(needed, 1e9)))  # whoever asks for that many refuses it


def one_sided(nodes: np.ndarray, edges: tuple[float, ...]) -> np.ndarray:
    """Nodes moved a hair into their own panel: Chebyshev nodes sit on both sides of a break."""
    nodes = nodes.copy()
    for edge in edges[1:-1]:
        at = np.flatnonzero(nodes == edge)  # the last of one panel, the first of the next
        nodes[at] += np.where(np.arange(len(at)) == 0, -1e-12, 1e-12)
    return nodes


def _rest_at(rest: Callable[[Any], Any] | Any, u: np.ndarray) -> Any:
    values = rest(u) if callable(rest) else rest
    return asarray(values) + np.zeros((len(u), 6))
