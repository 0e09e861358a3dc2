"""Every joint: its subspace is the rate of its pose, its chart fits together, its start is neutral."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import Pose
from supple.model.joints import AbstractJoint
from tests.tools import jit

TOL = 1e-12  # products of a few rotations
SPECS = {
    "revolute": sp.Revolute((1.0, 2.0, -2.0)),
    "prismatic": sp.Prismatic((0.0, 3.0, 4.0)),
    "helical": sp.Helical((1.0, 0.0, 1.0), pitch=0.3),
    "cylindrical": sp.Cylindrical("-y"),
    "universal": sp.Universal((1.0, 0.2, 0.0), (0.0, 1.0, 0.5)),
    "planar": sp.Planar((1.0, 2.0, 3.0)),
    "spherical": sp.Spherical(),
    "free": sp.Free(),
    "x joint": sp.XJoint(bar=0.5, diagonal=0.8, axis=(1.0, 2.0, 0.0), along=(-2.0, 1.0, 5.0)),
}
MOVED = ("x joint",)  # joints that carry their frames somewhere also at zero


@cache
def facts(name):
    """Everything the tests ask about one joint, compiled together."""
    joint = SPECS[name].make("item")

    def twist_of(pose: Pose, rate: Pose):
        spin = pose.rotation.T @ rate.rotation
        angular = jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
        return jnp.concatenate([angular, pose.rotation.T @ rate.position])

    @jit
    def compute(q, x, xdot, xddot):
        pose, moved = jax.jvp(lambda x: joint.pose(q, x), (x,), (xdot,))
        there = joint.retract(q, x)
        zero = jnp.zeros(joint.nv)

        def velocity(x, xdot):
            return joint.rate(q, x, xdot)

        v, vdot = jax.jvp(velocity, (x, xdot), (xdot, xddot))
        return dict(
            twist=twist_of(pose, moved),
            subspace=joint.subspace(q, x),
            pose=pose,
            pose_there=joint.pose(there, zero),
            subspace_there=joint.subspace(there, zero),
            difference=joint.difference(q, there),
            rate=v,
            rate_derivative=joint.rate_derivative(q, x, xdot, xddot),
            vdot=vdot,
            at_rest=joint.pose(joint.neutral(), zero),
        )

    return joint, compute


def drawn(joint, rng, size=0.7):
    q = rng.normal(size=joint.nq)
    if joint.nq != joint.nv:
        q[:4] /= np.linalg.norm(q[:4])
    return q, *(size * rng.normal(size=(3, joint.nv)))


@pytest.mark.parametrize("name", SPECS)
def test_subspace_times_rate_is_the_body_twist(rng, name):
    joint, compute = facts(name)
    q, x, xdot, xddot = drawn(joint, rng)
    found = compute(q, x, xdot, xddot)
    np.testing.assert_allclose(found["subspace"] @ xdot, found["twist"], atol=TOL)


@pytest.mark.parametrize("name", ["spherical", "free"])
def test_closed_forms_of_the_subspace_are_what_differentiation_gives(rng, name):
    joint, _ = facts(name)
    q, x, *rates = drawn(joint, rng)
    motion = q, x, *rates, joint.pose(q, x)
    ours = jit(joint.subspace_motion)(*motion)
    theirs = jit(partial(AbstractJoint.subspace_motion, joint))(*motion)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("name", SPECS)
def test_constant_subspaces_are_constant(rng, name):
    joint, compute = facts(name)
    one, two = (compute(*drawn(joint, rng))["subspace"] for _ in range(2))
    assert joint.constant_subspace == bool(np.allclose(one, two, atol=1e-9))


@pytest.mark.parametrize("name", SPECS)
def test_retract_reaches_the_same_pose(rng, name):
    joint, compute = facts(name)
    q, x, xdot, xddot = drawn(joint, rng)
    found = compute(q, x, xdot, xddot)
    for a, b in zip(found["pose"], found["pose_there"], strict=True):
        np.testing.assert_allclose(a, b, atol=TOL)
    np.testing.assert_allclose(found["difference"], x, atol=TOL)


@pytest.mark.parametrize("name", SPECS)
def test_velocity_is_the_rate_at_the_center_of_the_new_chart(rng, name):
    """The same body twist: subspace(q ⊕ x, 0) v = subspace(q, x) ẋ, and v̇ is its derivative."""
    joint, compute = facts(name)
    q, x, xdot, xddot = drawn(joint, rng)
    found = compute(q, x, xdot, xddot)
    np.testing.assert_allclose(found["subspace_there"] @ found["rate"], found["twist"], atol=TOL)
    np.testing.assert_allclose(found["rate_derivative"], found["vdot"], atol=TOL)


@pytest.mark.parametrize("name", [name for name in SPECS if name not in MOVED])
def test_neutral_moves_nothing(name):
    joint, compute = facts(name)
    zero = np.zeros(joint.nv)
    found = compute(joint.neutral(), zero, zero, zero)["at_rest"]
    np.testing.assert_array_equal(found.rotation, np.eye(3))
    np.testing.assert_array_equal(found.position, 0.0)


def test_every_joint_moves_the_way_its_name_says():
    """One coordinate at a time, in the frame of the parent."""
    quarter = np.pi / 2

    def moved(spec, *values):
        joint = spec.make("item")
        q = np.array(values, dtype=float)
        return jax.jit(lambda q: joint.pose(q, jnp.zeros(joint.nv)))(q)

    pose = moved(sp.Revolute("z"), quarter)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[0], [0, 1, 0], atol=TOL)
    pose = moved(sp.Prismatic("-x"), 2.0)
    np.testing.assert_allclose(pose.position, [-2, 0, 0], atol=TOL)
    pose = moved(sp.Helical("x", pitch=0.1), quarter)
    np.testing.assert_allclose(pose.position, [0.1 * quarter, 0, 0], atol=TOL)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[1], [0, 0, 1], atol=TOL)
    pose = moved(sp.Cylindrical("y"), quarter, 3.0)
    np.testing.assert_allclose(pose.position, [0, 3, 0], atol=TOL)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[2], [1, 0, 0], atol=TOL)
    # First about the parent's y, then about the turned z: x goes to -z, then nothing moves z.
    pose = moved(sp.Universal("y", "z"), quarter, quarter)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[0], [0, 1, 0], atol=TOL)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[2], [1, 0, 0], atol=TOL)
    pose = moved(sp.Planar("z"), 1.0, 2.0, quarter)
    np.testing.assert_allclose(pose.position, [1, 2, 0], atol=TOL)
    np.testing.assert_allclose(pose.rotation @ np.eye(3)[0], [0, 1, 0], atol=TOL)


def test_a_driven_joint_has_the_twist_of_its_motion():
    """A helix about z: turning at 2 rad/s while climbing at 0.5 m/s and 0.3 m/s²."""

    def motion(t):
        return jnp.array([0.0, 0.0, 0.5 * t + 0.15 * t * t]), jnp.array([0.0, 0.0, 2.0 * t])

    joint = sp.Driven(motion).make("item")
    pose, twist, acceleration = jax.jit(joint.driven)(jnp.asarray(0.4))
    np.testing.assert_allclose(pose.position, [0, 0, 0.224], atol=TOL)
    np.testing.assert_allclose(pose.rotation[0, 0], np.cos(0.8), atol=TOL)
    np.testing.assert_allclose(twist, [0, 0, 2.0, 0, 0, 0.62], atol=TOL)
    np.testing.assert_allclose(acceleration, [0, 0, 0, 0, 0, 0.3], atol=TOL)


@pytest.mark.parametrize("name", ["spherical", "free", "universal"])
def test_turned_carries_one_subspace_onto_another(rng, name):
    joint, _ = facts(name)
    (q, now, *_), (_, before, *_) = drawn(joint, rng), drawn(joint, rng)
    phi, reference = joint.subspace(q, now), joint.subspace(q, before)
    ours = joint.turned(phi, reference)
    np.testing.assert_allclose(ours, np.linalg.lstsq(phi, reference)[0], atol=1e-12)


@pytest.mark.parametrize("name", SPECS)
def test_lengths_move_without_turning_and_angles_turn(rng, name):
    joint, compute = facts(name)
    turning = np.abs(compute(*drawn(joint, rng))["subspace"][:3]).max(axis=0) > 0
    assert tuple(np.flatnonzero(~turning)) == joint.lengths
    assert joint.euclidean == (name not in ("spherical", "free"))


@pytest.mark.parametrize("name", SPECS)
def test_a_reversed_joint_is_the_same_seen_from_its_other_side(rng, name):
    spec = SPECS[name].reversed()
    if spec is None:
        assert name in ("universal", "planar", "free", "x joint")
        return
    joint, compute = facts(name)
    q, x, *rates = drawn(joint, rng)
    pose, zero = compute(q, x, *rates)["pose"], np.zeros(joint.nv)
    if name == "spherical":  # its coordinates are those of a rotation; any will do
        return
    back = spec.make("item").pose(q + x, zero)
    np.testing.assert_allclose(back.rotation @ pose.rotation, np.eye(3), atol=TOL)
    np.testing.assert_allclose(pose.position + pose.rotation @ back.position, 0.0, atol=TOL)
