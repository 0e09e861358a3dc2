"""Observed order of every scheme on a tumbling, floating body with a flexible tail."""

import numpy as np
import pytest

import supple as sp
from supple.solve.newton import NewtonSettings

DURATION = 0.24
TIGHT = NewtonSettings(tolerance=1e-13, max_iterations=30)  # errors down to 1e-12 are measured


@pytest.fixture(scope="module")
def tumbler():
    """A free, asymmetric body with a soft rod: orientation, elasticity and coupling in one."""
    tail = sp.Material(E=2e5, density=1000.0)
    robot = sp.Robot(
        sp.Body(
            "hub", mass=0.3, inertia=(2e-3, 3e-3, 4e-3), com=(0.02, 0.0, 0.01), joint=sp.Free()
        ),
        sp.Rod("tail", 0.4, sp.Circle(0.01), tail, parent="hub", strains="bending", basis=1),
    )
    model = robot.build()
    v = np.zeros(model.nv)
    v[:6] = (4.0, -3.0, 5.0, 0.3, 0.2, 0.1)
    state = sp.initial_state(model, v=v)
    exact = sp.simulate(model, DURATION, initial=state, dt=DURATION / 96, scheme=sp.gauss(3, TIGHT))
    assert exact.ok
    return model, state, exact.position("tail")[-1]


def tip_error(tumbler, scheme, steps):
    model, state, exact = tumbler
    result = sp.simulate(model, DURATION, initial=state, dt=DURATION / steps, scheme=scheme)
    assert result.ok
    assert result.stats.rejected == 0
    return np.linalg.norm(result.position("tail")[-1] - exact)


# (scheme, order, coarse number of steps, allowed deviation of the observed order)
SCHEMES = [
    pytest.param(sp.newmark(), 2, 24, 0.2, id="newmark"),
    pytest.param(sp.hht(0.8), 2, 24, 0.2, id="hht"),
    pytest.param(sp.wbz(0.8), 2, 24, 0.2, id="wbz"),
    pytest.param(sp.generalized_alpha(0.8), 2, 24, 0.2, id="generalized-alpha"),
    pytest.param(sp.ImplicitEuler(), 1, 96, 0.2, id="implicit-euler"),
    pytest.param(sp.LinearlyImplicitEuler(), 1, 96, 0.2, id="linearly-implicit-euler"),
    pytest.param(sp.bdf2(), 2, 96, 0.2, id="bdf2"),
    pytest.param(sp.bdf_alpha(-0.2), 2, 96, 0.2, id="bdf-alpha"),
    pytest.param(sp.bdf3(TIGHT), 3, 96, 0.3, id="bdf3"),
    pytest.param(sp.radau(2, TIGHT), 3, 12, 0.35, id="radau2"),
    pytest.param(sp.radau(3, TIGHT), 5, 6, 0.5, id="radau3"),
    pytest.param(sp.gauss(2, TIGHT), 4, 12, 0.35, id="gauss2"),
    pytest.param(sp.gauss(3, TIGHT), 6, 5, 0.6, id="gauss3"),
    pytest.param(sp.Explicit("rk4"), 4, 32, 0.4, id="rk4"),
]


@pytest.mark.parametrize(("scheme", "order", "steps", "slack"), SCHEMES)
def test_observed_order(tumbler, scheme, order, steps, slack):
    assert scheme.order == order
    coarse, fine = (tip_error(tumbler, scheme, n) for n in (steps, 2 * steps))
    assert fine > 1e-13, "too accurate to measure"
    assert abs(np.log2(coarse / fine) - order) < slack


def test_momentum_of_free_flight_is_conserved_by_gauss(tumbler):
    _, state, _ = tumbler
    drifting = sp.Robot(
        sp.Body(
            "hub", mass=0.3, inertia=(2e-3, 3e-3, 4e-3), com=(0.02, 0.0, 0.01), joint=sp.Free()
        ),
        sp.Rod(
            "tail",
            0.4,
            sp.Circle(0.01),
            sp.Material(E=2e5, density=1000.0),
            parent="hub",
            strains="bending",
            basis=1,
        ),
        gravity=(0, 0, 0),
    )
    result = sp.simulate(
        drifting, DURATION, initial=state, dt=DURATION / 48, scheme=sp.gauss(3, TIGHT)
    )
    momentum = result.momentum
    assert np.abs(momentum.linear - momentum.linear[0]).max() < 1e-11
    assert np.abs(momentum.angular - momentum.angular[0]).max() < 1e-8
