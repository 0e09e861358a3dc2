"""A robot on which nothing does work cannot gain energy: the check that splits steps that claim so.

The α family is unconditionally stable only for linear robots, and even there its velocities overshoot after
a release, by about a hundredth of ω h. With steps far beyond a robot's periods either can multiply its
energy: after the snap of a prototype with ρ∞ = 0.5, by orders of magnitude within a tenth of a second; a
pendulum that turns many times within a step may even take up speed without end. The check costs one
evaluation of the energies, in steps that do not follow their motion and now and then in others, for schemes
with numerical damping: those without (trapezoidal rule, Gauss) keep the energy of linear vibrations, and take
the step they are given.

Passive are robots on which nothing works but what has a potential (gravity, elasticity, springs, elastic
tendons and gas with constant inputs, constant tensions, pressures and torques, constant dead forces,
buoyancy), what only takes energy away (friction, dampers, drag in a fluid at rest), and imposed coordinates,
whose work follows from their multipliers.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool, Float, Int

from supple.arrays import Array
from supple.mechanics import static_index
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.energy import energies
from supple.mechanics.inverse_dynamics import load_sections
from supple.mechanics.kinematics import kinematics
from supple.mechanics.transmissions import transmission_motion
from supple.model.constraints import COORDINATE
from supple.model.efforts import Cable, Gas, Imposed, Pressure, Spring, Tension, TorqueDrive
from supple.model.laws import Constant
from supple.model.loads import DeadLine, LineDrag, PointDrag, PointWrench, SlidingFriction
from supple.model.model import JointGroup, Model, RodGroup
from supple.model.special_joints import DrivenJoint
from supple.model.state import State

ROUND_OFF = 1e-9
"""Energy (relative to its parts) below which a gain says nothing."""
RESOLVED = 0.1
"""Largest (ω h)² or so of a step that follows its motion: such a step cannot gain much."""
MOST_MOVED = 0.5
"""Largest change of a coordinate, over its scale, in a step that follows its motion: half a radian."""
MOST_TURNED, MOST_CHANGED = 3.0, 0.5
"""Largest change of a scaled coordinate, and of speeds over themselves, that no step may have both."""
MOST_FASTER = 100.0
"""How many times the kinetic energy of the present may have been seen between two looks."""
ANYWAY = 16
"""Every so many steps are looked at even if they follow their motion."""
STEADY = (Tension, Pressure, TorqueDrive)
"""Effort laws whose effort does not depend on the coordinate: its potential is minus their product."""
STORING = (Spring, Cable, Gas, Imposed)
"""Effort laws that store energy, or none."""


class EnergyBudget(NamedTuple):
    """Energies (J) of the run so far."""

    start: Float[Array, ""]
    """Total at the start, and the work of imposed coordinates since; infinite where some load does work."""
    lowest: Float[Array, ""]
    """Lowest potential energy of all kinds; the start's excess over it is what can move."""
    gain: Float[Array, ""]
    """Largest gain seen, over the energy that could move."""
    fastest: Float[Array, ""]
    """Largest speed of a scaled coordinate (1/s) since the last look: what moved unseen is judged by it."""


def is_passive(model: Model) -> bool:
    """Whether nothing but imposed coordinates can give the robot energy, as far as its structure tells."""
    own = model.transmissions
    driven = any(
        isinstance(g, JointGroup) and isinstance(g.joint, DrivenJoint) for g in model.groups
    )
    growing = any(isinstance(g, RodGroup) and g.growth is not None for g in model.groups)
    pulled = not all(isinstance(law, Constant) for law in own.laws.batches)
    pulled = pulled or not all(isinstance(effort, STEADY + STORING) for effort in own.efforts)
    pushed = not all(
        isinstance(load, SlidingFriction | PointDrag)
        or (isinstance(load, PointWrench) and not load.follower and isinstance(load.law, Constant))
        for load in model.loads
    )
    pushed = pushed or not all(isinstance(load, LineDrag | DeadLine) for load in model.line_loads)
    return not (pushed or model.stresses or model.regulators or driven or growing or pulled)


