"""What changes with time: energies, tendons, chambers, motors, joints, the solver."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import ArgumentError
from supple.plot.style import as_text, legend, new_axes, styled
from supple.results.joined import with_gaps
from supple.results.result import Result
from supple.results.stretch import Stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def turning(result: Result) -> dict[str, np.ndarray]:
    """Angles (n,) in rad of the joints that turn about axes, by name; NaN where there is no such joint."""
    parts = [_turning(one) for one in result.stretches]
    counts = [len(one) for one in result.stretches]
    names = dict.fromkeys(name for part in parts for name in part)
    return {n: with_gaps(f"joint {n!r}", [p.get(n) for p in parts], counts) for n in names}


def _turning(result: Stretch) -> dict[str, np.ndarray]:
    found = {}
    for slot in result.model.topology.joint_slots:
        group: Any = result.model.groups[slot.group]
        joint = group.joint
        angles = [i for i in range(joint.nv) if i not in joint.lengths]
        columns = angles if joint.euclidean else []
        for count, column in enumerate(columns):
            name = slot.name if len(columns) == 1 else f"{slot.name} {count + 1}"
            found[name] = result.q[:, slot.q_start + column]
    return found


def _over_time(
    result: Result,
    curves: dict[str, Any],
    axes: "Axes | None",
    title: str,
    label: str,
    nothing: str = "",
    **options: Any,
) -> "Axes":
    """Curves (n,) over time, with a legend; an error says what the robot does not have."""
    if not curves:
        raise ArgumentError(f"plot: got a run of {result.model.name!r}; need one with {nothing}")
    with styled():
        axes = new_axes() if axes is None else axes
        for name, values in curves.items():
            axes.plot(result.t, values, label=as_text(name), **options)
        axes.set(xlabel="time (s)", ylabel=label, title=title)
        legend(axes)
    return axes


def energies(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Kinetic, elastic, gravitational and total energy (J)."""
    own = result.energies
    curves = {name: getattr(own, name) for name in ("kinetic", "elastic", "potential")}
    with styled():
        axes = new_axes() if axes is None else axes
    axes.plot(result.t, own.total, "--", color="k", linewidth=1.0, label="total")
    return _over_time(result, curves, axes, "Energy", "energy (J)")


def position(result: Result, frame: str | None = None, *, axes: "Axes | None" = None) -> "Axes":
    """World coordinates (m) of a frame, of the last one by default, over time."""
    from supple.plot.spaces import tip_of

    frame = tip_of(result) if frame is None else frame
    place = result.position(frame)
    curves = {letter: place[:, i] for i, letter in enumerate("xyz")}
    return _over_time(result, curves, axes, f"Position: {as_text(frame)}", "position (m)")


def tensions(result: Result, names: Sequence[str] = (), *, axes: "Axes | None" = None) -> "Axes":
    """Tension (N) of each tendon."""
    return _pair(result, "tendon", 1, names, axes, "Tensions", "tension (N)")


def lengths(result: Result, names: Sequence[str] = (), *, axes: "Axes | None" = None) -> "Axes":
    """How much longer (mm) each tendon is than at the start, inside the robot."""
    change: Callable[[np.ndarray], np.ndarray] = lambda values: (
        1e3 * (values - values[~np.isnan(values)][0])
    )
    title = "Tendons, change of length"
    return _pair(result, "tendon", 0, names, axes, title, "change (mm)", change)


def pressures(result: Result, names: Sequence[str] = (), *, axes: "Axes | None" = None) -> "Axes":
    """Gauge pressure (kPa) of each chamber."""
    scaled: Callable[[np.ndarray], np.ndarray] = lambda values: 1e-3 * values
    return _pair(result, "chamber", 1, names, axes, "Pressures", "pressure (kPa)", scaled)


def volumes(result: Result, names: Sequence[str] = (), *, axes: "Axes | None" = None) -> "Axes":
    """Volume (ml) of each chamber."""
    scaled: Callable[[np.ndarray], np.ndarray] = lambda values: 1e6 * values
    return _pair(result, "chamber", 0, names, axes, "Volumes", "volume (ml)", scaled)


