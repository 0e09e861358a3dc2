"""Passive robots of many kinds gain no energy, whatever the step; their potential slopes as their forces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates, retract
from supple.mechanics.inverse_dynamics import balance
from supple.model.state import State
from supple.time.energy_guard import is_passive, open_budget, stored_energy
from tests.tools import jit

SOFT = sp.Material(E=1e6, density=1000.0, damping=sp.StiffnessDamping(1e-3))
HARD = sp.Material(E=2e11, density=7800.0)
STEPS = (0.01, 0.1, 1.0, 10.0)


def bob(name="bob", joint=None, **options) -> sp.Body:
    joint = sp.Revolute("y", damping=0.02) if joint is None else joint
    return sp.Body(name, 0.5, (1e-3, 1e-3, 1e-3), com=(0.1, 0.0, 0.0), joint=joint, **options)


def rod(material=SOFT, strains="planar", basis=2, **options) -> sp.Rod:
    return sp.Rod("arm", 0.3, sp.Circle(4e-3), material, strains=strains, basis=basis, **options)


SIDE = (0.003, 0.0)
ROBOTS = {
    "pendulum": sp.Robot(bob()),
    "two": sp.Robot(bob(), bob("tail", sp.Spherical(damping=1e-3), parent="bob", position=(0.2, 0, 0))),
    "soft rod": sp.Robot(rod(), gravity=(0, -9.81, 0)),
    "hard rod": sp.Robot(rod(HARD), gravity=(0, -9.81, 0)),
    "swinging rod": sp.Robot(rod(joint=sp.Revolute("z", damping=1e-4)), gravity=(0, -9.81, 0)),
    "spring": sp.Robot(
        bob(), sp.Spring("coil", "bob", stiffness=50.0, damping=0.1, to_position=(0.1, 0, 0.3))
    ),
    "held": sp.Robot(bob(joint=sp.Revolute("y", stiffness=20.0, damping=0.01, rest=1.0))),
    "tendons": sp.Robot(
        rod(),
        sp.Tendon("band", "arm", SIDE, pull=0.002, stiffness=100.0, damping=0.1),
        sp.Tendon("weight", "arm", (-0.003, 0.001), tension=0.3),
        gravity=(0, -9.81, 0),
    ),
    "fluids": sp.Robot(
        rod(strains="planar-extensible"),
        sp.Chamber("air", "arm", 1e-5, SIDE, gas=1e-5 * 0.3 * 1.3e5),
        sp.Chamber("water", "arm", 1e-5, (-0.003, 0), pressure=1e3),
        sp.Drag("drag", "arm", quadratic=0.1),
        sp.Buoyancy("lift", "arm", density=600.0),
        gravity=(0, -9.81, 0),
    ),
    "loads": sp.Robot(
        rod(),
        bob(joint=sp.Revolute("z", damping=1e-3), parent="arm"),
        sp.Wrench("push", "bob", force=(0.5, 0.1, 0.0), position=(0.05, 0.0, 0.0)),
        sp.Motor("motor", "bob", torque=0.02),
        sp.PlaneFriction("floor", "bob", friction=0.02),
        gravity=(0, -9.81, 0),
    ),
    "loop": sp.Robot(
        bob(),
        bob("bar", sp.Revolute("y"), parent="bob", position=(0.2, 0, 0)),
        bob("rocker", sp.Revolute("y"), parent="bar", position=(0.2, 0, 0)),
        sp.Closure("pin", on="rocker", to="ground", joint=sp.Revolute("y"), position=(0.2, 0, 0),
                   to_position=(0.4, 0, -0.1)),
    ),
    "slack": sp.Robot(bob(), sp.Tendon("leash", ("ground", "bob"),
        {"ground": (0.1, 0, 0.2), "bob": (0.1, 0, 0)}, pull=-0.1)),
}  # fmt: skip
QUICK = ("pendulum", "two", "tendons", "loop", "slack")


@jit
def totals(model, t, q, v):
    def total(t, q, v):
        return stored_energy(model, State(t, q, v, jnp.zeros_like(v)))

    return jax.vmap(total)(t, q, v)


@pytest.mark.filterwarnings("ignore:.*inside out")
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ROBOTS]
)
def test_no_passive_robot_gains_energy(name):
    """From rest as described, at steps from a hundredth of a second to ten."""
    model = ROBOTS[name].build()
    assert is_passive(model)
    for dt in STEPS:
        found = sp.simulate(model, 12 * dt, dt=dt)
        assert found.ok
        total, potential, parts = totals(model, found.t, found.q, found.v)
        free = total[0] - potential.min() + 1e-8 * parts[0]
        assert (total - total[0]).max() <= 0.05 * free


def test_chaotic_robots_gain_no_energy_wherever_they_go():
    """Friction that differs by a millionth sends two pendulums elsewhere when steps are far too long."""
    for seed in range(8):
        first, second = 1 + 1e-6 * np.random.default_rng(seed).standard_normal(2)
        tail = sp.Spherical(damping=1e-3 * second)
        upper = bob(joint=sp.Revolute("y", damping=0.02 * first))
        lower = bob("tail", tail, parent="bob", position=(0.2, 0, 0))
        model = sp.Robot(upper, lower).build()
        found = sp.simulate(model, 120.0, dt=10.0)
        total, potential, _ = totals(model, found.t, found.q, found.v)
        assert (total - total[0]).max() <= 0.05 * (total[0] - potential.min())


@jit
def forces(model, q):
    zero = jnp.zeros(model.nv)
    t = jnp.zeros(())

    def potential(x):
        return stored_energy(model, State(t, retract(model, q, x), zero, zero))[1]

    return jax.grad(potential)(zero), balance(model, Coordinates(q, zero, zero, zero, t)).residual


@pytest.mark.parametrize("name", ["spring", "tendons", "fluids", "loads"])
def test_the_slope_of_the_potential_is_the_balance_at_rest(name):
    model = ROBOTS[name].build()
    q = np.linspace(0.1, 0.4, model.nq)
    slope, residual = forces(model, q)
    assert np.abs(residual).max() > 1e-3
    np.testing.assert_allclose(slope, residual, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "load",
    [
        sp.Wrench("it", "bob", moment=(0, 0.1, 0)),
        sp.Drag("it", "bob", linear=1.0, current=(0.1, 0, 0)),
    ],
)
def test_loads_that_can_work_are_no_ground_for_splitting(load):
    """Whether a moment or a current is zero is a number: the check is there, but lets everything pass."""
    model = sp.Robot(bob(), load).build()
    ledger = open_budget(model, sp.initial_state(model))
    assert np.isinf(ledger.start)
    found = sp.simulate(model, 2.0, dt=0.1)
    assert found.ok
    assert found.cursor.ledger.gain == 0


def test_a_gain_that_cannot_be_cured_is_told(monkeypatch):
    """A ledger that takes the start for less than it is."""
    model = ROBOTS["pendulum"].build()
    from supple.time import advance

    real = open_budget

    def less(model, state):
        return real(model, state)._replace(start=real(model, state).lowest - 1.0)

    monkeypatch.setattr(advance, "open_budget", less)
    jax.clear_caches()
    with pytest.warns(RuntimeWarning, match="gained .* times the energy"):
        found = sp.simulate(model, 0.5, dt=0.01)
    assert found.ok
    assert "gained" in found.message
    jax.clear_caches()
