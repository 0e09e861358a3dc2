"""Closed loops in time: orders of convergence, energy and momentum, gradients and batches."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import retract
from supple.mechanics.energy import momentum
from supple.mechanics.inverse_dynamics import violation
from supple.solve.newton import NewtonSettings
from supple.system.forward_dynamics import project_velocity
from supple.system.strain import Strain
from tests.tools import jit

DURATION = 0.16
TIGHT = NewtonSettings(tolerance=1e-12, max_iterations=30)
TOL_FD = (
    1e-5  # central difference, relative step 1e-4; forces carry the residual Newton leaves over h²
)
SOFT = sp.Material(E=4e6, density=1000.0)


def leg(name, y):
    """A bending leg on a hinge of the hull."""
    return sp.Rod(
        name, length=0.4, section=sp.Circle(8e-3), material=SOFT, strains="planar", basis=2,
        parent="hull", position=(0.0, y, 0.0), joint=sp.Revolute("z"), nodes=10,
        rotation=(0.0, 0.0, -np.arcsin(y / 0.4)),
    )  # fmt: skip


@cache
def floater():
    """Two legs of a floating hull, joined at their tips; nothing else acts. It tumbles in space."""
    return sp.Robot(
        sp.Body("hull", mass=0.3, inertia=(1e-3, 2e-3, 1.5e-3), joint=sp.Free()),
        leg("left", 0.1),
        leg("right", -0.1),
        sp.Closure("tip", on="left", to="right", joint=sp.Revolute("z")),
        gravity=(0.0, 0.0, 0.0),
    ).build()


@cache
def thrown():
    """Tumbling, its legs bending."""
    model = floater()
    v = np.random.default_rng(3).normal(size=model.nv)
    return sp.initial_state(model, v=v)  # runs take out what the closure forbids


def test_a_velocity_made_allowed_keeps_loops_closed_and_momentum(rng):
    """The impact that takes forbidden velocities out acts between the legs only."""
    model = floater()
    q = np.asarray(thrown().q)
    v = rng.normal(size=model.nv)

    @jit
    def at(v):
        def along(s):
            return violation(model, retract(model, q, s * v), jnp.zeros(()))

        opening = jax.jvp(along, (0.0,), (1.0,))[1]
        return opening, momentum(model, q, v), project_velocity(model, q, v)

    (opening, before, allowed), (left, after, again) = (
        at(v),
        at(np.asarray(at(v)[2])),
    )
    assert np.abs(opening).max() > 0.01
    assert np.abs(left).max() < 1e-12
    np.testing.assert_allclose(before.linear, after.linear, atol=1e-12)
    np.testing.assert_allclose(before.angular, after.angular, atol=1e-12)
    np.testing.assert_allclose(again, allowed, atol=1e-12)


@cache
def tumble(scheme, steps):
    found = sp.simulate(floater(), DURATION, initial=thrown(), dt=DURATION / steps, scheme=scheme)
    assert found.ok
    assert found.stats.rejected == 0
    return found


def outcome(scheme, steps):
    """Tip (m), velocities, and forces of the closure at the end."""
    found = tumble(scheme, steps)
    return found.position("left")[-1], found.v[-1], found.multipliers[-1]


ALPHA, RADAU = sp.generalized_alpha(0.8, TIGHT), sp.radau(3, TIGHT)
# Orders of positions, velocities and forces: α schemes keep theirs; Radau IIA with s stages on the
# constraint itself has 2s - 1, s and s - 1 at least (Hairer, Lubich & Roche 1989).
ORDERS = [
    pytest.param(ALPHA, 32, (2, 2, 2), id="generalized-alpha"),
    pytest.param(RADAU, 32, (5, 3, 2), id="radau3"),
]


@pytest.mark.parametrize(("scheme", "steps", "orders"), ORDERS)
def test_orders_of_positions_velocities_and_forces(scheme, steps, orders):
    exact = outcome(RADAU, 256)
    coarse, fine = (outcome(scheme, n) for n in (steps, 2 * steps))
    for a, b, e, order in zip(coarse, fine, exact, orders, strict=True):
        observed = np.log2(np.abs(a - e).max() / np.abs(b - e).max())
        assert observed > order - 0.5, (observed, order)


@pytest.mark.parametrize(("scheme", "steps", "tolerance"), [(RADAU, 16, 5e-5), (ALPHA, 64, 1e-2)])
def test_a_floating_loop_keeps_energy_momentum_and_its_closure(scheme, steps, tolerance):
    found = tumble(scheme, steps)
    energy, moved = found.energies, found.momentum
    assert np.ptp(energy.elastic) > 0.01 * energy.kinetic[0]
    assert np.abs(energy.total - energy.total[0]).max() < tolerance * energy.total[0]
    assert np.abs(found.violation).max() < 1e-9
    # Velocities are held only as well as the scheme integrates them.
    assert np.abs(found.violation_rate[1:]).max() < 10 * tolerance * np.abs(found.v).max()
    for part in (moved.linear, moved.angular):
        size = np.abs(part).max()
        assert np.abs(part - part[0]).max() < tolerance * size


THETA = jnp.array([4e6, 1000.0, 0.3])


def strut(E, density, force):
    """A leg pinned at both ends, pulled aside in its middle: built while being traced."""
    return sp.Robot(
        sp.Rod(
            "leg", 0.4, sp.Circle(8e-3), sp.Material(E=E, density=density), strains="planar",
            basis=3, joint=sp.Revolute("z", stiffness=0.1), nodes=8,
        ),
        sp.Closure("end", on="leg", to="ground", to_position=(0.38, 0.0, 0.0)),
        sp.Wrench("pull", on="leg", fraction=0.5, force=jnp.array([0.0, 1.0, 0.0]) * force),
        gravity=(0.0, 0.0, 0.0),
    ).build()  # fmt: skip


@cache
def bent():
    """A closed start that does not depend on what is varied."""
    model = strut(*map(float, THETA))
    assert model.equations == 2
    guess = np.zeros(model.nq)
    guess[:2] = 0.3, -2.0
    return sp.assemble(model, initial=guess).q


def after_steps(theta):
    model = strut(*theta)
    start = sp.initial_state(model, bent())
    found = sp.rollout(model, start, sp.generalized_alpha(0.8, TIGHT), 0.01, 3)
    outcome = jnp.concatenate([found.states.q[-1], found.states.multipliers[-1]])
    return outcome, found.status


@pytest.mark.slow
def test_gradient_and_batch_of_a_closed_run():
    """Coordinates and closing forces after three steps, by E, density and load: two compilations."""
    bent()
    gradient, one = jax.jit(jax.jacfwd(lambda t: 2 * (after_steps(t)[0],), has_aux=True))(THETA)
    steps = jnp.diag(1e-4 * THETA)
    many = jnp.concatenate([THETA[None], THETA + steps, THETA - steps])
    batch, status = jax.jit(jax.vmap(after_steps))(many)
    assert list(status) == [sp.Status.DONE] * 7
    np.testing.assert_allclose(batch[0], one, rtol=1e-8, atol=1e-10)
    differences = (batch[1:4] - batch[4:]).T / (2e-4 * THETA)
    weight = jnp.abs(differences).max(axis=0)
    assert jnp.max(jnp.abs(gradient - differences) / weight) < TOL_FD


def test_an_undamped_scheme_on_closed_loops_is_warned_about():
    with pytest.warns(RuntimeWarning, match="weakly unstable"):
        sp.simulate(floater(), 0.01, dt=0.01, initial=thrown(), scheme=sp.newmark())


def test_a_penalty_changes_the_matrix_but_not_the_motion():
    """Of the augmented Lagrangian: the same states and forces, nearly the same iterations and condition."""
    plain, augmented = (
        sp.simulate(floater(), DURATION, dt=0.01, initial=thrown(),
                    scheme=sp.generalized_alpha(0.8, TIGHT, penalty=p)) for p in (0.0, 1.0)
    )  # fmt: skip
    assert np.abs(plain.q - augmented.q).max() < 1e-9
    size = np.abs(plain.multipliers).max()
    assert np.abs(plain.multipliers - augmented.multipliers).max() < 1e-6 * size
    assert augmented.newton.sum() <= 1.1 * plain.newton.sum()
    conditions = [condition(plain, p) for p in (0.0, 1.0)]
    assert conditions[1] <= 2 * conditions[0]


def condition(result, penalty):
    """Condition of the matrix of the last step, coordinates in units of their scales."""
    scheme = sp.generalized_alpha(0.8, TIGHT, penalty=penalty)
    model, h = result.model, jnp.asarray(0.01)
    state = result.cursor.state
    formulation = Strain(model)
    d, *_ = scheme._discretization(state, scheme.start(formulation, state), h)
    y = formulation.unknown(d, h * state.v)
    matrix = np.asarray(jit(jax.jacfwd(lambda y: formulation.residual(d, y)[0]))(y))
    units = np.concatenate([np.asarray(model.scale), np.ones(model.equations)])
    return np.linalg.cond(units[:, None] * matrix * units)
