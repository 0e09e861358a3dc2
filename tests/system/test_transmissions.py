"""Robots that tendons, chambers, motors, winches and springs hold: structured systems are the dense ones."""

from functools import cache

import numpy as np
import pytest

import supple as sp
from supple.model.constraints import ActiveSet
from supple.system.active_set import hold
from tests.system.test_linear import check, rod


def helix(u):
    return 4e-3 * np.stack([np.cos(3 * u), np.sin(3 * u)], axis=1)


def _arm(**joints) -> list[sp.Rod]:
    return [
        rod(
            f"r{i}",
            joint=joints.get(f"r{i}", sp.Fixed()),
            position=(0.01 if f"r{i}" in joints else 0.0, 0.0, 0.0),
            **({"parent": f"r{i - 1}"} if i else {}),
        )
        for i in range(4)
    ]


def _wires() -> sp.Robot:
    """Tendons through three rods in every way: in channels, over joints and discs, to a body, to a winch."""
    along = {"on": ("r0", "r1", "r2")}
    there = {"ground": (-0.05, 0.02, 0.0), "r0": helix, "r1": (4e-3, 0.0), "r2": (3e-3, 1e-3),
             "hand": (0.01, 0.02, 0.0)}  # fmt: skip
    return sp.Robot(
        *_arm(r1=sp.Revolute("y"), r3=sp.Revolute("z")),
        rod("twig", parent="r1", fraction=0.5, rotation=(0, 0, 1.0)),
        sp.Body("hand", parent="r2", joint=sp.Spherical(), mass=0.1, inertia=(1e-4,) * 3),
        sp.Motor("winch", position=0.1, stiffness=2.0, damping=0.1, inertia=1e-4, gear=5.0),
        sp.Motor("elbow", on="r3", position=0.2, stiffness=2.0, damping=0.1, limit=0.3, inertia=1e-4),
        sp.Tendon("elastic", **along, offset=(3e-3, 0.0), pull=0.01, stiffness=1e3, damping=3.0),
        sp.Tendon("given", **along, offset=helix, tension=2.0),
        sp.Tendon("wound", **along, offset=(0.0, 3e-3), pull=lambda t: 1e-3 * t),
        sp.Tendon("loose", **along, offset=(0.0, -3e-3), pull=lambda t: -1e-2 * t),
        sp.Tendon("drum", **along, offset=(2e-3, 3e-3), winch="winch", drum=0.01, pull=0.01,
                  stiffness=1e3),
        sp.Tendon("spool", on="r0", offset=(2e-3, 3e-3), winch="winch", drum=0.02),
        sp.Tendon("inner", on="r3", offset=(2e-3, 3e-3), pull=0.01, stiffness=2e3, damping=1.0),
        sp.Tendon("inside", on="r3", offset=(2e-3, -3e-3), pull=lambda t: 1e-3 * t),
        sp.Tendon("discs", on=("ground", "r0", "r1", "r2", "hand"), offset=there, discs=(0.3, 0.6),
                  pull=0.01, stiffness=1e3, damping=2.0),
        sp.Tendon("line", on=("twig", "hand"), offset={"twig": (0.0, 3e-3), "hand": (0.0, 0.05, 0.0)},
                  discs=(0.5, 1.0), pull=lambda t: 1e-3 * t),
    )  # fmt: skip


def _fluids() -> sp.Robot:
    """Chambers, and springs between branches, trees, the ground, and bodies that nothing else holds."""
    body = dict(mass=0.1, inertia=(1e-4,) * 3, joint=sp.Free())
    return sp.Robot(
        *_arm(),
        rod("twig", parent="r0", fraction=0.5, rotation=(0, 0, 1.0)),
        rod("other", position=(0.0, 0.4, 0.0)),
        sp.Body("ball", position=(0.2, 0.2, 0.1), **body),
        sp.Body("bell", position=(0.5, 0.2, 0.1), **body),
        sp.Chamber("water", on="r0", area=1e-4, offset=(5e-3, 0.0), volume=1e-6),
        sp.Chamber("air", on="r1", area=1e-4, offset=(5e-3, 0.0), gas=5.0),
        sp.Chamber("pump", on="r2", area=1e-4, offset=(0.0, 5e-3), pressure=1e4),
        sp.Spring("branches", on="twig", to="r3", fraction=0.7, stiffness=50.0, damping=1.0),
        sp.Spring("floor", on="ground", to="r2", position=(0.1, 0.3, 0.2), stiffness=30.0, damping=1.0),
        sp.Spring("trees", on="other", to="r1", fraction=0.5, stiffness=40.0, damping=0.5),
        *(
            sp.Spring(f"held{a}{b}", on=a, to=b, position=place, stiffness=60.0, damping=0.2)
            for a, b, place in (
                ("ball", "r1", (0.02, 0.0, 0.0)),
                ("ball", "other", (0.0, 0.02, 0.0)),
                ("ball", "r3", (0.0, 0.0, 0.02)),
                ("ball", "bell", (0.01, 0.0, 0.02)),
                ("bell", "r3", (0.0, 0.03, 0.02)),
                ("bell", "other", (0.03, 0.0, 0.02)),
                ("bell", "r2", (0.03, 0.03, 0.0)),
            )
        ),
    )  # fmt: skip


def _rubbing() -> sp.Robot:
    """Friction in the channels of three rods, at discs, of tendons driven in every way."""
    rough = {"friction": 0.2, "friction_speed": 0.05, "viscous": 3.0}
    along = {"on": ("r0", "r1", "r2"), **rough}
    return sp.Robot(
        *_arm(r3=sp.Revolute("y")),
        sp.Tendon("elastic", **along, offset=(3e-3, 0.0), pull=0.01, stiffness=1e3, damping=3.0),
        sp.Tendon("given", **along, offset=helix, tension=2.0),
        sp.Tendon("wound", **along, offset=(0.0, 3e-3), pull=lambda t: 1e-3 * t),
        sp.Tendon("inner", **{**along, "on": "r1"}, offset=helix, pull=0.01, stiffness=1e3),
        sp.Tendon("discs", **{**along, "on": ("r2", "r3")}, offset=helix, discs=3, pull=0.01,
                  stiffness=1e3, damping=2.0),
        sp.Tendon("held", **{**along, "on": ("r1", "r2", "r3")}, offset=(0.0, 4e-3), discs=(0.2, 0.8),
                  pull=lambda t: 1e-3 * t),
        sp.Tendon("stiff", **{**along, "on": "r0"}, offset=(0.0, 4e-3), discs=4, pull=lambda t: 1e-3 * t),
    )  # fmt: skip


@cache
def robot(name):
    model = {"wires": _wires, "fluids": _fluids, "rubbing": _rubbing}[name]().build()
    if name == "wires":
        table = model.constraints
        held = np.array([table.owner[row] != "tendon 'loose'" for row in table.one_sided_rows])
        assert not held.all()
        model = hold(model, ActiveSet(held, np.zeros(len(held))))
    return model


@pytest.mark.parametrize("kind", ["step", "complex", "mass", "rest"])
@pytest.mark.parametrize("name", ["wires", "fluids", "rubbing"])
def test_structured_systems_are_the_dense_ones(name, kind, rng):
    check(robot(name), kind, rng)
