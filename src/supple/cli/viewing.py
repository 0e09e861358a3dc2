"""Commands that show robots in space, and hand them to others: view, live, export."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.common import (
    BAD_INPUT,
    Allow,
    Bar,
    File,
    Study,
    chosen_run,
    duration_of,
    heed_interrupts,
    load_file,
    told,
)

if TYPE_CHECKING:
    from supple.files import RobotFile
    from supple.results.result import Result
    from supple.view.viewer import Viewer, Window

PORT = 8080
Port = Annotated[int, typer.Option(help="Port on this machine; another one if it is taken.")]
Host = Annotated[
    str, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines see it too.")
]
Color = Annotated[
    str, typer.Option("--color", "--colour", help="What rods are colored by, or plain.")
]
Wait = Annotated[bool, typer.Option(help="Stay until Ctrl-C.")]


def add_commands(app: typer.Typer) -> None:
    """Add the commands that show robots to the app."""
    for command in (view, live, export):
        app.command()(told()(command))


def opened(found: "RobotFile", **options: Any) -> "Viewer":
    """A viewer for the runs of a file; says where it is."""
    from supple.view.viewer import Viewer

    viewer = Viewer(found.robot.name, **options)
    typer.echo(f"{viewer.url}   (Ctrl-C to end)", err=True)
    return viewer


def stay(window: "Window", wait: bool = True) -> None:
    """Keep a window open until Ctrl-C, then end it."""
    heed_interrupts()
    try:
        while wait:
            time.sleep(0.5)
    except KeyboardInterrupt:
        pass
    finally:
        window.close()


def view(
    path: Annotated[
        Path,
        typer.Argument(help="A robot file (YAML), or the folder of a run.", show_default=False),
    ],
    study: Study = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Write a page (.html), a film (.mp4, .gif) or an animated scene (.glb) instead."
        ),
    ] = None,
    color: Color = "curvature",
    speed: Annotated[float, typer.Option(help="Of a film, against real time.")] = 1.0,
    port: Port = PORT,
    host: Host = "127.0.0.1",
    allow: Allow = None,
    wait: Wait = True,
) -> None:
    """Show a run in the browser (on this machine only), or save it as a page, a film or a scene.

    A robot file is simulated first, and shown while it is computed. A folder holds a run of `supple run`.
    """
    from supple.files import stored_run
    from supple.view.colors import check_choice

    with told():
        check_choice(color)
        if save is not None and save.suffix not in (".html", ".mp4", ".gif", ".glb"):
            need = "a name that ends in .html, .mp4, .gif or .glb"
            typer.echo(f"--save: got {save.name!r}; need {need}", err=True)
            raise typer.Exit(BAD_INPUT)
        if path.is_dir():
            run = stored_run(path, allow)
            found, result = run.file, run.result
            viewer = None if save else opened(found, host=host, port=port, color=color)
        else:
            found = load_file(path, allow)
            name = chosen_run(found, study)
            viewer = None if save else opened(found, host=host, port=port, color=color)
            watch = None if viewer is None else viewer.watch
            with Bar(duration_of(found, name), quiet=False) as bar:
                result = found.run(name, progress=bar, watch=watch, throw=False)
        if save is not None:
            typer.echo(str(_saved(result, save, color, speed)))
            return
    assert viewer is not None
    if not result.ok:
        typer.echo(result.message, err=True)
    viewer.play(result)
    stay(viewer, wait)


def _saved(result: "Result", path: Path, color: str, speed: float) -> Path:
    from supple.view import to_film, to_gltf, to_html

    if path.suffix == ".html":
        return to_html(result, path, color=color)
    if path.suffix == ".glb":
        return to_gltf(result, path)
    return to_film(result, path, color=color, speed=speed)


def live(
    file: File,
    study: Study = None,
    dt: Annotated[
        float | None, typer.Option(help="Step (s); by default that of the study, or 0.01.")
    ] = None,
    speed: Annotated[float, typer.Option(help="Wanted speed against real time.")] = 1.0,
    color: Color = "curvature",
    port: Port = PORT,
    host: Host = "127.0.0.1",
    allow: Allow = None,
    wait: Wait = True,
) -> None:
    """Simulate a robot in real time in the browser, with sliders for what drives it."""
    from supple.files import Simulate
    from supple.view import live as start

    with told():
        found = load_file(file, allow)
        own: Any = Simulate(duration=1.0)
        if study is not None or found.settings.studies:
            own = found.settings.studies[chosen_run(found, study)]
        step = own.dt if dt is None else dt
        begin = getattr(own, "initial", None)
        window = start(
            found.robot,
            dt=0.01 if step is None else step,
            scheme=own.scheme if own.dt is not None else None,
            initial=None if begin is None else begin.state(found.robot.build()),
            duration=own.duration,
            speed=speed,
            color=color,
            host=host,
            port=port,
        )
    typer.echo(f"{window.url}   (Ctrl-C to end)", err=True)
    stay(window, wait)


def export(
    file: File,
    out: Annotated[
        Path, typer.Argument(help="The file to write, .xml (MJCF).", show_default=False)
    ],
    pieces: Annotated[int, typer.Option(help="Pieces that stand for a rod.", min=1)] = 20,
    allow: Allow = None,
) -> None:
    """Write a robot for MuJoCo (MJCF): bodies and joints as they are, rods as chains of pieces."""
    from supple.files import to_mjcf

    with told():
        if out.suffix != ".xml":
            typer.echo(f"got {out.name!r}; need a name that ends in .xml", err=True)
            raise typer.Exit(BAD_INPUT)
        typer.echo(str(to_mjcf(load_file(file, allow).robot, out, pieces)))
