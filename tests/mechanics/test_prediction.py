"""Guesses of motion in which the world's turns go on."""

import jax.numpy as jnp
import numpy as np

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.kinematics import kinematics
from supple.mechanics.prediction import turning_on
from supple.mechanics.tree import depth_of
from tests.tools import jit

RUBBER = sp.Material(E=1e6, density=1000.0)
STEP = 1e-3


def tree():
    shared = dict(length=0.3, section=sp.Circle(0.01), material=RUBBER, basis=2, nodes=6)
    return sp.Robot(
        sp.Body("base", joint=sp.Free(), mass=1.0, inertia=(0.1, 0.2, 0.3)),
        sp.Rod("a", parent="base", **shared),
        sp.Rod("b", parent="a", joint=sp.Spherical(), **shared),
        sp.Rod("c", parent="a", **shared),
        sp.Rod("d", parent="c", **shared),
    ).build()


def angular_accelerations(model, c):
    """Of the ends of all elements."""
    motion = kinematics(model, c)
    return jnp.concatenate([group.acceleration[:, -1, :3] for group in motion.groups])


def test_ends_keep_their_angular_accelerations_to_second_order(rng):
    """A wild motion that goes on for a step by its coordinates; ẍ = x/h² + …, ẋ = x/h + …"""
    model = tree()
    q = jnp.asarray(sp.initial_state(model).q)
    v, a = rng.normal(size=model.nv), 30.0 * rng.normal(size=model.nv)
    zero, t = jnp.zeros(model.nv), jnp.zeros(())

    def compared(h):
        x = h * v + h**2 / 2 * a
        now = Coordinates(q, zero, v, a, t)

        def then(added):
            return Coordinates(q, x + added, v + h * a + added / h, a + added / h**2, t + h)

        added = turning_on(model, now, then(zero), 1 / h**2)
        wanted = angular_accelerations(model, now)
        return (
            jnp.max(jnp.abs(angular_accelerations(model, then(zero)) - wanted)),
            jnp.max(jnp.abs(angular_accelerations(model, then(added)) - wanted)),
        )

    plain, better = jit(compared)(STEP)
    shorter = jit(compared)(STEP / 10)[1]
    assert better < 0.02 * plain
    np.testing.assert_allclose(shorter, better / 100, rtol=0.2)


def test_depth_counts_the_longest_way():
    assert depth_of((-1, 0, 1, 0, -1)) == 3
    assert depth_of((1, -1)) == 2
    assert depth_of(()) == 0
