"""Vibration modes against analytic beams, and linear models against the dynamics themselves."""

from functools import cache

import equinox as eqx
import numpy as np
import pytest

import supple as sp
from supple.mechanics.frames import find_joint
from supple.model.state import State
from tests.samples import accelerate

LENGTH, RADIUS, E, DENSITY, MU = 1.0, 1e-3, 2e11, 7800.0, 1e-5
EI, LINE = E * np.pi * RADIUS**4 / 4, DENSITY * np.pi * RADIUS**2
UNIT = np.sqrt(EI / LINE) / LENGTH**2 / (2 * np.pi)  # Hz; frequencies are (βL)² of these
TOL = 1e-4  # nine modes; rotary inertia of a rod this thin is 1e-5 at the third frequency
CLAMPED = np.array([1.8751040687, 4.6940911330, 7.8547574382])  # cos βL cosh βL = -1
FREE = np.array([4.7300407449, 7.8532046241, 10.9956078380])  # cos βL cosh βL = 1


def beam(joint=None, **options) -> sp.Robot:
    material = sp.Material(E=E, density=DENSITY, damping=sp.StiffnessDamping(MU))
    return sp.Robot(
        sp.Rod(
            "beam", length=LENGTH, section=sp.Circle(RADIUS), strains="planar", basis=9,
            material=material, joint=joint or sp.Fixed(), **options,
        ),
        sp.Wrench("tip", on="beam", force=(0, 1e-2, 0)),
        gravity=(0, 0, 0),
    )  # fmt: skip


@cache
def clamped():
    return beam().build()


def test_roots_are_those_of_the_frequency_equations():
    np.testing.assert_allclose(np.cos(CLAMPED) * np.cosh(CLAMPED), -1, atol=1e-6)
    np.testing.assert_allclose(np.cos(FREE) * np.cosh(FREE), 1, atol=1e-4)


def test_a_clamped_beam_has_its_analytic_frequencies():
    found = sp.modes(clamped(), count=3)
    np.testing.assert_allclose(found.frequencies, CLAMPED**2 * UNIT, rtol=TOL)
    assert found.stable


def test_a_free_beam_has_six_rigid_modes_and_its_analytic_frequencies():
    found = sp.modes(beam(joint=sp.Free()).removing("tip"))
    bending = FREE**2 * UNIT
    assert np.all(found.frequencies[:6] < 1e-4 * bending[0])
    np.testing.assert_allclose(found.frequencies[6:9], bending, rtol=TOL)
    assert found.stable


def test_shapes_have_unit_modal_mass_and_are_orthogonal():
    found = sp.modes(clamped())
    linear = sp.linearize(clamped())
    mass = found.shapes.T @ linear.mass @ found.shapes
    np.testing.assert_allclose(mass, np.eye(9), atol=1e-9)
    stiffness = found.shapes.T @ linear.stiffness @ found.shapes
    np.testing.assert_allclose(
        stiffness, np.diag(found.stiffness), atol=1e-9 * found.stiffness.max()
    )


def test_stiffness_damping_gives_ratios_that_grow_with_frequency():
    found = sp.modes(clamped(), count=3)
    np.testing.assert_allclose(found.damping_ratios, MU * np.pi * found.frequencies, rtol=1e-8)


def test_eigenvalues_of_the_linear_model_are_those_of_the_modes():
    """s² + μω² s + ω² = 0 for each mode."""
    found, linear = sp.modes(clamped()), sp.linearize(clamped())
    omega = 2 * np.pi * found.frequencies[:4]
    expected = -MU * omega**2 / 2 + 1j * omega * np.sqrt(1 - (MU * omega / 2) ** 2)
    above = linear.eigenvalues[linear.eigenvalues.imag > 0]
    nearest = [above[np.argmin(np.abs(above - one))] for one in expected]
    np.testing.assert_allclose(nearest, expected, rtol=1e-7)
    assert len(linear.eigenvalues) == 18


def differences(model, q, v, step):
    """Jacobian of the accelerations in (q, v), central differences, and their value there."""
    columns = []
    for k in range(2 * model.nv):
        move = np.zeros(2 * model.nv)
        move[k] = step
        dq, dv = np.split(move, 2)
        ahead = np.asarray(accelerate(model, q + dq, v + dv, 0.0))
        behind = np.asarray(accelerate(model, q - dq, v - dv, 0.0))
        columns.append((ahead - behind) / (2 * step))
    return np.stack(columns, axis=1)


def test_the_linear_model_is_the_derivative_of_the_dynamics_at_an_equilibrium():
    model = clamped()
    held = sp.equilibrium(model)
    linear = sp.linearize(model, at=held)
    expected = differences(model, held.q, np.zeros(model.nv), 1e-5)
    size = np.abs(expected).max()
    np.testing.assert_allclose(linear.A[model.nv :], expected, rtol=0, atol=1e-6 * size)
    np.testing.assert_array_equal(linear.A[: model.nv], np.eye(18, k=9)[:9])


