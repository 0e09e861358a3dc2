"""Which strains a rod has: named rod models, mixed bases, and the matrix Φ they make."""

import jax.numpy as jnp
import numpy as np
import pytest

from supple.errors import DescriptionError
from supple.strain import Legendre, PiecewiseConstant, strain_field
from supple.strain.field import ROD_MODELS, STRAINS

U = np.linspace(0.0, 1.0, 9)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        ("rigid", []),
        ("planar", [2]),
        ("planar-extensible", [2, 3]),
        ("planar-reissner", [2, 3, 4]),
        ("bending", [1, 2]),
        ("kirchhoff", [0, 1, 2]),
        ("extensible-kirchhoff", [0, 1, 2, 3]),
        ("reissner", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_named_models_allow_their_strains(model, rows):
    field = strain_field("rod", model, 2)
    assert set(field.rows) == set(rows)
    assert field.count == 2 * len(rows)


def test_every_named_model_is_tested_above():
    assert len(ROD_MODELS) == 8


def test_an_integer_basis_is_a_number_of_legendre_modes():
    assert strain_field("rod", "planar", 3).components == ((2, Legendre(2)),)


def test_values_put_each_basis_in_the_row_of_its_strain():
    bases = {"gx": Legendre(0), "kz": Legendre(2), "kx": PiecewiseConstant(2)}
    field = strain_field("rod", ("kx", "kz", "gx"), bases)
    phi = field.values(U)
    assert field.rows == (0, 0, 2, 2, 2, 3)
    assert phi.shape == (len(U), 6, 6)
    for column, row in enumerate(field.rows):
        others = np.delete(phi[:, :, column], row, axis=1)
        np.testing.assert_array_equal(others, 0.0)
    np.testing.assert_array_equal(phi[:, 0, :2], bases["kx"].values(U))
    np.testing.assert_array_equal(phi[:, 2, 2:5], bases["kz"].values(U))
    np.testing.assert_array_equal(phi[:, 3, 5:], bases["gx"].values(U))


def test_degree_and_breaks_are_those_of_all_components():
    bases = {"kx": PiecewiseConstant((0.5, 0.8)), "ky": PiecewiseConstant((0.2, 0.5)), "kz": 5}
    field = strain_field("rod", "kirchhoff", bases)
    assert field.breaks == (0.2, 0.5, 0.8)
    assert field.degree == 4


def test_order_of_the_names_does_not_matter():
    assert strain_field("rod", ("gx", "kz"), 2) == strain_field("rod", ("kz", "gx"), 2)


def test_jax_and_numpy_give_the_same_field():
    field = strain_field("rod", "reissner", {name: k + 1 for k, name in enumerate(STRAINS)})
    np.testing.assert_allclose(field.values(jnp.asarray(U)), field.values(U), atol=1e-14)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("strains", "basis", "part"),
    [
        ("kirchoff", 2, "'kirchoff'"),
        ((), 2, "at least one"),
        (("kx", "kx"), 2, "distinct"),
        (("kx", "bend"), 2, "'bend'"),
        ("planar", 0, "got 0"),
        ("planar", -2, "got -2"),
        ("planar", 2.5, "got 2.5"),
        ("planar", "three", "'three'"),
        ("planar", True, "got True"),
        ("planar", {"kx": 2}, "'kx'"),
        ("kirchhoff", {"kx": 2, "ky": 2}, "'kz'"),
    ],
)
def test_bad_fields_are_refused_by_name(strains, basis, part):
    with pytest.raises(DescriptionError) as caught:
        strain_field("arm", strains, basis)
    message = str(caught.value)
    assert message.startswith("arm: ")
    assert part in message
    assert "need" in message
