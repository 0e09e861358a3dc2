"""The robots of 003 against an independent derivation: Lagrange's equations by automatic differentiation.

Energies are written here from the closed forms of 003, bars as point sets in the plane; nothing of the
engine's mechanics is used. Motors turn by the angle of the drum, which winds the tendon up where it is
positive: the paper's θ is minus this angle times the gear ratio.
"""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.kinematics import kinematics
from supple.mechanics.transmissions import transmission_motion
from supple.model.state import State
from supple.robots import bird_neck as neck, bird_neck_angles as angles
from supple.system.forward_dynamics import forward_dynamics
from supple.system.strain import Strain
from tests.tools import jit

G = 9.81
TOL = 1e-9  # the power balance of the issue; accelerations of 1e3 rad/s² come out to 1e-11 of that
TORQUES = (0.05, 0.03, -0.02, 0.04, 0.01)


@cache
def robot(joints):
    """The elastic robot with torques, and the function that gives its accelerations."""
    model = neck.bird_neck(joints, TORQUES[: joints + 1]).build()
    return model, jit(lambda q, v: forward_dynamics(model, q, v))


def geometry(alpha):
    """Orientation and place of the bars in the plane, from the base up: [(angle, x, z, length, mass)]."""
    b, length, found = neck.BAR, neck.DIAGONAL, []
    turn, x, z = 0.0, 0.0, 0.0  # angles from the vertical, positive towards -x
    for a in alpha:
        r = jnp.sqrt(length**2 - (b * jnp.cos(a / 2)) ** 2)
        lean = jnp.arcsin(b / length * jnp.cos(a / 2))
        top = x - r * jnp.sin(turn + a / 2), z + r * jnp.cos(turn + a / 2)
        for sign in (-1.0, 1.0):  # from the end of the base at sign * b/2 to the other side
            way = turn + a / 2 + sign * lean
            foot = x + sign * b / 2 * jnp.cos(turn), z + sign * b / 2 * jnp.sin(turn)
            middle = foot[0] - length / 2 * jnp.sin(way), foot[1] + length / 2 * jnp.cos(way)
            found.append((way, *middle, length, neck.DIAGONAL_MASS))
        turn, (x, z) = turn + a, top
        found.append((turn, x, z, b, neck.BAR_MASS))
    return found


def sides(alpha):
    """Lengths of the left and right sides, each (joints,)."""
    r = jnp.sqrt(neck.DIAGONAL**2 - (neck.BAR * jnp.cos(alpha / 2)) ** 2)
    lean = neck.BAR * jnp.sin(alpha / 2)
    return r - lean, r + lean


def lengths(alpha):
    """Of the tendons."""
    left, right = sides(alpha)
    return jnp.concatenate([left.sum()[None], right])


def elongation(q, n):
    """x_c of the tendons: what the structure takes and what the drums have wound up (m)."""
    return lengths(q[:n]) - lengths(jnp.zeros(n)) + neck.DRUM * q[n:]


def places(q, n):
    return jnp.stack([jnp.stack([p[0], p[1], p[2]]) for p in geometry(q[:n])])


def kinetic(q, v, n):
    _, speed = jax.jvp(lambda q: places(q, n), (q,), (v,))
    bars = geometry(q[:n])
    total = sum(
        0.5 * m * (s[1] ** 2 + s[2] ** 2) + m * length**2 / 24 * s[0] ** 2
        for s, (*_, length, m) in zip(speed, bars, strict=True)
    )
    return total + 0.5 * neck.ROTOR * jnp.sum((neck.GEAR * v[n:]) ** 2)


def potential(q, n):
    left, right = sides(q[:n])
    springs = jnp.asarray(neck.SPRINGS[n])
    stored = sum(0.5 * springs @ (side - neck.SPRING_LENGTH) ** 2 for side in (left, right))
    weight = sum(m * G * z for _, _, z, _, m in geometry(q[:n]))
    return stored + weight + 0.5 * neck.STIFFNESS * jnp.sum(elongation(q, n) ** 2)


def lost_and_driven(q, v, n, rotor_speed=None):
    """Forces of friction, of the tendons' damping and of the motors, on all coordinates."""

    def pivots(alpha):  # angles of the diagonals against both bars they join
        lean = jnp.arcsin(neck.BAR / neck.DIAGONAL * jnp.cos(alpha / 2))
        left, right = alpha / 2 - lean, alpha / 2 + lean
        return jnp.concatenate([left, right, alpha - left, alpha - right])

    slope = jax.jacfwd(pivots)(q[:n])
    alpha = -neck.PIVOT * slope.T @ slope @ v[:n]
    by = jax.jacfwd(lambda q: elongation(q, n))(q)
    tendons = -neck.DAMPING * by.T @ (by @ v)
    rotor = neck.GEAR * (v[n:] if rotor_speed is None else rotor_speed)
    dry = 0.008 * 2 / jnp.pi * jnp.arctan(0.5 * rotor)
    torque = jnp.asarray(TORQUES[: n + 1])
    return jnp.concatenate([alpha, neck.GEAR * (torque - dry)]) + tendons


