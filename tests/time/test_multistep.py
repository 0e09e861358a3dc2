"""Backward differentiation: its formula, changing steps, and what it does to vibrations."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.time.multistep import _formula


@pytest.mark.parametrize("alpha", [0.0, -0.2, -0.48, -0.5])
def test_equal_steps_give_the_published_coefficients(alpha):
    h = 0.1
    found = _formula(jnp.array([h, 2 * h]), alpha)
    c = np.array([1.5 + alpha, -2 * (1 + alpha), 0.5 + alpha]) / (h * (1 + alpha))
    assert float(found.new) == pytest.approx(c[0])
    assert np.allclose(found.old, c[1:], atol=1e-12)
    assert float(found.slope) == pytest.approx(alpha / (1 + alpha))


@pytest.mark.parametrize("ago", [(0.1, 0.25), (0.1, 0.17, 0.4)])
@pytest.mark.parametrize("alpha", [0.0, -0.3])
def test_the_formula_is_exact_for_polynomials_whatever_the_steps(ago, alpha):
    """And its error, on the first polynomial that it does not see, is what it tells."""
    w, times = _formula(jnp.array(ago), alpha), -np.array(ago)
    for power in range(len(ago) + 1):
        value = lambda t, k=power: np.asarray(t, float) ** k
        slope = power * times[0] ** (power - 1) if power else 0.0
        wanted = 1.0 if power == 1 else 0.0
        found = w.new * value(0.0) + w.old @ value(times) + w.slope * slope
        assert float(found) == pytest.approx(wanted, abs=1e-11)
        assert float(w.predicts @ value(times) + w.predicts_slope * slope) == pytest.approx(
            float(value(0.0)), abs=1e-12
        )
    power = len(ago) + 1
    slope = power * times[0] ** (power - 1)
    solved = -(w.old @ times**power + w.slope * slope) / w.new  # ẏ = 0 there
    predicted = w.predicts @ times**power + w.predicts_slope * slope
    assert abs(float(solved)) == pytest.approx(abs(float(w.error * (solved - predicted))), rel=1e-9)


def oscillator():
    spring = sp.Body(
        "bob", mass=1.0, inertia=(0.1, 0.1, 0.1), joint=sp.Prismatic("x", stiffness=1.0)
    )
    model = sp.Robot(spring, gravity=(0, 0, 0)).build()
    return model, sp.initial_state(model, q=[1.0])


def growth(scheme, h, steps=400):
    """Of the amplitude in a step, late in a run."""
    model, state = oscillator()
    found = sp.rollout(model, state, scheme, h, steps).states
    size = np.hypot(found.q[:, 0], found.v[:, 0])
    half = steps // 2
    return float((size[half + 100 :].max() / size[half - 100 : half].max()) ** (1 / half))


@pytest.mark.parametrize("alpha", [0.0, -0.2, -0.48])
def test_numerical_damping_is_that_of_linear_theory(alpha):
    """|z| of (1 + α) (z² …): with ẏ = i ω y the formula's root of largest modulus."""
    h = 0.3
    c = [1.5 + alpha, -2 * (1 + alpha), 0.5 + alpha]
    # (1+α) iω z² = α iω z + (c · (z², z, 1)) / h
    poly = np.array([c[0] / h - 1j * (1 + alpha), c[1] / h + 1j * alpha, c[2] / h])
    wanted = np.abs(np.roots(poly)).max()
    assert growth(sp.bdf_alpha(alpha), h) == pytest.approx(wanted, abs=2e-4)


def test_bdf3_is_unstable_below_its_limit_only():
    assert growth(sp.bdf3(), 1.8, 300) > 1.001
    assert growth(sp.bdf3(), 2.1, 300) < 0.999


def test_an_accuracy_is_reached_with_changing_steps():
    model, state = oscillator()
    for scheme in (sp.bdf2(), sp.bdf_alpha(-0.4)):
        found = sp.simulate(model, 6.0, accuracy=1e-3, scheme=scheme, initial=state)
        assert abs(found.q[-1, 0] - np.cos(6.0)) < 5e-3
        assert len(set(np.round(np.diff(found.t), 9))) > 3


def test_alpha_is_checked():
    with pytest.raises(sp.DescriptionError, match="alpha"):
        sp.bdf_alpha(-0.7)
