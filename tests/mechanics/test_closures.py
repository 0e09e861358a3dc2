"""Closing joints: what each forbids, the derivative of their equations, and the work of their forces."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import so3
from supple.mechanics.element_motion import Coordinates, retract
from supple.mechanics.frames import frame_motion
from supple.mechanics.inverse_dynamics import violation
from supple.system.forward_dynamics import acceleration
from tests.samples import random_motion
from tests.tools import check_tangent, jit, tangent

JOINTS = {
    "fixed": (sp.Fixed(), 6),
    "revolute": (sp.Revolute((1.0, 2.0, -1.0)), 5),
    "prismatic": (sp.Prismatic((0.0, 3.0, 4.0)), 5),
    "helical": (sp.Helical("y", pitch=0.02), 6),
    "cylindrical": (sp.Cylindrical("y"), 4),
    "universal": (sp.Universal((1.0, 0.2, 0.0), (0.0, 1.0, 0.5)), 4),
    "spherical": (sp.Spherical(), 3),
    "planar": (sp.Planar((1.0, 2.0, 3.0)), 3),
    "sprung hinge": (sp.Revolute("z", stiffness=0.3), 6),
}
STEEL = sp.Material(E=2e9, G=8e8, density=1200.0)


def rod(name, **options):
    return sp.Rod(
        name, length=0.5, section=sp.Circle(4e-3), material=STEEL, strains="reissner",
        basis={"kx": 2, "ky": 2, "kz": 2, "gx": 1, "gy": 1, "gz": 1}, nodes=24, **options,
    )  # fmt: skip


KINDS = ("fixed", "helical", "universal", "planar")


@cache
def closed():
    """Floating bodies, each joined by a kind of its own along a rod on a hinge, whose end is pinned."""
    items = []
    for i, kind in enumerate(KINDS):
        items += [
            sp.Body(f"plate {i}", mass=0.3, inertia=(1e-3, 2e-3, 2.5e-3), joint=sp.Free()),
            sp.Closure(
                kind, on=f"plate {i}", to="arm", joint=JOINTS[kind][0], to_fraction=0.1 + 0.2 * i,
                position=(0.1, 0.02, -0.03), rotation=(0.3, -0.2, 0.1), to_rotation=(0.1, 0.5, 0.2),
            ),
        ]  # fmt: skip
    return sp.Robot(
        rod("arm", joint=sp.Revolute("y"), position=(0.1, 0.0, 0.0)),
        sp.Body("cup", parent="arm", mass=0.1, inertia=(1e-4, 2e-4, 2e-4), com=(0.01, 0.0, 0.02)),
        *items,
        sp.Closure("pin", on="cup", to="ground", to_position=(0.5, 0.1, 0.2)),
    ).build()


def drawn(model, rng):
    return random_motion(model, rng)._replace(multipliers=rng.normal(size=model.equations))


def test_tangent_is_the_derivative_of_the_equations(rng):
    model = closed()
    assert model.equations == sum(JOINTS[kind][1] for kind in KINDS) + 3
    check_tangent(model, drawn(model, rng), 1e-8)


@pytest.mark.parametrize(
    "kind", ["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar"]
)
def test_a_closed_joint_leaves_its_own_motion_free(rng, kind):
    """Frames moved apart by the joint itself fulfil its equations."""
    joint = JOINTS[kind][0].make("joint")
    rows = JOINTS[kind][0].closing_rows("joint", 0.7)
    assert len(rows) == JOINTS[kind][1] == 6 - joint.nv
    q = rng.normal(size=joint.nq)
    pose = joint.pose(q / (np.linalg.norm(q) if kind == "spherical" else 1.0), np.zeros(joint.nv))
    for turning, shift, value in rows:
        left = np.sum(turning * pose.rotation) + shift @ pose.position - value
        assert abs(left) < 1e-14


def test_planar_loops_in_space_keep_two_equations_of_five():
    from supple.robots.rfrfr import rfrfr

    model = rfrfr().build()
    assert model.equations == 2
    assert len(model.closures.dropped) == 3


def test_choice_of_the_cut_does_not_change_the_accelerations(rng):
    """A plate carried by one of two rods, or floating and joined to both: the same motion."""
    plate = dict(mass=0.3, inertia=(1e-3, 2e-3, 2.5e-3), com=(0.0, 0.02, 0.0))
    rods = rod("a"), rod("b", position=(0.0, 0.3, 0.0))
    arm = dict(position=(0.0, 0.3, 0.0))
    carried = sp.Robot(
        *rods,
        sp.Body("plate", parent="a", joint=sp.Spherical(), **plate),
        sp.Closure("right", on="plate", to="b", joint=sp.Revolute("z"), **arm),
    ).build()
    floating = sp.Robot(
        *rods,
        sp.Body("plate", joint=sp.Free(), **plate),
        sp.Closure("left", on="a", to="plate", joint=sp.Spherical()),
        sp.Closure("right", on="plate", to="b", joint=sp.Revolute("z"), **arm),
    ).build()
    start = sp.assemble(carried)
    velocity = np.linalg.qr(np.asarray(tangent(carried, at(carried, start)).jacobian).T, "complete")
    free = velocity[0][:, carried.equations :]
    v = free @ rng.normal(size=free.shape[1])
    frame = jit(frame_motion, static_argnames=("name",))(carried, "plate", start.q, v)
    q2, v2 = np.asarray(sp.initial_state(floating).q), np.zeros(floating.nv)
    for name in ("a", "b"):
        old, new = (sp.mechanics.frames.find_rod(m, name) for m in (carried, floating))
        q2[new.q], v2[new.v] = start.q[old.q], v[old.v]
    slot = sp.mechanics.frames.find_joint(floating, "plate")
    q2[slot.q] = np.concatenate(
        [so3.quaternion_from_matrix(frame.pose.rotation), frame.pose.position]
    )
    spin, shift = frame.twist[:3], frame.pose.rotation @ frame.twist[3:]
    v2[slot.v] = np.concatenate([spin, shift])
    assert np.abs(np.asarray(jit(violation)(floating, q2, 0.0))).max() < 1e-9
    first = jit(acceleration)(carried, start.q, v)
    second = jit(acceleration)(floating, q2, v2)
    for name in ("a", "b"):
        old, new = (sp.mechanics.frames.find_rod(m, name) for m in (carried, floating))
        size = np.abs(np.asarray(first.a)).max()
        np.testing.assert_allclose(first.a[old.v], second.a[new.v], atol=1e-8 * size)


def at(model, start):
    zero = np.zeros(model.nv)
    return Coordinates(start.q, zero, zero, zero, np.asarray(0.0), start.multipliers)


def test_forces_of_closed_loops_do_no_work(rng):
    """Along motions that keep loops closed, Jᵀ λ has no power; moving apart, it has that of λ Υ̇."""
    model = closed()
    c = drawn(model, rng)
    open_ = c._replace(multipliers=np.zeros(model.equations))
    pull = np.asarray(tangent(model, c).residual) - np.asarray(tangent(model, open_).residual)
    rate = np.asarray(tangent(model, c).jacobian) @ c.xdot
    np.testing.assert_allclose(pull @ c.xdot, c.multipliers @ rate, rtol=1e-10)


def test_accelerations_keep_loops_closed(rng):
    model = closed()
    q = np.asarray(sp.assemble(model).q)
    v = rng.normal(size=model.nv)
    a = jit(acceleration)(model, q, v).a

    def along(s):
        return violation(model, retract(model, q, s * v + s**2 / 2 * a), jnp.zeros(()))

    second = jit(lambda: jax.jacfwd(jax.jacfwd(along))(0.0))()
    size = np.abs(np.asarray(tangent(model, drawn(model, rng)).jacobian) @ v).max()
    assert np.abs(np.asarray(second)).max() < 1e-8 * max(size, 1.0)


def test_loads_scale_but_closing_forces_do_not(rng):
    """A load factor of zero leaves the forces of closures as they are."""
    model = closed()
    unloaded = eqx.tree_at(lambda m: m.load_factor, model, np.zeros(()))
    c = drawn(model, rng)
    without = c._replace(multipliers=np.zeros(model.equations))
    pulls = [
        np.asarray(tangent(m, c).residual) - np.asarray(tangent(m, without).residual)
        for m in (model, unloaded)
    ]
    np.testing.assert_allclose(*pulls, atol=1e-12 * np.abs(pulls[0]).max())


def growing_law(t):
    return 1.0 + 0.3 * t + 0.1 * t**2


@cache
def everything():
    """A growing rod with friction in its hinge, imposed coordinates, a plate hinged to its middle."""
    return sp.Robot(
        rod("arm", joint=sp.Revolute("y", friction=0.4, friction_speed=0.5), growth=growing_law),
        sp.Body("cup", parent="arm", mass=0.1, inertia=(1e-4, 2e-4, 2e-4), joint=sp.Universal()),
        sp.Body("plate", mass=0.3, inertia=(1e-3, 2e-3, 2.5e-3), joint=sp.Free()),
        sp.Closure("mid", on="plate", to="arm", joint=sp.Revolute("x"), to_fraction=0.4),
        sp.PrescribedCoordinate("motor", on="cup", coordinate=1, value=growing_law),
        sp.PrescribedCoordinate("muscle", on="arm", of="rod", coordinate=2, value=0.3),
    ).build()


def test_tangent_with_growth_friction_and_imposed_coordinates(rng):
    model = everything()
    check_tangent(model, drawn(model, rng), 1e-8)


def test_kinetic_energy_of_a_growing_rod_is_that_of_its_moving_samples(rng):
    """Samples at fixed fractions of the length: ½ ∫ ρA |ṙ|² + ρI terms, ṙ by differentiating in time."""
    from supple.mechanics.energy import energies
    from supple.mechanics.frames import rod_shape

    model = everything()
    model = eqx.tree_at(
        lambda m: m.bodies.inertia, model, 0.0 * model.bodies.inertia
    )  # the rod alone
    c = drawn(model, rng)
    radius, points, t = 4e-3, 201, 0.4

    @jit
    def both(q, v):
        def shape(s):
            moved = rod_shape(model, "arm", retract(model, q, s * v), points, t + s)
            return moved.position, moved.rotation

        (_, rotation), (rate, turning) = jax.jvp(shape, (0.0,), (1.0,))
        return energies(model, q, v, t).kinetic, rate, jnp.swapaxes(rotation, 1, 2) @ turning

    kinetic, rate, spin = (np.asarray(part) for part in both(c.q, c.xdot))
    line = STEEL.density * np.pi * radius**2
    second = STEEL.density * np.pi * radius**4 / 4
    omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    density = line * np.sum(rate**2, axis=1) + omega**2 @ (second * np.array([2.0, 1.0, 1.0]))
    weights = np.ones(points)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    expected = 0.5 * weights @ density / 3 / (points - 1) * 0.5 * float(growing_law(t))
    assert kinetic == pytest.approx(expected, rel=1e-6)
