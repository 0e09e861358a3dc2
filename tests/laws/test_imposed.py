"""Imposed coordinates, friction and growth against closed forms, side by side in one robot."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.frames import find_joint, find_rod
from supple.system.forward_dynamics import acceleration
from tests.tools import jit

G = 9.81
MASS, ARM, INERTIA = 0.7, 0.3, 0.02  # pendulum about y, its mass center along x at rest
BLOCK, PUSHED, MU, DRAG = 0.5, 1.2, 2.0, 1.5  # kg, m/s, N, N s/m
REGULAR = 1e-3  # speed (m/s) below which dry friction fades
LENGTH, CURL = 0.6, 1.5
DURATION, DT = 0.25, 1e-3
SAMPLES = np.linspace(0.0, DURATION, 101)
NOISE = 0.02


def swing(t):
    """Moving from the first instant on."""
    return 0.5 * jnp.sin(3.0 * t)


def curl(t):
    return CURL * (1 - jnp.cos(8.0 * t)) / LENGTH


def measured():
    """A slow motion, sampled, with fast noise on it."""
    return 0.3 * np.sin(4.0 * SAMPLES) + NOISE * np.sin(2 * np.pi * 150.0 * SAMPLES)


@cache
def museum():
    body = dict(mass=MASS, inertia=(INERTIA,) * 3, com=(ARM, 0, 0), joint=sp.Revolute("y"))
    block = dict(mass=BLOCK)
    return sp.Robot(
        sp.Body("bob", **body),
        sp.PrescribedCoordinate("motor", on="bob", value=swing),
        sp.Body("arm", position=(0, 1, 0), **body),
        sp.PrescribedCoordinate("data", on="arm", value=sp.smooth(SAMPLES, measured(), 30.0)),
        sp.Body("dry", joint=sp.Prismatic("x", friction=MU, friction_speed=REGULAR), **block),
        sp.Body("wet", joint=sp.Prismatic("x", damping=DRAG), **block),
        sp.Rod("finger", length=LENGTH, section=sp.Circle(5e-3), strains="planar", basis=3,
               material=sp.Material(E=1e7, density=1100.0), position=(0, 2, 0)),
        sp.PrescribedCoordinate("tendon", on="finger", of="rod", value=curl),
    ).build()  # fmt: skip


@cache
def run():
    model = museum()
    v = np.zeros(model.nv)
    for name in ("dry", "wet"):
        v[find_joint(model, name).v] = PUSHED
    q = np.zeros(model.nq)
    q[np.array(model.prescribed.q_index)] = model.prescribed.values(jnp.zeros(()))
    start = sp.initial_state(model, q, v)
    found = sp.simulate(model, DURATION, dt=DT, initial=start)
    assert found.ok
    return found


def derivatives(t):
    return 0.5 * np.sin(3 * t), 1.5 * np.cos(3 * t), -4.5 * np.sin(3 * t)


def test_imposed_laws_are_reproduced():
    t = run().t
    np.testing.assert_allclose(run().joint("bob").position[:, 0], swing(t), atol=1e-9)
    np.testing.assert_allclose(run().coordinates("finger")[:, 0], curl(t), atol=1e-9)


def test_velocities_are_those_of_the_law_from_the_start():
    """A run that started at rest would swing about them."""
    t, v = run().t, run().v[:, find_joint(museum(), "bob").v][:, 0]
    np.testing.assert_allclose(v, derivatives(t)[1], atol=1e-4)
    assert v[0] == pytest.approx(1.5, abs=1e-12)


def test_effort_is_the_textbooks_inverse_dynamics():
    theta, _, change = derivatives(run().t)
    expected = (INERTIA + MASS * ARM**2) * change - MASS * G * ARM * np.cos(theta)
    # The scheme's first steps err by O(h) in forces, alternating and damped by its ρ∞; then by O(h²).
    error = np.abs(run().effort("motor") - expected) / np.abs(expected).max()
    assert error.max() < 1e-3
    assert error[run().t > 0.05].max() < 1e-5


def test_forward_dynamics_gives_the_same_effort_exactly():
    model, i = museum(), 40
    found = jit(acceleration)(model, run().q[i], derivative_velocity(i), run().t[i])
    theta, _, change = derivatives(run().t[i])
    slot = find_joint(model, "bob")
    np.testing.assert_allclose(found.a[slot.v], change, rtol=1e-10)
    expected = (INERTIA + MASS * ARM**2) * change - MASS * G * ARM * np.cos(theta)
    row = model.prescribed.names.index("motor")
    assert -found.multipliers[row] == pytest.approx(expected, rel=1e-10)


def derivative_velocity(i):
    v = run().v[i].copy()
    v[find_joint(museum(), "bob").v] = derivatives(run().t[i])[1]
    return v


def test_work_of_efforts_is_energy_gained_and_lost():
    model, t = museum(), run().t
    power = np.zeros(len(t))
    for name, slot in (
        ("motor", find_joint(model, "bob").v_start),
        ("data", find_joint(model, "arm").v_start),
        ("tendon", find_rod(model, "finger").v_start),
    ):
        power += run().effort(name) * run().v[:, slot]
    slow = (
        run().v[:, find_joint(model, "dry").v][:, 0],
        run().v[:, find_joint(model, "wet").v][:, 0],
    )
    lost = MU * np.tanh(slow[0] / REGULAR) * slow[0] + DRAG * slow[1] ** 2
    total = run().energies.total
    work = np.trapezoid(power - lost, t)
    assert abs(np.trapezoid(power, t)) > 0.1
    assert total[-1] - total[0] == pytest.approx(work, abs=1e-3 * np.trapezoid(np.abs(power), t))


def test_dry_friction_slows_a_block_by_coulombs_law_and_holds_it():
    t, v = run().t, run().v[:, find_joint(museum(), "dry").v][:, 0]
    stop = PUSHED * BLOCK / MU
    sliding = t < 0.9 * stop
    np.testing.assert_allclose(v[sliding], PUSHED - MU / BLOCK * t[sliding], atol=1e-8)
    assert stop > DURATION or np.abs(v[t > 1.1 * stop]).max() < REGULAR


def test_viscous_friction_slows_a_block_exponentially():
    t, v = run().t, run().v[:, find_joint(museum(), "wet").v][:, 0]
    np.testing.assert_allclose(v, PUSHED * np.exp(-DRAG / BLOCK * t), atol=1e-5)


def test_sampled_data_drive_a_joint_without_their_noise():
    """150 Hz through a filter of 30 Hz, forth and back: (150/30)⁸ times less."""
    t, q = run().t, run().joint("arm").position[:, 0]
    inner = (t > 0.05) & (t < DURATION - 0.05)  # filters know less at the ends
    wanted = 0.3 * np.sin(4.0 * t)
    assert np.abs(q - wanted)[inner].max() < 0.1 * NOISE
    change = run().a[:, find_joint(museum(), "arm").v][:, 0]
    # Unfiltered, the noise's acceleration would be NOISE (2π 150)² = 18 000 rad/s².
    assert np.abs(change + 16 * wanted)[inner].max() < 50.0


def test_a_run_starts_where_imposed_laws_begin():
    """A hinge and a tendon that begin away from zero: closed at the start, without the weight."""
    robot = sp.Robot(
        sp.Rod(
            "arm", length=0.4, section=sp.Circle(4e-3), strains="planar", basis=2, nodes=8,
            material=sp.Material(E=2e9, density=1200.0), joint=sp.Revolute("z"),
        ),
        sp.PrescribedCoordinate("motor", on="arm", value=lambda t: 0.3 + 0.1 * t),
        sp.Tendon("tendon", on="arm", offset=(5e-3, 0.0), pull=lambda t: 1e-3 + 0.0 * t),
        gravity=(0, -9.81, 0),
    )  # fmt: skip
    result = sp.simulate(robot, 0.02, dt=0.005)
    assert result.ok
    assert result.joint("arm").position[0, 0] == pytest.approx(0.3, abs=1e-9)
    assert np.abs(result.violation).max() < 1e-9
