"""A run as one self-contained page: it plays in any browser, without network."""

import html
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from supple.results.result import Result
from supple.view.drawing import Drawing, drawing_of
from supple.view.scene import scene_of

SCRIPTS = ("maths", "arrays", "camera", "painter", "scene", "plots", "panel", "player")


def to_html(
    result: Result, path: str | Path, frames: int = 200, *, color: str = "curvature"
) -> Path:
    """Write one self-contained page that plays the run in any browser, without network.

    ``color`` is what rods are colored by (:data:`supple.view.colors.CHOICES`).
    """
    path = Path(path)
    page = page_of(drawing_of(result, frames), color)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def page_of(drawing: Drawing, color: str = "curvature") -> str:
    """The page as text."""
    return page_with(drawing.name, scene_of(drawing, color))


def page_with(title: str, scene: dict[str, Any] | None) -> str:
    """The page with a scene inside, or one that asks its server for it."""
    data = ""
    if scene is not None:
        text = json.dumps(scene, separators=(",", ":")).replace("<", "\\u003c")  # never a tag
        data = f'<script type="application/json" id="scene">{text}</script>'
    return _template().substitute(
        title=html.escape(title),
        style=_web("style.css"),
        script="\n".join(_web(f"{name}.js") for name in SCRIPTS),
        data=data,
    )


def _web(name: str) -> str:
    return (files("supple.view") / "web" / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    return Template(_web("page.html"))
