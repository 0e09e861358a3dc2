"""Sectional stiffness, inertia and damping from materials, shapes and given matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.section import SolidProperties

U = np.linspace(0.0, 1.0, 3)
STEEL = dict(E=2.1e11, density=7800.0)
SHAPE = sp.Rectangle(0.03, 0.01)


def diagonals(matrices):
    """The diagonals (n, 6), after making sure that nothing else is there."""
    matrices = np.asarray(matrices)
    diagonal = np.einsum("nii->ni", matrices)
    np.testing.assert_array_equal(matrices, np.eye(6) * diagonal[:, :, None])
    return diagonal


def test_stiffness_and_inertia_are_the_textbook_diagonals():
    m = SHAPE.moments(U)
    E, G, rho = 2.1e11, 8e10, 7800.0
    found = SolidProperties(SHAPE, sp.Material(E=E, density=rho, G=G)).matrices(U)
    stiffness = [G * m.torsion, E * m.second_y, E * m.second_z, E * m.area, G * m.area, G * m.area]
    inertia = [rho * m.polar, rho * m.second_y, rho * m.second_z] + [rho * m.area] * 3
    np.testing.assert_allclose(diagonals(found.stiffness), np.stack(stiffness, axis=-1))
    np.testing.assert_allclose(diagonals(found.inertia), np.stack(inertia, axis=-1))
    np.testing.assert_array_equal(found.damping, 0.0)


def test_bending_about_y_is_soft_for_a_section_flat_in_z():
    """second_y = ∫ z² dA: a strip that is thin along z bends easily about y."""
    stiffness = SolidProperties(sp.Rectangle(0.03, 0.001), sp.Material(**STEEL)).matrices(U)
    diagonal = diagonals(stiffness.stiffness)
    assert np.all(diagonal[:, 1] * 100 < diagonal[:, 2])


@pytest.mark.parametrize(
    ("given", "expected"),
    [(dict(), 1 / 2.6), (dict(nu=0.5), 1 / 3), (dict(nu=0.0), 0.5), (dict(G=0.7), 0.7)],
)
def test_shear_modulus_from_g_or_poisson_ratio(given, expected):
    modulus = sp.Material(E=1.0, density=1.0, **given).shear_modulus(np.zeros(1))
    assert modulus == pytest.approx(expected)


def test_stiffness_damping_is_mu_times_stiffness():
    material = sp.Material(**STEEL, damping=sp.StiffnessDamping(0.03))
    found = SolidProperties(SHAPE, material).matrices(U)
    np.testing.assert_allclose(found.damping, 0.03 * found.stiffness, rtol=1e-15)


def test_shear_viscosity_has_trouton_factor_three_on_bending_and_stretch():
    mu, m = 40.0, SHAPE.moments(U)
    found = SolidProperties(SHAPE, sp.Material(**STEEL, damping=sp.ShearViscosity(mu))).matrices(U)
    expected = [mu * m.torsion, 3 * mu * m.second_y, 3 * mu * m.second_z]
    expected += [3 * mu * m.area, mu * m.area, mu * m.area]
    np.testing.assert_allclose(diagonals(found.damping), np.stack(expected, axis=-1))


def test_matrix_damping_is_taken_as_it_is(rng):
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T
    found = SolidProperties(SHAPE, sp.Material(**STEEL, damping=sp.MatrixDamping(matrix)))
    np.testing.assert_array_equal(found.matrices(U).damping, np.broadcast_to(matrix, (3, 6, 6)))


def test_given_properties_take_diagonals_and_full_matrices(rng):
    root = rng.normal(size=(6, 6))
    stiffness = root @ root.T
    found = sp.GivenProperties(stiffness, (1, 2, 3, 4, 4, 4), damping=np.full(6, 0.1)).matrices(U)
    np.testing.assert_array_equal(found.stiffness, np.broadcast_to(stiffness, (3, 6, 6)))
    np.testing.assert_array_equal(diagonals(found.inertia), np.tile([1, 2, 3, 4, 4, 4], (3, 1)))
    np.testing.assert_array_equal(diagonals(found.damping), 0.1)


def test_varying_sections_vary_the_matrices():
    taper = sp.Circle(lambda u: 0.01 * (1 - 0.5 * u))
    found = SolidProperties(taper, sp.Material(**STEEL)).matrices(np.array([0.0, 1.0]))
    ratio = np.asarray(
        found.stiffness[1] / np.where(found.stiffness[0] == 0, 1, found.stiffness[0])
    )
    np.testing.assert_allclose(np.diag(ratio), [1 / 16] * 3 + [1 / 4] * 3)


def test_matrices_are_differentiable_in_dimensions_and_moduli():
    def bending(E, radius):
        properties = SolidProperties(sp.Circle(radius), sp.Material(E=E, density=1.0))
        return jnp.asarray(properties.matrices(U).stiffness)[0, 1, 1]

    by_modulus, by_radius = jax.grad(bending, argnums=(0, 1))(2.0, 0.3)
    second = np.pi * 0.3**4 / 4
    np.testing.assert_allclose([by_modulus, by_radius], [second, 4 * 2.0 * second / 0.3])


def material(**changes):
    return sp.Material(**{**STEEL, **changes})


@pytest.mark.parametrize(
    ("bad", "field", "value"),
    [
        (material(E=-1.0), "material.E", "-1.0"),
        (material(E=np.nan), "material.E", "nan"),
        (material(E="2e11"), "material.E", "'2e11'"),
        (material(density=0.0), "material.density", "0.0"),
        (material(density=-1.0), "material.density", "-1.0"),
        (material(G=-2.0), "material.G", "-2.0"),
        (material(nu=0.6), "material.nu", "0.6"),
        (material(nu=-1.0), "material.nu", "-1.0"),
        (material(nu=np.nan), "material.nu", "nan"),
        (material(G=1.0, nu=0.3), "material", "not both"),
        (material(damping=sp.StiffnessDamping(-1.0)), "damping.mu", "-1.0"),
        (material(damping=sp.ShearViscosity(np.inf)), "damping.mu", "inf"),
        (material(damping=sp.MatrixDamping(np.eye(5))), "damping.values", "(6, 6)"),
        (material(damping=sp.MatrixDamping(-np.eye(6))), "damping.values", "negative eigenvalue"),
        (sp.GivenProperties((-1, 1, 1, 1, 1, 1), (1,) * 6), "section.stiffness", "-1.0"),
        (sp.GivenProperties((1,) * 5, (1,) * 6), "section.stiffness", "(6, 6)"),
        (sp.GivenProperties((1,) * 6, (1, 1, 1, 0, 1, 1)), "section.inertia", "mass per meter"),
        (sp.GivenProperties((1,) * 6, (1,) * 6, (np.nan,) * 6), "section.damping", "nan"),
        (sp.GivenProperties(np.triu(np.ones((6, 6))), (1,) * 6), "section.stiffness", "symmetric"),
    ],
)  # fmt: skip
def test_impossible_properties_are_refused_by_name(bad, field, value):
    with pytest.raises(sp.DescriptionError) as caught:
        bad.check("arm")
    message = str(caught.value)
    assert message.startswith(f"arm: {field}: ")
    assert value in message
    assert "need" in message


def test_graded_materials_follow_their_functions():
    """A rod twice as stiff and three times as dense at its end."""
    graded = sp.Material(E=lambda u: 1e6 * (1 + u), density=lambda u: 1e3 * (1 + 2 * u))
    rod = sp.Rod("rod", 1.0, sp.Circle(0.01), graded)
    plain = sp.Rod("rod", 1.0, sp.Circle(0.01), sp.Material(E=1e6, density=1e3))
    u = np.array([0.0, 0.5, 1.0])
    ours, theirs = (r.sectional().matrices(u) for r in (rod, plain))
    np.testing.assert_allclose(ours.stiffness, theirs.stiffness * (1 + u)[:, None, None])
    np.testing.assert_allclose(ours.inertia, theirs.inertia * (1 + 2 * u)[:, None, None])
