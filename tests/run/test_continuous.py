"""Continuous controllers: inside the balance, with states and tangent of their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

import supple as sp
from supple.errors import SuppleError
from supple.system.formulation import Discretization, Rates
from supple.system.strain import Strain
from tests.tools import jit

MASS, KP, KI, KD, GOAL = 2.0, 60.0, 40.0, 9.0, 0.3


def look(sensors):
    at = sensors.joint("cart")
    return at.position[0], at.velocity[0]


def push(t, seen, state):
    place, speed = seen
    return {"push": KP * (GOAL - place) + KI * state[0] - KD * speed}


def error(t, seen, state):
    return jnp.stack([GOAL - seen[0]])


def cart(scale=1.0):
    """A mass on rails, pushed by a PID controller towards GOAL."""

    def acts(t, seen, state):
        return jax.tree.map(lambda u: scale * u, push(t, seen, state))

    return sp.Robot(
        sp.Body("cart", mass=MASS, inertia=(0.1, 0.1, 0.1), joint=sp.Prismatic("x")),
        sp.Wrench("motor", on="cart", force=(1, 0, 0), law=sp.Input("push", 0.0)),
        sp.ContinuousController("pid", acts, sense=look, rate=error, state=[0.0]),
        gravity=(0, 0, 0),
    )  # fmt: skip


# (x, z, ẋ): ẋ, GOAL - x, (KP (GOAL - x) + KI z - KD ẋ) / m.
MATRIX = np.array([[0, 0, 1], [-1, 0, 0], [-KP / MASS, KI / MASS, -KD / MASS]])
REST = np.array([GOAL, 0.0, 0.0])


def exact(t):
    return REST + expm(MATRIX * t) @ -REST


@pytest.mark.parametrize(
    ("scheme", "order"),
    [(sp.ImplicitEuler(), 1), (sp.generalized_alpha(0.6), 2), (sp.radau(2), 3), (sp.radau(3), 5),
     (sp.Explicit("rk4"), 4)],
    ids=["euler", "alpha", "radau-2", "radau-3", "rk4"],
)  # fmt: skip
def test_every_scheme_keeps_its_order_with_a_controller(scheme, order):
    model = cart().build()
    errors = []
    for steps in (20, 40):
        result = sp.simulate(model, 1.0, dt=1.0 / steps, scheme=scheme)
        found = np.stack([result.joint("cart").position[-1, 0], result.controller("pid")[-1, 0]])
        errors.append(np.abs(found - exact(1.0)[:2]).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.35


def test_runs_by_accuracy_equilibria_and_poles_are_those_of_the_closed_loop():
    robot = cart()
    result = sp.simulate(robot, 2.0, accuracy=1e-6)
    assert abs(result.joint("cart").position[-1, 0] - exact(2.0)[0]) < 1e-6
    # Inputs are reported as they were.
    place, speed = result.joint("cart").position[:, 0], result.joint("cart").velocity[:, 0]
    pushed = KP * (GOAL - place) + KI * result.controller("pid")[:, 0] - KD * speed
    assert np.abs(result.input("push") - pushed).max() < 1e-9
    held = sp.equilibrium(robot)  # integral action leaves no error
    assert held.q[0] == pytest.approx(GOAL, abs=1e-9)
    poles = np.sort_complex(sp.linearize(robot, at=held).eigenvalues)
    assert np.allclose(poles, np.sort_complex(np.linalg.eigvals(MATRIX)), rtol=1e-8)


def test_equilibria_tell_what_a_controller_sets():
    """A weight held up by a force that a controller finds: the readout knows it, not the first value."""
    robot = sp.Robot(
        sp.Body("load", mass=1.5, joint=sp.Prismatic("z")),
        sp.Wrench("hoist", on="load", force=(0, 0, 1), law=sp.Input("pull", 0.0)),
        sp.ContinuousController(
            "hold",
            lambda t, height, total: {"pull": 50.0 * (GOAL - height) + total[0]},
            sense=lambda sensors: sensors.position("load")[2],
            rate=lambda t, height, total: jnp.stack([GOAL - height]),
            state=[0.0],
        ),
    )
    held = sp.equilibrium(robot)
    assert held.position("load")[2] == pytest.approx(GOAL, abs=1e-9)
    assert float(held.input("pull")) == pytest.approx(1.5 * 9.81, rel=1e-6)
    assert np.abs(held.reaction("load")).max() < 1e-6  # nothing is left for the rails


def arm(rods):
    """A chain of rods with a tendon whose length, and a tip whose force, follow what is sensed."""
    parts = [
        sp.Rod(f"r{i}", parent=f"r{i - 1}" if i else "ground", length=0.2, section=sp.Circle(4e-3),
               material=sp.Material(E=5e6, density=1200.0), strains="kirchhoff", basis=2, nodes=6)
        for i in range(rods)
    ]  # fmt: skip
    tip = f"r{rods - 1}"

    def sense(sensors):
        return sensors.position(tip), sensors.twist(tip), sensors.tendon("wire").tension

    def act(t, seen, state):
        _, twist, tension = seen
        force = -0.3 * twist[4] + 0.2 * jnp.tanh(state[1] + state[0])
        return {"force": force, "pull": 1e-3 * jnp.sin(t) + 2e-3 * state[3] + 1e-5 * tension}

    def rate(t, seen, state):
        place, _, tension = seen
        return jnp.concatenate([place - 0.1 - state[:3] ** 2, jnp.stack([tension - state[3]])])

    return sp.Robot(
        *parts,
        sp.Wrench("control", on=tip, force=(0, 1, 0.5), law=sp.Input("force", 0.0)),
        sp.Tendon("wire", on=("r0",), offset=(3e-3, 0.0), pull=sp.Input("pull", 0.0)),
        sp.ContinuousController("law", act, sense=sense, rate=rate, state=[0.1, 0.0, -0.1, 0.2]),
    )  # fmt: skip


@pytest.mark.parametrize("rods", [2, 12], ids=["dense", "structured"])
@pytest.mark.parametrize("moving", [True, False], ids=["step", "rest"])
def test_the_tangent_knows_the_controller(rods, moving, rng):
    model = arm(rods).build()
    assert (model.nv + model.equations > 64) == (rods == 12)
    formulation, n = Strain(model), model.nv
    q, v, a = (0.1 * rng.standard_normal(n) for _ in range(3))
    state = sp.State(jnp.asarray(0.2), jnp.asarray(q), jnp.asarray(v), jnp.asarray(a), jnp.ones(1))
    rates = Rates(60.0, 3e3, jnp.asarray(v), jnp.asarray(a)) if moving else None
    d = Discretization(state, jnp.asarray(0.21), rates)
    y = jnp.asarray(formulation.unknown(d, jnp.asarray(0.01 * rng.standard_normal(n))))

    def solved(y):
        value, work = formulation.residual(d, y)
        matrix = jax.jacfwd(lambda y: formulation.residual(d, y)[0])(y)
        return matrix, formulation.factorize(d, y, work).solve(value), value

    matrix, found, value = (np.asarray(x) for x in jit(solved)(y))
    expected = np.linalg.solve(matrix, value)
    tolerance = max(1e-8, 1e-14 * np.linalg.cond(matrix))
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()


def test_gains_can_be_tuned_by_gradients():
    def end(scale):
        model = cart(scale).build()
        found = sp.rollout(model, sp.initial_state(model), sp.generalized_alpha(0.8), 0.02, 30)
        return found.states.q[-1, 0]

    slope = float(jit(jax.grad(end))(1.0))
    sides = [float(jit(end)(1.0 + h)) for h in (1e-5, -1e-5)]
    assert slope == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-6)


def test_what_a_controller_returns_is_checked():
    def wrong(t, seen, state):
        return {"pull": 1.0}

    robot = sp.Robot(
        sp.Body("cart", mass=1.0, joint=sp.Prismatic("x")),
        sp.Wrench("motor", on="cart", force=(1, 0, 0), law=sp.Input("push", 0.0)),
        sp.ContinuousController("pid", wrong, sense=look),
    )
    with pytest.raises(SuppleError, match=r"pid: act: input: got 'pull'; need one of: push"):
        sp.simulate(robot, 0.1, dt=0.01)
    with pytest.raises(SuppleError, match=r"pid: rate.*both a rate and a state"):
        sp.ContinuousController("pid", push, rate=error)


def test_a_controller_that_becomes_nonsense_is_named():
    robot = sp.Robot(
        sp.Body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1), joint=sp.Prismatic("x")),
        sp.Wrench("motor", on="cart", force=(1, 0, 0), law=sp.Input("push", 0.0)),
        sp.ContinuousController("law", lambda t, seen, z: {"push": jnp.sqrt(0.05 - t)}),
        gravity=(0, 0, 0),
    )
    with pytest.raises(SuppleError, match=r"controller 'law' gives nan at t = 0\.05"):
        sp.simulate(robot, 0.1, dt=0.01)
