"""The X-joint: pivots, closed forms, and the linkage of bodies and closures that it stands for."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.model.joints import AbstractJoint
from tests.tools import jit

BAR, DIAGONAL = 0.05, 0.1
SPEC = sp.XJoint(bar=BAR, diagonal=DIAGONAL, axis="-y", along="z")
TOL = 1e-13  # products of a few numbers of order one, over meters
ANGLES = np.linspace(-2.5, 2.5, 7)


@cache
def bars():
    """World ends of the top and of the diagonals at many angles: (angle, bar, end, 3)."""
    joint = SPEC.make("top")
    poses = jit(jax.vmap(lambda a: joint.poses(a[None], jnp.zeros(1))))(jnp.asarray(ANGLES))
    along, aside = np.array([0.0, 0.0, 1.0]), np.array([-1.0, 0.0, 0.0])  # -y × z
    halves = [BAR / 2 * aside, DIAGONAL / 2 * along, DIAGONAL / 2 * along]
    return np.stack([
        np.stack([
            poses.position[:, k] + side * poses.rotation[:, k] @ half for side in (-1.0, 1.0)
        ], axis=1)
        for k, half in enumerate(halves)
    ], axis=1)  # fmt: skip


def test_diagonals_cross_from_the_ends_of_the_base_to_those_of_the_top():
    top, left, right = np.moveaxis(bars(), 1, 0)
    base = BAR / 2 * np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(left[:, 0], np.tile(-base, (len(ANGLES), 1)), atol=TOL)
    np.testing.assert_allclose(right[:, 0], np.tile(base, (len(ANGLES), 1)), atol=TOL)
    np.testing.assert_allclose(left[:, 1], top[:, 0], atol=TOL)  # the right end of the top
    np.testing.assert_allclose(right[:, 1], top[:, 1], atol=TOL)


def test_sides_have_their_closed_form():
    top = bars()[:, 0]
    base = BAR / 2 * np.array([1.0, 0.0, 0.0])
    reach = np.sqrt(DIAGONAL**2 - (BAR * np.cos(ANGLES / 2)) ** 2)
    lean = BAR * np.sin(ANGLES / 2)
    # A positive angle about -y, seen with z upwards from its tip, turns the top to -x: that side is shorter.
    np.testing.assert_allclose(np.linalg.norm(top[:, 1] + base, axis=1), reach - lean, atol=TOL)
    np.testing.assert_allclose(np.linalg.norm(top[:, 0] - base, axis=1), reach + lean, atol=TOL)


def test_frames_and_pivots_move_as_their_closed_forms_say(rng):
    """Subspaces of all bars are those that differentiation gives; pivots turn as bars do."""
    joint = SPEC.make("top")
    q, x, xdot, xddot = jnp.asarray(rng.uniform(-1, 1, (4, 1)))

    def frame(k):
        class One(AbstractJoint):
            nq = nv = 1
            lengths = ()
            constant_subspace = False

            def pose(self, q, x):
                poses = joint.poses(q, x)
                return sp.Pose(poses.rotation[k], poses.position[k])

            def subspace(self, q, x):
                pose, change = jax.jvp(lambda x: self.pose(q, x), (x,), (jnp.ones(1),))
                spin = pose.rotation.T @ change.rotation
                angular = jnp.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
                return jnp.concatenate([angular, pose.rotation.T @ change.position])[:, None]

            def closing_rows(self, length):
                return None

        return One()

    @jit
    def both():
        ours = joint.subspace_motions(q, x, xdot, xddot, joint.poses(q, x))
        one = [frame(k) for k in range(3)]
        theirs = [f.subspace_motion(q, x, xdot, xddot, f.pose(q, x)) for f in one]
        return ours, jax.tree.map(lambda *parts: jnp.stack(parts), *theirs)

    for a, b in zip(*both(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11)

    ours, _ = both()
    top, left, right = -ours.value[:, 1, 0] * xdot[0]  # about -y
    speeds = joint.pivot_speeds(q, x, xdot)
    np.testing.assert_allclose(speeds, [left, right, top - left, top - right], atol=TOL)


def test_a_diagonal_no_longer_than_the_bars_is_refused():
    with pytest.raises(sp.DescriptionError, match=r"joint.diagonal: got 0.05; need more than"):
        sp.Robot(sp.Body("top", mass=1.0, joint=sp.XJoint(bar=0.05, diagonal=0.05))).build()
    with pytest.raises(sp.DescriptionError, match=r"link: got 'middle'; need .*'left' or 'right'"):
        sp.Robot(
            sp.Body("top", mass=1.0, joint=SPEC),
            sp.Body("a", mass=1.0, parent="top", link="middle"),
        )
    with pytest.raises(sp.DescriptionError, match=r"link: got 'left'; need .*it has none"):
        sp.Robot(sp.Body("top", mass=1.0), sp.Body("a", mass=1.0, parent="top", link="left"))


RUBBER = sp.Material(E=2e7, density=1100.0)
FRICTION = 2e-4  # N m s/rad, in each pivot


def bar(name, mass, length, **place):
    inertia = (mass * length**2 / 12,) * 3
    return sp.Body(name, mass=mass, inertia=inertia, **place)


def tail(parent):
    return sp.Rod("tail", 0.1, sp.Circle(3e-3), RUBBER, strains="planar", basis=2, parent=parent,
                  rotation=sp.along("z"))  # fmt: skip


PUSH = sp.Wrench("push", on="tail", force=(0.4, 0.0, 0.0))


def with_x_joints():
    """Two X-joints that carry a rod."""
    items = []
    for parent, name in (("ground", "1"), ("top 1", "2")):
        joint = sp.XJoint(bar=BAR, diagonal=DIAGONAL, axis="-y", along="z", damping=FRICTION)
        items += [bar(f"top {name}", 0.032, BAR, parent=parent, joint=joint)]
        items += [
            bar(f"{side} {name}", 0.064, DIAGONAL, parent=f"top {name}", link=side)
            for side in ("left", "right")
        ]
    return sp.Robot(*items, tail("top 2"), PUSH)


def with_closures():
    """The same linkages as bodies on hinges, closed by hinges."""
    hinge = sp.Revolute("-y", damping=FRICTION)
    lean = float(np.arcsin(BAR / DIAGONAL))
    items = []
    for parent, name in (("ground", "1"), ("top 1", "2")):
        for side, sign in (("left", -1.0), ("right", 1.0)):
            # Diagonals start upright and lean by their hinges; their frames are at their middles.
            items.append(bar(
                f"{side} {name}", 0.064, DIAGONAL, parent=parent, joint=hinge,
                position=(sign * BAR / 2, 0, 0), rotation=(0, -sign * lean, 0),
                joint_position=(0, 0, -DIAGONAL / 2),
            ))  # fmt: skip
        items.append(bar(
            f"top {name}", 0.032, BAR, parent=f"left {name}", joint=hinge,
            position=(0, 0, DIAGONAL / 2), rotation=(0, -lean, 0), joint_position=(BAR / 2, 0, 0),
        ))  # fmt: skip
        items.append(sp.Closure(
            f"pivot {name}", on=f"right {name}", to=f"top {name}", joint=hinge,
            position=(0, 0, DIAGONAL / 2), to_position=(-BAR / 2, 0, 0),
        ))  # fmt: skip
    return sp.Robot(*items, tail("top 2"), PUSH)


def test_two_stacked_x_joints_with_a_rod_move_as_the_linkage_of_bodies_and_closures():
    """Positions, velocities and energies, and what friction in the hinges takes."""
    run = dict(dt=2.5e-3, scheme=sp.radau(), t_eval=0.02)
    one, two = (sp.simulate(robot, 0.1, **run) for robot in (with_x_joints(), with_closures()))
    assert np.abs(one.joint("top 2").position).max() > 0.3  # they fall over
    names = ["top 1", "left 1", "right 1", "top 2", "left 2", "right 2", "tail"]
    for name in names:
        np.testing.assert_allclose(one.position(name), two.position(name), atol=1e-7)
        np.testing.assert_allclose(one.twist(name), two.twist(name), rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(one.energies, two.energies, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-7)
    work = PUSH.force[0] * (one.position("tail")[-1, 0] - one.position("tail")[0, 0])
    gained = one.energies.total[-1] - one.energies.total[0]
    assert work - gained > 1e-4  # what the pivots took
