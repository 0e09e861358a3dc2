"""Exudyn: geometrically exact beams, generalized-α, sparse systems; the planar ones where all is in a plane.

A resolution is [elements, steps]. Straight cantilevers and chains use its geometrically exact plane beams,
with shear; the chain its cables of absolute nodal coordinates, which are faster there.
"""

from itertools import pairwise

import common
import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from exudyn.beams import GenerateStraightLineANCFCable2D

exu.config.suppressWarnings = True


def settings(duration, steps, radius, tolerance=1e-7):
    """Generalized-α by spectral radius; Newton's matrix is kept from step to step as long as it serves.

    Where its residual cannot be reduced to the tolerance, Exudyn halves steps without end: the tolerances
    here are those with which it goes through.
    """
    s = exu.SimulationSettings()
    s.timeIntegration.numberOfSteps = steps
    s.timeIntegration.endTime = duration
    s.timeIntegration.generalizedAlpha.spectralRadius = radius
    s.timeIntegration.newton.useModifiedNewton = True
    s.timeIntegration.newton.relativeTolerance = tolerance
    s.timeIntegration.newton.absoluteTolerance = tolerance / 10
    s.timeIntegration.verboseMode = 0
    s.solution.file.write = False
    s.solution.sensors.writePeriod = 0.0
    s.staticSolver.numberOfLoadSteps = 1
    s.staticSolver.newton.relativeTolerance = 1e-8
    s.staticSolver.verboseMode = 0
    s.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    s.parallel.numberOfThreads = 1
    return s


def beam(mbs, nodes, length, task):
    """A geometrically exact plane beam of two or three nodes."""
    return mbs.AddObject(
        item.ObjectBeamGeometricallyExact2D(
            nodeNumbers=nodes, length=length, massPerLength=task["mass"],
            crossSectionInertia=task["inertia"], bendingStiffness=task["EI"],
            axialStiffness=task["EA"], shearStiffness=task["GA"],
        )
    )  # fmt: skip


def grounded(mbs, node, coordinates):
    """Hold coordinates of a node."""
    ground = mbs.AddNode(item.NodePointGround())
    fixed = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for i in coordinates:
        own = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=i))
        mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=[fixed, own]))


def weigh(mbs, body, gravity):
    """Gravity on an object."""
    marker = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(item.LoadMassProportional(markerNumber=marker, loadVector=list(gravity)))


def watched(mbs, node, task, chosen):
    """The motion, and the positions of a node in it."""
    sensor = mbs.AddSensor(
        item.SensorNode(
            nodeNumber=node, storeInternal=True, outputVariableType=exu.OutputVariableType.Position
        )
    )  # fmt: skip
    mbs.Assemble()

    def run():
        mbs.SolveDynamic(chosen, storeSolver=False)
        data = np.asarray(mbs.GetSensorStoredData(sensor))
        return common.chosen(data[:, 0], data[:, 1:4], task["times"])

    return run


def cantilever(task, resolution):
    """Beams of three nodes; the start is its own static solution under the force."""
    elements, steps = resolution
    mbs = exu.SystemContainer().AddSystem()
    h = task["length"] / elements
    share = np.linspace(0.0, 1.0, 2 * elements + 1)
    angle = common.angles(task, share)
    middles = common.angles(task, 0.5 * (share[1:] + share[:-1]))
    places = common.placed(h / 2, middles)
    nodes = [
        mbs.AddNode(
            item.NodeRigidBody2D(
                referenceCoordinates=[task["length"] * s, 0, 0],
                initialCoordinates=[x - task["length"] * s, y, a],
            )
        )
        for s, (x, y), a in zip(share, places, angle, strict=True)
    ]
    for i in range(elements):
        weigh(mbs, beam(mbs, nodes[2 * i : 2 * i + 3], h, task), task["gravity"])
    grounded(mbs, nodes[0], range(3))
    tip = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
    pull = mbs.AddLoad(item.LoadForceVector(markerNumber=tip, loadVector=[0, task["force"], 0]))
    chosen = settings(task["duration"], steps, 0.8)
    run = watched(mbs, nodes[-1], task, chosen)
    mbs.SolveStatic(chosen, updateInitialValues=True)
    mbs.SetLoadParameter(pull, "loadVector", [0.0, 0.0, 0.0])
    return "geometrically exact plane beams of 3 nodes, generalized-α 0.8, modified Newton", run


def flying(task, resolution):
    """Spatial geometrically exact beams."""
    elements, steps = resolution
    mbs = exu.SystemContainer().AddSystem()
    L = task["length"]
    ends = np.array([[0.6 * L, 0, 0], [0, 0.8 * L, 0]])
    angle = np.arctan2(0.8, -0.6)
    turn = [np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]
    section = exu.BeamSection()
    force, moment = [task["EA"], task["GA"], task["GA"]], [task["GJ"], task["EI"], task["EI"]]
    section.stiffnessMatrix = np.diag(force + moment)
    section.inertia = np.diag([task["polar"], task["inertia"], task["inertia"]])
    section.massPerLength = task["mass"]
    nodes = [
        mbs.AddNode(
            item.NodeRigidBodyEP(referenceCoordinates=[*(ends[0] + (ends[1] - ends[0]) * s), *turn])
        )
        for s in np.linspace(0.0, 1.0, elements + 1)
    ]
    for i in range(elements):
        mbs.AddObject(
            item.ObjectBeamGeometricallyExact(
                nodeNumbers=nodes[i : i + 2], length=L / elements, sectionData=section
            )
        )
    marker = mbs.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[0]))

    def scaled(_, t, vector):
        return np.asarray(vector) * common.triangle(t, task["peak"])

    mbs.AddLoad(
        item.LoadForceVector(
            markerNumber=marker, loadVector=[task["force"], 0, 0], loadVectorUserFunction=scaled
        )
    )
    mbs.AddLoad(
        item.LoadTorqueVector(
            markerNumber=marker, loadVector=list(task["moment"]), loadVectorUserFunction=scaled
        )
    )
    run = watched(mbs, nodes[-1], task, settings(task["duration"], steps, 0.95, 1e-6))
    return "geometrically exact beams of 2 nodes, generalized-α 0.95, modified Newton", run


