"""A floating chain moves the same whichever end it is described from.

body - rod - body, with the free joint on the first or on the last body. Read from the other end, with
ū = 1 - u and frames turned by π about their z (which keeps x the tangent), the rod's strain is
ξ̄(ū) = -Ad(C⁻¹) ξ(u), C = Rz(π): κ̄ = (κx, κy, -κz), γ̄ = (γx, γy, -γz). Legendre modes mirror with
(-1)^k, so the reversed strain is in the same basis.
"""

from functools import cache

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.mechanics.frames import find_joint, find_rod, frame_motion
from tests.samples import FLAT, RUBBER, accelerate, random_configuration, random_vector
from tests.tools import jit

TOL = 1e-9  # relative to the largest acceleration; both ends use the same symmetric grid
HALF_TURN = np.array([0.0, 0.0, np.pi])
BASIS = 3
MIRROR = np.tile((-1.0) ** np.arange(BASIS), 6)
SIGN = np.repeat([1.0, 1.0, -1.0, 1.0, 1.0, -1.0], BASIS)

HEAD = dict(mass=0.4, inertia=(2e-3, 3e-3, 4e-3), com=(0.03, 0.01, -0.02))
TAIL = dict(mass=0.2, inertia=(1e-3, 3e-3, 2.5e-3), com=(-0.02, 0.05, 0.01))
NECK = dict(position=(0.1, -0.05, 0.02), rotation=(0.3, 0.2, -0.4))  # rod's start on the head
# A rest strain that is its own mirror image: no bending about z, no shear along z.
REST = (0.5, -0.7, 0.0, 1.02, 0.03, 0.0)


def chain(first, start, last, end) -> sp.Robot:
    """body "first" (floating) - "rod" - body "last"; the same names both ways, to compile once."""
    return sp.Robot(
        sp.Body("first", joint=sp.Free(), **first),
        sp.Rod(
            "rod", parent="first", length=0.8, section=FLAT, material=RUBBER, strains="reissner",
            basis=BASIS, rest=REST, nodes=16, **start,
        ),
        sp.Body("last", parent="rod", **last, **end),
    )  # fmt: skip


@cache
def both_ways():
    forward = chain(HEAD, NECK, TAIL, {}).build()
    # From the tail: the rod starts turned by π; the head hangs at its end, seen from there.
    back = Rotation.from_rotvec(HALF_TURN)
    neck = Rotation.from_rotvec(NECK["rotation"])
    head = back.inv() * neck.inv()
    seat = dict(rotation=head.as_matrix(), position=tuple(-head.apply(np.array(NECK["position"]))))
    reverse = chain(TAIL, dict(rotation=HALF_TURN), HEAD, seat).build()
    return forward, reverse


@jit
def tail_motion(model, q, v, a):
    return frame_motion(model, "last", q, v, a)


def mapped(forward, reverse, motion, strains):
    """(q, v, a) of the chain read from its tail, from the tail's motion and the strains."""
    rotation, position = (np.asarray(x) for x in motion.pose)
    (angular, linear), (turning, change) = (
        (x[:3], x[3:]) for x in (np.asarray(motion.twist), np.asarray(motion.acceleration))
    )
    q, v, a = np.zeros(reverse.nq), np.zeros(reverse.nv), np.zeros(reverse.nv)
    free, rod = find_joint(reverse, "first"), find_rod(reverse, "rod")
    quaternion = Rotation.from_matrix(np.array(rotation)).as_quat(scalar_first=True)
    q[free.q] = np.concatenate([quaternion, position])
    v[free.v] = np.concatenate([angular, rotation @ linear])
    a[free.v] = np.concatenate([turning, rotation @ (change + np.cross(angular, linear))])
    for target, value, where in zip((q, v, a), strains, (rod.q, rod.v, rod.v), strict=True):
        target[where] = SIGN * MIRROR * value
    return q, v, a


@pytest.mark.parametrize("gravity", [True, False], ids=["falling", "weightless"])
def test_a_chain_accelerates_the_same_from_either_end(rng, gravity):
    forward, reverse = both_ways()
    if not gravity:
        forward, reverse = (
            eqx.tree_at(lambda m: m.gravity, m, np.zeros(3)) for m in (forward, reverse)
        )
    q = random_configuration(forward, rng, bend=2.0)
    v = random_vector(forward, rng, 1.0, 2.0)
    a = np.asarray(accelerate(forward, q, v, 0.0))
    rod = find_rod(forward, "rod")
    strains = q[rod.q], v[rod.v], a[rod.v]
    motion = tail_motion(forward, q, v, a)
    there = mapped(forward, reverse, motion, strains)
    found = np.asarray(accelerate(reverse, there[0], there[1], 0.0))
    np.testing.assert_allclose(found, there[2], rtol=0, atol=TOL * np.abs(there[2]).max())


def test_the_reversed_rod_leads_back_to_the_head(rng):
    """The map of states itself: poses, twists and accelerations of the head agree."""
    forward, reverse = both_ways()
    q = random_configuration(forward, rng, bend=2.0)
    v, a = random_vector(forward, rng, 1.0, 2.0), random_vector(forward, rng, 2.0, 3.0)
    rod, free = find_rod(forward, "rod"), find_joint(forward, "first")
    motion = tail_motion(forward, q, v, a)
    there = mapped(forward, reverse, motion, (q[rod.q], v[rod.v], a[rod.v]))
    head = jax.tree.map(np.asarray, tail_motion(reverse, *there))
    expected = Rotation.from_quat(q[free.q][:4], scalar_first=True).as_matrix()
    np.testing.assert_allclose(head.pose.rotation, expected, atol=1e-10)
    np.testing.assert_allclose(head.pose.position, q[free.q][4:], atol=1e-10)
    np.testing.assert_allclose(head.twist[:3], v[free.v][:3], atol=1e-9)
    np.testing.assert_allclose(expected @ head.twist[3:], v[free.v][3:], atol=1e-9)
    np.testing.assert_allclose(head.acceleration[:3], a[free.v][:3], atol=1e-8)
