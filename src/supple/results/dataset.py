"""A result as labeled data: one xarray dataset, and the files people ask for."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.model.inputs import input_slices
from supple.model.model import Model
from supple.results.store import versions
from supple.results.stretch import Stretch

if TYPE_CHECKING:
    import xarray

Result = Any
"""A :class:`supple.results.result.Result`, which imports this file."""
AXES = ["x", "y", "z"]
POINTS = 41
"""Sections of each rod in a dataset."""


def coordinate_labels(model: Model) -> tuple[list[str], list[str]]:
    """Names of the configuration numbers and of the velocity coordinates: "arm.rod.0", "tool.joint.1"."""
    topology = model.topology
    q, v = [""] * topology.nq, [""] * topology.nv
    for kind, slots in (("joint", topology.joint_slots), ("rod", topology.rod_slots)):
        for slot in slots:
            for labels, part in ((q, slot.q), (v, slot.v)):
                for k in range(part.start, part.stop):
                    labels[k] = f"{slot.name}.{kind}.{k - part.start}"
    return q, v


def as_dataset(result: Result, points: int = POINTS) -> xarray.Dataset:
    """Everything about a run, labeled, with units.

    A run of several stretches has the coordinate ``stretch`` along time. The instant of an edit is there
    twice, before and after it; what does not exist in a stretch is NaN there.
    """
    parts = [_labeled(one, points) for one in result.stretches]
    data = parts[0] if len(parts) == 1 else _joined(parts)
    if len(parts) > 1:
        data = data.assign_coords(stretch=("time", result.stretch))
    data.attrs = about(result)
    return data


def _joined(parts: list[xarray.Dataset]) -> xarray.Dataset:
    """Datasets end to end in time, on the labels of all of them in their order of appearance."""
    import xarray

    labels: dict[Any, dict[Any, None]] = {}
    for part in parts:
        for dim, index in part.indexes.items():
            if dim != "time":
                labels.setdefault(dim, {}).update(dict.fromkeys(index))
    wide = []
    for part in parts:
        found = part.reindex({dim: list(own) for dim, own in labels.items() if dim in part.indexes})
        for name, like in ((n, v) for other in parts for n, v in other.data_vars.items()):
            if name not in found:
                sizes = [len(labels[d]) if d in labels else like.sizes[d] for d in like.dims[1:]]
                empty = np.full((part.sizes["time"], *sizes), np.nan)
                found[name] = (like.dims, empty, like.attrs)
        found = found.assign_coords({dim: list(own) for dim, own in labels.items()})
        wide.append(found)
    return xarray.concat(
        wide, dim="time", data_vars="all", coords="minimal", compat="override", join="override"
    )


def _labeled(result: Stretch, points: int) -> xarray.Dataset:
    """Everything about a stretch."""
    import xarray  # slow to import and not always needed

    q, v = coordinate_labels(result.model)
    model = result.model
    data = xarray.Dataset(
        coords={"time": ("time", result.t, {"units": "s"}), "axis": AXES, "q": q, "v": v}
    )
    data["configuration"] = (("time", "q"), result.q)
    data["velocity"] = (("time", "v"), result.v)
    data["acceleration"] = (("time", "v"), result.a)
    data["newton_iterations"] = ("time", result.newton)
    data["substeps"] = ("time", result.substeps)
    frames = [frame.name for frame in model.topology.frames]
    poses = [result.poses[name] for name in frames]
    data["position"] = (
        ("time", "frame", "axis"),
        np.stack([pose.position for pose in poses], axis=1),
        {"units": "m"},
    )
    data["rotation"] = (
        ("time", "frame", "axis", "column"),
        np.stack([pose.rotation for pose in poses], axis=1),
    )
    data = data.assign_coords(frame=frames)
    rods = [slot.name for slot in model.topology.rod_slots]
    if rods:
        shapes = np.stack([result.shape(name, points).position for name in rods], axis=1)
        data["centerline"] = (("time", "rod", "u", "axis"), shapes, {"units": "m"})
        data = data.assign_coords(rod=rods, u=np.linspace(0.0, 1.0, points))
    for name in ("kinetic", "elastic", "potential"):
        values = np.asarray(getattr(result.energies, name))
        data[f"{name}_energy"] = ("time", values, {"units": "J"})
    for kind, (first, second) in TRANSMISSIONS.items():
        own = model.transmissions
        names = [n for n, k in zip(own.names, own.kinds, strict=True) if k == kind]
        if names:
            found = [getattr(result, kind)(name) for name in names]
            for column, (label, unit) in enumerate((first, second)):
                values = np.stack([pair[column] for pair in found], axis=1)
                data[label] = (("time", kind), values, {"units": unit})
            data = data.assign_coords({kind: names})
    for name, (where, shape) in input_slices(model).items():
        dims = ("time", *(f"{name} {i}" for i in range(len(shape))))
        data[f"input {name}"] = (dims, result.inputs[:, where].reshape(len(result.t), *shape))
    if model.closures.size:
        wrenches = [result.closure(name) for name in model.closures.names]
        data["closure_wrench"] = (("time", "closure", "component"), np.stack(wrenches, axis=1))
        components = ["mx", "my", "mz", "fx", "fy", "fz"]
        data = data.assign_coords(closure=list(model.closures.names), component=components)
    return data


TRANSMISSIONS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "tendon": (("tendon_length", "m"), ("tension", "N")),
    "chamber": (("chamber_volume", "m3"), ("pressure", "Pa")),
    "motor": (("motor_position", "rad"), ("motor_torque", "N m")),
    "spring": (("spring_length", "m"), ("spring_tension", "N")),
}


def about(result: Result) -> dict[str, Any]:
    """What a file says of the run it holds."""
    return {
        "robot": result.model.name,
        "status": result.status.name,
        "message": result.message,
        "wall_seconds": result.stats.wall_seconds,
        "rejected_steps": result.stats.rejected,
        "refinements": result.refinements,
        "settings": "; ".join(
            f"{name}={value!r}" for name, value in result.settings.items() if name != "outside"
        ),
        **_errors(result),
    } | versions()


def _errors(result: Result) -> dict[str, float]:
    """Estimates that are known; NaN where they are not."""
    known = result.known_error
    return {} if known is None else {f"error_{k}": v for k, v in known._asdict().items()}


def write_netcdf(result: Result, path: str | Path, points: int = POINTS) -> Path:
    """The dataset as a NetCDF file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    as_dataset(result, points).to_netcdf(path, engine="scipy")
    return path


def write_csv(result: Result, path: str | Path) -> Path:
    """Everything with one number an instant as one table: positions, coordinates, efforts, energies."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    names, columns = ["time"], [result.t]
    data = as_dataset(result, 2)
    for name, array in data.data_vars.items():
        if name == "centerline":
            continue
        flat = np.asarray(array).reshape(len(result.t), -1)
        inner = [
            [str(label) for label in array[dim].values] if dim in array.coords else
            [str(i) for i in range(array.sizes[dim])]
            for dim in array.dims[1:]
        ]  # fmt: skip
        labels = [""]
        for level in inner:
            labels = [f"{before} {label}" for before in labels for label in level]
        names += [f"{name}{label}" for label in labels]
        columns += list(flat.T)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.stack(columns, axis=1).tolist())
    return path
