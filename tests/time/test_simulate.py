"""Runs: step control, interruption, continuation, failure, output."""

import json

import numpy as np
import pytest

import supple as sp
from supple.run import loop as runner

SOFT = sp.Material(E=1e6, density=1000.0)


@pytest.fixture(scope="module")
def pendulum():
    """A soft rod on a hinge, let go from the horizontal."""
    return sp.Robot(
        sp.Rod(
            "arm", 0.5, sp.Circle(0.01), SOFT, joint=sp.Revolute(axis="y"), strains=("ky",), basis=3
        )
    ).build()


@pytest.fixture(scope="module")
def swing(pendulum):
    return sp.simulate(pendulum, 0.5, accuracy=1e-5)


def test_error_control_keeps_the_promise(pendulum, swing):
    loose = sp.simulate(pendulum, 0.5, accuracy=1e-3)
    times = np.linspace(0, 0.5, 41)
    gap = loose.sample(times).position("arm") - swing.sample(times).position("arm")
    assert len(loose) < len(swing)
    assert np.linalg.norm(gap, axis=1).max() < 1e-3 * 0.5


def test_energy_is_conserved(swing):
    energy = swing.energies
    assert np.ptp(energy.total) < 1e-5 * np.ptp(energy.potential)


def test_interrupted_run_continues_to_the_same_end(pendulum, monkeypatch):
    options = {"dt": 0.002, "scheme": sp.generalized_alpha(0.8)}
    # Programs of other sizes place their arrays elsewhere, and sums may round otherwise.
    monkeypatch.setattr(runner, "CHUNK", 64)
    whole = sp.simulate(pendulum, 0.4, **options)
    monkeypatch.setattr(runner, "PERIOD", 0.0)

    def stop_early(t, count):
        if t > 0.1:
            raise KeyboardInterrupt

    part = sp.simulate(pendulum, 0.4, progress=stop_early, **options)
    assert part.status == sp.Status.INTERRUPTED
    assert 0.1 < part.t[-1] < 0.4
    joined = sp.resume(part)
    assert joined.ok
    np.testing.assert_array_equal(joined.t, whole.t)
    np.testing.assert_array_equal(joined.q, whole.q)


def test_run_that_ended_between_grid_instants_is_resumed_on_the_grid(pendulum):
    part = sp.simulate(pendulum, 0.025, dt=0.01)
    np.testing.assert_allclose(part.t, [0, 0.01, 0.02, 0.025])
    longer = sp.resume(part, 0.02)
    np.testing.assert_allclose(longer.t, [0, 0.01, 0.02, 0.025, 0.03, 0.04, 0.045])
    assert longer.ok
    assert np.all(longer.substeps[1:] == 1)
    further = sp.resume(longer, 0.015)
    np.testing.assert_allclose(further.t[-3:], [0.045, 0.05, 0.06])


def test_whole_run_and_resumed_parts_agree_on_the_grid(pendulum):
    whole = sp.simulate(pendulum, 0.06, dt=0.01)
    parts = sp.resume(sp.simulate(pendulum, 0.03, dt=0.01), 0.03)
    np.testing.assert_array_equal(parts.t, whole.t)
    np.testing.assert_array_equal(parts.q, whole.q)


class Clock:
    """A clock for the runner on which every look at it costs ``seconds`` more."""

    def __init__(self, seconds):
        self.seconds, self.now = seconds, 0.0

    def perf_counter(self):
        self.now += self.seconds
        return self.now


@pytest.mark.parametrize(("seconds", "most"), [(0.3, 8), (1e-6, 512)])
def test_progress_follows_the_clock(pendulum, monkeypatch, seconds, most):
    """Slow runs report after few steps, fast ones only at the end; both compute the same."""
    options = {"dt": 0.002, "scheme": sp.generalized_alpha(0.8)}
    whole = sp.simulate(pendulum, 1.0, **options)
    monkeypatch.setattr(runner, "clock", Clock(seconds))
    reports = []
    watched = sp.simulate(
        pendulum, 1.0, progress=lambda t, count: reports.append((t, count)), **options
    )
    np.testing.assert_array_equal(watched.q, whole.q)
    assert reports[-1] == (1.0, 500)
    counts = np.array([0] + [count for _, count in reports])
    assert np.diff(counts).max() <= most
    assert len(reports) == 1 or seconds > 0.1


