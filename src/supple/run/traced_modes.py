"""Vibration modes where something is traced: frequencies with derivatives of every order.

Motions that keep loops closed span the null space of J: that of the numbers at hand, projected onto the null
space of what is traced, so that it moves with it. On it, L⁻¹ K L⁻ᵀ with M = L Lᵀ has the eigenvalues ω².
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.scipy.linalg as linalg
import numpy as np
from jax import lax

from supple.errors import ArgumentError
from supple.mechanics.element_motion import Coordinates, neutral
from supple.model.model import Model
from supple.robot.formulations import second_order_of
from supple.run.traced import traced_equilibrium
from supple.solve.modes import SYMMETRIC, Modes, padded_forces, tangent_of


def traced_modes(model: Model, at: Any, count: int | None) -> Modes:
    """Modes as a pure function; NaN where the stiffness is not symmetric."""
    formulation = second_order_of(model, "modes")
    if np.any(formulation.first_order) or formulation.active_first is not None:
        raise ArgumentError(
            f"modes: got a traced {model.name!r} with states of controllers, tendons that may go slack or "
            "stops; need a robot of numbers: what they do depends on them"
        )
    if at is None and model.holonomic:
        unloaded = eqx.tree_at(lambda m: m.load_factor, model, np.zeros(()))
        at = traced_equilibrium(unloaded, None, 0.0, 1.0)
    q = jnp.asarray(neutral(model) if at is None else getattr(at, "q", at))
    t = jnp.asarray(getattr(at, "t", 0.0), dtype=float)
    formulation = formulation.frozen_at(t, of_velocities=True)
    forces = getattr(at, "multipliers", None)
    if forces is not None or not model.equations:
        forces = padded_forces(formulation, forces)
    else:
        forces = jnp.zeros(formulation.equations)
    zero = jnp.zeros(model.nv)
    tangent = tangent_of(formulation, Coordinates(q, zero, zero, zero, t, forces))
    mass, stiffness, damping = tangent.mass, tangent.stiffness, tangent.damping
    free = _free_motions(tangent.jacobian, jnp.asarray(formulation.coordinate_scale))
    root = jnp.linalg.cholesky(free.T @ (mass + mass.T) @ free / 2)
    inside = free.T @ stiffness @ free
    apart = jnp.max(jnp.abs(inside - inside.T)) > SYMMETRIC * jnp.max(jnp.abs(inside))
    left = linalg.solve_triangular(root, (inside + inside.T) / 2, lower=True)
    squares, vectors = jnp.linalg.eigh(linalg.solve_triangular(root, left.T, lower=True))
    squares = jnp.where(apart, jnp.nan, squares)[:count]
    shapes = (free @ linalg.solve_triangular(root.T, vectors, lower=False))[:, :count]
    moving = squares > 0
    speeds = jnp.where(moving, jnp.sqrt(jnp.where(moving, squares, 1.0)), 0.0 * squares)
    modal = jnp.einsum("im,ij,jm->m", shapes, damping, shapes)
    ratios = jnp.where(moving, modal / (2 * jnp.where(moving, speeds, 1.0)), 0.0)
    return Modes(speeds / (2 * jnp.pi), ratios, shapes, squares)


def _free_motions(jacobian: Any, scale: Any) -> Any:
    """(nv, nv - m) motions that keep equations, with derivatives; independent, not orthonormal."""
    rows, columns = jacobian.shape
    if rows == 0:
        return jnp.eye(columns)
    scaled = jacobian * scale
    _, _, vectors = jnp.linalg.svd(lax.stop_gradient(scaled), full_matrices=True)
    here = vectors[rows:].T
    away = scaled.T @ jnp.linalg.solve(scaled @ scaled.T, scaled @ here)
    return scale[:, None] * (here - away)
