"""A piece of a rod on which the strain is constant: everything along it in closed form.

With ξ = ξ₀ + Φ q constant, the section at the arc length s has the pose exp(s ξ), and the body twist that a
rate q̇ gives it is s T(s ξ) Φ q̇, with T the right Jacobian of rigid motions. So each sample is a source of its
own: no integration operator carries motion along the piece. Integrals of what has no closed form (inertia
along an arc, loads of users) are taken at Gauss nodes, as many as the turn of a piece needs.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose, se3
from supple.space.quadrature import Panels
from supple.strain import StrainField

TURN = 2 * np.pi
"""Angle (rad) by which a whole rod is thought to bend, beyond its rest shape: it sets the number of nodes."""
ROUND_OFF = 1e-12
"""Relative error of integrals over a piece that nodes may leave."""


class PieceMotion(NamedTuple):
    """Motion subspace at the samples of a piece, in their frames: its time derivatives and gradient in q."""

    value: Float[Array, "p 6 m"]
    rate: Float[Array, "p 6 m"]
    acceleration: Float[Array, "p 6 m"]
    gradient: Float[Array, "p 6 m m"]


class PieceGrid(eqx.Module):
    """Samples of one piece, on u = X/L of the piece: nodes of quadrature, then the points that are wanted.

    It has the fields of :class:`~supple.space.grid.RodGrid` that do not depend on how motion is integrated;
    all samples are sources, and those that are no nodes have no weight.
    """

    points: Float[Array, " p"]
    integration: Float[Array, "p p"]
    """∫₀ᵘ of what is known at the nodes, for each sample; zero for what is known at other samples."""
    weights: Float[Array, " p"]
    basis: Float[Array, "p 6 m"]
    """Φ, the same everywhere."""
    rest: Float[Array, "p 6"]
    """ξ₀, the same everywhere."""
    field: StrainField = eqx.field(static=True)
    count: int = eqx.field(static=True)
    """Number of nodes, the first samples."""

    def strain(self, q: Float[Array, " m"]) -> Float[Array, "p 6"]:
        """Strain at the samples."""
        return self.rest + jnp.einsum("nim,m->ni", self.basis, q)

    def poses(self, q: Float[Array, " m"], length: Float[Array, ""]) -> Pose:
        """Pose of each sample relative to the start of the piece."""
        return se3.exp(length * jnp.asarray(self.points)[:, None] * self.strain(q))

    def subspace(self, q: Float[Array, " m"], length: Float[Array, ""]) -> Float[Array, "p 6 m"]:
        """Body twist of each sample per unit of each q̇."""
        s = length * jnp.asarray(self.points)[:, None]
        return s[..., None] * (se3.right_jacobian(s * self.strain(q)) @ self.basis)

    def motion(
        self,
        q: Float[Array, " m"],
        qdot: Float[Array, " m"],
        qddot: Float[Array, " m"],
        length: Float[Array, ""],
    ) -> PieceMotion:
        """The subspace along a motion."""

        def first(q: Float[Array, " m"], qdot: Float[Array, " m"]) -> tuple[Array, Array]:
            return jax.jvp(lambda q: self.subspace(q, length), (q,), (qdot,))

        (value, rate), (_, acceleration) = jax.jvp(first, (q, qdot), (qdot, qddot))
        gradient = jax.jacfwd(lambda q: self.subspace(q, length))(q)
        return PieceMotion(value, rate, acceleration, gradient)


def piece_grid(
    field: StrainField, rest: Float[np.ndarray, " 6"], samples: tuple[float, ...], count: int
) -> PieceGrid:
    """The samples of a piece of constant strain with ``count`` nodes and further points (u)."""
    panels = Panels((0.0, 1.0), count)
    points = np.concatenate([panels.nodes, np.asarray(samples, dtype=float)])
    more = len(points) - count
    return PieceGrid(
        points=points,
        integration=np.pad(panels.integration_to(points), ((0, 0), (0, more))),
        weights=np.pad(panels.weights, (0, more)),
        basis=np.asarray(field.values(points), dtype=float),
        rest=rest + np.zeros((len(points), 1)),
        field=field,
        count=count,
    )


def nodes_for_turn(angle: float) -> int:
    """Gauss nodes that integrate inertia to round-off along an arc that turns by an angle (rad).

    Inertia seen from the base of the arc varies like twice the turn, f⁽²ⁿ⁾ ≤ (2 angle)²ⁿ, and n nodes leave
    f⁽²ⁿ⁾ (n!)⁴ / ((2n + 1) ((2n)!)³). Its polynomial part (of degree four for straight pieces) needs three.
    """
    for n in range(3, 64):
        left = 2 * n * math.log(2 * angle + 1e-300) + 4 * math.lgamma(n + 1)
        left -= math.log(2 * n + 1) + 3 * math.lgamma(2 * n + 1)
        if left < math.log(ROUND_OFF):
            return n
    return 64