def test_the_linear_model_is_the_derivative_of_the_dynamics_at_a_moving_state(rng):
    model = sp.Robot(
        sp.Body("a", mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1), joint=sp.Revolute("y")),
        sp.Body(
            "b", parent="a", mass=1.0, com=(1, 0, 0), position=(1, 0, 0), joint=sp.Revolute("y")
        ),
    ).build()
    q, v = rng.normal(size=(2, 2))
    linear = sp.linearize(model, at=State(np.asarray(0.0), q, v, np.zeros(2)))
    expected = differences(model, q, v, 1e-5)
    np.testing.assert_allclose(linear.A[2:], expected, rtol=0, atol=1e-6)


def test_a_linear_model_has_the_loads_of_its_equilibriums_time():
    """A pendulum pulled down by 5 N after a second: K = (m g + F) l."""
    robot = sp.Robot(
        sp.Body("bob", mass=1.0, com=(0, 0, -1), joint=sp.Revolute("y")),
        sp.Wrench("pull", on="bob", force=(0, 0, -5), position=(0, 0, -1), law=sp.ramp(0.0, 1.0)),
    )
    for t, force in ((0.0, 0.0), (1.0, 5.0)):
        linear = sp.linearize(robot, at=sp.equilibrium(robot, t=t))
        np.testing.assert_allclose(linear.stiffness, [[9.81 + force]], rtol=1e-9)


def test_the_inputs_of_the_linear_model_are_the_loads():
    """B u is what a change of each load's factor adds to the accelerations."""
    model = clamped()
    linear = sp.linearize(model)
    zero = np.zeros(model.nv)
    assert linear.B.shape == (18, 1)
    without = eqx.tree_at(lambda m: m.loads[0].value, model, np.zeros(6))
    expected = accelerate(model, zero, zero, 0.0) - accelerate(without, zero, zero, 0.0)
    np.testing.assert_allclose(linear.B[9:, 0], expected, rtol=1e-9)
    np.testing.assert_array_equal(linear.B[:9], 0.0)


def test_an_inverted_pendulum_is_found_unstable():
    robot = sp.Robot(
        sp.Body("pole", mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0), joint=sp.Revolute("y"))
    )
    model = robot.build()
    up = sp.modes(model)
    assert not up.stable
    assert up.frequencies[0] == 0.0
    q = np.zeros(1)
    q[find_joint(model, "pole").q] = np.pi
    down = sp.modes(model, at=q)
    expected = np.sqrt(9.81 * 0.5 / (0.1 + 0.25)) / (2 * np.pi)
    np.testing.assert_allclose(down.frequencies, [expected], rtol=1e-12)
    assert down.stable


def beck(load: float):
    """Beck's column: a unit cantilever under a follower force along its tip, in units of EI/L²."""
    properties = sp.GivenProperties((1, 1, 1, 1e6, 1e6, 1e6), (1e-9, 1e-9, 1e-9, 1, 1, 1))
    return sp.Robot(
        sp.Rod("column", length=1.0, strains="planar", basis=9, properties=properties),
        sp.Wrench("tip", on="column", force=(-load, 0, 0), follower=True),
        gravity=(0, 0, 0),
    ).build()


def test_becks_column_flutters_at_its_critical_load():
    """20.0509 EI/L² (Beck 1952): below it all eigenvalues are imaginary, above it two are not."""
    growth = [sp.linearize(beck(load)).eigenvalues.real.max() for load in (20.04, 20.06)]
    assert abs(growth[0]) < 1e-6
    assert growth[1] > 1e-2


def test_modes_under_a_follower_load_are_those_of_the_linear_model():
    model = beck(10.0)
    found = sp.modes(model, count=2)
    speeds = np.sort(np.abs(sp.linearize(model).eigenvalues.imag))[::2][:2]
    assert found.stable
    np.testing.assert_allclose(2 * np.pi * found.frequencies, speeds, rtol=1e-6)


def test_configurations_that_do_not_fit_are_refused():
    with pytest.raises(sp.ArgumentError, match=r"\(12,\)"):
        sp.modes(clamped(), at=np.zeros(12))


def test_quaternions_of_a_configuration_may_have_any_length():
    ball = sp.Body(
        "ball", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.2, 0.3), joint=sp.Spherical()
    )
    model = sp.Robot(ball).build()
    tilted = np.array([0.9, 0.1, -0.3, 0.0])
    unit, longer = (tilted * size / np.linalg.norm(tilted) for size in (1.0, 3.0))
    for found in (sp.modes, sp.linearize):
        expected, got = found(model, at=unit), found(model, at=longer)
        np.testing.assert_allclose(got.stiffness, expected.stiffness, atol=1e-12)
