"""Drawings of the stretches of a run as one: items are nowhere (NaN) while they do not exist."""

from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import jax
import numpy as np

from supple.view.numbers import Plot

_Drawing = TypeVar("_Drawing", bound=Any)


def joined(parts: list[_Drawing]) -> _Drawing:
    """The drawings of stretches as one: things are the same that have the same name, kind and surface."""
    counts = [len(part.t) for part in parts]
    matched = partial(_matched, parts, counts)
    frames = list(dict.fromkeys(name for part in parts for name in part.frames))
    places = [[p.frames.index(n) if n in p.frames else None for p in parts] for n in frames]

    def poses(array: str, value: Any) -> np.ndarray:
        columns = [
            filled(
                [
                    None if i is None else getattr(p, array)[:, i]
                    for p, i in zip(parts, own, strict=True)
                ],
                counts,
                value,
            )
            for own in places
        ]
        return np.stack(columns, axis=1)

    plots: dict[tuple[str, str], dict[str, None]] = {}
    for part in parts:
        for plot in part.plots:
            plots.setdefault((plot.title, plot.unit), {}).update(dict.fromkeys(plot.curves))
    own_plots = [{(p.title, p.unit): p.curves for p in part.plots} for part in parts]
    return replace(
        parts[-1],
        t=np.concatenate([part.t for part in parts]),
        rods=matched(
            "rods", ("name", "kind", "outline"), position=np.nan, rotation=np.eye(3), values=0.0
        ),
        chambers=matched(
            "chambers", ("name", "kind", "outline"), position=np.nan, rotation=np.eye(3), values=0.0
        ),
        solids=matched("solids", ("name", "kind", "mesh"), position=np.nan, rotation=np.eye(3)),
        lines=matched("lines", ("name",), points=np.nan, tension=0.0),
        arrows=matched("arrows", ("name", "kind"), start=np.nan, vector=0.0),
        frames=frames,
        frame_rotation=poses("frame_rotation", np.eye(3)),
        frame_position=poses("frame_position", np.nan),
        numbers=matched("numbers", ("item", "name", "unit", "parts"), values=np.nan),
        plots=[
            Plot(
                *key,
                {
                    c: filled([p.get(key, {}).get(c) for p in own_plots], counts, np.nan)
                    for c in curves
                },
            )
            for key, curves in plots.items()
        ],
    )


def _matched(
    parts: list[Any], counts: list[int], kind: str, like: tuple[str, ...], **arrays: Any
) -> list[Any]:
    """Things of all drawings that are alike in some fields, their arrays end to end, filled where missing."""
    found: dict[Any, list[Any]] = {}
    for index, part in enumerate(parts):
        seen: dict[Any, int] = {}
        for thing in getattr(part, kind):
            shapes = tuple(
                np.shape(getattr(thing, name))[1:] for name in arrays if name != "values"
            )
            key = (shapes, *(_hashable(getattr(thing, name)) for name in like))
            seen[key] = seen.get(key, -1) + 1
            found.setdefault((key, seen[key]), [None] * len(parts))[index] = thing
    return [
        replace(
            next(thing for thing in things if thing is not None),
            **{
                name: filled(
                    [None if t is None else getattr(t, name) for t in things], counts, value
                )
                for name, value in arrays.items()
            },
        )
        for things in found.values()
    ]


def _hashable(value: Any) -> Any:
    return jax.tree.map(lambda x: x.tobytes() if isinstance(x, np.ndarray) else x, value)


def filled(parts: list[Any], counts: list[int], value: Any) -> Any:
    """Arrays (t, …), or mappings of them, end to end; ``value`` for the instants of those that are None."""
    known = next(part for part in parts if part is not None)
    if isinstance(known, dict):
        return {
            key: filled([None if part is None else part.get(key) for part in parts], counts, value)
            for key in known
        }
    empty = np.broadcast_to(value, known.shape[1:])
    return np.concatenate(
        [
            np.broadcast_to(empty, (count, *empty.shape)) if part is None else part
            for part, count in zip(parts, counts, strict=True)
        ]
    )