def chain(task, resolution):
    """Cables of absolute nodal coordinates."""
    per, steps = resolution
    mbs = exu.SystemContainer().AddSystem()
    cable = item.Cable2D(
        physicsMassPerLength=task["mass"], physicsBendingStiffness=task["EI"],
        physicsAxialStiffness=task["EA"],
    )  # fmt: skip
    nodes = GenerateStraightLineANCFCable2D(
        mbs=mbs, positionOfNode0=[0, 0, 0], positionOfNode1=[task["rods"] * task["length"], 0, 0],
        numberOfElements=task["rods"] * per, cableTemplate=cable,
        massProportionalLoad=list(task["gravity"]),
        fixedConstraintsNode0=[1, 1, 0, 1], fixedConstraintsNode1=[0, 0, 0, 0],
    )[0]  # fmt: skip
    mbs.Assemble()
    ends = [nodes[per * (i + 1)] for i in range(task["rods"])]
    words = "cables of absolute nodal coordinates, generalized-α 0.8, modified Newton, sparse"
    return words, ended(mbs, ends, settings(task["duration"], steps, 0.8))


def ended(mbs, nodes, chosen):
    """The motion, and where nodes are at its end."""
    kind = exu.OutputVariableType.Position

    def run():
        mbs.SolveDynamic(chosen, storeSolver=False)
        return [np.array(mbs.GetNodeOutput(node, kind)) for node in nodes]

    return run


def net(task, resolution):
    """Beams that share the node of a crossing, so that crossings are rigid without constraints."""
    per, steps = resolution
    mbs = exu.SystemContainer().AddSystem()
    n, L = task["cells"], task["length"]

    def node(x, y):
        return mbs.AddNode(item.NodeRigidBody2D(referenceCoordinates=[x, y, 0]))

    crossings = {(i, j): node(L * i, L * j) for i in range(n + 1) for j in range(n + 1)}
    for (i, j), one in crossings.items():
        mass = mbs.AddObject(
            item.RigidBody2D(nodeNumber=one, physicsMass=task["joint_mass"], physicsInertia=1e-5)
        )
        weigh(mbs, mass, task["gravity"])
        if i == 0:
            grounded(mbs, one, range(3))
        for di, dj in ((1, 0), (0, 1)):
            other = crossings.get((i + di, j + dj))
            if other is None or (dj and i == 0):
                continue
            inner = [node(L * (i + di * k / per), L * (j + dj * k / per)) for k in range(1, per)]
            line = [one, *inner, other]
            for pair in pairwise(line):
                weigh(mbs, beam(mbs, list(pair), L / per, task), task["gravity"])
    words = "geometrically exact plane beams of 2 nodes, generalized-α 0.8, modified Newton, sparse"
    order = [crossings[i, j] for i in range(1, n + 1) for j in range(n + 1)]
    mbs.Assemble()
    return words, ended(mbs, order, settings(task["duration"], steps, 0.8))


def rfrfr(task, resolution):
    """Two rods of plane beams, tips held together by constraints."""
    elements, steps = resolution
    mbs = exu.SystemContainer().AddSystem()
    L, d = task["length"], task["distance"]
    angle, tips = np.arccos(0.5 * d / L), []
    for number, (base, turn) in enumerate([(-d / 2, angle), (d / 2, np.pi - angle)]):
        nodes = [
            mbs.AddNode(
                item.NodeRigidBody2D(
                    referenceCoordinates=[base + s * np.cos(turn), s * np.sin(turn), turn]
                )
            )
            for s in np.linspace(0.0, L, 2 * elements + 1)
        ]
        for i in range(elements):
            beam(mbs, nodes[2 * i : 2 * i + 3], L / elements, task)
        grounded(mbs, nodes[0], range(2))
        hinge = mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=2))

        def torque(_, t, __, number=number):
            return float(common.motors(t, task)[number])

        mbs.AddLoad(item.LoadCoordinate(markerNumber=hinge, loadUserFunction=torque))
        tips.append(nodes[-1])
    for i in range(2):
        pair = [mbs.AddMarker(item.MarkerNodeCoordinate(nodeNumber=t, coordinate=i)) for t in tips]
        mbs.AddObject(item.ObjectConnectorCoordinate(markerNumbers=pair))
    run = watched(mbs, tips[0], task, settings(task["duration"], steps, 0.8))
    return "geometrically exact plane beams of 3 nodes, generalized-α 0.8, modified Newton", run


KINDS = {
    "cantilever": cantilever, "flying": flying, "chain": chain, "net": net, "rfrfr": rfrfr,
}  # fmt: skip

if __name__ == "__main__":
    common.serve("exudyn", lambda task, resolution: KINDS[task["kind"]](task, resolution))
