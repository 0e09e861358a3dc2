"""Arrows: forces and moments of wrenches, and forces of contacts, over time."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from supple.model.laws import Input
from supple.results.result import Result
from supple.robot.items import KnifeEdge, RollingContact
from supple.robot.loads import Wrench
from supple.run.live import Moving
from supple.view.places import Places


@dataclass(frozen=True)
class Arrow:
    """A "force" (N), a "moment" (N m) or the force of a "contact": where (t, 3), and the vector (t, 3)."""

    name: str
    kind: str
    start: np.ndarray
    vector: np.ndarray


def arrows_of(places: Places, item: Any) -> list[Arrow]:
    """Forces and moments of a wrench, and the force of a contact, in the axes of the world."""
    if isinstance(item, Wrench):
        share = _law(places.result, item) * np.ones(6)
        given = np.concatenate([np.asarray(item.moment), np.asarray(item.force)]).astype(float)
        wrench, kinds = share * given, {"moment": slice(3), "force": slice(3, 6)}
        kinds = {kind: part for kind, part in kinds.items() if np.any(given[part])}
    elif isinstance(item, KnifeEdge | RollingContact):
        wrench, kinds = places.result.contact(item.name), {"contact": slice(3, 6)}
    else:
        return []
    rotation = places.pose(item.on, item.fraction).rotation
    if isinstance(item, Wrench) and not item.follower:
        rotation = np.eye(3)
    start = places.point(item.on, item.fraction, item.position)
    return [
        Arrow(item.name, kind, start, np.einsum("...ij,...j->...i", rotation, wrench[:, part]))
        for kind, part in kinds.items()
    ]


def _law(result: Result, item: Wrench) -> np.ndarray:
    """Values (t, 1) or (t, 6) of a wrench's law."""
    law = item.time_law()
    if isinstance(law, Input):
        values = result.input(law.name)
    elif isinstance(law, Moving):
        values = law.values(result)
    else:
        values = np.asarray(jax.vmap(law)(np.asarray(result.t)))
    return values.reshape(len(result.t), -1)
