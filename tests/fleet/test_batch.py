"""Batches are what single runs are, member by member, on all cores and in lockstep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.compile import jit
from supple.fleet.abreast import abreast
from supple.fleet.flat import flattened
from tests.studies.robots import arm

STEPS = 40
PULLS = np.linspace(0.5, 3.0, 5)
TOL = 1e-12  # round-off: the same arithmetic, in another order


@pytest.fixture(scope="module")
def model():
    return arm().build()


@pytest.fixture(scope="module")
def run(model):
    def run(pull):
        found = sp.rollout(model, dt=0.01, steps=STEPS, inputs={"pull": pull})
        return found.final.q, found.status, found.completed

    return run


@pytest.fixture(scope="module")
def singles(run):
    one = jit(run)
    return np.stack([one(pull)[0] for pull in PULLS])


@pytest.fixture(scope="module", params=[False, True], ids=["on all cores", "in lockstep"])
def fleet(run, request):
    return sp.batch(run, lockstep=request.param)


def test_a_batch_is_what_single_runs_are(fleet, singles):
    q, status, completed = fleet(PULLS)
    np.testing.assert_allclose(q, singles, atol=TOL)
    assert set(np.asarray(status)) == {sp.Status.DONE}
    assert set(np.asarray(completed)) == {STEPS}


def test_a_member_that_fails_harms_no_other(fleet, singles):
    """A pull that cannot be, one that no step can follow, and the others as they were."""
    q, status, completed = fleet(np.array([PULLS[0], np.nan, 1e9, PULLS[3], PULLS[4]]))
    assert list(status) == [1, sp.Status.BAD_INPUT, sp.Status.NOT_CONVERGED, 1, 1]
    assert max(np.asarray(completed)[[1, 2]]) < STEPS
    np.testing.assert_allclose(np.asarray(q)[[0, 3, 4]], singles[[0, 3, 4]], atol=TOL)


def test_a_batch_of_robots_and_one_of_other_structure():
    robots = [arm().replacing(sp.Wrench("push", on="arm", force=(0.0, f, 0.0))) for f in (0.1, 0.2)]
    energy = sp.batch(lambda model: model.loads[0].value[4])
    np.testing.assert_allclose(energy(robots), [0.1, 0.2])
    rod = arm()["arm"]
    other = arm().replacing(
        sp.Rod("arm", rod.length, rod.section, rod.material, strains="planar", basis=3)
    )
    with pytest.raises(sp.ArgumentError, match="member 1 has 3 coordinates, member 0 has 2"):
        energy([arm(), other])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((np.zeros(3), np.zeros(4)), r"3 in argument \[0\], 4 in argument \[1\]"),
        ((1.0, np.zeros(4)), r"argument \[0\]: got one number"),
        ((np.zeros(0),), "got no members"),
        ((), "got no arrays"),
        ((arm(),), "argument 0: got one Robot"),
    ],
)
def test_members_that_do_not_fit(given, match):
    with pytest.raises(sp.ArgumentError, match=match):
        sp.batch(lambda *args: args)(*given)


def test_a_structure_that_depends_on_numbers_is_refused():
    def bent(angle):
        return 1.0 if angle > 0 else 2.0

    with pytest.raises(sp.ArgumentError, match="must not depend on the numbers that differ"):
        sp.batch(bent)(np.zeros(3))


def test_flat_programs_compute_the_same():
    """Branches, loops, products, factors, linear solves: in other words, and differentiated before."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(6, 5, 5))

    def one(a, s):
        b = a @ a.T + jnp.eye(5)
        inverse = jnp.linalg.inv(a) + jnp.linalg.solve(b.T, a)
        grown = jax.lax.fori_loop(0, 3, lambda _, x: jnp.sin(x) @ a, b)
        rare = jax.lax.cond(
            s > 0, lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(5), x) @ x, lambda x: x, grown
        )
        total, partial = jax.lax.scan(lambda c, row: (c + row @ row, c), 0.0, a)
        grown_until = jax.lax.while_loop(
            lambda x: jnp.abs(x[0]) < 10, lambda x: (x[0] * 2, x[1] + 1), (s, 0)
        )
        places = jnp.argmax(a[:, 0]), jnp.array([2, 1])
        read = [a[place] for place in places], jnp.sort(a[0]), jnp.clip(a, -0.3, jnp.abs(s))
        put = [a.at[place].add(s) for place in places], jnp.pad(a, 1), jnp.arange(3)
        by_a = jax.grad(lambda x: jnp.sum(jnp.linalg.inv(x)))(a)
        return inverse, rare, total, partial, grown_until, read, put, by_a

    flat = jax.jit(abreast(flattened(one)))
    found, known = (
        jax.tree.leaves(program(many, many[:, 0, 0])) for program in (flat, jax.jit(jax.vmap(one)))
    )
    for own, other in zip(found, known, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-9)
    text = flat.lower(many, many[:, 0, 0]).as_text()
    assert "dot_general" not in text
    assert "custom_call" not in text
