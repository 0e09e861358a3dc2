"""Loads along rods and fluids: the exact tangent, Lighthill's theory, textbook drag and buoyancy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import se3
from supple.mechanics.element_motion import Coordinates, neutral, retract
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.kinematics import kinematics
from supple.system.forward_dynamics import forward_dynamics
from tests.tools import check_tangent, jit

WATER = 1000.0
SOFT = sp.Material(E=1e6, density=WATER)


def profile(u):
    return 0.02 * (1.05 - u)


def swimmer(*others, gravity=(0.0, 0.0, 0.0)):
    """A rigid head and an elastic tail, free in space."""
    section = sp.Ellipse(profile, lambda u: 2 * profile(u))
    head = sp.Rod("head", length=0.1, section=sp.Ellipse(0.02, 0.04), material=SOFT, strains="rigid",
                  joint=sp.Free())  # fmt: skip
    tail = sp.Rod("tail", parent="head", length=0.4, section=section, material=SOFT, basis=2)
    return sp.Robot(head, tail, *others, gravity=gravity)


def whirl(t, X, pose, twist):
    """A force that depends on everything."""
    force = jnp.stack([jnp.sin(X + t), pose.position[0] ** 2, pose.rotation[0, 1] * twist[2]])
    return jnp.concatenate([0.1 * twist[3:] * X, force])


def motion(model, rng):
    x, xdot, xddot = rng.normal(size=(3, model.nv)) * np.array([[0.1], [1.0], [1.0]])
    q = np.asarray(retract(model, neutral(model), 0.5 * rng.normal(size=model.nv)))
    return Coordinates(q, x, xdot, xddot, np.asarray(0.4))


def test_the_tangent_of_fluid_and_distributed_loads_is_exact(rng):
    model = swimmer(
        sp.Swimming("water", on=("head", "tail"), density=WATER),
        sp.Drag("skin", on="tail", linear=0.3, quadratic=(0.1, 2.0, 5.0), current=(0.2, 0.1, 0.0)),
        sp.Drag("nose", on="head", quadratic=3.0),
        sp.Buoyancy("lift", on="tail", density=WATER),
        sp.DistributedLoad("field", on="tail", density=whirl, law=lambda t: 1 + t),
        sp.DistributedLoad("jets", on="head", density=whirl, follower=True),
        gravity=(0.0, 0.0, -9.81),
    ).build()
    check_tangent(model, motion(model, rng), 1e-8)


def fluid_force(model, dry, c):
    """Generalized force that the fluid exerts: what the dry robot would need less."""
    return jit(inverse_dynamics, quick=True)(dry, c) - jit(inverse_dynamics, quick=True)(model, c)


def sections(model, c):
    """Velocities across the tail and head, their weights and added masses, at the rods' nodes."""
    found = []
    moving = kinematics(model, c)
    for group, m in zip(model.groups[1:], moving.groups[1:], strict=True):
        count = group.grid.weights.shape[1]
        pose = sp.Pose(m.pose.rotation[0, :count], m.pose.position[0, :count])
        twist = se3.to_body(pose, m.twist[0, :count])
        added = jnp.stack([group.added[0, :, 4, 4], group.added[0, :, 5, 5]], axis=1)
        found.append((pose, twist, group.length[0] * group.grid.weights[0], added))
    return found


def momentum(model, c):
    """∫ m w n ds of the fluid, in space."""
    total = jnp.zeros(3)
    for pose, twist, weight, added in sections(model, c):
        across = added * twist[:, 4:]
        vectors = jnp.einsum("nij,nj->ni", pose.rotation[:, :, 1:], across)
        total = total + weight @ vectors
    return total


def kinetic(model, c):
    """½ ∫ m w² ds; the rest of the fluid's energy is that of turning about the axis."""
    total = jnp.zeros(())
    for (_, twist, weight, added), group in zip(sections(model, c), model.groups[1:], strict=True):
        turning = group.added[0, :, 0, 0] * twist[:, 0] ** 2
        total = total + 0.5 * weight @ (jnp.sum(added * twist[:, 4:] ** 2, axis=1) + turning)
    return total


