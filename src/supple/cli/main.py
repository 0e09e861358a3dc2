"""The ``supple`` command."""

import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli import common, comparing, ensembles, examples, plots, robots, viewing
from supple.cli.common import check_choices

EXIT_CODES = (
    "Exit codes: 0 done; 1 a solve or a run failed; 2 a file, a name or an option cannot be used; "
    "130 interrupted (what was computed is kept)."
)

app = typer.Typer(
    help="Simulate robots of rigid bodies and slender elastic rods.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)
for commands in (robots, ensembles, plots, viewing, examples):
    commands.add_commands(app)
bench_app = typer.Typer(help="Benchmarks: accuracy beside time.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")
comparing.add_commands(bench_app)


@app.callback()
def main() -> None:
    """Simulate robots of rigid bodies and slender elastic rods."""
    for stream in (sys.stdout, sys.stderr):  # names and units are not ASCII, whatever the locale
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(installed("supple"))


def _measured_as_it_is() -> None:
    """Compile times are reported as they are: nothing comes from the cache."""
    import jax

    jax.config.update("jax_enable_compilation_cache", False)


def _print_rows(
    rows: Iterable[Any], columns: dict[str, str], *, as_json: bool, good: tuple[str, ...] = ()
) -> None:
    """Print rows as they come, by format of each column, or as JSON; status 1 if a run failed.

    ``good`` are further statuses that are no failure.
    """
    if not as_json:
        # Strip the precision from a format to align the names.
        widths = {name: form.split(".")[0].rstrip("dsfe") for name, form in columns.items()}
        typer.echo(" ".join(f"{name:{width}}" for name, width in widths.items()) + "  status")
    failed = False
    for row in rows:
        failed = failed or row.status not in ("DONE", "CONVERGED", "RELAXED", *good)
        values = row.as_dict()
        if as_json:
            typer.echo(json.dumps(values))
        else:
            cells = (_cell(values.get(name), form) for name, form in columns.items())
            typer.echo(" ".join(cells) + f"  {row.status}")
        sys.stdout.flush()
    if failed:
        raise typer.Exit(1)


def _cell(value: Any, form: str) -> str:
    """A value in a column, in words where that is one of text; nothing where it is missing."""
    if value is None:
        value, form = "", form.split(".")[0].rstrip("dsfe")
    elif form.endswith("s") and not isinstance(value, str):
        value = f"{value:.3g}"
    return f"{value:{form}}"


COLUMNS = {
    "case": "<16s",
    "preset": "<7s",
    "n_dof": ">5d",
    "steps": ">6d",
    "newton_per_step": ">15.2f",
    "compile_s": ">9.2f",
    "ratio": ">8.4f",
    "tip_error": ">9.1e",
}


@bench_app.command("rods")
@common.told()
def bench_rods(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    preset: Annotated[list[str] | None, typer.Option(help="Only these presets.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """The four rod benches against an independent finite-element solution."""
    _measured_as_it_is()
    from supple.bench.rods import CASES, PRESETS, run_rods

    check_choices("--case", case, CASES)
    check_choices("--preset", preset, PRESETS)
    _print_rows(run_rods(case, preset, repeats), COLUMNS, as_json=as_json)


@bench_app.command("cpr")
@common.told()
def bench_cpr(
    robot: Annotated[list[str] | None, typer.Option(help="Only these robots.")] = None,
    legs: Annotated[list[int] | None, typer.Option(help="Only these numbers of legs.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Continuum parallel robots: time, error (m), and how closed their loops stay (m)."""
    _measured_as_it_is()
    from supple.bench.cpr import CASES, run_cpr

    check_choices("--robot", robot, sorted({known.robot for known in CASES}))
    columns = COLUMNS | {"legs": ">4d", "closure_violation": ">17.1e"}
    _print_rows(run_cpr(robot, legs, repeats), columns, as_json=as_json)


GROWTH = {
    "case": "<6s",
    "rods": ">5d",
    "loops": ">5d",
    "n_dof": ">6d",
    "scheme": "<18s",
    "linear": "<10s",
    "newton_us": ">10.0f",
    "us_per_rod": ">10.1f",
    "step_ms": ">8.2f",
    "build_s": ">7.2f",
    "start_s": ">7.2f",
    "compile_s": ">9.2f",
    "memory_mb": ">9.0f",
    "tip_error": ">9.1e",
}


@bench_app.command("growth")
@common.told()
def bench_growth(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    rods: Annotated[list[int] | None, typer.Option(help="Only these numbers of rods.")] = None,
    scheme: Annotated[list[str] | None, typer.Option(help="Only these schemes.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 2,
    full: Annotated[
        bool, typer.Option("--full", help="All numbers of rods, from 1 to 1000.")
    ] = False,
    store: Annotated[
        bool, typer.Option("--store", help="Measure what docs/growth.md tells, and write it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Robots of 32 and 320 rods (with --full, 1 to 1000): Newton iterations, builds, compilation."""
    _measured_as_it_is()
    if store:
        from supple.bench import growth_page

        growth_page.measure()
        growth_page.write()
        return
    from supple.bench.growth import CASES, SCHEMES, run_growth

    check_choices("--case", case, CASES)
    check_choices("--scheme", scheme, SCHEMES)
    _print_rows(run_growth(case, rods, scheme, repeats, full), GROWTH, as_json=as_json)


@bench_app.command("actuation")
@common.told()
def bench_actuation(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Driven robots: time, and the tip's error (over length) against twice the modes at half the step."""
    _measured_as_it_is()
    from supple.bench.actuation import CASES, run_actuation

    check_choices("--case", case, CASES)
    _print_rows(run_actuation(case, repeats), COLUMNS, as_json=as_json)


ACCURACY = {
    "case": "<20s",
    "asked": ">7.0e",
    "got": ">9.1e",
    "estimate": ">9.1e",
    "ratio": ">9.1e",
    "modes": ">6d",
    "steps": ">6d",
    "wall_s": ">7.3f",
    "refinements": ">12d",
}


@bench_app.command("accuracy")
@common.told()
def bench_accuracy(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    asked: Annotated[list[float] | None, typer.Option(help="Only these accuracies.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Errors asked for, got (against independent references) and told, at rest and in motion."""
    _measured_as_it_is()
    from supple.bench.accuracy import NAMES, run_accuracy

    check_choices("--case", case, NAMES)
    _print_rows(run_accuracy(case, asked), ACCURACY, as_json=as_json, good=("NOT_RESOLVED",))


DAMPING = {
    "rod": "<10s",
    "space": "<6s",
    "time": "<16s",
    "tau_s": ">8s",
    "tau_printed": ">12s",
    "smallest_dt_ms": ">15s",
    "printed_dt_ms": ">14.1f",
    "runtime_s": ">10.2f",
}


@bench_app.command("strong")
@common.told()
def bench_strong(
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 3,
    tables: Annotated[
        bool, typer.Option("--tables", help="Numerical damping, as in Tables 3 and 4 of 002.")
    ] = False,
    rod: Annotated[list[str] | None, typer.Option(help="Only these rods of the tables.")] = None,
    space: Annotated[list[str] | None, typer.Option(help="Only these rules in space.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """The strong form: time over simulated time, and error against strain coordinates."""
    _measured_as_it_is()
    from supple.bench.strong import PRINTED, run_speed, run_tables

    check_choices("--rod", rod, dict.fromkeys(one for one, _ in PRINTED))
    check_choices("--space", space, dict.fromkeys(one for _, one in PRINTED))
    if tables:
        # A scheme that does not go through at this step is what the table tells.
        good = ("NOT_CONVERGED", "STEP_LIMIT")
        _print_rows(run_tables(rod, space), DAMPING, as_json=as_json, good=good)
    else:
        _print_rows(run_speed(repeats), COLUMNS, as_json=as_json)


PIECES = {
    "case": "<10s",
    "N": ">5d",
    "n_dof": ">6d",
    "forward_dynamics_us": ">19.0f",
    "inverse_dynamics_us": ">19.0f",
    "forward_us_a_piece": ">18.2f",
    "error_vs_dense": ">14s",
    "ratio": ">6s",
    "compile_s": ">9.2f",
    "memory_kb": ">9.0f",
}


@bench_app.command("pcs")
@common.told()
def bench_pcs(
    case: Annotated[list[str] | None, typer.Option(help="Only these rod models.")] = None,
    pieces: Annotated[list[int] | None, typer.Option(help="Only these numbers of pieces.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm loops; the best one counts.", min=1)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Rods in 1 to 1000 pieces of constant strain: time and error of accelerations."""
    _measured_as_it_is()
    from supple.bench.pcs import CASES, run_pcs

    check_choices("--case", case, CASES)
    _print_rows(run_pcs(case, pieces, repeats), PIECES, as_json=as_json)


XJOINT = COLUMNS | {"case": "<39s", "largest_step_s": ">14.1e"}


@bench_app.command("xjoint")
@common.told()
def bench_xjoint(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """The tendon-driven X-joint robots of 003: time, error against Radau, largest stable steps."""
    _measured_as_it_is()
    from supple.bench.xjoint import CASES, run_xjoint

    check_choices("--case", case, CASES)
    _print_rows(run_xjoint(case, repeats), XJOINT, as_json=as_json)


INTEGRATORS = {
    "rule": "<12s",
    "modes": ">5d",
    "points": ">6d",
    "fk_us": ">8.1f",
    "bd_us": ">8s",
    "idm_us": ">8s",
    "pose_error": ">10.1e",
}


@bench_app.command("integrators")
@common.told()
def bench_integrators(
    rule: Annotated[list[str] | None, typer.Option(help="Only these rules.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm loops; the best one counts.", min=1)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Rules that integrate along a rod, as in Table 5.3 of 000: time and error."""
    _measured_as_it_is()
    from supple.bench.integrators import NAMES, run_integrators

    check_choices("--rule", rule, dict.fromkeys(NAMES))
    _print_rows(run_integrators(rule, repeats), INTEGRATORS, as_json=as_json)


DOCUMENTS = {
    "document": "<22.22s",
    "item": "<70.70s",
    "printed": ">12.12s",
    "ours": ">12.12s",
    "unit": "<8.8s",
    "agrees": "<6s",
}


@bench_app.command("documents")
@common.told()
def bench_documents(
    document: Annotated[
        list[str] | None, typer.Option(help="Only these documents: 000 … 004.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute what takes minutes anew, too, in a checkout.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Compute only these groups or examples anew.")
    ] = None,
    store: Annotated[
        bool, typer.Option("--store", help="Keep the results and write docs/systems.md.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Figures, tables and numbers of the five documents beside ours; then how many there are."""
    _measured_as_it_is()
    from supple.bench.documents.compare import Count, run_documents
    from supple.bench.documents.inventory import NUMBERS
    from supple.bench.documents.page import page
    from supple.bench.documents.sources import STORED, Sources

    check_choices("--document", document, dict.fromkeys(NUMBERS))
    again = STORED if full else ("quick",)
    sources = Sources(again, tuple(only or ()), lambda text: typer.echo(text, err=True))
    for row in run_documents(sources, document):
        values = row.as_dict()
        if as_json or isinstance(row, Count):
            typer.echo(json.dumps(values, ensure_ascii=False))
        else:
            typer.echo(
                " ".join(_cell(_text(values[name]), form) for name, form in DOCUMENTS.items())
            )
        sys.stdout.flush()
    if store:
        sources.store()
        Path("docs/systems.md").write_text(page(sources), encoding="utf-8")


def _text(value: Any) -> str:
    """A value of any kind in a column."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float | int) else value or "–"


FLEET = {
    "case": "<14s",
    "device": "<12s",
    "batch": ">7d",
    "n_dof": ">5d",
    "robot_steps_per_s": ">17.3g",
    "loop_steps_per_s": ">16.3g",
    "compile_s": ">9.1f",
    "single_compile_s": ">16.1f",
    "memory_mb": ">9.0f",
    "error_vs_single": ">15.1e",
    "reverse_ratio": ">13.2f",
    "equilibria_per_s": ">16.1f",
    "wall_s": ">7.1f",
    "failed": ">6d",
}


@bench_app.command("fleet")
@common.told()
def bench_fleet(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    device: Annotated[str, typer.Option(help="Kind of device: cpu, gpu …")] = "cpu",
    members: Annotated[
        int | None, typer.Option("--batch", help="Robots in a batch.", min=1)
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps of each run.", min=1)] = 100,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 2,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Also gradients in reverse mode, over the run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Many robots of one structure at once: robot-steps a second, against a loop on one core.

    The case "study" computes 10,000 equilibria of the tendon arm by ``sp.study``.
    """
    _measured_as_it_is()
    from supple.bench.fleet import CASES, STUDY, run_fleet

    check_choices("--case", case, (*CASES, STUDY))
    rows = run_fleet(case, device, members, steps, repeats, reverse)
    _print_rows(rows, FLEET, as_json=as_json)


RANDOM = {
    "seed": ">5d",
    "class": "<10s",
    "n_dof": ">5d",
    "verdict": "<8s",
    "equilibrium": "<14s",
    "dt_run": "<14s",
    "accuracy_run": "<14s",
    "wall_s": ">7.2f",
    "why": "<.80s",
}


@bench_app.command("random")
@common.told()
def bench_random(
    count: Annotated[int, typer.Option(help="Number of robots.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the first one.", min=0)] = 0,
    kind: Annotated[list[str] | None, typer.Option("--class", help="Only these classes.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Random robots: whether their equilibrium and two runs are found, or refused with a reason."""
    _measured_as_it_is()
    from supple.bench.random import run_random
    from supple.bench.random_robots import CLASSES

    check_choices("--class", kind, CLASSES)
    _print_rows(run_random(count, seed, kind), RANDOM, as_json=as_json)
