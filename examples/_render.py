"""Rendered robots for the gallery: what an example computes is caught on the way, and shown by the viewer.

The picture is that of the page in a browser without a window: Debian's Chromium, driven by Playwright.
"""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import supple as sp
from supple.view.drawing import Drawing, drawing_of
from supple.view.page import page_of

SIZE = {"width": 880, "height": 500}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SOFTWARE = ["--no-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader",
            "--ignore-gpu-blocklist"]  # fmt: skip
TRIES, SEEN = 50, 60
"""Looks at a page, and the number of colors of one that shows something."""
CALLS = ("simulate", "release", "equilibrium")


@contextmanager
def caught() -> Iterator[list[sp.Result]]:
    """Runs and rest shapes of robots that are computed meanwhile, each as a result."""
    found: list[sp.Result] = []
    built: list[tuple[sp.Model, sp.Robot]] = []
    build = sp.Robot.build
    given: dict[str, Callable[..., Any]] = {name: getattr(sp, name) for name in CALLS}

    def watching(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def watched(robot: Any, *words: Any, **options: Any) -> Any:
            outcome = call(robot, *words, **options)
            known = [own for model, own in built if model is robot or model is outcome.model]
            if known and isinstance(outcome, sp.Result):
                parts = [
                    replace(s, description=s.description or known[0]) for s in outcome.stretches
                ]
                found.append(replace(outcome, stretches=tuple(parts)))
            elif known and isinstance(outcome, sp.Equilibrium):
                found.append(_resting(known[0], outcome))
            return outcome

        return watched

    def building(robot: sp.Robot, *words: Any, **options: Any) -> sp.Model:
        built.append((build(robot, *words, **options), robot))
        return built[-1][0]

    sp.Robot.build = building  # type: ignore[method-assign]
    for name, call in given.items():
        setattr(sp, name, watching(call))
    try:
        yield found
    finally:
        sp.Robot.build = build  # type: ignore[method-assign]
        for name, call in given.items():
            setattr(sp, name, call)


def _resting(robot: sp.Robot, rest: sp.Equilibrium) -> sp.Result:
    """A rest shape as a result of one instant."""
    from supple.model.inputs import input_vector

    model, zero = rest.model, np.zeros((1, rest.model.nv))
    stretch = sp.Stretch(
        model,
        t=np.array([float(rest.t)]),
        q=np.asarray(rest.q)[None],
        v=zero,
        a=zero,
        newton=np.zeros(1, dtype=int),
        substeps=np.ones(1, dtype=int),
        update=np.zeros(1),
        multipliers=np.asarray(rest.multipliers)[None],
        inputs=np.asarray(input_vector(model))[None],
        description=robot,
    )
    return sp.Result(
        (stretch,),
        status=sp.Status.DONE,
        message=rest.message,
        stats=sp.Stats(),
        settings={},
    )


def render(found: list[sp.Result], path: Path) -> bool:
    """Show the robot with the most items where it is bent most; False where there is none."""
    if not found:
        return False
    if CHROMIUM is None:
        raise SystemExit("robots are rendered in a browser: apt-get install chromium")
    most = max(len(run.description.items) for run in found)
    runs = [run for run in found if len(run.description.items) == most]
    some = [runs[i] for i in sorted({*np.linspace(0, len(runs) - 1, 6).astype(int).tolist()})]
    drawings = [drawing_of(run, 12, energies=False) for run in some]
    shown = max(range(len(some)), key=lambda i: _bent(drawings[i]).max())
    frame = int(np.argmax(_bent(drawings[shown])))
    still = some[shown].sample(drawings[shown].t[frame][None])
    _photograph(page_of(drawing_of(still, 1, energies=False)), path)
    return True


def _bent(drawing: Drawing) -> np.ndarray:
    """How much the rods are bent in all, (t,)."""
    if not drawing.rods:
        return drawing.t
    return np.asarray(sum(rod.values["curvature"].mean(axis=1) for rod in drawing.rods))


def _photograph(page: str, path: Path) -> None:
    """The picture in a page, without its controls."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        tab = browser.new_page(viewport=SIZE)
        tab.set_content(page)
        tab.add_style_tag(content="#side, #fold { display: none !important }")
        tab.wait_for_function("supple.shown && supple.camera.size[0] > 800")
        tab.evaluate("supple.camera.fit(supple.scene.present, 0.84); supple.paint()")
        for _ in range(TRIES):  # a browser without a graphics card may lose the canvas for a while
            tab.evaluate("new Promise(go => setTimeout(go, 100))")
            picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
            inside = picture.crop((SIZE["width"] // 4, SIZE["height"] // 4, *SIZE.values()))
            if len(inside.getcolors(SIZE["width"] * SIZE["height"]) or ()) > SEEN:
                break
        else:
            raise SystemExit("the browser showed no robot")
        browser.close()
    picture.save(path, quality=90)
