"""What runs tell of their errors in space and time, and how they are refined; against other solutions."""

import numpy as np
import pytest

import supple as sp
from supple.bench import rods
from supple.results.run_error import RunError
from supple.robots.cantilever import soft_cantilever

DURATION = 0.5
LENGTH = 10.0


def released(accuracy, **options):
    return sp.release(soft_cantilever(**options), "pull", DURATION, accuracy=accuracy)


def got(result):
    return rods.tip_error(result, "soft-cantilever", LENGTH)


def test_a_run_tells_its_error_and_is_refined_until_it_is_met():
    """Against finite elements."""
    coarse = released(1e-2)
    assert coarse.status == sp.Status.DONE
    assert coarse.refinements == 0
    assert 0.3 < coarse.error.total / got(coarse) < 10
    assert "error" in repr(coarse)
    fine = released(1e-4)
    assert fine.refinements > 0
    assert fine.model.nv > released_modes(1e-4)
    assert got(fine) <= 1e-4
    assert fine.error.space <= 1e-4
    assert fine.error.total == fine.error.space + fine.error.time


def released_modes(accuracy):
    return soft_cantilever().build(accuracy).nv


def test_what_cannot_be_resolved_is_told(monkeypatch):
    monkeypatch.setattr("supple.run.resolved_run.MOST_LEVELS", 0)
    with pytest.warns(RuntimeWarning, match=r"about .* in space, asked for 0.0001"):
        found = released(1e-4)
    assert found.status == sp.Status.NOT_RESOLVED
    assert found.ok
    assert found.error.space > 1e-4


def test_given_modes_are_kept_and_their_error_is_found_when_it_is_asked_for():
    found = released(1e-2, basis=5)
    assert found.known_error is None
    assert found.model.nv == 5
    assert 0.3 < found.error.total / got(found) < 10
    assert found.known_error is found.error


def test_fixed_steps_are_compared_with_longer_ones():
    """A pendulum by the trapezoidal rule, against one of a hundredth of the step."""
    body = sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
    robot = sp.Robot(body, sp.Marker("end", parent="bob", position=(0.5, 0.0, 0.0)))
    coarse, fine = (sp.simulate(robot, 1.0, dt=dt) for dt in (0.01, 1e-4))
    apart = np.linalg.norm(coarse.position("end") - fine.sample(coarse.t).position("end"), axis=1)
    size = 1.0  # of a robot without rods or offsets
    assert coarse.error.space == 0.0
    assert 0.5 < coarse.error.time / (apart.max() / size) < 2


def test_errors_are_plain_data():
    error = RunError(1e-4, float("nan"))
    assert error.as_dict() == {"space": 1e-4, "time": None, "total": None}
    assert RunError.from_dict(error.as_dict()).space == 1e-4
    assert error.known == 1e-4
    assert np.isnan(sp.simulate(soft_cantilever().build(), 0.01, dt=0.01).error.space)


def test_a_refined_run_on_disk_is_resumed_on_its_own_rods(tmp_path):
    place = tmp_path / "run"
    robot = soft_cantilever()
    held = sp.equilibrium(robot.build(1e-4))
    options = {"accuracy": 1e-4, "initial": held, "store": place}
    whole = sp.simulate(robot.removing("pull"), 0.5, **options)
    assert whole.refinements > 0
    again = sp.simulate(robot.removing("pull"), 0.5, resume=True, **options)
    assert again.model.nv == whole.model.nv
    np.testing.assert_array_equal(again.q, whole.q)
