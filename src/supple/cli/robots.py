"""Commands on robot files: new, check, show, statics, run, schema."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli import ensembles, viewing
from supple.cli.common import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    Allow,
    Bar,
    File,
    Json,
    Study,
    chosen_study,
    duration_of,
    is_ensemble,
    is_run,
    load_file,
    told,
)

if TYPE_CHECKING:
    from supple.files import RobotFile
    from supple.results.result import Result

TEMPLATES = Path(__file__).parents[1] / "files" / "templates"


def add_commands(app: typer.Typer) -> None:
    """Add the commands on robot files to the app."""
    for command in (new, check, show, statics, run, schema):
        app.command()(told()(command))


def template_lines() -> dict[str, str]:
    """Templates by name, with what each is."""
    files = sorted(TEMPLATES.glob("*.yaml"))
    return {
        file.stem: file.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for file in files
    }


def new(
    template: Annotated[str | None, typer.Argument(help="One of the templates.")] = None,
    path: Annotated[Path | None, typer.Argument(help="Where to write it.")] = None,
) -> None:
    """Write a robot file to start from; without a name, list the templates."""
    known = template_lines()
    if template is None:
        for name, words in known.items():
            typer.echo(f"{name:16s} {words}")
        return
    if template not in known:
        need = ", ".join(known)
        typer.echo(f"template: got {template!r}; need one of: {need}", err=True)
        raise typer.Exit(BAD_INPUT)
    target = path or Path(f"{template}.yaml")
    written = [(TEMPLATES / f"{template}.yaml", target)]
    links = TEMPLATES / f"{template}.urdf"
    if links.exists():
        written.append((links, target.with_name(links.name)))
    for _, there in written:
        if there.exists():
            typer.echo(f"{there}: exists; need a new place, or remove it first", err=True)
            raise typer.Exit(BAD_INPUT)
    for source, there in written:
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(source.read_bytes())
        typer.echo(str(there))


def check(file: File, allow: Allow = None, as_json: Json = False) -> None:
    """Say whether a robot file can be used; all that is wrong, with its place and its cure."""
    from supple.files import FileError

    try:
        found = load_file(file, allow)
        model = found.robot.build()
    except FileError as error:
        if as_json:
            problems = [vars(problem) | {"got": str(problem.got)} for problem in error.problems]
            typer.echo(json.dumps({"ok": False, "problems": problems}))
        else:
            typer.echo(str(error), err=True)
        raise typer.Exit(BAD_INPUT) from None
    except Exception as error:
        from supple.errors import SuppleError

        if not isinstance(error, SuppleError):
            raise
        if as_json:
            typer.echo(json.dumps({"ok": False, "problems": [{"need": str(error)}]}))
        else:
            typer.echo(f"{file}: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    studies = list(found.settings.studies)
    about = {"ok": True, "robot": found.robot.name, "n_dof": model.nv, "studies": studies}
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        typer.echo(json.dumps(about))
    else:
        typer.echo(f"{file}: {found.robot.name}, {model.nv} degrees of freedom, studies: "
                   f"{', '.join(studies) or 'none'}")  # fmt: skip


def show(
    file: File,
    modes: Annotated[int, typer.Option(help="So many vibration frequencies.", min=0)] = 0,
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """The tree of a robot, its degrees of freedom, masses, equations and frequencies."""
    with told():
        found = load_file(file, allow)
        about = _about(found, modes)
    if as_json:
        typer.echo(json.dumps(about))
        return
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    # Text, since in a plain string names would be read as markup.
    numbers = (
        f"  {about['n_dof']} degrees of freedom, {about['mass_kg']:.4g} kg, "
        f"{about['equations']} equations, linear systems {about['linear']}"
    )
    root = Tree(Text.assemble((found.robot.name, "bold"), numbers))
    branches = {"ground": root}
    for item in about["tree"]:
        parent = branches.get(item["parent"], root)
        words = f"  {item['kind']}, {item['joint']}, {item['n_dof']} dof"
        branches[item["name"]] = parent.add(Text.assemble(item["name"], (words, "dim")))
    for item in about["others"]:
        root.add(Text.assemble((item["kind"], "dim"), " ", item["name"]))
    console = Console(width=100)
    console.print(root)
    if about["frequencies_hz"]:
        listed = ", ".join(f"{value:.4g}" for value in about["frequencies_hz"])
        console.print(f"frequencies: {listed} Hz")


def _about(found: "RobotFile", modes: int) -> dict[str, Any]:
    from supple.robot.items import Body, Marker, Rod
    from supple.run.statics import equilibrium, modes as vibrations
    from supple.system.error_norm import total_mass

    robot = found.robot
    model = robot.build()
    own: dict[str, int] = {}
    for slot in (*model.topology.joint_slots, *model.topology.rod_slots):
        own[slot.name] = own.get(slot.name, 0) + slot.v_stop - slot.v_start
    tree = [
        {
            "name": item.name,
            "kind": type(item).__name__.lower(),
            "parent": item.parent,
            "joint": type(getattr(item, "joint", None)).__name__.lower(),
            "n_dof": own.get(item.name, 0),
        }
        for item in robot.solids
    ]
    others = [
        {"name": item.name, "kind": type(item).__name__.lower()}
        for item in robot.items
        if not isinstance(item, Rod | Body | Marker)
    ]
    frequencies: list[float] = []
    if modes:
        held = equilibrium(robot)
        frequencies = [float(f) for f in vibrations(robot, at=held, count=modes).frequencies]
    return {
        "robot": robot.name,
        "n_dof": model.nv,
        "equations": model.equations,
        "linear": model.linear,
        "mass_kg": float(total_mass(model)),
        "tree": tree,
        "others": others,
        "frequencies_hz": frequencies,
    }


def statics(
    file: File,
    t: Annotated[float, typer.Option("--at", help="Loads of this time (s).")] = 0.0,
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """Static equilibrium: positions, and the tensions and pressures in it."""
    from supple.files.report import report
    from supple.run.statics import equilibrium

    with told():
        found = load_file(file, allow)
        held = equilibrium(found.robot, t=t, throw=False)
        about = report(found, held)
    if as_json:
        typer.echo(json.dumps(about))
    else:
        error = f"; error about {held.error:.1g} of its size" if held.ok else ""
        typer.echo(f"{found.robot.name}: {held.message}{error}")
        _tell_positions(about)
    if not held.ok:
        raise typer.Exit(FAILED)


def _tell_positions(about: dict[str, Any]) -> None:
    """Places and efforts of an equilibrium."""
    for name, place in about["positions"].items():
        typer.echo(f"  {name:16s} " + "  ".join(f"{x: .6f}" for x in place) + "  m")
    for name, pair in about["transmissions"].items():
        words = "  ".join(f"{label} {value:.6g}" for label, value in pair.items())
        typer.echo(f"  {name:16s} {words}")


def run(
    file: File,
    study: Study = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run (default: out/NAME).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stored run.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Also write run.csv.")] = False,
    netcdf: Annotated[bool, typer.Option("--netcdf", help="Also write run.nc.")] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Also write run.html, which plays it.")
    ] = False,
    seen: Annotated[
        bool, typer.Option("--view", help="Show it in the browser while it is computed.")
    ] = False,
    allow: Allow = None,
    as_json: Json = False,
) -> None:
    """Compute a study of a robot file: a run, statics, a sweep, modes, a branch, a linear model, a fit.

    A run is written as it goes; Ctrl-C or a kill lose at most its last piece. The rest is written as JSON.
    An ensemble is computed as by ``supple study``.
    """
    from supple.results.store import Store

    with told():
        found = load_file(file, allow)
        name = chosen_study(found, study)
        folder = out or Path("out") / file.stem
        if is_ensemble(found, name):
            _refuse_run_options(name, csv=csv, html=html, view=seen)
            ended = ensembles.compute(
                found, name, folder, as_json=as_json, netcdf=netcdf, resume=resume
            )
            raise typer.Exit(ended)
        if not is_run(found, name):
            _refuse_run_options(name, resume=resume, csv=csv, netcdf=netcdf, html=html, view=seen)
            _run_analysis(found, name, folder, as_json)
            return
        place = str(found.folder.resolve())
        store = Store(folder / f"{name}.run", file=found.text, folder=place, study=name)
        watch = None
        if seen:
            viewer = viewing.opened(found, port=viewing.PORT)
            watch = viewer.watch
        with Bar(duration_of(found, name), quiet=as_json) as bar:
            result = found.run(
                name, progress=bar, watch=watch, store=store, resume=resume, throw=False
            )
        store.note(
            status=result.status.name,
            message=result.message,
            wall_seconds=result.stats.wall_seconds,
            rejected=result.stats.rejected,
        )
        written = {"store": str(store.path)}
        if csv:
            written["csv"] = str(result.to_csv(folder / f"{name}.csv"))
        if netcdf:
            written["netcdf"] = str(result.to_netcdf(folder / f"{name}.nc"))
        if html:
            from supple.view.page import to_html

            page = to_html(result, folder / f"{name}.html")
            written["html"] = str(page)
        if found.settings.outputs:
            from supple.files.report import write_outputs

            table = write_outputs(found, result, folder / f"{name}.outputs.csv")
            written["outputs"] = str(table)
    ended = _report_run(result, written, as_json)
    if seen:  # a run that failed, too: there is the most to see
        viewer.play(result)
        viewing.stay(viewer)
    if ended:
        raise typer.Exit(ended)


def _refuse_run_options(study: str, **options: bool) -> None:
    """Raise if something is asked for that only a run has."""
    from supple.errors import ArgumentError

    for name, given in options.items():
        if given:
            need = f"a study that simulates; {study!r} does not"
            raise ArgumentError(f"--{name}: got it for --study {study}; need {need}")


def _run_analysis(found: "RobotFile", name: str, folder: Path, as_json: bool) -> None:
    """Compute a study that is no run, say what came out, and write it."""
    from supple.files.report import report, succeeded, write_outputs

    result = found.run(name, throw=False)
    about = report(found, result)
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(about, indent=1), encoding="utf-8")
    written = {"json": str(path)}
    if "outputs" in about:
        table = write_outputs(found, result, folder / f"{name}.outputs.csv")
        written["outputs"] = str(table)
    if "unstable" in about:
        written["plot"] = _draw_branches(result, folder / f"{name}.png")
    if as_json:
        typer.echo(json.dumps({**about, "written": written}))
    else:
        _tell(about)
        for kind, place in written.items():
            typer.echo(f"  {kind}: {place}")
    if not succeeded(result):
        raise typer.Exit(FAILED)


def _draw_branches(branch: Any, path: Path) -> str:
    """The bifurcation diagram of a study."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    from supple.plot import branches

    fig: Any = branches(branch).figure
    fig.savefig(path, dpi=150)
    pyplot.close(fig)
    return str(path)


