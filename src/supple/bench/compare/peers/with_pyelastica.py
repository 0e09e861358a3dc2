"""PyElastica: discrete Cosserat rods and its position Verlet scheme.

A resolution is [elements, steps]. A rod's first director and first node are held; since an element's director
belongs to its middle, the rod begins half an element inside the wall, so that it is clamped where it should
be. Thin rods shear fast: with the rotary inertia of their sections steps would be tens of times smaller than
those for stretch. It is raised to that of rigid elements, m h²/12, an error of the order of the
discretization.
"""

import common
import elastica as ea
import numpy as np


class Simulator(ea.modules.BaseSystemCollection, ea.modules.Constraints, ea.modules.Forcing):
    """What is needed of its parts."""


class Triangle(ea.NoForces):
    """The load of the flying rods on the first node and the first element."""

    def __init__(self, task):
        super().__init__()
        self.peak, self.force = task["peak"], np.array([task["force"], 0.0, 0.0])
        self.moment = np.array(task["moment"], dtype=float)

    def _size(self, t):
        return self.peak * max(0.0, 1.0 - abs(t / 2.5 - 1.0))

    def apply_forces(self, system, time=0.0):
        """On the node."""
        system.external_forces[..., 0] += self._size(time) * self.force

    def apply_torques(self, system, time=0.0):
        """On the element, in its own frame."""
        frame = system.director_collection[..., 0]
        system.external_torques[..., 0] += frame @ (self._size(time) * self.moment)


def straight(task, n, h, start, direction):
    """A rod with the stiffnesses and inertias that are asked for."""
    radius = task.get("radius", 1.0)
    rod = ea.CosseratRod.straight_rod(
        n, np.asarray(start, float), np.asarray(direction, float), np.array([0.0, 0.0, 1.0]),
        h * n, radius, task.get("density", task["mass"] / (np.pi * radius**2)),
        youngs_modulus=task.get("E", 1.0), shear_modulus=task.get("G", 1.0),
    )  # fmt: skip
    for i, k in enumerate((task["GA"], task["GA"], task["EA"])):
        rod.shear_matrix[i, i, :] = k
    for i, k in enumerate((task["EI"], task["EI"], task["GJ"])):
        rod.bend_matrix[i, i, :] = k
    across = max(task["inertia"], task["mass"] * h * h / 12)
    for i, one in enumerate((across, across, task["polar"])):
        rod.mass_second_moment_of_inertia[i, i, :] = one * h
        rod.inv_mass_second_moment_of_inertia[i, i, :] = 1 / (one * h)
    return rod


def moved(task, make, steps, place):
    """The motion: a fresh rod each time, its start not counted as less than it is."""
    every = max(1, steps // (len(task["times"]) - 1 or 1))
    dt = np.float64(task["duration"] / steps)

    def run():
        simulator, rod = make()
        stepper, t, found = ea.PositionVerlet(), np.float64(0.0), [place(rod)]
        for i in range(steps):
            t = stepper.step(simulator, t, dt)
            if (i + 1) % every == 0:
                found.append(place(rod))
                if not np.isfinite(found[-1]).all():
                    raise FloatingPointError(f"the motion is not finite at {t:.3g} s")
        if len(task["times"]) == 1:
            return found[-1]
        return common.chosen(dt * every * np.arange(len(found)), found, task["times"])

    return run


def tip(rod):
    """Where the last node is."""
    return rod.position_collection[:, -1].copy()


WORDS = "discrete Cosserat rod, position Verlet, rotary inertia of at least m h²/12"


def clamped(task, n, h, angle):
    """A rod in the wall under gravity, in the shape of these angles of its elements."""
    simulator = Simulator()
    rod = straight(task, n, h, [-h / 2, 0, 0], [1, 0, 0])
    if angle is not None:
        rod.position_collection[:2] = common.placed(h, angle, (-h / 2, 0.0)).T
        rod.director_collection[...] = 0.0
        rod.director_collection[0, 2] = 1.0  # rows: normal, binormal, tangent
        rod.director_collection[1, :2] = np.stack([np.sin(angle), -np.cos(angle)])
        rod.director_collection[2, :2] = np.stack([np.cos(angle), np.sin(angle)])
    simulator.append(rod)
    simulator.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    gravity = np.asarray(task["gravity"], dtype=float)
    simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=gravity)
    simulator.finalize()
    return simulator, rod


def cantilever(task, resolution):
    n, steps = resolution
    h, shares = common.cells(task, n, walled=True)
    angle = np.where(shares <= 0, 0.0, common.angles(task, np.maximum(shares, 0.0)))
    return WORDS, moved(task, lambda: clamped(task, n, h, angle), steps, tip)


def flying(task, resolution):
    n, steps = resolution
    L = task["length"]

    def make():
        simulator = Simulator()
        rod = straight(task, n, L / n, [0.6 * L, 0, 0], [-0.6, 0.8, 0])
        simulator.append(rod)
        simulator.add_forcing_to(rod).using(Triangle, task)
        simulator.finalize()
        return simulator, rod

    return WORDS, moved(task, make, steps, tip)


def chain(task, resolution):
    """One long rod: all joints of the chain are rigid. The wall takes half an element of the first."""
    per, steps = resolution
    n = task["rods"] * per
    h, _ = common.cells(task | {"length": task["rods"] * task["length"]}, n, walled=True)
    nodes = h * (np.arange(n + 1) - 0.5)
    wanted = task["length"] * (np.arange(task["rods"]) + 1.0)

    def ends(rod):
        return common.chosen(nodes, rod.position_collection.T, wanted)

    return WORDS, moved(task, lambda: clamped(task, n, h, None), steps, ends)


KINDS = {"cantilever": cantilever, "flying": flying, "chain": chain}

if __name__ == "__main__":
    common.serve(
        "pyelastica", lambda task, resolution: KINDS[task["kind"]](task, resolution), compiles=True
    )
