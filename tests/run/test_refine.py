"""A refined robot needs no refinement: its equilibrium and its run meet the accuracy as they are."""

import jax
import numpy as np
import pytest

import supple as sp
from tests.run.test_space_error import NO_GRAVITY, error_of, pulled, rod

LOAD = sp.Wrench("pull", on="rod", force=(0.0, 4.0, 0.0), fraction=0.37)


@pytest.fixture(scope="module")
def loaded():
    return sp.Robot(rod(), LOAD, gravity=NO_GRAVITY)


@pytest.fixture(scope="module")
def fine(loaded):
    return sp.refine(loaded, 1e-7)


def test_its_equilibrium_meets_the_accuracy_as_it_is(loaded, fine):
    """By collocation; what is chosen first does not."""
    exact = pulled(4.0, 0.37)
    first = sp.equilibrium(loaded.resolved(1e-7))
    assert error_of(first, exact) > 1e-6
    assert error_of(sp.equilibrium(fine), exact) <= 1e-7
    assert fine["pull"] == loaded["pull"]


def test_traces_have_its_modes(loaded, fine):
    """What is traced is computed on the rods that were found by numbers, and the same."""

    def place(force):
        push = sp.Wrench("pull", on="rod", force=(0.0, force, 0.0), fraction=0.37)
        robot = loaded.replacing(push).resolved_as(fine)
        return sp.equilibrium(robot).position("rod")[1]

    value, slope = jax.jit(jax.value_and_grad(place))(4.0)
    assert value == pytest.approx(pulled(4.0, 0.37)[1], abs=1e-7)
    assert slope == pytest.approx((pulled(4.01, 0.37) - pulled(3.99, 0.37))[1] / 0.02, rel=1e-5)


def test_a_run_is_refined_for_its_motion():
    soft = sp.Material(E=1e7, density=1000.0, damping=sp.StiffnessDamping(0.01))
    robot = sp.Robot(
        sp.Rod("rod", 1.0, sp.Circle(0.01), soft, strains="planar"), gravity=(0, -9.81, 0)
    )
    fine = sp.refine(robot, 1e-3, duration=0.3)
    known = sp.simulate(fine, 0.3, accuracy=1e-5).position("rod")[-1]
    finest = sp.simulate(robot, 0.3, accuracy=1e-5).position("rod")[-1]
    assert np.linalg.norm(known - finest) <= 1e-3
    assert isinstance(fine["rod"].basis, dict)


def test_nodes_of_coils_are_named():
    coil = sp.Rod(
        "rod", 1.0, sp.Circle(1e-3), sp.Material(1e9, 1e3), rest=(0, 0, 20.0, 1, 0, 0), basis=2
    )
    straight = rod(basis=2)
    robot = sp.Robot(coil, gravity=NO_GRAVITY)
    fine = sp.refine(robot)
    assert fine["rod"].nodes == fine.build().groups[0].grid.count
    assert 20 < robot.build().groups[0].grid.count <= fine["rod"].nodes
    assert sp.refine(sp.Robot(straight, gravity=NO_GRAVITY))["rod"].nodes is None


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_refined(loaded, fine):
    with pytest.raises(sp.ArgumentError, match="refine: got a Model; need a Robot"):
        sp.refine(loaded.build())
    with pytest.raises(sp.DescriptionError, match="one of"):
        sp.Robot(sp.Rod("other", 1.0, sp.Circle(0.1), sp.Material(1e9, 1e3))).resolved_as(fine)
