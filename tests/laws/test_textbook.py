"""Limits with textbook formulas: pendulums, a spinning body, a cantilever with one mode.

All of them stand side by side on one ground, as one robot, so that one compilation serves all.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.mechanics.element_motion import neutral
from supple.mechanics.frames import find_joint, find_rod
from tests.samples import accelerate, at
from tests.tools import tangent

TOL = 1e-12  # closed forms against the same numbers by another way
G = 9.81

# Pendulum: hinge about y, mass center 0.3 m below it, inertia about the mass center.
MASS, ARM, INERTIA = 0.7, 0.3, 0.02
# Double pendulum: two point masses on massless links.
M1, M2, L1, L2 = 0.5, 0.3, 0.4, 0.6
SPIN = np.array([1e-2, 2e-2, 2.5e-2])
PITCH, SLOPE, OFF = 0.2, (0.6, 0.0, -0.8), np.array([0.1, 0.0, 0.3])
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
        sp.Body("nut", mass=0.8, inertia=SPIN, joint=sp.Helical("z", pitch=PITCH)),
        sp.Body("sledge", mass=0.8, joint=sp.Prismatic(SLOPE)),
        sp.Body("gyroscope", mass=0.8, inertia=SPIN, com=OFF, joint=sp.Spherical()),
        # The rod's local y points up: gravity bends it about its z.
        sp.Rod("beam", length=LENGTH, section=sp.Circle(RADIUS), strains="planar", basis=1,
               material=sp.Material(E=E, density=DENSITY), rotation=(np.pi / 2, 0, 0)),
        sp.Wrench("push", on="beam", force=(0, 0, FORCE)),
        sp.ActiveStress("muscle", on="beam", stress=muscle),
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


def test_a_nut_runs_down_its_screw():
    """Turning by θ sinks it by pθ: (I + m p²) θ̈ = -m g p."""
    model, q, v = state()
    found = accelerate(model, q, v, 0.0)[find_joint(model, "nut").v]
    np.testing.assert_allclose(found, [-0.8 * G * PITCH / (SPIN[2] + 0.8 * PITCH**2)], rtol=1e-12)


def test_a_sledge_slides_down_its_slope():
    model, q, v = state()
    found = accelerate(model, q, v, 0.0)[find_joint(model, "sledge").v]
    np.testing.assert_allclose(found, [0.8 * G], rtol=1e-12)


def test_a_gyroscope_obeys_eulers_equations_about_its_pivot(rng):
    """I ω̇ + ω × I ω = c × m Rᵀ g, with the inertia about the pivot by Steiner's theorem."""
    model, q, v = state()
    turn = Rotation.from_rotvec(rng.normal(size=3))
    omega = rng.normal(size=3)
    put(q, model, "gyroscope", turn.as_quat(scalar_first=True), velocity=False)
    put(v, model, "gyroscope", omega, velocity=True)
    inertia = np.diag(SPIN) + 0.8 * (OFF @ OFF * np.eye(3) - np.outer(OFF, OFF))
    weight = turn.inv().apply([0, 0, -0.8 * G])
    expected = np.linalg.solve(inertia, np.cross(OFF, weight) - np.cross(omega, inertia @ omega))
    found = accelerate(model, q, v, 0.0)[find_joint(model, "gyroscope").v]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


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
    for matrix in (found.mass, found.damping, found.stiffness):
        np.testing.assert_array_equal(np.asarray(matrix)[np.ix_(sorted(chain), others)], 0.0)


LINKS = 9


@cache
def necklace():
    """Nine point masses on massless links of one meter, hinged about y, described back to front."""
    beads = [
        sp.Body(
            f"bead {k}", mass=1.0, com=(1, 0, 0), joint=sp.Revolute("-y"),
            parent=f"bead {k - 1}" if k else "ground", position=(1, 0, 0) if k else (0, 0, 0),
        )
        for k in range(LINKS)
    ]  # fmt: skip
    return sp.Robot(*reversed(beads)).build()


def absolute(model):
    """Matrix from absolute link angles to joint coordinates (θ_k - θ_{k-1}), in the model's order."""
    matrix = np.zeros((LINKS, LINKS))
    for k in range(LINKS):
        row = find_joint(model, f"bead {k}").v_start
        matrix[row, k] = 1.0
        if k:
            matrix[row, k - 1] = -1.0
    return matrix


def test_a_long_chain_has_the_textbook_mass_matrix_and_weight(rng):
    """Absolute angles: M_ij = (n - max(i, j)) cos(θ_i - θ_j), force (n - i) g cos θ_i."""
    model = necklace()
    to_joints = absolute(model)
    angles = rng.uniform(-3, 3, LINKS)
    found = tangent(model, at(to_joints @ angles, np.zeros(LINKS)))
    k = np.arange(LINKS)
    carried = LINKS - np.maximum(k[:, None], k)
    expected = carried * np.cos(angles[:, None] - angles)
    mass = to_joints.T @ np.asarray(found.mass) @ to_joints
    np.testing.assert_allclose(mass, expected, atol=1e-11)
    weight = to_joints.T @ np.asarray(found.residual)
    np.testing.assert_allclose(weight, (LINKS - k) * G * np.cos(angles), atol=1e-11)


def test_a_long_chain_feels_the_centrifugal_forces_of_the_textbook(rng):
    """Σ_j (n - max(i, j)) sin(θ_i - θ_j) θ̇_j²."""
    model = necklace()
    to_joints = absolute(model)
    angles, rates = rng.uniform(-3, 3, (2, LINKS))
    q, v = to_joints @ angles, to_joints @ rates
    gap = np.asarray(tangent(model, at(q, v)).residual - tangent(model, at(q, 0 * v)).residual)
    k = np.arange(LINKS)
    carried = LINKS - np.maximum(k[:, None], k)
    expected = (carried * np.sin(angles[:, None] - angles)) @ rates**2
    np.testing.assert_allclose(to_joints.T @ gap, expected, atol=1e-10)
