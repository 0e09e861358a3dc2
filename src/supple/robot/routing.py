"""From tendons and chambers as users write them to the channels of the model."""

from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.model.chambers import Chambers, no_chambers
from supple.model.model import Slot
from supple.model.tendons import Tendons, no_tendons
from supple.numeric import is_traced, on_grid
from supple.robot.items import Chamber, Rod, Tendon
from supple.robot.robot import Robot

POINTS = 32
"""Quadrature points along each smooth piece of a channel."""
SLACK_WIDTH = 1e-6
"""Of the length: from slack to taut."""


def tendons_of(robot: Robot, slots: list[Slot]) -> Tendons:
    """All tendons of a robot."""
    items = [item for item in robot.items if isinstance(item, Tendon)]
    if not items:
        return no_tendons()
    rods = {item.name: item for item in robot.items if isinstance(item, Rod)}
    places = {slot.name: slot for slot in slots}
    channels = []
    for k, item in enumerate(items):
        for i, name in enumerate(item.rods):
            rod = rods[name]
            if rod.growth is not None:
                raise DescriptionError(item.name, "on", name, "a rod of constant length")
            first = item.start if i == 0 else 0.0
            last = item.end if i == len(item.rods) - 1 else 1.0
            channels.append((k, places[name], _channel(item, rod, first, last)))
    width = max(slot.v_stop - slot.v_start for _, slot, _ in channels)
    points = max(len(parts[0]) for _, _, parts in channels)
    weights, straight, slope, columns = [], [], [], []
    for _, slot, (w, gamma, b) in channels:
        missing = points - len(w)
        own = slot.v_stop - slot.v_start
        backend: Any = jnp if is_traced((w, gamma, b)) else np
        weights.append(backend.pad(w, (0, missing)))
        # Points that are not there have a tangent of length one and no weight.
        straight.append(backend.concatenate([gamma, np.tile([1.0, 0.0, 0.0], (missing, 1))]))
        slope.append(backend.pad(b, ((0, missing), (0, 0), (0, width - own))))
        columns.append(tuple(range(slot.v_start, slot.v_stop)) + (-1,) * (width - own))
    backend = jnp if is_traced((weights, straight)) else np
    stacked = backend.stack(weights), backend.stack(straight), backend.stack(slope)
    of = tuple(k for k, _, _ in channels)
    sums = (np.arange(len(items))[:, None] == np.array(of)[None, :]).astype(float)
    size = backend.sqrt(backend.sum(stacked[1] ** 2, axis=-1))
    rest = sums @ backend.sum(stacked[0] * size, axis=1)
    return Tendons(
        *stacked,
        laws=tuple(item.time_law() for item in items),
        stiffness=np.array([item.stiffness for item in items]),
        damping=np.array([item.damping for item in items]),
        slack_width=SLACK_WIDTH * rest,
        rest=rest,
        columns=tuple(columns),
        tendon_of_channel=of,
        kinds=tuple(item.kind for item in items),
        names=tuple(item.name for item in items),
    )


def chambers_of(robot: Robot, slots: list[Slot], nv: int) -> Chambers:
    """All chambers of a robot."""
    items = [item for item in robot.items if isinstance(item, Chamber)]
    if not items:
        return no_chambers(nv)
    rods = {item.name: item for item in robot.items if isinstance(item, Rod)}
    places = {slot.name: slot for slot in slots}
    rest, arms = [], []
    for item in items:
        rod, slot = rods[item.on], places[item.on]
        if rod.growth is not None:
            raise DescriptionError(item.name, "on", item.on, "a rod of constant length")
        # A chamber's path is a cable's; its volume takes the component along the section's normal.
        path = Tendon(item.name, on=item.on, offset=item.offset, tension=0.0)
        weight, straight, slope = _channel(path, rod, item.start, item.end)
        backend: Any = jnp if is_traced((item.area, weight, straight, slope)) else np
        rest.append(item.area * backend.sum(weight * straight[:, 0]))
        own = item.area * backend.einsum("n,nm->m", weight, slope[:, 0])
        arms.append(backend.pad(own, (slot.v_start, nv - slot.v_stop)))
    backend = jnp if is_traced((rest, arms)) else np
    return Chambers(
        rest=backend.stack(rest),
        arms=backend.stack(arms),
        area=backend.asarray([item.area for item in items]),
        laws=tuple(item.time_law() for item in items),
        kinds=tuple(item.kind for item in items),
        names=tuple(item.name for item in items),
    )


def _channel(item: Tendon, rod: Rod, first: float, last: float) -> tuple[Any, Any, Any]:
    """Weights (m), Γ₀ and B at points of a channel."""
    field = rod.strain_field()
    edges = [first, *(b for b in sorted({*field.breaks, *rod.breaks}) if first < b < last), last]
    u, w = [], []
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    for a, b in pairwise(edges):
        u.append(a + (b - a) * (nodes + 1) / 2)
        w.append((b - a) / 2 * weights)
    at, weight = np.concatenate(u), np.concatenate(w)
    offset = np.zeros((len(at), 3))
    offset[:, 1:] = item.offsets(at)
    change = np.zeros((len(at), 3))
    change[:, 1:] = _slope(item, at)
    values = np.asarray(field.values(at))
    rest = (
        on_grid(rod.rest, at) if callable(rod.rest) else np.tile(np.asarray(rod.rest), (len(at), 1))
    )
    slope = values[:, 3:] + np.cross(np.swapaxes(values[:, :3], 1, 2), offset[:, None, :]).swapaxes(
        1, 2
    )
    straight = rest[:, 3:] + np.cross(rest[:, :3], offset) + change / rod.length
    return weight * rod.length, straight, slope


def _slope(item: Tendon, u: np.ndarray) -> np.ndarray:
    """dD/du by differences of high order; channels are smooth."""
    h = 1e-3
    shifted = [item.offsets(u + k * h) for k in (-2, -1, 1, 2)]
    return (shifted[0] - 8 * shifted[1] + 8 * shifted[2] - shifted[3]) / (12 * h)
