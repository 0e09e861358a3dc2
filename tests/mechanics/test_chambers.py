"""Fluid chambers: textbook shapes, gradients of volume, the exact tangent, three ways of driving them."""

import jax
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.model.efforts import ATMOSPHERE
from tests.tools import check_tangent, driven, jit

RADIUS, LENGTH, OFFSET, AREA = 8e-3, 0.1, 4e-3, 2e-5
RUBBER = sp.Material(E=1e6, density=1000.0)
EI = 1e6 * np.pi * RADIUS**4 / 4
EA = 1e6 * np.pi * RADIUS**2


def finger(*chambers):
    rod = sp.Rod(
        "finger",
        length=LENGTH,
        section=sp.Circle(RADIUS),
        material=RUBBER,
        strains="reissner",
        basis=2,
    )
    return sp.Robot(rod, *chambers, gravity=(0.0, 0.0, 0.0))


def chamber(**options):
    return sp.Chamber("chamber", on="finger", area=AREA, offset=(OFFSET, 0.0), **options)


def test_pressure_stretches_the_rod_and_bends_it_away_from_the_chamber():
    pressure = 3e4
    held = sp.equilibrium(finger(chamber(pressure=pressure)))
    strain = held.strain("finger")
    np.testing.assert_allclose(strain[:, 3], 1 + pressure * AREA / EA, rtol=1e-10)
    np.testing.assert_allclose(strain[:, 2], -pressure * AREA * OFFSET / EI, rtol=1e-9)
    assert held.position("finger")[1] < 0


def test_water_gas_and_pressure_reach_the_same_shape():
    by_pressure = sp.equilibrium(finger(chamber(pressure=3e4)))
    volume = by_pressure.chamber("chamber").volume
    by_volume = sp.equilibrium(finger(chamber(volume=volume)))
    by_gas = sp.equilibrium(finger(chamber(gas=(3e4 + ATMOSPHERE) * volume)))
    for held in (by_volume, by_gas):
        np.testing.assert_allclose(held.q, by_pressure.q, atol=1e-8 * np.abs(by_pressure.q).max())
        found = held.chamber("chamber")
        np.testing.assert_allclose(found[1], 3e4, rtol=1e-8)
        np.testing.assert_allclose(found[0], volume, rtol=1e-11)


def test_the_tangent_is_exact_and_arms_are_gradients_of_volumes(rng):
    model = finger(
        chamber(gas=lambda t: 0.3 + 0.1 * t),
        sp.Chamber("water", on="finger", area=AREA, offset=(0.0, OFFSET), volume=2.1e-6, end=0.8),
        sp.Chamber("air", on="finger", area=AREA, offset=(0.0, -OFFSET), pressure=1e4, start=0.3),
    ).build()
    n = model.nv
    x, xdot, xddot = 0.1 * rng.normal(size=(3, n))
    forces = rng.normal(size=model.equations)
    c = Coordinates(0.1 * rng.normal(size=n), x, xdot, xddot, np.asarray(0.4), forces)

    def volumes(x):
        return driven(model, c._replace(x=x)).length

    check_tangent(model, c, 1e-10)
    arms = np.asarray(jit(jax.jacfwd(volumes))(x))
    np.testing.assert_allclose(
        model.transmissions.affine.arms, arms, atol=1e-12 * np.abs(arms).max()
    )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "exactly one of pressure, volume and gas"),
        ({"pressure": 1.0, "gas": 2.0}, "exactly one"),
        ({"pressure": np.inf}, "chamber: pressure: got inf"),
        ({"volume": 1e-6, "start": 0.5, "end": 0.4}, "end: got 0.4; need more than start = 0.5"),
    ],
)
def test_bad_chambers_are_named(options, match):
    with pytest.raises(sp.DescriptionError, match=match):
        finger(chamber(**options))
