"""000, app. D: Young's modulus of a tendon-driven rod from measured shapes.

A rod like those of §4.9.1 is bent by one cable with known tensions; a shape sensor, glued on at an unknown
angle, tells 40 points with noise. Each shape is projected onto its plane (singular value decomposition) and
its curvature K fitted there; a parallel cable bends the rod to a circle, and E = T d / (I K). This is (D.1)
for K as a curvature: the printed factor ℓ belongs there if K is the angle of the whole bend.

The rod also keeps a slight bend of its own, as the text supposes of the real one. It spoils the modulus at
low tensions, and the text leaves out its first three samples. The slope of the curvature over the tension is
free of such an offset and needs no choice.
"""

from dataclasses import dataclass, replace
from functools import cache

import jax.numpy as jnp
import numpy as np

import supple as sp
from examples._check import report
from supple.identify import FlatShape, fit_shape, flatten
from supple.lie import so3
from supple.robots.tendon_cpr import (
    CABLE_OFFSET,
    DENSITY,
    HEIGHT,
    LENGTHS,
    THICKNESS,
    YOUNG,
)

TENSIONS = np.arange(1.0, 11.0) * 1.5
"""N: the last bends the rod by about a radian."""
RESIDUAL_BEND = -0.02
"""Curvature that the rod keeps without a load (1/m)."""
NOISE = 5e-4
AT = np.linspace(0.0, 1.0, 40)
DISCARDED = 3
MOMENT = HEIGHT * THICKNESS**3 / 12

LIMITS = {
    "modulus, without the first three (relative)": 0.02,
    "their spread (relative)": 0.01,
    "modulus from the slope (relative)": 3e-3,
    "plane's normal (deg)": 1.0,
    "points off their plane, over the noise": 1.3,
}


@dataclass(frozen=True)
class Sample:
    """One tension: where the points were measured, their plane and their curvature (1/m)."""

    tension: float
    measured: np.ndarray
    flat: FlatShape
    curvature: float
    tilt: float
    """Of the plane found against the true one (deg)."""


def strip(**options) -> sp.Rod:  # type: ignore[no-untyped-def]
    """A rod of the robot."""
    return sp.Rod(
        "rod",
        length=LENGTHS[1],
        section=sp.Rectangle(THICKNESS, HEIGHT),
        material=sp.Material(E=YOUNG, nu=0.3, density=DENSITY),
        strains="planar",
        **{"basis": 1, **options},
    )


@cache
def samples() -> tuple[Sample, ...]:
    """All tensions, each measured with the sensor at another angle."""
    rng = np.random.default_rng(3)
    bent = strip(basis=3, rest=(0.0, 0.0, RESIDUAL_BEND, 1.0, 0.0, 0.0))
    cable = sp.Tendon("cable", on="rod", offset=(CABLE_OFFSET, 0.0), tension=0.0)
    found = []
    for tension in TENSIONS:
        robot = sp.Robot(bent, replace(cable, tension=tension), gravity=(0, 0, 0))
        shape = sp.equilibrium(robot).shape("rod", len(AT)).position
        turn = np.asarray(so3.exp(jnp.asarray(rng.normal(size=3))))
        points = shape @ turn.T + NOISE * rng.normal(size=shape.shape)
        flat = flatten(points)
        fit = fit_shape(strip(), flat.points, AT, noise=NOISE)
        assert fit.ok
        # A rod found upside down has the opposite curvature; the plane says which side is which.
        curvature = fit.coordinates[0] * np.sign(fit.base.rotation[2, 2])
        tilt = np.degrees(np.arccos(min(1.0, abs(flat.frame.rotation[:, 2] @ turn[:, 2]))))
        found.append(Sample(float(tension), points, flat, float(curvature), float(tilt)))
    return tuple(found)


def moduli() -> np.ndarray:
    """(D.1) for each tension (Pa)."""
    return np.array([s.tension * CABLE_OFFSET / (MOMENT * s.curvature) for s in samples()])


