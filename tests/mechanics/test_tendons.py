"""Tendons: textbook shapes, moment arms, the exact tangent, and the three ways of driving them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.inverse_dynamics import equations
from supple.mechanics.inverse_dynamics_tangent import inverse_dynamics_tangent
from supple.mechanics.local import Coordinates
from supple.mechanics.tendons import tendon_motion
from tests.tools import jit

RADIUS, LENGTH, OFFSET = 5e-3, 0.3, 4e-3
RUBBER = sp.Material(E=1e8, density=1000.0)
EI = 1e8 * np.pi * RADIUS**4 / 4
EA = 1e8 * np.pi * RADIUS**2


def arm(*tendons, **options):
    shape = {"strains": "reissner", "basis": 3, **options}
    rod = sp.Rod("arm", length=LENGTH, section=sp.Circle(RADIUS), material=RUBBER, **shape)
    return sp.Robot(rod, *tendons, gravity=(0.0, 0.0, 0.0))


def helix(u):
    return OFFSET * np.stack([np.cos(3 * u), np.sin(3 * u)], axis=1)


def at_rest(found):
    zero = jnp.zeros(found.model.nv)
    forces = jnp.asarray(found.multipliers) if found.model.equations else None
    return Coordinates(jnp.asarray(found.q), zero, zero, zero, jnp.zeros(()), forces)


def test_a_parallel_tendon_bends_the_rod_towards_itself_with_constant_curvature():
    tension = 2.0
    held = sp.equilibrium(arm(sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=tension)))
    strain = held.strain("arm")
    np.testing.assert_allclose(strain[:, 2], tension * OFFSET / EI, rtol=1e-10)
    np.testing.assert_allclose(strain[:, 3], 1 - tension / EA, rtol=1e-12)
    assert held.position("arm")[1] > 0  # pulled at +y, it goes to +y


def test_a_tendon_that_ends_within_the_rod_leaves_the_rest_straight():
    """With bending alone, the moment T d acts up to the end of the tendon."""
    tendon = sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=2.0, end=0.6)
    basis = sp.PiecewiseConstant(5)
    held = sp.equilibrium(arm(tendon, strains="planar", basis=basis))
    curvature = held.strain("arm", 101)[:, 2]
    expected = np.where(np.linspace(0, 1, 101) < 0.6, 2.0 * OFFSET / EI, 0.0)
    inside = np.abs(np.linspace(0, 1, 101) - 0.6) > 1e-9
    np.testing.assert_allclose(curvature[inside], expected[inside], atol=1e-10)


def test_driven_by_tension_by_length_or_through_a_spring_the_shape_is_the_same():
    where = {"on": "arm", "offset": (OFFSET, 0.0)}
    by_tension = sp.equilibrium(arm(sp.Tendon("pull", tension=2.0, **where)))
    now = jit(tendon_motion)(by_tension.model, at_rest(by_tension))
    pull = float(by_tension.model.tendons.rest[0] - now.length[0])
    by_length = sp.equilibrium(arm(sp.Tendon("pull", pull=pull, **where)))
    np.testing.assert_allclose(by_length.multipliers, [2.0], rtol=1e-9)
    np.testing.assert_allclose(by_length.q, by_tension.q, atol=1e-10)
    elastic = sp.Tendon("pull", pull=pull + 2.0 / 500.0, stiffness=500.0, **where)
    # What is left of the smooth passage from slack to taut: width² / stretch.
    np.testing.assert_allclose(sp.equilibrium(arm(elastic)).q, by_tension.q, atol=1e-8)


def test_a_slack_tendon_does_not_push():
    slack = sp.Tendon("slack", on="arm", offset=(OFFSET, 0.0), pull=-0.01, stiffness=500.0)
    held = sp.equilibrium(arm(slack))
    assert np.abs(held.strain("arm")[:, 2]).max() < 1e-6 * 0.01 * 500 * OFFSET / EI


def several():
    rods = [
        sp.Rod("a", length=0.3, section=sp.Circle(RADIUS), material=RUBBER, strains="reissner",
               basis=2, joint=sp.Revolute("y")),
        sp.Rod("b", parent="a", length=0.2, section=sp.Circle(RADIUS), material=RUBBER, basis=2,
               joint=sp.Revolute("z")),
    ]  # fmt: skip
    return sp.Robot(
        *rods,
        sp.Tendon("helix", on=("a", "b"), offset=helix, end=0.7, tension=lambda t: 1 + t),
        sp.Tendon("wound", on="a", offset=(0.0, 3e-3), pull=lambda t: 1e-3 * t),
        sp.Tendon("spring", on=("a", "b"), offset=(-3e-3, 0.0), pull=lambda t: 1e-3 * t,
                  stiffness=1e3, damping=5.0),
    ).build()  # fmt: skip


def test_the_tangent_is_exact_and_moment_arms_are_gradients_of_lengths(rng):
    model = several()
    n = model.nv
    x, xdot, xddot = rng.normal(size=(3, n)) * np.array([[0.1], [1.0], [1.0]])
    forces = rng.normal(size=model.equations)
    c = Coordinates(0.5 * rng.normal(size=n), x, xdot, xddot, np.asarray(0.4), forces)

    def of(x, xdot, multipliers):
        return equations(model, c._replace(x=x, xdot=xdot, multipliers=multipliers))

    def length(x):
        return tendon_motion(model, c._replace(x=x)).length

    by_x, by_rate, by_force = jit(jax.jacfwd(of, argnums=(0, 1, 2)))(x, xdot, forces)
    found = jit(inverse_dynamics_tangent)(model, c)
    for ours, theirs in (
        (found.stiffness, by_x[:n]),
        (found.damping, by_rate[:n]),
        (found.jacobian, by_x[n:]),
        (found.jacobian.T, by_force[:n]),
    ):
        size = np.abs(np.asarray(theirs)).max()
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * size)
    now = jit(tendon_motion)(model, c)
    np.testing.assert_allclose(now.arms, jit(jax.jacfwd(length))(x), atol=1e-12)
    np.testing.assert_allclose(now.rate, now.arms @ xdot, atol=1e-12)


def test_length_is_that_of_the_curve_in_space():
    """∫ |Γ| equals the length of the channel drawn through the deformed rod."""
    held = sp.equilibrium(arm(sp.Tendon("helix", on="arm", offset=helix, tension=3.0)))
    points = 2001
    shape = held.shape("arm", points)
    offset = np.zeros((points, 3))
    offset[:, 1:] = helix(np.linspace(0, 1, points))
    curve = shape.position + np.einsum("nij,nj->ni", shape.rotation, offset)
    drawn = np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()
    found = jit(tendon_motion)(held.model, at_rest(held)).length
    np.testing.assert_allclose(found, [drawn], rtol=1e-6)  # chords: (Δ κ)²/24


def test_a_length_driven_run_repeats_a_tension_driven_one():
    """Record the length under a tension law, impose it: the tension comes out again."""
    where = {"on": "arm", "offset": (OFFSET, 0.0)}
    options = {"strains": "planar", "basis": 3}
    pulled = arm(sp.Tendon("pull", tension=_pulse, **where), **options)
    first = sp.simulate(pulled, 0.2, dt=1e-3, scheme=sp.generalized_alpha(0.8))
    model = pulled.build()
    zero = np.zeros(model.nv)

    def length(q, t):
        return tendon_motion(model, Coordinates(q, zero, zero, zero, t)).length[0]

    lengths = np.asarray(jit(jax.vmap(length))(first.q, first.t))
    law = sp.Spline(first.t, float(model.tendons.rest[0]) - lengths)
    wound = arm(sp.Tendon("pull", pull=law, **where), **options)
    second = sp.simulate(wound, 0.2, dt=1e-3, scheme=sp.generalized_alpha(0.8))
    inner = slice(20, -20)  # the spline's ends are less accurate
    gap = np.abs(second.position("arm") - first.position("arm")).max() / LENGTH
    assert gap < 1e-6
    tension = first.tendon("pull")[1]
    np.testing.assert_allclose(tension, _pulse(first.t), atol=1e-12)
    np.testing.assert_allclose(first.tendon("pull")[0], lengths, atol=1e-12)
    np.testing.assert_allclose(second.tendon("pull")[1], second.multipliers[:, 0], atol=1e-12)
    assert np.abs(second.multipliers[inner, 0] - tension[inner]).max() < 1e-2 * tension.max()


def _pulse(t):
    return 2.0 * jnp.sin(np.pi * jnp.clip(t / 0.2, 0.0, 1.0)) ** 4


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"on": "leg", "tension": 1.0}, "pull: on: got 'leg'; need a rod, one of: arm"),
        ({"on": "arm"}, "pull: tension, pull: got .*; need one of them"),
        ({"on": "arm", "tension": 1.0, "pull": 0.1}, "need one of them"),
        ({"on": "arm", "tension": np.nan}, "pull: tension: got nan"),
        ({"on": "arm", "tension": 1.0, "end": 1.5}, "pull: end: got 1.5"),
        ({"on": "arm", "tension": 1.0, "start": 0.5, "end": 0.5}, "more than start"),
        ({"on": "arm", "tension": 1.0, "offset": (1.0, 2.0, 3.0)}, r"pull: offset: got \(3, 3\)"),
        ({"on": "arm", "pull": 0.1, "stiffness": -1.0}, "pull: stiffness: got -1.0"),
    ],
)
def test_bad_tendons_are_named(options, match):
    with pytest.raises(sp.DescriptionError, match=match):
        arm(sp.Tendon("pull", **options))
