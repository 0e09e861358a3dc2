"""All members of a study as one labeled dataset."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.results.store import versions
from supple.studies.member import FAILED, PENDING, Member
from supple.studies.readings import Reading
from supple.studies.samples import AbstractSamples

if TYPE_CHECKING:
    import xarray

MEMBER = "member"


def as_dataset(
    samples: AbstractSamples, members: Mapping[int, Member], robot: str
) -> "xarray.Dataset":
    """Parameters, statuses, messages and outputs along the dimension ``member``.

    Where a member has no value there is NaN: where it failed, or is shorter than others. An output with the
    name of a parameter is called "NAME (output)".
    """
    import xarray  # slow to import and not always needed

    missing = Member(0, PENDING, False, "", {})
    every = [members.get(number, missing) for number in range(len(samples))]
    every, like = _alike(every)
    data = xarray.Dataset(
        {
            "status": (MEMBER, np.array([m.status for m in every])),
            "message": (MEMBER, np.array([m.message for m in every], dtype=object)),
            "ok": (MEMBER, np.array([m.ok for m in every])),
        },
        {MEMBER: np.arange(len(samples))},
        {"robot": robot, "complete": int(len(members) == len(samples))} | versions(),
    )
    for column, parameter in zip(samples.table.T, samples.names, strict=True):
        data[parameter] = (MEMBER, column)
    labels = _labels(every)
    for key, own in like.items():
        name = f"{key} (output)" if key in data else key
        values = _placed([m.readings.get(key) for m in every], own, labels)
        data[name] = ((MEMBER, *own.dims), values, {"units": own.units} if own.units else {})
    data = data.assign_coords({dim: list(own) for dim, own in labels.items()})
    return _with_time(data)


def _alike(every: list[Member]) -> tuple[list[Member], dict[str, Reading]]:
    """The members, and each output of the first that has it; those with other dimensions have failed."""
    like: dict[str, Reading] = {}
    found = []
    for member in every:
        other = [
            name for name, own in member.readings.items() if like.get(name, own).dims != own.dims
        ]
        if other:
            text = f"{other[0]} has other dimensions than in the members before"
            member = Member(member.number, FAILED, False, text, {})
        like = {**dict(member.readings), **like}
        found.append(member)
    return found, like


def _labels(every: list[Member]) -> dict[str, tuple[Any, ...]]:
    """Labels of each dimension, of all members in their order of appearance."""
    found: dict[str, dict[Any, None]] = {}
    kinds = (own.labels for member in every for own in member.readings.values())
    for labels in dict.fromkeys(kinds):
        for dim, names in labels:
            found.setdefault(dim, {}).update(dict.fromkeys(names))
    return {dim: tuple(names) for dim, names in found.items()}


def _placed(
    every: list[Reading | None], like: Reading, labels: Mapping[str, tuple[Any, ...]]
) -> np.ndarray:
    """The values of all members in one array."""
    shapes = [np.shape(own.values) for own in every if own is not None]
    sizes = [
        len(labels[dim]) if dim in labels else max(shape[axis] for shape in shapes)
        for axis, dim in enumerate(like.dims)
    ]
    kinds = {own.values.dtype for own in every if own is not None}
    full = len(shapes) == len(every) and set(shapes) == {tuple(sizes)}
    kind = np.result_type(*kinds) if full else np.result_type(float, *kinds)
    values = np.full((len(every), *sizes), 0 if full else np.nan, dtype=kind)
    for row, own in enumerate(every):
        if own is None:
            continue
        names = dict(own.labels)
        if np.shape(own.values) == tuple(sizes) and all(
            names[dim] == labels[dim] for dim in like.dims if dim in labels
        ):
            values[row] = own.values
            continue
        at: Any = [
            [labels[dim].index(name) for name in names[dim]] if dim in labels else range(size)
            for dim, size in zip(own.dims, own.values.shape, strict=True)
        ]
        values[row][np.ix_(*at)] = own.values
    return values


def _with_time(data: "xarray.Dataset") -> "xarray.Dataset":
    """The instants as a coordinate, where runs have the same."""
    if "t" not in data or data["t"].dims != (MEMBER, "time") or not bool(data["ok"].any()):
        return data
    rows = data["t"].values[data["ok"].values]
    if not np.array_equal(rows, np.broadcast_to(rows[0], rows.shape)):
        return data
    return data.drop_vars("t").assign_coords(time=("time", rows[0], {"units": "s"}))
