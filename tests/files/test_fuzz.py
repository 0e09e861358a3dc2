"""Mutated files are read or refused; nothing else happens: no other error, no wait, no file."""

import random
import re
import resource
import time
from pathlib import Path

import pytest

import supple.files
from supple.errors import SuppleError
from supple.files import FileError, dump, load
from supple.files.urdf import UrdfImport, read_urdf
from supple.robot.items import Closure, Connection
from tests.files.everything import ROBOTS
from tests.files.malformed import GOOD

pytestmark = pytest.mark.usefixtures("unchecked")  # as users run it
TEMPLATES = sorted((Path(supple.files.__file__).parent / "templates").glob("*.yaml"))
URDF = (Path(supple.files.__file__).parent / "templates" / "whip.urdf").read_text()
SEEDS = [
    GOOD,
    *(path.read_text() for path in TEMPLATES),
    *(dump(robot) for name, robot in ROBOTS.items() if name != "everything"),
    dump(ROBOTS["everything"]),
]
NASTY = [
    "-1", "0", "1e308", "-1e308", "1e-320", ".nan", ".inf", "1000000000", "''", "null", "true", "[]", "{}",
    "[1]", "[[1, 2], [3]]", "[1, 2, 3]", "{a: 1}", "{circle: 1}", "x", "ground", "$radius", "9**9**9",
    '"t"', '"1/0"', '"[u, u]"', '"[0, 0, 0, 1, 0, 0]"', '"sin(" ', "*a", "&a 1", "!!binary aGk=", "é",
    "__import__('os')", "'os:system'", "../../etc/passwd", "- 1", "{<<: 1}", "|", ">", "%", "@", "`", "\t",
]  # fmt: skip
LIMIT = 5.0
"""Seconds for one file, on a busy machine."""
LIMIT_KB = 2 * 1024 * 1024
"""Memory for all of them."""


def mutated(text: str, rng: random.Random) -> str:
    """A text with a few values, lines or characters changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        lines = text.split("\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.randrange(-4, 8)
        if kind <= 2:  # another value
            values = list(re.finditer(r"(?<=[:,\[ ])[^\s,:\[\]}{]+", text))
            if values:
                found = rng.choice(values)
                text = text[: found.start()] + rng.choice(NASTY) + text[found.end() :]
            continue
        if kind == 3:  # a line less, twice, elsewhere
            lines.pop(i)
        elif kind == 4:
            lines.insert(j, lines[i])
        elif kind == 5:
            lines[i] = " " * rng.randrange(8) + lines[i].lstrip()
        elif kind == 6:
            words = re.findall(r"[\w-]+", text)
            lines[i] = lines[i].replace(rng.choice(words), rng.choice(words))
        else:
            k = rng.randrange(len(lines[i]) + 1)
            lines[i] = (
                lines[i][:k]
                + chr(rng.choice((*range(32, 127), 0, 9, 233, 8232)))
                + lines[i][k + 1 :]
            )
        text = "\n".join(lines)
    return text


def read_all(count: int, seed: int) -> tuple[int, int]:
    """How many of so many mutated files were read, and for how many reasons the others were refused."""
    rng = random.Random(seed)
    read, needs = 0, set()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        text = mutated(rng.choice(SEEDS), rng)
        begun = time.perf_counter()
        try:
            file = load(text + "\n", modules=["supple.robots.two_drones"])
            read += 1
            # Closed loops are compiled to see which of their equations count: not a matter of the file.
            if not any(isinstance(item, Closure | Connection) for item in file.robot.items):
                file.robot.build()
        except FileError as error:
            needs |= {problem.need for problem in error.problems}
        except SuppleError as error:  # what only the build finds
            needs.add(str(error).rpartition("need ")[2])
        except BaseException as error:
            raise AssertionError(f"{error!r} from this file:\n{text}") from error
        taken = time.perf_counter() - begun
        assert taken < LIMIT, f"{taken:.1f} s for this file:\n{text}"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LIMIT_KB
    return read, len(needs)


def test_a_thousand_mutated_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read, reasons = read_all(1000, 1)
    assert read > 100
    assert reasons > 100
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_twenty_thousand_mutated_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read, reasons = read_all(20_000, 2)
    assert read > 2000
    assert reasons > 500
    assert not list(tmp_path.iterdir())


def test_mutated_urdf():
    rng = random.Random(3)
    read = refused = 0
    for _ in range(500):
        text = list(URDF)
        for _ in range(rng.randint(1, 5)):
            k = rng.randrange(len(text))
            kind = rng.randrange(3)
            if kind == 0:
                text[k] = chr(rng.choice((*range(32, 127), 0, 233)))
            elif kind == 1:
                del text[k : k + rng.randint(1, 30)]
            else:
                text[k:k] = rng.choice(
                    ["<link/>", 'name="x"', "&lt;", "nan", "1e999", "-", "<!-- -->"]
                )
        try:
            read_urdf("".join(text), "x.urdf", UrdfImport("x.urdf"))
            read += 1
        except FileError:
            refused += 1
    assert read > 20
    assert refused > 100
