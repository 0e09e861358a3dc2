"""Items of users: each against one that exists, and against its own laws."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.errors import DescriptionError
from supple.files import dump
from supple.lie import so3
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent

RUBBER = sp.Material(E=1e6, density=1000.0, damping=sp.StiffnessDamping(0.02))
ROD = sp.Rod("arm", 0.3, sp.Circle(0.01), RUBBER, basis=2)


class Pull(sp.AbstractLoad):
    """A force fixed in space."""

    force: Any

    def wrench(self, t, pose, twist):
        return jnp.concatenate([jnp.zeros(3), jnp.asarray(self.force)])


class Felt(sp.AbstractLoad):
    """Viscous friction on the plane z = 0."""

    damping: float

    def wrench(self, t, pose, twist):
        velocity = pose.rotation @ twist[3:]
        return jnp.concatenate([jnp.zeros(3), -self.damping * velocity * jnp.array([1, 1, 0])])


class Wind(sp.AbstractLineLoad):
    """A force a meter, growing along the rod."""

    slope: float

    def density(self, t, X, pose, twist):
        return jnp.array([0, 0, 0, 0, 1.0, 0]) * self.slope * X


def wind(t, X, pose, twist):
    return jnp.array([0, 0, 0, 0, 2.0 * X, 0])


class Muscle(sp.AbstractEffortLaw):
    """Tension k (l - l0) + c dl/dt, as of a spring."""

    stiffness: float
    rest: float
    damping: float = 0.0

    def __call__(self, t, length, rate):
        return self.stiffness * (length - self.rest) + self.damping * rate

    def energy(self, t, length):
        return 0.5 * self.stiffness * (length - self.rest) ** 2


class Hinge(sp.AbstractJoint):
    """A hinge about z with an arm: turns and shifts, as a crank."""

    radius: float
    size = 1

    def pose(self, x):
        turn = so3.exp(jnp.array([0, 0, 1.0]) * x[0])
        arm = jnp.array([self.radius, 0.0, 0.0])
        return sp.Pose(turn, turn @ arm - arm)


def run(robot, **options):
    return sp.simulate(robot, 0.2, dt=0.01, scheme=sp.radau(3), **options)


def same(ours, theirs, name="arm"):
    np.testing.assert_allclose(ours.position(name), theirs.position(name), atol=1e-9)
    assert np.ptp(theirs.position(name), axis=0).max() > 1e-3


def test_a_load_is_that_of_the_library():
    ours = sp.Robot(ROD, Pull("pull", on="arm", force=(0.0, 0.1, 0.05), fraction=0.7))
    theirs = sp.Robot(ROD, sp.Wrench("pull", on="arm", force=(0.0, 0.1, 0.05), fraction=0.7))
    same(run(ours), run(theirs))


def test_a_friction_law_is_that_of_the_library():
    ours = sp.Robot(ROD, Felt("felt", on="arm", damping=0.3))
    theirs = sp.Robot(ROD, sp.PlaneFriction("felt", on="arm", damping=0.3))
    same(run(ours), run(theirs))


def test_a_load_along_a_rod_is_that_of_the_library():
    ours = sp.Robot(ROD, Wind("wind", on="arm", slope=2.0))
    theirs = sp.Robot(ROD, sp.DistributedLoad("wind", on="arm", density=wind))
    same(run(ours), run(theirs))


def test_an_effort_law_is_a_spring():
    body = sp.Body("bob", mass=0.1, joint=sp.Prismatic("z"), position=(0, 0, -0.2))
    ends = {"ground": (0.0, 0.0, 0.0), "bob": (0.0, 0.0, 0.0)}
    law = Muscle(20.0, 0.15, damping=0.1)
    ours = sp.Robot(body, sp.Tendon("band", on=["ground", "bob"], offset=ends, tension=law))
    theirs = sp.Robot(
        body, sp.Spring("band", on="ground", to="bob", stiffness=20.0, damping=0.1, length=0.15)
    )
    one, other = run(ours), run(theirs)
    same(one, other, "bob")
    np.testing.assert_allclose(one.tendon("band").tension, other.spring("band").tension, atol=1e-9)
    np.testing.assert_allclose(one.energies.total, other.energies.total, atol=1e-12)
    rest = sp.equilibrium(ours)
    assert rest.tendon("band").length == pytest.approx(0.15 + 0.1 * 9.81 / 20, rel=1e-9)


def test_a_motor_follows_a_torque_law_of_its_angle():
    body = sp.Body("bob", mass=0.1, com=(0.1, 0, 0), inertia=(1e-4,) * 3, joint=sp.Revolute("y"))
    ours = sp.Robot(body, sp.Motor("drive", on="bob", torque=Muscle(-2.0, 0.0, damping=-0.01)))
    sprung = sp.Body("bob", mass=0.1, com=(0.1, 0, 0), inertia=(1e-4,) * 3,
                     joint=sp.Revolute("y", stiffness=2.0, damping=0.01))  # fmt: skip
    one, other = run(ours), run(sp.Robot(sprung))
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    assert np.ptp(other.q) > 0.01


def test_a_joint_is_a_hinge_that_sits_elsewhere():
    shape = dict(mass=0.1, com=(0.05, 0.02, 0.0), inertia=(1e-4,) * 3)
    gravity = (0.0, -9.81, 0.0)
    ours = sp.Robot(sp.Body("bob", **shape, joint=Hinge(0.1)), gravity=gravity)
    theirs = sp.Robot(
        sp.Body("bob", **shape, joint=sp.Revolute("z"), position=(-0.1, 0, 0),
                joint_position=(-0.1, 0, 0)),
        gravity=gravity,
    )  # fmt: skip
    one, other = run(ours), run(theirs)
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    same(one, other, "bob")


def test_two_joints_of_one_kind_close_a_loop():
    """A parallelogram: its closing joint is ours as well, and keeps its coordinate."""
    bar = dict(mass=0.1, inertia=(1e-4,) * 3)
    robot = sp.Robot(
        sp.Body("left", **bar, com=(0, 0.1, 0), joint=Hinge(0.0)),
        sp.Body("right", **bar, com=(0, 0.1, 0), joint=Hinge(0.0), position=(0.3, 0, 0)),
        sp.Body("top", **bar, com=(0.15, 0, 0), parent="left", position=(0, 0.2, 0), joint=Hinge(0.0)),
        sp.Closure("pin", on="top", to="right", position=(0.3, 0, 0), to_position=(0, 0.2, 0),
                   joint=Hinge(0.0)),
        gravity=(0.5, -9.81, 0.0),
    )  # fmt: skip
    found = run(robot)
    np.testing.assert_allclose(
        found.joint("left").position, found.joint("right").position, atol=1e-8
    )
    assert np.ptp(found.joint("left").position) > 0.01


def test_tangents_are_exact(rng):
    robot = sp.Robot(
        ROD,
        sp.Body("tool", parent="arm", mass=0.05, inertia=(1e-4,) * 3, joint=Hinge(0.03)),
        Felt("felt", on="tool", damping=0.4),
        Wind("wind", on="arm", slope=3.0),
        sp.Tendon("band", on="arm", offset=(0.005, 0), tension=Muscle(30.0, 0.2, damping=1.0)),
    )
    model = robot.build()
    q, x, v, a = (0.3 * rng.normal(size=model.nv) for _ in range(4))
    c = Coordinates(q, x, v, a, jnp.asarray(0.1))
    found = inverse_dynamics_tangent(model, c)
    for name, matrix in (("x", found.stiffness), ("xdot", found.damping), ("xddot", found.mass)):
        expected = jax.jacfwd(
            lambda y, name=name: inverse_dynamics(model, c._replace(**{name: y}))
        )(getattr(c, name))
        np.testing.assert_allclose(matrix, expected, atol=1e-8 * np.abs(expected).max())


def test_numbers_are_differentiable_and_never_recompile():
    def tip(force):
        robot = sp.Robot(ROD, Pull("pull", on="arm", force=jnp.array([0.0, 0.0, force])))
        model = robot.build()
        return inverse_dynamics(model, Coordinates(*([jnp.zeros(model.nv)] * 4), jnp.zeros(())))

    slope = jax.jacfwd(tip)(0.1)
    np.testing.assert_allclose(slope, tip(1.0) - tip(0.0), atol=1e-12)
    one, two = (sp.Robot(ROD, Pull("pull", on="arm", force=(0, 0, f))).build() for f in (0.1, 0.2))
    assert jax.tree.structure(one) == jax.tree.structure(two)


def test_they_are_items_as_any_other():
    robot = sp.Robot(ROD, Pull("pull", on="arm", force=(0.0, 0.1, 0.0)))
    assert robot == sp.Robot(ROD, Pull("pull", on="arm", force=np.array([0.0, 0.1, 0.0])))
    assert robot != sp.Robot(ROD, Pull("pull", on="arm", force=(0.0, 0.2, 0.0)))
    assert repr(robot["pull"]) == "Pull('pull', on='arm', force=(0, 0.1, 0))"
    assert len(robot.removing("pull").items) == 1
    assert len(robot.adding(sp.Body("tool", parent="arm", mass=0.1)).removing("tool").items) == 2
    with pytest.raises(
        DescriptionError, match="pull: item: got 'Pull'; need an item that files know"
    ):
        dump(robot)
    with pytest.raises(DescriptionError, match="band: tension"):
        dump(sp.Robot(ROD, sp.Tendon("band", on="arm", tension=Muscle(1.0, 0.1))))


class Wrong(sp.AbstractLoad):
    def wrench(self, t, pose, twist):
        return jnp.zeros(3)


class Plain(sp.AbstractLoad):
    def wrench(self, t, pose, twist):
        return np.sin(t) * np.ones(6) if t > 0 else np.zeros(6)


class Named(sp.AbstractLoad):
    kind: str

    def wrench(self, t, pose, twist):
        return jnp.zeros(6)


class Settled(sp.AbstractLoad):
    kind: str = eqx.field(static=True)

    def wrench(self, t, pose, twist):
        return jnp.zeros(6)


class Away(sp.AbstractJoint):
    size = 1

    def pose(self, x):
        return sp.Pose(jnp.eye(3), jnp.array([0.1, 0, 0]) + x)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Wrong("load", on="arm"), r"load: wrench: got \(3,\); need .* \(6,\)"),
        (lambda: Plain("load", on="arm"), "load: wrench: .*jax.numpy.*it raised"),
        (lambda: Named("load", on="arm", kind="x"), "load: kind: got 'x'; need a number"),
        (lambda: sp.Robot(ROD, Pull("pull", on="leg", force=(0, 0, 1))), "pull: on: got 'leg'"),
        (lambda: Pull("pull", on="arm", force=(0, 0, 1), fraction=1.5), "pull: fraction: got 1.5"),
        (lambda: sp.Tendon("band", on="arm", pull=Muscle(1.0, 0.1)), "band: pull: .*law of time"),
        (
            lambda: sp.Robot(sp.Body("bob", mass=1.0, joint=Away())).build(),
            "bob: joint.pose: got 0.1; need no motion with all coordinates at zero",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_told_where_they_are_made(make, match):
    with pytest.raises(DescriptionError, match=match):
        make()


def test_other_fields_may_be_static():
    assert sp.Robot(ROD, Settled("load", on="arm", kind="x")).build().nv > 0
