"""Robots whose elimination along the graph fails are solved by one dense matrix, and say so."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.system.elimination import Factors

CLOSE = 1e-9
"""Between two runs of the same robot by other linear algebra."""


def chain(name, count=6):
    shared = dict(length=0.2, section=sp.Circle(0.01), material=sp.Material(E=1e6, density=1000.0))
    rods = [
        sp.Rod(f"r{i}", basis=4, nodes=6, **({"parent": f"r{i - 1}"} if i else {}), **shared)
        for i in range(count)
    ]
    return sp.Robot(*rods, name=name, gravity=(2.0, 0.0, -3.0)).build()


@pytest.fixture
def broken(monkeypatch):
    """Eliminations whose pivots are poor, and whose solutions are none."""
    once = Factors._once
    monkeypatch.setattr(Factors, "_once", lambda self, right: -0.3 * once(self, right))
    monkeypatch.setattr(Factors, "poor", property(lambda self: jnp.ones((), dtype=bool)))


def run(name):
    return sp.simulate(chain(name), 0.02, dt=0.01, scheme=sp.generalized_alpha(0.8))


def test_a_run_goes_on_with_dense_matrices(broken, monkeypatch):
    found = run("run with poor pivots")
    assert found.ok
    assert "poor pivots" in found.message
    assert "dense" in found.model.linear
    monkeypatch.undo()
    wanted = run("run with good pivots")
    assert "dense" not in wanted.model.linear
    np.testing.assert_allclose(found.final.q, wanted.final.q, atol=CLOSE)


def test_an_equilibrium_is_found_with_dense_matrices(broken, monkeypatch):
    found = sp.equilibrium(chain("rest with poor pivots"))
    assert found.ok
    assert "dense" in found.message
    monkeypatch.undo()
    wanted = sp.equilibrium(chain("rest with good pivots"))
    assert "dense" not in wanted.message
    np.testing.assert_allclose(found.q, wanted.q, atol=CLOSE)
