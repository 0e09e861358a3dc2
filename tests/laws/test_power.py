"""Energy: what the inverse dynamics asks for, times velocity, is what the robot's energy gains."""

import equinox as eqx
import jax
import numpy as np
import pytest

from supple.mechanics.element_motion import rate, retract
from supple.mechanics.energy import energies, momentum
from supple.system.error_norm import characteristic_length, total_mass
from tests.samples import (
    accelerate,
    at,
    model_of,
    random_configuration,
    random_vector,
    residual,
)
from tests.tools import jit

TOL = 1e-9  # relative; energies use poses, velocities their rates: the fine grid's error


@jit
def rates(model, q, v, a):
    """Energies, momentum and their time derivatives along the motion with velocity v and v̇ = a."""

    def along(t):
        x, xdot = v * t + a * t * t / 2, v + a * t
        there = retract(model, q, x), rate(model, q, x, xdot)
        return energies(model, *there), momentum(model, *there)

    return jax.jvp(along, (0.0,), (1.0,))


def conservative(model):
    """The same robot without dampers and loads."""
    model = eqx.tree_at(
        lambda m: [g.damping for g in m.groups if g.damping is not None],
        model,
        replace_fn=lambda leaf: 0 * leaf,
    )
    return eqx.tree_at(
        lambda m: [load.value for load in m.loads], model, replace_fn=lambda leaf: 0 * leaf
    )


def weightless(model):
    return eqx.tree_at(lambda m: m.gravity, model, np.zeros(3))


def state(model, rng):
    return random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)


def test_power_of_the_asked_forces_is_the_rate_of_energy_for_any_acceleration(rng):
    model = conservative(model_of("crawler"))
    q, v = state(model, rng)
    a = random_vector(model, rng, 2.0, 4.0)
    (_, _), (change, _) = rates(model, q, v, a)
    parts = [abs(float(x)) for x in change]
    assert min(parts) > 1e-3 * max(parts)  # kinetic, elastic and potential all take part
    power = v @ np.asarray(residual(model, at(q, v, a)))
    assert float(change.total) == pytest.approx(power, abs=TOL * max(parts))


def test_free_motion_conserves_energy(rng):
    model = conservative(model_of("crawler"))
    q, v = state(model, rng)
    a = np.asarray(accelerate(model, q, v, 0.3))
    (_, _), (change, _) = rates(model, q, v, a)
    assert abs(float(change.total)) <= TOL * max(abs(float(x)) for x in change)


def test_damping_only_takes_energy(rng):
    """Power of the damped robot less the undamped one's is vᵀ D v >= 0 for every velocity."""
    model = model_of("crawler")
    undamped = eqx.tree_at(
        lambda m: [g.damping for g in m.groups if g.damping is not None],
        model,
        replace_fn=lambda leaf: 0 * leaf,
    )
    q, _ = state(model, rng)
    for _ in range(5):
        v = random_vector(model, rng, 1.0, 2.0)
        lost = v @ np.asarray(residual(model, at(q, v)) - residual(undamped, at(q, v)))
        assert lost > 0


def test_free_flight_conserves_momentum(rng):
    model = weightless(conservative(model_of("crawler")))
    for _ in range(3):
        q, v = state(model, rng)
        a = np.asarray(accelerate(model, q, v, 0.3))
        (_, p), (_, change) = rates(model, q, v, a)
        for name in ("linear", "angular"):
            size = np.linalg.norm(getattr(p, name)) + np.linalg.norm(p.linear)
            # Per second of a motion whose accelerations are some hundred times its velocities.
            assert np.linalg.norm(getattr(change, name)) <= 1e-7 * size
        mass = float(total_mass(model))
        np.testing.assert_allclose(change.center, p.linear / mass, rtol=0, atol=1e-9)


def test_weight_and_dead_force_change_momentum_by_newtons_law(rng):
    """ṗ = m g + Σ F; the moment about the origin likewise."""
    model = model_of("crawler")
    q, v = state(model, rng)
    a = np.asarray(accelerate(model, q, v, 0.3))
    follower_free = eqx.tree_at(
        lambda m: m.loads[1].value, model, np.zeros(6)
    )  # the follower's direction needs a pose; keep the dead one
    a = np.asarray(accelerate(follower_free, q, v, 0.3))
    (_, _), (_, change) = rates(follower_free, q, v, a)
    expected = float(total_mass(model)) * np.asarray(model.gravity) + np.array([1.0, 2.0, -3.0])
    np.testing.assert_allclose(change.linear, expected, rtol=1e-7)


def test_potential_energy_is_that_of_the_mass_center(rng):
    model = model_of("crawler")
    q, v = state(model, rng)
    (energy, p), _ = rates(model, q, v, np.zeros(model.nv))
    mass = float(total_mass(model))
    expected = -mass * np.dot(model.gravity, p.center)
    assert float(energy.potential) == pytest.approx(expected, rel=1e-12)
    # Rod of 1 m, 0.03 x 0.02 m, 1100 kg/m³, and three bodies of 0.4 kg.
    assert mass == pytest.approx(1100 * 6e-4 + 1.2, rel=1e-12)
    assert float(characteristic_length(model)) == 1.0
