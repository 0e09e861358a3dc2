"""MuJoCo: rods as chains of bodies, with springs in the joints between them.

A resolution is [bodies, steps, integrator, freedoms]. Joints are hinges (one in a plane, three in space) and,
with freedoms "all", slides for stretch and shear. The clamp of a hanging rod is half a body's length of the
rod away from the first joint, so that spring is twice as stiff. Motions are computed by ``mujoco.rollout``
without a loop in Python.
"""

import common
import mujoco
import numpy as np
from mujoco import rollout


class Rod:
    """Text of a model: one rod of n bodies."""

    def __init__(self, task, n, freedoms, *, plane):
        self.task, self.n, self.freedoms, self.plane = task, n, freedoms, plane
        self.h = task["length"] * task.get("rods", 1) / n
        self.damping = task.get("damping", 0.0)

    def springs(self, i, first=False):
        """The joints at the near end of body i."""
        task, h = self.task, self.h / (2.0 if first else 1.0)
        bends = [("0 0 1", task["EI"])]
        if not self.plane:
            bends = [("1 0 0", task["GJ"]), ("0 1 0", task["EI"]), ("0 0 1", task["EI"])]
        lines = []
        if self.freedoms == "all":
            axes = [("1 0 0", task["EA"]), ("0 1 0", task["GA"])]
            axes += [] if self.plane else [("0 0 1", task["GA"])]
            lines = [self.joint("slide", axis, k / h) for axis, k in axes]
        return lines + [self.joint("hinge", axis, k / h) for axis, k in bends]

    def joint(self, kind, axis, k):
        """One joint with its spring."""
        return f'<joint type="{kind}" axis="{axis}" stiffness="{k:.17g}" damping="{k * self.damping:.17g}"/>'

    def bodies(self):
        """All bodies, each inside the one before."""
        task, h, lines, ends = self.task, self.h, [], []
        m = task["mass"] * h
        across = task["inertia"] * h + m * h * h / 12
        for i in range(self.n):
            place = self.place if i == 0 else f'pos="{h:.17g} 0 0"'
            lines.append(f'<body name="b{i}" {place}>')
            if i == 0 and self.free:
                lines.append("<freejoint/>")
            else:
                lines += self.springs(i, first=i == 0)
            lines.append(
                f'<inertial pos="{h / 2:.17g} 0 0" mass="{m:.17g}" '
                f'diaginertia="{task["polar"] * h:.17g} {across:.17g} {across:.17g}"/>'
            )
            lines += self.sites(i)
            ends.append("</body>")
        return "\n".join(lines + ends)

    def sites(self, i):
        """Points of a body that are named."""
        lines = ['<site name="root" pos="0 0 0"/>'] if i == 0 else []
        if i == self.n - 1:
            lines.append(f'<site name="tip" pos="{self.h:.17g} 0 0"/>')
        if "offset" in self.task:
            lines.append(f'<site name="t{i}" pos="{self.h / 2:.17g} {self.task["offset"]} 0"/>')
        return lines


INTEGRATORS = {"euler": "Euler", "rk4": "RK4", "implicit": "implicit", "discrete": "discrete"}


def model(
    rod, dt, integrator, more="", sensors='<framepos objtype="site" objname="tip"/>', extra=""
):
    """The compiled model."""
    gravity = " ".join(map(str, rod.task.get("gravity", (0, 0, 0))))
    flags = '<flag contact="disable" constraint="disable" limit="disable" autoreset="disable"/>'
    text = f"""<mujoco><option timestep="{dt:.17g}" integrator="{INTEGRATORS[integrator]}"
      gravity="{gravity}">{flags}</option>
      <compiler angle="radian" inertiafromgeom="false" boundmass="0" boundinertia="0"/>
      <worldbody><site name="world"/>{extra}{rod.bodies()}</worldbody>
      {more}<sensor>{sensors}</sensor></mujoco>"""
    return mujoco.MjModel.from_xml_string(text)


