"""States of rods that are shot from states in strain coordinates: to begin with, and as guesses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.compile import jit
from supple.errors import ArgumentError
from supple.lie import so3
from supple.mechanics.element_motion import retract
from supple.mechanics.fields import field_motion, field_shape, field_values
from supple.mechanics.frames import rod_shape, rod_strain
from supple.mechanics.section_wrenches import internal_wrenches
from supple.model.model import Model
from supple.model.state import State
from supple.shooting.equations import Moment, Past
from supple.shooting.layout import Layout
from supple.shooting.lines import Efforts, stretches
from supple.shooting.orientation import ORIENTED
from supple.shooting.parts import NUMBERS, Parts, parts_of


def sampled(record: Model, model: Model, state: State) -> State:
    """The state of a model in strain coordinates, seen at the nodes; wrenches are those at rest."""
    layout = parts_of(record).layout
    still = jnp.zeros_like(jnp.asarray(state.v))
    known = State(state.t, state.q, state.v, still, state.multipliers)
    return _state(record, state, *_fields(model, known, layout))


def _state(record: Model, state: State, *found: np.ndarray) -> State:
    """A state of the record from the joints of another one and what is known at the nodes."""
    companion = parts_of(record).companion.topology
    nq, nv, joints = companion.q_start[-1], companion.v_start[-1], companion.element_start[-1]
    quaternions, positions, values, speeds, changes = (np.asarray(part) for part in found)
    quaternions = _continuous(parts_of(record).layout, quaternions)
    if values.shape[-1] < parts_of(record).known:
        values, changes = _with_variables(parts_of(record), quaternions, positions, values, changes)
    frames = np.concatenate([quaternions, positions], axis=1)
    held = np.zeros(NUMBERS * joints)
    parts = parts_of(record)
    shape = (parts.rods.layout.size, parts.rods.layout.steps + 1, parts.known)
    strains = (part.reshape(shape)[..., :6] for part in (values, changes))
    lengths, rates = _measured(parts, *strains)
    own = np.asarray(state.q)[: nq - parts.lines], np.asarray(state.v)[: nv - parts.lines]
    q = np.concatenate([own[0], lengths, frames.ravel(), values.ravel(), held])
    v = np.concatenate([own[1], rates, speeds.ravel(), changes.ravel(), held])
    return State(np.asarray(state.t), q, v, np.zeros_like(v), state.multipliers)


def _with_variables(parts: Parts, *found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is known at the nodes and its rates, with the variables that rods of their own have at rest."""
    quaternions, positions, values, changes = found
    rods, at = parts.rods, parts.layout
    values, changes = (part.reshape(at.size, at.steps + 1, NUMBERS) for part in (values, changes))
    h = jnp.moveaxis(jnp.asarray(quaternions[at.nodes]), -1, 0)
    turns = jnp.moveaxis(ORIENTED[rods.settings.orientation].start(h), 0, -1)
    y = jnp.concatenate([positions[at.nodes], values[..., 6:], turns], axis=-1).transpose(1, 2, 0)
    none = jnp.zeros((2 * at.steps + 1, 6 + rods.settings.variables, at.size))
    moment = Moment(None, jnp.zeros(3), jnp.zeros(()), True, None)
    past = Past(none, none, none, none)
    made = rods.made_of(moment, rods.sections(None), past, y, jnp.zeros(0))
    own = np.asarray(made)[:, 6:].transpose(2, 0, 1)
    return np.concatenate([values, own], axis=-1), np.concatenate([changes, 0 * own], axis=-1)


def _measured(parts: Parts, strain: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, ...]:
    """What tendons and chambers measure along rods, and how fast that changes."""
    if parts.rods.lines is None:
        return np.zeros(0), np.zeros(0)
    rods, lines, steps = parts.rods, parts.rods.lines, parts.rods.layout.steps
    places = jax.tree.map(lambda x: jnp.asarray(x)[:, ::2], lines.places)
    rest = jnp.asarray(rods.material.rest)
    rest = jnp.broadcast_to(rest, strain.shape) if rest.shape[1] == 1 else rest[:, ::2]
    weights = np.asarray(rods.widths)[:, None] * simpson(steps)

    def lengths(strain: Array) -> Array:
        def one(strain: Array, rest: Array, at: Any, acts: Array) -> Array:
            efforts = Efforts(jnp.zeros_like(acts), acts, jnp.asarray(lines.area))
            return stretches(rest, strain, at, efforts)

        each = jax.vmap(jax.vmap(one, (0, 0, 0, None)))
        return jnp.einsum("sk,skm->m", weights, each(strain, rest, places, lines.acts))

    found = jax.jvp(lengths, (jnp.asarray(strain),), (jnp.asarray(rate),))
    return np.asarray(found[0]), np.asarray(found[1])


def simpson(steps: int) -> np.ndarray:
    """Quadrature weights on the nodes of a segment of length 1, of fourth order."""
    found = np.zeros(steps + 1)
    if steps == 1:
        return np.array([0.5, 0.5])
    even = steps if steps % 2 == 0 else steps - 3
    for i in range(0, even, 2):
        found[i : i + 3] += np.array([1.0, 4.0, 1.0]) / 3 / steps
    if even < steps:  # three eighths
        found[even:] += 3 / 8 * np.array([1.0, 3.0, 3.0, 1.0]) / steps
    return found


