"""Solvers know nothing of a robot but its formulation: here are two others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import supple as sp
from supple.errors import DescriptionError
from supple.model.state import State
from supple.run.rollout import rollout
from supple.solve.equilibrium import EquilibriumStatus, solve_equilibrium
from supple.solve.linear_model import linear_model
from supple.system.strain import Strain
from tests.system.formulations import ShootingCantilever, ViscoelasticOscillator
from tests.tools import jit

E, G, RADIUS, LENGTH, DENSITY = 1e6, 4e5, 5e-3, 0.4, 1200.0


def section():
    return np.pi * RADIUS**2, np.pi * RADIUS**4 / 4


def shooting(force, nodes=41):
    area, moment = section()
    return ShootingCantilever(
        LENGTH,
        jnp.array([E * moment, E * area, G * area]),
        jnp.array([DENSITY * moment, DENSITY * area]),
        jnp.asarray(force),
        nodes=nodes,
    )


def rod(force):
    material = sp.Material(E=E, G=G, density=DENSITY)
    return sp.Robot(
        sp.Rod("rod", length=LENGTH, section=sp.Circle(RADIUS), material=material,
               strains="planar-reissner", basis=sp.Legendre(9), nodes=15),
        sp.Wrench("F", on="rod", force=(*force, 0.0)),
        gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip


def test_statics_of_a_rod_that_is_shot_from_its_base():
    force = (-0.02, 0.05)  # large: the tip turns by more than a radian
    formulation = shooting(force)
    found = jit(solve_equilibrium)(
        formulation, formulation.straight(), jnp.zeros(()), 1.0, jnp.zeros(3)
    )
    assert found.status == EquilibriumStatus.CONVERGED
    other = sp.equilibrium(rod(force))
    assert abs(float(found.q[-3])) > 0.8
    assert np.abs(np.asarray(found.q[-2:]) - other.position("rod")[:2]).max() < 1e-6 * LENGTH
    # At rest the base holds the load.
    assert np.abs(np.asarray(found.multipliers[:2]) - force).max() < 1e-12


def test_steps_of_a_rod_that_is_shot_from_its_base():
    force, dt, steps = (0.0, 5e-4), 2e-2, 60
    formulation = shooting(force)
    held = jit(solve_equilibrium)(
        formulation, formulation.straight(), jnp.zeros(()), 1.0, jnp.zeros(3)
    )
    free = shooting((0.0, 0.0))
    start = State(
        jnp.zeros(()), held.q, jnp.zeros_like(held.q), jnp.zeros_like(held.q), held.multipliers
    )
    found = jit(lambda f, s: rollout(f, s, sp.ImplicitEuler(), dt, steps))(free, start)
    assert found.status == sp.Status.DONE
    other = sp.release(rod(force), "F", steps * dt, dt=dt, scheme=sp.ImplicitEuler())
    tip, expected = np.asarray(found.states.q[:, -1]), other.position("rod")[1:, 1]
    first = float(held.q[-1])
    assert np.abs(expected - first).max() > 0.5 * first
    # Rates of places and rates of strains are two discretizations in time, equal for small vibrations.
    assert np.abs(tip - expected).max() < 1e-3 * first


def test_gradients_of_a_shot_rod():
    formulation = shooting((0.0, 0.02))

    def tip(pull):
        loaded = ShootingCantilever(
            LENGTH, formulation.stiffness, formulation.inertia, jnp.stack([jnp.zeros(()), pull])
        )
        start = formulation.straight()
        return solve_equilibrium(loaded, start, jnp.zeros(()), 1.0, jnp.zeros(3)).q[-1]

    slope = jit(jax.grad(tip))(0.02)
    step = 1e-6
    sides = [float(jit(tip)(0.02 + sign * step)) for sign in (1, -1)]
    assert abs(float(slope) - (sides[0] - sides[1]) / (2 * step)) < 1e-6 * abs(float(slope))


def test_schemes_with_a_mass_matrix_are_refused_by_name_where_there_is_none():
    formulation = shooting((0.0, 0.0))
    with pytest.raises(
        DescriptionError, match=r"Collocation: formulation: got .*Shooting.*mass matrix"
    ):
        sp.radau().start(formulation, formulation.any_state())


OSCILLATOR = ViscoelasticOscillator(1.3, 40.0, 25.0, 3.0, 2.0)


def exact(t):
    """(x, z) of the oscillator from rest, by the matrix exponential of (x, z, ẋ)."""
    m, k, k2, c, F = 1.3, 40.0, 25.0, 3.0, 2.0
    A = np.array([[0, 0, 1], [k2 / c, -k2 / c, 0], [-(k + k2) / m, k2 / m, 0]])
    rest = np.array([F / k, F / k, 0.0])
    return (rest + expm(A * t) @ (np.array([0.0, 0.0, 0.0]) - rest))[:2], np.linalg.eigvals(A)


@pytest.mark.parametrize(
    ("scheme", "order"),
    [(sp.ImplicitEuler(), 1), (sp.generalized_alpha(0.6), 2), (sp.radau(2), 3), (sp.radau(3), 5)],
    ids=["euler", "alpha", "radau-2", "radau-3"],
)
def test_a_state_of_first_order_keeps_the_order_of_every_scheme(scheme, order):
    end = 1.0
    errors = []
    for steps in (40, 80):
        start = OSCILLATOR.any_state()
        found = jit(lambda s, n=steps: rollout(OSCILLATOR, s, scheme, end / n, n))(start)
        assert found.status == sp.Status.DONE
        errors.append(np.abs(np.asarray(found.states.q[-1]) - exact(end)[0]).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.3


def test_statics_and_poles_of_a_state_of_first_order():
    found = jit(solve_equilibrium)(OSCILLATOR, jnp.zeros(2), jnp.zeros(()))
    assert np.allclose(found.q, 2.0 / 40.0, rtol=1e-12)
    poles = np.sort_complex(linear_model(OSCILLATOR, np.asarray(found.q)).eigenvalues)
    assert np.allclose(poles, np.sort_complex(exact(1.0)[1]), rtol=1e-9)


def test_the_strain_formulation_is_one_of_them():
    model = rod((0.0, 0.1)).build()
    found = jit(lambda m: solve_equilibrium(Strain(m), jnp.zeros(m.nv), jnp.zeros(())))(model)
    assert np.allclose(found.q, sp.equilibrium(model).q, atol=1e-9)