def rolled(m, task, steps, start=None, control=None, count=1):
    """The motion, as positions at the instants."""
    data = mujoco.MjData(m)
    if start is not None:
        data.qpos[:] = start
    size = mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(m, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    mujoco.mj_forward(m, data)
    state = np.tile(state, (count, 1))
    times = np.linspace(0.0, task["duration"], steps + 1)

    def run():
        # Sensors of a step belong to its start: one step more tells the end.
        seen = rollout.rollout(m, [data], state, control, nstep=steps + 1)[1]
        if count > 1:
            return seen[:, -1, :3]
        if seen.shape[-1] > 3:
            return seen[0, -1].reshape(-1, 3)
        found = seen[0, :, :3]
        if not np.isfinite(found).all():
            raise FloatingPointError("the motion is not finite")
        return common.chosen(times, found, task["times"])

    return run


def cantilever(task, resolution):
    n, steps, integrator, freedoms = resolution
    rod = Rod(task, n, freedoms, plane=True)
    rod.free, rod.place = False, 'pos="0 0 0"'
    m = model(rod, task["duration"] / steps, integrator)
    _, shares = common.cells(task, n)
    angle = common.angles(task, shares)
    bends = np.diff(np.concatenate([[0.0], angle]))
    start = bends if freedoms != "all" else np.stack([0 * bends, 0 * bends, bends], 1).ravel()
    return words(integrator, freedoms), rolled(m, task, steps, start)


def words(integrator, freedoms):
    joints = "hinges and slides" if freedoms == "all" else "hinges"
    return f"chain of bodies, {joints} with springs, {integrator}, mujoco.rollout"


def flying(task, resolution):
    n, steps, integrator, freedoms = resolution
    rod = Rod(task, n, freedoms, plane=False)
    L, half = task["length"], np.arctan2(0.8, -0.6) / 2
    rod.free = True
    rod.place = f'pos="{0.6 * L} 0 0" quat="{np.cos(half):.17g} 0 0 {np.sin(half):.17g}"'
    gears = [f"{task['force']} 0 0 0 0 0", "0 0 0 " + " ".join(map(str, task["moment"]))]
    more = "".join(f'<general site="root" refsite="world" gear="{gear}"/>' for gear in gears)
    m = model(rod, task["duration"] / steps, integrator, f"<actuator>{more}</actuator>")
    dt = task["duration"] / steps
    load = common.triangle((np.arange(steps + 1) + 0.5) * dt, task["peak"])
    control = np.repeat(load[None, :, None], 2, axis=2)
    return words(integrator, freedoms), rolled(m, task, steps, None, control)


def arm(task, resolution):
    n, steps, integrator, freedoms = resolution
    rod = Rod(task, n, freedoms, plane=True)
    rod.free, rod.place = False, 'pos="0 0 0"'
    y = task["offset"]
    path = "".join(f'<site site="t{i}"/>' for i in range(n))
    more = (
        f'<tendon><spatial name="pull"><site site="anchor"/>{path}<site site="end"/></spatial></tendon>'
        '<actuator><motor tendon="pull" gear="-1"/></actuator>'
    )
    extra = f'<site name="anchor" pos="0 {y} 0"/>'
    sites = rod.sites

    def with_end(i):
        return sites(i) + ([f'<site name="end" pos="{rod.h:.17g} {y} 0"/>'] if i == n - 1 else [])

    rod.sites = with_end
    dt = task["duration"] / steps
    m = model(rod, dt, integrator, more, extra=extra)
    pull = common.tension((np.arange(steps + 1) + 0.5) * dt, task)
    scales = np.asarray(task.get("scales", [1.0]))
    control = scales[:, None, None] * pull[None, :, None]
    return words(integrator, freedoms) + ", spatial tendon", rolled(
        m, task, steps, None, control, len(scales)
    )


def chain(task, resolution):
    per, steps, integrator, freedoms = resolution
    n = per * task["rods"]
    rod = Rod(task, n, freedoms, plane=True)
    rod.free, rod.place = False, 'pos="0 0 0"'
    plain = rod.sites

    def ends(i):
        more = [f'<site name="e{i}" pos="{rod.h:.17g} 0 0"/>'] if i % per == per - 1 else []
        return plain(i) + more

    rod.sites = ends
    sensors = "".join(f'<framepos objtype="site" objname="e{i}"/>' for i in range(per - 1, n, per))
    m = model(rod, task["duration"] / steps, integrator, sensors=sensors)
    return words(integrator, freedoms), rolled(m, task, steps)


KINDS = {"cantilever": cantilever, "flying": flying, "arm": arm, "fleet": arm, "chain": chain}

if __name__ == "__main__":
    common.serve("mujoco", lambda task, resolution: KINDS[task["kind"]](task, resolution))
