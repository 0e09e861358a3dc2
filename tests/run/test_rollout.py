"""Rollouts and single steps begin as runs do, follow their inputs, and tell what is observed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.compile import jit
from supple.solve.newton import NewtonSettings
from tests.studies.robots import arm

CLOSE = sp.generalized_alpha(0.8, NewtonSettings(tolerance=1e-12))


@pytest.fixture(scope="module")
def model():
    return arm().build()


def tip(seen):
    return seen.position("arm")


def test_a_rollout_is_a_run_at_fixed_steps(model):
    found = sp.rollout(model, scheme=CLOSE, dt=0.01, steps=20, observe={"tip": tip})
    run = sp.simulate(model, 0.2, dt=0.01, scheme=CLOSE)
    np.testing.assert_allclose(found.states.q, run.q[1:], atol=1e-12)
    np.testing.assert_allclose(found.observations["tip"], run.position("arm")[1:], atol=1e-12)
    np.testing.assert_array_equal(found.final.q, found.states.q[-1])
    assert found.ok
    assert str(found) == "Rollout(DONE; 20 steps)"
    bad = found._replace(
        status=jnp.array([1, 1, int(sp.Status.NOT_CONVERGED)]), completed=jnp.array([20, 20, 7])
    )
    assert str(bad) == "Rollout(2 DONE, 1 NOT_CONVERGED; 7 … 20 steps)"
    np.testing.assert_array_equal(bad.ok, [True, True, False])


def test_loops_drawn_open_are_closed_at_the_start():
    """The catalogue's RFRFR, whose rods stand apart as drawn."""
    from supple.robots.rfrfr import rfrfr

    model = rfrfr().build()
    found = sp.rollout(model, dt=0.01, steps=3)
    assert int(found.status) == sp.Status.DONE
    run = sp.simulate(model, 0.03, dt=0.01)
    np.testing.assert_allclose(found.states.q, run.q[1:], atol=1e-9)
    with pytest.raises(sp.ArgumentError, match=r"'tip' is open by .* m; need a closed one"):
        sp.rollout(model, sp.initial_state(model), dt=0.01, steps=3)


@pytest.mark.slow
def test_a_traced_state_with_open_loops_has_a_status_and_traced_robots_are_closed():
    from supple.robots.rfrfr import rfrfr

    model = rfrfr().build()
    open_state = sp.initial_state(model)
    status = jit(lambda q: sp.rollout(model, q, dt=0.01, steps=1).status)(open_state.q)
    assert int(status) == sp.Status.OPEN

    def start(distance):
        return sp.rollout(rfrfr(distance=distance), dt=0.01, steps=1).final.q

    held = sp.assemble(rfrfr(distance=0.41))
    np.testing.assert_allclose(jit(start)(0.41), held.q, atol=1e-8)


def test_steps_go_on_from_each_other(model):
    rows = np.linspace(0.0, 2.0, 4)
    found = sp.rollout(model, dt=0.01, steps=4, inputs={"pull": rows})
    now = None
    for row in rows:
        now = sp.step(model, now, {"pull": row}, 0.01)
        assert int(now.status) == sp.Status.DONE
    np.testing.assert_allclose(now.state.q, found.final.q, atol=1e-13)
    assert int(now.completed) == 4


def test_inputs_by_name_in_rows_and_by_policy(model):
    rows = np.linspace(0.0, 2.0, 20)

    def ends(inputs):
        return sp.rollout(model, dt=0.01, steps=20, inputs=inputs).final.q

    by_name = ends({"pull": rows})
    np.testing.assert_array_equal(ends(rows[:, None]), by_name)
    led = ends(lambda t, seen: {"pull": t / 0.19 * 2.0})  # as the rows, by the time
    np.testing.assert_allclose(led, by_name, atol=1e-12)
    np.testing.assert_array_equal(ends({"pull": 1.5}), ends([1.5]))
    steered = ends(lambda t, seen: {"pull": jnp.maximum(0.0, -10.0 * seen.position("arm")[1])})
    assert not np.allclose(steered, by_name)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"inputs": {"pul": 1.0}}, "got 'pul'; need one of: pull"),
        ({"inputs": {"pull": np.zeros(3)}}, r"pull: got shape \(3,\); need \(2,\), one for each"),
        ({"inputs": np.zeros((2, 3))}, r"all inputs in a row: got shape \(2, 3\)"),
        ({"inputs": {"pull": "much"}}, "got 'much'; need numbers"),
        ({"inputs": lambda t, seen: np.zeros(3)}, "the policy: got shape"),
        ({"dt": -0.1}, "dt: got -0.1"),
        ({"steps": 0}, "steps: got 0"),
        ({"dt": None}, "dt, steps: got None"),
        ({"state": np.zeros(7)}, "got shape"),
    ],
)
def test_what_cannot_be_rolled_out(model, options, match):
    with pytest.raises(sp.ArgumentError, match=match):
        sp.rollout(model, **({"dt": 0.01, "steps": 2} | options))


def test_controllers_that_are_called_in_steps_are_refused():
    controller = sp.Controller(
        "hold",
        lambda t, seen, memory: ({"pull": 1.0}, memory),
        sense=lambda seen: seen.q,
        period=0.01,
    )
    with pytest.raises(sp.ArgumentError, match=r"controllers .*\(hold\); need inputs=policy"):
        sp.rollout(arm().adding(controller), dt=0.01, steps=2)


def test_long_runs_have_the_gradients_of_short_ones(model):
    """Stretches that are computed again: 17 steps are 4 stretches of 5, three steps too many."""

    def end(pull, steps):
        return sp.rollout(model, dt=0.01, steps=steps, inputs={"pull": pull}).final.q[0]

    forward = jax.jit(jax.jacfwd(lambda p: end(p, 17)))(1.0)
    reverse = jax.jit(jax.grad(lambda p: end(p, 17)))(1.0)
    np.testing.assert_allclose(reverse, forward, rtol=1e-10)
    ends = [jit(lambda p: end(p, 17))(1.0 + h) for h in (1e-4, -1e-4)]
    np.testing.assert_allclose(reverse, (ends[0] - ends[1]) / 2e-4, rtol=1e-6)
