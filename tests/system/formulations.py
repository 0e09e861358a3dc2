"""Two small formulations that are not those of Supple: what solvers may and may not take for granted."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from supple.errors import ArgumentError
from supple.mechanics.inverse_dynamics_tangent import Tangent
from supple.model.state import State
from supple.system.dense import factorize_dense
from supple.system.formulation import AbstractFormulation
from supple.system.linear import DenseSystem
from supple.system.second_order import AbstractSecondOrder


class AbstractPlain(AbstractFormulation):
    """Plain numbers, no controllers, nothing one-sided, nothing driven."""

    @property
    @abc.abstractmethod
    def size(self):
        """Numbers of q."""

    @property
    def factors_last(self):
        return False

    def retract(self, q, x):
        return q + x

    def difference(self, q, other):
        return other - q

    def rate(self, q, x, xdot):
        return xdot

    def chart_rate(self, q, x, v):
        return v

    def rate_derivative(self, q, x, xdot, xddot):
        return xddot

    def error_norm(self, state, change):
        return jnp.max(jnp.abs(change))

    def fastest_turn(self, v):
        return jnp.zeros(())

    def with_active(self, active):
        return self

    def active_at(self, q, t, multipliers):
        return None

    def one_sided(self, state):
        raise NotImplementedError

    @property
    def length(self):
        return jnp.ones(())

    active_first = None
    controls = ()
    guarded = None

    @property
    def inputs(self):
        return jnp.zeros(0)

    def find_input(self, name, asking):
        raise ArgumentError(f"{asking}: got {name!r}; there is none")

    def with_inputs(self, inputs):
        return self

    def sensors(self, state):
        return state

    def frozen_at(self, t, *, of_velocities=False):
        return self


class ShootingCantilever(AbstractPlain):
    """A planar Reissner rod, clamped at its base and pulled at its tip, integrated from its base.

    q are angle and place (θ, x, y) at the nodes. The unknown of a solve is the wrench (n_x, n_y, m) at the
    base, from which the strong form is integrated by Runge-Kutta 4 to the tip, where it must be the load:

        θ′ = m/EI,  r′ = R (e + N/(EA, GA)),  n′ = ρA r̈,  m′ = ρI θ̈ - r′ × n.
    """

    starts_with_acceleration = False

    span: float
    stiffness: jnp.ndarray  # EI, EA, GA
    inertia: jnp.ndarray  # ρI, ρA
    force: jnp.ndarray
    factor: jnp.ndarray = eqx.field(default_factory=lambda: jnp.ones(()))
    nodes: int = eqx.field(static=True, default=41)

    @property
    def size(self):
        return 3 * self.nodes

    @property
    def scale(self):
        bend = self.stiffness[0] / self.span
        return jnp.stack([bend / self.span, bend / self.span, bend])

    @property
    def turn_scale(self):
        return self.scale

    def any_state(self):
        zero = jnp.zeros(self.size)
        return State(jnp.zeros(()), zero, zero, zero, jnp.zeros(3))

    def straight(self):
        s = self.span * np.linspace(0, 1, self.nodes)
        return jnp.stack([0 * s, s, 0 * s], axis=1).reshape(-1)

    def _between(self):
        """Values in the middle between nodes, by cubics through four of them."""
        found = np.zeros((self.nodes - 1, self.nodes))
        for i in range(self.nodes - 1):
            first = min(max(i - 1, 0), self.nodes - 4)
            powers = np.vander(np.arange(4.0), increasing=True)
            found[i, first : first + 4] = (i + 0.5 - first) ** np.arange(4) @ np.linalg.inv(powers)
        return found

    def _fields(self, d, y):
        """Nodes (θ, x, y) and the wrench at the tip, for a wrench at the base."""
        step = self.span / (self.nodes - 1)
        zero = jnp.zeros(self.size)
        parts = [d.origin.q, zero] if d.rates is None else [d.origin.q, d.rates.acceleration]
        about, given = (part.reshape(self.nodes, 3) for part in parts)
        change = 0.0 if d.rates is None else d.rates.by_change

        def slope(state, about, given):
            place, n, m = state[:3], state[3:5], state[5]
            acceleration = change * (place - about) + given
            c, s = jnp.cos(place[0]), jnp.sin(place[0])
            turn = jnp.array([[c, -s], [s, c]])
            along = turn @ (jnp.array([1.0, 0.0]) + turn.T @ n / self.stiffness[1:])
            moment = self.inertia[0] * acceleration[0] - (along[0] * n[1] - along[1] * n[0])
            force = self.inertia[1] * acceleration[1:]
            return jnp.concatenate([m[None] / self.stiffness[0], along, force, moment[None]])

        def once(state, at):
            first, middle, last = at
            k1 = slope(state, *first)
            k2 = slope(state + step / 2 * k1, *middle)
            k3 = slope(state + step / 2 * k2, *middle)
            k4 = slope(state + step * k3, *last)
            new = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return new, new

        start = jnp.concatenate([self.straight()[:3], y])
        known = [(part[:-1], self._between() @ part, part[1:]) for part in (about, given)]
        _, rest = lax.scan(once, start, tuple(zip(*known, strict=True)))
        whole = jnp.concatenate([start[None], rest])
        return whole[:, :3].reshape(-1), whole[-1, 3:]

    def unknown(self, d, x):
        return jnp.zeros(3) if d.origin.multipliers is None else d.origin.multipliers

    def displacement(self, d, y):
        return self._fields(d, y)[0] - d.origin.q

    def residual(self, d, y):
        load = jnp.concatenate([self.factor * self.force, jnp.zeros(1)])
        return self._fields(d, y)[1] - load, None

    def factorize(self, d, y, work):
        return factorize_dense(jax.jacfwd(lambda y: self.residual(d, y)[0])(y))

    def state(self, d, y):
        x = self.displacement(d, y)
        xdot, xddot = (jnp.zeros_like(x),) * 2 if d.rates is None else d.rates.at(x)
        return State(d.t, d.origin.q + x, xdot, xddot, y)

    def consistent_state(self, q, v, t, multipliers):
        return State(t, q, v, jnp.zeros_like(v), multipliers), None

    def with_acceleration(self, state):
        return state

    def loaded(self, factor):
        return eqx.tree_at(lambda f: f.factor, self, factor * self.factor)


class ViscoelasticOscillator(AbstractPlain, AbstractSecondOrder):
    """A mass on a spring beside a Maxwell element, whose dashpot z has a rate but no inertia.

    m ẍ + k x + k₂ (x - z) = F,    c ż = k₂ (x - z)
    """

    mass: float
    spring: float
    second: float
    dashpot: float
    force: float
    factor: float = 1.0

    size = 2
    nv = 2
    of_velocities = np.zeros(0, dtype=bool)
    first_order = np.array([False, True])

    @property
    def coordinate_scale(self):
        return jnp.ones(2)

    def _matrices(self):
        k, k2 = self.spring, self.second
        M = jnp.array([[self.mass, 0.0], [0.0, 0.0]])
        C = jnp.array([[0.0, 0.0], [0.0, self.dashpot]])
        return M, C, jnp.array([[k + k2, -k2], [-k2, k2]])

    def _load(self):
        return jnp.array([self.factor * self.force, 0.0])

    def balance(self, c):
        M, C, K = self._matrices()
        left = M @ c.xddot + C @ c.xdot + K @ (c.q + c.x) - self._load()
        return Tangent(left, M, C, K, *(jnp.zeros(0), *(jnp.zeros((0, 2)),) * 3, jnp.zeros(0)))

    def tangent(self, c, work):
        return work

    def linearize(self, c, work, combinations):
        return [DenseSystem(one.block(self._matrices())) for one in combinations]

    def any_state(self):
        return State(jnp.zeros(()), *(jnp.zeros(2),) * 3)

    def consistent_state(self, q, v, t, multipliers):
        return self.with_acceleration(State(t, q, v, jnp.zeros(2))), None

    def with_acceleration(self, state):
        K = self._matrices()[2]
        rate = -(K @ state.q)[1] / self.dashpot
        v = jnp.stack([state.v[0], rate])
        a = (self._load() - K @ state.q)[0] / self.mass
        return State(state.t, state.q, v, jnp.stack([a, -(K @ v)[1] / self.dashpot]))

    def forward_dynamics(self, c):
        raise NotImplementedError

    def stage_turns(self, stages, reference):
        return None

    def turn_force(self, turns, force):
        return force

    def turn_rate(self, turns, rate):
        return rate

    def size_of(self, change, mass):
        return jnp.max(jnp.abs(change))

    def stiffness_over_mass(self, q, t):
        return jnp.asarray(self.spring / self.mass)

    def loaded(self, factor):
        return eqx.tree_at(lambda f: f.factor, self, factor * self.factor)

    def by_load(self, state):
        return [eqx.tree_at(lambda f: f.force, self, 0.0), self]
