"""Limits with textbook formulas: pendulums, a spinning body, a cantilever with one mode.

All of them stand side by side on one ground, as one robot, so that one compilation serves all.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.mechanics.frames import find_joint, find_rod
from supple.mechanics.local import neutral
from tests.samples import accelerate, at, tangent

TOL = 1e-12  # closed forms against the same numbers by another way
G = 9.81

# Pendulum: hinge about y, mass centre 0.3 m below it, inertia about the mass centre.
MASS, ARM, INERTIA = 0.7, 0.3, 0.02
# Double pendulum: two point masses on massless links.
M1, M2, L1, L2 = 0.5, 0.3, 0.4, 0.6
SPIN = np.array([1e-2, 2e-2, 2.5e-2])
# Cantilever along x, bending in the vertical plane, constant curvature.
LENGTH, RADIUS, E, DENSITY, FORCE, MOMENT = 0.8, 0.004, 5e9, 1200.0, 1e-3, 2e-3
AREA, SECOND = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4


def muscle(X, t):
    zero = 0 * X
    return jnp.stack([zero, zero, zero + MOMENT, zero, zero, zero], axis=-1)


@cache
def museum():
    return sp.Robot(
        sp.Body("bob", mass=MASS, inertia=(0.0, INERTIA, INERTIA), com=(0, 0, -ARM),
                joint=sp.Revolute("y")),
        sp.Body("upper", mass=M1, com=(0, 0, -L1), joint=sp.Revolute("y"), position=(2, 0, 0)),
        sp.Body("lower", parent="upper", mass=M2, com=(0, 0, -L2), joint=sp.Revolute("y"),
                position=(0, 0, -L1)),
        sp.Body("top", mass=0.5, inertia=SPIN, joint=sp.Free()),
        # The rod's local y points up: gravity bends it about its z.
        sp.Rod("beam", length=LENGTH, section=sp.Circle(RADIUS), strains="planar", basis=1,
               material=sp.Material(E=E, density=DENSITY), rotation=(np.pi / 2, 0, 0)),
        sp.Wrench("push", on="beam", force=(0, 0, FORCE)),
        sp.Stress("muscle", on="beam", stress=muscle),
    ).build()  # fmt: skip


def put(array, model, name, values, *, velocity):
    slot = find_joint(model, name)
    array[slot.v if velocity else slot.q] = values


def state():
    model = museum()
    return model, neutral(model), np.zeros(model.nv)


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0, np.pi, -3.0])
def test_a_pendulum_accelerates_by_its_formula(angle):
    model, q, v = state()
    put(q, model, "bob", angle, velocity=False)
    put(v, model, "bob", 1.7, velocity=True)
    found = accelerate(model, q, v, 0.0)[find_joint(model, "bob").v]
    expected = -MASS * G * ARM * np.sin(angle) / (INERTIA + MASS * ARM**2)
    np.testing.assert_allclose(found, [expected], atol=TOL * 100)


def test_a_double_pendulum_accelerates_by_its_equations(rng):
    """Absolute angles θ from the vertical: M(θ) θ̈ = f, as in any mechanics book."""
    model, q, v = state()
    for _ in range(4):
        one, two = rng.uniform(-3, 3, 2)
        w1, w2 = rng.normal(size=2)
        put(q, model, "upper", one, velocity=False)
        put(q, model, "lower", two - one, velocity=False)
        put(v, model, "upper", w1, velocity=True)
        put(v, model, "lower", w2 - w1, velocity=True)
        d = one - two
        matrix = np.array([[(M1 + M2) * L1, M2 * L2 * np.cos(d)], [L1 * np.cos(d), L2]])
        right = np.array(
            [
                -M2 * L2 * w2**2 * np.sin(d) - (M1 + M2) * G * np.sin(one),
                L1 * w1**2 * np.sin(d) - G * np.sin(two),
            ]
        )
        a1, a2 = np.linalg.solve(matrix, right)
        found = np.asarray(accelerate(model, q, v, 0.0))
        upper, lower = (found[find_joint(model, n).v][0] for n in ("upper", "lower"))
        np.testing.assert_allclose([upper, upper + lower], [a1, a2], rtol=1e-10)


def test_a_free_body_obeys_eulers_equations(rng):
    model, q, v = state()
    for _ in range(3):
        quaternion = Rotation.random(random_state=int(rng.integers(100))).as_quat(scalar_first=True)
        position, omega, velocity = rng.normal(size=(3, 3))
        put(q, model, "top", np.concatenate([quaternion, position]), velocity=False)
        put(v, model, "top", np.concatenate([omega, velocity]), velocity=True)
        found = np.asarray(accelerate(model, q, v, 0.0))[find_joint(model, "top").v]
        np.testing.assert_allclose(found[:3], -np.cross(omega, SPIN * omega) / SPIN, atol=1e-12)
        np.testing.assert_allclose(found[3:], [0, 0, -G], atol=1e-12)


def test_one_mode_cantilever_has_the_rayleigh_ritz_numbers():
    """Deflection κ s²/2: stiffness EI L, mass ρA L⁵/20 + ρI L³/3, weight ρA g L³/6, force F L²/2."""
    model, q, v = state()
    found = tangent(model, at(q, v))
    slot = find_rod(model, "beam").v
    weight = DENSITY * AREA * G * LENGTH**3 / 6
    np.testing.assert_allclose(
        found.residual[slot], [weight - FORCE * LENGTH**2 / 2 + MOMENT * LENGTH], rtol=1e-10
    )
    mass = DENSITY * (AREA * LENGTH**5 / 20 + SECOND * LENGTH**3 / 3)
    np.testing.assert_allclose(found.mass[slot, slot], [[mass]], rtol=1e-10)
    # Weight and force turn with the rod, to first order along it: no stiffness from a straight one.
    np.testing.assert_allclose(found.stiffness[slot, slot], [[E * SECOND * LENGTH]], rtol=1e-10)


def test_one_mode_cantilever_deflects_by_the_ritz_formula():
    """A tip force alone gives κ = F L / 2EI, a deflection F L³ / 4EI (three quarters of the exact)."""
    model, q, v = state()
    slot = find_rod(model, "beam")
    curvature = FORCE * LENGTH / (2 * E * SECOND)
    q[slot.q] = curvature
    residual = np.asarray(tangent(model, at(q, v)).residual)[slot.v]
    others = DENSITY * AREA * G * LENGTH**3 / 6 + MOMENT * LENGTH
    force = FORCE * LENGTH**2 / 2
    # Small deflections: the formulas hold to the square of the angle κL.
    angle = curvature * LENGTH
    assert angle < 0.1
    np.testing.assert_allclose(residual, others, atol=angle**2 * (others + force))


def test_what_stands_side_by_side_does_not_interact(rng):
    model, q, _ = state()
    found = tangent(model, at(q, rng.normal(size=model.nv)))
    chain = {i for n in ("upper", "lower") for i in range(model.nv)[find_joint(model, n).v]}
    others = sorted(set(range(model.nv)) - chain)
    for matrix in found[1:]:
        np.testing.assert_array_equal(np.asarray(matrix)[np.ix_(sorted(chain), others)], 0.0)