def _tell(about: dict[str, Any]) -> None:
    """The numbers of a study in words; long rows are cut, since the file has them all."""
    import numpy as np

    status, message = about.get("status"), about.get("message")
    if isinstance(status, str):
        typer.echo(f"{status}: {message}")
    if isinstance(about.get("transmissions"), dict):
        _tell_positions(about)
    told_already = ("status", "message", "positions", "transmissions", "outputs", "others")
    rest = {key: value for key, value in about.items() if key not in told_already}
    with np.printoptions(precision=6, threshold=24, edgeitems=4, linewidth=100):
        for key, value in {**rest, **about.get("outputs", {})}.items():
            text = str(np.asarray(value)) if isinstance(value, list) and value else str(value)
            typer.echo(f"  {key}: " + text.replace("\n", "\n    "))
    for other in about.get("others", []):
        begun = other["t"][0]
        typer.echo(f"  branch from t = {begun:.6g} s: {other['message']}; "
                   f"{other['unstable'][-1]} unstable motion(s) at its end")  # fmt: skip


def _report_run(result: "Result", written: dict[str, str], as_json: bool) -> int:
    """Say how a run ended; returns the exit code for it."""
    import numpy as np

    from supple.time.advance import Status

    span = float(result.t[-1] - result.t[0])
    steps = result.stats.steps
    about = {
        "status": result.status.name,
        "message": result.message,
        "error": None if result.known_error is None else result.known_error.as_dict(),
        "refinements": result.refinements,
        "simulated_s": span,
        "steps": steps,
        "newton_per_step": result.stats.newton_per_step,
        "wall_s": result.stats.wall_seconds,
        "written": written,
    }
    if as_json:
        typer.echo(json.dumps(about))
    else:
        known = result.known_error
        error = (
            ""
            if known is None or np.isnan(known.known)
            else f"; error about {known.known:.1g} of its size"
        )
        typer.echo(f"{result.status.name}: {result.message}{error}; {steps} steps, "
                   f"{about['newton_per_step']:.2f} Newton iterations each, "
                   f"{result.stats.wall_seconds:.2f} s")  # fmt: skip
        for kind, path in written.items():
            typer.echo(f"  {kind}: {path}")
    if result.status == Status.INTERRUPTED:
        typer.echo("interrupted; go on with --resume", err=True)
        return INTERRUPTED
    return 0 if result.ok else FAILED


def schema() -> None:
    """Print the JSON Schema of robot files, for editors."""
    from supple.files import json_schema

    typer.echo(json.dumps(json_schema(), indent=1))
