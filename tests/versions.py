"""The wheel in an empty folder and the tests, with the oldest and the newest of what Supple stands on.

``make versions``, part of ``make validate``. Oldest: the first Python that `requires-python` allows with the
smallest version of every dependency; newest: whatever pip takes for the newest Python found here.
Environments are kept in ``.cache/versions``.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "versions"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SUBSET = (
    "test_compile.py",
    "laws",
    "lie",
    "mechanics",
    "time",
    "run",
    "fleet",
    "solve",
    "results",
    "files",
    "cli",
)
CHECKOUT = "tests/cli/test_stored.py::test_examples_are_listed_and_run"
"""Needs the examples of the checkout, which a wheel does not bring."""


def interpreters() -> dict[tuple[int, int], str]:
    """Pythons found on the path and among pyenv's, from the oldest allowed to the newest."""
    least = tuple(map(int, re.findall(r"\d+", PROJECT["requires-python"])))
    pyenv = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    names = [path for path in map(shutil.which, (f"python3.{n}" for n in range(11, 30))) if path]
    found: dict[tuple[int, int], str] = {}
    for name in [sys.executable, *names, *glob.glob(f"{pyenv}/versions/*/bin/python")]:
        ask = "import sys; print(*sys.version_info[:2])"
        answer = subprocess.run([name, "-c", ask], capture_output=True, text=True)
        if answer.returncode == 0:
            major, minor = map(int, answer.stdout.split())
            found.setdefault((major, minor), name)
    return dict(sorted(item for item in found.items() if item[0] >= least))


def smallest() -> list[str]:
    """Requirements with every lower bound taken as the version; jaxlib goes with jax."""
    bounds = [requirement.replace(">=", "==") for requirement in PROJECT["dependencies"]]
    return bounds + [b.replace("jax==", "jaxlib==") for b in bounds if b.startswith("jax==")]


def environment(python: str, name: str, requirements: list[str], wheel: str) -> Path:
    """An environment with the wheel in it, of the newest versions unless others are asked for; its Python."""
    folder = CACHE / name
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    newest = [] if requirements else ["--upgrade", "--upgrade-strategy", "eager"]
    subprocess.run([*pip, *newest, *requirements, f"{wheel}[dev]"], check=True)
    subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
    return own


def as_a_user(python: Path) -> None:
    """What a newcomer does first, where nothing of the source is in sight."""
    command = str(python.with_name("supple"))
    with tempfile.TemporaryDirectory() as empty:
        for line in ("new tendon-arm", "check tendon-arm.yaml", "run tendon-arm.yaml"):
            subprocess.run(
                [command, *line.split()], cwd=empty, check=True, stdout=subprocess.DEVNULL
            )


def main() -> int:
    """Try every environment; the exit code counts those in which something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help="every test, not only those of the engine"
    )
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()

    CACHE.mkdir(parents=True, exist_ok=True)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(CACHE), "."]
    subprocess.run(build, cwd=ROOT, check=True)
    wheel = max(map(str, CACHE.glob("supple-*.whl")), key=os.path.getmtime)

    pythons = interpreters()
    oldest, newest = min(pythons), max(pythons)
    trials = [(oldest, "oldest", smallest()), (newest, "newest", [])]
    failed = 0
    for version, name, requirements in trials:
        label = f"python{version[0]}.{version[1]}-{name}"
        python = environment(pythons[version], label, requirements, wheel)
        say = (
            "import jax, numpy, scipy; print(jax.__version__, numpy.__version__, scipy.__version__)"
        )
        told = subprocess.run([str(python), "-c", say], capture_output=True, text=True, check=True)
        print(f"{label}: jax, numpy, scipy {told.stdout.strip()}", flush=True)
        try:
            as_a_user(python)
            tests = ["tests"] if options.all else [f"tests/{part}" for part in SUBSET]
            cache = {"JAX_COMPILATION_CACHE_DIR": str(CACHE / label / "jax")}
            run = [
                str(python),
                "-m",
                "pytest",
                "-q",
                "-n",
                options.jobs,
                "--deselect",
                CHECKOUT,
                *tests,
            ]
            subprocess.run(run, cwd=ROOT, env=os.environ | cache, check=True)
        except subprocess.CalledProcessError as error:
            print(f"{label}: failed: {' '.join(map(str, error.cmd))}", flush=True)
            failed += 1
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