def accelerations(q, v, n):
    """From d/dt ∂T/∂v - ∂T/∂q + ∂V/∂q = Q."""
    mass = jax.hessian(kinetic, argnums=1)(q, v, n)
    momentum = jax.grad(kinetic, argnums=1)
    drift = jax.jvp(lambda q: momentum(q, v, n), (q,), (v,))[1]
    force = jax.grad(lambda q: kinetic(q, v, n) - potential(q, n))(q) + lost_and_driven(q, v, n)
    return jnp.linalg.solve(mass, force - drift)


def drawn(rng, n):
    """A state with tendons stretched by tenths of a millimeter, some of them pushing."""
    alpha = rng.uniform(-0.8, 0.8, n)
    wound = (np.asarray(lengths(jnp.zeros(n)) - lengths(jnp.asarray(alpha)))) / neck.DRUM
    drums = wound + rng.uniform(-2e-4, 4e-4, n + 1) / neck.DRUM
    return np.concatenate([alpha, drums]), rng.normal(size=2 * n + 1)


@pytest.mark.parametrize("joints", [3, 4])
def test_accelerations_and_power_are_those_of_the_energy_method(rng, joints):
    model, ours = robot(joints)
    theirs = jit(lambda q, v: accelerations(q, v, joints))

    @jit
    def gain(q, v, a):
        """d/dt of all energies, and the power of motors and losses."""
        whole = lambda q, v: kinetic(q, v, joints) + potential(q, joints)
        return jax.jvp(whole, (q, v), (v, a))[1], lost_and_driven(q, v, joints) @ v

    order = [slot.v_start for slot in model.topology.joint_slots]
    assert order == list(range(2 * joints + 1))  # tops, then motors in the order of the tendons
    for _ in range(5):
        q, v = drawn(rng, joints)
        a, b = np.asarray(ours(q, v)), np.asarray(theirs(q, v))
        np.testing.assert_allclose(a, b, atol=TOL * np.abs(b).max())
        power, work = gain(q, v, jnp.asarray(a))
        np.testing.assert_allclose(power, work, rtol=TOL, atol=TOL * np.abs(work))


def test_tendons_have_the_lengths_and_moment_arms_of_their_closed_forms(rng):
    """f_θ, J_θ and its derivative along the motion, by hand, not by differentiation."""
    n, (model, _) = 3, robot(3)
    q, v = drawn(rng, n)
    names = model.transmissions.names
    own = [names.index(name) for name in neck.tendon_names(n)]

    @jit
    def engine(q, v):
        def at(q, v):
            zero = jnp.zeros(model.nv)
            c = Coordinates(q, zero, v, zero, jnp.zeros(()))
            found = transmission_motion(model, c, kinematics(model, c))
            return found.length, found.rate

        length, rate = at(q, v)
        arms, second = (jax.jacfwd(f)(q) for f in (lambda q: at(q, v)[0], lambda q: at(q, v)[1]))
        return length, rate, arms, second

    length, rate, arms, second = (np.asarray(part)[own] for part in engine(q, v))
    b, s, c = neck.BAR, np.sin(q[:n] / 2), np.cos(q[:n] / 2)
    r = np.sqrt(neck.DIAGONAL**2 - b**2 * c**2)
    first = {-1: b * c / 2 * (b * s / r - 1), 1: b * c / 2 * (b * s / r + 1)}
    bend = {
        sign: b**2 / 4 * ((c**2 - s**2) / r - b**2 * s**2 * c**2 / r**3) - sign * b * s / 4
        for sign in (-1, 1)
    }
    reach = np.eye(n)
    J = np.vstack([first[-1], reach * first[1]])
    dJ = np.vstack([bend[-1], reach * bend[1]]) * v[:n]
    wound = neck.DRUM * q[n:]
    np.testing.assert_allclose(length, np.asarray(lengths(q[:n])) + wound, atol=1e-14)
    np.testing.assert_allclose(rate, J @ v[:n] + neck.DRUM * v[n:], atol=1e-14)
    np.testing.assert_allclose(arms[:, :n], J, atol=1e-14)
    np.testing.assert_allclose(second[:, :n], dJ, atol=1e-13)


@cache
def steps():
    """One step of each scheme from a state, for the elastic robot."""
    model, _ = robot(3)
    formulation = Strain(model)

    @jit
    def both(q, v, h):
        state = State(jnp.zeros(()), q, v, forward_dynamics(model, q, v))
        return [
            scheme.step(formulation, state, None, h).state
            for scheme in (
                sp.Explicit("euler"),
                sp.LinearlyImplicitEuler(),
                sp.LinearlyImplicitEuler(hold_friction=True),
            )
        ]

    return both


