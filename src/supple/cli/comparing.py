"""Benchmarks that write pages: side by side with other simulators, growth, validation, a profile."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli.common import FAILED, check_choices, told

Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
PROFILE = {
    "case": "<14s", "n_dof": ">5s", "part": "<9s", "us": ">8s", "share": ">7s", "flops": ">10s",
    "bytes": ">10s", "instructions": ">12s", "gflops": ">8s", "of_peak": ">8s", "gbytes_s": ">9s",
    "of_bandwidth": ">12s",
}  # fmt: skip
COMPARE = {
    "peer": "<14.14s", "task": "<16.16s", "resolution": "<24.24s", "error": ">9.9s",
    "wall_s": ">9.9s", "ratio": ">9.9s", "cold_s": ">7.7s", "memory_mb": ">9.9s",
}  # fmt: skip


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the benchmarks."""
    app.command("compare")(told()(compare))
    app.command("profile")(told()(profile))
    app.command("validation")(told()(validation))
    app.command("robustness")(told()(robustness))


def line(values: dict[str, Any], columns: dict[str, str]) -> str:
    """Values in columns; numbers with three digits."""
    words = {k: f"{v:.3g}" if isinstance(v, float) else str(v or "–") for k, v in values.items()}
    return " ".join(f"{words[name]:{form}}" for name, form in columns.items())


def compare(
    task: Annotated[list[str] | None, typer.Option(help="Only these tasks.")] = None,
    peer: Annotated[list[str] | None, typer.Option(help="Only these peers, and Supple.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="More and finer resolutions, and longer patience.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw error against time: a png.")] = None,
    store: Annotated[
        bool, typer.Option("--store", help="Keep the rows and write docs/benchmarks.md.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Supple and its peers on the same tasks, each in an environment of its own, which is made."""
    from supple.bench.compare import page, race
    from supple.bench.compare.simulators import SIMULATORS
    from supple.bench.compare.tasks import TASKS

    peers = [name for name in SIMULATORS if name != "supple"]
    check_choices("--task", task, TASKS)
    check_choices("--peer", peer, peers)
    if not as_json:
        typer.echo(" ".join(f"{k:{v.split('.')[0]}}" for k, v in COMPARE.items()) + "  status")
    rows = []
    for row in race.run_compare(task, peer, full):
        rows.append(row)
        values = row.as_dict()
        if as_json:
            typer.echo(json.dumps(values, ensure_ascii=False))
        else:
            why = f": {row.why}" if row.why else ""
            typer.echo(f"{line(values, COMPARE)}  {row.status}{why}")
        sys.stdout.flush()
    if plot is not None:
        page.draw(rows, plot)
    if store:
        race.store(rows)
        Path(page.PAGE).write_text(page.page(), encoding="utf-8")
        page.draw(race.stored(), Path(page.PICTURE))
    ran = race.running(rows)
    need = min(race.ENOUGH, len(peer) if peer else race.ENOUGH)
    if len(ran) < need:
        typer.echo(f"peers that ran: {', '.join(sorted(ran)) or 'none'}; need {need}", err=True)
        raise typer.Exit(FAILED)


def profile(
    case: Annotated[list[str] | None, typer.Option(help="Only these robots.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm loops; the best one counts.", min=1)] = 20,
    as_json: Json = False,
) -> None:
    """Where a Newton iteration goes, part by part, against the measured peak of one core."""
    from supple.bench.profile import CASES, run_profile

    check_choices("--case", case, CASES)
    if not as_json:
        typer.echo(" ".join(f"{k:{v.rstrip('s')}}" for k, v in PROFILE.items()))
    for row in run_profile(case, repeats):
        values = row.as_dict()
        typer.echo(json.dumps(values) if as_json else line(values, PROFILE))
        sys.stdout.flush()


def validation(
    only: Annotated[list[str] | None, typer.Option(help="Only these groups.")] = None,
    store: Annotated[
        bool, typer.Option("--store", help="Keep what is found and write docs/validation.md.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Errors against closed forms and other formulations, long runs, stiffness and step; minutes."""
    from supple.bench.validation import checks, page

    check_choices("--only", only, checks.GROUPS)
    columns = {
        "name": "<44s",
        "against": "<44s",
        "error": ">10s",
        "tolerance": ">10s",
        "holds": "<6s",
    }
    failed = False
    for group in only or checks.GROUPS:
        found = list(checks.GROUPS[group]())
        for check in found:
            values = check.as_dict()
            failed = failed or check.status != "DONE"
            typer.echo(json.dumps(values, ensure_ascii=False) if as_json else line(values, columns))
            sys.stdout.flush()
        if store:
            checks.store({group: found})
    if store:
        Path(page.PAGE).write_text(page.page(), encoding="utf-8")
    if failed:
        raise typer.Exit(FAILED)


def robustness(
    case: Annotated[list[str] | None, typer.Option(help="Only these cantilevers.")] = None,
    as_json: Json = False,
) -> None:
    """The cantilevers from soft to stiff, steps from fine to absurd: every run must end."""
    from dataclasses import asdict

    from supple.bench.robustness import CANTILEVERS, HEADER, RODS, run_robustness

    check_choices("--case", case, CANTILEVERS)
    failed = False
    if not as_json:
        typer.echo(HEADER)
    for name in case or CANTILEVERS:
        for rod in RODS:
            for run in run_robustness(name, rod):
                failed = failed or run.status != "DONE"
                typer.echo(json.dumps(asdict(run)) if as_json else str(run))
                sys.stdout.flush()
    if failed:
        raise typer.Exit(FAILED)
