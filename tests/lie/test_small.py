"""Small products, written out or not, against NumPy."""

import numpy as np
import pytest

from supple.lie import small


@pytest.mark.parametrize("count", [1, 2, 200])
def test_products_and_inverses_are_those_of_numpy(rng, count):
    A, B = rng.normal(size=(2, count, 3, 3))
    eye = np.broadcast_to(np.eye(3), A.shape)
    np.testing.assert_allclose(small.product(A, B), A @ B, atol=1e-14)
    np.testing.assert_allclose(small.product(A, B[0]), A @ B[0], atol=1e-14)
    np.testing.assert_allclose(
        small.times(A, B[:, 0]), np.einsum("nij,nj->ni", A, B[:, 0]), atol=1e-14
    )
    np.testing.assert_allclose(small.inverse(A) @ A, eye, atol=1e-11)


def test_long_rows_are_multiplied_too(rng):
    A, B = rng.normal(size=(6, 40)), rng.normal(size=(40, 6))
    np.testing.assert_allclose(small.product(A, B), A @ B, atol=1e-12)
