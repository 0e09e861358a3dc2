"""Newton: cables of its vertex block descent solver (VBD), on the CPU.

A resolution is [segments, steps, iterations]. Stiffnesses of joints follow from those of the section over the
distance of middles. The first segment of a clamped rod does not move and ends half of it inside the wall. The
solver is first order in time and dissipates; it computes in single precision.
"""

import common
import newton
import numpy as np
import warp as wp

wp.config.quiet = True


@wp.kernel
def push(
    body: int, load: wp.array(dtype=float), k: int, force: wp.vec3, moment: wp.vec3, arm: wp.vec3,
    pose: wp.array(dtype=wp.transform), out: wp.array(dtype=wp.spatial_vector),
):  # fmt: skip
    """The load of the flying rods at the near end of the first segment."""
    size = load[k]
    lever = wp.quat_rotate(wp.transform_get_rotation(pose[body]), arm)
    out[body] = wp.spatial_vector(size * force, size * (moment + wp.cross(lever, force)))


def built(task, n, points, h, walled):
    """The model of one rod and the bodies of its segments."""
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.default_shape_cfg.has_shape_collision = False
    builder.default_shape_cfg.density = 0.0
    straight = np.zeros((n + 1, 3))
    straight[:, 0] = h * np.arange(n + 1)
    rod = newton.Rod(points, radius=task.get("radius", 0.5), rest_points=straight)
    bodies, _ = builder.add_rod(
        rod=rod, stretch_stiffness=task["EA"] / h, shear_stiffness=task["GA"] / h,
        bend_stiffness=task["EI"] / h, twist_stiffness=task["GJ"] / h,
    )  # fmt: skip
    across = task["inertia"] * h + task["mass"] * h**3 / 12
    for body in bodies:
        held = walled and body == bodies[0]
        mass = 0.0 if held else task["mass"] * h
        inertia = np.zeros((3, 3)) if held else np.diag([across, across, task["polar"] * h])
        builder.body_mass[body] = mass
        builder.body_inertia[body] = wp.mat33(inertia)
        builder.body_inv_mass[body] = 1 / mass if mass else 0.0
        builder.body_inv_inertia[body] = wp.mat33(np.linalg.inv(inertia) if mass else inertia)
    return builder, bodies


def moved(task, builder, bodies, h, resolution, loaded=False):
    """The motion."""
    _, steps, iterations = resolution
    builder.color()
    model = builder.finalize(device="cpu")
    model.set_gravity(tuple(task.get("gravity", (0.0, 0.0, 0.0))))
    dt = task["duration"] / steps
    every = max(1, steps // (len(task["times"]) - 1))
    load = wp.array(
        common.triangle((np.arange(steps) + 1) * dt, task.get("peak", 0.0)), dtype=float
    )
    half = wp.vec3(0.0, 0.0, h / 2)
    control = model.control()

    def tip(state):
        pose = state.body_q.numpy()[bodies[-1]]
        x, y, z, w = pose[3:]
        axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        return pose[:3] + h / 2 * axis

    def run():
        solver = newton.solvers.SolverVBD(model, iterations=iterations)
        one, other = model.state(), model.state()
        found = [tip(one)]
        for k in range(steps):
            one.clear_forces()
            if loaded:
                wp.launch(
                    push, dim=1, device="cpu",
                    inputs=[bodies[0], load, k, wp.vec3(task["force"], 0.0, 0.0),
                            wp.vec3(*task["moment"]), -half, one.body_q],
                    outputs=[one.body_f],
                )  # fmt: skip
            solver.step(one, other, control, None, dt)
            one, other = other, one
            if (k + 1) % every == 0:
                found.append(tip(one))
        return common.chosen(dt * every * np.arange(len(found)), found, task["times"])

    return run


def cantilever(task, resolution):
    n = resolution[0]
    h, shares = common.cells(task, n, walled=True)
    angle = np.where(shares <= 0, 0.0, common.angles(task, np.maximum(shares, 0.0)))
    points = np.zeros((n + 1, 3))
    points[:, :2] = common.placed(h, angle, (-h / 2, 0.0))
    builder, bodies = built(task, n, points, h, walled=True)
    return words(resolution), moved(task, builder, bodies, h, resolution)


def flying(task, resolution):
    n, L = resolution[0], task["length"]
    share = np.linspace(0.0, 1.0, n + 1)[:, None]
    points = (1 - share) * [0.6 * L, 0, 0] + share * [0, 0.8 * L, 0]
    builder, bodies = built(task, n, points, L / n, walled=False)
    return words(resolution), moved(task, builder, bodies, L / n, resolution, loaded=True)


def words(resolution):
    return f"cable of capsules, SolverVBD on the CPU, {resolution[2]} iterations a step, no contact"


KINDS = {"cantilever": cantilever, "flying": flying}

if __name__ == "__main__":
    common.serve(
        "newton", lambda task, resolution: KINDS[task["kind"]](task, resolution), compiles=True
    )
