"""Numbers of 002: steel rods, the continuum Stewart-Gough robot, tendons, fluids."""

from typing import Any

import numpy as np

from supple.bench.strong import LENGTH, SCHEMES, benchmark_rod, settings, time_constant
from supple.model.efforts import ATMOSPHERE
from supple.robot.formulations import formulation_of
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.robots import fluidic_finger as fingers, four_tendons
from supple.robots.clamped_rod import RADIUS, RELEASED, clamped_rod, loaded_rod
from supple.robots.stewart import hole_angles, stewart_gough
from supple.run.simulate import simulate
from supple.run.statics import equilibrium, modes
from supple.section import Circle, Material
from supple.shooting.settings import Shooting
from supple.time.multistep import bdf2, bdf_alpha


def steel_rod() -> dict[str, float]:
    """§3: the benchmark rod's modes, and how its schemes damp it as steps change."""
    robot = benchmark_rod("kirchhoff")
    held, rest = equilibrium(robot), equilibrium(robot.removing("pull"))
    free = robot.removing("pull")
    found = {
        "first frequency (Hz)": float(modes(free.build()).frequencies[0]),
        "loss of energy a cycle, τ = 32 s, 25 cycles a second (%)": 100
        * (1 - np.exp(-2 / 32 / 25)),
        "deflection under the load over length": float(
            np.linalg.norm(held.position("rod") - rest.position("rod")) / LENGTH
        ),
        "points": float(settings("kirchhoff", "rk4", 1).points),
    }
    steps = np.array([2.5e-3, 5e-3, 1e-2])
    for name in ("backward Euler", "BDF2", "BDF-alpha -0.2"):
        times = []
        for dt in steps:
            run = simulate(free, 1.0, dt=float(dt), scheme=SCHEMES[name], initial=held)
            times.append(time_constant(run.t, run.energies.total - rest.energies.total))
        found[f"{name}: τ at 5 ms (s)"] = times[1]
        found[f"{name}: power of the step in τ"] = float(
            np.polyfit(np.log(steps), np.log(times), 1)[0]
        )
    return found


def weight() -> dict[str, float]:
    """§4: the calibrated rod, and steel of 200 GPa."""
    model = clamped_rod(RELEASED).build()
    held, rest = equilibrium(loaded_rod()), equilibrium(model)
    return {
        "EI at 200 GPa (N m²)": float(200e9 * np.pi * RADIUS**4 / 4),
        "first frequency (Hz)": float(modes(model).frequencies[0]),
        "tip held down by the weight, over length": float(
            np.linalg.norm(held.position("rod") - rest.position("rod")) / RELEASED
        ),
    }


def plate() -> dict[str, float]:
    """§5.1: the plate as a cylinder of acrylic."""
    density, radius, thickness = 1180.0, 0.091, 0.003
    base, top = hole_angles()
    shot = stewart_gough().with_formulation(Shooting(41, 1, rotary_inertia=False)).build()
    mass = density * np.pi * radius**2 * thickness
    return {
        "mass (kg)": mass,
        "across (kg m²)": mass * (3 * radius**2 + thickness**2) / 12,
        "along (kg m²)": mass * radius**2 / 2,
        "major angle (°)": float(np.degrees(np.ptp(np.unwrap(top[:2])))),
        "minor angle (°)": float(np.degrees(np.ptp(np.unwrap(base[:2])))),
        "unknowns of single shooting": float(len(formulation_of(shot).scale)),
    }


def tendons() -> dict[str, float]:
    """§5.2: where the tendons of the four-tendon robot are."""
    left, up = (np.asarray(four_tendons.SIDES[name]) for name in ("left", "up"))
    return {"angle between tendons (°)": float(np.degrees(np.arccos(left @ up)))}


def finger() -> dict[str, float]:
    """§5.3.3: the finger at rest."""
    held = equilibrium(fingers.fluidic_finger("air"), t=fingers.END)
    chamber = held.chamber("chamber")
    return {
        "volume (m³)": float(chamber.volume),
        "gauge pressure (Pa)": float(chamber.pressure),
        "mean elongation": float(held.strain("finger")[:, 3].mean() - 1),
        "chamber from the neutral axis (m)": fingers.CHAMBER_OFFSET,
        "gas (mol)": fingers.GAS / (fingers.MOLAR * fingers.TEMPERATURE),
        "gas constant (J/(mol K))": fingers.MOLAR,
        "temperature (K)": fingers.TEMPERATURE,
        "pressure of the air (Pa)": ATMOSPHERE,
    }


def swings() -> dict[str, float]:
    """§5.3.3: the finger after filling, by the text's scheme and step in both formulations, and converged."""
    found: dict[str, float] = {}
    for name, formulation in (
        ("strains", None),
        ("shooting, Euler", Shooting(50, 1, "euler")),
        ("shooting, RK4", Shooting(50, 1, "rk4")),
    ):
        options: dict[str, Any] = {"dt": 0.01, "scheme": bdf_alpha(-0.3)}
        found |= _swings(f"BDF-α, {name}", formulation, options)
    return found | _swings("converged", None, {"accuracy": 1e-4, "t_eval": 0.01})


def _swings(name: str, formulation: Shooting | None, options: dict[str, Any]) -> dict[str, float]:
    """Half the way of the tip across after filling (m), with each fluid, and their ratio."""
    found: dict[str, float] = {}
    windows = ("", fingers.FILLING, fingers.END), (", last second", 3.5, 4.5)
    for fluid in ("air", "water"):
        robot = fingers.fluidic_finger(fluid)
        robot = robot if formulation is None else robot.with_formulation(formulation)
        run = simulate(robot, fingers.END, **options)
        for window, begin, end in windows:
            late = (run.t > begin) & (run.t <= end)
            swing = float(np.ptp(run.position("finger")[late, 1]) / 2)
            found[f"{name}: {fluid}{window} (m)"] = swing
    for window, _, _ in windows:
        ratio = found[f"{name}: air{window} (m)"] / found[f"{name}: water{window} (m)"]
        found[f"{name}: air over water{window}"] = ratio
    return found


def appendix_b() -> dict[str, float]:
    """The MATLAB program: a rod that falls under ten times its weight, shot and in strains."""
    steel: Any = Material(E=207e9, G=207e9 / 2.6, density=8000.0)
    rod: Any = Rod("rod", 0.4, Circle(1.2e-3), steel, strains="reissner", basis=8)
    robot = Robot(rod, gravity=(0.0, -98.1, 0.0))
    ends, step, count = [], 5e-3, 50
    points = Shooting(40, 1, "rk4")
    for formulation in (points, None):
        one = robot if formulation is None else robot.with_formulation(formulation)
        ends.append(simulate(one, (count - 1) * step, dt=step, scheme=bdf2()).position("rod"))
    apart = np.linalg.norm(ends[0] - ends[1], axis=1).max()
    return {
        "length": rod.length,
        "points": float(points.points),
        "Young's modulus": float(steel.E),
        "radius": float(rod.section.radius),
        "density": float(steel.density),
        "gravity, ten times": -float(robot.gravity[1]),
        "step": step,
        "steps": float(count),
        "Poisson's ratio": float(steel.E / steel.G / 2 - 1),
        "tip, shot against strains, over length": float(apart / rod.length),
    }
