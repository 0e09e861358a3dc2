"""Rods pushed out of their base: the inertia of material that slides past the samples."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

import supple as sp
from supple.errors import DescriptionError
from supple.lie import so3
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.energy import energies, momentum
from supple.mechanics.inverse_dynamics import element_stiffness, inverse_dynamics
from tests.samples import random_motion
from tests.tools import check_tangent, jit

LENGTH, LINE, NOW = 0.5, 0.3, 0.4
TOL_TANGENT = 1e-8  # relative; pose error of the grid
TOL_PATH = 1e-6  # relative; classical Runge-Kutta with 40 steps, and twelve Gauss points


def pushed(t):
    return 1.0 + 0.6 * t - 0.9 * t**2


def rod(**options):
    thin = sp.GivenProperties((1e-3, 1e-3, 1e-3, 1.0, 1.0, 1.0), (1e-14,) * 3 + (LINE,) * 3)
    base = dict(length=LENGTH, properties=thin, basis=3, nodes=18, growth=pushed, slides=True)
    return sp.Rod("rod", **{**base, **options})


@cache
def alone(slides=True):
    return sp.Robot(rod(slides=slides), gravity=(0, 0, 0)).build()


@cache
def carried():
    """On a floating body, with another rod and a weight at its tip."""
    steel = sp.Material(E=2e8, density=2000.0)
    return sp.Robot(
        sp.Body("base", mass=0.5, inertia=(2e-3, 3e-3, 4e-3), joint=sp.Free()),
        rod(parent="base", properties=None, section=sp.Circle(8e-3), material=steel, basis=2,
            strains="reissner"),
        sp.Rod("next", parent="rod", length=0.3, section=sp.Circle(5e-3), material=steel, basis=1,
               joint=sp.Revolute("y"), nodes=12),
        sp.Body("weight", parent="next", mass=0.1),
    ).build()  # fmt: skip


def test_the_tangent_is_the_derivative(rng):
    model = carried()
    c = random_motion(model, rng)._replace(t=np.asarray(NOW))
    check_tangent(model, c, TOL_TANGENT)


def test_the_balance_is_that_of_material_points():
    """∫ ρA r̈ · δr over the material outside the base, r̈ by differentiating its path twice."""
    model = alone()
    q, v, a = np.random.default_rng(1).normal(size=(3, model.nv)) * np.array([[2.0], [3.0], [4.0]])
    group = model.groups[0]
    field = group.grid.field

    def place(u, q, length):
        """Position at the fraction u, by Runge-Kutta on R' = L R κ̂, r' = L R e."""

        def slope(y, s):
            curvature = (field.values(s[None])[0] @ q)[:3]
            return length * jnp.concatenate([y[:, :3] @ so3.hat(curvature), y[:, :1]], axis=1)

        h = u / 40

        def step(y, s):
            k1 = slope(y, s)
            k2 = slope(y + h / 2 * k1, s + h / 2)
            k3 = slope(y + h / 2 * k2, s + h / 2)
            k4 = slope(y + h * k3, s + h)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        start = jnp.concatenate([jnp.eye(3), jnp.zeros((3, 1))], axis=1)
        return jax.lax.scan(step, start, h * jnp.arange(40))[0][:, 3]

    def at_point(u):
        length = LENGTH * pushed(NOW)
        from_tip = (1 - u) * length

        def path(s):
            now = LENGTH * pushed(NOW + s)
            return place(1 - from_tip / now, q + s * v + s**2 / 2 * a, now)

        def rate(s):
            return jax.jvp(path, (s,), (jnp.ones(()),))[1]

        change = jax.jvp(rate, (jnp.zeros(()),), (jnp.ones(()),))[1]
        return jax.jacfwd(lambda q: place(u, q, length))(jnp.asarray(q)).T @ change * length

    nodes, weights = leggauss(12)
    found = jit(jax.vmap(at_point))(jnp.asarray((nodes + 1) / 2))
    expected = LINE / 2 * weights @ np.asarray(found)

    c = Coordinates(q, 0 * q, v, a, np.asarray(NOW))
    elastic = np.asarray(element_stiffness(model.with_lengths_at(jnp.asarray(NOW)), 0)[0]) @ q
    ours = np.asarray(jit(inverse_dynamics)(model, c)) - elastic
    np.testing.assert_allclose(ours, expected, rtol=0, atol=TOL_PATH * np.abs(expected).max())


@pytest.mark.parametrize(("slides", "share"), [(True, 1.0), (False, 0.5)])
def test_a_straight_rod_is_pushed_out_as_a_whole_or_grows_everywhere(slides, share):
    """All of its mass moves with its tip, or in proportion to the place along it."""
    model = alone(slides)
    zero = np.zeros(model.nv)
    length, speed = LENGTH * pushed(NOW), LENGTH * (0.6 - 1.8 * NOW)
    found = jit(momentum)(model, zero, zero, NOW)
    np.testing.assert_allclose(found.linear, (share * LINE * length * speed, 0, 0), atol=1e-12)
    kinetic = jit(energies)(model, zero, zero, NOW).kinetic
    part = 1.0 if slides else 1 / 3
    np.testing.assert_allclose(kinetic, part * LINE * length * speed**2 / 2, rtol=1e-12)


def test_rods_that_cannot_slide_are_refused():
    with pytest.raises(DescriptionError, match="slides: got True; need a law of growth"):
        rod(growth=None)
    with pytest.raises(DescriptionError, match="basis without breaks"):
        rod(basis=sp.PiecewiseConstant(2))
    with pytest.raises(DescriptionError, match="without damping"):
        rod(properties=None, section=sp.Circle(1e-3),
            material=sp.Material(E=1e9, density=1e3, damping=sp.StiffnessDamping(1e-3)))  # fmt: skip
