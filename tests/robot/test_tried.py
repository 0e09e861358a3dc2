"""Functions of users are called once when they are described: what is wrong is told there, with the cure."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp

pytestmark = pytest.mark.usefixtures("unchecked")
RUBBER = sp.Material(E=1e6, density=1000.0)


def rod(**changes):
    options = dict(length=0.3, section=sp.Circle(0.01), material=RUBBER, basis=1, strains="planar")
    return sp.Rod("arm", **{**options, **changes})


def wrench(law):
    return sp.Wrench("push", on="arm", force=(0, 1, 0), law=law)


def late(t):
    return 1.0 if t > 1.0 else 0.0


def controlled(controller):
    """An arm that the input "u" pushes."""
    return sp.Robot(rod(), wrench(sp.Input("u")), controller).build()


def sampled(act, **options):
    return controlled(sp.Controller("brain", act, **options))


def continuous(act, **options):
    return controlled(sp.ContinuousController("brain", act, **options))


class Push(sp.AbstractLoad):
    def wrench(self, t, pose, twist):
        return np.sin(t) * np.ones(6)


class Muscle(sp.AbstractEffortLaw):
    def __call__(self, t, length, rate):
        return 1.0 if length > 0.1 else 0.0


class Screw(sp.AbstractJoint):
    size = 1

    def pose(self, x):
        return sp.Pose(np.eye(3), np.sin(x) * np.ones(3))


def driven(motion):
    return sp.Robot(sp.Body("box", mass=1.0, joint=sp.Driven(motion)), rod(parent="box")).build()


NUMPY, WHERE = "use jax.numpy instead of numpy", "jnp.where(condition, a, b) instead of if"
CASES = [
    ("law by numpy", lambda: wrench(lambda t: np.sin(t)), "push: law", NUMPY),
    ("law by math", lambda: wrench(lambda t: math.sin(t)), "push: law", "math"),
    ("law with if", lambda: wrench(late), "push: law", WHERE),
    ("law in a Function", lambda: wrench(sp.Function(late)), "push: law", WHERE),
    ("law of two", lambda: wrench(lambda t, x: t), "push: law", "1 argument"),
    ("law of vectors", lambda: wrench(lambda t: jnp.ones(3)), "push: law", "got (3,)"),
    ("complex law", lambda: wrench(lambda t: 1j * t), "push: law", "real numbers"),
    ("law of text", lambda: wrench(lambda t: "1 N"), "push: law", "jax.numpy"),
    ("growth", lambda: rod(growth=lambda t: 1 + np.abs(t)), "arm: growth", NUMPY),
    ("imposed", lambda: sp.PrescribedCoordinate("c", on="arm", value=late), "c: value", WHERE),
    ("tension", lambda: sp.Tendon("cable", on="arm", tension=late), "cable: tension", WHERE),
    ("effort", lambda: sp.Tendon("cable", on="arm", tension=Muscle()), "cable: tension", WHERE),
    ("pressure", lambda: sp.Chamber("air", on="arm", area=1e-4, pressure=late), "air: p", WHERE),
    ("torque", lambda: sp.Motor("drive", on="arm", torque=np.sin), "drive: torque", NUMPY),
    (
        "routing by math",
        lambda: sp.Tendon("cable", on="arm", tension=1.0, offset=lambda u: (math.sin(u), 0)),
        "cable: offset", "np.sin instead of math.sin",
    ),
    (
        "routing of one number",
        lambda: sp.Tendon("cable", on="arm", tension=1.0, offset=lambda u: 0.01 * u),
        "cable: offset", "(n, 2)",
    ),
    (
        "routing in a mapping",
        lambda: sp.Tendon("cable", on=("arm", "box"), tension=1.0,
                          offset={"arm": lambda u, v: u, "box": (0, 0, 0)}),
        "cable: offset", "1 argument",
    ),
    ("rest with if", lambda: rod(rest=lambda u: u if u > 0.5 else 0), "arm: rest", "np.where"),
    ("rest of two", lambda: rod(rest=lambda u, t: u), "arm: rest", "1 argument"),
    ("basis", lambda: sp.CustomBasis(lambda u: u, 2), "CustomBasis: function", "got (5,)"),
    ("stress", lambda: sp.ActiveStress("m", on="arm", stress=lambda X, t: np.sin(t) * np.ones((5, 6))),
     "m: stress", NUMPY),
    ("density", lambda: sp.DistributedLoad("wind", on="arm", density=lambda t, X: jnp.ones(6)),
     "wind: density", "4 arguments"),
    ("own load", lambda: Push("push", on="arm"), "push: wrench", NUMPY),
    ("own joint", lambda: sp.Robot(rod(joint=Screw())).build(), "arm: joint.pose", NUMPY),
    ("driven by numpy", lambda: driven(lambda t: (np.sin(t) * np.ones(3), np.zeros(3))),
     "box: joint.motion", NUMPY),
    ("driven by position", lambda: driven(lambda t: jnp.ones(3)), "box: joint.motion", "(3,)"),
    ("controller of two", lambda: sampled(lambda t, seen: {}), "brain: act", "3 arguments"),
    ("sensor of none", lambda: sampled(lambda t, s, m: ({}, m), sense=lambda: 1), "brain: sense", "1 arg"),
    ("controller by numpy", lambda: sampled(lambda t, s, m: ({"u": np.sin(t)}, m)), "brain: act", NUMPY),
    ("controller with if", lambda: sampled(lambda t, s, m: ({"u": late(t)}, m)), "brain: act", WHERE),
    ("controller without memory", lambda: sampled(lambda t, s, m: {"u": t}), "brain: act", "(inputs, m"),
    ("controller of another input", lambda: sampled(lambda t, s, m: ({"w": t}, m)), "brain: act", "of: u"),
    ("controller of a vector", lambda: sampled(lambda t, s, m: ({"u": t * jnp.ones(2)}, m)),
     "brain: act", "got (2,)"),
    ("memory cut off", lambda: sampled(lambda t, s, m: ({}, m + 0.5), memory=0), "brain: memory", "0.0"),
    ("memory grows", lambda: sampled(lambda t, s, m: ({}, jnp.ones(2)), memory=0.0), "brain: act", "(2,)"),
    ("unknown sensor", lambda: sampled(lambda t, s, m: ({}, m), sense=lambda x: x.position("tip")),
     "brain: sense", "tip"),
    ("Python controller's sense", lambda: sampled(lambda t, s, m: ({}, m), compiled=False,
                                                  sense=lambda x: np.sin(x.t)), "brain: sense", NUMPY),
    ("continuous with if", lambda: continuous(lambda t, s, z: {"u": late(t)}), "brain: act", WHERE),
    ("continuous of pairs", lambda: continuous(lambda t, s, z: ({"u": t}, z)), "brain: act", "{input"),
    ("rate of two", lambda: continuous(lambda t, s, z: {"u": z[0]}, state=(0.0,),
                                       rate=lambda t, s, z: jnp.ones(2)), "brain: rate", "(2,)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "where", "cure"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_function_that_cannot_be_used_is_told_with_its_item_and_the_cure(make, where, cure):
    with pytest.raises(sp.DescriptionError) as told:
        make()
    assert where in str(told.value)
    assert cure in str(told.value)


def test_functions_may_close_over_traced_numbers():
    def length(height):
        item = wrench(lambda t: height * jnp.cos(t))
        robot = sp.Robot(rod(length=height), item, sp.Controller("c", lambda t, s, m: ({}, m)))
        return robot.build().groups[0].length[0]

    assert jax.grad(length)(1.0) == 1.0


def test_a_controller_that_fails_in_a_run_is_an_error():
    def act(t, seen, memory):
        if t > 0.015:
            raise RuntimeError("out of paper")
        return {"u": 0.0}, memory

    robot = sp.Robot(rod(), wrench(sp.Input("u")), sp.Controller("brain", act, compiled=False))
    with pytest.raises(sp.SolveError, match=r"brain: act raised .*out of paper") as told:
        sp.simulate(robot, 1.0, dt=0.01)
    assert told.value.result.t[-1] == pytest.approx(0.02)
