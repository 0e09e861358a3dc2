"""Where a robot stands and how the world is turned must not matter to its mechanics."""

import dataclasses

import equinox as eqx
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.model.loads import SlidingFriction
from tests.samples import (
    accelerate,
    at,
    model_of,
    random_configuration,
    random_motion,
    random_vector,
)
from tests.tools import tangent

TOL = 1e-11  # relative; the same sums about another origin
TURN = Rotation.from_rotvec([0.3, -1.2, 2.0]).as_matrix()
SHIFT = np.array([3.0, -2.0, 5.0])


def placed_elsewhere(model):
    """The robot on a moved and turned ground, gravity and dead loads turned along."""
    grounded = np.array(model.topology.attach) == -1
    offsets = model.offsets
    rotation = np.where(grounded[:, None, None], TURN @ offsets.rotation, offsets.rotation)
    moved = offsets.position @ TURN.T + SHIFT
    position = np.where(grounded[:, None], moved, offsets.position)
    model = dataclasses.replace(model, loads=tuple(map(turned, model.loads)))
    return eqx.tree_at(
        lambda m: [m.offsets.rotation, m.offsets.position, m.gravity],
        model,
        [rotation, position, TURN @ model.gravity],
    )


def turned(load):
    """A load with what it has fixed in space turned along."""
    if isinstance(load, SlidingFriction):
        return dataclasses.replace(load, normal=TURN @ load.normal)
    if load.follower:
        return load
    value = np.concatenate([TURN @ load.value[:3], TURN @ load.value[3:]])
    return dataclasses.replace(load, value=value)


@pytest.mark.parametrize("robot", ["clamped", "tree"])
def test_placing_the_robot_elsewhere_changes_nothing(rng, robot):
    model = model_of(robot)
    c = random_motion(model, rng)
    for found, expected in zip(tangent(placed_elsewhere(model), c), tangent(model, c), strict=True):
        size = np.abs(np.asarray(expected)).max(initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOL * size)


@pytest.mark.parametrize("distance", [1.0, 1e3, 1e6])
def test_a_floating_robot_accelerates_the_same_anywhere(rng, distance):
    """No digits are lost far from the origin: it moves along."""
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    far = q.copy()
    start = next(s for s in model.topology.joint_slots if s.name == "hull").q_start
    far[start + 4 : start + 7] += distance * np.array([1.0, -2.0, 0.5])
    expected = np.asarray(accelerate(model, q, v, 0.3))
    found = accelerate(model, far, v, 0.3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_floating_robot_described_far_away_accelerates_the_same(rng):
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    grounded = np.array(model.topology.attach) == -1
    position = model.offsets.position + 1e5 * grounded[:, None]
    far = eqx.tree_at(lambda m: m.offsets.position, model, position)
    expected = np.asarray(accelerate(model, q, v, 0.3))
    found = accelerate(far, q, v, 0.3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_turning_a_floating_robot_turns_its_acceleration(rng):
    """Without weight: body rates and strains as before, the position's acceleration turned."""
    model = eqx.tree_at(lambda m: m.gravity, model_of("crawler"), np.zeros(3))
    model = eqx.tree_at(
        lambda m: [x.value for x in m.loads], model, replace_fn=lambda leaf: 0 * leaf
    )
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    slot = next(s for s in model.topology.joint_slots if s.name == "hull")
    linear = slice(slot.v_start + 3, slot.v_stop)
    turned_q, turned_v = q.copy(), v.copy()
    here = Rotation.from_quat(q[slot.q][:4], scalar_first=True)
    both = (Rotation.from_matrix(TURN) * here).as_quat(scalar_first=True)
    turned_q[slot.q] = np.concatenate([both, TURN @ q[slot.q][4:]])
    turned_v[linear] = TURN @ v[linear]
    expected = np.array(accelerate(model, q, v, 0.3))
    expected[linear] = TURN @ expected[linear]
    found = accelerate(model, turned_q, turned_v, 0.3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_moving_observer_sees_the_same_forces(rng):
    """Galileo: a constant velocity added to the whole robot changes no force."""
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    slot = next(s for s in model.topology.joint_slots if s.name == "hull")
    faster = v.copy()
    faster[slot.v_start + 3 : slot.v_stop] += np.array([5.0, -7.0, 3.0])
    expected = np.asarray(tangent(model, at(q, v)).residual)
    found = tangent(model, at(q, faster)).residual
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
