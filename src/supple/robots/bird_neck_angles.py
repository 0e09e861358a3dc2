"""The X-joint robots with rigid tendons on joint angles alone, with the Euler schemes (4) and (9) of 003.

With tendons that do not stretch, drums follow the joints, θ = f(α), θ̇ = J α̇, θ̈ = J α̈ + J̇ α̇. Work of the
tendons vanishes along such motions, so that equation (3) is the balance of joints and motors without any
tendon, seen by them: R_α + Jᵀ R_θ = 0. The engine has the same robot with all coordinates and tensions as
multipliers (``bird_neck(elastic=False)``); here the source's own equations are solved.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from supple.arrays import Array
from supple.compile import jit
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.sensing import Sensors
from supple.model.friction import held
from supple.model.inputs import find_input, input_vector, with_inputs
from supple.model.model import Model
from supple.model.state import State
from supple.robots.bird_neck import DRUM, DURATION, PERIOD, bird_neck, lengths, look, track

Angles = Float[Array, " n"]


class Motion(NamedTuple):
    """Joint angles (rad) and their rates at instants (s)."""

    t: Float[Array, " m"]
    alpha: Float[Array, "m n"]
    rate: Float[Array, "m n"]


def drums(alpha: Angles) -> Float[Array, " m"]:
    """Angles of the drums (rad) that belong to joint angles: f_θ(α)."""
    return (lengths(jnp.zeros_like(alpha)) - lengths(alpha)) / DRUM


def drum_rates(alpha: Angles, rate: Angles) -> Float[Array, " m"]:
    """J_θ α̇."""
    return jax.jvp(drums, (alpha,), (rate,))[1]


def residual(
    model: Model, alpha: Angles, rate: Angles, change: Angles, t: Float[Array, ""]
) -> Angles:
    """M_α α̈ - Γ_sys - J_θᵀ Γ_m of equation (3)."""
    by_alpha = jax.jacfwd(drums)(alpha)
    bend = jax.jvp(lambda a: drum_rates(a, rate), (alpha,), (rate,))[1]
    c = Coordinates(
        jnp.concatenate([alpha, drums(alpha)]),
        jnp.zeros(model.nv),
        jnp.concatenate([rate, by_alpha @ rate]),
        jnp.concatenate([change, by_alpha @ change + bend]),
        t,
    )
    found = inverse_dynamics(model, c)  # without multipliers: tendons do nothing
    return found[: len(alpha)] + by_alpha.T @ found[len(alpha) :]


def explicit_step(
    model: Model, alpha: Angles, rate: Angles, t: Float[Array, ""], h: Float[Array, ""]
) -> tuple[Angles, Angles]:
    """Equation (4)."""
    still = jnp.zeros_like(rate)
    mass = jax.jacfwd(lambda change: residual(model, alpha, rate, change, t))(still)
    change = -jnp.linalg.solve(mass, residual(model, alpha, rate, still, t))
    return alpha + h * rate, rate + h * change


def implicit_step(
    model: Model, alpha: Angles, rate: Angles, t: Float[Array, ""], h: Float[Array, ""]
) -> tuple[Angles, Angles]:
    """Equation (9); dry friction is constant within the step, as in the source."""
    still, smooth = jnp.zeros_like(rate), held(model)

    def force(alpha: Angles, rate: Angles) -> Angles:
        return -residual(smooth, alpha, rate, still, t)

    mass = jax.jacfwd(lambda change: residual(model, alpha, rate, change, t))(still)
    K, D = jax.jacfwd(force, argnums=(0, 1))(alpha, rate)
    push = force(alpha, rate) * h + K @ rate * h**2
    reached = rate + jnp.linalg.solve(mass - K * h**2 - D * h, push)
    return alpha + h * reached, reached


STEPS = {"explicit": explicit_step, "implicit": implicit_step}


def controlled_motion(
    joints: int, scheme: str, dt: float = PERIOD, duration: float = DURATION
) -> Motion:
    """The motion under the robot's controller, which is called every ``PERIOD`` as far as steps allow."""
    model = bird_neck(joints, elastic=False).build()
    every, count = max(1, round(PERIOD / dt)), round(duration / dt)
    return _compiled(model, joints, scheme, count, every)(model, jnp.asarray(dt))


def _compiled(model: Model, joints: int, scheme: str, count: int, every: int) -> Any:
    key = joints, scheme, count, every
    if key not in _programs:
        run = partial(_run, joints=joints, scheme=scheme, count=count, every=every)
        _programs[key] = jit(run)
    return _programs[key]


_programs: dict[Any, Any] = {}


def _run(model: Model, dt: Any, joints: int, scheme: str, count: int, every: int) -> Motion:
    step = STEPS[scheme]

    def torques(alpha: Angles, rate: Angles, t: Any) -> Float[Array, " m"]:
        q, v = (
            jnp.concatenate([alpha, drums(alpha)]),
            jnp.concatenate([rate, drum_rates(alpha, rate)]),
        )
        seen = look(Sensors(model, State(t, q, v, jnp.zeros_like(v))))
        given, _ = track(t, seen, None)
        vector = input_vector(model)
        for name, value in given.items():
            vector = vector.at[find_input(model, name, "controller")[0]].set(value)
        return vector

    def once(now: Any, k: Any) -> tuple[Any, Motion]:
        alpha, rate, inputs = now
        t = k * dt
        inputs = lax.cond(k % every == 0, lambda: torques(alpha, rate, t), lambda: inputs)
        reached = step(with_inputs(model, inputs), alpha, rate, t, dt)
        return (*reached, inputs), Motion(t + dt, *reached)

    zero = jnp.zeros(joints)
    _, moved = lax.scan(once, (zero, zero, input_vector(model)), jnp.arange(count))
    first = Motion(jnp.zeros(1), zero[None], zero[None])
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, moved)
