"""Items drawn at random, with numbers over many decades: what random robots are made of."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.expression import Expression
from supple.model.laws import Spline, Table
from supple.robot.actuators import Chamber, Motor, Spring, Tendon
from supple.robot.formulas import LoadDensity
from supple.robot.graph import Item
from supple.robot.items import (
    Body,
    Closure,
    Rod,
)
from supple.robot.joint import (
    AbstractJointSpec,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from supple.robot.loads import (
    ActiveStress,
    Buoyancy,
    DistributedLoad,
    Drag,
    PlaneFriction,
    Swimming,
    Wrench,
)
from supple.section import Circle, Ellipse, Material, Rectangle, StiffnessDamping, Tube
from supple.strain import ROD_MODELS, Chebyshev, Legendre, Monomial, PiecewiseConstant

STIFFNESS = (1e5, 1e11)
"""Young's modulus (Pa): silicone to steel."""
SLENDERNESS = (10.0, 1000.0)
"""Length over diameter."""
LENGTH = (0.05, 2.0)
"""(m)."""
LOAD = (1e-2, 30.0)
"""Loads over those that bend a rod by about a radian."""
HEAVIEST = 300.0
"""Weight of a rod over what bends it by about a radian, w L³ / EI. Beyond it sags from a corner at its clamp,
which the few modes of these robots cannot follow."""
MODELS = tuple(ROD_MODELS)
AXES = ("x", "y", "z", (1.0, 1.0, 0.0), (0.3, -0.5, 0.8))


