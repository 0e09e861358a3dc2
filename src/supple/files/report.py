"""What there is to say of the result of a study: plain data, to be printed or written."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.files.read import RobotFile
from supple.identify.shape import ShapeFit
from supple.results.dataset import TRANSMISSIONS
from supple.results.result import Result
from supple.run.branch import Branch
from supple.run.equilibrium import Equilibrium
from supple.run.inverse_statics import InverseStatics
from supple.solve.linear_model import LinearModel
from supple.solve.modes import Modes


def report(file: RobotFile, result: Any) -> dict[str, Any]:
    """Status and numbers of a result, with the outputs of its file: data for JSON."""
    about = _about(result)
    first = result[0] if isinstance(result, list) and result else result
    if file.settings.outputs and isinstance(first, Equilibrium | Branch | InverseStatics | Result):
        about["outputs"] = _listed(file, result)
        if isinstance(first, Branch):
            for told, other in zip(about["others"], first.others, strict=True):
                told["outputs"] = _listed(file, other)
    return about


def _listed(file: RobotFile, result: Any) -> dict[str, Any]:
    return {name: np.asarray(values).tolist() for name, values in outputs(file, result).items()}


def outputs(file: RobotFile, result: Any) -> dict[str, np.ndarray]:
    """The outputs of a file, also of a sweep, whose equilibria come one after the other."""
    if not isinstance(result, list):
        return file.reported(result)
    each = [file.reported(one) for one in result]
    return {name: np.stack([one[name] for one in each]) for name in file.settings.outputs}


def write_outputs(file: RobotFile, result: Any, path: Path) -> Path:
    """The outputs of a file as a table: a row for each instant, point of a branch, target or value."""
    found = outputs(file, result)
    single = isinstance(result, Equilibrium)
    columns = {name: (values[None] if single else values) for name, values in found.items()}
    count = len(next(iter(columns.values())))
    along = result.t if isinstance(result, Result | Branch) else np.arange(count)
    names, rows = ["time" if along.dtype.kind == "f" else "number"], [along]
    for name, values in columns.items():
        for index in np.ndindex(values.shape[1:]):
            names.append(name + "".join(f"[{i}]" for i in index))
            rows.append(values[(slice(None), *index)])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(np.stack(rows, axis=1).tolist())
    return path


def succeeded(result: Any) -> bool:
    """Whether a study found what it was asked for."""
    if isinstance(result, Sequence):
        return all(one.ok for one in result)
    return bool(getattr(result, "ok", True))


def _about(result: Any) -> dict[str, Any]:
    if isinstance(result, list):
        return {"status": [one.status.name for one in result],
                "positions": [_positions(one) for one in result]}  # fmt: skip
    if isinstance(result, Equilibrium):
        return {
            **_ended(result),
            "residual": float(result.residual),
            "error": result.error if result.ok else None,
            "refinements": result.refinements,
            "positions": _positions(result),
            "transmissions": _transmissions(result),
        }
    if isinstance(result, Modes):
        return {
            "stable": result.stable,
            "frequencies_hz": result.frequencies.tolist(),
            "damping_ratios": result.damping_ratios.tolist(),
        }
    if isinstance(result, Branch):
        return {
            **_ended(result),
            "t": result.t.tolist(),
            "unstable": result.unstable.tolist(),
            "stability": [one.name for one in result.stability],
            "special": [{"kind": one.kind, "t": float(one.t)} for one in result.special],
            "others": [_about(other) for other in result.others],
        }
    if isinstance(result, InverseStatics):
        inputs = {name: values.tolist() for name, values in result.inputs.items()}
        return {**_ended(result), "inputs": inputs, "error_m": result.error.tolist()}
    if isinstance(result, LinearModel):
        poles = result.eigenvalues[np.argsort(-result.eigenvalues.real)]
        matrices = {name: getattr(result, name).tolist() for name in ("A", "B", "C", "D")}
        names = {"inputs": list(result.inputs), "observed": list(result.outputs)}
        return {"poles": [[float(p.real), float(p.imag)] for p in poles], **matrices, **names}
    if isinstance(result, ShapeFit):
        return {
            "converged": bool(np.all(result.converged)),
            "residual_m": float(result.residual),
            "coordinates": result.coordinates.tolist(),
            "deviation": result.deviation.tolist(),
            "base_position": np.asarray(result.base.position).tolist(),
            "base_rotation": np.asarray(result.base.rotation).tolist(),
        }
    return _ended(result)


def _ended(result: Any) -> dict[str, Any]:
    return {"status": result.status.name, "message": result.message}


def _positions(held: Equilibrium) -> dict[str, Any]:
    return {f.name: held.position(f.name).tolist() for f in held.model.topology.frames}


def _transmissions(held: Equilibrium) -> dict[str, dict[str, float]]:
    own = held.model.transmissions
    return {
        name: dict(
            zip(
                (label for label, _ in TRANSMISSIONS[kind]),
                (float(value) for value in getattr(held, kind)(name)),
                strict=False,
            )
        )
        for name, kind in zip(own.names, own.kinds, strict=True)
    }
