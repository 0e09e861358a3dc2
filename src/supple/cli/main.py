"""The ``supple`` command."""

import json
import sys
from typing import Annotated

import typer

app = typer.Typer(
    help="Simulate robots of rigid bodies and slender elastic rods.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench_app = typer.Typer(help="Benchmarks: accuracy beside time.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")


@app.callback()
def main() -> None:
    """Simulate robots of rigid bodies and slender elastic rods."""


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(installed("supple"))


@bench_app.command("rods")
def bench_rods(
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    preset: Annotated[list[str] | None, typer.Option(help="Only these presets.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """The four rod benches against an independent finite-element solution."""
    import jax

    jax.config.update(
        "jax_enable_compilation_cache", False
    )  # compile times are reported as they are
    from supple.bench.rods import CASES, PRESETS, run_rods

    for given, known, name in ((case, CASES, "--case"), (preset, PRESETS, "--preset")):
        for value in given or []:
            if value not in known:
                typer.echo(f"{name}: got {value!r}; need one of: {', '.join(known)}", err=True)
                raise typer.Exit(2)
    failed = False
    if not as_json:
        typer.echo(
            f"{'case':18} {'preset':7} {'dof':>4} {'steps':>6} {'newton':>6} {'compile s':>9} "
            f"{'time/real':>9} {'tip error':>9}  status"
        )
    for row in run_rods(case, preset, repeats):
        failed = failed or row.status != "DONE"
        if as_json:
            typer.echo(json.dumps(row.as_dict()))
        else:
            typer.echo(
                f"{row.case:18} {row.preset:7} {row.n_dof:4d} {row.steps:6d} "
                f"{row.newton_per_step:6.2f} {row.compile_s:9.2f} {row.ratio:9.4f} "
                f"{row.tip_error:9.1e}  {row.status}"
            )
        sys.stdout.flush()
    if failed:
        raise typer.Exit(1)


@bench_app.command("cpr")
def bench_cpr(
    robot: Annotated[list[str] | None, typer.Option(help="Only these robots.")] = None,
    legs: Annotated[list[int] | None, typer.Option(help="Only these numbers of legs.")] = None,
    repeats: Annotated[int, typer.Option(help="Warm runs; the best one counts.", min=1)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Continuum parallel robots: time, error, and how closed their loops stay."""
    import jax

    jax.config.update("jax_enable_compilation_cache", False)  # report compile times as they are
    from supple.bench.cpr import CASES, run_cpr

    known = sorted({case.robot for case in CASES})
    for value in robot or []:
        if value not in known:
            typer.echo(f"--robot: got {value!r}; need one of: {', '.join(known)}", err=True)
            raise typer.Exit(2)
    failed = False
    if not as_json:
        typer.echo(
            f"{'robot':14} {'preset':7} {'legs':>4} {'dof':>4} {'steps':>6} {'newton':>6} "
            f"{'compile s':>9} {'time/real':>9} {'error m':>9} {'open m':>9}  status"
        )
    for row in run_cpr(robot, legs, repeats):
        failed = failed or row.status != "DONE"
        if as_json:
            typer.echo(json.dumps(row.as_dict()))
        else:
            typer.echo(
                f"{row.case:14} {row.preset:7} {row.legs:4d} {row.n_dof:4d} {row.steps:6d} "
                f"{row.newton_per_step:6.2f} {row.compile_s:9.2f} {row.ratio:9.4f} "
                f"{row.tip_error:9.1e} {row.closure_violation:9.1e}  {row.status}"
            )
        sys.stdout.flush()
    if failed:
        raise typer.Exit(1)
