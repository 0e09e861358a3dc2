"""What commands on robot files share: errors in words, exit codes, the study to run, progress."""

import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from supple.files import RobotFile

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
"""Exit codes: a solve that failed, a file or an option that cannot be used, Ctrl-C."""

File = Annotated[Path, typer.Argument(help="A robot file (YAML).", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="MODULE",
        help="A module whose functions the file's controllers may name. It is imported: trust it.",
    ),
]
Study = Annotated[str | None, typer.Option(help="Which study of the file.")]


def check_choices(option: str, given: list[str] | None, known: Iterable[str]) -> None:
    """Leave with status 2 if something is asked for that does not exist."""
    for value in given or []:
        if value not in known:
            typer.echo(f"{option}: got {value!r}; need one of: {', '.join(known)}", err=True)
            raise typer.Exit(BAD_INPUT)


def heed_interrupts() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt: there is something to keep, or to end in order."""
    if getattr(signal.getsignal(signal.SIGINT), "__name__", "") == "leave":
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def told() -> Iterator[None]:
    """Errors of ours and of the system in words and with an exit code, instead of a traceback.

    Also a decorator of commands: Ctrl-C may come at any moment.
    """
    from supple.errors import SolveError, SuppleError

    try:
        yield
    except SolveError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(FAILED) from None
    except SuppleError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BAD_INPUT) from None
    except BrokenPipeError:  # whoever reads has had enough
        raise
    except (OSError, MemoryError) as error:
        typer.echo(_refusal(error), err=True)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:  # before there was anything to keep
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _refusal(error: OSError | MemoryError) -> str:
    """What the system refuses, in one line."""
    if isinstance(error, MemoryError):
        return f"memory: {str(error) or 'there is not enough'}; need a smaller robot or a larger machine"
    place = error.filename if error.filename is not None else "system"
    return (
        f"{place}: {error.strerror or error}; need another place, or the right and the room there"
    )


def load_file(file: Path, allow: list[str] | None = None) -> "RobotFile":
    """The robot file at a path; modules that are allowed may lie beside it."""
    from supple.files import load

    if allow:
        sys.path.insert(0, str(file.parent.resolve()))
    return load(file, modules=allow or ())


def duration_of(found: "RobotFile", study: str) -> float:
    """How long (s) a study simulates."""
    return float(getattr(found.settings.studies[study], "duration", 0.0))


def chosen_run(found: "RobotFile", study: str | None) -> str:
    """The study to simulate: the one that is named, or the only one."""
    return _chosen(study, _runs(found))


def chosen_study(found: "RobotFile", study: str | None) -> str:
    """The study to compute: the one that is named, the only one, or the only one that simulates."""
    studies, runs = list(found.settings.studies), _runs(found)
    return _chosen(study, studies, runs if len(runs) == 1 else studies)


def chosen_ensemble(found: "RobotFile", study: str | None) -> str:
    """The study of many robots to compute: the one that is named, or the only one."""
    from supple.files import Ensemble

    known = [n for n, s in found.settings.studies.items() if isinstance(s, Ensemble)]
    return _chosen(study, known, needed="ensemble: {grid: {NAME: [values, …]}}")


def is_ensemble(found: "RobotFile", study: str) -> bool:
    """Whether a study is one of many robots."""
    from supple.files import Ensemble

    return isinstance(found.settings.studies[study], Ensemble)


def is_run(found: "RobotFile", study: str) -> bool:
    """Whether a study simulates."""
    return study in _runs(found)


def _runs(found: "RobotFile") -> list[str]:
    from supple.files import ReleaseStudy, Simulate

    return [n for n, s in found.settings.studies.items() if isinstance(s, Simulate | ReleaseStudy)]


def _chosen(
    study: str | None,
    known: list[str],
    default: list[str] | None = None,
    needed: str = "simulate: {duration: …}",
) -> str:
    from supple.errors import ArgumentError

    default = known if default is None else default
    if study in known:
        return study
    if study is None and len(default) == 1:
        return default[0]
    named = ", ".join(known) or f"none: add {needed} to the file"
    raise ArgumentError(f"--study: got {study!r}; need one of: {named}")


class Bar:
    """Progress of a run: simulated time, steps a second, times real time, time left."""

    def __init__(self, duration: float, *, quiet: bool) -> None:
        self.duration, self.quiet = duration, quiet
        self.first: tuple[float, float, int] | None = None
        """Clock, simulated time and steps of the first report: what came before was compilation."""
        self.bar: Any = None

    def __enter__(self) -> "Bar":
        heed_interrupts()
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(), console=Console(stderr=True),
            )  # fmt: skip
            self.bar.start()
            self.task = self.bar.add_task("compiling", total=self.duration, rate="")
        return self

    def __call__(self, t: float, count: int) -> None:
        """Take a report of the run over."""
        if self.bar is None:
            return
        now = time.perf_counter()
        if self.first is None:
            self.first = now, t, count
        begun, since, before = self.first
        spent = now - begun
        rate = ""
        if spent > 0:
            rate = f"{(count - before) / spent:.0f} steps/s, {(t - since) / spent:.3g} x real time"
        self.bar.update(self.task, completed=t, description=f"t = {t:.3f} s", rate=rate)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
