"""Poses, twists, accelerations and Jacobians of frames against derivatives of the poses."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.errors import ArgumentError
from supple.lie import Pose
from supple.mechanics.element_motion import rate, retract
from supple.mechanics.frames import (
    find_joint,
    frame_motion,
    frame_poses,
    rod_shape,
    rod_strain,
)
from supple.mechanics.kinematics import kinematics
from tests.samples import at, model_of, random_configuration, random_vector, rod
from tests.tools import jit

# Twists come from quadrature of strain rates, derivatives from the integrated poses: the gap is the
# error of the grid, fine for the crawler and the default for the driven rod.
TOL = {"crawler": 1e-8, "driven": 1e-5}
# Named frames and points along the rod (the last ones), enough to see every kind of both.
FRAMES = {"crawler": ("eye", "claw", 0.3), "driven": ("tool", 0.3)}
T = 0.4
STEP = 0.01  # s; differences of order 8 lose to it only 1e-13, and to round-off 1e-13
DIFFERENCE = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


@partial(jit, static_argnames="frames")
def frame_motions(model, frames, q, v, a, t=T):
    """Motion of named frames and of points along the arm."""
    return [
        frame_motion(model, f, q, v, a, t)
        if isinstance(f, str)
        else frame_motion(model, "arm", q, v, a, t, fraction=f)
        for f in frames
    ]


@jit
def reached(model, q, v, a, t):
    """State at time t of the motion that starts at (q, v) with ẍ = a in the chart around q."""
    x, xdot = v * t + a * t * t / 2, v + a * t
    return retract(model, q, x), rate(model, q, x, xdot)


def differentiated(model, frames, q, v, a):
    """Body twists and their rates by central differences of order 8 along a motion."""
    zero = np.zeros(model.nv)
    poses, twists = [], []
    for k in range(-4, 5):
        motions = frame_motions(
            model, frames, *reached(model, q, v, a, k * STEP), zero, T + k * STEP
        )
        poses.append([(m.pose.rotation, m.pose.position) for m in motions])
        twists.append([m.twist for m in motions])
    rotation, position = (np.array([[p[i] for p in row] for row in poses]) for i in (0, 1))

    def derivative(values):
        return np.tensordot(DIFFERENCE, values, axes=1) / STEP

    spin = np.swapaxes(rotation[4], 1, 2) @ derivative(rotation)
    angular = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1)
    linear = np.einsum("nji,nj->ni", rotation[4], derivative(position))
    return np.concatenate([angular, linear], axis=1), derivative(np.array(twists))


@pytest.mark.parametrize("robot", ["crawler", "driven"])
def test_frames_move_as_their_poses_change(rng, robot):
    model, frames = model_of(robot), FRAMES[robot]
    q = random_configuration(model, rng)
    v, a = random_vector(model, rng, 1.0, 2.0), random_vector(model, rng, 2.0, 4.0)
    twist, acceleration = differentiated(model, frames, q, v, a)
    for k, found in enumerate(frame_motions(model, frames, q, v, a)):
        np.testing.assert_allclose(found.twist, twist[k], rtol=0, atol=TOL[robot])
        np.testing.assert_allclose(found.acceleration, acceleration[k], rtol=0, atol=TOL[robot])


def growing(t):
    """Length over its first value; never still."""
    return 1.0 + 0.3 * jnp.sin(2 * t)


def test_points_of_a_rod_that_grows_move_as_their_poses_change(rng):
    model = sp.Robot(rod(nodes=18, basis=2, growth=growing, joint=sp.Revolute("y"))).build()
    frames = (0.3, 0.8, "arm")
    q = random_configuration(model, rng)
    v, a = random_vector(model, rng, 1.0, 2.0), random_vector(model, rng, 2.0, 4.0)
    twist, acceleration = differentiated(model, frames, q, v, a)
    for k, found in enumerate(frame_motions(model, frames, q, v, a)):
        np.testing.assert_allclose(found.twist, twist[k], rtol=0, atol=TOL["crawler"])
        np.testing.assert_allclose(found.acceleration, acceleration[k], rtol=0, atol=TOL["crawler"])


@pytest.mark.parametrize("robot", ["crawler", "driven"])
def test_twists_are_jacobians_times_velocities(rng, robot):
    model, frames = model_of(robot), FRAMES[robot]
    q, zero = random_configuration(model, rng), np.zeros(model.nv)
    still = frame_motions(model, frames, q, zero, zero)
    v = random_vector(model, rng, 1.0, 2.0)
    for found, driven in zip(frame_motions(model, frames, q, v, zero), still, strict=True):
        expected = np.asarray(found.twist - driven.twist)
        np.testing.assert_allclose(found.jacobian @ v, expected, rtol=0, atol=1e-12)


@partial(jit, static_argnames="frames")
def rates_by_autodiff(model, frames, q, v):
    """J of the chart around q a moment later, differentiated."""

    def later(s):
        here, t = retract(model, q, s * v), T + s
        chart = jax.jacfwd(lambda xdot: rate(model, q, s * v, xdot))(v)
        return [m.jacobian @ chart for m in frame_motions(model, frames, here, v, v, t)]

    return jax.jvp(later, (0.0,), (1.0,))[1]


@pytest.mark.parametrize("robot", ["crawler", "driven"])
def test_rates_of_jacobians_are_their_derivatives(rng, robot):
    model, frames = model_of(robot), FRAMES[robot]
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    exact = rates_by_autodiff(model, frames, q, v)
    for found, expected in zip(frame_motions(model, frames, q, v, v), exact, strict=True):
        size = np.abs(expected).max()
        assert size > 0.01
        np.testing.assert_allclose(found.jacobian_rate, expected, rtol=0, atol=TOL[robot] * size)


@jit
def all_poses(model, q):
    """Poses of the named frames and of the arm's own grid, and its shape at the grid's points."""
    motion = kinematics(model, at(q, np.zeros(model.nv)))
    samples = motion.groups[-1].pose
    sampled = Pose(samples.rotation[0], samples.position[0] + motion.origin)
    points = np.append(np.asarray(model_of("crawler").groups[-1].grid.points[0]), [0.0, 0.3])
    return frame_poses(model, q), sampled, rod_shape(model, "arm", q, points)


def test_poses_agree_whichever_function_gives_them(rng):
    model, frames = model_of("crawler"), FRAMES["crawler"]
    q, zero = random_configuration(model, rng), np.zeros(model.nv)
    named, sampled, shape = all_poses(model, q)
    for found, expected in zip(shape, sampled, strict=True):
        np.testing.assert_allclose(found[:-2], expected, atol=1e-10)
    names = [f.name for f in model.topology.frames]
    eye, claw, inside = (m.pose for m in frame_motions(model, frames, q, zero, zero))
    for pose, expected in (
        (eye, [part[names.index("eye")] for part in named]),
        (claw, [part[names.index("claw")] for part in named]),
        (inside, [part[-1] for part in shape]),
    ):
        np.testing.assert_allclose(pose.rotation, expected[0], atol=1e-10)
        np.testing.assert_allclose(pose.position, expected[1], atol=1e-10)


def test_frames_keep_their_offsets_to_their_parents(rng):
    """The arm starts in the hull; the claw sits 2 cm on and 1 cm up from its tip."""
    model = model_of("crawler")
    q = random_configuration(model, rng)
    named, _, shape = all_poses(model, q)
    names = [f.name for f in model.topology.frames]
    hull, arm, claw = (
        Pose(*(np.asarray(part[names.index(name)]) for part in named))
        for name in ("hull", "arm", "claw")
    )
    for parent, child, offset in (
        (arm, claw.position, (0.02, 0.0, 0.01)),
        (hull, shape.position[-2], (0.1, 0.0, 0.0)),
    ):
        np.testing.assert_allclose(
            parent.rotation.T @ (child - parent.position), offset, atol=1e-12
        )
    np.testing.assert_allclose(claw.rotation, arm.rotation, atol=1e-12)
    start = hull.rotation @ Rotation.from_rotvec([0, 0.5, 0.2]).as_matrix()
    np.testing.assert_allclose(shape.rotation[-2], start, atol=1e-12)
    slot = find_joint(model, "hull").q
    np.testing.assert_allclose(hull.position, q[slot][4:], atol=1e-12)
    expected = Rotation.from_quat(q[slot][:4], scalar_first=True).as_matrix()
    np.testing.assert_allclose(hull.rotation, expected, atol=1e-12)


def test_jacobian_columns_of_what_does_not_carry_the_frame_are_zero(rng):
    model = model_of("crawler")
    q, zero = random_configuration(model, rng), np.zeros(model.nv)
    fin = find_joint(model, "fin").v
    eye, claw, inside = frame_motions(model, FRAMES["crawler"], q, zero, zero)
    for motion in (claw, inside):
        np.testing.assert_array_equal(motion.jacobian[:, fin], 0.0)
    assert np.abs(eye.jacobian[:, fin]).max() > 0.1


def test_strain_along_a_rod_is_rest_plus_modes(rng):
    model = model_of("reissner")
    q = random_configuration(model, rng)
    u = np.linspace(0.0, 1.0, 5)
    field = model.groups[0].grid.field
    expected = model.groups[0].grid.rest[0, 0] + field.values(u) @ q
    np.testing.assert_allclose(rod_strain(model, "arm", q, 5), expected, atol=1e-14)


@pytest.mark.parametrize(
    ("ask", "parts"),
    [
        (lambda m, q: frame_motion(m, "leg", q), ("'leg'", "hull", "eye")),
        (lambda m, q: frame_motion(m, "hull", q, fraction=0.5), ("'hull'", "arm")),
        (lambda m, q: rod_shape(m, "claw", q), ("'claw'", "arm")),
        (lambda m, q: find_joint(m, "arm"), ("'arm'", "hull", "fin")),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(ask, parts):
    model = model_of("crawler")
    with pytest.raises(ArgumentError) as caught:
        ask(model, np.zeros(model.nq))
    assert all(part in str(caught.value) for part in parts)


@pytest.mark.parametrize("outside", [-0.1, 1.5, np.nan])
def test_points_outside_a_rod_are_refused(outside):
    model = model_of("driven")
    with pytest.raises(ArgumentError, match=r"fraction.*\[0, 1\]"):
        jax.eval_shape(lambda q: rod_shape(model, "arm", q, np.array([outside])), np.zeros(9))


def test_poses_of_one_instant_are_those_of_many():
    """A product of poses must not be written over what it is computed from (XLA did, in a batch of one)."""
    rod = sp.Rod("arm", length=0.3, section=sp.Circle(5e-3), strains="planar", basis=1,
                 material=sp.Material(E=1e8, density=1000.0), joint=sp.Revolute("y"))  # fmt: skip
    model = sp.Robot(rod).build()
    every = jit(lambda model, q: jax.vmap(lambda q: frame_poses(model, q))(q))
    turned = np.array([[0.2, 0.3]])
    one, two = every(model, turned), every(model, np.repeat(turned, 2, axis=0))
    np.testing.assert_allclose(one.position[0], two.position[0], rtol=1e-12)
    np.testing.assert_allclose(one.rotation[0], two.rotation[0], rtol=1e-12, atol=1e-15)
