"""An arm of two sections with three tendons each and a rigid tool, driven by the lengths of its tendons.

No source: an arm for inverse statics. The backbone is a soft polymer rod that yields to its tendons, so that
all six lengths are free; each section's tendons are ``OFFSET`` from the axis, at equal angles, those of the
outer section between those of the inner one and through it. At home the sections are pulled together by
``SHORTENING``: tensions come out, and must stay positive while the arm moves. The arm hangs along -z.
"""

import numpy as np

from supple.model.laws import AbstractLaw, Input
from supple.robot.actuators import Tendon
from supple.robot.items import Body, Marker, Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material, StiffnessDamping

LENGTH = 0.15
"""Of each section (m)."""
OFFSET = 0.015
SHORTENING = {"inner": 0.08, "outer": 0.04}
"""Of each section at home, relative: the inner one carries all six tendons."""
TOOL = 0.05
"""Length of the tool (m)."""


def tendon_names() -> tuple[str, ...]:
    """Inner section first."""
    return tuple(f"{section} {i}" for section in ("inner", "outer") for i in range(3))


def home_pull(name: str) -> float:
    """Shortening at home (m)."""
    through = ("inner",) if name.startswith("inner") else ("inner", "outer")
    return LENGTH * sum(SHORTENING[section] for section in through)


def tendon_arm(laws: dict[str, AbstractLaw] | None = None, basis: int = 3) -> Robot:
    """The arm; without ``laws`` each pull is an :class:`Input` named like its tendon."""
    polymer = Material(E=2e7, nu=0.4, density=1200.0, damping=StiffnessDamping(0.02))

    def section(name: str, **place: object) -> Rod:
        return Rod(
            name,
            length=LENGTH,
            section=Circle(4e-3),
            material=polymer,
            strains="extensible-kirchhoff",
            basis={"kx": 1, "ky": basis, "kz": basis, "gx": 1},
            **place,  # type: ignore[arg-type]
        )

    def tendon(name: str) -> Tendon:
        kind, number = name.split()
        angle = 2 * np.pi * int(number) / 3 + (np.pi / 3 if kind == "outer" else 0.0)
        law = Input(name, home_pull(name)) if laws is None else laws[name]
        along = "inner" if kind == "inner" else ("inner", "outer")
        return Tendon(
            name, on=along, offset=(OFFSET * np.cos(angle), OFFSET * np.sin(angle)), pull=law
        )

    return Robot(
        section("inner", rotation=(0.0, np.pi / 2, 0.0)),
        section("outer", parent="inner"),
        Body("tool", parent="outer", mass=0.02, inertia=(4e-7, 4e-6, 4e-6), com=(TOOL / 2, 0, 0)),
        Marker("tip", parent="tool", position=(TOOL, 0.0, 0.0)),
        *(tendon(name) for name in tendon_names()),
        name="two-section arm",
    )
