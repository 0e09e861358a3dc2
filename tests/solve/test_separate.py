"""Legs around a plate: block elimination against the dense system, step by step and over a run."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.inverse_dynamics import balance
from supple.mechanics.saddle import saddle
from supple.mechanics.separate_tangent import (
    is_separable,
    separate_tangent,
    structure_of,
)
from supple.robots.stewart import stewart_gough
from supple.solve.separate import factorise_separate
from supple.time import alpha
from tests.samples import random_motion
from tests.tools import jit, tangent


@cache
def legs():
    return stewart_gough(legs=4, bending_modes=2).build()


def soft(name, y, **options):
    return sp.Rod(
        name, length=0.5, section=sp.Circle(5e-3), strains="bending", basis=2, nodes=8,
        material=sp.Material(E=1e7, density=1000.0), position=(0.0, y, 0.0), **options,
    )  # fmt: skip


@cache
def mixed(mass_only=False):
    """Joints with different numbers of equations, two on one rod, one to the ground, one inside a rod."""
    inertia = (0.0, 0.0, 0.0) if mass_only else (2e-4, 3e-4, 4e-4)
    return sp.Robot(
        soft("a", 0.0),
        soft("b", 0.1),
        sp.Body("plate", mass=0.1, inertia=inertia, joint=sp.Free(), position=(0.5, 0.05, 0.0)),
        sp.Closure("clamp", on="a", to="plate", joint=sp.Fixed(), to_position=(0, -0.05, 0)),
        sp.Closure("ball", on="plate", to="b", position=(0, 0.05, 0)),
        sp.Closure("eye", on="ground", to="b", to_at=0.5, joint=sp.Planar("y"),
                   position=(0.25, 0.1, 0)),
        gravity=(0.0, 0.0, -2.0),
    ).build()  # fmt: skip


@jit
def both(model, structure_right, c):
    structure = structure_of(model)
    tangent = separate_tangent(model, structure, c, balance(model, c))
    blocks = [
        mass + 0.01 * damping + 1e-4 * stiffness for mass, damping, stiffness in tangent.blocks
    ]
    factors = factorise_separate(structure, blocks, tangent.jacobians)
    matrix, jacobian = jnp.zeros((model.nv, model.nv)), jnp.zeros((model.equations, model.nv))
    for start, block in zip(structure.starts, blocks, strict=True):
        count, width = block.shape[:2]
        for b in range(count):
            where = slice(start + b * width, start + (b + 1) * width)
            matrix = matrix.at[where, where].set(block[b])
    for side, own in zip(structure.sides, tangent.jacobians, strict=True):
        width = own.shape[2]
        for i, (k, element) in enumerate(zip(side.closures, side.elements, strict=True)):
            first = structure.starts[side.group] + element * width
            for r, row in enumerate(structure.table[k]):
                if row >= 0:
                    jacobian = jacobian.at[row, first : first + width].add(own[i, r])
    dense = saddle(matrix, jacobian, jacobian, jnp.zeros(model.equations))
    return factors.solve(structure_right), jnp.linalg.solve(dense, structure_right), jacobian


@pytest.mark.parametrize("robot", [pytest.param(legs, marks=pytest.mark.slow), mixed])
def test_block_elimination_solves_the_dense_system(robot, rng):
    model = robot()
    assert is_separable(model)
    c = random_motion(model, rng)._replace(multipliers=rng.normal(size=model.equations))
    right = rng.normal(size=model.nv + model.equations)
    ours, dense, jacobian = both(model, right, c)
    np.testing.assert_allclose(ours, dense, atol=1e-8 * np.abs(dense).max())
    exact = tangent(model, c).jacobian
    np.testing.assert_allclose(jacobian, exact, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize(
    "mass_only",
    [pytest.param(False, id="plate", marks=pytest.mark.slow), pytest.param(True, id="point mass")],
)
def test_a_run_by_blocks_is_the_dense_run(mass_only, monkeypatch):
    """Also for a plate without moments of inertia, whose own block alone could not be inverted."""
    model = mixed(mass_only)
    blocks = sp.simulate(model, 0.03, dt=0.005)
    monkeypatch.setattr(alpha, "is_separable", lambda model: False)
    other = sp.generalized_alpha(
        0.8, sp.solve.newton.NewtonSettings(tolerance=1.1e-9)
    )  # compiles anew
    dense = sp.simulate(model, 0.03, dt=0.005, scheme=other)
    assert blocks.ok
    assert dense.ok
    scale = np.abs(np.asarray(dense.position("plate") - dense.position("plate")[0])).max()
    assert scale > 1e-4
    for name in ("a", "b", "plate"):
        np.testing.assert_allclose(blocks.position(name), dense.position(name), atol=1e-9)
