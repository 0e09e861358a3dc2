"""Steps that are longer than the period of what moves most."""

import numpy as np

from supple.hints import hint
from supple.results.stretch import Stretch
from supple.run.message import coordinate_owner

LOOKED_AT = 2000
"""Instants, the last ones."""
FEWEST = 8
FLIPS = 0.6
"""Share of the steps that turn back; a period that is resolved has two in dozens."""


def hint_at_long_steps(run: Stretch, dt: float) -> None:
    """Tell where the coordinate that moves most goes to and fro at nearly every step."""
    model = run.model
    if model.nq != model.nv or len(run.t) < FEWEST:
        return
    q = np.asarray(run.q)[-LOOKED_AT:] / np.asarray(model.scale)
    steps = np.diff(q, axis=0)
    most = int(np.argmax(np.ptp(q, axis=0)))
    way = steps[:, most]
    turns = way[1:] * way[:-1] < 0
    if np.ptp(q[:, most]) > 0 and np.mean(turns) > FLIPS:
        hint(
            f"{model.name}: steps of {dt:g} s are longer than half a period of what moves most, "
            f"{coordinate_owner(model, most)}: its motion is not resolved. Take a smaller dt, or "
            "accuracy=1e-3 instead of dt"
        )
