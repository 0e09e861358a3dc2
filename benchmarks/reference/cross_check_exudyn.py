"""Optional cross-check of the reference data with Exudyn (pip install exudyn).

    python benchmarks/reference/cross_check_exudyn.py case elements steps [case elements steps ...]

Exudyn's own geometrically exact beams (2D: three nodes; 3D: two nodes on SE(3))
and its generalized-alpha integrator: spectral radius 1 (trapezoidal rule) for the
flying rods; 0.8 for the cantilevers and the closed loop, where the unresolved axial
modes make the trapezoidal rule unstable.  Second order, so the agreement is that of
a coarser tolerance.  The closed loop has the true EA and GA, not the penalty of the
stored data, and hinges its tips with constraints and multipliers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
import rfrfr
from cases import PLANAR, SPATIAL, PlanarCase, SpatialCase
from numpy.typing import NDArray
from planar_fem import PlanarMesh
from planar_solve import static_equilibrium

Array = NDArray[np.float64]
DATA = Path(__file__).resolve().parents[2] / "src" / "supple" / "bench" / "data"


def settings(duration: float, steps: int, radius: float) -> exu.SimulationSettings:
    """Generalized alpha, ``steps`` steps, sensors at every step."""
    chosen = exu.SimulationSettings()
    chosen.timeIntegration.numberOfSteps = steps
    chosen.timeIntegration.endTime = duration
    chosen.timeIntegration.generalizedAlpha.spectralRadius = radius
    chosen.timeIntegration.newton.useModifiedNewton = False
    chosen.timeIntegration.newton.relativeTolerance = 1e-7
    chosen.timeIntegration.verboseMode = 0
    chosen.solution.file.write = False
    chosen.solution.sensors.writePeriod = 0.0  # every step
    chosen.staticSolver.numberOfLoadSteps = 1
    chosen.staticSolver.newton.relativeTolerance = 1e-8
    chosen.staticSolver.verboseMode = 0
    chosen.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return chosen


def planar(case: PlanarCase, elements: int, steps: int) -> tuple[Array, Array]:
    """Times and tip of a cantilever."""
    mbs = exu.SystemContainer().AddSystem()
    rod = case.rod
    width = rod.length / elements
    spots = np.linspace(0.0, rod.length, 2 * elements + 1)
    # Newton starts from the static solution of this folder, then finds its own
    mesh = PlanarMesh(rod, elements, 2)
    guess = np.vstack([np.zeros(3), static_equilibrium(mesh, case.tip_force) - mesh.straight()])
    nodes = [
        mbs.AddNode(
            item.NodeRigidBody2D(referenceCoordinates=[s, 0, 0], initialCoordinates=list(u))
        )
        for s, u in zip(spots, guess, strict=True)
    ]
    for i in range(elements):
        beam = mbs.AddObject(
            item.ObjectBeamGeometricallyExact2D(
                nodeNumbers=nodes[2 * i : 2 * i + 3],
                length=width,
                massPerLength=rod.mass,
                crossSectionInertia=rod.inertia,
                bendingStiffness=rod.bending,
                axialStiffness=rod.axial,
                shearStiffness=rod.shear,
            )
        )
        marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=beam))
        mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=[*rod.gravity, 0]))
    ground = mbs.AddMarker(
        item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0)
    )
    for i in range(3):
        end = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=i))
        mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, end]))
    tip_marker = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
    tip_load = mbs.AddLoad(
        item.LoadForceVector(markerNumber=tip_marker, loadVector=[*case.tip_force, 0])
    )
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=nodes[-1],
            storeInternal=True,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    mbs.Assemble()
    chosen = settings(case.duration, steps, 0.8)
    mbs.SolveStatic(chosen, updateInitialValues=True)
    mbs.SetLoadParameter(tip_load, "loadVector", [0.0, 0.0, 0.0])
    mbs.SolveDynamic(chosen)
    data = np.asarray(mbs.GetSensorStoredData(sensor))
    return data[:, 0], data[:, 1:4]


def loop(elements: int, steps: int) -> tuple[Array, Array]:
    """Times and tip of the RFRFR robot: two rods, hinged by coordinate constraints."""
    mbs = exu.SystemContainer().AddSystem()
    rod = rfrfr.steel_rod(stiffening=1.0)
    angle = np.arccos(0.5 * rfrfr.DISTANCE / rod.length)
    ground = mbs.AddMarker(
        item.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(item.NodePointGround()), coordinate=0)
    )
    tips = []
    for number, (base, turn) in enumerate([(-0.5, angle), (0.5, np.pi - angle)]):
        spots = np.linspace(0.0, rod.length, 2 * elements + 1)
        x0 = base * rfrfr.DISTANCE
        nodes = [
            mbs.AddNode(
                item.NodeRigidBody2D(
                    referenceCoordinates=[x0 + s * np.cos(turn), s * np.sin(turn), turn]
                )
            )
            for s in spots
        ]
        for i in range(elements):
            mbs.AddObject(
                item.ObjectBeamGeometricallyExact2D(
                    nodeNumbers=nodes[2 * i : 2 * i + 3],
                    length=rod.length / elements,
                    massPerLength=rod.mass,
                    crossSectionInertia=rod.inertia,
                    bendingStiffness=rod.bending,
                    axialStiffness=rod.axial,
                    shearStiffness=rod.shear,
                )
            )
        marker = [
            mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=i))
            for i in range(3)
        ]
        for i in range(2):
            mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[ground, marker[i]]))

        def torque(_: object, time: float, __: float, number: int = number) -> float:
            return float(rfrfr.torques(time)[number])

        mbs.AddLoad(item.LoadCoordinate(markerNumber=marker[2], loadUserFunction=torque))
        tips.append(nodes[-1])
    for i in range(2):  # displacements of the two tips, which start in one place
        pair = [
            mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=tip, coordinate=i)) for tip in tips
        ]
        mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=pair))
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=tips[0],
            storeInternal=True,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    mbs.Assemble()
    chosen = settings(rfrfr.DURATION, steps, 0.8)
    # At rest for the first second: a relative tolerance alone has nothing to refer to.
    chosen.timeIntegration.newton.absoluteTolerance = 1e-6
    mbs.SolveDynamic(chosen)
    data = np.asarray(mbs.GetSensorStoredData(sensor))
    return data[:, 0], data[:, 1:4]


def spatial(case: SpatialCase, elements: int, steps: int) -> tuple[Array, Array]:
    """Times and tip of a flying rod."""
    mbs = exu.SystemContainer().AddSystem()
    rod, load = case.rod, case.load
    start, end = case.ends
    angle = np.arctan2(end[1] - start[1], end[0] - start[0])
    turn = [np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]
    section = exu.BeamSection()
    section.stiffnessMatrix = np.diag([*rod.force_stiffness, *rod.moment_stiffness])
    section.inertia = np.diag(rod.inertia)
    section.massPerLength = rod.mass
    nodes = [
        mbs.AddNode(
            item.NodeRigidBodyEP(referenceCoordinates=[*(start + (end - start) * share), *turn])
        )
        for share in np.linspace(0.0, 1.0, elements + 1)
    ]
    for i in range(elements):
        mbs.AddObject(
            item.ObjectBeamGeometricallyExact(
                nodeNumbers=nodes[i : i + 2], length=rod.length / elements, sectionData=section
            )
        )
    marker = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))

    def scaled(_: object, time: float, vector: list[float]) -> Array:
        return np.asarray(vector) * load.amplitude(time)

    mbs.AddLoad(
        item.LoadForceVector(
            markerNumber=marker, loadVector=list(load.force), loadVectorUserFunction=scaled
        )
    )
    mbs.AddLoad(
        item.LoadTorqueVector(
            markerNumber=marker, loadVector=list(load.moment), loadVectorUserFunction=scaled
        )
    )
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=nodes[-1],
            storeInternal=True,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    mbs.Assemble()
    mbs.SolveDynamic(settings(case.duration, steps, 1.0))
    data = np.asarray(mbs.GetSensorStoredData(sensor))
    return data[:, 0], data[:, 1:4]


def main() -> None:
    """Compare the runs asked for with the stored reference.

    A run of the same case as the one before, with twice the elements and steps,
    is also compared after Richardson extrapolation of the pair.
    """
    arguments = sys.argv[1:]
    before: tuple[str, int, int, Array] | None = None
    for name, elements, steps in zip(arguments[::3], arguments[1::3], arguments[2::3], strict=True):
        count, total = int(elements), int(steps)
        reference = np.load(DATA / f"{name}.npz")
        if name in PLANAR:
            times, tip = planar(PLANAR[name], count, total)
            length = PLANAR[name].rod.length
        elif name == "rfrfr":
            times, tip = loop(count, total)
            length = rfrfr.steel_rod().length
        else:
            times, tip = spatial(SPATIAL[name], count, total)
            length = SPATIAL[name].rod.length
        # sampled at every step, and the solver may cut some: interpolate at our instants
        tip = np.stack([np.interp(reference["t"], times, tip[:, i]) for i in range(3)], axis=1)
        error = np.linalg.norm(tip - reference["tip"], axis=1) / length
        line = f"{name}, {count} elements, {total} steps: static {error[0]:.1e},"
        line += f" first half {error[: len(error) // 2].max():.1e}, all {error.max():.1e} (x L)"
        if before is not None and before[:3] == (name, count // 2, total // 2):
            better = (4.0 * tip - before[3]) / 3.0
            rest = np.max(np.linalg.norm(better - reference["tip"], axis=1)) / length
            line += f"; extrapolated {rest:.1e}"
        print(line, flush=True)
        before = name, count, total, tip


if __name__ == "__main__":
    main()
