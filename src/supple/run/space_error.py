"""How far a solution is from what finer rods would give: the error in space of an equilibrium.

The solution is carried over, exactly, to rods with more modes, more nodes and all known corners; one Newton
step there tells where they would rest. How far the robot moves in it is the estimate. Where the solution
already tells itself that it is smooth and resolved (its last coefficients are tiny and the nodes are many
enough) that alone bounds the error, and nothing needs to be solved.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial import legendre

from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.kinematics import kinematics
from supple.model.model import Model, RodGroup, Slot
from supple.model.state import State
from supple.robot.items import Rod
from supple.robot.resolution import Corners, corners_of, orders_of, richer
from supple.robot.robot import Robot
from supple.run.transfer import carry_over
from supple.space.grid import EXTRA_NODES, NODES_PER_RADIAN, RodGrid
from supple.strain import STRAINS, Legendre, PiecewiseLegendre
from supple.system.combination import at_rest
from supple.system.error_norm import characteristic_length
from supple.system.strain import Strain

INSIDE = (0.25, 0.5, 0.75)
"""Fractions of rods at which displacements are looked at, beside all frames."""
CLEAR = 0.1
"""Share of the accuracy asked for below which a bound from the last coefficients is enough."""
LEAST_MODES = 4
"""Modes on a piece from which on the last coefficients tell of those left out."""
FREE = 1e-12
"""Stiffness, relative to the largest, below which a motion needs no force and is not looked at."""
LARGEST_DENSE = 3000
"""Unknowns up to which motions that need no force are told apart."""


class SpaceError(NamedTuple):
    """Estimate of the largest displacement error over the robot's size, and what it was found from."""

    error: float
    finer: "Finer | None" = None
    """None where the solution's own coefficients were enough."""


class Finer(NamedTuple):
    """A richer model and the solution there: carried over, and after one Newton step."""

    model: Model
    carried: np.ndarray
    corrected: np.ndarray
    multipliers: np.ndarray | None


def space_error(
    robot: Robot,
    model: Model,
    q: np.ndarray,
    t: float,
    multipliers: np.ndarray | None,
    asked: float | None = None,
    *,
    free: bool = False,
    load_factor: float = 1.0,
) -> SpaceError:
    """Estimate of the error in space of an equilibrium of a robot without open choices.

    ``asked`` is an error that is small enough: then a bound may do instead of the estimate. ``free`` tells
    that some motions need no force; ``load_factor`` which share of the loads acts.
    """
    size = float(characteristic_length(model))
    if asked is not None and (bound := _bound(robot, model, q) / size) <= CLEAR * asked:
        return SpaceError(bound)
    if not any(isinstance(item, Rod) and item.strain_field().count for item in robot.items):
        return SpaceError(0.0)  # rigid: nothing is discretized
    wound, corners = turns(model, q), corners_of(robot.items)
    none = Corners()
    rods = [
        richer(item, corners.get(item.name, none), wound.get(item.name, 0.0))
        for item in robot.items
        if isinstance(item, Rod)
    ]
    finer = robot.replacing(*rods).build()
    share = np.asarray(load_factor * np.asarray(model.load_factor))
    finer = eqx.tree_at(lambda m: m.load_factor, finer, share)
    zero = np.zeros(model.nv)
    start = carry_over(State(np.asarray(t), q, zero, zero), model, finer)
    now = jnp.asarray(float(t))
    forces = None if not finer.equations else jnp.asarray(multipliers)
    active = Strain(finer).active_at(jnp.asarray(start.q), now, forces)
    correct = _corrected_free if free and finer.nv + finer.equations < LARGEST_DENSE else _corrected
    found, there = correct(finer, active, jnp.asarray(start.q), now, forces)
    here = _places(model, jnp.asarray(q), now)
    moved = _distances(_named_places(model, here), _named_places(finer, there))
    error = float(moved / size) if np.isfinite(moved) else float("inf")
    left = None if found.multipliers is None else np.asarray(found.multipliers)
    return SpaceError(error, Finer(finer, np.asarray(start.q), np.asarray(found.q), left))


