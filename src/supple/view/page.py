"""A run as one self-contained page: it plays in any browser, without network."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from supple.results.result import Result
from supple.robot.looks import Look
from supple.view.colours import legend_html
from supple.view.drawing import Drawing, drawing_of
from supple.view.stage import Stage, close_server, open_server


def to_html(
    result: Result,
    path: str | Path,
    frames: int = 200,
    *,
    colour: str = "curvature",
    looks: Mapping[str, Sequence[Look]] | None = None,
) -> Path:
    """Write one self-contained page that plays the run in any browser, without network.

    ``colour`` is what rods are coloured by (:data:`supple.view.colours.CHOICES`).
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page_of(drawing_of(result, frames, looks), colour), encoding="utf-8")
    return path


def page_of(drawing: Drawing, colour: str = "curvature") -> str:
    """The page as text."""
    colour = drawing.colour(colour)
    server, _ = open_server("127.0.0.1", 0)
    try:
        stage = Stage(server, drawing, colour)
        recording = server.get_scene_serializer()
        for frame in range(len(drawing.t)):
            stage.show(frame)
            if frame + 1 < len(drawing.t):
                recording.insert_sleep(float(drawing.t[frame + 1] - drawing.t[frame]))
        page: str = recording.as_html()
    finally:
        close_server(server)
    legend = legend_html(colour, drawing.largest(colour))
    title = html.escape(drawing.name)
    corner = (
        '<div style="position:fixed;top:10px;right:10px;width:210px;z-index:5;pointer-events:none;'
        'background:#ffffffcc;border-radius:6px;padding:6px 2px 2px;color:#333">'
        f'<b style="display:block;margin:0 12px;font:600 14px system-ui,sans-serif">{title}</b>'
        f"{legend}</div>"
    )
    end = page.rindex("</body>")
    named = page[:end].replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    return named + corner + page[end:]
