"""Robots nobody would think of: drawn at random, the same for the same seed.

A seed has a *structure* (which items hang where, on which joints and bases: one compiled program) and
*numbers* (lengths, materials over six decades of stiffness, slenderness from 10 to 1,000, loads from a
hundredth to thirty times what bends a rod). Seeds that differ by a multiple of :data:`STRUCTURES` share their
structure, so that many robots cost few compilations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.bench.random_items import (
    CLOSING,
    LENGTH,
    MODELS,
    SLENDERNESS,
    Draft,
    body,
    chamber,
    close,
    fluid,
    joint,
    law,
    load,
    motor,
    rod,
    spring,
    tendon,
)
from supple.model.laws import Input, Spline
from supple.robot.actuators import Motor
from supple.robot.controller import Controller
from supple.robot.formulas import Motion
from supple.robot.items import (
    Body,
    Connection,
    KnifeEdge,
    Marker,
    PrescribedCoordinate,
    Rod,
    RollingContact,
)
from supple.robot.joint import (
    Cylindrical,
    Driven,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from supple.robot.robot import Robot
from supple.section import Circle, Material

SEED = 2029
"""Of the structures; chosen so that every kind of item and joint is among them."""


def _loads(d: Draft, most: int = 2) -> None:
    for _ in range(int(d.choices.integers(0, most + 1))):
        load(d)


def _one_rod(d: Draft) -> None:
    rod(d)
    _loads(d, 3)


def _tree(d: Draft) -> None:
    rod(d)
    for _ in range(int(d.choices.integers(1, 4))):
        (rod if d.chance(0.6) else body)(d, d.pick(d.solids))
    if d.chance(0.3):
        d.items.append(Marker(d.name("marker"), parent=d.solids[-1]))
    _loads(d)


def _rigid(d: Draft) -> None:
    kinds = (Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free)
    body(d, "ground", kinds)
    for _ in range(int(d.choices.integers(0, 3))):
        body(d, d.solids[-1], kinds, position=d.vector(0.3))
    if d.chance(0.5):
        spring(d, d.solids[-1])
    _loads(d)


BENDS = tuple(model for model in MODELS if model != "rigid")


def _tendons(d: Draft) -> None:
    on = rod(d, models=BENDS)
    for _ in range(int(d.choices.integers(1, 4))):
        tendon(d, on)
    if d.chance(0.4):
        body(d, on)
    _loads(d, 1)


def _chambers(d: Draft) -> None:
    on = rod(d, models=BENDS)
    for _ in range(int(d.choices.integers(1, 3))):
        chamber(d, on)
    _loads(d, 1)


def _motors(d: Draft) -> None:
    kinds = (Revolute, Prismatic, Helical, Cylindrical, Universal, Planar)
    rod(d, "ground", kinds)
    (rod if d.chance(0.5) else body)(d, d.solids[-1], kinds)
    for on in d.jointed:
        motor(d, on)
    _loads(d, 1)


def _springs(d: Draft) -> None:
    rod(d, models=BENDS)
    (rod if d.chance(0.5) else body)(d, d.solids[-1], (Revolute, Spherical, Universal, Prismatic))
    for _ in range(int(d.choices.integers(1, 4))):
        spring(d, d.pick(d.solids))
    _loads(d, 1)


def _fluids(d: Draft) -> None:
    rod(d, models=BENDS)
    if d.chance(0.6):
        body(d, d.solids[-1])
    for on in d.solids:
        fluid(d, on)
    _loads(d, 1)


def _loop(d: Draft) -> None:
    rod(d)
    if d.chance(0.5):
        (rod if d.chance(0.7) else body)(d, d.solids[-1], (Revolute, Spherical, Universal, Fixed))
    close(d, d.solids[-1])
    _loads(d, 1)


FEW = ("planar", "bending", "planar-extensible", "kirchhoff")
"""Rod models for robots of many rods: their programs stay small."""


def _loops(d: Draft) -> None:
    first = rod(d, "ground", (Fixed, Revolute, Spherical), models=FEW)
    second = rod(d, "ground", (Fixed, Revolute, Spherical), models=FEW)
    close(d, second, first)
    close(d, first)
    if d.chance(0.5):
        third = rod(d, first, (Fixed, Revolute), models=FEW)
        close(d, third)
    _loads(d, 1)


def _platform(d: Draft) -> None:
    legs = int(d.choices.integers(2, 4))
    length, size = d.number(*LENGTH), d.number(0.1, 0.5)
    d.stiffness["plate"] = (d.number(1e-4, 1e2), length)
    mass = d.number(1e-2, 1.0) * d.stiffness["plate"][0] / length**2 / 9.81
    inertia = tuple((mass * (size * length) ** 2 * np.array([0.3, 0.4, 0.5])).tolist())
    d.items.append(Body("plate", mass, inertia, parent=None))
    model, foot, head = d.pick(FEW), d.pick((Fixed, Revolute, Spherical)), d.pick(CLOSING[:4])
    radius = length / (2 * d.number(*SLENDERNESS))
    young = d.stiffness["plate"][0] / (np.pi / 4 * radius**4)
    for i in range(legs):
        angle = 2 * np.pi * i / legs
        out = size * length * np.array([np.cos(angle), np.sin(angle), 0.0])
        name = f"leg{i}"
        d.stiffness[name] = d.stiffness["plate"]
        d.items.append(
            Rod(
                name,
                length,
                Circle(radius),
                Material(E=young, density=1e3),
                strains=model,
                basis=2,
                parent=None,
            )
        )
        place = tuple((1.2 * out).tolist())
        up = (0.0, -np.pi / 2, 0.0)
        d.items += [
            Connection(f"foot{i}", "ground", name, joint(d, name, (foot,)), position=place, rotation=up),
            Connection(
                f"head{i}", name, "plate", joint(d, name, (head,)), to_position=tuple(out.tolist()),
                to_rotation=up,
            ),
        ]  # fmt: skip
    load(d)


def _driven(d: Draft) -> None:
    kind = d.in_turn(("driven", "prescribe", "strain", "growth", "controller"))
    if kind == "driven":
        motion = Motion("[0.05*sin(5*t), 0, 0.02*t]", "[0, 0.3*t, 0]")
        rod(d, joint=Driven(motion))
    elif kind == "growth":
        rod(d, joint=Fixed(), growth=Spline((0.0, 0.05, 0.1, 0.2), np.array([1.0, 1.05, 1.1, 1.2])))
    elif kind == "strain":
        on = rod(d, models=BENDS)
        curvature = d.number(0.1, 2.0) / d.stiffness[on][1]
        d.items.append(PrescribedCoordinate(d.name("bend"), on, law(d, curvature), of="rod"))
    else:
        on = rod(d, "ground", (Revolute, Prismatic, Universal, Cylindrical))
        if kind == "prescribe":
            d.items.append(PrescribedCoordinate(d.name("turn"), on, law(d, d.number(0.05, 1.0))))
        else:
            bending, length = d.stiffness[on]
            torque = d.number(1e-2, 1.0) * bending / length
            d.items += [
                Motor("servo", on, torque=Input("effort", 0.0), viscous=0.1 * torque),
                Controller("pilot", hold_still, see_joint, memory=np.asarray(torque)),
            ]
    (rod if d.chance(0.5) else body)(d, d.solids[-1])
    _loads(d, 1)


def see_joint(sensors: Any) -> Any:
    """Position and speed of the first joint."""
    return sensors.joint("rod0")


def hold_still(t: Any, seen: Any, memory: Any) -> Any:
    """Bring a joint back with a torque in proportion to its turn and its speed."""
    turned, speed = seen
    return {"effort": -memory * (turned[0] + 0.1 * speed[0])}, memory


def _contacts(d: Draft) -> None:
    kind = d.in_turn(("edge", "ball", "wheel"))
    base = body(d, "ground", (Planar if kind == "edge" else Free,))
    length = d.stiffness[base][1]
    if kind == "edge":
        d.items.append(KnifeEdge(d.name("edge"), base, "y"))
    else:
        axle = "y" if kind == "wheel" else None
        d.items.append(RollingContact(d.name("wheel"), base, 0.2 * length, axle=axle))
    if d.chance(0.6):
        rod(d, base)
    _loads(d, 1)


def _mixed(d: Draft) -> None:
    first = rod(d, models=BENDS)
    (rod if d.chance(0.5) else body)(d, first)
    for what in d.choices.permutation(5)[:3]:
        on = d.pick(d.rods)
        (tendon, chamber, spring, fluid, lambda d, on: close(d, d.solids[-1]))[what](d, on)
    for on in d.jointed[:1]:
        motor(d, on)
    _loads(d, 2)


CLASSES: dict[str, Callable[[Draft], None]] = {
    "rod": _one_rod,
    "tree": _tree,
    "rigid": _rigid,
    "tendons": _tendons,
    "chambers": _chambers,
    "motors": _motors,
    "fluids": _fluids,
    "driven": _driven,
    "springs": _springs,
    "loop": _loop,
    "loops": _loops,
    "platform": _platform,
    "contacts": _contacts,
    "mixed": _mixed,
}
STRUCTURES = 64
"""Structures, and so compilations."""


def class_of(seed: int) -> str:
    """The class of a seed's robot."""
    return list(CLASSES)[seed % STRUCTURES % len(CLASSES)]


def random_robot(seed: int) -> Robot:
    """The robot of a seed."""
    choices = np.random.default_rng([SEED, seed % STRUCTURES])
    draft = Draft(choices, np.random.default_rng([11, seed]), seed % STRUCTURES // len(CLASSES))
    CLASSES[class_of(seed)](draft)
    gravity = (0.0, 0.0, -9.81) if draft.numbers.random() < 0.85 else draft.vector(3.0)
    return Robot(*draft.items, gravity=gravity, name=f"random {class_of(seed)}")
