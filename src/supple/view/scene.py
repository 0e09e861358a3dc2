"""A drawing as plain data for the page that shows it: numbers as text, arrays as base64.

The page (``web/``) draws what is here and knows nothing of robots. ``scene_of`` is everything; ``moving_of``
only what changes with time, for a page that has the rest.
"""

import base64
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.view.camera import FIELD, FILL, VIEW, outermost, round_length
from supple.view.colors import ARROWS, PLAIN, QUANTITIES, SLACK, SOLIDS, table_of
from supple.view.drawing import LONGEST, Drawing, Solid, Strand

FEW = 4
"""More rods than these have every second section drawn."""
LARGEST = 32767


def floats(values: Any) -> dict[str, Any]:
    """An array of numbers, to seven digits."""
    return _packed("f4", np.asarray(values, dtype="<f4"))


def shares(values: Any) -> dict[str, Any]:
    """An array of numbers, to the 32767th of the largest."""
    values = np.nan_to_num(np.asarray(values, dtype=float))  # of a run that failed
    scale = float(np.abs(values).max(initial=0.0)) / LARGEST or 1.0
    return {**_packed("i2", np.round(values / scale).astype("<i2")), "scale": scale}


def whole(values: Any) -> dict[str, Any]:
    """An array of whole numbers."""
    return _packed("u4", np.asarray(values, dtype="<u4"))


def _packed(kind: str, array: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"kind": kind, "shape": list(array.shape), "data": data}


def quaternions(rotation: np.ndarray) -> np.ndarray:
    """Quaternions (t, …, 4), real part first, of rotations (t, …, 3, 3), without jumps of sign in time."""
    copied = np.array(rotation).reshape(-1, 3, 3)  # SciPy before 1.15 wants to write there
    flat = Rotation.from_matrix(copied).as_quat(scalar_first=True)
    found = flat.reshape(*rotation.shape[:-2], 4)
    flips = np.sum(found[1:] * found[:-1], axis=-1, keepdims=True) < 0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    found[1:] *= signs
    return found


def scene_of(drawing: Drawing, color: str = "curvature") -> dict[str, Any]:
    """Everything."""
    low, high = drawing.bounds
    span = drawing.span
    scales = {
        name: {"unit": own.unit, "signed": own.signed, "colors": table_of(name).tolist()}
        for name, own in QUANTITIES.items()
        if name in drawing.quantities
    }
    for name, unit in (("tension", "N"), ("pressure", "kPa")):
        scales[name] = {"unit": unit, "signed": False, "colors": table_of(name).tolist()}
    for name, scale in scales.items():
        scale["largest"] = drawing.largest(name)
    fixed = {
        "name": drawing.name,
        "color": drawing.color(color),
        "quantities": drawing.quantities,
        "scales": scales,
        "plain": PLAIN,
        "slack": SLACK,
        "kinds": SOLIDS,
        "arrowKinds": ARROWS,
        "gravity": drawing.gravity.tolist(),
        "span": span,
        "floor": float(min(low[2], 0.0)),
        "cell": round_length(span / 8),
        "middle": ((low + high) / 2).tolist(),
        "cloud": floats(outermost(drawing.seen)),
        "longest": LONGEST,
        "view": {"from": VIEW.tolist(), "field": float(FIELD), "fill": FILL},
        "frames": drawing.frames,
    }
    moving, every = moving_of(drawing), _every(drawing)
    for kind, own in (("rods", drawing.rods), ("chambers", drawing.chambers)):
        moving[kind] = [{**_strand(s, every), **m} for s, m in zip(own, moving[kind], strict=True)]
    moving["solids"] = [
        {**_solid(s), **m} for s, m in zip(drawing.solids, moving["solids"], strict=True)
    ]
    for line, data in zip(drawing.lines, moving["lines"], strict=True):
        data["name"] = line.name
    for arrow, data in zip(drawing.arrows, moving["arrows"], strict=True):
        data |= {"name": arrow.name, "kind": arrow.kind}
    return {**fixed, **moving}


def moving_of(drawing: Drawing) -> dict[str, Any]:
    """What changes with time, in the order of :func:`scene_of`."""
    every = _every(drawing)
    return {
        "t": (drawing.t - drawing.t[0]).tolist(),
        "rods": [_moving(strand, every) for strand in drawing.rods],
        "chambers": [_moving(strand, every) for strand in drawing.chambers],
        "solids": [
            {"position": floats(s.position), "turn": shares(quaternions(s.rotation))}
            for s in drawing.solids
        ],
        "lines": [
            {"points": floats(line.points), "tension": shares(line.tension)}
            for line in drawing.lines
        ],
        "arrows": [{"start": floats(a.start), "vector": floats(a.vector)} for a in drawing.arrows],
        "framePosition": floats(drawing.frame_position),
        "frameTurn": shares(quaternions(drawing.frame_rotation)),
        "numbers": [
            {
                "item": number.item,
                "name": number.name,
                "unit": number.unit,
                "parts": number.parts,
                "values": floats(number.values),
            }
            for number in drawing.numbers
        ],
        "plots": [
            {
                "title": plot.title,
                "unit": plot.unit,
                "curves": [[name, floats(values)] for name, values in plot.curves.items()],
            }
            for plot in drawing.plots
        ],
    }


def _every(drawing: Drawing) -> int:
    return 1 if len(drawing.rods) <= FEW else 2


def _strand(strand: Strand, every: int) -> dict[str, Any]:
    return {
        "name": strand.name,
        "kind": strand.kind,
        "outline": floats(strand.outline[::every]),
        "sharp": strand.sharp,
        "reach": strand.reach,
    }


def _moving(strand: Strand, every: int) -> dict[str, Any]:
    return {
        "position": floats(strand.position[:, ::every]),
        "turn": shares(quaternions(strand.rotation[:, ::every])),
        "values": {name: shares(own[:, ::every]) for name, own in strand.values.items()},
    }


def _solid(solid: Solid) -> dict[str, Any]:
    return {
        "name": solid.name,
        "kind": solid.kind,
        "vertices": floats(solid.mesh[0]),
        "faces": whole(solid.mesh[1]),
    }
