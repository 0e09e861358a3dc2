"""Virtual work along whole runs: what inputs do is what energies gain and dampers take."""

import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

import supple as sp
from supple.mechanics.inverse_dynamics import rod_viscosity
from supple.model.efforts import ATMOSPHERE
from supple.model.model import JointGroup

TOL = 1e-5  # of the work done: cubic splines through instants 1 ms apart
DURATION, STEP = 0.3, 1e-3
RUBBER = sp.Material(E=1e6, density=1000.0, damping=sp.StiffnessDamping(5e-3))


def swell(t):
    """From 0 smoothly up to 1 and down again."""
    return jnp.sin(np.pi * t / DURATION) ** 2


def rising(t):
    """Its derivative."""
    return np.pi / DURATION * np.sin(2 * np.pi * t / DURATION)


def integral(t, power):
    return CubicSpline(t, power).antiderivative()(t)


def rate(t, values):
    return CubicSpline(t, values).derivative()(t)


def damped(result):
    """Power that the dampers of rods and joints take."""
    total = np.zeros(len(result))
    for i, group in enumerate(result.model.groups):
        if isinstance(group, JointGroup):
            damping = None if group.damping is None else np.eye(group.nv) * group.damping[..., None]
        else:
            damping = rod_viscosity(group)
        if damping is not None:
            first = result.model.topology.v_start[i]
            own = result.v[:, first : first + group.size * group.nv]
            own = own.reshape(len(result), group.size, group.nv)
            total += np.einsum("tbi,bij,tbj->t", own, np.asarray(damping), own)
    return total


def check_balance(result, power):
    """Energy gained = ∫ power of the inputs less that of the dampers."""
    assert result.ok
    work, lost = integral(result.t, power), integral(result.t, damped(result))
    energy = result.energies.total - result.energies.total[0]
    size = np.abs(work).max()
    assert lost[-1] > 1e-2 * size  # dampers take part
    assert np.abs(energy).max() > 1e-2 * size
    np.testing.assert_allclose(energy, work - lost, atol=TOL * size)


def rod(**options):
    return sp.Rod("rod", length=0.2, section=sp.Circle(8e-3), material=RUBBER, basis=2, **options)


def run(*items, gravity=(0.0, -9.81, 0.0)):
    robot = sp.Robot(*items, gravity=gravity)
    held = sp.equilibrium(robot)
    return sp.simulate(robot, DURATION, dt=STEP, scheme=sp.radau(3), initial=held)


def test_tendons_by_tension_by_length_and_elastic():
    stiffness, damping = 300.0, 0.5
    result = run(
        rod(strains="planar"),
        sp.Tendon("tension", on="rod", offset=(6e-3, 0.0), tension=lambda t: 1.0 + swell(t)),
        sp.Tendon("length", on="rod", offset=lambda u: np.stack([6e-3 - 4e-3 * u, 0 * u], axis=1),
                  pull=lambda t: 2e-3 * swell(t), push=True, end=0.6),
        sp.Tendon("elastic", on="rod", offset=(4e-3, 0.0), stiffness=stiffness, damping=damping,
                  pull=lambda t: 5e-3 + 4e-3 * swell(t)),
    )  # fmt: skip
    t = result.t
    power = np.zeros(len(t))
    for name in ("tension", "length"):
        length, tension, _ = result.tendon(name)
        power -= tension * rate(t, length)
    length, tension, _ = result.tendon("elastic")
    assert tension.min() > 0.5  # taut
    pulling = 4e-3 * rising(t)
    power += tension * pulling - damping * (rate(t, length) + pulling) ** 2
    check_balance(result, power)


def test_chambers_by_pressure_by_volume_and_by_gas():
    area, pressure = 2e-5, 4e4
    empty = area * 0.2
    result = run(
        rod(strains="planar-reissner"),
        sp.Chamber("pressure", on="rod", area=area, offset=(4e-3, 0.0),
                   pressure=lambda t: pressure * swell(t)),
        sp.Chamber("volume", on="rod", area=area, offset=(-5e-3, 0.0),
                   volume=lambda t: empty * (1.0 + 0.05 * swell(t))),
        sp.Chamber("gas", on="rod", area=area, offset=(-2e-3, 0.0), end=0.5,
                   gas=lambda t: empty / 2 * (ATMOSPHERE + pressure * swell(t))),
    )  # fmt: skip
    t = result.t
    power = np.zeros(len(t))
    for name in ("pressure", "volume"):
        volume, gauge, _ = result.chamber(name)
        power += gauge * rate(t, volume)
    volume, _, _ = result.chamber("gas")
    # Gas that comes in at the atmosphere's pressure and is compressed to that in the chamber.
    power -= empty / 2 * pressure * rising(t) * np.log(volume / (empty / 2))
    check_balance(result, power)


def test_a_motor_with_a_rotor_and_a_winch_on_a_tendon():
    result = run(
        rod(strains="planar", joint=sp.Revolute("z", damping=1e-3, stiffness=0.5)),
        sp.Motor("motor", on="rod", torque=lambda t: 0.02 * swell(t), gear=5.0, inertia=1e-5,
                 viscous=1e-5),
        sp.Motor("winch", torque=lambda t: 2e-3 * (1.0 + swell(t)), gear=4.0, inertia=1e-6,
                 viscous=1e-5),
        sp.Tendon("pull", on="rod", offset=(6e-3, 0.0), winch="winch", drum=5e-3, push=True),
    )  # fmt: skip
    power = np.zeros(len(result))
    for name in ("motor", "winch"):
        angle, torque, _ = result.motor(name)
        power += torque * rate(result.t, angle)
    check_balance(result, power)
