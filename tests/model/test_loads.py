"""Point loads: their wrenches, and their tangents against the general one by autodiff."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import Pose, se3, so3
from supple.model.laws import Constant
from supple.model.loads import AbstractPointLoad, PointWrench, SlidingFriction
from tests.samples import at
from tests.tools import jit, tangent

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


FRICTION, DAMPING, SLOW = 0.3, 0.2, 1e-2
SLIDING = SlidingFriction(
    0,
    Pose(np.eye(3), np.zeros(3)),
    np.array([0.6, 0.0, 0.8]),
    np.asarray(FRICTION),
    np.asarray(DAMPING),
    np.asarray(SLOW),
)


def test_sliding_friction_is_a_force_along_the_plane_against_the_motion(place):
    pose, twist = place
    found = SLIDING.wrench(jnp.asarray(0.0), pose, twist)
    np.testing.assert_array_equal(found[:3], 0.0)  # a force at the point, and no moment
    force, velocity = pose.rotation @ found[3:], pose.rotation @ twist[3:]
    along = velocity - SLIDING.normal * (SLIDING.normal @ velocity)
    speed = np.linalg.norm(along)
    expected = -(DAMPING * speed + FRICTION * speed / np.hypot(speed, SLOW)) * along / speed
    np.testing.assert_allclose(force, expected, atol=1e-14)
    assert float(found @ twist) < 0  # it takes energy out


def test_sliding_friction_is_smooth_at_rest(place):
    pose, _ = place
    force, (by_shift, by_rate) = jit(
        lambda pose, twist: (
            SLIDING.wrench(jnp.asarray(0.0), pose, twist),
            SLIDING.tangent(jnp.asarray(0.0), pose, twist),
        )
    )(pose, jnp.zeros(6))
    np.testing.assert_array_equal(force, 0.0)
    np.testing.assert_array_equal(by_shift, 0.0)
    normal = pose.rotation.T @ SLIDING.normal
    plane = np.eye(3) - np.outer(normal, normal)
    np.testing.assert_allclose(by_rate[3:, 3:], -(DAMPING + FRICTION / SLOW) * plane, atol=1e-12)


def test_a_pushed_disc_stops_where_coulomb_says():
    """v²/(2μg) away, having lost friction times way."""
    mass, push = 0.24, np.array([0.3, -0.4])
    disc = sp.Body("disc", mass=mass, inertia=(1, 1, 1), joint=sp.Planar("z"))
    model = sp.Robot(
        disc, sp.PlaneFriction("felt", on="disc", friction=FRICTION, friction_speed=1e-4)
    ).build()
    start = sp.initial_state(model, v=np.array([*push, 0.0]))
    stop = mass * np.linalg.norm(push) / FRICTION
    result = sp.simulate(model, 1.2 * stop, dt=2e-3, initial=start)
    expected = push * stop / 2
    np.testing.assert_allclose(result.position("disc")[-1, :2], expected, atol=2e-4)
    sliding = result.t < 0.95 * stop
    lost = result.energies.kinetic[0] - result.energies.kinetic[sliding]
    way = np.linalg.norm(result.position("disc")[sliding], axis=1)
    np.testing.assert_allclose(lost, FRICTION * way, atol=1e-4 * lost.max())
