"""A chain of 200 rods side by side with Exudyn: time of the same motion against the error in it.

    python benchmarks/exudyn_chain.py PYTHON_WITH_EXUDYN

``PYTHON_WITH_EXUDYN`` is the Python of an environment of its own (``pip install exudyn``). Both simulate a
rubber chain of 60 m that is clamped at one end and let go along the x axis, in the plane, bending and
stretching, for half a second by their generalized-α schemes (ρ∞ = 0.8), on one core: Supple with modes a
rod, Exudyn with its planar cables of absolute nodal coordinates and its sparse solver. Errors are the largest
distance, over all ends of rods at the end, from Supple's own finest solution, in lengths of a rod; Exudyn's
finest shows how far both agree. Times are those of a warm run, without building and compiling.
"""

import json
import os
import subprocess
import sys
import time

RODS, LENGTH, RADIUS, E, DENSITY = 200, 0.3, 0.01, 1e7, 1100.0
GRAVITY, DURATION = (9.0, 2.0), 0.5

EXUDYN = """
import json, sys, time
import exudyn as exu
import numpy as np
from exudyn.beams import GenerateStraightLineANCFCable2D
from exudyn.itemInterface import Cable2D

rods, length, radius, E, density, gravity, duration, per, steps = json.loads(sys.argv[1])
exu.config.suppressWarnings = True
mbs = exu.SystemContainer().AddSystem()
area, second = np.pi * radius**2, np.pi * radius**4 / 4
cable = Cable2D(
    physicsMassPerLength=density * area,
    physicsBendingStiffness=E * second,
    physicsAxialStiffness=E * area,
)
nodes = GenerateStraightLineANCFCable2D(
    mbs=mbs,
    positionOfNode0=[0, 0, 0],
    positionOfNode1=[rods * length, 0, 0],
    numberOfElements=rods * per,
    cableTemplate=cable,
    massProportionalLoad=[*gravity, 0],
    fixedConstraintsNode0=[1, 1, 0, 1],
    fixedConstraintsNode1=[0, 0, 0, 0],
)[0]
mbs.Assemble()
settings = exu.SimulationSettings()
settings.timeIntegration.numberOfSteps = steps
settings.timeIntegration.endTime = duration
settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
settings.timeIntegration.newton.useModifiedNewton = True
settings.linearSolverType = exu.LinearSolverType.EigenSparse
settings.solutionSettings.writeSolutionToFile = False
settings.timeIntegration.verboseMode = 0
settings.parallel.numberOfThreads = 1
begun = time.perf_counter()
mbs.SolveDynamic(settings)
wall = time.perf_counter() - begun
kind = exu.OutputVariableType.Position
places = [np.array(mbs.GetNodeOutput(nodes[per * (i + 1)], kind))[:2].tolist() for i in range(rods)]
print(json.dumps([wall, places]))
"""


def exudyn(python, elements, steps):  # type: ignore[no-untyped-def]
    """Seconds and ends of all rods, with so many elements a rod and steps."""
    import numpy as np

    given = [RODS, LENGTH, RADIUS, E, DENSITY, GRAVITY, DURATION, elements, steps]
    found = subprocess.run(
        [python, "-W", "ignore", "-c", EXUDYN, json.dumps(given)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    wall, places = json.loads(found.stdout.strip().splitlines()[-1])
    return wall, np.array(places)


def supple(modes, steps):  # type: ignore[no-untyped-def]
    """The same with so many modes of each strain a rod."""
    import numpy as np

    import supple as sp

    rods = [
        sp.Rod(
            f"rod{i}", LENGTH, sp.Circle(RADIUS), sp.Material(E=E, density=DENSITY),
            strains="planar-extensible", basis=modes, nodes=modes + 2,
            **({"parent": f"rod{i - 1}"} if i else {}),
        )
        for i in range(RODS)
    ]  # fmt: skip
    model = sp.Robot(*rods, gravity=(*GRAVITY, 0.0)).build()
    dt, walls = DURATION / steps, []
    for _ in range(3):
        begun = time.perf_counter()
        result = sp.simulate(model, DURATION, dt=dt, scheme=sp.generalized_alpha(0.8))
        walls.append(time.perf_counter() - begun)
    ends = [np.asarray(result.position(f"rod{i}"))[-1, :2] for i in range(RODS)]
    return min(walls[1:]), np.array(ends)


def main(python: str) -> None:
    """Print one JSON object for each run."""
    import numpy as np

    finest = supple(3, 800)[1]
    runs = [("supple", 1, 50), ("supple", 2, 50), ("supple", 2, 100), ("supple", 2, 200)]
    runs += [("exudyn", n, k) for n in (1, 2) for k in (50, 100, 200)] + [("exudyn", 4, 800)]
    for name, parts, steps in runs:
        run = supple(parts, steps) if name == "supple" else exudyn(python, parts, steps)
        error = float(np.max(np.linalg.norm(run[1] - finest, axis=1))) / LENGTH
        row = dict(simulator=name, parts=parts, steps=steps, seconds=run[0], error=error)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    main(sys.argv[1])
