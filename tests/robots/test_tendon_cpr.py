"""The numbers of Table 4.1 do what (4.47) and (4.48) say."""

import jax.numpy as jnp
import numpy as np
import pytest

from supple.robots.tendon_cpr import (
    TENSION_PER_AMPERE,
    cable_laws,
    cable_tension,
    sensor_reading,
    tendon_cpr,
)


def test_currents_wait_then_swing_between_their_ends():
    for cable, (law, gain) in enumerate(zip(cable_laws(), (2.0, 2.0, 2.5, 2.2), strict=True)):
        start = 10.0 + (0.5 if cable in (1, 3) else 0.0)
        amperes = [float(law(jnp.asarray(t))) / TENSION_PER_AMPERE for t in (0.0, start)]
        np.testing.assert_allclose(amperes, 0.1, atol=1e-14)
        top = float(law(jnp.asarray(start + np.pi))) / TENSION_PER_AMPERE
        assert top == pytest.approx(0.1 + 2 * gain)
        assert law.corners == (start,)


def test_a_reading_gives_its_tension_back():
    assert sensor_reading(0.0, 0) == -0.442  # a slack cable reads the zero offset
    for cable in range(4):
        assert cable_tension(sensor_reading(7.0, cable), cable) == pytest.approx(7.0)


def test_straight_limbs_meet():
    """The described shape is closed: both sides of the triangle end in one point."""
    robot = tendon_cpr()
    ends = []
    for limb in (1, 2):
        body, rod = robot[f"body {limb}"], robot[f"rod {limb}"]
        reach = rod.position[0] + rod.length
        angle = body.rotation[2]
        ends.append(np.array(body.position[:2]) + reach * np.array([np.cos(angle), np.sin(angle)]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert ends[0][1] > 0
