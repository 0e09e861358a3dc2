"""Equilibria through the front door where something is traced: gradients, batches, refusals in words."""

import jax
import numpy as np
import pytest

import supple as sp


def arm(E=1e6, length=0.2, offset=0.005, pull=0.3):
    silicone = sp.Material(E=E, density=1100.0)
    return sp.Robot(
        sp.Rod("arm", length, sp.Circle(0.01), silicone, basis=2),
        sp.Tendon("left", on="arm", offset=(0.0, offset), tension=pull),
    )


def tip(E, length, offset, pull):
    return sp.equilibrium(arm(E, length, offset, pull)).position("arm")[2]


def test_gradients_are_those_of_differences():
    """By modulus, length, routing and load, in both modes."""
    at = np.array([1e6, 0.2, 0.005, 0.3])
    back = np.array(jax.jit(jax.grad(tip, argnums=(0, 1, 2, 3)))(*at))
    forward = np.array(jax.jit(jax.jacfwd(tip, argnums=(0, 1, 2, 3)))(*at))
    np.testing.assert_allclose(back, forward, rtol=1e-9)
    for k in range(4):
        steps = np.eye(4)[k] * at * 1e-4
        ends = [float(sp.equilibrium(arm(*(at + s * steps))).position("arm")[2]) for s in (1, -1)]
        assert back[k] == pytest.approx((ends[0] - ends[1]) / (2e-4 * at[k]), rel=1e-6)


def test_batches_are_equilibria_one_by_one():
    moduli = np.array([5e5, 1e6, 2e6])
    found = sp.batch(sp.equilibrium)([arm(E) for E in moduli])
    assert isinstance(found, sp.Equilibrium)
    assert [sp.EquilibriumStatus(s).name for s in found.status] == ["CONVERGED"] * 3
    for k, E in enumerate(moduli):
        np.testing.assert_allclose(found.q[k], sp.equilibrium(arm(E)).q, atol=1e-9)


@pytest.mark.parametrize("asked", ["simulate", "linearize", "inverse_statics"])
def test_what_cannot_be_traced_says_what_can(asked):
    ask = {
        "simulate": lambda r: sp.simulate(r, 0.1).q[-1, 0],
        "linearize": lambda r: sp.linearize(r).A[0, 0],
        "inverse_statics": lambda r: sp.inverse_statics(r, "arm", [[0.1, 0, 0]]).error[0],
    }
    with pytest.raises(sp.ArgumentError, match=f"{asked}: got 'robot' with traced numbers"):
        jax.grad(lambda E: ask[asked](arm(E)))(1e6)
