"""Tendons: textbook shapes, moment arms, the exact tangent, and the three ways of driving them."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates, neutral, retract
from supple.mechanics.inverse_dynamics import equations
from tests.tools import check_tangent, driven, jit

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
    # An arc, towards the tendon at +y.
    curvature, stretch = tension * OFFSET / EI, 1 - tension / EA
    angle = curvature * LENGTH
    arc = stretch / curvature * np.array([np.sin(angle), 1 - np.cos(angle), 0.0])
    np.testing.assert_allclose(held.position("arm"), arc, atol=1e-8 * LENGTH)


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
    pull = LENGTH - by_tension.tendon("pull").length
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


def several(*others):
    rods = [
        sp.Rod("a", length=0.3, section=sp.Circle(RADIUS), material=RUBBER, strains="reissner",
               basis=2, joint=sp.Revolute("y")),
        sp.Rod("b", parent="a", length=0.2, section=sp.Circle(RADIUS), material=RUBBER, basis=2,
               position=(0.02, 0.0, 0.0), joint=sp.Revolute("z")),
        sp.Body("tool", parent="b", mass=0.1, inertia=(1e-5,) * 3, joint=sp.Spherical()),
    ]  # fmt: skip
    return sp.Robot(*rods, *others).build()


def inner_wires():
    """In channels, over joints, driven in all ways, one over a winch."""
    return several(
        sp.Motor("winch", torque=0.3, inertia=1e-6, gear=20.0, viscous=1e-5, friction=1e-3),
        sp.Motor("elbow", on="b", position=0.2, stiffness=2.0, damping=0.1, limit=0.3, inertia=1e-5),
        sp.Motor("base", on="a", velocity=0.2, damping=0.1),
        sp.Tendon("helix", on=("a", "b"), offset=helix, end=0.7, tension=lambda t: 1 + t),
        sp.Tendon("wound", on="a", offset=(0.0, 3e-3), pull=lambda t: 1e-3 * t),
        sp.Tendon("drum", on="a", offset=(2e-3, 3e-3), winch="winch", drum=0.01),
        sp.Tendon("spring", on=("a", "b"), offset=(-3e-3, 0.0), pull=lambda t: 1e-3 * t,
                  stiffness=1e3, damping=5.0),
    )  # fmt: skip


def outer_wires():
    """Straight lines: between discs, through a body, from the ground, and a spring."""
    through = {"ground": (0.05, 0.05, 0.0), "a": (0.01, 0.0), "b": helix, "tool": (0.01, 0.02, 0.0)}
    return several(
        sp.Tendon("discs", on="a", offset=helix, discs=4, pull=lambda t: 1e-3 * t),
        sp.Tendon("through", on=("ground", "a", "b", "tool"), offset=through, discs=(0.3, 0.5),
                  pull=0.0, stiffness=1e3, damping=2.0),
        sp.Tendon("led", on=("a", "b", "tool"), offset=through, pull=0.01),
        sp.Spring("spring", on="a", to="tool", fraction=0.4, to_position=(0.0, 0.1, 0.0),
                  stiffness=50.0, damping=1.0),
    )  # fmt: skip


def rubbing_wires():
    """With friction, where a tension does not act along the gradient of the length."""
    where = {"on": "a", "offset": helix, "friction": 0.2, "friction_speed": 0.05, "viscous": 3.0}
    return several(
        sp.Tendon("dry", pull=lambda t: 1e-3 * t, **where),
        sp.Tendon("elastic", **{**where, "offset": (3e-3, 0.0)}, pull=0.01, stiffness=1e3),
        sp.Tendon("discs", **where, discs=4, pull=lambda t: 1e-3 * t),
        sp.Tendon(
            "over", **{**where, "on": ("a", "b")}, discs=3, pull=0.01, stiffness=1e3, damping=2.0
        ),
    )


def long_wires():
    """In channels of several rods in a row, with friction and without, and springs to the ground."""
    rods = [
        sp.Rod(f"r{i}", length=0.2, section=sp.Circle(RADIUS), material=RUBBER, basis=2,
               **({"parent": f"r{i - 1}"} if i else {}))
        for i in range(3)
    ]  # fmt: skip
    where = {"on": ("r0", "r1", "r2"), "friction": 0.2, "friction_speed": 0.05, "viscous": 3.0}
    discs = {**where, "on": ("ground", "r0", "r1", "r2"), "discs": 3}
    offset = {"ground": (-0.05, 0.01, 0.0), "r0": helix, "r1": (3e-3, 1e-3), "r2": (2e-3, 0.0)}
    return sp.Robot(
        *rods,
        sp.Tendon("wound", **where, offset=helix, pull=lambda t: 1e-3 * t),
        sp.Tendon("given", **where, offset=(3e-3, 0.0), tension=2.0),
        sp.Tendon("elastic", **where, offset=(2e-3, 1e-3), pull=0.01, stiffness=1e3, damping=3.0),
        sp.Tendon("discs", **discs, offset=offset, pull=0.01, stiffness=1e3, damping=2.0),
        sp.Tendon("held", **discs, offset=offset, pull=lambda t: 1e-3 * t),
        sp.Spring(
            "tied", on="ground", to="r1", position=(0.1, 0.3, 0.0), stiffness=50.0, damping=1.0
        ),
        sp.Spring("bow", on="r0", to="r2", fraction=0.3, stiffness=20.0, damping=2.0),
    ).build()


@pytest.mark.parametrize("build", [inner_wires, outer_wires, rubbing_wires, long_wires])
def test_the_tangent_is_exact_and_moment_arms_are_gradients_of_lengths(build, rng):
    model = build()
    n = model.nv
    x, xdot, xddot = rng.normal(size=(3, n)) * np.array([[0.1], [1.0], [1.0]])
    forces = rng.normal(size=model.equations)
    q = np.asarray(retract(model, neutral(model), 0.5 * rng.normal(size=n)))
    c = Coordinates(q, x, xdot, xddot, np.asarray(0.4), forces)

    def length(x):
        return driven(model, c._replace(x=x)).length

    found = check_tangent(model, c, 1e-9)
    if not model.transmissions.rubs:
        np.testing.assert_allclose(found.force_jacobian, found.jacobian, atol=1e-13)
    gradient, now = jit(jax.jacfwd(length), quick=True)(x), jit(driven, quick=True)(model, c)
    imposed = model.transmissions.imposed
    np.testing.assert_allclose(gradient[imposed], found.jacobian, atol=1e-9)
    np.testing.assert_allclose(now.rate, gradient @ xdot, atol=1e-9)
    if model.transmissions.segments.size == 0:
        channels, affine = model.transmissions.channels, model.transmissions.affine
        parts = [*zip(channels.spans, channels.of, now.channels.arms, strict=True)]
        parts += [*zip(affine.spans, affine.of, affine.arms, strict=True)]
        arms = np.zeros_like(gradient)
        for (first, stop), of, own in parts:
            arms[of, first:stop] += own[: stop - first]
        np.testing.assert_allclose(arms, gradient, atol=1e-12)


@pytest.mark.parametrize(("rate", "sign"), [(5.0, -1), (-5.0, 1)])
def test_friction_takes_tension_away_like_a_capstan(rate, sign):
    """On an arc of curvature κ the tension is T₀ exp(∓ μ κ X): less towards the end when pulled."""
    mu, kappa = 0.3, 4.0
    tendon = sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=1.0, friction=mu,
                       friction_speed=1e-9)  # fmt: skip
    model = arm(tendon, strains="planar", basis=1).build()
    # Bending towards the tendon shortens it: it is being pulled.
    c = Coordinates(np.array([kappa]), np.zeros(1), np.array([rate]), np.zeros(1), np.zeros(()))
    now = jit(driven)(model, c)
    decay = sign * mu * kappa
    along = (np.exp(decay * LENGTH) - 1) / decay
    arms, pushes = now.channels.arms, now.channels.pushes
    np.testing.assert_allclose(arms, [[-OFFSET * LENGTH]], rtol=1e-12)
    np.testing.assert_allclose(pushes, [[-OFFSET * along]], rtol=1e-5)  # at its end it rests
    # What friction takes: power at the base less power on the rod.
    assert -now.effort @ (pushes - arms) @ c.xdot > 0


def test_friction_over_discs_takes_tension_away_at_each_of_them():
    """On an arc, a tendon turns at each inner disc by as much as the arc between discs does."""
    mu, kappa, discs = 0.3, 4.0, 6
    tendon = sp.Tendon("pull", on="arm", offset=(OFFSET, 0.0), tension=2.0, friction=mu,
                       friction_speed=1e-9, discs=discs)  # fmt: skip
    model = arm(tendon, strains="planar", basis=1).build()
    c = Coordinates(np.array([kappa]), np.zeros(1), np.array([5.0]), np.zeros(1), np.zeros(()))
    now = jit(driven)(model, c)
    step = kappa * LENGTH / (discs - 1)
    np.testing.assert_allclose(
        now.lines.share, np.exp(-mu * step * np.arange(discs - 1)), rtol=1e-9
    )
    # Each segment is a chord ℓ = 2 (1/κ - offset) sin(κ s / 2) of an arc of the rod's length s.
    half = step / 2
    chord = LENGTH / (discs - 1) * np.cos(half) * (1 / kappa - OFFSET) - 2 * np.sin(half) / kappa**2
    free = arm(replace(tendon, friction=0.0), strains="planar", basis=1).build()
    asked, asked_free = (jit(equations)(each, c) for each in (model, free))
    lost = 2.0 * np.sum(1 - np.asarray(now.lines.share))
    np.testing.assert_allclose(asked_free - asked, [lost * chord], rtol=1e-9)
    assert (asked - asked_free) @ c.xdot > 0


def test_length_is_that_of_the_curve_in_space():
    """∫ |Γ| equals the length of the channel drawn through the deformed rod."""
    held = sp.equilibrium(arm(sp.Tendon("helix", on="arm", offset=helix, tension=3.0)))
    points = 2001
    shape = held.shape("arm", points)
    offset = np.zeros((points, 3))
    offset[:, 1:] = helix(np.linspace(0, 1, points))
    curve = shape.position + np.einsum("nij,nj->ni", shape.rotation, offset)
    drawn = np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()
    np.testing.assert_allclose(held.tendon("helix").length, drawn, rtol=1e-6)  # chords: (Δ κ)²/24


def test_a_length_driven_run_repeats_a_tension_driven_one():
    """Record the length under a tension law, impose it: the tension comes out again."""
    where = {"on": "arm", "offset": (OFFSET, 0.0)}
    options = {"strains": "planar", "basis": 3}
    pulled = arm(sp.Tendon("pull", tension=_pulse, **where), **options)
    first = sp.simulate(pulled, 0.2, dt=1e-3, scheme=sp.generalized_alpha(0.8))
    model = pulled.build()
    zero = np.zeros(model.nv)

    def length(q, t):
        return driven(model, Coordinates(q, zero, zero, zero, t)).length[0]

    lengths = np.asarray(jit(jax.vmap(length))(first.q, first.t))
    law = sp.Spline(first.t, LENGTH - lengths)
    # At the ends of the pulse the tension is so small that what sampling leaves of it may have any sign.
    wound = arm(sp.Tendon("pull", pull=law, push=True, **where), **options)
    second = sp.simulate(wound, 0.2, dt=1e-3, scheme=sp.generalized_alpha(0.8))
    gap = np.abs(second.position("arm") - first.position("arm")).max() / LENGTH
    assert gap < 1e-7
    tension = first.tendon("pull").tension
    np.testing.assert_allclose(tension, _pulse(first.t), atol=1e-12)
    np.testing.assert_allclose(first.tendon("pull").length, lengths, atol=1e-12)
    np.testing.assert_allclose(second.tendon("pull").tension, second.multipliers[:, 0], atol=1e-12)
    # The first tension comes from the spline's second derivative, which is less accurate at its ends.
    assert np.abs(second.multipliers[:, 0] - tension).max() < 1e-5 * tension.max()


def _pulse(t):
    return 2.0 * jnp.sin(np.pi * jnp.clip(t / 0.2, 0.0, 1.0)) ** 4


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"on": "leg", "tension": 1.0}, "pull: on: got 'leg'; need one of: arm, ground"),
        ({"on": "arm"}, r"pull: tension, pull, winch: got \[\]; need a tension, or a pull"),
        ({"on": "arm", "tension": 1.0, "pull": 0.1}, "need a tension, or a pull, or a winch"),
        ({"on": "arm", "tension": -1.0}, "pull: tension: got -1.0; need tensions >= 0"),
        ({"on": "arm", "pull": 0.1, "winch": "w"}, "both a winch"),
        ({"on": "arm", "winch": "w", "drum": 0.01}, "pull: winch: got 'w'; need a motor"),
        ({"on": "arm", "tension": 1.0, "discs": (0.0, 0.5, 0.5)}, "increasing fractions"),
        ({"on": "ground", "tension": 1.0}, r"a point \(x, y, z\) for 'ground'"),
        ({"on": "arm", "tension": np.nan}, "pull: tension: got nan"),
        ({"on": "arm", "tension": 1.0, "end": 1.5}, "pull: end: got 1.5"),
        ({"on": "arm", "tension": 1.0, "start": 0.5, "end": 0.5}, "more than start"),
        (
            {"on": "arm", "tension": 1.0, "offset": (1.0, 2.0, 3.0)},
            r"pull: offset: got \(1\.0, 2\.0, 3\.0\)",
        ),
        ({"on": "arm", "pull": 0.1, "stiffness": -1.0}, "pull: stiffness: got -1.0"),
    ],
)
def test_bad_tendons_are_named(options, match):
    with pytest.raises(sp.DescriptionError, match=match):
        arm(sp.Tendon("pull", **options)).build()