def _newton_step(model: Model, active: Any, q: Any, t: Any, forces: Any, solve: Any) -> Any:
    formulation = Strain(model).frozen_at(t).with_active(active)
    zero = jnp.zeros(model.nv)
    c = Coordinates(q, zero, zero, zero, t, forces)
    work = formulation.balance(c)
    left = jnp.concatenate([work.residual, work.violation])
    change = -solve(formulation.linearize(c, work, (at_rest(),))[0], left)
    n = model.nv
    moved = c._replace(x=change[:n], multipliers=None if forces is None else forces + change[n:])
    state = formulation.state_at(moved)
    return state, _sample_places(formulation.model, state.q, t)


@partial(jit, quick=True)
def _corrected(model: Model, active: Any, q: Any, t: Any, forces: Any) -> Any:
    """The state after a Newton step at rest, and the places of its samples."""
    return _newton_step(model, active, q, t, forces, lambda system, b: system.factorize().solve(b))


@partial(jit, quick=True)
def _corrected_free(model: Model, active: Any, q: Any, t: Any, forces: Any) -> Any:
    """The same by the smallest step, where the robot may move without force."""

    def solve(system: Any, b: Any) -> Any:
        matrix = jax.vmap(system.apply, out_axes=1)(jnp.eye(system.size))
        # Behind coordinates and multipliers come forces between elements, which have no loads.
        padded = jnp.pad(b, (0, system.size - b.shape[0]))
        return jnp.linalg.lstsq(matrix, padded, rcond=FREE)[0][: b.shape[0]]

    return _newton_step(model, active, q, t, forces, solve)


@partial(jit, quick=True)
def _places(model: Model, q: Any, t: Any) -> Any:
    return _sample_places(model.frozen_at(t), q, t)


@partial(jit, quick=True)
def _places_along(model: Model, q: Any, t: Any) -> Any:
    return jax.vmap(lambda q, t: _sample_places(model.frozen_at(t), q, t))(q, t)


