"""DiSMech-Newton: discrete elastic rods, implicit steps, single precision, on the CPU.

A resolution is [edges, steps, iterations]. The rods neither shear nor have rotary inertia of their sections.
The first edge is held; the rod begins half of it inside the wall, where the bending of its end acts.
"""

import common
import newton
import numpy as np
import warp as wp
from warp._src.codegen import Struct

# Its annotations are written for Python 3.14, which does not evaluate them.
Struct.__or__ = lambda self, other: self

import dismech_newton as dismech  # noqa: E402

wp.config.quiet = True


def cantilever(task, resolution):
    n, steps, iterations = resolution
    h, shares = common.cells(task, n, walled=True)
    angle = np.where(shares <= 0, 0.0, common.angles(task, np.maximum(shares, 0.0)))
    points = np.zeros((n + 1, 3))
    points[:, :2] = common.placed(h, angle, (-h / 2, 0.0))
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    shape = newton.ModelBuilder.ShapeConfig(density=task["density"])
    rod = newton.Rod(points, radius=task["radius"])
    edges = dismech.add_rod(
        builder, rod, cfg=shape, stretch_stiffness=task["EA"] / h, bend_stiffness=task["EI"] / h,
        twist_stiffness=task["GJ"] / h, proxies=False,
    )  # fmt: skip
    dismech.fix_segment(builder, edge=edges[0])
    model = builder.finalize(device="cpu")
    model.set_gravity(tuple(task["gravity"]))
    dt = task["duration"] / steps
    every = max(1, steps // (len(task["times"]) - 1))

    def run():
        solver = dismech.DiSMechSolver(model, iterations=iterations, exact=True, theta=0.5)
        solver.triplets.rest.zero_()  # straight at rest, though it starts bent
        one, other = model.state(), model.state()
        found = [one.particle_q.numpy()[-1].copy()]
        for k in range(steps):
            solver.step(one, other, None, None, dt)
            one, other = other, one
            if (k + 1) % every == 0:
                found.append(one.particle_q.numpy()[-1].copy())
                if not np.isfinite(found[-1]).all():
                    raise FloatingPointError(f"the motion is not finite at {(k + 1) * dt:.3g} s")
        return common.chosen(dt * every * np.arange(len(found)), found, task["times"])

    words = (
        f"discrete elastic rod, implicit midpoint, exact factors, {iterations} iterations a step"
    )
    return words, run


KINDS = {"cantilever": cantilever}

if __name__ == "__main__":
    common.serve(
        "dismech-newton",
        lambda task, resolution: KINDS[task["kind"]](task, resolution),
        compiles=True,
    )
