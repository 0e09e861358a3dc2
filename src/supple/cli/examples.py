"""The command that lists what there is to learn from: templates, the catalogue, examples."""

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from supple.cli.common import BAD_INPUT, Json, told
from supple.cli.robots import TEMPLATES, run, template_lines


class Action(StrEnum):
    """What to do with the examples."""

    LIST = "list"
    RUN = "run"


HEADS = {
    "templates": "Robot files (supple new NAME, or supple examples run NAME)",
    "robots": "Catalogue, in Python",
    "examples": "Examples that check themselves (supple examples run NAME)",
}


def add_commands(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(told()(examples))


def examples(
    action: Annotated[Action, typer.Argument(help="List them, or run one.")] = Action.LIST,
    name: Annotated[str | None, typer.Argument(help="A template or an example to run.")] = None,
    as_json: Json = False,
) -> None:
    """List templates, robots of the catalogue and, in a checkout, examples that check themselves; run one.

    A template is run as by `supple run`; an example checks itself and leaves a picture in out/.
    """
    if action == Action.RUN:
        _run(name)
        return
    groups = {"templates": template_lines(), "robots": _catalogue(), "examples": _checked()}
    if as_json:
        typer.echo(json.dumps(groups))
        return
    for group, lines in groups.items():
        if lines:
            typer.echo(HEADS[group])
        for own, words in lines.items():
            typer.echo(f"  {own:36s} {words}")
    if not groups["examples"]:
        typer.echo("The examples that check themselves come with the source of Supple.")


def _run(name: str | None) -> None:
    if name in template_lines():
        run(TEMPLATES / f"{name}.yaml")
        return
    files = {known: file for known, file in _files().items() if name and known.endswith(name)}
    if name not in files and len(files) != 1:
        known = ", ".join([*template_lines(), *_files()])
        typer.echo(f"name: got {name!r}; need one of: {known}", err=True)
        raise typer.Exit(BAD_INPUT)
    file = files[name] if name in files else next(iter(files.values()))
    raise typer.Exit(subprocess.run([sys.executable, str(file)], check=False).returncode)


def _files() -> dict[str, Path]:
    """Example files by name, of the checkout that this package is run from."""
    folder = Path(__file__).parents[3] / "examples"
    if not (folder / "_check.py").is_file():
        return {}
    files = [file for file in sorted(folder.rglob("*.py")) if not file.name.startswith("_")]
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}


def _checked() -> dict[str, str]:
    return {
        name: _first_line(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))))
        for name, file in _files().items()
    }


def _catalogue() -> dict[str, str]:
    """Builders of the catalogue: where to import them from, and what they build."""
    import supple.robots as catalogue
    from supple.robot.robot import Robot

    found = {}
    for module in pkgutil.iter_modules(catalogue.__path__):
        own = import_module(f"supple.robots.{module.name}")
        for name, function in inspect.getmembers(own, inspect.isfunction):
            builds = function.__annotations__.get("return") is Robot and name[0] != "_"
            if builds and function.__module__ == own.__name__:
                found[f"{module.name}.{name}"] = _first_line(function.__doc__)
    return found


def _first_line(text: str | None) -> str:
    return (text or "").split("\n")[0]
