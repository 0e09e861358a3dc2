"""Rods that are shot against rods in strain coordinates, an elliptic integral, and their own derivative."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.compile import jit
from supple.model.orientation_joints import FrameJoint
from supple.model.state import State
from supple.robot.formulations import formulation_of
from supple.run.live import LiveRun
from supple.run.start import start_state
from supple.system.formulation import Discretization, Rates

SOFT = sp.Material(E=2e9, density=1200, nu=0.3)
KIND = dict(section=sp.Circle(4e-3), material=SOFT, strains="reissner", basis=9)
COARSE = sp.Shooting(points=25, segments=2)

TIP = 1e-7
"""Difference of tips over the length: that of the rule of fourth order with these nodes."""


@cache
def hanging() -> sp.Robot:
    """A rod with a weight, drag and damping, on a spring."""
    soft = sp.Material(E=2e9, density=1200, nu=0.3, damping=sp.StiffnessDamping(1e-3))
    return sp.Robot(
        sp.Rod("arm", length=0.4, joint=sp.Revolute("y", stiffness=0.5), **(KIND | {"material": soft})),
        sp.Body("tool", parent="arm", mass=0.05, inertia=(1e-5, 2e-5, 2e-5), com=(0.01, 0, 0)),
        sp.Wrench("pull", on="tool", force=(0.0, 0.1, 0.1), moment=(0.01, 0.0, 0.0)),
        sp.Drag("air", on="arm", quadratic=(0.0, 0.5, 0.5)),
    )  # fmt: skip


def test_the_chart_of_a_frame_is_that_of_its_quaternion():
    rng = np.random.default_rng(0)
    joint, q = FrameJoint(), FrameJoint().retract(FrameJoint().neutral(), 0.7 * rng.normal(size=6))
    x, xdot, xddot = 0.5 * rng.normal(size=(3, 6))

    def twist(x, xdot):
        pose, rate = jax.jvp(lambda x: joint.pose(q, x), (x,), (xdot,))
        turning = pose.rotation.T @ rate.rotation
        spin = jnp.stack([turning[2, 1], turning[0, 2], turning[1, 0]])
        return jnp.concatenate([spin, pose.rotation.T @ rate.position])

    found = joint.subspace(q, x) @ xdot
    np.testing.assert_allclose(found, twist(x, xdot), atol=1e-14)
    speed = joint.rate(q, x, xdot)
    np.testing.assert_allclose(speed[:3], found[:3], atol=1e-14)
    change = jax.jvp(lambda x, xdot: joint.rate(q, x, xdot), (x, xdot), (xdot, xddot))[1]
    np.testing.assert_allclose(joint.rate_derivative(q, x, xdot, xddot), change, atol=1e-14)
    np.testing.assert_allclose(joint.difference(q, joint.retract(q, x)), x, atol=1e-14)


@cache
def pulled() -> sp.Robot:
    """The same with a tendon of given length and a chamber."""
    return hanging().adding(
        sp.Tendon("tendon", on="arm", offset=(0.01, 0.005), pull=0.003),
        sp.Chamber("chamber", on="arm", area=1e-5, offset=(0.0, -0.005), pressure=2e5),
    )


def linear(place):
    """The law of rods without one."""
    f = place.wrench + place.stiffness @ place.rest
    return place.stiffness, place.damping, f


def dashpots(place):
    """A dashpot in a row with a second spring of bending and twist, which knows where it is."""
    K = place.stiffness
    K1 = 0.5 * (1 + place.pose.position[0] ** 2) * K[:3, :3]
    C = jnp.zeros((9, 9)).at[:6, :6].set(K).at[:3, :3].add(K1).at[6:, 6:].set(K1)
    C = C.at[:3, 6:].set(-K1).at[6:, :3].set(-K1)
    D = jnp.zeros((9, 9)).at[:6, :6].set(place.damping).at[6:, 6:].set(0.1 * K1)
    return C, D, jnp.concatenate([place.wrench, jnp.zeros(3)]) + C[:, :6] @ place.rest


def one_solve(settings, robot=None):
    """A formulation and a solve with rates, from a bent state that moves."""
    model = sp.Robot(*(robot or hanging()).items, formulation=settings).build()
    start, rng = start_state(model, None), np.random.default_rng(1)
    rates = Rates(
        jnp.asarray(300.0), jnp.asarray(9e4), *jnp.asarray(rng.normal(size=(2, model.nv)))
    )
    state = State(*(jnp.asarray(part) for part in (start.t, start.q, start.v, start.a)))
    return formulation_of(model), Discretization(state, jnp.zeros(()), rates), rng


@jit
def left_over(own, d, y):
    return own.residual(d, y)[0]


@pytest.mark.parametrize("law", [None, dashpots])
def test_the_derivative_of_a_step_is_exact(law):
    points, segments = (11, 5) if law is None else (7, 3)
    own, d, rng = one_solve(sp.Shooting(points, segments, law=law))

    @jit
    def both(own, d, y):
        residual, work = own.residual(d, y)
        factors = own.factorize(d, y, work)
        by_hand = jax.vmap(factors.solve, 1, 1)(jax.jacfwd(lambda y: own.residual(d, y)[0])(y))
        return residual, by_hand

    y = own.unknown(d, 1e-3 * rng.normal(size=own.record.nv))
    _, product = both(own, d, y)
    np.testing.assert_allclose(product, np.eye(len(y)), atol=1e-7)  # its condition times 1e-16


def test_a_law_of_ones_own_may_be_that_of_all_rods():
    known = {}
    for law in (None, linear):
        own, d, rng = one_solve(sp.Shooting(points=9, segments=2, law=law))
        y = own.unknown(d, 1e-3 * rng.normal(size=own.record.nv))
        known[law] = left_over(own, d, y)
    size = np.abs(known[None]).max()
    np.testing.assert_allclose(known[linear], known[None], atol=1e-10 * size)


def test_laws_that_cannot_be_used_are_told():
    with pytest.raises(sp.DescriptionError, match=r"Shooting: law.*C \(n, n\)"):
        sp.Shooting(law=lambda place: place.stiffness)
    with pytest.raises(sp.DescriptionError, match=r"jax\.numpy"):
        sp.Shooting(law=lambda place: (place.stiffness, place.damping, np.sin(place.wrench)))
    rod = sp.Rod("arm", length=0.4, **KIND)
    cable = sp.Tendon("cable", on="arm", offset=(0.01, 0.0), tension=1.0)
    robot = sp.Robot(rod, cable, formulation=sp.Shooting(law=linear))
    with pytest.raises(sp.DescriptionError, match=r"cable: on.*no tendons in channels"):
        robot.build()


def test_an_equilibrium_is_that_of_strain_coordinates():
    found = sp.equilibrium(pulled(), formulation=COARSE)
    other = sp.equilibrium(pulled())
    u = [0.0, 0.31, 0.77, 1.0]
    for a, b, size in (
        (found.position("tool"), other.position("tool"), 0.4),
        (found.shape("arm", u).position, other.shape("arm", u).position, 0.4),
        (found.strain("arm", u), other.strain("arm", u), 1.0),
        (found.internal_wrench("arm", u), other.internal_wrench("arm", u), 0.1),
        (found.reaction("arm"), other.reaction("arm"), 0.1),
        (found.energies.total, other.energies.total, 0.1),
        (found.joint("arm").position, other.joint("arm").position, 1.0),
        (found.tendon("tendon").tension, other.tendon("tendon").tension, 10.0),
        (found.chamber("chamber").volume, other.chamber("chamber").volume, 1e-5),
    ):
        np.testing.assert_allclose(a, b, atol=20 * TIP * size)


def test_a_motion_is_that_of_strain_coordinates():
    """Both from the same state, by the same formula in time; what differs is space alone."""
    options = dict(dt=2e-3, scheme="implicit-euler")
    found, other = (
        sp.simulate(hanging(), 0.06, formulation=chosen, **options) for chosen in (COARSE, "strain")
    )
    assert found.ok
    moved = np.ptp(other.position("tool"), axis=0).max()
    # Rates of both are differences, but not of the same numbers: first order in time, as the formula itself.
    np.testing.assert_allclose(found.position("tool"), other.position("tool"), atol=0.02 * moved)
    assert found.twist("arm", 0.5).shape == (31, 6)


@pytest.mark.parametrize(
    "other",
    [
        sp.Shooting(points=25, segments=2, orientation="matrix"),
        sp.Shooting(points=25, segments=2, space="adaptive", tolerance=1e-9),
    ],
)
def test_other_rules_lead_where_the_first_one_leads(other):
    rod = sp.Rod("arm", length=0.4, **KIND)
    rng = np.random.default_rng(2)
    left, bent = [], None
    for settings in (COARSE, other):
        model = sp.Robot(rod, formulation=settings).build()
        start = start_state(model, None)
        state = State(*(jnp.asarray(part) for part in (start.t, start.q, start.v, start.a)))
        d, own = Discretization(state, jnp.zeros(())), formulation_of(model)
        y = own.unknown(d, jnp.zeros(model.nv))
        bent = 0.3 * rng.normal(size=len(y)) if bent is None else bent
        left.append(jit(lambda own, d, y: own.residual(d, y)[0])(own, d, y + bent))
    np.testing.assert_allclose(left[1], left[0], atol=10 * TIP)


def test_what_is_not_there_is_refused_with_the_cure():
    rod = sp.Rod("arm", length=0.4, **KIND)
    slides = sp.Robot(sp.Rod("arm", length=0.4, growth=lambda t: 1 + t, slides=True, **KIND))
    with pytest.raises(sp.DescriptionError, match=r"slides.*formulation='strain'"):
        sp.equilibrium(slides, formulation="shooting")
    pendulum = sp.Robot(sp.Body("bob", mass=1.0, inertia=(1, 1, 1), joint=sp.Revolute("y")))
    with pytest.raises(sp.DescriptionError, match="without rods"):
        sp.equilibrium(pendulum, formulation="shooting")
    robot = sp.Robot(rod, formulation=COARSE)
    with pytest.raises(sp.ArgumentError, match=r"scheme: got .*need one that begins from"):
        sp.simulate(robot, 0.1, dt=0.01, scheme="newmark")
    for asking, called in (
        ("modes", lambda: sp.modes(robot)),
        ("linearize", lambda: sp.linearize(robot)),
        ("follow", lambda: sp.follow(robot, until=1.0)),
        ("inverse_statics", lambda: sp.inverse_statics(robot, "arm", [[0.3, 0.0, 0.1]])),
        ("live", lambda: LiveRun(robot)),
    ):
        with pytest.raises(sp.ArgumentError, match=rf"{asking}: .*need formulation='strain'"):
            called()
    with pytest.raises(sp.DescriptionError, match=r"length.*traced.*formulation='strain'"):
        jax.grad(
            lambda L: sp.equilibrium(
                sp.Robot(sp.Rod("arm", length=L, **KIND)), formulation="shooting"
            ).q[0]
        )(0.4)
    with pytest.raises(sp.DescriptionError, match=r"points: got 3; need an integer from 5"):
        sp.Shooting(points=3)
