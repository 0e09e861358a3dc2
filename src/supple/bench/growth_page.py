"""docs/growth.md from stored rows of the benches of growth, fleets and pieces: tables, powers, a picture."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from supple.bench.compare.page import whole_decades
from supple.bench.compare.race import machine

PAGE, PICTURE = "docs/growth.md", "docs/images/growth.png"
SIZES = (4, 32, 320)
"""Numbers of rods that are stored; ``--full`` of the bench goes from 1 to 1000."""
BATCHES = (1, 10, 100, 1000)
MODES, PIECES = (2, 4, 8, 16), (1, 10, 100, 1000)
FITTED_FROM = 4
"""Rods from which powers are fitted."""
INTRODUCTION = """# How cost grows

Time of a Newton iteration by the number of rods, of modes along a rod, of pieces of constant strain; of a
step by the number of robots in a batch. Powers are fitted to the times: 1 is linear. The page is written by

```sh
supple bench growth --store                    # in a checkout: measure, write this page (some minutes)
```

and `supple bench growth --full`, `supple bench fleet` and `supple bench pcs` print more of the same.
"""


def stored_file() -> Path:
    """Where rows lie."""
    return Path(str(resources.files("supple.bench") / "data" / "growth.json"))


def measure() -> None:
    """Measure all that the page tells, and keep it as it comes; some minutes."""
    from supple.bench.growth import CASES, run_growth

    begun = time.perf_counter()
    values: dict[str, Any] = {"machine": machine()}
    parts: list[tuple[str, Callable[[], list[Any]]]] = [("pieces", _pieces), ("modes", _modes)]
    for case in CASES:
        sizes = [case], list(SIZES), ["generalized-alpha"]
        parts.append(("growth", partial(_rows, run_growth, *sizes)))
    parts += [("fleet", partial(_fleet, case)) for case in ("cantilever", "tendon-robot")]
    for name, part in parts:
        values[name] = values.get(name, []) + part()
        values["seconds"] = time.perf_counter() - begun
        text = json.dumps(_plain(values), indent=1, ensure_ascii=False)
        stored_file().write_text(text + "\n", encoding="utf-8")


def _rows(run: Callable[..., Iterator[Any]], *choices: Any) -> list[Any]:
    return [row.as_dict() for row in run(*choices)]


def _pieces() -> list[Any]:
    from supple.bench.pcs import run_pcs

    return _rows(run_pcs, None, list(PIECES))


def _modes() -> list[Any]:
    return [{"modes": n, "newton_us": 1e6 * by_modes(n)} for n in MODES]


def _fleet(case: str) -> list[Any]:
    from supple.bench.fleet import run_fleet

    return [row for n in BATCHES for row in _rows(run_fleet, [case], "cpu", n)]


def _plain(value: Any) -> Any:
    """With the digits worth keeping, and without numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    return value


def by_modes(modes: int) -> float:
    """Seconds of a Newton iteration of the spatial cantilever with so many modes of each strain."""
    from supple.bench.profile import timed
    from supple.robots.cantilever import stiff_cantilever

    strains = ("kx", "ky", "kz")
    model = stiff_cantilever(2.0, strains=strains, basis=modes, nodes=2 * modes + 5).build()
    return timed(model, 10, 50)[-1]


def power(sizes: Any, times: Any) -> float:
    """The exponent of a power law through times."""
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(times)), 1)[0])


def stored() -> dict[str, Any]:
    """What was measured."""
    values: dict[str, Any] = json.loads(stored_file().read_text(encoding="utf-8"))
    return values


