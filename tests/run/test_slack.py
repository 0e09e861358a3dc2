"""Tendons of imposed length go slack instead of pushing, and become taut again."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.run.start import start_state

LENGTH, OFFSET = 0.3, 4e-3
SOFT = sp.Material(E=1e7, density=1000.0, damping=sp.StiffnessDamping(2e-3))
ROD = sp.Rod(
    "arm", length=LENGTH, section=sp.Circle(5e-3), material=SOFT, strains="planar", basis=3
)


def arm(*tendons, gravity=(0.0, 0.0, 0.0)):
    return sp.Robot(ROD, *tendons, gravity=gravity)


def wire(**options):
    return sp.Tendon("wire", on="arm", offset=(OFFSET, 0.0), **options)


def let_go(t):
    """Pulled for a tenth of a second, then let go faster than the rod can follow."""
    return 2e-3 * jnp.where(
        t < 0.1, jnp.sin(5 * jnp.pi * t) ** 2, jnp.clip(1 - (t - 0.1) / 0.02, 0, 1)
    )


@pytest.mark.parametrize("pull", [-1e-3, 0.0, 1e-3])
@pytest.mark.parametrize("weight", [-1.0, 1.0])
def test_at_rest_it_pulls_as_a_rod_would_or_is_not_there(pull, weight):
    gravity = (0.0, weight, 0.0)
    held = sp.equilibrium(arm(wire(pull=pull), gravity=gravity))
    rod = sp.equilibrium(arm(wire(pull=pull, push=True), gravity=gravity))
    free = sp.equilibrium(arm(gravity=gravity))
    taut = rod.multipliers[0] > 0
    np.testing.assert_allclose(held.q, (rod if taut else free).q, atol=1e-10)
    np.testing.assert_allclose(held.multipliers, rod.multipliers if taut else 0.0, atol=1e-9)


def test_two_antagonists_are_never_both_slack_nor_push():
    """Both a little too long, in the rod's weight one of them holds it."""
    both = wire(pull=-1e-3), sp.Tendon("other", on="arm", offset=(-OFFSET, 0.0), pull=-1e-4)
    found = sp.equilibrium(arm(*both, gravity=(0.0, 5.0, 0.0)))
    assert found.multipliers[0] == pytest.approx(0.0, abs=1e-12)
    assert found.multipliers[1] > 0.1


def test_a_tendon_let_go_is_slack_until_the_rod_comes_back():
    run = sp.simulate(arm(wire(pull=let_go)), 0.6, dt=1e-3)
    length, tension, _ = run.tendon("wire")
    too_long = length - (LENGTH - np.asarray(let_go(run.t)))
    assert tension.min() >= -1e-9
    assert too_long.max() < 1e-9
    assert np.abs(tension * too_long).max() < 1e-12
    slack = too_long < -1e-6
    assert not slack[run.t < 0.1].any()
    assert slack[(run.t > 0.13) & (run.t < 0.2)].all()
    assert np.diff(slack.astype(int)).min() == -1  # it was caught again
    # The motion is the limit of stiff elastic tendons.
    stiff = sp.simulate(arm(wire(pull=let_go, stiffness=1e6, damping=3.0)), 0.6, dt=2.5e-4)
    tip, near = (r.position("arm")[:, 1] for r in (run, stiff))
    assert np.abs(tip - near[::4]).max() < 1e-3
    assert np.abs(tip).max() > 0.05


def test_a_run_stopped_while_slack_goes_on_as_if_it_had_not(tmp_path):
    robot = arm(wire(pull=let_go))
    whole = sp.simulate(robot, 0.3, dt=1e-3)
    sp.simulate(robot, 0.3, dt=1e-3, store=tmp_path / "run", max_steps=150, throw=False)
    resumed = sp.simulate(robot, 0.3, dt=1e-3, store=tmp_path / "run", resume=True)
    np.testing.assert_allclose(resumed.q, whole.q, atol=1e-12)


def test_a_run_begins_unloaded_where_imposed_lengths_begin():
    """Water around the arm does not bend it before the run, as its weight does not."""
    dry = arm(wire(pull=1e-3), gravity=(0.0, -9.81, 0.0))
    wet = dry.adding(sp.Buoyancy("water", on="arm"))
    found = [start_state(robot.build(), None).q for robot in (dry, wet)]
    assert np.abs(found[0]).max() > 0.1
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-7)


def test_a_run_that_goes_on_from_another_knows_its_tensions():
    before = sp.simulate(arm(wire(pull=1e-3)), 0.01, dt=1e-3)
    state = start_state(before.model, before)
    assert state.multipliers is not None
    np.testing.assert_array_equal(state.multipliers, before.multipliers[-1])
