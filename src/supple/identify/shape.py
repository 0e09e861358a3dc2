"""Coordinates of a rod from measured points of its centerline, also where only a part was measured.

The fit minimizes

    Σ |r(u_i) - p_i|² / (2 noise²) + U / energy

over the rod's coordinates and, if it is not known, the pose of its first section. The first sum is the
likelihood of points p_i with independent errors. The second, left out unless an ``energy`` is given, says
that the rod's elastic energy U is about so much for every two modes. It hardly moves what points determine,
and settles what they do not: the part of the rod beyond the last point bends no more than it needs to.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.compile import jit
from supple.errors import ArgumentError
from supple.lie import Pose, so3
from supple.mechanics.frames import rod_sampled_at, shape_from_start
from supple.mechanics.inverse_dynamics import element_stiffness
from supple.model.model import Model, RodGroup
from supple.numeric import check_positive
from supple.robot.checks import GROUND_NAME
from supple.robot.items import Rod
from supple.robot.joint import Fixed
from supple.robot.robot import Robot
from supple.solve.least_squares import least_squares


@dataclass(frozen=True, eq=False)
class ShapeFit:
    """Rods fitted to one or several measured shapes; arrays of several have a leading axis."""

    coordinates: np.ndarray
    """Strain coordinates (…, m) of the rod."""
    base: Pose
    """World pose of its first section."""
    deviation: np.ndarray
    """Standard deviation (…, m) of the coordinates to be expected from the noise and the energy given."""
    residual: np.ndarray
    """Root mean square distance (…) of the measured points from the fitted rod (m)."""
    converged: np.ndarray
    """Whether each fit converged (…); if not, coordinates are where it stopped."""
    iterations: np.ndarray

    @property
    def ok(self) -> bool:
        """Whether all fits converged."""
        return bool(np.all(self.converged))


def fit_shape(
    rod: Rod,
    points: Any,
    fractions: Any,
    *,
    base: Pose | None = None,
    noise: float = 1e-3,
    energy: float | None = None,
    initial: Any = None,
    max_iterations: int = 60,
) -> ShapeFit:
    """Fit a rod to points (n, 3) in meters measured at ``fractions`` (n,) of its length.

    A sequence of shapes (k, n, 3) is fitted one after the other, each from the one before. ``base`` is the
    pose of the rod's first section, one or one for each shape; it is fitted too if it is None. ``noise`` (m)
    is the standard deviation of each measured coordinate, ``energy`` (J) the expected order of the elastic
    energy (module docstring). ``initial`` (m,) are coordinates near the first shape, for rods that curl up.
    Where the rod stands, its joint and its growth play no part.
    """
    shapes = np.asarray(points, dtype=float)
    if shapes.ndim not in (2, 3) or shapes.shape[-1] != 3 or 0 in shapes.shape:
        raise ArgumentError(
            f"points: got shape {shapes.shape}; need (n, 3), or (k, n, 3) for several"
        )
    several = shapes.ndim == 3
    shapes = shapes if several else shapes[None]
    fractions = np.asarray(fractions, dtype=float)
    check_positive("fit_shape", "noise", noise)
    if energy is not None:
        check_positive("fit_shape", "energy", energy)
    model = _alone(rod)
    _check(rod, model, shapes, fractions, base is None, energy is None)
    first = np.zeros(model.nq) if initial is None else np.asarray(initial, dtype=float)
    if first.shape != (model.nq,):
        raise ArgumentError(
            f"initial: got shape {first.shape}; need ({model.nq},) for {rod.name!r}"
        )
    sampled = rod_sampled_at(model, rod.name, fractions)
    guess = _aligned(sampled, first, shapes[0]) if base is None else base
    rotations = np.broadcast_to(np.asarray(guess.rotation), (len(shapes), 3, 3))
    positions = np.broadcast_to(np.asarray(guess.position), (len(shapes), 3))
    stiffness = element_stiffness(model, 0)[0] * (0.0 if energy is None else 1 / energy)
    now = _Unknowns(first, Pose(rotations[0], positions[0]))
    fits = []
    for shape, rotation, position in zip(shapes, rotations, positions, strict=True):
        if base is not None:
            now = now._replace(base=Pose(rotation, position))
        fit = _fit(
            sampled,
            stiffness,
            np.asarray(model.scale),
            shape,
            now,
            float(noise),
            max_iterations,
            floating=base is None,
        )
        now = _Unknowns(fit.coordinates, fit.base)
        fits.append(fit)
    if not several:
        return ShapeFit(*jax.tree.map(np.asarray, fits[0]))
    return ShapeFit(*jax.tree.map(lambda *rows: np.stack(rows), *fits))


def _alone(rod: Rod) -> Model:
    """The rod by itself, clamped at the origin."""
    clamped = replace(
        rod,
        parent=GROUND_NAME,
        fraction=1.0,
        position=(0.0, 0.0, 0.0),
        rotation=(0.0, 0.0, 0.0),
        joint=Fixed(),
        growth=None,
    )
    return Robot(clamped).build()


def _check(
    rod: Rod, model: Model, shapes: np.ndarray, fractions: np.ndarray, floating: bool, free: bool
) -> None:
    if not np.all(np.isfinite(shapes)):
        raise ArgumentError("points: got numbers that are not finite; leave such points out")
    if fractions.shape != (shapes.shape[1],):
        raise ArgumentError(
            f"fractions: got shape {fractions.shape}; need one fraction for each point"
        )
    if np.any(fractions < 0) or np.any(fractions > 1):
        raise ArgumentError(
            f"fractions: got {fractions.min()} … {fractions.max()}; need fractions of the length in [0, 1]"
        )
    unknowns = model.nq + 6 * floating
    # A point at a known clamp tells nothing.
    known = 3 * (len(fractions) if floating else int(np.sum(fractions > 0)))
    if free and known < unknowns:
        raise ArgumentError(
            f"points: got {known} numbers for {unknowns} unknowns of {rod.name!r}; "
            "measure more points, take fewer modes, or give an energy"
        )


def _aligned(rod: RodGroup, q: np.ndarray, points: np.ndarray) -> Pose:
    """The pose that carries a given shape nearest to points (Kabsch)."""
    shape = np.asarray(_shape(rod, q).position)
    mean_from, mean_to = shape.mean(axis=0), points.mean(axis=0)
    u, _, vt = np.linalg.svd((points - mean_to).T @ (shape - mean_from))
    rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    return Pose(rotation, mean_to - rotation @ mean_from)


_shape = jit(shape_from_start, quick=True)


class _Unknowns(NamedTuple):
    """Coordinates of the rod and the pose of its first section, which moves only if it is fitted."""

    q: Float[Array, " m"]
    base: Pose


class _Fit(NamedTuple):
    """The fields of :class:`ShapeFit`, for one shape."""

    coordinates: Any
    base: Pose
    deviation: Any
    residual: Any
    converged: Any
    iterations: Any


@partial(jit, static_argnames="floating")
def _fit(  # type: ignore[no-untyped-def]
    rod, stiffness, scale, points, start, noise, max_iterations, *, floating
):
    n = len(scale)
    values, vectors = jnp.linalg.eigh(stiffness)
    root = jnp.sqrt(jnp.maximum(values, 0.0))[:, None] * vectors.T  # |root q|² / 2 = U / energy

    def moved(x: _Unknowns, y: Float[Array, " u"]) -> _Unknowns:
        """Unknowns changed by y: coordinates over their scales, a turn, a shift over the length."""
        base = x.base
        if floating:
            shift = base.position + rod.length * y[n + 3 :]
            base = Pose(base.rotation @ so3.exp(y[n : n + 3]), shift)
        return _Unknowns(x.q + scale * y[:n], base)

    def distances(x: _Unknowns) -> Float[Array, "p 3"]:
        shape = shape_from_start(rod, x.q).position
        return x.base.position + shape @ x.base.rotation.T - points

    def misfit(x: _Unknowns) -> Float[Array, " r"]:
        return jnp.concatenate([distances(x).ravel() / noise, root @ x.q])

    none = jnp.zeros(n + 6 * floating)
    x, converged, iterations = least_squares(misfit, moved, none, start, max_iterations)
    slope = jax.jacfwd(lambda y: misfit(moved(x, y)))(none)
    # Undetermined directions get a huge deviation, not an infinite one that spoils the others.
    weights, axes = jnp.linalg.eigh(slope.T @ slope)
    spread = jnp.sqrt(jnp.sum(axes**2 / jnp.maximum(weights, 1e-12), axis=1))
    residual = jnp.sqrt(jnp.mean(jnp.sum(distances(x) ** 2, axis=1)))
    return _Fit(x.q, x.base, scale * spread[:n], residual, converged, iterations)
