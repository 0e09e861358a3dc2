"""Linear systems by structure are the dense ones: same solution, same products, same transposes."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.lie import so3
from supple.mechanics.element_motion import Coordinates, neutral
from supple.mechanics.inverse_dynamics import balance
from supple.mechanics.inverse_dynamics_tangent import mass_matrix
from supple.system import linear, ordering, planner
from supple.system.combination import at_rest, in_step, of_mass
from supple.system.elimination import linear_system
from supple.system.error_norm import mass_times
from supple.system.fronts import assemble
from tests.samples import RUBBER, model_of, random_configuration, random_vector
from tests.tools import jit

ROUND = sp.Circle(0.01)


def rod(name, **options):
    return sp.Rod(
        name, **{**dict(length=0.3, section=ROUND, material=RUBBER, basis=3, nodes=5), **options}
    )


def _ladder() -> sp.Robot:
    """Two chains, a rung, loops of every sort: between trees, within one, on one rod, to the ground."""
    sides = [
        rod(f"{side}{i}", **({"parent": f"{side}{i - 1}"} if i else {"position": (0, y, 0)}))
        for side, y in (("a", 0.0), ("b", 0.2))
        for i in range(3)
    ]
    ball = sp.Spherical()
    return sp.Robot(
        *sides,
        rod("rung", parent="a1", fraction=0.5, rotation=(0, 0, 1.0)),
        sp.Body("wheel", parent="rung", joint=sp.Revolute("y"), mass=0.2, inertia=(1e-3,) * 3),
        rod("whip", parent="rung", joint=sp.Revolute("y")),
        sp.Closure("hinge", on="b1", to="rung", to_fraction=1.0, joint=sp.Revolute("z")),
        sp.Closure("tips", on="b2", to="a2", to_fraction=1.0, joint=ball),
        sp.Closure("floor", on="ground", to="rung", to_fraction=0.5, joint=ball),
        sp.Closure("parent", on="whip", to="rung", fraction=0.3, to_fraction=0.7, joint=ball),
        sp.Closure("roots", on="b0", to="a0", to_fraction=0.7, joint=ball),
        sp.Closure("far", on="whip", to="b0", fraction=0.6, to_fraction=0.7, joint=ball),
        sp.PrescribedCoordinate("turned", on="whip", value=0.1),
        sp.KnifeEdge("skate", on="wheel"),
    )


def _legs() -> sp.Robot:
    """A plate on straight legs, clamped at both ends."""
    angles = np.arange(6) * np.pi / 3
    items = [sp.Body("plate", joint=sp.Free(), position=(0.3, 0, 0), mass=1.0, inertia=(1e-2,) * 3)]
    for i, angle in enumerate(angles):
        place = (0.0, 0.1 * np.cos(angle), 0.1 * np.sin(angle))
        items.append(rod(f"leg{i}", position=place))
        items.append(
            sp.Closure(f"clamp{i}", on="plate", to=f"leg{i}", to_fraction=1.0, position=place)
        )
    return sp.Robot(*items)


def _splayed() -> sp.Robot:
    """A plate on straight legs that point into several directions."""
    items = [sp.Body("plate", joint=sp.Free(), position=(0.3, 0, 0), mass=1.0, inertia=(1e-2,) * 3)]
    for i, turn in enumerate(np.random.default_rng(1).uniform(-0.5, 0.5, (6, 3))):
        base = np.array([0.0, 0.1 * np.cos(np.pi * i / 3), 0.1 * np.sin(np.pi * i / 3)])
        tip = base + 0.3 * np.asarray(so3.exp(turn))[:, 0] - [0.3, 0.0, 0.0]
        items.append(rod(f"leg{i}", position=tuple(base), rotation=tuple(turn)))
        end = dict(position=tuple(tip), rotation=tuple(turn), joint=sp.Spherical())
        items.append(sp.Closure(f"end{i}", on="plate", to=f"leg{i}", to_fraction=1.0, **end))
    return sp.Robot(*items)


def _net(cells: int = 2) -> sp.Robot:
    """Rods between floating junctions, the first of which is fixed."""
    items = []
    turned = dict(rotation=(0, 0, np.pi / 2))
    for i in range(cells + 1):
        for j in range(cells + 1):
            name, place = f"j{i}{j}", (0.3 * i, 0.3 * j, 0.0)
            joint = sp.Free() if i + j else sp.Fixed()
            lump = dict(mass=0.01, inertia=(1e-5,) * 3)
            items.append(sp.Body(name, position=place, joint=joint, **lump))
            if i < cells:
                items.append(rod(f"x{i}{j}", parent=name))
                items.append(
                    sp.Closure(f"cx{i}{j}", on=f"j{i + 1}{j}", to=f"x{i}{j}", to_fraction=1.0)
                )
            if j < cells:
                items.append(rod(f"y{i}{j}", parent=name, **turned))
                items.append(
                    sp.Closure(
                        f"cy{i}{j}", on=f"j{i}{j + 1}", to=f"y{i}{j}", to_fraction=1.0, **turned
                    )
                )
    return sp.Robot(*items)


def _bush() -> sp.Robot:
    """A tree of rods, some on hinges."""
    return sp.Robot(
        *(
            rod(
                f"r{i}",
                rotation=(0, 0.2 * i, 0.5),
                joint=sp.Revolute("y") if i % 3 == 0 else sp.Fixed(),
                **({"parent": f"r{(i - 1) // 2}"} if i else {}),
            )
            for i in range(11)
        )
    )


@cache
def robot(name):
    if name in ("tree", "driven", "crawler"):
        return model_of(name)
    return {"ladder": _ladder, "legs": _legs, "net": _net, "bush": _bush}[name]().build()


def systems(model, kind, rng):
    """Fronts and dense matrix of one system at a random motion."""
    q, x = random_configuration(model, rng, bend=1.0), random_vector(model, rng, 0.1, 0.3)
    v, a = (random_vector(model, rng, 1.0, 1.0) for _ in range(2))
    if kind == "rest":
        v, a = 0 * v, 0 * a
    forces = rng.normal(size=model.equations) if model.equations else None
    c = Coordinates(q, x, v, a, jnp.asarray(0.3), forces)
    by_rate = 20.0 + 15.0j if kind == "complex" else 20.0
    chosen = {"rest": at_rest(), "mass": of_mass()}.get(kind, in_step(by_rate, 2.0 * by_rate**2))
    order = planner.make_plan(planner.structure_of(model))
    assert order is not None

    def both(model, c):
        state = balance(model, c)
        (dense,) = linear.dense_systems(model, c, state, (chosen,))
        return linear_system(assemble(model, order, c, state, (chosen,))[0]), dense.matrix

    return both, (model, c)


def check(model, kind, rng):
    both, given = systems(model, kind, rng)
    right = rng.normal(size=model.nv + model.equations)

    def solved(model, c, right):
        system, matrix = both(model, c)
        factors = system.factorize()
        back = jax.linear_transpose(factors.solve, right.astype(matrix.dtype))
        (transposed,) = back(right.astype(matrix.dtype))
        return factors.solve(right.astype(matrix.dtype)), transposed, matrix

    found, transposed, matrix = map(np.asarray, jit(solved)(*given, right))
    # 1e-10, or what the condition number allows.
    tolerance = max(1e-10, 1e-15 * np.linalg.cond(matrix))
    for solution, square in ((found, matrix), (transposed, matrix.T)):
        expected = np.linalg.solve(square, right)
        error = np.abs(solution - expected).max() / np.abs(expected).max()
        assert error < tolerance


@pytest.mark.parametrize("kind", ["step", "complex", "mass"])
@pytest.mark.parametrize("name", ["tree", "driven", "bush", "ladder", "legs", "net"])
def test_fronts_solve_the_dense_system(name, kind, rng):
    check(robot(name), kind, rng)


@pytest.mark.parametrize("name", ["bush", "legs", "net"])
def test_fronts_solve_the_dense_system_at_rest(name, rng):
    """Also where hinges have no stiffness of their own and plates none at all."""
    check(robot(name), "rest", rng)


@pytest.mark.parametrize("name", ["ladder", "legs"])
def test_equations_may_be_eliminated_early(name, rng, monkeypatch):
    """Where their pivots may vanish: a hinge cannot slip by itself, a straight leg not become shorter."""
    monkeypatch.setattr(ordering, "LATE_ROWS", 0)
    planner.make_plan.cache_clear()
    check(robot(name), "step", rng)
    planner.make_plan.cache_clear()


def test_straight_legs_are_solved_early_to_round_off(monkeypatch):
    """J A⁻¹ Jᵀ of each leg is singular; the matrix of a robot whose legs are not parallel is not."""
    monkeypatch.setattr(ordering, "LATE_ROWS", 0)
    planner.make_plan.cache_clear()
    model = _splayed().build()
    rng = np.random.default_rng(3)
    zero = np.zeros(model.nv)
    c = Coordinates(neutral(model), zero, zero, zero, jnp.asarray(0.0), np.zeros(model.equations))
    right = rng.normal(size=model.nv + model.equations)
    order = planner.make_plan(planner.structure_of(model))

    def solved(model, c, right):
        state = balance(model, c)
        chosen = in_step(180.0, 18000.0)
        (dense,) = linear.dense_systems(model, c, state, (chosen,))
        factors = linear_system(assemble(model, order, c, state, (chosen,))[0]).factorize()
        return factors.solve(right), dense.matrix, factors.leaves[0].poor

    found, matrix, poor = map(np.asarray, jit(solved)(model, c, right))
    planner.make_plan.cache_clear()
    assert np.all(poor)
    assert np.linalg.cond(matrix) < 1e9
    expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_large_cores_are_solved_level_by_level(rng, monkeypatch):
    monkeypatch.setattr("supple.system.core.WHOLE", 20)
    planner.make_plan.cache_clear()
    order = planner.make_plan(planner.structure_of(robot("net")))
    assert order.core_layout.levels > 2
    check(robot("net"), "step", rng)
    planner.make_plan.cache_clear()


@pytest.mark.parametrize("name", ["bush", "legs"])
def test_products_are_those_of_the_dense_matrix(name, rng):
    both, given = systems(robot(name), "step", rng)
    model = robot(name)
    vector = rng.normal(size=model.nv + model.equations)

    def products(model, c, vector):
        system, matrix = both(model, c)
        return system.apply(vector), matrix @ vector

    found, expected = jit(products)(*given, vector)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_large_robots_use_fronts_and_small_ones_one_matrix():
    assert linear.plan_of(model_of("clamped")) is None
    assert linear.plan_of(robot("bush")) is not None


def test_the_program_does_not_grow_with_the_robot():
    """As many operations for a chain of 64 rods as for one of 50: sums along the tree take as many rounds."""

    def operations(count):
        links = [rod(f"r{i}", **({"parent": f"r{i - 1}"} if i else {})) for i in range(count)]
        model = sp.Robot(*links).build()
        zero = jnp.zeros(model.nv)
        c = Coordinates(jnp.zeros(model.nq), zero, zero, zero, jnp.zeros(()))

        def solved(model, c):
            state = balance(model, c)
            factors = linear.factorize(model, c, state, in_step(10.0, 100.0))
            return factors.solve(state.residual)

        return jax.make_jaxpr(solved)(model, c).pretty_print().count("\n")

    assert operations(64) == operations(50)


def test_the_mass_of_a_robot_with_loops_needs_no_multipliers(rng):
    """Step errors are measured with it; as fronts and as one matrix it is the same."""
    model = robot("legs")
    q = random_configuration(model, rng, bend=1.0)
    change = rng.normal(size=model.nv)

    def energy(model, q, change):
        return mass_times(linear.mass_system(model, q), change)

    expected = np.asarray(jit(mass_matrix)(model, q)) @ change
    found = jit(energy)(model, q, change)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
