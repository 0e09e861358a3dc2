"""Robots that many tests share, and random motions of them. Each structure compiles only once."""

from functools import cache

import jax.numpy as jnp
import numpy as np

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.model.model import Model, RodGroup
from supple.system.forward_dynamics import forward_dynamics
from tests.tools import jit

residual = jit(inverse_dynamics)
accelerate = jit(forward_dynamics)

RUBBER = sp.Material(E=1e7, density=1100.0, damping=sp.StiffnessDamping(0.02))
FLAT = sp.Rectangle(0.03, 0.02)  # different stiffness and inertia about y and z
BENT = (0.6, -0.4, 0.8, 1.02, 0.01, -0.02)  # a rest shape with every strain


def moving(t):
    """A base that turns and travels, smooth and never still."""
    return jnp.array([jnp.sin(t), 0.3 * t * t, 0.2]), jnp.array([0.4 * t, jnp.sin(2 * t), t])


def rod(name: str = "arm", **options) -> sp.Rod:
    """A rubber rod of one meter, three modes a strain."""
    return sp.Rod(name, **{**dict(length=1.0, section=FLAT, material=RUBBER, basis=3), **options})


DEAD = dict(force=(1.0, 2.0, -3.0), moment=(0.1, -0.2, 0.3), position=(0.0, 0.1, 0.05))


def _clamped() -> sp.Robot:
    return sp.Robot(rod(), sp.Wrench("dead", on="arm", **DEAD))


def _reissner() -> sp.Robot:
    return sp.Robot(
        rod(strains="reissner", basis=2, rest=BENT),
        sp.Wrench("follower", on="arm", fraction=0.6, follower=True, **DEAD),
    )


def _floating() -> sp.Robot:
    return sp.Robot(rod(joint=sp.Free()), sp.Wrench("dead", on="arm", fraction=0.0, **DEAD))


def _driven() -> sp.Robot:
    return sp.Robot(rod(joint=sp.Driven(moving)), sp.Body("tool", parent="arm", mass=0.1))


def _tree() -> sp.Robot:
    """Every joint type, rods on bodies and inside rods, bodies with offset masses, both loads."""
    inertia = ((2e-3, 2e-4, 0), (2e-4, 3e-3, 1e-4), (0, 1e-4, 4e-3))

    def lump(name, parent, joint, **place):
        return sp.Body(
            name, mass=0.3, inertia=inertia, com=(0.05, -0.02, 0.03), parent=parent, joint=joint,
            **{**dict(position=(0.1, 0.02, -0.03), rotation=(0.2, -0.5, 0.4)), **place},
        )  # fmt: skip

    return sp.Robot(
        lump("base", "ground", sp.Free()),
        rod("trunk", parent="base", joint=sp.Universal(stiffness=2.0, damping=0.1), basis=2),
        rod("branch", parent="trunk", fraction=0.4, rotation=(0, 0.3, 1.0), length=0.7, basis=2,
            joint=sp.Planar(normal=(1.0, 2.0, 3.0), stiffness=5.0, rest=0.1)),
        lump("wrist", "trunk", sp.Spherical(damping=0.05)),
        lump("slide", "wrist", sp.Prismatic((1.0, 1.0, 0.0), stiffness=30.0, rest=0.1, damping=0.3)),
        lump("wheel", "slide", sp.Revolute("y", damping=0.02)),
        lump("piston", "branch", sp.Cylindrical("-x"), fraction=0.75),
        lump("screw", "branch", sp.Helical((0.0, 1.0, 2.0), pitch=0.05)),
        sp.Wrench("dead", on="trunk", fraction=0.4, **DEAD),
        sp.Wrench("follower", on="wheel", follower=True, **DEAD),
        sp.Wrench("ramped", on="branch", force=(0, 1, 0), law=sp.ramp(0.0, 1.0)),
        sp.PlaneFriction("felt", on="screw", friction=0.4, damping=0.2, friction_speed=0.3,
                   normal=(1.0, -1.0, 2.0), position=(0.05, 0.1, 0.0)),
    )  # fmt: skip


def _crawler() -> sp.Robot:
    """A small floating tree on a fine grid, for identities that should hold to many digits."""
    fine = dict(nodes=18, basis=2)
    body = dict(mass=0.4, inertia=(2e-3, 3e-3, 4e-3), com=(0.03, 0.01, -0.02))
    return sp.Robot(
        sp.Body("hull", joint=sp.Free(), **body),
        rod("arm", parent="hull", position=(0.1, 0, 0), rotation=(0, 0.5, 0.2), **fine),
        sp.Body("fin", parent="arm", fraction=0.5, joint=sp.Universal(stiffness=0.5), **body),
        sp.Body("claw", parent="arm", position=(0.02, 0, 0.01), **body),
        sp.Marker("eye", parent="fin", position=(0.1, 0.2, 0.3), rotation=(1, 0, 0)),
        sp.Wrench("dead", on="arm", fraction=0.5, **DEAD),
        sp.Wrench("follower", on="fin", follower=True, **DEAD),
    )


