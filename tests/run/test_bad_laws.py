"""A law that becomes NaN or infinite ends the run, the solve or the rollout, by the name of its item."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.model.laws import AbstractLaw
from tests.tools import jit

PLASTIC = sp.Material(E=2e9, density=1000.0)
NAN, INF = np.nan, np.inf
WHEN = 0.055
"""When laws break (s)."""


class Breaks(AbstractLaw):
    """One number until 55 ms, another one from then on; both are leaves: every case is one program."""

    before: Any
    after: Any

    def __call__(self, t):
        return jnp.where(t > WHEN, self.after, self.before)


def rod(name="arm", **options) -> sp.Rod:
    return sp.Rod(name, 0.4, sp.Circle(5e-3), PLASTIC, strains="planar", basis=1, **options)


BEFORE = {
    # Slack all along: pulled by less than nothing.
    "slack": -0.01,
    "taut": 1e-4,
    "pulled": 0.1,
    "band": 1e-3,
    "air": 1.0,
    "servo": 0.1,
    "turn": 0.0,
    "push": 0.1,
    "wind": 0.1,
    "grows": 1.0,
}
SIDE = (0.01, 0.0)


def breeze(t, X, pose, twist):
    return jnp.zeros(6).at[4].set(0.01)


def everything(**after: float) -> sp.Robot:
    """A robot with a law of every kind; those named break."""
    law = {name: Breaks(before, after.get(name, before)) for name, before in BEFORE.items()}
    return sp.Robot(
        rod(joint=sp.Revolute("z", stiffness=1.0, damping=0.1)),
        rod("other"),
        rod("grows", growth=law["grows"]),
        sp.Body("door", 0.1, (1e-3, 1e-3, 1e-3), joint=sp.Revolute("z")),
        sp.Tendon("slack", "arm", SIDE, pull=law["slack"]),
        sp.Tendon("taut", "other", SIDE, pull=law["taut"]),
        sp.Tendon("pulled", "arm", SIDE, tension=law["pulled"]),
        sp.Tendon("band", "arm", SIDE, pull=law["band"], stiffness=100.0),
        sp.Chamber("air", "arm", 1e-5, SIDE, pressure=law["air"]),
        sp.Motor("servo", "arm", torque=law["servo"], limit=1.0),
        sp.PrescribedCoordinate("turn", "door", law["turn"]),
        sp.Wrench("push", "arm", (0, 1, 0), law=law["push"]),
        sp.DistributedLoad("wind", "arm", breeze, law=law["wind"]),
    )


CASES = {
    "slack": ({"slack": NAN}, "tendon 'slack'"),
    "taut": ({"taut": NAN}, "tendon 'taut'"),
    "tension": ({"pulled": NAN}, "tendon 'pulled'"),
    "no tension": ({"pulled": -INF}, "tendon 'pulled'"),  # less than none is none
    "elastic": ({"band": NAN}, "tendon 'band'"),
    "chamber": ({"air": INF}, "chamber 'air'"),
    "motor": ({"servo": NAN}, "motor 'servo'"),
    "limited motor": ({"servo": INF}, "motor 'servo'"),  # its limit would be given for ever
    "imposed": ({"turn": NAN}, "imposed coordinate 'turn'"),
    "load": ({"push": NAN}, "load 'push'"),
    "line load": ({"wind": INF}, "load 'wind'"),
    "growth": ({"grows": NAN}, "growth of rod 'grows'"),
    "no length": ({"grows": -0.5}, "growth of rod 'grows'"),
}


def check(found, item):
    assert found.status == sp.Status.BAD_INPUT
    assert item in found.message
    assert 0.03 <= found.t[-1] <= WHEN + 0.005
    assert np.all(np.isfinite(found.q))


@pytest.mark.parametrize("case", CASES)
def test_a_law_that_becomes_nonsense_ends_the_run_by_its_name(case):
    after, item = CASES[case]
    check(sp.simulate(everything(**after), 0.1, dt=0.02, throw=False), item)


def test_laws_that_do_not_break_end_no_run():
    assert sp.simulate(everything(), 0.1, dt=0.02).ok


@pytest.mark.parametrize("case", ["slack", "limited motor", "imposed", "no length"])
def test_so_does_one_in_statics(case):
    after, item = CASES[case]
    model = everything(**after).build()
    held = sp.equilibrium(model, t=0.1, throw=False)
    assert not held.ok
    assert held.status.name == "BAD_INPUT"
    assert item in held.message
    with pytest.raises(sp.SolveError, match=item):
        sp.equilibrium(model, t=0.1)


def limited(after: float) -> sp.Robot:
    joint = sp.Revolute("z", stiffness=1.0, damping=0.1)
    law = Breaks(0.1, after)
    return sp.Robot(rod(joint=joint), sp.Motor("servo", "arm", torque=law, limit=1.0))


def test_so_does_one_in_a_run_at_an_accuracy():
    found = sp.simulate(limited(INF), 0.1, accuracy=1e-2, throw=False)
    assert found.status == sp.Status.BAD_INPUT
    assert "motor 'servo'" in found.message
    assert found.t[-1] < WHEN


def test_a_law_that_is_nonsense_where_a_run_starts_is_told():
    model = limited(INF).build()
    found = sp.simulate(model, 0.1, dt=0.02, initial=sp.initial_state(model, t=0.06), throw=False)
    assert found.status == sp.Status.BAD_INPUT
    assert "motor 'servo'" in found.message
    assert len(found.t) == 1


@jit
def rolled(model):
    return sp.rollout(model, sp.initial_state(model), sp.generalized_alpha(0.8), 0.02, 4)


def test_so_does_one_in_a_rollout():
    found = rolled(limited(INF).build())
    assert sp.Status(int(found.status)) == sp.Status.BAD_INPUT
    assert int(found.completed) == 2
    assert sp.Status(int(rolled(limited(0.2).build()).status)) == sp.Status.DONE


def motion(t):
    return jnp.stack([jnp.where(t > WHEN, NAN, 0.0), 0.0, 0.0]), jnp.zeros(3)


def muscle(X, t):
    return jnp.zeros((X.shape[0], 6)).at[:, 2].set(jnp.where(t > WHEN, NAN, 0.01))


def gust(t, X, pose, twist):
    return jnp.zeros(6).at[4].set(jnp.where(t > WHEN, NAN, 0.01))


def asks(t, seen, memory):
    return {"torque": jnp.where(t > WHEN, NAN, 0.01)}, memory


FUNCTIONS = {
    "driven joint of 'arm'": (rod(joint=sp.Driven(motion)),),
    "stress 'it'": (rod(), sp.ActiveStress("it", "arm", muscle)),
    "load 'it'": (rod(), sp.DistributedLoad("it", "arm", gust)),
    "controller 'it'": (
        rod(joint=sp.Revolute("z")),
        sp.Motor("servo", "arm", torque=sp.Input("torque")),
        sp.Controller("it", asks, period=0.01),
    ),
}


@pytest.mark.parametrize("item", FUNCTIONS)
def test_so_does_a_function_that_becomes_nonsense(item):
    check(sp.simulate(sp.Robot(*FUNCTIONS[item]), 0.1, dt=0.02, throw=False), item)