def test_interrupt_within_a_chunk_drops_only_that_chunk(pendulum, monkeypatch):
    """Ctrl-C arrives while the compiled loop runs: what is kept and the cursor belong together."""
    options = {"dt": 0.002, "scheme": sp.generalized_alpha(0.8)}
    # Programs of other sizes place their arrays elsewhere, and sums may round otherwise.
    monkeypatch.setattr(runner, "CHUNK", 64)
    whole = sp.simulate(pendulum, 0.4, **options)
    calls = []

    class Interrupting:
        def __int__(self):
            raise KeyboardInterrupt

    def advance(*arguments):
        cursor, saved, found = advance_in_full(*arguments)
        calls.append(found)
        return cursor, saved, Interrupting() if len(calls) == 2 else found

    advance_in_full = runner.advance
    monkeypatch.setattr(runner, "advance", advance)
    part = sp.simulate(pendulum, 0.4, **options)
    assert part.status == sp.Status.INTERRUPTED
    assert len(part) == 65
    joined = sp.resume(part)
    np.testing.assert_array_equal(joined.t, whole.t)
    np.testing.assert_array_equal(joined.q, whole.q)


def test_failed_run_says_where_and_why_and_keeps_the_rest(pendulum):
    def blows_up(t):
        import jax.numpy as jnp

        return jnp.where(t > 0.05, jnp.nan, 1.0)

    robot = sp.Robot(
        sp.Rod("arm", 0.5, sp.Circle(0.01), SOFT, strains=("ky",), basis=2),
        sp.Wrench("bad", on="arm", force=(0, 0, 0.1), law=blows_up),
    )
    result = sp.simulate(robot, 0.1, dt=0.01, throw=False)
    assert result.status == sp.Status.BAD_INPUT
    assert not result.status.ok
    assert result.t[-1] <= 0.05 + 1e-12
    assert len(result) >= 5
    assert np.all(np.isfinite(result.q))
    assert "t = 0.05" in result.message
    assert "load 'bad' gives nan" in result.message
    assert result.message in str(result)
    with pytest.raises(sp.SolveError, match="load 'bad'") as raised:
        sp.simulate(robot, 0.1, dt=0.01)
    np.testing.assert_array_equal(raised.value.result.q, result.q)
    with pytest.raises(sp.SolveError, match="load 'bad'") as raised:
        sp.resume(result)
    assert len(raised.value.result) == len(result)
    late = sp.simulate(robot, 0.1, dt=0.01, t_eval=[0.08, 0.1], throw=False)
    assert late.status == sp.Status.BAD_INPUT
    np.testing.assert_array_equal(late.t, result.t[-1:])


def test_a_motion_without_inertia_is_told():
    """A point mass on a ball joint, whose turn about its arm has none."""
    point = sp.Body("bob", mass=1.0, com=(0, 0, -0.1), joint=sp.Spherical())
    result = sp.simulate(sp.Robot(point), 0.1, dt=0.01, throw=False)
    assert result.status == sp.Status.NOT_CONVERGED
    assert "joint of 'bob', coordinate 2 moves nothing that has inertia" in result.message


def test_sampling_agrees_with_the_solver_between_steps(pendulum, swing):
    fine = sp.simulate(pendulum, 0.5, dt=0.0025, scheme=sp.gauss(3))
    again = swing.sample(fine.t)
    assert np.abs(again.position("arm") - fine.position("arm")).max() < 5e-6
    assert np.abs(again.v - fine.v).max() < 1e-2 * np.abs(fine.v).max()


@pytest.mark.parametrize("spacing", [0.1, np.array(0.1)])
def test_output_spacing(pendulum, spacing):
    result = sp.simulate(pendulum, 0.5, accuracy=1e-3, t_eval=spacing)
    np.testing.assert_allclose(result.t, [0, 0.1, 0.2, 0.3, 0.4, 0.5])


@pytest.fixture(scope="module")
def brick():
    """A body in free flight without weight."""
    body = sp.Body("brick", mass=1.0, inertia=(0.1, 0.2, 0.3), joint=sp.Free())
    return sp.Robot(body, gravity=(0, 0, 0)).build()