def series(values: dict[str, Any]) -> Iterator[tuple[str, str, list[Any], list[Any]]]:
    """Panel, name, sizes and times (µs) of each line of the picture."""
    for case in dict.fromkeys(row["case"] for row in values.get("growth", [])):
        rows = [row for row in values.get("growth", []) if row["case"] == case and row["newton_us"]]
        yield "rods", case, [r["rods"] for r in rows], [r["newton_us"] for r in rows]
    if of := values.get("modes", []):
        yield "modes", "cantilever", [3 * r["modes"] for r in of], [r["newton_us"] for r in of]
    for case in dict.fromkeys(row["case"] for row in values.get("pieces", [])):
        rows = [row for row in values.get("pieces", []) if row["case"] == case]
        yield "pieces", case, [r["N"] for r in rows], [r["forward_dynamics_us"] for r in rows]
    for case in dict.fromkeys(row["case"] for row in values.get("fleet", [])):
        rows = [row for row in values.get("fleet", []) if row["case"] == case]
        times = [1e6 * r["batch"] / r["robot_steps_per_s"] for r in rows]
        yield "batch", case, [r["batch"] for r in rows], times


TITLES = {
    "rods": ("Rods", "µs of a Newton iteration by the number of rods; `supple bench growth`."),
    "modes": ("Modes", "µs of a Newton iteration of one rod by its coordinates."),
    "pieces": ("Pieces", "µs of accelerations by the number of pieces; `supple bench pcs`."),
    "batch": ("Batches", "µs of a step of all robots by their number; `supple bench fleet`."),
}  # fmt: skip


def page() -> str:
    """The whole page."""
    values = stored()
    about = values["machine"]
    lines = [INTRODUCTION]
    lines.append(
        f"Measured {about['date']} on {about['processor']} (JAX {about['jax']}), load average "
        f"{about['load']}, in {values['seconds']:.0f} s.\n"
    )
    lines.append("![Time by size, both on logarithmic scales](images/growth.png)\n")
    for panel, (title, words) in TITLES.items():
        found = [one for one in series(values) if one[0] == panel]
        if not found:
            continue
        sizes = sorted({size for one in found for size in one[2]})
        lines += [f"## {title}\n", f"{words}\n"]
        if panel == "rods":  # nets are not exactly as large as the others
            lines += ["| robot | rods: µs | power |", "|---|---|---|"]
            for _, name, at, times in found:
                told = ", ".join(f"{n:g}: {t:.3g}" for n, t in zip(at, times, strict=True))
                lines.append(f"| {name} | {told} | {_power(at, times, FITTED_FROM)} |")
        else:
            lines.append("| | " + " | ".join(f"{size:g}" for size in sizes) + " | power |")
            lines.append("|---" * (len(sizes) + 2) + "|")
            for _, name, at, times in found:
                known = dict(zip(at, times, strict=True))
                cells = [f"{known[n]:.3g}" if n in known else "" for n in sizes]
                lines.append(f"| {name} | " + " | ".join(cells) + f" | {_power(at, times, 0)} |")
        lines.append("")
    return "\n".join(lines)


def _power(sizes: list[Any], times: list[Any], least: int) -> str:
    kept = [(n, t) for n, t in zip(sizes, times, strict=True) if n >= least]
    return f"{power(*zip(*kept, strict=True)):.2f}" if len(kept) > 1 else "–"


def draw(path: Path) -> None:
    """The picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    from supple.plot.style import settings

    lines = list(series(stored()))
    names = [name for name in TITLES if any(one[0] == name for one in lines)]
    with pyplot.rc_context(settings()):
        figure, panels = pyplot.subplots(
            1, len(names), figsize=(3.2 * len(names), 3.2), layout="constrained", squeeze=False
        )
        for panel, name in zip(panels[0], names, strict=True):
            for _, case, sizes, times in (one for one in lines if one[0] == name):
                panel.plot(sizes, times, "o-", ms=3.5, lw=1.2, label=case)
            panel.set(xscale="log", yscale="log", title=TITLES[name][0], xlabel=name)
            whole_decades(panel)
            low, high = panel.get_xlim()
            level = panel.get_ylim()[0]
            panel.plot([low, high], [level, level * high / low], color="0.6", lw=0.8, ls=":")
            panel.set_ylim(level)
            panel.legend(fontsize=7)
        panels[0, 0].set_ylabel("µs (dotted: linear)")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
        pyplot.close(figure)


def write() -> None:
    """Write the page and its picture, in a checkout."""
    Path(PAGE).write_text(page(), encoding="utf-8")
    draw(Path(PICTURE))
