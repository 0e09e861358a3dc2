"""The command for studies of many robots."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.common import (
    FAILED,
    INTERRUPTED,
    Allow,
    File,
    Json,
    Study,
    chosen_ensemble,
    heed_interrupts,
    load_file,
    told,
)

if TYPE_CHECKING:
    from supple.files import RobotFile


def add_commands(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(told()(study))


def study(
    file: File,
    study: Study = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the study (default: out/NAME).")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a study that was interrupted or killed.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Compute on the Dask workers of the scheduler at this address."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Members at once (default: one a core).", min=1)
    ] = None,
    netcdf: Annotated[bool, typer.Option("--netcdf", help="Also write NAME.nc.")] = False,
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """Compute a study of many robots, an ensemble of a robot file: one labeled dataset.

    It is written as members end; Ctrl-C or a kill lose at most the last second. Members that fail have a
    status and a message in the dataset, and are no failure of the study.
    """
    with told():
        found = load_file(file, allow)
        name = chosen_ensemble(found, study)
        folder = out or Path("out") / file.stem
        options = {"resume": resume, "cluster": scheduler, "threads": threads}
        ended = compute(found, name, folder, as_json=as_json, netcdf=netcdf, **options)
    if ended:
        raise typer.Exit(ended)


def compute(
    found: "RobotFile", name: str, folder: Path, *, as_json: bool, netcdf: bool, **options: Any
) -> int:
    """Compute an ensemble of a file, say what came out, and return the exit code for it."""
    store = folder / f"{name}.study"
    with _Members(quiet=as_json) as bar:
        data = found.run(name, store=store, progress=bar, **options)
    statuses = Counter(str(status) for status in data["status"].values)
    written = {"data": str(store / "data")}
    if netcdf:
        written["netcdf"] = str(folder / f"{name}.nc")
        data.to_netcdf(written["netcdf"])
    complete, good = bool(data.attrs["complete"]), int(data["ok"].sum())
    about = {
        "members": data.sizes["member"],
        "ok": good,
        "complete": complete,
        "statuses": dict(statuses),
        "written": written,
    }
    if as_json:
        typer.echo(json.dumps(about))
    else:
        listed = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
        typer.echo(f"{data.sizes['member']} members: {listed}")
        for message in _failures(data):
            typer.echo(f"  {message}")
        for kind, path in written.items():
            typer.echo(f"  {kind}: {path}")
    if not complete:
        typer.echo("interrupted; go on with --resume", err=True)
        return INTERRUPTED
    return 0 if good else FAILED


def _failures(data: Any) -> list[str]:
    """Why members failed, the most frequent reasons first."""
    failed = ~data["ok"].values & (data["status"].values != "PENDING")
    reasons = Counter(str(message) for message in data["message"].values[failed])
    return [f"{count} x {message}" for message, count in reasons.most_common(3)]


class _Members:
    """Progress of a study: members that ended, those that failed, time left."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.bar: Any = None

    def __enter__(self) -> "_Members":
        heed_interrupts()
        return self

    def __call__(self, done: int, total: int, failed: int) -> None:
        """Take a report of the study over."""
        if self.quiet or not sys.stderr.isatty():
            return
        if self.bar is None:
            self._begin(total)
        self.bar.update(self.task, completed=done, failed=f"{failed} failed" if failed else "")

    def _begin(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self.bar = Progress(
            TextColumn("members"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[failed]}"),
            TimeRemainingColumn(), console=Console(stderr=True),
        )  # fmt: skip
        self.bar.start()
        self.task = self.bar.add_task("", total=total, failed="")

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
