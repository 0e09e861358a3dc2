"""What a study keeps of the result of a member: arrays with the names of their dimensions."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.errors import ArgumentError
from supple.mechanics.readout import AbstractReadout
from supple.numeric import is_traced, stack
from supple.results.dataset import AXES, TRANSMISSIONS, as_dataset, coordinate_labels
from supple.results.result import Result
from supple.run.branch import Branch
from supple.run.inverse_statics import InverseStatics
from supple.solve.linear_model import LinearModel
from supple.solve.modes import Modes

Outputs = Mapping[str, Callable[[Any], Any]]
Labels = tuple[tuple[str, tuple[Any, ...]], ...]


class Reading(NamedTuple):
    """An array, its dimensions, their labels where they have some, and its unit."""

    dims: tuple[str, ...]
    values: Any
    labels: Labels = ()
    units: str = ""


def readings(result: Any, outputs: Outputs | None) -> dict[str, Reading]:
    """The outputs of a result; all that there is to know of it where none are named."""
    if outputs is None:
        return _everything(result)
    lead = _lead(result)
    found = {name: _reading(name, output(result), lead) for name, output in outputs.items()}
    if any(own.dims[:1] == lead[:1] != () for own in found.values()):
        found |= _instants(result)
    return found


def _everything(result: Any) -> dict[str, Reading]:
    if isinstance(result, Result):
        return _instants(result) | _of_run(result)
    if isinstance(result, InverseStatics):
        inputs = {f"input {name}": own for name, own in result.inputs.items()}
        found = {name: _reading(name, own, _lead(result)) for name, own in inputs.items()}
        return found | {"error": Reading(("target",), result.error)} | _of_robot(result)
    if isinstance(result, Branch):
        unstable = Reading(("point",), result.unstable)
        return _instants(result) | {"unstable": unstable} | _of_robot(result)
    if isinstance(result, AbstractReadout):
        return _of_robot(result)
    if isinstance(result, Modes):
        return {
            "frequencies": Reading(("mode",), result.frequencies, units="Hz"),
            "damping_ratios": Reading(("mode",), result.damping_ratios),
        }
    if isinstance(result, LinearModel):
        matrices = {name: getattr(result, name) for name in "ABCD"}
        poles = Reading(("pole",), np.sort(result.eigenvalues), units="1/s")
        return {name: _reading(name, own, ()) for name, own in matrices.items()} | {"poles": poles}
    if isinstance(result, Mapping):
        return {str(name): _reading(str(name), value, ()) for name, value in result.items()}
    return {"value": _reading("value", result, ())}


def _of_robot(result: Any) -> dict[str, Reading]:
    """Positions, efforts and coordinates of an equilibrium, or of several."""
    lead, model = _lead(result), result.model
    frames = tuple(frame.name for frame in model.topology.frames)
    places = [result.poses[name].position for name in frames]
    labels = (("frame", frames), ("axis", tuple(AXES)))
    found = {
        "position": Reading((*lead, "frame", "axis"), stack(places, axis=len(lead)), labels, "m")
    }
    own = model.transmissions
    for kind, quantities in TRANSMISSIONS.items():
        names = tuple(n for n, k in zip(own.names, own.kinds, strict=True) if k == kind)
        pairs = [getattr(result, kind)(name) for name in names]
        for column, (label, unit) in enumerate(quantities if names else ()):
            values = stack([pair[column] for pair in pairs], axis=len(lead))
            found[label] = Reading((*lead, kind), values, ((kind, names),), unit)
    q = tuple(coordinate_labels(model)[0])
    return found | {"configuration": Reading((*lead, "q"), result.q, (("q", q),))}


def _of_run(result: Result) -> dict[str, Reading]:
    """All variables of the dataset of a run."""
    data = as_dataset(result)
    found = {}
    for name, array in data.data_vars.items():
        dims = tuple(str(dim) for dim in array.dims)
        labels = tuple(
            (dim, tuple(data[dim].values.tolist()))
            for dim in dims
            if dim != "time" and dim in data.coords
        )
        units = str(array.attrs.get("units", ""))
        found[str(name)] = Reading(dims, array.values, labels, units)
    return found


def _lead(result: Any) -> tuple[str, ...]:
    """The dimension of instants, points or targets, where a result has several."""
    for kind, dim in ((Result, "time"), (Branch, "point"), (InverseStatics, "target")):
        if isinstance(result, kind):
            return (dim,)
    return ()


def _instants(result: Any) -> dict[str, Reading]:
    """When the instants of a run or the points of a branch are."""
    if isinstance(result, Result | Branch):
        return {"t": Reading(_lead(result), np.asarray(result.t), units="s")}
    return {}


def _reading(name: str, value: Any, lead: tuple[str, ...]) -> Reading:
    """What a function of users returned, as numbers."""
    array = value if is_traced(value) else np.asarray(value)
    if array.dtype.kind not in "biufc":
        need = "numbers, or arrays of them"
        raise ArgumentError(f"outputs: {name}: got {type(value).__name__}; need {need}")
    lead = lead[: array.ndim]
    return Reading((*lead, *(f"{name}_{i}" for i in range(array.ndim - len(lead)))), array)
