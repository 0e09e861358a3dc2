"""Whether rods without stretch and shear may be: what their forces would stretch and shear them by.

A rod whose ``strains`` are "auto" is taken for a Kirchhoff rod where it is slender. That tells of its
frequencies, not of its loads: a heavy weight on a thin line stretches it however slender it is. The force in
a rod that cannot stretch is known from the balance, and with it what is left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.mechanics.readout import AbstractReadout
from supple.robot.items import Rod
from supple.robot.loads import Swimming
from supple.robot.resolution import bases_of, on_pieces, orders_of
from supple.robot.robot import Robot
from supple.strain import AUTO_STRAINS, ROD_MODELS
from supple.system.error_norm import characteristic_length

LOOKED_AT = 9
"""Sections of a rod at which its force is looked at."""
SMALL = 0.3
"""Share of the accuracy asked for that may be left out at rest."""
SMALL_MOVING = 0.1
"""The same in motion, where differences grow."""


def unstretched(given: Robot, chosen: Robot) -> frozenset[str]:
    """Names of the rods that we chose to be without stretch and shear."""
    swimming = {name for item in given.items if isinstance(item, Swimming) for name in item.on}
    return frozenset(
        item.name
        for item in given.items
        if isinstance(item, Rod)
        and item.name not in swimming
        and isinstance(item.rod_model, str)
        and item.rod_model in AUTO_STRAINS
        and not item.slides
        and isinstance(rod := chosen[item.name], Rod)
        and rod.rod_model == AUTO_STRAINS[item.rod_model][0]
    )


def left_out(robot: Robot, names: frozenset[str], seen: Sequence[AbstractReadout]) -> float:
    """Displacement over the robot's size that stretch and shear of some rods would make, at most."""
    largest = 0.0
    for name in names:
        rod: Any = robot[name]
        stiffness = rod.sectional().matrices(np.linspace(0.0, 1.0, LOOKED_AT)).stiffness
        own = np.diagonal(np.asarray(stiffness), axis1=-2, axis2=-1)[:, 3:]
        for one in seen:
            force = np.asarray(one.internal_wrench(name, LOOKED_AT))[..., 3:]
            share = float(rod.length) / float(characteristic_length(one.model))
            largest = max(largest, share * float(np.abs(force / own).max(initial=0.0)))
    return largest


def stretching(robot: Robot, names: frozenset[str]) -> Robot:
    """The robot with stretch and shear of some rods, half as finely resolved as their bending."""
    return robot.replacing(*(_stretching(robot[name]) for name in sorted(names)))


def _stretching(rod: Any) -> Rod:
    model = dict(AUTO_STRAINS.values())[rod.rod_model]
    bases = bases_of(rod)
    bending = bases["kz"]
    halves = [(order + 1) // 2 for order in orders_of(bending)]
    more = on_pieces(halves, (0.0, *bending.breaks, 1.0))
    return replace(rod, strains=model, basis={s: bases.get(s, more) for s in ROD_MODELS[model]})