def resampled(record: Model, old: Model, state: State) -> State:
    """A state of another record of the same rods and joints, seen at other nodes."""
    layout, before = parts_of(record).layout, parts_of(old)
    joints = [(s.name, s.q_start, s.q_stop) for s in record.topology.joint_slots]
    if layout.names != before.layout.names or joints != [
        (s.name, s.q_start, s.q_stop) for s in old.topology.joint_slots
    ]:
        raise ArgumentError(
            "initial: got a state of a robot with other rods or joints, whose rods are shot; need one of a "
            "robot with formulation 'strain', which is carried over by name"
        )
    n, k, width = layout.node_count, layout.steps + 1, parts_of(record).known
    if width != before.known:
        raise ArgumentError(
            "initial: got a state of rods with another law of their own; need one of the same law, or of "
            "formulation 'strain'"
        )
    rotations, positions, speeds = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 6))
    values, changes = np.zeros((layout.size, k, width)), np.zeros((layout.size, k, width))
    for r, name in enumerate(layout.names):
        own = slice(layout.first[r], layout.first[r + 1])
        u, nodes = layout.fractions[own].ravel(), layout.nodes[own].ravel()
        pose = field_shape(old, name, jnp.asarray(state.q), u)
        rotations[nodes], positions[nodes] = np.asarray(pose.rotation), np.asarray(pose.position)
        speeds[nodes] = np.asarray(field_motion(old, name, jnp.asarray(state.v), u))
        values[own] = np.asarray(field_values(old, name, jnp.asarray(state.q), u)).reshape(
            -1, k, width
        )
        rates = field_values(old, name, jnp.asarray(state.v), u, rates=True)
        changes[own] = np.asarray(rates).reshape(-1, k, width)
    quaternions = np.asarray(so3.quaternion_from_matrix(jnp.asarray(rotations)))
    none = State(state.t, state.q, state.v, state.a)
    return _state(record, none, quaternions, positions, values, speeds, changes)


def _fields(model: Model, s: State, layout: Layout):  # type: ignore[no-untyped-def]
    """Quaternions, positions, strains with wrenches, node velocities, and strain rates, as in the record."""
    poses, spins, strains = [], [], []
    for r, name in enumerate(layout.names):
        own = slice(layout.first[r], layout.first[r + 1])
        u = tuple(layout.fractions[own].ravel().tolist())
        pose, spin, strain = _compiled_rod(model, s, name, u)
        poses.append(pose)
        spins.append(spin)
        strains.append(strain)
    nodes = layout.nodes.ravel()
    n = layout.node_count
    rotation = np.concatenate([np.asarray(p[0]) for p in poses])
    quaternions, positions, speeds = np.zeros((n, 4)), np.zeros((n, 3)), np.zeros((n, 6))
    quaternions[nodes] = np.asarray(so3.quaternion_from_matrix(jnp.asarray(rotation)))
    positions[nodes] = np.concatenate([np.asarray(p[1]) for p in poses])
    speeds[nodes] = np.concatenate([np.asarray(p) for p in spins])
    values = np.concatenate([np.asarray(p[0]) for p in strains])
    changes = np.concatenate([np.asarray(p[1]) for p in strains])
    return quaternions, positions, values, speeds, changes


def _one(model: Model, s: State, name: str, u: tuple[float, ...]):  # type: ignore[no-untyped-def]
    places = np.array(u)

    def moved(tau: Float[Array, ""]):  # type: ignore[no-untyped-def]
        q = retract(model, s.q, tau * s.v)
        shape = rod_shape(model, name, q, places, s.t + tau)
        return shape.rotation, shape.position, rod_strain(model, name, q, places)

    now, rate = jax.jvp(moved, (jnp.zeros(()),), (jnp.ones(()),))
    turning = jnp.einsum("nji,njk->nik", now[0], rate[0])
    spin = jnp.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    still = State(s.t, s.q, jnp.zeros_like(s.v), jnp.zeros_like(s.v), s.multipliers)
    wrench = internal_wrenches(model, still, name, u)
    twist = jnp.concatenate([spin, jnp.einsum("nji,nj->ni", now[0], rate[1])], axis=1)
    values = jnp.concatenate([now[2], wrench, twist], axis=1)
    changes = jnp.concatenate([rate[2], jnp.zeros((len(u), 12))], axis=1)
    speeds = jnp.concatenate([spin, rate[1]], axis=1)
    return (now[0], now[1]), speeds, (values, changes)


_compiled_rod = jit(_one, quick=True, static_argnames=("name", "u"))


def _continuous(layout: Layout, quaternions: np.ndarray) -> np.ndarray:
    """Of the two quaternions of each orientation, the one near the neighbor's."""
    found = quaternions.copy()
    for r in range(len(layout.names)):
        own = np.unique(layout.nodes[layout.first[r] : layout.first[r + 1]])
        dots = np.sum(found[own][1:] * found[own][:-1], axis=1)
        found[own[1:]] *= np.cumprod(np.where(dots < 0, -1.0, 1.0))[:, None]
    return found
