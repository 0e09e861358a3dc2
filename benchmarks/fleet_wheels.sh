#!/bin/sh
# Collect in a folder what Supple's fleets need beside JAX, NumPy and SciPy, for a machine where nothing can be
# installed: all of it is plain Python (newer typers would need pydantic, which is not).
# Usage: benchmarks/fleet_wheels.sh FOLDER   (then see fleet_gpu.sh)
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
"$python" -m pip install --quiet --no-deps --no-compile --target "$1" \
    equinox jaxtyping wadler-lindig typing-extensions "typer==0.16.0" "click<8.2" rich shellingham \
    pygments markdown-it-py mdurl .
rm -rf "$1"/supple "$1"/supple_command.py  # the checkout's are used; this keeps the name and the version
