"""Joint limits: hard stops that take speed away, compliant ones that push back, in statics and in motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.errors import DescriptionError, SuppleError
from tests.tools import jit

MASS, LENGTH, GRAVITY = 0.7, 0.5, 9.81


def pendulum(joint, *more, gravity=(0.0, -GRAVITY, 0.0)):
    """A point mass on a massless arm along x, which falls towards -y: the hinge turns about z."""
    return sp.Robot(
        sp.Body("arm", mass=MASS, com=(LENGTH, 0.0, 0.0), joint=joint, inertia=(1e-9, 1e-9, 1e-9)),
        *more,
        gravity=gravity,
    )


def hard(**more):
    return sp.Revolute("z", lower=-0.6, upper=0.4, **more)


def test_a_joint_rests_at_its_stop_with_the_moment_of_the_weight():
    held = sp.equilibrium(pendulum(hard()))
    assert held.q[0] == pytest.approx(-0.6, abs=1e-12)
    assert held.stop("arm")[0] == pytest.approx(MASS * GRAVITY * LENGTH * np.cos(0.6), rel=1e-9)
    # A spring that holds the arm within its bounds: the stop carries nothing.
    free = sp.equilibrium(pendulum(hard(stiffness=50.0)))
    assert free.q[0] == pytest.approx(-MASS * GRAVITY * LENGTH / 50.0, rel=0.02)
    assert np.abs(free.multipliers).max() < 1e-9


SCHEMES = {
    "alpha": {"dt": 5e-3},
    "newmark-euler": {"dt": 5e-3, "scheme": sp.ImplicitEuler()},
    "radau-fixed": {"dt": 5e-3, "scheme": sp.radau()},
    "accuracy": {"accuracy": 1e-4},
}


@pytest.mark.parametrize("options", SCHEMES.values(), ids=SCHEMES)
def test_a_falling_arm_is_stopped_at_once_and_never_gains_energy(options):
    result = sp.simulate(pendulum(hard()), 1.0, **options)
    angle, rate = result.joint("arm").position[:, 0], result.v[:, 0]
    assert angle.min() > -0.6 - 1e-8
    assert angle[-1] == pytest.approx(-0.6, abs=1e-8)
    assert abs(rate[-1]) < 1e-9
    total = result.energies.total
    assert np.diff(total).max() < 1e-6 * MASS * GRAVITY * LENGTH
    # When it hits: dt = dφ/φ̇ with φ̇² = 2 g sin φ / L; φ = 0.6 u² takes the root at the start away.
    u = (np.arange(20000) + 0.5) / 20000
    fall = np.mean(1.2 * u / np.sqrt(2 * GRAVITY / LENGTH * np.sin(0.6 * u**2)))
    hit = result.t[np.argmax(angle < -0.6 + 1e-7)]
    assert hit == pytest.approx(fall, rel=2e-2 if "scheme" in options else 1e-2)


def test_a_chain_whose_elbow_hits_loses_just_the_energy_of_an_inelastic_impact():
    """Without gravity: a locked elbow after the impact, angular momentum about the base kept."""

    def robot(elbow):
        return sp.Robot(
            sp.Body("upper", mass=1.0, com=(0.25, 0, 0), inertia=(0.01, 0.02, 0.02),
                    joint=sp.Revolute("z")),
            sp.Body("lower", parent="upper", position=(0.5, 0, 0), mass=0.5, com=(0.2, 0, 0),
                    inertia=(0.01, 0.01, 0.01), joint=elbow),
            gravity=(0, 0, 0),
        )  # fmt: skip

    stopped = robot(sp.Revolute("z", upper=0.3))
    model = stopped.build()
    start = sp.initial_state(model, v=[0.2, 1.5])
    result = sp.simulate(model, 0.6, accuracy=1e-6, initial=start)
    assert result.joint("lower").position[:, 0].max() < 0.3 + 1e-8
    before, after = result.energies.kinetic[0], result.energies.kinetic[-1]
    # The impact by hand: v⁺ = v⁻ - M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J v⁻ at the elbow's bound, from the free robot's run.
    free = sp.simulate(
        robot(sp.Revolute("z")), 0.6, accuracy=1e-8, initial=sp.initial_state(model, v=[0.2, 1.5])
    )
    hit = int(np.argmax(free.joint("lower").position[:, 0] > 0.3))
    M = np.asarray(mass(free.model, free.q[hit]))
    J = np.array([0.0, 1.0])
    lost = (J @ free.v[hit]) ** 2 / (J @ np.linalg.solve(M, J)) / 2
    assert before - after == pytest.approx(lost, rel=2e-2)
    assert after < before


def mass(model, q):
    from supple.mechanics.inverse_dynamics_tangent import mass_matrix

    return jit(mass_matrix)(model, jnp.asarray(q))


def test_a_joint_leaves_its_stop_when_it_is_pulled_away():
    pull = sp.Wrench(
        "pull",
        on="arm",
        force=(0.0, 20.0, 0.0),
        position=(LENGTH, 0, 0),
        law=lambda t: jnp.sin(8 * t),
    )
    result = sp.simulate(pendulum(hard(damping=0.05), pull), 2.0, dt=2e-3)
    angle = result.joint("arm").position[:, 0]
    assert result.ok
    assert angle.min() > -0.6 - 1e-8
    assert angle.max() < 0.4 + 1e-8
    assert angle.max() == pytest.approx(0.4, abs=1e-8)
    forces = result.multipliers[:, list(result.model.constraints.one_sided_rows)]
    assert forces.min() > -1e-8
    # Complementary: where a stop pushes, its gap is closed.
    gap = np.stack([-0.6 - angle, angle - 0.4], axis=1)
    assert np.abs(forces * gap).max() < 1e-6


def test_compliant_stops_are_springs_beyond_the_bounds():
    stiff = 400.0
    held = sp.equilibrium(pendulum(hard(stop_stiffness=stiff)))
    beyond = -0.6 - held.q[0]
    assert stiff * beyond == pytest.approx(MASS * GRAVITY * LENGTH * np.cos(held.q[0]), rel=1e-6)
    result = sp.simulate(pendulum(hard(stop_stiffness=stiff)), 1.0, accuracy=1e-5)
    assert (
        np.ptp(result.energies.total) < 1e-4 * MASS * GRAVITY * LENGTH
    )  # it bounces, and keeps its energy
    damped = sp.simulate(pendulum(hard(stop_stiffness=stiff, stop_damping=2.0)), 3.0, accuracy=1e-4)
    assert damped.joint("arm").position[-1, 0] == pytest.approx(held.q[0], abs=1e-3)


def test_rollouts_keep_stops_and_differentiate():
    model = pendulum(hard(damping=0.02)).build()
    start = sp.initial_state(model)

    def end(speed):
        moving = sp.State(start.t, start.q, jnp.stack([speed]), start.a)
        found = sp.rollout(model, moving, sp.generalized_alpha(0.8), 5e-3, 60)
        return found.states.q[-1, 0], found

    angle, found = jit(end)(0.0)
    assert found.status == sp.Status.DONE
    assert float(angle) == pytest.approx(-0.6, abs=1e-9)
    # Thrown upwards it is still on its way at the end.
    gradient = jit(jax.grad(lambda s: end(s)[0]))(2.0)
    sides = [float(jit(end)(2.0 + h)[0]) for h in (1e-5, -1e-5)]
    assert float(gradient) == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=1e-6)


def test_bad_bounds_are_refused():
    with pytest.raises(
        DescriptionError, match=r"joint\.lower: got 1\.0; need less than joint\.upper"
    ):
        pendulum(sp.Revolute("z", lower=1.0, upper=0.5)).build()
    with pytest.raises(DescriptionError, match=r"stop_stiffness.*need lower, upper or both"):
        pendulum(sp.Revolute("z", stop_stiffness=10.0)).build()
    robot = pendulum(hard())
    with pytest.raises(SuppleError, match=r"beyond the stop of 'arm'"):
        sp.simulate(robot, 0.1, initial=sp.initial_state(robot.build(), q=[0.5]))
