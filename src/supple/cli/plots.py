"""The command that draws stored runs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from supple.cli.common import Allow, Json, told

FORMATS = (".png", ".pdf", ".svg")


def add_commands(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(told()(plot))


def plot(
    run: Annotated[
        Path, typer.Argument(help="A stored run, or the folder it is in.", show_default=False)
    ],
    what: Annotated[
        str | None, typer.Option(help="Plots, such as tensions,energies; default: an overview.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A png, pdf or svg file; default: beside the run.")
    ] = None,
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """Draw a stored run of `supple run`: an overview, or the plots asked for."""
    from supple.errors import ArgumentError
    from supple.files import stored_run

    with told():
        found = stored_run(run, allow)
        result, path = found.result, found.path
        target = out or path.with_suffix(".png")
        if target.suffix not in FORMATS:
            need = f"a file that ends with {', '.join(FORMATS)}"
            raise ArgumentError(f"--out: got {target}; need {need}")
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        from supple import plot as plots

        chosen = [word.strip() for word in what.split(",")] if what else []
        fig = plots.figure(result, chosen) if what else plots.overview(result)
        target.parent.mkdir(parents=True, exist_ok=True)
        fig.savefig(target, dpi=150)
        pyplot.close(fig)
        known = plots.fitting(result)
    if as_json:
        about = {"written": str(target), "run": str(path), "what": chosen, "known": known}
        typer.echo(json.dumps(about))
    else:
        typer.echo(str(target))
        if not what:
            typer.echo(f"  --what takes any of: {','.join(known)}", err=True)