@dataclass
class Draft:
    """A robot being drawn: choices of its structure, its numbers, and the items so far."""

    choices: np.random.Generator
    numbers: np.random.Generator
    round: int = 0
    """How many structures of the class came before."""
    items: list[Item] = field(default_factory=list)
    poses: dict[str, tuple[Rotation, np.ndarray]] = field(default_factory=dict)
    """Tips of rods, and bodies, in the described shape."""
    stiffness: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Bending stiffness EI (N m²) and length (m) of rods; what stands for them on bodies."""

    def pick(self, options: Any) -> Any:
        """One of several, the same for all robots of a structure."""
        return options[int(self.choices.integers(len(options)))]

    def in_turn(self, options: Any) -> Any:
        """One after the other, over the structures of a class and within each."""
        self.round += 1
        return options[(self.round - 1) % len(options)]

    def chance(self, share: float) -> bool:
        """Whether, the same for all robots of a structure."""
        return bool(self.choices.random() < share)

    def number(self, low: float, high: float) -> float:
        """A number with evenly spread logarithm."""
        return float(np.exp(self.numbers.uniform(np.log(low), np.log(high))))

    def vector(self, size: float) -> tuple[float, ...]:
        """A vector of that length, in any direction."""
        value = self.numbers.normal(size=3)
        return tuple((size * value / np.linalg.norm(value)).tolist())

    def name(self, kind: str) -> str:
        """A new name."""
        return f"{kind}{sum(item.name.startswith(kind) for item in self.items)}"

    @property
    def rods(self) -> list[str]:
        """Names of rods that bend."""
        rods = (item for item in self.items if isinstance(item, Rod))
        return [rod.name for rod in rods if rod.strains != "rigid"]

    @property
    def solids(self) -> list[str]:
        """Names of rods and bodies."""
        return [item.name for item in self.items if isinstance(item, Rod | Body)]

    @property
    def jointed(self) -> list[str]:
        """Names of what hangs on a joint with one coordinate or more that a motor can turn."""
        turned = Revolute | Prismatic | Helical | Cylindrical | Universal | Planar
        found = (item for item in self.items if isinstance(item, Rod | Body))
        return [item.name for item in found if isinstance(item.joint, turned)]

    def force(self, on: str) -> float:
        """A force (N) that bends a rod a little or very much."""
        bending, length = self.stiffness[on]
        return self.number(*LOAD) * bending / length**2


def joint(d: Draft, on: str, kinds: Any = None, *, held: float = 0.5) -> AbstractJointSpec:
    """A joint of any kind, with or without springs, for loads as large as those of ``on``."""
    kinds = kinds or (
        Revolute, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Free,
    )  # fmt: skip
    kind = d.pick(kinds)
    if kind in (Fixed, Free):
        return kind()
    bending, length = d.stiffness.get(on, (1.0, 1.0))
    torque = bending / length
    damping = d.number(1e-4, 1e-1) * torque if d.chance(0.5) else 0.0
    if kind is Spherical:
        return Spherical(damping=damping)
    stiff = d.number(1e-1, 100.0) * torque if d.chance(held) else 0.0
    if kind is Prismatic:
        stiff, damping = stiff / length**2, damping / length**2
    options: dict[str, Any] = {"stiffness": stiff, "damping": damping}
    if kind in (Cylindrical, Planar):
        sizes = np.array([1.0, length**-2] if kind is Cylindrical else [length**-2] * 2 + [1.0])
        options = {key: tuple((value * sizes).tolist()) for key, value in options.items()}
    if d.chance(0.2):
        options |= {"friction": d.number(1e-3, 1e-1) * torque, "friction_speed": 0.1}
    if kind is Helical:
        return Helical(d.pick(AXES), pitch=d.number(1e-3, 1e-1) * length, **options)
    if kind is Universal:
        return Universal("y", "z", **options)
    if kind is Planar:
        return Planar(d.pick(AXES[:3]), **options)
    return kind(d.pick(AXES), **options)


def rod(
    d: Draft,
    parent: str | None = "ground",
    kinds: Any = None,
    *,
    models: Any = MODELS,
    **fields: Any,
) -> str:
    """A rod of any kind at the tip of its parent, turned anyhow."""
    name, length = d.name("rod"), d.number(*LENGTH)
    if parent in d.stiffness and parent is not None:
        length = d.stiffness[parent][1] * d.number(0.3, 1.5)
    slender, young = d.number(*SLENDERNESS), d.number(*STIFFNESS)
    density = d.number(3e2, 8e3)
    # Its weight over what bends it; threads of foam are still rods, what hangs like a chain is none.
    weight = 16 * density * 9.81 * length * slender**2 / young
    density = max(density * min(1.0, HEAVIEST / weight), 10.0)
    length = min(length, HEAVIEST * young / (16 * density * 9.81 * slender**2))
    radius = length / (2 * slender)
    section = d.pick((Circle, Circle, Ellipse, Rectangle, Tube))
    shape = {
        Circle: lambda: Circle(radius),
        Tube: lambda: Tube(radius, 0.7 * radius),
        Ellipse: lambda: Ellipse(radius, 2 * radius),
        Rectangle: lambda: Rectangle(2 * radius, 3 * radius),
    }[section]()
    damping = StiffnessDamping(d.number(1e-5, 1e-1)) if d.chance(0.5) else None
    bases = (1, 2, Legendre(2), Chebyshev(2), Monomial(2), PiecewiseConstant(2), 3, Legendre(4))
    d.stiffness[name] = (young * np.pi / 4 * radius**4, length)
    options: dict[str, Any] = {
        "strains": d.pick(models),
        "basis": d.pick(bases if not d.items else bases[:6]),
        "material": Material(E=young, density=density, damping=damping),
        "section": shape,
    }
    if d.chance(0.2):
        options["rest"] = (0.0, 0.0, d.number(0.1, 3.0) / length, 1.0, 0.0, 0.0)
    if kinds is not None or d.chance(0.4):
        options["joint"] = joint(d, name, kinds)
    turned = d.vector(d.numbers.uniform(0.0, 3.0))
    options |= {"parent": parent, "rotation": turned}
    options |= fields
    if parent is None:
        options.pop("rotation")
        options.pop("joint", None)
    bent = "rest" in options
    item = Rod(name, length, **options)
    d.items.append(item)
    rotation, position = d.poses.get(parent or "", (Rotation.identity(), np.zeros(3)))
    rotation = rotation * Rotation.from_rotvec(item.rotation)
    tip, turn = np.array([length, 0.0, 0.0]), Rotation.identity()
    if bent:
        angle = options["rest"][2] * length
        tip = length * np.array([np.sin(angle), 1 - np.cos(angle), 0.0]) / angle
        turn = Rotation.from_rotvec([0.0, 0.0, angle])
    d.poses[name] = (rotation * turn, position + rotation.apply(tip))
    return name


def body(d: Draft, parent: str | None = "ground", kinds: Any = None, **fields: Any) -> str:
    """A body at the tip of its parent, from a tenth to ten times what a rod there carries."""
    name = d.name("body")
    bending, length = d.stiffness.get(parent or "", (d.number(1e-4, 1e2), d.number(*LENGTH)))
    mass = d.number(1e-2, 10.0) * bending / length**2 / 9.81
    size = length * d.number(0.05, 0.5)
    d.stiffness[name] = (bending, length)
    options: dict[str, Any] = {
        "inertia": tuple(mass * size**2 * np.array([0.3, 0.4, 0.5])),
        "com": d.vector(size) if d.chance(0.7) else (0.0, 0.0, 0.0),
    }
    if kinds is not None or d.chance(0.5):
        options["joint"] = joint(d, name, kinds)
    turned = d.vector(d.numbers.uniform(0.0, 3.0))
    options |= {"parent": parent, "rotation": turned}
    options |= fields
    if parent is None:
        options.pop("rotation")
        options.pop("joint", None)
    item = Body(name, mass, **options)
    d.items.append(item)
    rotation, position = d.poses.get(parent or "", (Rotation.identity(), np.zeros(3)))
    d.poses[name] = (rotation * Rotation.from_rotvec(item.rotation), position)
    return name


def law(d: Draft, size: float, base: float = 0.0) -> Any:
    """A number above a base, or a law that ends there."""
    kind = d.pick(("constant", "ramp", "table", "spline"))
    if kind == "constant":
        return base + size
    if kind == "ramp":
        return Table((0.0, 0.05), [base, base + size])
    if kind == "table":
        return Table((0.0, 0.02, 0.1), [base + 0.5 * size, base + 0.2 * size, base + size])
    return Spline((0.0, 0.03, 0.06, 0.1), base + np.array([0.2, 0.8, 0.6, 1.0]) * size)


def load(d: Draft) -> None:
    """A wrench somewhere, or a load along a rod."""
    on = d.pick(d.solids)
    force = d.force(on)
    length = d.stiffness[on][1]
    kind = d.pick(("dead", "dead", "follower", "moment", "line", "muscle"))
    if kind in ("line", "muscle") and on not in d.rods:
        kind = "dead"
    if kind == "line":
        density = LoadDensity("[0, 0, 0, 0.1, -0.3, 1]")
        d.items.append(
            DistributedLoad(d.name("line"), on, density, d.chance(0.5), law=law(d, force / length))
        )
    elif kind == "muscle":
        size = f"{0.3 * force * length:.6g}"
        stress = Expression(f"[0, 0.5*{size}, {size}*cos(t), 0, 0, 0]", "X, t")
        d.items.append(ActiveStress(d.name("muscle"), on, stress))
    else:
        moment = d.vector(force * length) if kind == "moment" else (0.0, 0.0, 0.0)
        push = d.vector(force)
        item = Wrench(
            d.name("push"),
            on,
            force=push,
            moment=moment,
            law=law(d, 1.0),
            follower=kind == "follower",
        )
        d.items.append(item)


def tendon(d: Draft, on: str) -> None:
    """A tendon along a rod: by tension, by length, elastic, over discs, with friction, on a winch."""
    name = d.name("tendon")
    bending, length = d.stiffness[on]
    arm = length / 20
    tension = d.number(*LOAD) * bending / (length * arm) / 3
    place = tuple((arm * np.array([1.0, 0.5] if d.chance(0.5) else [-0.7, 0.3])).tolist())
    kind = d.in_turn(("tension", "pull", "elastic", "discs", "friction", "winch"))
    options: dict[str, Any] = {"tension": law(d, tension)}
    if kind == "pull":
        options = {"pull": law(d, arm * d.number(1e-2, 1.0))}
    elif kind == "elastic":
        options = {"pull": law(d, arm * d.number(1e-2, 1.0))}
        options |= {
            "stiffness": tension / arm * d.number(0.1, 100.0),
            "damping": d.number(1e-3, 1.0),
        }
    elif kind == "discs":
        options["discs"] = 4
    elif kind == "friction":
        options |= {"friction": d.number(0.01, 0.5), "viscous": 0.1}
    elif kind == "winch":
        motor = d.name("winch")
        torque = law(d, tension * arm)
        d.items.append(
            Motor(motor, torque=torque, inertia=1e-3 * bending, viscous=0.1 * bending / length)
        )
        options = {"winch": motor, "drum": arm}
        if d.chance(0.5):
            options["stiffness"] = tension / arm * d.number(0.1, 100.0)
    if d.chance(0.3):
        options["end"] = 0.6
    d.items.append(Tendon(name, on, place, **options))


def chamber(d: Draft, on: str) -> None:
    """A fluid chamber along a rod: by pressure, volume or gas."""
    bending, length = d.stiffness[on]
    area, arm = (length / 30) ** 2, length / 25
    pressure = d.number(*LOAD) * bending / (length * arm * area) / 3
    kind = d.in_turn(("pressure", "gas", "volume"))
    options: dict[str, Any] = {"pressure": law(d, pressure)}
    if kind == "gas":
        options = {"gas": (101325.0 + pressure) * area * length}
    elif kind == "volume":
        rest = area * length
        options = {"volume": law(d, rest * arm / length * d.number(1e-2, 1.0), rest)}
    d.items.append(Chamber(d.name("chamber"), on, area, (arm, 0.3 * arm), **options))


def motor(d: Draft, on: str) -> None:
    """A motor on a joint."""
    bending, length = d.stiffness[on]
    torque = d.number(*LOAD) * bending / length
    kind = d.pick(("torque", "position", "velocity"))
    options: dict[str, Any] = {"torque": law(d, torque)}
    if kind == "position":
        options = {"position": law(d, d.number(0.1, 2.0)), "stiffness": torque, "damping": torque}
    elif kind == "velocity":
        options = {"velocity": law(d, d.number(0.1, 10.0)), "damping": torque}
    if d.chance(0.4):
        options |= {"limit": torque, "gear": 3.0, "inertia": 1e-3 * bending * length}
    d.items.append(Motor(d.name("motor"), on, **options))


def spring(d: Draft, on: str) -> None:
    """A spring from somewhere to the ground or another item."""
    bending, length = d.stiffness[on]
    stiff = d.number(1e-2, 1e3) * bending / length**3
    others = [name for name in d.solids if name != on]
    to = d.pick([*others, "ground"])
    _, tip = d.poses[on]
    options: dict[str, Any] = {"stiffness": stiff}
    if d.chance(0.5):
        options["damping"] = d.number(1e-3, 1e-1) * stiff
    if to == "ground":
        options["to_position"] = tuple((tip + np.array(d.vector(0.5 * length))).tolist())
    else:
        options["to_position"] = d.vector(0.3 * length)
    if d.chance(0.3):
        options["length"] = 0.2 * length
    d.items.append(Spring(d.name("spring"), on, to, **options))


def fluid(d: Draft, on: str) -> None:
    """Drag, weight of displaced fluid, a floor that rubs, swimming."""
    bending, length = d.stiffness[on]
    weight = bending / length**2
    item = next(i for i in d.items if i.name == on)
    kind = d.in_turn(("drag", "sliding", "flow", "buoyancy", "swimming"))
    round_ = isinstance(item, Rod) and isinstance(item.section, Circle | Ellipse)
    stiff = isinstance(item, Rod) and item.strains in ("planar", "bending", "kirchhoff", "rigid")
    if kind == "swimming" and not (round_ and stiff):
        kind = "drag"
    if kind in ("drag", "flow"):
        scale = weight / (length if isinstance(item, Rod) else 1.0)
        current = d.vector(d.number(0.1, 2.0)) if kind == "flow" else (0.0, 0.0, 0.0)
        d.items.append(
            Drag(
                d.name("drag"),
                on,
                linear=scale * d.number(1e-2, 10.0),
                quadratic=tuple((scale * d.number(1e-2, 10.0) * np.array([0.1, 1, 1])).tolist()),
                current=current,
            )
        )
    elif kind == "buoyancy":
        volume = d.number(1e-2, 3.0) * weight / 9810.0
        d.items.append(Buoyancy(d.name("buoyancy"), on, 1000.0, volume))
    elif kind == "sliding":
        friction = weight * d.number(1e-3, 1.0)
        d.items.append(PlaneFriction(d.name("floor"), on, friction=friction, damping=0.1 * weight))
    else:
        d.items.append(Swimming(d.name("water"), (on,)))


CLOSING = (Spherical, Spherical, Revolute, Universal, Cylindrical, Fixed, Planar, Prismatic)


def close(d: Draft, on: str, to: str = "ground", kinds: Any = CLOSING, *, off: float = 0.2) -> None:
    """Close a loop from the tip of an item: where it is described, or up to ``off`` of its length away."""
    rotation, tip = d.poses[on]
    length = d.stiffness[on][1]
    off = off if d.numbers.random() < 0.5 else 0.0
    there = tip + np.array(d.vector(length * d.numbers.uniform(0.0, off)))
    turned = rotation * Rotation.from_rotvec(d.vector(d.numbers.uniform(0.0, off)))
    if to != "ground":
        base, origin = d.poses[to]
        there, turned = base.inv().apply(there - origin), base.inv() * turned
    plain = d.pick(kinds)
    made = joint(d, on, (plain,), held=0.1)
    d.items.append(
        Closure(
            d.name("closure"),
            on,
            to,
            made,
            to_position=tuple(there.tolist()),
            to_rotation=tuple(turned.as_rotvec().tolist()),
        )
    )