def test_a_steady_spin_can_be_seen_between_steps(brick):
    """Its steps have no error however long they are, but its instants must tell how far it turned."""
    start = sp.initial_state(brick, v=np.array([0, 0, 100.0, 0, 0, 0]))
    result = sp.simulate(brick, 1.0, initial=start, t_eval=0.01)
    angle = 100.0 * result.t
    turned = result.poses["brick"].rotation[:, :2, 0]
    np.testing.assert_allclose(turned, np.stack([np.cos(angle), np.sin(angle)], 1), atol=1e-9)
    np.testing.assert_allclose(result.v[:, 2], 100.0, rtol=1e-9)
    coarse = sp.simulate(brick, 0.2, initial=start, dt=0.1)
    with pytest.warns(RuntimeWarning, match="turns by 10 rad between two instants"):
        coarse.sample(np.array([0.05]))


def test_quaternions_of_a_start_may_have_any_length_but_zero(brick):
    start = sp.initial_state(brick, q=np.array([3.0, 0, 4.0, 0, 0, 0, 0]))
    np.testing.assert_allclose(start.q[:4], [0.6, 0, 0.8, 0])
    with pytest.raises(
        sp.ArgumentError, match=r"'brick': got the quaternion \[0.0, 0.0, 0.0, 0.0\]"
    ):
        sp.initial_state(brick, q=np.zeros(7))


def test_saved_file_holds_everything_without_pickles(swing, tmp_path):
    path = swing.save(tmp_path / "deep" / "run.npz")
    with np.load(path, allow_pickle=False) as data:
        np.testing.assert_array_equal(data["q"], swing.q)
        assert data["shape/arm"].shape == (len(swing), 41, 3)
        np.testing.assert_allclose(data["position/arm"], swing.position("arm"))
        assert json.loads(str(data["about"]))["status"] == "DONE"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": -1.0}, "duration"),
        ({"duration": 1.0, "dt": 0.0}, "dt"),
        ({"duration": 1.0, "dt": 0.1, "accuracy": 1e-3}, "give one"),
        ({"duration": 1.0, "accuracy": 2.0}, "accuracy"),
        ({"duration": "1"}, "duration"),
        ({"duration": 1.0, "t_eval": 0.0}, "t_eval"),
        ({"duration": 1.0, "t_eval": []}, "t_eval"),
        ({"duration": 1.0, "t_eval": [-0.1, 0.1]}, "t_eval: .* instants .* from 0 on"),
        ({"duration": 1.0, "t_eval": np.nan}, "t_eval"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_settings_are_named(pendulum, options, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.simulate(pendulum, **options)


def test_bad_states_are_named(pendulum):
    with pytest.raises(sp.ArgumentError, match=r"q: got shape \(2,\); need \(4,\)"):
        sp.initial_state(pendulum, q=np.zeros(2))
    with pytest.raises(sp.ArgumentError, match=r"v\[1\]: got nan"):
        sp.initial_state(pendulum, v=np.array([0, np.nan, 0, 0]))


def test_state_is_carried_when_an_object_is_grasped_and_released(pendulum, swing):
    arm = sp.Rod(
        "arm", 0.5, sp.Circle(0.01), SOFT, joint=sp.Revolute(axis="y"), strains=("ky",), basis=3
    )
    loaded = sp.Robot(arm).adding(
        sp.Body("ball", parent="arm", mass=0.1, inertia=(1e-4,) * 3, joint=sp.Spherical())
    )
    model = loaded.build()
    carried = sp.simulate(model, 0.05, initial=swing, dt=0.005)
    assert carried.ok
    assert carried.t[0] == swing.t[-1]
    np.testing.assert_allclose(carried.position("arm")[0], swing.position("arm")[-1], atol=1e-12)
    back = sp.carry_over(carried.final, model, pendulum)
    assert float(back.t) == pytest.approx(0.55)
    np.testing.assert_allclose(
        back.q, carried.q[-1][np.r_[model.topology.joint_slots[0].q, model.topology.rod_slots[0].q]]
    )


def test_an_end_that_round_off_puts_behind_an_instant_takes_no_step_of_its_own(pendulum):
    duration = float(np.nextafter(7 * 0.02, 1.0))
    result = sp.simulate(pendulum, duration, dt=0.02)
    assert result.status == sp.Status.DONE
    assert len(result) == 8
    assert result.t[-1] == duration
