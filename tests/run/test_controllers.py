"""Controllers: compiled or called between steps, their rates, memories, inputs and failures."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp

GOAL, PROPORTIONAL, INTEGRAL = 2.0, 0.05, 0.2


def see(sensors):
    """Speed of the wheel."""
    return sensors.joint("wheel").velocity[0]


def pi_control(t, speed, total):
    error = GOAL - speed
    total = total + 0.01 * error
    return {"torque": PROPORTIONAL * error + INTEGRAL * total}, total


def wheel(*controllers, inertia=0.01, drag=0.02):
    body = sp.Body("wheel", mass=1.0, inertia=(inertia,) * 3, joint=sp.Revolute("z", damping=drag))
    motor = sp.Motor("motor", on="wheel", torque=sp.Input("torque"))
    return sp.Robot(body, motor, *controllers, gravity=(0.0, 0.0, 0.0))


def controller(act=pi_control, memory=0.0, **options):
    return sp.Controller("pi", act, see, memory=memory, **{"period": 0.01, **options})


def test_compiled_and_plain_python_controllers_agree_and_reach_their_goal():
    compiled = sp.simulate(wheel(controller()), 8.0, dt=0.01)
    plain = sp.simulate(wheel(controller(compiled=False)), 8.0, dt=0.01)
    assert compiled.ok
    assert plain.ok
    np.testing.assert_allclose(compiled.v[-1, 0], GOAL, rtol=1e-3)
    np.testing.assert_allclose(plain.t, compiled.t, atol=1e-12)
    np.testing.assert_allclose(plain.v, compiled.v, atol=1e-10)
    np.testing.assert_allclose(plain.input("torque"), compiled.input("torque"), atol=1e-10)
    np.testing.assert_allclose(
        compiled.motor("motor").torque[1:], compiled.input("torque")[1:], atol=1e-12
    )
    # In the end the torque holds against friction.
    np.testing.assert_allclose(compiled.input("torque")[-1], 0.02 * GOAL, rtol=1e-2)


def test_inputs_are_held_for_a_period_that_is_no_multiple_of_the_step():
    """A sampled proportional control of a wheel without friction: ω ← ω + (h k / I) (goal - ω)."""

    def act(t, speed, memory):
        return {"torque": 0.05 * (GOAL - speed)}, memory

    held = sp.simulate(wheel(controller(act, memory=None, period=0.025), drag=0.0), 0.5, dt=0.01)
    ends = np.arange(0, 0.5, 0.025)
    gain, speed, expected = 0.025 * 0.05 / 0.01, 0.0, {}
    for t in ends:
        expected[round(float(t), 6)] = speed
        speed += gain * (GOAL - speed)
    both = [t for t in expected if round(t / 0.01, 6).is_integer()]
    assert len(both) == 10
    for t in both:
        found = held.v[np.argmin(np.abs(held.t - t)), 0]
        np.testing.assert_allclose(found, expected[t], rtol=1e-6)


def test_error_controlled_steps_stop_at_calls():
    found = sp.simulate(wheel(controller()), 1.0, accuracy=1e-4)
    fixed = sp.simulate(wheel(controller()), 1.0, dt=1e-3)
    assert found.ok
    np.testing.assert_allclose(found.v[-1], fixed.v[-1], rtol=1e-5)


@pytest.mark.parametrize("compiled", [True, False])
def test_resumed_runs_equal_uninterrupted_ones(compiled):
    whole = sp.simulate(wheel(controller(compiled=compiled)), 0.2, dt=0.01)
    half = sp.simulate(wheel(controller(compiled=compiled)), 0.1, dt=0.01)
    joined = sp.resume(half, 0.1)
    np.testing.assert_allclose(joined.t, whole.t, atol=1e-12)
    np.testing.assert_allclose(joined.v, whole.v, atol=1e-12)


def breaks(t, speed, memory):
    return {"torque": jnp.where(t > 0.05, jnp.nan, 1.0)}, memory


def raises(t, speed, memory):
    if t > 0.05:
        raise ValueError("no signal")
    return {"torque": 1.0}, memory


@pytest.mark.parametrize(
    ("act", "compiled", "match"),
    [(breaks, True, "finite"), (breaks, False, "finite"), (raises, False, "no signal")],
)
def test_a_controller_that_breaks_ends_the_run_and_keeps_what_was_before(act, compiled, match):
    robot = wheel(controller(act, memory=None, compiled=compiled))
    with pytest.raises(sp.SolveError, match=match) as raised:
        sp.simulate(robot, 0.2, dt=0.01)
    found = raised.value.result
    assert found.status == sp.Status.BAD_INPUT
    assert match in found.message
    assert 0.04 < found.t[-1] < 0.08
    assert np.all(np.isfinite(found.v))


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ({"torque": np.zeros(2)}, r"pi: act: input 'torque': got \(2,\); need .* \(\)"),
        ({"speed": 1.0}, "pi: act: input: got 'speed'; need one of: torque"),
        (1.0, r"pi: act: got .*; need .* -> \(inputs, memory\)"),
    ],
)
def test_answers_that_cannot_be_used_are_named(answer, match):
    def act(t, seen, memory):
        return (answer, memory) if isinstance(answer, dict) else answer

    with pytest.raises(sp.DescriptionError, match=match):
        sp.simulate(wheel(controller(act, memory=None)), 0.1, dt=0.01)
    robot = wheel(controller(act, memory=None, compiled=False))
    found = sp.simulate(robot, 0.1, dt=0.01, throw=False)
    assert found.status == sp.Status.BAD_INPUT
    assert "pi" in found.message


def test_sensors_see_what_results_report():
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), material=sp.Material(E=1e8, density=1e3),
                 basis=2)  # fmt: skip
    tendon = sp.Tendon("pull", on="arm", offset=(4e-3, 0.0), tension=sp.Input("tension", 1.0))
    spring = sp.Spring("rubber", on="arm", to_position=(0.3, 0.0, 0.1), stiffness=1.0)

    def sense(sensors):
        with pytest.raises(sp.ArgumentError, match="input: got 'length'; need one of: tension"):
            sensors.input("length")
        return {
            "tip": sensors.pose("arm").position,
            "middle": sensors.pose("arm", 0.5).position,
            "twist": sensors.twist("arm"),
            "strain": sensors.strain("arm", (0.2, 0.6)),
            "tendon": jnp.stack(sensors.tendon("pull")),
            "spring": jnp.stack(sensors.spring("rubber")),
            "input": sensors.input("tension"),
        }

    seen = []

    def act(t, now, memory):
        seen.append((t, now))
        return {"tension": 1.0 + t}, memory

    robot = sp.Robot(
        rod, tendon, spring, sp.Controller("watch", act, sense, period=0.05, compiled=False)
    )
    found = sp.simulate(robot, 0.2, dt=0.01)
    assert len(seen) == 4
    t, last = seen[-1]
    row = np.argmin(np.abs(found.t - t))
    np.testing.assert_allclose(last["tip"], found.position("arm")[row], atol=1e-12)
    np.testing.assert_allclose(last["middle"], found.shape("arm", 3).position[row, 1], atol=1e-9)
    np.testing.assert_allclose(last["tendon"], [x[row] for x in found.tendon("pull")], atol=1e-12)
    np.testing.assert_allclose(last["spring"], [x[row] for x in found.spring("rubber")], atol=1e-12)
    np.testing.assert_allclose(last["input"], 1.0 + 0.1, atol=1e-12)
    assert last["strain"].shape == (2, 6)
