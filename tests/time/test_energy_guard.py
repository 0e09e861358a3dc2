"""Steps that would give a passive robot energy are split; robots that do get energy are left alone."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.bench.random_robots import random_robot
from supple.mechanics.energy import energies
from supple.time.energy_guard import audit, is_passive, open_budget
from tests.tools import jit

STEEL = sp.Material(E=2e11, density=7800.0)


def arm(**options) -> sp.Rod:
    return sp.Rod("arm", 0.4, sp.Circle(1e-3), STEEL, strains="planar", basis=3, **options)


def test_a_stiff_robot_released_with_a_long_step_does_not_gain_energy():
    """ω h is about 1000 for the third mode: unguarded steps multiply the energy."""
    stiff = dataclasses.replace(arm(), material=sp.Material(E=2e15, density=8000.0))
    robot = sp.Robot(stiff, sp.Wrench("pull", on="arm", force=(0, 10, 0)), gravity=(9.81, 0, 0))
    result = sp.release(robot, "pull", 0.2, dt=0.01)
    assert result.ok
    assert result.substeps.max() > 1
    assert result.stats.rejected > 0
    floor = sp.equilibrium(result.model).energies.total
    moved = result.energies.total - floor
    assert moved.max() <= 1.05 * moved[0]
    begun = sp.initial_state(result.model, q=result.q[0])
    unguarded = rollout_energies(result.model, begun) - floor
    assert unguarded.max() > 5 * moved[0]


@jit
def rollout_energies(model, state):
    states = sp.rollout(model, state, sp.generalized_alpha(0.8), 0.01, 20).states
    return jax.vmap(lambda s: energies(model, s.q, s.v, s.t).total)(states)


@pytest.mark.parametrize(
    ("scheme", "guarded"),
    [
        (sp.generalized_alpha(0.8), True),
        (sp.hht(0.8), True),
        (sp.wbz(0.8), True),
        (sp.newmark(beta=0.3025, gamma=0.6), True),
        (sp.radau(3), True),
        (sp.generalized_alpha(1.0), False),
        (sp.hht(1.0), False),
        (sp.newmark(), False),
        (sp.trapezoidal(), False),
        (sp.gauss(2), False),
    ],
)
def test_schemes_are_guarded_if_they_damp_a_linear_vibration(scheme, guarded):
    """One long step of an undamped pendulum that hardly swings: it loses energy, or none."""
    assert scheme.guarded == guarded
    robot = sp.Robot(
        sp.Body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), joint=sp.Prismatic("x", stiffness=1.0)),
        gravity=(0, 0, 0),
    )
    model = robot.build()
    states = rolled(model, sp.initial_state(model, q=[1.0]), scheme)
    lost = 1 - float(states.q[-1, 0] ** 2 + states.v[-1, 0] ** 2)
    assert (lost > 0.1) if guarded else (abs(lost) < 1e-9)


@partial(jit, static_argnames=("scheme",))
def rolled(model, state, scheme):
    return sp.rollout(model, state, scheme, 3.0, 40).states


def test_a_robot_at_rest_is_not_split():
    robot = sp.Robot(arm(), gravity=(9.81, 0, 0))
    result = sp.simulate(robot, 0.5, dt=0.01, initial=sp.equilibrium(robot))
    assert result.ok
    assert result.substeps.max() == 1


def test_ledger_counts_from_the_lowest_potential_energy():
    model = sp.Robot(arm(), gravity=(9.81, 0, 0)).build()
    begun = sp.initial_state(model, q=np.array([1.0, 0.0, 0.0]))
    ledger = open_budget(model, begun)
    lower = sp.initial_state(model)
    ledger, gain = audit(model, ledger, begun, later(lower), 0.04)
    free = float(ledger.start - ledger.lowest)
    assert gain == 0
    assert free == pytest.approx(float(ledger.start - open_budget(model, lower).start))
    fast = sp.initial_state(model, v=np.array([1.0, 0.0, 0.0]))
    kinetic = float(open_budget(model, fast).start - ledger.lowest)
    for share, expected in ((1.03, True), (1.05, False)):
        speed = np.sqrt(share * free / kinetic)
        state = sp.initial_state(model, v=np.array([speed, 0.0, 0.0]))
        gain = float(audit(model, ledger, begun, later(state), 0.04)[1])
        assert gain == pytest.approx(0.0 if expected else share - 1, abs=1e-6)


def later(state):
    """The state after a second in which the acceleration jumped: a step that follows no motion."""
    return dataclasses.replace(state, t=np.asarray(1.0), a=np.full_like(state.v, 1e6))


def test_steps_that_follow_their_motion_are_not_split_but_what_they_gain_is_told():
    model = sp.Robot(arm(), gravity=(9.81, 0, 0)).build()
    begun = sp.initial_state(model)
    fast = sp.initial_state(model, v=np.ones(3), t=0.01)
    ledger = open_budget(model, begun)
    unseen, gain = audit(model, ledger, begun, fast, 0.04, 1)
    assert gain == unseen.gain == 0
    seen, gain = audit(model, ledger, begun, fast, 0.04, 16)
    assert gain == 0
    assert seen.gain > 0.04
    assert audit(model, ledger, begun, later(fast), 0.04, 1)[1] > 0.04
    turning = sp.initial_state(model, v=np.full(3, 1e3), t=0.01)  # no acceleration, but far round
    assert audit(model, ledger, begun, turning, 0.04, 1)[1] > 0.04


def moving(t):
    return jnp.array([jnp.sin(t), 0.0, 0.0]), jnp.zeros(3)


def still(X, t):
    return jnp.zeros((X.shape[0], 6))


@pytest.mark.parametrize(
    "robot",
    [
        sp.Robot(arm(), sp.Wrench("pull", on="arm", force=(0, 1, 0), follower=True)),
        sp.Robot(arm(), sp.Wrench("pull", on="arm", force=(0, 1, 0), law=sp.ramp(0.0, 1.0))),
        sp.Robot(arm(), sp.Tendon("pull", "arm", (1e-3, 0), pull=sp.ramp(0.0, 1.0), stiffness=1.0)),
        sp.Robot(arm(), sp.ActiveStress("muscle", on="arm", stress=still)),
        sp.Robot(arm(joint=sp.Driven(moving))),
    ],
)
def test_robots_that_something_works_on_are_not_judged(robot):
    model = robot.build()
    assert not is_passive(model)
    assert open_budget(model, sp.initial_state(model)) is None


def test_the_ledger_follows_the_work_of_imposed_coordinates():
    """Steps that resolve the motion: the energy is what the motor has put in, to the rule's order."""
    robot = sp.Robot(
        arm(joint=sp.Revolute("z")),
        sp.PrescribedCoordinate(
            "motor", on="arm", value=sp.Spline([0.0, 0.1, 0.2, 0.4], [0.0, 0.2, 0.6, 0.3])
        ),
        gravity=(0, 0, 0),
    )
    result = sp.simulate(robot, 0.4, dt=5e-4)
    energy = result.energies.total
    assert energy[-1] > 1e-3
    assert float(result.cursor.ledger.start) == pytest.approx(energy[-1], abs=0.02 * energy.max())
    assert result.substeps.max() == 1


def test_parts_of_a_step_do_not_feed_on_themselves():
    """A moment spins up a light leg that turns freely: a hundred radians in a step, which is split.

    Parts that were still long found ends of faster and faster motions, until none was short enough.
    """
    model = random_robot(11).build()
    result = sp.simulate(model, 0.02, dt=0.01)
    assert result.status.name == "DONE"
    # With steps of 10 microseconds it is 1.1e4 rad/s; it was 1e7 where Newton's method gave up.
    assert np.abs(result.v).max() < 1.1e4