def test_lighthills_force_and_power(rng):
    """Force: -d/dt of the fluid's momentum and the flux past the tail. Power: what the wake takes."""
    robot = swimmer(sp.Swimming("water", on=("head", "tail"), density=WATER))
    model, dry = robot.build(), swimmer().build()
    c = motion(model, rng)._replace(x=np.zeros(model.nv))
    force = fluid_force(model, dry, c)

    def along(s):
        """The motion s seconds later."""
        x = s * c.xdot + s**2 / 2 * c.xddot
        return c._replace(x=x, xdot=c.xdot + s * c.xddot)

    def rate(function):
        def moved(s):
            return function(model, along(s))

        return jit(lambda: jax.jvp(moved, (jnp.zeros(()),), (jnp.ones(()),))[1], quick=True)()

    moving = jit(kinematics, quick=True)(model, c)
    tip = moving.groups[2]
    pose = sp.Pose(tip.pose.rotation[0, -1], tip.pose.position[0, -1])
    body = se3.to_body(pose, tip.twist[0, -1])
    half_y, half_z = profile(1.0), 2 * profile(1.0)
    added = WATER * np.pi * np.array([half_z**2, half_y**2])
    push = -0.5 * np.sum(added * body[4:] ** 2)
    flux = pose.rotation @ jnp.concatenate([push[None], added * body[4:] * body[3]])
    # The free joint's last three coordinates are its position in space.
    np.testing.assert_allclose(force[3:6], flux - rate(momentum), rtol=1e-8)

    shed = 0.5 * np.sum(added * body[4:] ** 2) * body[3]  # negative when it swims forwards
    power = force @ c.xdot
    np.testing.assert_allclose(power, shed - rate(kinetic), rtol=1e-8)


def test_fluid_around_a_rod_has_no_weight():
    """In water a rod as dense does not fall; without buoyancy it falls at g, slowed by added mass."""
    rod = sp.Rod("rod", length=0.5, section=sp.Circle(0.01), material=SOFT, strains="rigid",
                 joint=sp.Free())  # fmt: skip
    water = sp.Swimming("water", on=("rod",), density=WATER)
    afloat = sp.Buoyancy("lift", on="rod", density=WATER)
    for items, fall in (((water, afloat), 0.0), ((water,), -9.81 / 2), ((), -9.81)):
        model = sp.Robot(rod, *items).build()
        a = jit(forward_dynamics, quick=True)(model, neutral(model), np.zeros(model.nv))
        np.testing.assert_allclose(a, [0, 0, 0, 0, 0, fall], atol=1e-9)


def test_a_body_sinks_at_its_terminal_speed():
    weight, drag = 0.1 * 9.81, 2.0
    ball = sp.Body("ball", mass=0.1, inertia=(1e-5,) * 3, joint=sp.Prismatic("z"))
    robot = sp.Robot(
        ball,
        sp.Drag("water", on="ball", quadratic=drag),
        sp.Buoyancy("lift", on="ball", density=WATER, volume=2e-5),
    )
    sunk = sp.simulate(robot, 3.0, dt=0.02)
    expected = -np.sqrt((weight - WATER * 2e-5 * 9.81) / drag)
    np.testing.assert_allclose(sunk.v[-1, 0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("item", "match"),
    [
        (sp.Swimming("w", on=("fish",)), "w: on: got 'fish'; need one of: head, tail"),
        (lambda: sp.Swimming("w", on="tail"), "w: on: got 'tail'; need rods from head to tail"),
        (lambda: sp.Drag("d", on="tail", linear=-1.0), "d: linear: got -1.0; need numbers >= 0"),
        (
            lambda: sp.DistributedLoad("f", on="tail", density=lambda t, X, p, v: v[:3]),
            r"got \(3,\)",
        ),
        (lambda: sp.DistributedLoad("f", on="tail", density=lambda t: t), r"takes \(t\)"),
    ],
)
def test_bad_fluids_are_named(item, match):
    with pytest.raises(sp.DescriptionError, match=match):
        swimmer(item() if callable(item) else item)


def test_swimmers_must_not_stretch():
    rod = sp.Rod("rod", length=0.5, section=sp.Circle(0.01), material=SOFT, strains="reissner")
    shape = sp.Rectangle(0.01, 0.01)
    square = sp.Rod("rod", length=0.5, section=shape, material=SOFT, strains="kirchhoff")
    for bad, match in ((rod, "neither stretch nor shear"), (square, "circular or elliptic")):
        with pytest.raises(sp.DescriptionError, match=match):
            sp.Robot(bad, sp.Swimming("water", on=("rod",))).build()