def slope_modulus() -> float:
    """From the slope of the curvature over the tension (Pa)."""
    curvature = [s.curvature for s in samples()]
    return float(CABLE_OFFSET / (MOMENT * np.polyfit(TENSIONS, curvature, 1)[0]))


def run(quick: bool = False) -> dict[str, float]:
    kept = moduli()[DISCARDED:]
    bent = samples()[DISCARDED:]
    off = np.sqrt(np.mean([s.flat.off**2 for s in samples()]))
    values = (
        abs(kept.mean() / YOUNG - 1),
        kept.std() / YOUNG,
        abs(slope_modulus() / YOUNG - 1),
        max(s.tilt for s in bent),
        off / NOISE,
    )
    return dict(zip(LIMITS, map(float, values), strict=True))


def told() -> dict[str, float]:
    """The mean of (D.1) as in the text."""
    return {"mean (GPa)": float(moduli()[DISCARDED:].mean() / 1e9), "discarded": float(DISCARDED)}


def main() -> None:
    import matplotlib.pyplot as plt

    from examples._picture import BLUE, GRAY, RED, SHADES, plain_box, save, snapshots

    fig = plt.figure(figsize=(13.0, 4.2), layout="constrained")
    space = fig.add_subplot(1, 3, 1, projection="3d")
    view = np.array([0.43, -0.75, 0.5])  # from where the axes are seen
    shown = max(samples()[5:], key=lambda s: abs(s.flat.frame.rotation[:, 2] @ view))
    space.plot(*shown.measured.T, ".", color=BLUE, ms=3, label="measured")
    plane = shown.flat.points @ shown.flat.frame.rotation.T + shown.flat.frame.position
    space.plot(*plane.T, color="black", linewidth=1.0, label="in its plane")
    corners = np.array([[0, -0.05, 0], [1, -0.05, 0], [1, 0.7, 0], [0, 0.7, 0], [0, -0.05, 0]])
    box = corners * np.array([np.ptp(shown.flat.points[:, 0]) * 1.05, 0.35, 0])
    box = box @ shown.flat.frame.rotation.T + shown.flat.frame.position
    space.plot(*box.T, color=GRAY, linewidth=0.8)
    plain_box(space, np.concatenate([shown.measured, box]), zoom=0.9)
    space.set_title(f"Measured at {shown.tension:g} N")
    space.legend(loc="upper left")

    flat = fig.add_subplot(1, 3, 2)
    mappable = snapshots(flat, [s.flat.points for s in samples()], TENSIONS)
    fig.colorbar(mappable, ax=flat, label="tension (N)", location="bottom", shrink=0.6)
    flat.set_title("In their planes")

    axis = fig.add_subplot(1, 3, 3)
    axis.axhline(YOUNG / 1e9, color=GRAY, linewidth=1.0, label="modulus of the rod")
    axis.axhline(
        slope_modulus() / 1e9, color=RED, linestyle="--", linewidth=1.0, label="from slope"
    )
    colors = [SHADES(0.1)] * DISCARDED + [BLUE] * (len(TENSIONS) - DISCARDED)
    axis.scatter(TENSIONS, moduli() / 1e9, c=colors, zorder=3, label="(D.1); pale: left out")
    axis.set(xlabel="tension (N)", ylabel="E (GPa)", title="Young's modulus")
    axis.legend()
    save(fig, "young_modulus")
    for sample, modulus in zip(samples(), moduli(), strict=True):
        print(
            f"{sample.tension:5.1f} N   K = {sample.curvature:6.3f} 1/m   E = {modulus / 1e9:6.1f} GPa"
        )
    print(
        f"mean of the last {len(TENSIONS) - DISCARDED}: {moduli()[DISCARDED:].mean() / 1e9:.1f} GPa"
    )
    print(f"from the slope: {slope_modulus() / 1e9:.1f} GPa (the rod's: {YOUNG / 1e9:.1f})")
    report("000, app. D, Young's modulus", run(), LIMITS)


if __name__ == "__main__":
    main()
