"""Kinks of laws are found by looking inside them: nobody needs to declare them."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.model.kinks import kinks_between

E = sp.Expression


def robot(law, **options):
    rod = sp.Rod("rod", 0.3, sp.Circle(3e-3), sp.Material(E=1e9, density=1e3), basis=2)
    return sp.Robot(rod, sp.Wrench("push", on="rod", force=(0.0, 0.1, 0.0), law=law), **options)


def _capped(t):
    return jnp.maximum(jnp.cos(3 * t), 0.2)


def _table(t):
    return jnp.interp(t, jnp.array([0.25, 0.5, 1.3]), jnp.array([0.0, 1.0, 0.0]))


def _nested(t):
    return _capped(t - 1) + jnp.clip(t, 0.0, 3.5)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (E("rise(t - 1)"), (1, 2)),
        (E("clip(sin(t), -0.5, 0.5)"), (np.pi / 6, 5 * np.pi / 6, 7 * np.pi / 6)),
        (E("step(t - 0.3) + abs(t - 2)"), (0.3, 2)),
        (E("where(1 < t < 2.5, t, 0)"), (1, 2.5)),
        (E("mod(t, 0.7)"), (0.7, 1.4, 2.1, 2.8, 3.5)),
        (E("sin(5*t)*exp(-t)"), ()),
        (sp.ramp(0.5, 1.5), (0.5, 1.5)),
        (_table, (0.25, 0.5, 1.3)),
        (_capped, [(k * 2 * np.pi + s * np.arccos(0.2)) / 3 for k, s in ((0, 1), (1, -1), (1, 1), (2, -1))]),
        (_nested, [1 + (k * 2 * np.pi + s * np.arccos(0.2)) / 3
                   for k, s in ((0, -1), (0, 1), (1, -1), (1, 1))] + [3.5]),
    ],
)  # fmt: skip
def test_kinks_of_loads_are_found(law, expected):
    found = kinks_between(robot(law).build(), 0.0, 4.0)
    np.testing.assert_allclose(found, sorted(expected), atol=1e-12)


def _moment(X, t):
    zero = 0.0 * X
    traveling = jnp.maximum(0.0, X - t)  # not of time alone: no instant at all points
    return jnp.stack([zero, zero, traveling * (t > 0.8), zero, zero, zero], axis=1)


def test_kinks_of_tendons_stresses_and_motions_are_found():
    base = robot(1.0).adding(
        sp.Tendon("tendon", on="rod", offset=(1e-3, 0.0), tension=E("2*rise(t - 0.25)")),
        sp.ActiveStress("muscle", on="rod", stress=_moment),
        sp.Body("cart", mass=0.1, joint=sp.Driven(sp.Motion("[abs(t - 1.75), 0, 0]"))),
    )
    found = kinks_between(base.build(), 0.0, 2.0)
    np.testing.assert_allclose(found, [0.25, 0.8, 1.25, 1.75], atol=1e-12)


def test_an_undeclared_kink_costs_no_accuracy():
    law = E("rise((t - 0.1)/0.02)")
    known = sp.Function(law, kinks=(0.1, 0.12))
    found, told = (sp.simulate(robot(one), 0.2, accuracy=1e-3) for one in (law, known))
    np.testing.assert_array_equal(found.t, told.t)
    np.testing.assert_array_equal(found.q, told.q)
