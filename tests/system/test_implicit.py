"""Roots have derivatives of every order: in loops, in batches, forward and in reverse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import supple as sp
from supple.system.implicit import AbstractSolver, implicit_root


class Slope(AbstractSolver):
    slope: jax.Array

    def solve(self, product, right):
        return right / self.slope

    def solve_transposed(self, product, right):
        return right / self.slope


def root(p, q):
    """Where y³ + p y = q."""
    y = jnp.ones(1)
    for _ in range(20):
        y = y - (y**3 + p * y - q) / (3 * y**2 + p)
    y = lax.stop_gradient(y)
    return implicit_root(lambda y: y**3 + p * y - q, y, Slope(3 * y**2 + p))


def once(p):
    return root(p[0], p[1])[0]


def in_a_loop(p):
    return lax.scan(lambda q, _: (root(p[0], q), None), p[1][None], None, length=3)[0][0]


def exact(p):
    """The same in closed form (Cardano)."""

    def one(q):
        s = jnp.sqrt(q**2 / 4 + p[0] ** 3 / 27)
        return jnp.cbrt(q / 2 + s) + jnp.cbrt(q / 2 - s)

    return one(p[1])


P = jnp.array([0.7, 1.3])


@pytest.mark.parametrize(
    "second",
    [
        lambda f: jax.jacfwd(jax.grad(f)),
        lambda f: jax.jacrev(jax.grad(f)),
        lambda f: jax.jacfwd(jax.jacfwd(f)),
        lambda f: jax.jacrev(jax.jacfwd(f)),
    ],
    ids=["forward reverse", "reverse reverse", "forward forward", "reverse forward"],
)
def test_second_derivatives(second):
    def thrice(p):
        for _ in range(3):
            p = jnp.stack([p[0], exact(p)])
        return p[1]

    np.testing.assert_allclose(second(once)(P), second(exact)(P), atol=1e-9)
    np.testing.assert_allclose(second(in_a_loop)(P), second(thrice)(P), atol=1e-9)


def test_third_derivatives_and_batches():
    third = jax.jacfwd(jax.hessian(exact))(P)
    np.testing.assert_allclose(jax.jacfwd(jax.hessian(once))(P), third, atol=1e-8)
    many = jnp.array([[0.7, 1.3], [0.5, 1.1]])
    found = jax.vmap(jax.hessian(once))(many)
    np.testing.assert_allclose(found[0], jax.hessian(exact)(P), atol=1e-9)
    total = jax.hessian(lambda all_: jnp.sum(jax.vmap(once)(all_)))(many)
    np.testing.assert_allclose(total[1, :, 1], jax.hessian(exact)(many[1]), atol=1e-9)


def robot(p):
    """Of a modulus and a tension, the latter as a law of the user's."""
    soft = sp.Material(E=1e6 * p[0], density=1100.0, damping=sp.StiffnessDamping(0.01))
    return sp.Robot(
        sp.Rod("arm", 0.2, sp.Circle(0.01), soft, basis=1, strains="planar"),
        sp.Tendon("left", on="arm", offset=(0.005, 0.0), tension=lambda t: p[1] * (1 + t)),
        gravity=(0, -9.81, 0),
    )


def sag(p):
    return sp.equilibrium(robot(p)).position("arm")[1]


def swung(p):
    return sp.rollout(robot(p), dt=0.01, steps=3).final.q[0]


@pytest.mark.parametrize(
    "f", [sag, pytest.param(swung, marks=pytest.mark.slow)], ids=["equilibrium", "rollout"]
)
def test_hessians_are_differences_of_gradients(f):
    at, step = jnp.array([1.0, 0.3]), 1e-5 * jnp.eye(2)
    slope = jax.jit(jax.grad(f))
    rows = [(slope(at + d) - slope(at - d)) / 2e-5 for d in step]
    found = jax.jit(jax.hessian(f))(at)
    np.testing.assert_allclose(found, np.stack(rows), atol=1e-6 * np.abs(found).max())