def test_the_integrators_of_the_source_take_its_steps(rng):
    """Equations (10) and (21), with M, f, K, D of the energy method; dry friction with its slope or held."""
    n, h = 3, 2e-3
    q, v = (jnp.asarray(x) for x in drawn(rng, n))

    @jit
    def printed(q, v):
        mass = jax.hessian(kinetic, argnums=1)(q, v, n)

        def force(q, v, rotor=None):  # all but inertia: M a = f
            momentum = jax.grad(kinetic, argnums=1)
            drift = jax.jvp(lambda q: momentum(q, v, n), (q,), (v,))[1]
            pull = jax.grad(lambda q: kinetic(q, v, n) - potential(q, n))(q)
            return pull + lost_and_driven(q, v, n, rotor) - drift

        def implicit(force):
            K, D = jax.jacfwd(force, argnums=(0, 1))(q, v)
            dv = jnp.linalg.solve(mass - h**2 * K - h * D, h * f + h**2 * K @ v)
            return q + h * (v + dv), v + dv

        f = force(q, v)
        explicit = q + h * v, v + h * jnp.linalg.solve(mass, f)
        return explicit, implicit(force), implicit(lambda q_, v_: force(q_, v_, v[n:]))

    for ours, theirs in zip(steps()(q, v, h), printed(q, v), strict=True):
        np.testing.assert_allclose(ours.q, theirs[0], atol=1e-11 * np.abs(theirs[0]).max())
        np.testing.assert_allclose(ours.v, theirs[1], atol=1e-9 * np.abs(theirs[1]).max())


def test_rigid_tendons_move_as_very_stiff_ones():
    """And their tensions are those of stiff ones."""
    torques = (0.05, 0.03, 0.02, 0.02)
    run = dict(dt=1e-3, scheme=sp.generalized_alpha(0.5), t_eval=0.05)
    soft = neck.bird_neck(3, torques)
    stiff = soft.replacing(
        *(replace(soft[name], stiffness=1e9, damping=1e6) for name in neck.tendon_names(3))
    )
    one = sp.simulate(stiff, 0.2, **run)
    two = sp.simulate(neck.bird_neck(3, torques, elastic=False), 0.2, **run)
    np.testing.assert_allclose(one.position("top 3"), two.position("top 3"), atol=1e-5)
    for name in neck.tendon_names(3):
        ours, theirs = one.tendon(name).tension[1:], two.tendon(name).tension[1:]
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("elastic", [True, False])
def test_computed_torque_keeps_to_the_path_with_tendons_that_pull(elastic):
    """Both models on the controlled motion; what is left is elasticity, sampling and dry friction."""
    robot = neck.bird_neck(3, elastic=elastic, controlled=True)
    run = sp.simulate(robot, neck.DURATION, dt=neck.PERIOD, scheme=sp.LinearlyImplicitEuler())
    goal = np.stack([np.asarray(neck.path(t, 3)) for t in run.t])
    assert np.abs(run.q[:, :3] - goal).max() < 0.05
    for name in neck.tendon_names(3):
        assert run.tendon(name).tension[50:].min() > 0.0


def test_equation_3_on_joint_angles_and_its_integrators_are_those_of_the_source(rng):
    """Drums that follow the joints put into the energies; and steps (4) and (9) from there."""
    n, h, t = 3, jnp.asarray(2e-3), jnp.zeros(())
    model = neck.bird_neck(n, TORQUES[: n + 1], elastic=False).build()
    alpha, rate = (jnp.asarray(x) for x in rng.normal(size=(2, n)) * [[0.3], [1.0]])

    def whole(a, w):
        return jnp.concatenate([a, angles.drums(a)]), jnp.concatenate([w, angles.drum_rates(a, w)])

    def energy(a, w):
        return kinetic(*whole(a, w), n)

    @jit
    def printed(a, w):
        rotors, mass = angles.drum_rates(a, w), jax.hessian(energy, argnums=1)(a, w)

        def force(a, w):  # all but inertia, with dry friction that stays as it is
            drift = jax.jvp(lambda a: jax.grad(energy, argnums=1)(a, w), (a,), (w,))[1]
            lost = lost_and_driven(*whole(a, w), n, rotors)
            pull = jax.grad(lambda a: energy(a, w) - potential(whole(a, w)[0], n))(a)
            return pull - drift + lost[:n] + jax.jacfwd(angles.drums)(a).T @ lost[n:]

        f = force(a, w)
        K, D = jax.jacfwd(force, argnums=(0, 1))(a, w)
        dw = jnp.linalg.solve(mass - h**2 * K - h * D, h * f + h**2 * K @ w)
        return (a + h * w, w + h * jnp.linalg.solve(mass, f)), (a + h * (w + dw), w + dw)

    @jit
    def ours(a, w):
        return [step(model, a, w, t, h) for step in (angles.explicit_step, angles.implicit_step)]

    for found, theirs in zip(ours(alpha, rate), printed(alpha, rate), strict=True):
        np.testing.assert_allclose(found[0], theirs[0], atol=1e-11)
        np.testing.assert_allclose(found[1], theirs[1], atol=1e-9 * np.abs(theirs[1]).max())
