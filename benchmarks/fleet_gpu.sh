#!/bin/sh
# `supple bench fleet` on a machine with a GPU: one JSON object a line for each case, each in a process of its
# own. Usage: benchmarks/fleet_gpu.sh [FOLDER]   with the folder that fleet_wheels.sh filled, where Supple is not
# installed. PYTHON chooses the interpreter (one with JAX for the GPU), LIMIT the seconds for a case.
set -u
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD/src${1:+:$1}"
for case in cantilever rfrfr tendon-robot stewart-gough; do
    timeout "${LIMIT:-120}" "${PYTHON:-python3}" src/supple_command.py bench fleet --device gpu --case "$case" --json ||
        echo "{\"case\": \"$case\", \"status\": \"ended with $?\"}"
done