def _x_joints() -> sp.Robot:
    """X-joints under a floating body: things on every bar, a rod on one, another that the second carries."""
    fine = dict(nodes=18, basis=1)
    body = dict(mass=0.4, inertia=(2e-3, 3e-3, 4e-3), com=(0.03, 0.01, -0.02))
    cross = dict(bar=0.3, diagonal=0.7, axis=(1.0, 2.0, 0.0), along=(2.0, -1.0, 0.0))
    return sp.Robot(
        sp.Body("hull", joint=sp.Free(), **body),
        sp.Body("top", parent="hull", position=(0.1, 0, 0.2), rotation=(0, 0.5, 0.2),
                joint=sp.XJoint(**cross, damping=0.2, stiffness=3.0, rest=0.2), **body),
        sp.Body("left", parent="top", link="left", position=(0.1, 0, 0), **body),
        rod("whip", parent="top", link="right", rotation=(0.3, 0, 0.1), length=0.6, **fine),
        rod("arm", parent="top", joint=sp.XJoint(**cross, friction=sp.ArctanFriction(0.3, 2.0)), **fine),
        sp.Body("right", parent="arm", link="right", **body),
        sp.Spring("side", on="hull", to="right", stiffness=20.0, damping=0.1, to_position=(0, 0.1, 0)),
    )  # fmt: skip


ROBOTS = {
    "clamped": _clamped,
    "reissner": _reissner,
    "floating": _floating,
    "driven": _driven,
    "tree": _tree,
    "crawler": _crawler,
    "x_joints": _x_joints,
}


@cache
def model_of(name: str) -> Model:
    """The model of a named sample robot."""
    return ROBOTS[name]().build()


def random_configuration(
    model: Model, rng: np.random.Generator, bend: float = 3.0, turn: float = 1.0
) -> np.ndarray:
    """Joints anywhere (translations up to 0.5 m), rods curved by up to ``bend`` rad a length."""
    q = np.zeros(model.nq)
    for slot in model.topology.joint_slots:
        joint = model.groups[slot.group].joint
        values = rng.uniform(-0.5, 0.5, joint.nq)
        if joint.nq != joint.nv:
            values[:4] = rng.normal(size=4)
            values[:4] /= np.linalg.norm(values[:4])
        q[slot.q] = turn * values if joint.nq == joint.nv else values
    q += _random_strain(model, rng, bend, configuration=True)
    return q


def random_vector(model: Model, rng: np.random.Generator, size: float, bend: float) -> np.ndarray:
    """Coordinates, rates or accelerations: ``size`` for joints, curvatures up to ``bend``/L."""
    v = size * rng.uniform(-1, 1, model.nv)
    for slot in model.topology.rod_slots:
        v[slot.v] = 0.0
    return v + _random_strain(model, rng, bend, configuration=False)


def _random_strain(model, rng, bend, *, configuration):
    result = np.zeros(model.nq if configuration else model.nv)
    for slot in model.topology.rod_slots:
        group = model.groups[slot.group]
        assert isinstance(group, RodGroup)
        field = group.grid.field
        draw = rng.uniform(-1, 1, field.count)
        values = np.abs(field.values(np.linspace(0, 1, 50)) @ draw).max(axis=0)
        curved = bend / float(group.length[slot.row]) / np.sqrt(3)
        limit = np.where(np.arange(6) < 3, curved, 0.03 * bend)
        scale = (limit / np.maximum(values, 1e-9))[list(field.rows)]
        result[slot.q if configuration else slot.v] = draw * scale
    return result


def random_motion(model: Model, rng: np.random.Generator, x: float = 0.3) -> Coordinates:
    """A motion in the chart around a random configuration, curved by up to 3 rad a rod in all."""
    return Coordinates(
        random_configuration(model, rng, bend=3.0 - 1.5 * x),
        random_vector(model, rng, x, 1.5 * x),
        random_vector(model, rng, 1.0, 2.0),
        random_vector(model, rng, 2.0, 4.0),
        np.asarray(0.3),
    )


def at(q, v=None, a=None, t: float = 0.3) -> Coordinates:
    """A motion at x = 0 for a state and an acceleration."""
    v = np.zeros_like(a) if v is None else v
    a = np.zeros_like(v) if a is None else a
    return Coordinates(q, np.zeros_like(v), v, a, np.asarray(t))
