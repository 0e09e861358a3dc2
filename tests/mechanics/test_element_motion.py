"""Charts of joints and rods: retraction, its inverse, and rates, through the whole model."""

import equinox as eqx
import jax
import numpy as np
import pytest

from supple.mechanics.element_motion import (
    Coordinates,
    difference,
    group_rows,
    neutral,
    rate,
    rate_derivative,
    retract,
)
from tests.samples import at, model_of, random_configuration, random_motion, random_vector
from tests.tools import jit, tangent

TOL = 1e-12  # quaternion algebra and a few products


@jit
def moved(model, c: Coordinates):
    """State reached by a motion in the chart of c.q, and how v depends on ẋ there."""
    turning = jax.jacfwd(lambda xdot: rate(model, c.q, c.x, xdot))(c.xdot)
    return (
        retract(model, c.q, c.x),
        rate(model, c.q, c.x, c.xdot),
        rate_derivative(model, c.q, c.x, c.xdot, c.xddot),
        turning,
        difference(model, c.q, retract(model, c.q, c.x)),
    )


def test_difference_inverts_retract(rng):
    model = model_of("tree")
    c = random_motion(model, rng)
    np.testing.assert_allclose(moved(model, c)[4], c.x, atol=TOL)


def test_at_the_center_of_the_chart_velocities_are_the_rates(rng):
    model = model_of("tree")
    c = random_motion(model, rng, x=0.0)
    q, v, a, turning, _ = moved(model, c)
    np.testing.assert_allclose(q, c.q, atol=TOL)
    np.testing.assert_allclose(v, c.xdot, atol=TOL)
    np.testing.assert_allclose(a, c.xddot, atol=TOL)
    np.testing.assert_allclose(turning, np.eye(model.nv), atol=TOL)


@pytest.mark.parametrize(
    "damped",
    [
        False,
        True,
    ],
    ids=["undamped", "damped"],
)
def test_the_balance_does_not_depend_on_the_chart(rng, damped):
    """R(q; x, ẋ, ẍ) = Tᵀ R(q ⊕ x; 0, v, v̇) with v = T ẋ: the same motion, the same forces."""
    model = model_of("tree")
    if not damped:
        model = eqx.tree_at(
            lambda m: [g.damping for g in m.groups if g.damping is not None],
            model,
            replace_fn=lambda leaf: 0 * leaf,
        )
    c = random_motion(model, rng, x=0.6)
    q, v, a, turning, _ = moved(model, c)
    there = tangent(model, at(np.asarray(q), np.asarray(v), np.asarray(a))).residual
    here = tangent(model, c).residual
    expected = np.asarray(turning).T @ np.asarray(there)
    np.testing.assert_allclose(here, expected, atol=1e-11 * np.abs(expected).max())


def test_neutral_moves_no_joint_and_bends_no_rod():
    model = model_of("tree")
    q = neutral(model)
    assert q.shape == (model.nq,)
    for slot in model.topology.rod_slots:
        np.testing.assert_array_equal(q[slot.q], 0.0)
    for slot in model.topology.joint_slots:
        values = q[slot.q]
        quaternion = model.groups[slot.group].nq != model.groups[slot.group].nv
        np.testing.assert_array_equal(values[:1], 1.0 if quaternion else 0.0)
        np.testing.assert_array_equal(values[1:], 0.0)


def test_group_rows_and_slots_name_the_same_numbers(rng):
    """Every coordinate belongs to one named item, and slots say where."""
    model = model_of("tree")
    q, v = random_configuration(model, rng), random_vector(model, rng, 1.0, 1.0)
    slots = (*model.topology.joint_slots, *model.topology.rod_slots)
    owners = np.zeros(model.nv, dtype=int)
    for slot in slots:
        owners[slot.v] += 1
        np.testing.assert_array_equal(group_rows(model, slot.group, v)[slot.row], v[slot.v])
        rows = group_rows(model, slot.group, q, configuration=True)
        np.testing.assert_array_equal(rows[slot.row], q[slot.q])
    np.testing.assert_array_equal(owners, 1)
