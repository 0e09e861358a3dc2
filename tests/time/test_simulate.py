"""Runs: step control, interruption, continuation, failure, output."""

import json

import numpy as np
import pytest

import supple as sp
from supple.run import simulate as runner

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
    gap = loose.sampled(times).position("arm") - swing.sampled(times).position("arm")
    assert len(loose) < len(swing)
    assert np.linalg.norm(gap, axis=1).max() < 1e-3 * 0.5


def test_energy_is_conserved(swing):
    energy = swing.energies
    assert np.ptp(energy.total) < 1e-5 * np.ptp(energy.potential)


def test_interrupted_run_continues_to_the_same_end(pendulum, monkeypatch):
    options = {"dt": 0.002, "scheme": sp.generalized_alpha(0.8)}
    whole = sp.simulate(pendulum, 0.4, **options)
    monkeypatch.setattr(runner, "CHUNK", 64)

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


def test_failed_run_says_where_and_why_and_keeps_the_rest(pendulum):
    def blows_up(t):
        import jax.numpy as jnp

        return jnp.where(t > 0.05, jnp.nan, 1.0)

    robot = sp.Robot(
        sp.Rod("arm", 0.5, sp.Circle(0.01), SOFT, strains=("ky",), basis=2),
        sp.Wrench("bad", on="arm", force=(0, 0, 0.1), law=blows_up),
    )
    result = sp.simulate(robot, 0.1, dt=0.01)
    assert result.status == sp.Status.NOT_CONVERGED
    assert result.t[-1] <= 0.05 + 1e-12
    assert len(result) >= 5
    assert np.all(np.isfinite(result.q))
    assert "t = 0.05" in result.message
    assert "'arm'" in result.message
    with pytest.raises(sp.SolveError, match="did not converge"):
        sp.simulate(robot, 0.1, dt=0.01, throw=True)


def test_sampling_agrees_with_the_solver_between_steps(pendulum, swing):
    fine = sp.simulate(pendulum, 0.5, dt=0.0025, scheme=sp.gauss(3))
    again = swing.sampled(fine.t)
    assert np.abs(again.position("arm") - fine.position("arm")).max() < 5e-6
    assert np.abs(again.v - fine.v).max() < 1e-2 * np.abs(fine.v).max()


def test_output_spacing(pendulum):
    result = sp.simulate(pendulum, 0.5, accuracy=1e-3, output=0.1)
    np.testing.assert_allclose(result.t, [0, 0.1, 0.2, 0.3, 0.4, 0.5])


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
    ],
)
def test_bad_settings_are_named(pendulum, options, message):
    with pytest.raises(sp.StateError, match=message):
        sp.simulate(pendulum, **options)


def test_bad_states_are_named(pendulum):
    with pytest.raises(sp.StateError, match=r"q: got shape \(2,\); need \(4,\)"):
        sp.initial_state(pendulum, q=np.zeros(2))
    with pytest.raises(sp.StateError, match=r"v\[1\]: got nan"):
        sp.initial_state(pendulum, v=np.array([0, np.nan, 0, 0]))


def test_state_is_carried_when_an_object_is_grasped_and_released(pendulum, swing):
    arm = sp.Rod(
        "arm", 0.5, sp.Circle(0.01), SOFT, joint=sp.Revolute(axis="y"), strains=("ky",), basis=3
    )
    loaded = sp.Robot(arm).adding(
        sp.Body("ball", parent="arm", mass=0.1, inertia=(1e-4,) * 3, joint=sp.Spherical())
    )
    model = loaded.build()
    state = sp.carry_over(swing.final, swing.model, model)
    carried = sp.simulate(model, 0.05, start=state, dt=0.005)
    assert carried.ok
    np.testing.assert_allclose(carried.position("arm")[0], swing.position("arm")[-1], atol=1e-12)
    back = sp.carry_over(carried.final, model, pendulum)
    assert float(back.t) == pytest.approx(0.55)
    np.testing.assert_allclose(
        back.q, carried.q[-1][np.r_[model.topology.joint_slots[0].q, model.topology.rod_slots[0].q]]
    )
