"""Inverse statics: targets are met, derivatives are exact, inputs move least, what cannot be is said."""

from functools import cache

import numpy as np
import pytest

import supple as sp
from supple.lie import so3

OFFSET, STIFFNESS = 6e-3, 400.0


def arm(*values):
    """A rod with two elastic tendons at right angles, a load, and one input that is not free."""
    rubber = sp.Material(E=1e7, density=1000.0)
    laws = [
        sp.Input(name, value)
        for name, value in zip(("side", "up"), values or (4e-3, 4e-3), strict=True)
    ]
    places = ((OFFSET, 0.0), (0.0, OFFSET))
    return sp.Robot(
        sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), material=rubber, basis=2),
        *(
            sp.Tendon(f"tendon {law.name}", on="arm", offset=place, pull=law, stiffness=STIFFNESS)
            for law, place in zip(laws, places, strict=True)
        ),
        sp.Wrench("load", on="arm", force=(0.0, 0.0, -0.1), law=sp.Input("load", 1.0)),
    )


@cache
def model():
    return arm().build()


def test_inputs_are_found_again_from_where_they_lead():
    """Tip positions of known pulls, solved for both pulls: two unknowns, three equations."""
    known = np.array([[6e-3, 5e-3], [8e-3, 4e-3], [9e-3, 6e-3]])
    targets = [sp.equilibrium(arm(*pair)).position("arm") for pair in known]
    found = sp.inverse_statics(model(), "arm", targets, ("side", "up"))
    assert set(found.inputs) == {"side", "up"}
    np.testing.assert_allclose(found.inputs["side"], known[:, 0], atol=1e-9)
    np.testing.assert_allclose(found.inputs["up"], known[:, 1], atol=1e-9)
    assert found.error.max() <= 1e-9
    assert found.iterations.max() < 8
    # The equilibria are read as any others, each with its inputs.
    np.testing.assert_allclose(found.position("arm"), targets, atol=1e-9)
    np.testing.assert_allclose(found.input("side"), known[:, 0], atol=1e-9)
    tendon = found.tendon("tendon side")
    stretched = STIFFNESS * (tendon.length - 0.3 + known[:, 0])
    np.testing.assert_allclose(tendon.tension, stretched, rtol=1e-4)


def test_the_jacobian_is_that_of_the_equilibrium():
    pose = sp.equilibrium(arm()).frame("arm").pose
    found = sp.inverse_statics(model(), "arm", pose, ("up",))
    assert found.iterations[0] == 0
    small = 1e-6
    ends = [sp.equilibrium(arm(4e-3, 4e-3 + sign * small)).frame("arm").pose for sign in (1, -1)]
    turn = so3.log(np.asarray(ends[1].rotation).T @ np.asarray(ends[0].rotation)) / (2 * small)
    moved = (np.asarray(ends[0].position) - np.asarray(ends[1].position)) / (2 * small)
    # Central differences of equilibria that are good to 1e-10.
    np.testing.assert_allclose(found.jacobian[0, :3, 0], turn, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found.jacobian[0, 3:, 0], moved, rtol=1e-5, atol=1e-4)


def test_targets_out_of_reach_are_named_or_approached():
    far = [[0.5, 0.0, 0.0]]
    with pytest.raises(sp.SolveError, match=r"target 0 at .*'arm' comes no nearer than") as raised:
        sp.inverse_statics(model(), "arm", [*far, *far], ("side", "up"))
    assert len(raised.value.result.q) == 1
    near = sp.inverse_statics(model(), "arm", far, ("side", "up"), throw=False)
    assert near.error[0] > 0.1
    assert near.status == sp.InverseStaticsStatus.OUT_OF_REACH
    assert not near.ok
    assert "target 0" in str(near)


@pytest.mark.parametrize(
    ("frame", "targets", "inputs", "match"),
    [
        ("hand", [[0, 0, 0]], None, "hand"),
        ("arm", [[0, 0]], None, r"targets: got shape \(1, 2\)"),
        ("arm", [[0, 0, np.nan]], None, "need finite positions"),
        ("arm", [[0, 0, 0]], ("left",), "inputs: got 'left'; need one of: side, up, load"),
        ("arm", [[0, 0, 0]], (), "inputs: got none"),
    ],
)
def test_bad_questions_are_named(frame, targets, inputs, match):
    with pytest.raises(sp.ArgumentError, match=match):
        sp.inverse_statics(model(), frame, targets, inputs)
