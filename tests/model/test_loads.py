"""Point loads: their wrenches, and their tangents against the general one by autodiff."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import Pose, se3, so3
from supple.model.laws import Constant
from supple.model.loads import AbstractPointLoad, PointWrench
from tests.samples import at, tangent
from tests.tools import jit

VALUE = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -3.0])


def load(follower: bool) -> PointWrench:
    return PointWrench(0, Pose(np.eye(3), np.zeros(3)), VALUE, Constant(2.0), follower)


@pytest.fixture
def place(rng):
    pose = Pose(so3.exp(jnp.asarray(rng.normal(size=3))), jnp.asarray(rng.normal(size=3)))
    return pose, jnp.asarray(rng.normal(size=6))


def test_a_dead_wrench_keeps_its_world_components(place):
    pose, twist = place
    found = load(False).wrench(jnp.asarray(0.0), pose, twist)
    world = np.concatenate([pose.rotation @ found[:3], pose.rotation @ found[3:]])
    np.testing.assert_allclose(world, 2 * VALUE, atol=1e-14)


def test_a_follower_wrench_keeps_its_body_components(place):
    pose, twist = place
    np.testing.assert_allclose(load(True).wrench(jnp.asarray(0.0), pose, twist), 2 * VALUE)


@pytest.mark.parametrize("follower", [True, False])
def test_tangents_equal_the_general_ones_by_autodiff(place, follower):
    one = load(follower)
    own, general = jit(
        lambda t, pose, twist: (
            one.tangent(t, pose, twist),
            AbstractPointLoad.tangent(one, t, pose, twist),
        )
    )(jnp.asarray(0.0), *place)
    for a, b in zip(own, general, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13)


def test_power_of_a_dead_force_is_force_times_velocity(place):
    pose, twist = place
    found = load(False).wrench(jnp.asarray(0.0), pose, twist)
    velocity, spin = pose.rotation @ twist[3:], pose.rotation @ twist[:3]
    expected = 2 * (VALUE[3:] @ velocity + VALUE[:3] @ spin)
    world = se3.wrench_to_world(pose, found) @ se3.to_world(pose, twist)
    assert float(world) == pytest.approx(float(expected))


class Spring(AbstractPointLoad):
    """Pulls the point towards the world's origin: a load that needs to know where it is."""

    sample: int = eqx.field(static=True)
    offset: Pose

    @property
    def corners(self) -> tuple[float, ...]:
        return ()

    def wrench(self, t, pose, twist):
        return jnp.concatenate([jnp.zeros(3), -10.0 * pose.rotation.T @ pose.position])


@pytest.mark.parametrize(
    "joint",
    [
        sp.Prismatic("x"),
        sp.Free(),
    ],
    ids=["sliding", "floating"],
)
def test_a_load_of_ones_own_sees_the_world_pose(joint):
    """Force -10 N/m times 3 m on 2 kg, and its tangent, for a new load of one method."""
    model = sp.Robot(
        sp.Body("b", mass=2.0, inertia=(1, 1, 1), joint=joint), gravity=(0, 0, 0)
    ).build()
    spring = Spring(0, Pose(np.eye(3), np.zeros(3)))
    model = dataclasses.replace(model, loads=(spring,))
    q = np.array([3.0]) if model.nq == 1 else np.array([1.0, 0, 0, 0, 3.0, 0, 0])
    along = 0 if model.nq == 1 else 3
    found = tangent(model, at(q, np.zeros(model.nv)))
    assert float(found.residual[along]) == pytest.approx(30.0)
    assert float(found.stiffness[along, along]) == pytest.approx(10.0)