def stored_energy(
    model: Model, state: State
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """Total energy, potential energy of all kinds, and the sum of the sizes of their parts (J)."""
    energy = energies(model, state.q, state.v, state.t)
    loads = _potential_of_loads(model, state)
    potential = energy.elastic + energy.potential + jnp.sum(loads)
    parts = energy.kinetic + jnp.abs(energy.elastic) + jnp.abs(energy.potential)
    return energy.kinetic + potential, potential, parts + jnp.sum(jnp.abs(loads))


def _potential_of_loads(model: Model, state: State) -> Float[Array, " n"]:
    """Potential energies (J) of constant dead forces and of efforts that do not change."""
    steady = any(isinstance(effort, STEADY) for effort in model.transmissions.efforts)
    dead = [load for load in model.loads if isinstance(load, PointWrench)]
    floating = [load for load in model.line_loads if isinstance(load, DeadLine)]
    if not (steady or dead or floating):
        return jnp.zeros(0)
    zero = jnp.zeros(model.nv)
    c = Coordinates(state.q, zero, zero, zero, state.t)
    motion = kinematics(model, c)
    found = [jnp.zeros(0)]
    for load in dead:
        pose = motion.poses_at(np.array([load.sample]))
        place = pose.position[0] + pose.rotation[0] @ load.offset.position + motion.origin
        found.append(-jnp.dot(load.law(state.t) * jnp.asarray(load.value)[3:], place)[None])
    for line in floating:
        at = load_sections(model, motion, line)
        found.append(-jnp.einsum("rn,rni,rni->", at.weights, line.nodes, at.pose.position)[None])
    if steady:
        moved = transmission_motion(model, c, motion)
        own = model.transmissions
        for effort, members in zip(own.efforts, own.members, strict=True):
            if isinstance(effort, STEADY):
                index = np.array(members)
                found.append(
                    -static_index.take(moved.effort, index) * static_index.take(moved.length, index)
                )
    return model.load_factor * jnp.concatenate(found)


def _works(model: Model) -> Bool[Array, ""]:
    """Whether some load of a kind that may be passive can give energy: a dead moment, a fluid that flows."""
    zero = jnp.zeros(0)
    moments = [load.value[:3] for load in model.loads if isinstance(load, PointWrench)]
    flows = [load.current for load in model.loads if isinstance(load, PointDrag)]
    flows += [load.current for load in model.line_loads if isinstance(load, LineDrag)]
    return jnp.any(jnp.concatenate([zero, *(jnp.ravel(part) for part in moments + flows)]) != 0)


def open_budget(model: Model, state: State) -> EnergyBudget | None:
    """EnergyBudget of a run that starts here; None if the robot is not passive."""
    if not is_passive(model):
        return None
    total, potential, _ = stored_energy(model, state)
    none = jnp.zeros(())
    return EnergyBudget(jnp.where(_works(model), jnp.inf, total), potential, none, none)


def audit(
    model: Model,
    ledger: EnergyBudget,
    before: State,
    after: State,
    tolerance: Float[Array, ""] | float,
    count: Int[Array, ""] | int = 0,
) -> tuple[EnergyBudget, Float[Array, ""]]:
    """Budget after a step, and the gain for which it should be split: zero if it gains nothing to speak of.

    A gain is what exceeds the start, over the energy that was free to move so far, if it is more than
    ``tolerance``. Of steps that follow their motion only those are looked at whose ``count`` is a multiple of
    ANYWAY: the look costs as much as a fifth of a cheap step. To split them would not help: what they gain is
    small, and what is gained was gained before.
    """
    if model.prescribed.size:
        ledger = ledger._replace(start=ledger.start + _work(model, before, after))
    h = after.t - before.t
    scale = jnp.asarray(model.scale)
    speed = jnp.max(jnp.abs(after.v / scale))
    ledger = ledger._replace(fastest=jnp.maximum(ledger.fastest, speed))
    change = jnp.max(jnp.abs(h * (after.a - before.a) / scale))
    resolved = (change <= RESOLVED * speed) & (h * speed <= MOST_MOVED)
    ledger, gain = lax.cond(
        resolved & (count % ANYWAY != 0),
        lambda: (ledger, jnp.zeros(())),
        lambda: _look(model, ledger, after, tolerance, speed),
    )
    return ledger, jnp.where(resolved, 0.0, gain)


def is_wild(model: Model, before: State, after: State) -> Bool[Array, ""]:
    """Whether a step goes far round and yet changes its speed much: it cannot have followed such a motion.

    Whatever works on the robot: this is how steps far too long for a driven robot feed on themselves.
    """
    h, scale = after.t - before.t, jnp.asarray(model.scale)
    speed = jnp.max(jnp.abs(after.v / scale))
    change = jnp.max(jnp.abs(h * (after.a - before.a) / scale))
    return (h * speed > MOST_TURNED) & (change > MOST_CHANGED * speed)


def goes_far(model: Model, before: State, after: State) -> Bool[Array, ""]:
    """Whether what is a part of a step, since the whole was too long, is still long for its motion.

    Newton's method may find the end of such a part, but of another motion, and mostly of a faster one.
    """
    speed = jnp.max(jnp.abs(after.v / jnp.asarray(model.scale)))
    return (after.t - before.t) * speed > MOST_MOVED


def _work(model: Model, before: State, after: State) -> Float[Array, ""]:
    """Work (J) of imposed coordinates in a step, by the trapezoidal rule."""
    imposed = model.prescribed
    assert before.multipliers is not None
    assert after.multipliers is not None
    forces = (before.multipliers + after.multipliers)[model.constraints.rows(COORDINATE)]
    moved = imposed.values(after.t) - imposed.values(before.t)
    return -jnp.sum(forces * imposed.scale * moved) / 2


def _look(
    model: Model,
    ledger: EnergyBudget,
    state: State,
    tolerance: Float[Array, ""] | float,
    speed: Float[Array, ""],
) -> tuple[EnergyBudget, Float[Array, ""]]:
    total, potential, parts = stored_energy(model, state)
    lowest = jnp.minimum(ledger.lowest, potential)
    # What moved since the last look was not seen, but its speed was.
    faster = jnp.minimum((ledger.fastest / jnp.maximum(speed, 1e-300)) ** 2, MOST_FASTER)
    moved = jnp.minimum(total - potential, ledger.start - lowest) * faster
    gained, free = total - ledger.start - ROUND_OFF * parts, ledger.start - lowest
    free = jnp.maximum(free, moved)
    kept = gained <= tolerance * free
    gain = jnp.where(kept, 0.0, gained / jnp.maximum(free, 1e-300))
    seen = ledger._replace(lowest=lowest, gain=jnp.maximum(ledger.gain, gain))
    return seen._replace(fastest=jnp.zeros_like(ledger.fastest)), gain
