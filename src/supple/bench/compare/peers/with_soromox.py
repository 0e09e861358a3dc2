"""SoRoMoX: rods of piecewise constant strain in the plane (PCS), steps of Diffrax with error control.

A resolution is [segments, tolerance]. All three planar strains move. The time stepping is Diffrax's: its
explicit Dormand-Prince pair of order 8 where tolerances decide, which needs fewer steps than the fixed steps
of Tsit5 that are SoRoMoX's default.
"""

import common
import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from soromox.actuation import threadlike
from soromox.systems.components import JointSpec, LinkSpec
from soromox.systems.gvs import GVS, GVSSegment, StrainBasisSpec
from soromox.systems.pcs import PlanarPCS

jax.config.update("jax_enable_x64", True)


def robot(task, n, **more):
    """A rod of n segments, clamped at the origin along x."""
    h = task["length"] / n
    damping = task.get("damping", 0.0)
    stiffness = jnp.diag(jnp.array([task["EI"], task["EA"], task["GA"]])) * h
    link = LinkSpec.circular(
        length=h, radius=task["radius"], density=task["density"],
        reference_strain=[0.0, 1.0, 0.0], stiffness=stiffness, damping=damping * stiffness,
    )  # fmt: skip
    gravity = jnp.array(task["gravity"][:2])
    return PlanarPCS.from_links([link] * n, gravity=gravity, base_pose=jnp.zeros(3), **more)


def moved(task, body, start, tolerance, solver, force=None, spatial=False):
    """A compiled motion; of a scale of the force."""
    times = jnp.array(task["times"])
    control = diffrax.PIDController(rtol=tolerance, atol=tolerance * 1e-2)
    steps = diffrax.SaveAt(ts=times)

    def slope(t, y, scale):
        u = None if force is None else jnp.atleast_1d(scale * force(t))
        return body.forward_dynamics(t, y, (u,) if u is not None else None)

    def tips(scale):
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(slope), solver, 0.0, task["duration"], 1e-5, start, args=scale,
            saveat=steps, stepsize_controller=control, max_steps=None,
        )  # fmt: skip

        def tip(y):
            q = y[: start.size // 2]
            pose = body.forward_kinematics(q, jnp.asarray(task["length"]))
            if spatial:
                return pose[:3, 3]
            return jnp.array([pose[1], pose[2], 0.0])

        return jax.vmap(tip)(found.ys)

    return tips


def stepping(solver, tolerance):
    """What was set."""
    return f"Diffrax {type(solver).__name__} with error control at {tolerance:g}, jit, float64"


def cantilever(task, resolution):
    """One rod whose bending is a polynomial along it (GVS); thin rods hardly stretch or shear."""
    n, tolerance = resolution
    L = task["length"]
    link = LinkSpec.circular(
        length=L, radius=task["radius"], density=task["density"],
        reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], young_modulus=task["E"],
        shear_modulus=task["G"],
    )  # fmt: skip
    bending = StrainBasisSpec("legendre", ("kappa_z",), n - 1)
    body = GVS.from_segments(
        [GVSSegment(link, JointSpec.fixed(), bending, max(5, n + 4))],
        gravity=jnp.array(task["gravity"]), base_pose=jnp.array([0.0, 0, 0, 1, 0, 0, 0]),
    )  # fmt: skip
    share = np.array(task["start"]["share"])
    slope = np.gradient(np.array(task["start"]["angle"]), share * L, edge_order=2)
    q = np.polynomial.legendre.legfit(2 * share - 1, slope, n - 1)
    solver = diffrax.Dopri8()
    start = jnp.concatenate([jnp.array(q), jnp.zeros(n)])
    run = jax.jit(moved(task, body, start, tolerance, solver, spatial=True))
    return f"GVS, {n} Legendre modes of bending, {stepping(solver, tolerance)}", lambda: np.asarray(
        run(1.0)
    )


def arm(task, resolution):
    n, tolerance = resolution
    y = task["offset"]
    routing = threadlike.ThreadlikeRouting.linear(
        intercept=jnp.array([[0.0, y, 0.0]]), start_segment_index=(0,), end_segment_index=(n - 1,)
    )
    body = robot(task, n, actuators=threadlike.ThreadlikeActuator.tendons(routing))
    solver = diffrax.Kvaerno5()  # damped stretch and shear are stiff

    def force(t):
        return task["peak"] * 0.5 * (1.0 - jnp.cos(2 * jnp.pi * t / task["period"]))

    one = moved(task, body, jnp.zeros(6 * n), tolerance, solver, force)
    if "scales" in task:
        scales = jnp.array(task["scales"])
        run = jax.jit(jax.vmap(one))
        told = f"PlanarPCS, {n} segments, {stepping(solver, tolerance)}" + ", vmap over all members"
        return told, lambda: np.asarray(run(scales))[:, -1]
    run = jax.jit(one)
    told = f"PlanarPCS, {n} segments, {stepping(solver, tolerance)}"
    return told + ", threadlike tendon", lambda: np.asarray(run(1.0))


KINDS = {"cantilever": cantilever, "arm": arm, "fleet": arm}

if __name__ == "__main__":
    common.serve(
        "soromox", lambda task, resolution: KINDS[task["kind"]](task, resolution), compiles=True
    )
