"""docs/benchmarks.md and its picture, from the rows that are kept."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from supple.bench.compare.race import Row, stored, stored_file
from supple.bench.compare.simulators import SIMULATORS
from supple.bench.compare.tasks import TASKS

PAGE, PICTURE = "docs/benchmarks.md", "docs/images/benchmarks.png"
INTRODUCTION = """# Side by side

Supple and other simulators on the same tasks, on one core of one machine, in one run, each in an environment
of its own that the command makes:

```sh
supple bench compare                     # all tasks, quick resolutions
supple bench compare --full              # more and finer resolutions
supple bench compare --task arm --peer mujoco --json
supple bench compare --full --store      # in a checkout: keep the rows and write this page
```

Nothing of it is a dependency of Supple. The scripts that drive the others are in
`src/supple/bench/compare/peers`, one file each; corrections are welcome. Each was given its best honest
settings that we found, by hand for each task, while Supple has one preset: an accuracy. They are in the last
column.

**Error** is the largest distance of the tip from the reference over the whole motion, over the length; for
the chain, the net and the fleet of all ends at the end, over the length of one rod. References of the rod
benches and of the RFRFR robot are finite elements of another formulation and code; those of the others are
Supple's finest run: the least errors of the others tell how near codes that share nothing come. **Warm** is
the best of some runs of the motion alone,
**× real time** the same over simulated time, **cold** from the start of a new process to its first result,
with imports and compilation; a simulator's first row of a run found no compiled code. **Memory** is the most
that the process held.

Runs with an error above 100 % and all that failed or was not ready in time are named with the reason.
"""
KEYS = """## Keys of `--json`

One object a line: `peer`, `version`, `task`, `resolution`, `error`, `wall_s` (warm), `ratio` (warm over
simulated time), `cold_s`, `memory_mb`, `status` (`DONE`, `FAILED`, `TIMEOUT`, `NOT_INSTALLED` or `NOT_RUN`),
`why`, `settings`. The command ends with 1 if fewer than four peers ran (fewer than asked for, with `--peer`).
"""


def page() -> str:
    """The whole page."""
    values = json.loads(stored_file().read_text(encoding="utf-8"))
    rows, about = stored(), values["machine"]
    lines = [INTRODUCTION]
    lines.append(
        f"Measured {about['date']} on one core of {about['processor']} ({about['system']}, Python "
        f"{about['python']}, JAX {about['jax']}), load average {about['load']}.\n"
    )
    lines.append("![Error against time for each task](images/benchmarks.png)\n")
    lines.append(summary(rows))
    for name, task in TASKS.items():
        of_task = [row for row in rows if row.task == name]
        if not of_task:
            continue
        lines.append(f"## {name}\n\n{task.what[0].upper()}{task.what[1:]}.\n")
        lines.append(
            "| | version | resolution | error | warm s | × real time | cold s | MB | settings |\n"
            "|---|---|---|---|---|---|---|---|---|"
        )
        lines.extend(_cells(row) for row in of_task if row.status == "DONE")
        missing = [row for row in of_task if row.status != "DONE"]
        if missing:
            lines.append("")
        lines.extend(
            f"- {row.peer} {row.resolution}: {row.status}, {row.why}".replace(" :", ":")
            for row in missing
        )
        lines.append("")
    return "\n".join(lines) + "\n" + KEYS


def _cells(row: Row) -> str:
    cells = (
        row.peer, row.version, row.resolution, f"{row.error:.1e}", f"{row.wall_s:.3g}",
        f"{row.ratio:.2g}", f"{row.cold_s:.1f}", f"{row.memory_mb:.0f}", row.settings,
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def fastest(rows: list[Row], error: float) -> Row | None:
    """The fastest run that is at least as accurate."""
    good = [row for row in rows if row.error is not None and row.error <= error]
    return min(good, key=lambda row: row.wall_s or np.inf, default=None)


def summary(rows: list[Row]) -> str:
    """The fastest of Supple and of its peers at one percent and at a tenth of it."""
    lines = [
        "| task | error ≤ | Supple, warm s | fastest other, warm s | | times as fast |",
        "|---|---|---|---|---|---|",
    ]
    for name in TASKS:
        for error in (1e-2, 1e-3):
            of_task = [row for row in rows if row.task == name]
            own = fastest([row for row in of_task if row.peer == "supple"], error)
            other = fastest([row for row in of_task if row.peer != "supple"], error)
            if not of_task:
                continue
            times = f"{other.wall_s / own.wall_s:.2g}" if own and other else "–"  # type: ignore[operator]
            cells = (
                name, f"{error:g}", f"{own.wall_s:.3g}" if own else "–",
                f"{other.wall_s:.3g}" if other else "none", other.peer if other else "", times,
            )  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def whole_decades(panel: Any) -> None:
    """Axes from one power of ten to another, with nothing told between them."""
    from matplotlib.ticker import NullFormatter

    for axis in (panel.xaxis, panel.yaxis):
        low, high = axis.get_data_interval()
        axis.set_view_interval(
            10 ** np.floor(np.log10(low) - 0.05), 10 ** np.ceil(np.log10(high) + 0.05), ignore=True
        )
        axis.set_minor_formatter(NullFormatter())


def draw(rows: list[Row], path: Path) -> None:
    """Error against warm time, a panel for each task."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    from supple.plot.style import settings

    names = [name for name in TASKS if any(row.task == name and row.error for row in rows)]
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    with pyplot.rc_context(settings()):
        figure, panels = pyplot.subplots(
            lines,
            columns,
            figsize=(3.4 * columns, 2.7 * lines),
            layout="constrained",
            squeeze=False,
        )
        shown: dict[str, Any] = {}
        for panel, name in zip(panels.flat, names, strict=False):
            for k, peer in enumerate(SIMULATORS):
                found = [r for r in rows if r.task == name and r.peer == peer and r.error]
                if not found:
                    continue
                (line,) = panel.plot(
                    [row.wall_s for row in found], [row.error for row in found], color=f"C{k}",
                    marker="os^Dv<>"[k], ms=5, lw=2.5 if peer == "supple" else 1.2,
                )  # fmt: skip
                shown[peer] = line
            panel.set(xscale="log", yscale="log", title=name)
            whole_decades(panel)
            panel.axhline(1e-2, color="0.7", lw=0.8, ls=":")
        for panel in panels[-1]:
            panel.set_xlabel("warm time in s")
        for panel in panels[:, 0]:
            panel.set_ylabel("error / L")
        for panel in list(panels.flat)[len(names) :]:
            panel.axis("off")
        figure.legend(
            [shown[name] for name in SIMULATORS if name in shown],
            [name for name in SIMULATORS if name in shown],
            loc="outside lower center",
            ncols=len(shown),
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
        pyplot.close(figure)
