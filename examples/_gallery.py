"""The gallery of the documentation: pictures of the examples, and what they measured.

``python -m examples._gallery`` runs all examples in full, each in a process of its own (hours on one core);
names (``statics/01_tip_torque``) run some. Each leaves its robot, a picture of what was measured and the
numbers in ``docs/gallery``, all of one run, and the page ``docs/gallery.md`` is written anew from all of
them; it tells which are of an earlier version of their example. ``--page`` only writes the page.
"""

import ast
import hashlib
import importlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examples._check import Limits, worded

EXAMPLES = Path(__file__).resolve().parent
DOCS = EXAMPLES.parent / "docs"
KEPT = DOCS / "gallery"
WIDTH, COLORS, LARGEST = 880, (128, 64, 32, 16), 60_000
"""Pixels of a picture, and as many colors as fit into so many bytes."""
FILM, LARGEST_FILM = 440, 250_000
"""Pixels of an animation, and its most bytes; every other picture of the film is kept."""
GROUPS = {
    "": "A first robot",
    "statics": "Statics",
    "dynamics": "Dynamics",
    "closed_loops": "Closed loops",
    "actuation": "Actuation and fluids",
    "benches": "Benches",
    "symbolic": "By hand",
}


def names() -> list[str]:
    """All examples, in the order of the page."""
    files = [file for file in EXAMPLES.rglob("*.py") if not file.name.startswith("_")]
    found = sorted(file.relative_to(EXAMPLES).with_suffix("").as_posix() for file in files)
    order = list(GROUPS)
    return sorted(found, key=lambda name: order.index(name.rpartition("/")[0]))


def collect(name: str) -> None:
    """Run one example in full; keep its picture and its numbers."""
    from examples import _picture
    from examples._render import caught, render

    example: Any = importlib.import_module(".".join(["examples", *name.split("/")]))
    told: dict[str, Any] = {}
    pictures: list[Path] = []
    films: list[Path] = []
    report, save, film = example.report, _picture.save, _picture.film

    def reported(title: str, errors: Mapping[str, float], limits: Limits) -> None:
        told.update(title=title, errors=dict(errors))
        report(title, errors, limits)

    def saved(*words: Any) -> Path:
        pictures.append(save(*words))
        return pictures[-1]

    def filmed(*words: Any) -> Path:
        films.append(film(*words))
        return films[-1]

    example.report, _picture.save, _picture.film = reported, saved, filmed
    with caught() as runs:
        example.main()
    KEPT.mkdir(exist_ok=True)
    file = KEPT / name.replace("/", "-")
    shrink(pictures[0], file.with_suffix(".png"))
    render(runs, KEPT / f"{file.name}-robot.webp")
    if films:
        shrink_film(films[0], KEPT / f"{file.name}-film.webp")
    told["source"] = source(name)
    file.with_suffix(".json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def source(name: str) -> str:
    """What the text of an example is recognized by."""
    return hashlib.sha256((EXAMPLES / f"{name}.py").read_bytes()).hexdigest()[:16]


def shrink(picture: Path, target: Path) -> None:
    """A picture of curves, small enough to be kept with the sources."""
    from PIL import Image

    with Image.open(picture) as image:
        size = WIDTH, round(image.height * WIDTH / image.width)
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    for count in COLORS:
        few = small.quantize(count, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
        if target.stat().st_size < LARGEST:
            return


def shrink_film(film: Path, target: Path) -> None:
    """An animation, small enough to be kept with the sources."""
    from PIL import Image, ImageSequence

    with Image.open(film) as moving:
        frames = [one.convert("RGB") for one in ImageSequence.Iterator(moving)][::2]
        pause = 2 * moving.info["duration"]
    size = FILM, round(frames[0].height * FILM / frames[0].width)
    first, *others = [one.resize(size, Image.Resampling.LANCZOS) for one in frames]
    first.save(target, save_all=True, append_images=others, duration=pause, loop=0, quality=40)


def page() -> str:
    """The page, from what is kept and from the docstrings and limits of the examples."""
    lines = [
        "# Gallery",
        "",
        "Every example is a validation case: it compares what it computes with a published or analytic",
        "value, a second method or a conservation law, and fails if an error is above its limit. The numbers",
        "are those of `python -m examples._gallery`, which made the pictures too. Which case of which source",
        "each one is: [Systems of the sources](systems.md).",
        "",
    ]
    group = None
    for name in names():
        folder = name.rpartition("/")[0]
        if folder != group:
            lines += [f"## {GROUPS[folder]}", ""]
            group = folder
        lines += _entry(name)
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str) -> list[str]:
    file = EXAMPLES / f"{name}.py"
    tree = ast.parse(file.read_text())
    words = (ast.get_docstring(tree) or "").split("\n")[0]
    kept = KEPT / name.replace("/", "-")
    limits = _limits(name)
    told = kept.with_suffix(".json")
    known = json.loads(told.read_text()) if told.exists() else {}
    measured = known.get("errors", {})
    lines = [f"### {name}", "", words, ""]
    if known.get("source", source(name)) != source(name):
        lines += [f"*Of an earlier version; `python -m examples._gallery {name}` renews it.*", ""]
    robot = kept.with_name(f"{kept.name}-robot.webp")
    if robot.exists():
        lines += [f"![{name}: the robot](gallery/{robot.name})", ""]
    moving = kept.with_name(f"{kept.name}-film.webp")
    if moving.exists():
        lines += [f"![{name}: the robot moves](gallery/{moving.name})", ""]
    if kept.with_suffix(".png").exists():
        lines += [f"![{name}](gallery/{kept.name}.png)", ""]
    lines += ["| checked | measured | limit |", "|---|---|---|"]
    for what, limit in limits.items():
        number = f"{measured[what]:.1e}" if what in measured else "not yet"
        lines.append(f"| {what} | {number} | {worded(limit)} |")
    return [*lines, "", f"[`examples/{name}.py`](../examples/{name}.py)", ""]


def _limits(name: str) -> Limits:
    example: Any = importlib.import_module(".".join(["examples", *name.split("/")]))
    limits: Limits = example.LIMITS
    return limits


def main(words: list[str]) -> None:
    if words[:1] == ["--one"]:
        collect(words[1])
        return
    chosen = words or names()
    for name in [] if words == ["--page"] else chosen:
        command = [sys.executable, "-m", "examples._gallery", "--one", name]
        done = subprocess.run(command, cwd=EXAMPLES.parent, check=False)
        if done.returncode:
            print(f"{name}: failed, nothing of it is kept", file=sys.stderr)
    (DOCS / "gallery.md").write_text(page())


if __name__ == "__main__":
    main(sys.argv[1:])