def places_along(model: Model, q: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """Positions by name at several instants: of frames (k, 3), and inside rods (k, places, 3)."""
    frames, nodes = _places_along(model, jnp.asarray(q), jnp.asarray(t))
    each = [_named_places(model, (frames[i], [own[i] for own in nodes])) for i in range(len(t))]
    return {name: np.stack([one[name] for one in each]) for name in each[0]}


def _sample_places(model: Model, q: Any, t: Any) -> Any:
    """Positions of all frames, and of the nodes of each group of rods (b, n, 3)."""
    zero = jnp.zeros(model.nv)
    motion = kinematics(model, Coordinates(q, zero, zero, zero, t))
    samples = np.array([frame.sample for frame in model.topology.frames])
    frames = (motion.poses_at(samples) @ model.frame_offsets).position + motion.origin
    nodes = [
        own.pose.position[:, : group.grid.weights.shape[-1]] + motion.origin
        for group, own in zip(model.groups, motion.groups, strict=True)
        if isinstance(group, RodGroup)
    ]
    return frames, nodes


def _named_places(model: Model, found: Any) -> dict[str, np.ndarray]:
    """Positions by name: of frames, and inside rods."""
    frames, nodes = found
    places = {
        f"frame {frame.name}": np.asarray(frames)[i]
        for i, frame in enumerate(model.topology.frames)
    }
    groups = [i for i, group in enumerate(model.groups) if isinstance(group, RodGroup)]
    ways = {}
    for slot in model.topology.rod_slots:
        if slot.group not in ways:
            ways[slot.group] = _interpolation(_rods_of(model, slot))
        own = np.asarray(nodes[groups.index(slot.group)])[slot.row]
        places[f"rod {slot.name}"] = ways[slot.group] @ own
    return places


def _interpolation(group: RodGroup) -> np.ndarray:
    """Weights (k, n) that interpolate what is known at the nodes of a rod, piece by piece."""
    edges = np.asarray(grid_of(group).edges)
    points = np.asarray(group.grid.points)[0, : group.grid.weights.shape[-1]]
    count = len(points) // (len(edges) - 1)
    found = np.zeros((len(INSIDE), len(points)))
    for k, u in enumerate(INSIDE):
        i = min(int(np.searchsorted(edges, u, side="right")) - 1, len(edges) - 2)
        own = slice(i * count, (i + 1) * count)
        a, b = edges[i], edges[i + 1]
        local = legendre.legvander(2 * (points[own] - a) / (b - a) - 1, count - 1)
        here = legendre.legvander(np.array([2 * (u - a) / (b - a) - 1]), count - 1)
        found[k, own] = np.linalg.solve(local.T, here[0])
    return found


def _distances(here: Mapping[str, np.ndarray], there: Mapping[str, np.ndarray]) -> float:
    """Largest distance between places of the same name."""
    apart = [np.linalg.norm(there[name] - place, axis=-1).max() for name, place in here.items()]
    return float(np.max(apart))


def _rods_of(model: Model, slot: Slot) -> RodGroup:
    group = model.groups[slot.group]
    assert isinstance(group, RodGroup)
    return group


def grid_of(group: RodGroup) -> RodGrid:
    """The grid of whole rods."""
    assert isinstance(group.grid, RodGrid)
    return group.grid


def turns(model: Model, q: np.ndarray) -> dict[str, float]:
    """Angle (rad) by which the curvatures of each rod turn a smooth piece, at most; of one q, or of rows."""
    found = {}
    for slot in model.topology.rod_slots:
        group = _rods_of(model, slot)
        grid, row = grid_of(group), slot.row
        rest = np.asarray(grid.rest)[row][:, :3]
        own = np.atleast_2d(q)[:, slot.q]
        curvature = rest + np.einsum("nim,km->kni", np.asarray(grid.basis)[row][:, :3], own)
        speed = float(np.asarray(group.length)[row]) * np.linalg.norm(curvature, axis=-1)
        angles = (np.asarray(grid.weights)[row] * speed).reshape(
            len(speed), len(grid.edges) - 1, -1
        )
        found[slot.name] = float(angles.sum(axis=-1).max())
    return found


class Tail(NamedTuple):
    """The last coefficients of a strain on a piece of a rod: the larger of two, over all rows."""

    size: float
    modes: int
    width: float
    """Of the piece, as a share of the rod."""
    length: float
    """Of the rod (m)."""
    turning: bool
    """Whether it is a curvature or twist (1/m), not a stretch or shear."""


def tails(robot: Robot, model: Model, q: np.ndarray) -> list[Tail] | None:
    """The last coefficients of all rods, of one q or of rows; None where they do not tell what is left out.

    They do on Legendre polynomials with some modes, where all known corners are ends of pieces and the nodes
    suffice for the windings.
    """
    rows = np.atleast_2d(q)
    wound, corners, found = turns(model, rows), corners_of(robot.items), []
    for slot in model.topology.rod_slots:
        group, rod = _rods_of(model, slot), robot[slot.name]
        grid, field = grid_of(group), group.grid.field
        assert isinstance(rod, Rod)
        known = corners[slot.name]
        if not (known.jumps | known.bends) <= set(grid.edges):
            return None
        usual = field.degree + EXTRA_NODES + NODES_PER_RADIAN * max(0, wound[slot.name] - np.pi)
        if grid.weights.shape[-1] < usual * (len(grid.edges) - 1):
            return None
        length, first = float(np.asarray(group.length)[slot.row]), slot.q_start
        for strain, basis in field.components:
            if not isinstance(basis, Legendre | PiecewiseLegendre):
                return None
            edges = (0.0, *basis.breaks, 1.0)
            for order, width in zip(orders_of(basis), np.diff(edges), strict=True):
                part = rows[:, first : first + order + 1]
                first += order + 1
                if order + 1 < LEAST_MODES and np.any(part):
                    return None
                last = float(np.abs(part[:, -2:]).max(initial=0.0))
                turning = STRAINS[strain].startswith("k")
                found.append(Tail(last, order + 1, float(width), length, turning))
    return found


def _bound(robot: Robot, model: Model, q: np.ndarray) -> float:
    """Bound (m) of the displacement error from the last coefficients; infinite where they do not tell.

    What is left out is taken to be as large as twice the largest of the last two, and to move all that is
    beyond as a constant strain would: far too much, so that it is only of use where a solution is smooth.
    """
    found = tails(robot, model, q)
    if found is None:
        return np.inf
    reach = sum(
        float(np.asarray(_rods_of(model, slot).length)[slot.row])
        for slot in model.topology.rod_slots
    )
    return sum(2.0 * t.width * t.length * (reach if t.turning else 1.0) * t.size for t in found)