def torques(result: Result, names: Sequence[str] = (), *, axes: "Axes | None" = None) -> "Axes":
    """Torque (N m) or force (N) of each motor at its joint."""
    return _pair(result, "motor", 1, names, axes, "Motors", "torque (N m), force (N)")


def _pair(
    result: Result,
    kind: str,
    column: int,
    names: Sequence[str],
    axes: "Axes | None",
    title: str,
    label: str,
    scaled: Callable[[np.ndarray], np.ndarray] = lambda values: values,
) -> "Axes":
    read = getattr(result, kind)
    known = names or result.names(kind)
    curves = {name: scaled(read(name)[column]) for name in known}
    return _over_time(result, curves, axes, title, label, f"a {kind}")


def angles(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Angle (°) of each joint that turns about an axis."""
    curves = {name: np.degrees(angle) for name, angle in turning(result).items()}
    return _over_time(result, curves, axes, "Joints", "angle (°)", "a joint that turns")


def efforts(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """What imposed coordinates need: N m for angles, N for lengths."""
    curves = {name: result.effort(name) for name in result.names("effort")}
    label = "effort (N m, N)"
    return _over_time(result, curves, axes, "Imposed coordinates", label, "an imposed coordinate")


def multipliers(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Force (N, solid) and moment (N m, dashed) that each closing joint and each contact exerts."""
    found = {name: result.closure(name) for name in result.names("closure")}
    found |= {name: result.contact(name) for name in result.names("contact")}
    forces = {name: np.linalg.norm(wrench[:, 3:], axis=1) for name, wrench in found.items()}
    need = "a closed loop or a contact"
    title = "Wrenches of closing joints"
    axes = _over_time(result, forces, axes, title, "force (N)", need)
    moments = {name: np.linalg.norm(wrench[:, :3], axis=1) for name, wrench in found.items()}
    # Joints that turn freely carry moments of round-off only.
    largest = max(float(np.nanmax(moment)) for moment in moments.values())
    if largest > 1e-9 * max(float(np.nanmax(force)) for force in forces.values()):
        axes.set_ylabel("force (N), moment (N m, dashed)")
        for line, moment in zip(list(axes.lines), moments.values(), strict=True):
            axes.plot(result.t, moment, "--", color=line.get_color(), linewidth=1.0)
    return axes


def gaps(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Largest violation (m) of the equations that close loops, on a logarithmic scale."""
    size = result.violation.shape[1]
    largest = np.abs(np.nan_to_num(result.violation)).max(axis=1) if size else None
    curves = {"largest": largest} if size else {}
    need = "a closed loop or an imposed coordinate"
    axes = _over_time(result, curves, axes, "Loops open by", "violation (m)", need)
    axes.set_yscale("log", nonpositive="clip")
    return axes


def newton(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Newton iterations between instants, and attempted steps where there were several."""
    steps = np.flatnonzero(np.diff(result.stretch) == 0) + 1  # no step leads across an edit
    curves = {"Newton iterations": result.newton[steps]}
    if (result.substeps[steps] > 1).any():
        curves["attempted steps"] = result.substeps[steps]
    if len(result) < 2:
        raise ArgumentError("plot: got a run of one instant; need at least one step")
    with styled():
        axes = new_axes() if axes is None else axes
        for name, values in curves.items():
            axes.step(result.t[steps], values, where="pre", label=name, linewidth=1.0)
        axes.set(xlabel="time (s)", ylabel="count", title="Solver, from instant to instant")
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="y", integer=True)
        legend(axes)
    return axes


def residuals(result: Result, *, axes: "Axes | None" = None) -> "Axes":
    """Scaled size of the last Newton correction at each instant, on a logarithmic scale."""
    values = np.where(result.update > 0, result.update, np.nan)
    axes = _over_time(result, {"": values}, axes, "Last Newton correction", "scaled size")
    axes.set_yscale("log")
    return axes
