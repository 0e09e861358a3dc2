"""Inverse dynamics against an independent strong form, and its parts against what they mean."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.mechanics.frames import frame_motion
from supple.mechanics.inverse_dynamics import (
    element_stiffness,
    inverse_dynamics,
    rod_viscosity,
)
from supple.section import SolidProperties
from tests.mechanics import strong_form
from tests.samples import (
    BENT,
    DEAD,
    FLAT,
    RUBBER,
    at,
    model_of,
    moving,
    random_configuration,
    random_vector,
    residual,
    rod,
)
from tests.tools import jit

TOL = 1e-8  # relative; the fine grid and DOP853 both resolve rods of 3 rad better than this
TOL_EXACT = 1e-12  # the same sums in another order

HEAVY = dict(mass=0.5, inertia=(2e-3, 3e-3, 4e-3), com=(0.1, 0.02, -0.03))
GRAVITY = np.array([1.0, -2.0, -9.0])


TAPER = sp.Rectangle(lambda u: 0.03 - 0.015 * u, 0.02)


def full_properties() -> sp.GivenProperties:
    """Stiffness and damping that couple all strains; sections whose mass is off their center."""
    rng = np.random.default_rng(5)
    stiffness, damping = (
        np.diag(scale) @ (np.eye(6) + 0.1 * (root + root.T)) @ np.diag(scale)
        for root, scale in zip(
            rng.uniform(-1, 1, (2, 6, 6)), (np.array([1, 1, 2, 20, 20, 20]), np.full(6, 0.3)),
            strict=True,
        )
    )  # fmt: skip
    inertia = strong_form.spatial(0.6, np.diag([3e-5, 2e-5, 1e-5]), (0.002, -0.004, 0.003))
    return sp.GivenProperties(stiffness, inertia, damping)


def strong(model, properties, q, v, a, rest, **options):
    field = model.groups[-1].grid.field

    def matrices(u):
        found = properties.matrices(np.array([u]))
        return found.stiffness[0], found.inertia[0], found.damping[0]

    return strong_form.inverse_dynamics(
        lambda u: field.values(np.array([u]))[0],
        lambda u: np.array(rest),
        matrices,
        1.0,
        (q, v, a),
        GRAVITY,
        **options,
    )


def agree(found, expected, tolerance):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def test_a_tapered_clamped_rod_with_a_dead_tip_load_agrees_with_the_strong_form(rng):
    robot = sp.Robot(
        rod(nodes=18, section=TAPER), sp.Wrench("tip", on="arm", **DEAD), gravity=GRAVITY
    )
    model = robot.build()
    q = random_configuration(model, rng)
    v, a = random_vector(model, rng, 1.0, 3.0), random_vector(model, rng, 1.0, 10.0)

    def tip(rotation):
        force, moment = (rotation.T @ np.array(DEAD[k]) for k in ("force", "moment"))
        return np.concatenate([moment + np.cross(DEAD["position"], force), force])

    properties = SolidProperties(TAPER, RUBBER)
    expected = strong(model, properties, q, v, a, (0, 0, 0, 1, 0, 0), tip_wrench=tip)
    agree(residual(model, at(q, v, a)), expected, TOL)


def test_a_coupled_rod_on_a_moving_base_with_a_tool_agrees_with_the_strong_form(rng):
    properties = full_properties()
    robot = sp.Robot(
        sp.Rod(
            "arm", length=1.0, nodes=18, strains="reissner", basis=2, rest=BENT,
            properties=properties, joint=sp.Driven(moving),
        ),
        sp.Body("tool", parent="arm", **HEAVY),
        gravity=GRAVITY,
    )  # fmt: skip
    model = robot.build()
    q = random_configuration(model, rng)
    v, a = random_vector(model, rng, 1.0, 3.0), random_vector(model, rng, 1.0, 10.0)
    t = 0.7
    inertia = strong_form.spatial(HEAVY["mass"], np.diag(HEAVY["inertia"]), HEAVY["com"])
    expected = strong(model, properties, q, v, a, BENT, base=driven_base(t), tip_inertia=inertia)
    agree(residual(model, at(q, v, a, t)), expected, TOL)


def driven_base(t: float) -> strong_form.Base:
    """The driven motion by central differences of order 8 of its pose."""

    def pose(t):
        position, vector = (np.array(x) for x in moving(t))
        return Rotation.from_rotvec(vector).as_matrix(), position

    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])

    def derivative(function, t, h=0.02):
        return (
            sum(w * function(t + k * h) for k, w in zip(range(-4, 5), weights, strict=True) if w)
            / h
        )

    def twist(t):
        rotation, _ = pose(t)
        spin = rotation.T @ derivative(lambda s: pose(s)[0], t)
        angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        return np.concatenate([angular, rotation.T @ derivative(lambda s: pose(s)[1], t)])

    return strong_form.Base(*pose(t), twist(t), derivative(twist, t))


def test_loads_enter_by_the_jacobian_of_their_point(rng):
    """R with a load less R without it is -Jᵀ F, for a dead and for a follower wrench."""
    model = model_of("crawler")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    full = residual(model, at(q, v))
    force, moment, place = (np.array(DEAD[k]) for k in ("force", "moment", "position"))
    jacobians = jit(
        lambda m, q: (
            frame_motion(m, "arm", q, fraction=0.5),
            frame_motion(m, "fin", q),
        )
    )(model, q)
    for k, motion in enumerate(jacobians):
        values = [load.value for load in model.loads]
        values[k] = 0 * values[k]
        without = eqx.tree_at(lambda m: [load.value for load in m.loads], model, values)
        turn = np.eye(3) if k == 1 else np.asarray(motion.pose.rotation).T
        f, m = turn @ force, turn @ moment
        wrench = np.concatenate([m + np.cross(place, f), f])
        expected = -np.asarray(motion.jacobian).T @ wrench
        agree(full - residual(without, at(q, v)), expected, 1e-10)


def test_internal_stress_enters_by_its_work_on_the_strain_rate():
    """∫ Φᵀ Λ dX: a constant Λ works on the mean of each strain, one linear in X on its slope too."""

    def stress(X, t):
        zero = 0 * X
        return jnp.stack([zero + 0.2, zero, t * (1 + X), zero, zero, zero], axis=-1)

    plain = sp.Robot(rod(length=2.0), gravity=(0, 0, 0)).build()
    active = sp.Robot(rod(length=2.0), sp.ActiveStress("muscle", on="arm", stress=stress),
                      gravity=(0, 0, 0)).build()  # fmt: skip
    zero = np.zeros(9)
    gap = residual(active, at(zero, zero, zero, 3.0)) - residual(plain, at(zero, zero, zero, 3.0))
    # Legendre modes: ∫ P₀ = 2, and X = 1 + (2u - 1): ∫ P₀ X = 2, ∫ P₁ X = 2/3 over two meters.
    expected = [0.4, 0, 0, 0, 0, 0, 3 * (2 + 2), 3 * 2 / 3, 0]
    np.testing.assert_allclose(gap, expected, atol=TOL_EXACT)


def test_rod_matrices_integrate_sectional_ones():
    """Legendre modes are orthogonal: ∫ P_k² = 1/(2k+1), so K is diagonal for a uniform rod."""
    model = model_of("clamped")
    stiffness, damping = element_stiffness(model, 0), rod_viscosity(model.groups[0])
    found = SolidProperties(FLAT, RUBBER).matrices(np.array([0.5]))
    H, D = found.stiffness[0], found.damping[0]
    expected = np.kron(H.diagonal()[:3], 1 / (2 * np.arange(3) + 1))
    np.testing.assert_allclose(stiffness[0], np.diag(expected), atol=1e-12 * expected.max())
    np.testing.assert_allclose(damping[0], 0.02 * stiffness[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(D, 0.02 * H)


def test_gravity_can_be_differentiated(rng):
    """Parameters are arrays: the derivative by gravity is minus the first moment's Jacobian."""
    model = model_of("clamped")
    q, v = random_configuration(model, rng), np.zeros(model.nv)

    def by_gravity(gravity):
        return inverse_dynamics(eqx.tree_at(lambda m: m.gravity, model, gravity), at(q, v))

    slope = jit(jax.jacfwd(by_gravity))(model.gravity)
    up = residual(eqx.tree_at(lambda m: m.gravity, model, np.zeros(3)), at(q, v))
    agree(np.asarray(slope) @ model.gravity, np.asarray(residual(model, at(q, v)) - up), 1e-12)


def test_load_factor_scales_weight_and_loads_but_not_elasticity(rng):
    model = model_of("clamped")
    q, v = random_configuration(model, rng), np.zeros(model.nv)

    def scaled(factor):
        loaded = eqx.tree_at(lambda m: m.load_factor, model, np.asarray(factor))
        return np.asarray(residual(loaded, at(q, v)))

    elastic = np.asarray(element_stiffness(model, 0))[0] @ q
    agree(scaled(0.0), elastic, TOL_EXACT)
    agree(scaled(0.5), (scaled(0.0) + scaled(1.0)) / 2, TOL_EXACT)


@pytest.mark.parametrize("robot", ["clamped", "crawler"])
def test_time_enters_only_through_laws_and_driven_joints(rng, robot):
    model = model_of(robot)
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 2.0)
    np.testing.assert_array_equal(
        residual(model, at(q, v, t=0.0)), residual(model, at(q, v, t=5.0))
    )
