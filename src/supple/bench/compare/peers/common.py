"""What the scripts of all peers share; only NumPy and the standard library.

A script is run as ``python SCRIPT`` in the environment of its simulator, reads one JSON object (a task and a
resolution) from standard input and prints one: ``settings`` (words), ``versions``, ``cold_s`` (from the start
of the process to the first result), ``wall_s`` (the best of some warm runs of the motion alone),
``memory_mb`` and ``positions`` (m).
"""

import json
import os
import resource
import sys
import time
import traceback
from importlib.metadata import version

import numpy as np

BUDGET = 4.0
"""Seconds for warm runs after the first one."""


def serve(package, prepare, *, compiles=False):
    """Run the task on standard input. ``prepare(task, resolution)`` returns words and the motion to time.

    The first run of a simulator that ``compiles`` is never its warm time.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    task = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)  # what libraries print is not the answer
    answer = {"versions": {package: version(package)}}
    try:
        settings, run = prepare(task, task["resolution"])
        walls, spent, begun = [], 0.0, time.perf_counter()
        answer["settings"] = settings
        least = 2 if compiles else 1
        while len(walls) < least or (len(walls) < 4 and spent + walls[-1] < BUDGET):
            start = time.perf_counter()
            positions = run()
            walls.append(time.perf_counter() - start)
            if len(walls) == 1:
                answer["cold_s"] = time.time() - task["started"]
                begun = time.perf_counter()
            spent = time.perf_counter() - begun
        answer["positions"] = np.asarray(positions, dtype=float).tolist()
        answer["wall_s"] = min(walls[compiles:])
        answer["runs"] = len(walls)
    except Exception as error:  # a row with the reason
        traceback.print_exc()
        answer["why"] = f"{type(error).__name__}: {error}"[:300]
    answer["memory_mb"] = peak_memory()
    os.write(out, json.dumps(answer).encode())


def peak_memory():
    """The most memory the process ever held (MB); what getrusage tells includes the parent's."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            (line,) = [line for line in file if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    except (OSError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def triangle(t, peak):
    """The load of the flying rods: up to its peak at 2.5 s, nothing from 5 s on."""
    return peak * np.maximum(0.0, 1.0 - np.abs(np.asarray(t) / 2.5 - 1.0))


def tension(t, task):
    """The force in the tendon of the arm (N)."""
    return task["peak"] * 0.5 * (1.0 - np.cos(2 * np.pi * np.asarray(t) / task["period"]))


def motors(t, task):
    """The two torques of the RFRFR robot (N m)."""
    s = np.clip(t - 1.0, 0.0, 1.0)
    rise = task["hold"] * s**3 * (10 - 15 * s + 6 * s**2)
    sway = task["sway"] * (1 - np.cos(2 * np.pi * (np.clip(t, 4.0, 7.0) - 4.0)))
    return rise - sway, -rise


def angles(task, shares):
    """Angles of a cantilever's static start at shares of its length; those inside the wall are 0."""
    return np.interp(shares, task["start"]["share"], task["start"]["angle"])


def cells(task, elements, *, walled=False):
    """Elements of a rod: their length and the shares of their middles; ``walled``, half of one in the wall.

    Chains of elements that bend at the nodes between them have their clamp half an element inside the first.
    """
    h = task["length"] / (elements - 0.5 if walled else elements)
    first = -h / 2 if walled else 0.0
    return h, (first + h * (np.arange(elements) + 0.5)) / task["length"]


def placed(h, angle, start=(0.0, 0.0)):
    """Nodes (n + 1, 2) of elements of length h under these angles."""
    steps = h * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]) + np.asarray(start)


def chosen(times, found, wanted):
    """Rows of ``found`` (at ``times``) at the wanted instants, linear in between."""
    found = np.asarray(found)
    return np.stack([np.interp(wanted, times, column) for column in found.T], axis=1)
