"""Rendered robots for the gallery: what an example computes is caught on the way, and drawn."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import supple as sp
from supple.view.drawing import Drawing, drawing_of
from supple.view.film import Painter

SIZE = (880, 500)
CALLS = ("simulate", "release", "equilibrium")


@contextmanager
def caught() -> Iterator[list[sp.Result]]:
    """Runs and rest shapes of robots that are computed meanwhile, each as a result."""
    found: list[sp.Result] = []
    given: dict[str, Callable[..., Any]] = {name: getattr(sp, name) for name in CALLS}

    def watching(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def watched(robot: Any, *words: Any, **options: Any) -> Any:
            outcome = call(robot, *words, **options)
            if isinstance(outcome, sp.Result) and isinstance(outcome.description, sp.Robot):
                found.append(outcome)
            elif isinstance(robot, sp.Robot) and isinstance(outcome, sp.Equilibrium):
                found.append(_resting(robot, outcome))
            return outcome

        return watched

    for name, call in given.items():
        setattr(sp, name, watching(call))
    try:
        yield found
    finally:
        for name, call in given.items():
            setattr(sp, name, call)


def _resting(robot: sp.Robot, rest: sp.Equilibrium) -> sp.Result:
    """A rest shape as a result of one instant."""
    from supple.model.inputs import input_vector

    model, zero = rest.model, np.zeros((1, rest.model.nv))
    return sp.Result(
        model=model,
        t=np.array([float(rest.t)]),
        q=np.asarray(rest.q)[None],
        v=zero,
        a=zero,
        newton=np.zeros(1, dtype=int),
        substeps=np.ones(1, dtype=int),
        update=np.zeros(1),
        multipliers=np.asarray(rest.multipliers)[None],
        inputs=np.asarray(input_vector(model))[None],
        status=sp.Status.DONE,
        message=rest.message,
        rejected=0,
        wall_seconds=0.0,
        settings={},
        description=robot,
    )


def render(found: list[sp.Result], path: Path) -> bool:
    """Draw the robot with the most items, in the longest of its runs; False where there is none."""
    if not found:
        return False
    result = max(found, key=lambda run: (len(run.description.items), len(run.t)))
    every = drawing_of(result, 40, energies=False)
    shown = result.sampled(every.t[_telling(every)][None])
    picture = Painter(drawing_of(shown, 1, energies=False), size=SIZE).picture(0)
    Image.fromarray(picture).save(path)
    return True


def _telling(drawing: Drawing) -> int:
    """The instant at which the rods are bent most; without rods, the last."""
    if not drawing.rods or "curvature" not in drawing.quantities:
        return len(drawing.t) - 1
    bent = sum(rod.values["curvature"].mean(axis=1) for rod in drawing.rods)
    return int(np.argmax(bent))
