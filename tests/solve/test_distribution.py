"""Distributions of tensions against a general solver of quadratic programs."""

import numpy as np
from scipy.optimize import lsq_linear, minimize

import supple as sp
from tests.tools import jit

distribute = jit(sp.distribute)


def test_they_are_those_of_a_general_solver(rng):
    for _ in range(20):
        arms = rng.normal(size=(3, 5))
        most = 40.0
        wanted = arms @ rng.uniform(2.0, 20.0, 5)  # can be done
        found = distribute(arms, wanted, 2.0, most)
        assert found.feasible
        t = np.asarray(found.tension)
        assert t.min() >= 2.0
        assert t.max() <= most
        np.testing.assert_allclose(arms @ t, wanted, atol=1e-8 * np.abs(wanted).max())
        other = minimize(
            lambda t: 0.5 * np.sum((t - 2.0) ** 2), np.full(5, 10.0), jac=lambda t: t - 2.0,
            bounds=[(2.0, most)] * 5, constraints={"type": "eq", "fun": lambda t: arms @ t - wanted,  # noqa: B023
                                                    "jac": lambda t: arms},  # noqa: B023
            method="SLSQP", options={"ftol": 1e-14, "maxiter": 300},
        )  # fmt: skip
        np.testing.assert_allclose(t, other.x, atol=1e-4)


def test_what_cannot_be_done_is_told_and_done_as_far_as_possible():
    arms = np.array([[1.0, -1.0, 0.5], [0.2, 0.3, -1.0]])
    wanted = np.array([100.0, 0.0])
    found = distribute(arms, wanted, 1.0, 10.0)
    assert not found.feasible
    nearest = lsq_linear(arms, wanted, (1.0, 10.0)).x
    missing = np.linalg.norm(arms @ np.asarray(found.tension) - wanted)
    assert missing < 1.05 * np.linalg.norm(arms @ nearest - wanted)
