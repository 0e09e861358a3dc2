"""Formulas as text: what they mean, what they refuse, and that no text can do harm."""

import copy
import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.errors import DescriptionError
from supple.expression import FUNCTIONS, MAX_LENGTH, Expression, ExpressionError, constant

VALUES = [
    ("1 + 2*3 - 4/8", 6.5),
    ("2 - 3 - 4", -5.0),
    ("16/4/2", 2.0),
    ("-2**2", -4.0),
    ("2**3**2", 512.0),
    ("2**-1", 0.5),
    ("(-8)**3", -512.0),
    ("1.5e-3*2E+3 + .5", 3.5),
    ("- -3", 3.0),
    ("sin(pi/2) + cos(0)", 2.0),
    ("atan2(1, -1)", 0.75 * math.pi),
    ("asin(1) + acos(1) + atan(0)", math.pi / 2),
    ("log(e) + exp(0) + sqrt(4) + abs(-1)", 5.0),
    ("min(3, 1, 2) + max(3, 1, 2)", 4.0),
    ("clip(5, 0, 1) + clip(-5, 0, 1) + clip(0.5, 0, 1)", 1.5),
    ("step(-1) + step(0) + ramp(0.25)", 1.25),
    ("rise(0.5) + rise(-1) + rise(2)", 1.5),
    ("hat(0) + hat(0.5) + hat(3)", 1.5),
    ("floor(-0.5) + mod(7, 3) + sign(-2)", -1.0),
    ("sinh(0) + cosh(0) + tanh(0) + tan(0)", 1.0),
    ("where(1 < 2 < 3, 10, 20) + where(1 < 3 < 2, 10, 20)", 30.0),
    ("where(2 >= 2, 1, 0) + where(2 > 2, 1, 0) + where(2 <= 1, 1, 0)", 1.0),
    ("tau/pi", 2.0),
]


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text, value):
    assert constant(text) == pytest.approx(value, rel=1e-15)


def test_every_function_is_tried():
    tried = " ".join(text for text, _ in VALUES)
    assert all(f"{name}(" in tried for name in FUNCTIONS)


def test_with_numpy_and_jax_the_same():
    law = Expression("20 + 20*sin(5*pi*t) - where(t < 0.5, t**2, clip(t, 0, 0.7))", "t")
    t = np.linspace(0.0, 1.0, 11)
    plain, compiled = law(t), jax.jit(law)(t)
    assert isinstance(plain, np.ndarray)
    assert isinstance(law(jnp.asarray(t)), jax.Array)
    np.testing.assert_allclose(plain, compiled, rtol=1e-14)


def test_vectors_take_the_shape_of_their_variables():
    routing = Expression("[0.01*(1 - u), 0]", "u")
    assert routing.size == 2
    assert routing(np.linspace(0, 1, 5)).shape == (5, 2)
    assert routing(0.5).tolist() == [0.005, 0.0]
    wave = Expression("[0, X*t, 0, 1, 0, 0]", "X, t")
    np.testing.assert_array_equal(wave(np.array([1.0, 2.0]), 3.0)[:, 1], [3.0, 6.0])
    assert jax.jit(wave)(jnp.ones(4), 1.0).shape == (4, 6)


def test_entries_of_vector_variables():
    load = Expression("[twist[5], rotation[0][2], X]", "X, rotation[3][3], twist[6]")
    values = load(7.0, np.arange(9.0).reshape(3, 3), np.arange(6.0))
    assert values.tolist() == [5.0, 2.0, 7.0]


def test_parameters_are_kept_to_the_last_digit():
    third = 1 / 3
    law = Expression("$a*t + $b", "t", a=third, b=-2)
    assert law.text == f"{third!r}*t + (-2.0)"
    assert law(3.0) == third * 3.0 - 2.0
    assert law == Expression(law.text, "t")


def test_equal_by_text_and_hashable():
    first, second = Expression("t + 1", "t"), Expression(" t + 1 ", "t")
    assert first == second
    assert hash(first) == hash(second)
    assert first != Expression("t+1", "t")
    assert first != Expression("t + 1", "t, u")
    assert first != "t + 1"
    assert repr(first) == "Expression('t + 1', 't')"
    assert copy.deepcopy(first) == first
    with pytest.raises(AttributeError):
        first.text = "t"


def test_equal_laws_share_compiled_runs():
    traced = []

    @jax.jit
    def value(law, t):
        traced.append(law)
        return law(t)

    for _ in range(2):
        value(sp.Function(Expression("3*t", "t")), 1.0)
    assert len(traced) == 1


def test_right_hand_derivative_at_the_corners_of_clip():
    slope = jax.grad(Expression("clip(t, 0, 1)", "t"))
    assert [float(slope(t)) for t in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [0.0, 1.0, 1.0, 0.0, 0.0]


def test_rise_starts_and_ends_at_rest():
    rise = Expression("rise(t)", "t")
    for derivative in (jax.grad(rise), jax.grad(jax.grad(rise))):
        assert [abs(float(derivative(t))) < 1e-12 for t in (0.0, 1.0 - 1e-15)] == [True, True]


def test_nothing_grows_beyond_floating_point():
    assert constant("9**9**9**9") == math.inf
    assert constant("1/0") == math.inf
    assert math.isnan(constant("0/0"))
    assert math.isnan(constant("log(-1)"))
    assert math.isnan(constant("(-8)**(1/3)"))


def test_long_sums_are_read():
    assert constant("+".join(["1"] * 1500)) == 1500.0


REFUSED = [
    ("", 0, "the end", "a number"),
    ("1 +", 3, "the end", "a number"),
    ("2 +* 3", 3, "'*'", "a number"),
    ("(1", 2, "the end", ")"),
    ("1)", 1, "')'", "operator"),
    ("1 2", 2, "'2'", "operator"),
    ("a + 1", 0, "'a'", "one of: t, p, pi"),
    ("foo(1)", 0, "'foo'", "functions"),
    ("sin", 0, "'sin'", "sin(…)"),
    ("sin()", 4, "')'", "a number"),
    ("sin(1, 2)", 0, "'sin'", "1 arguments"),
    ("t^2", 1, "'^'", "**"),
    ("t % 2", 2, "'%'", "mod"),
    ("t == 2", 2, "'='", "where"),
    ("t < 2", 2, "'<'", "operator"),
    ("where(t, 1, 2)", 7, "','", "comparison"),
    ("[1, [2]]", 4, "'['", "whole"),
    ("1 + [2]", 4, "'['", "whole"),
    ("p", 1, "the end", "p[…]"),
    ("p[3]", 2, "'3'", "0 to 2"),
    ("p[0.5]", 2, "'0.5'", "0 to 2"),
    ("$x", 0, "'$x'", "none"),
    ("t.real", 1, "'.'", "numbers"),
    ("'a'", 0, '"\'"', "numbers"),
    ("__import__('os')", 11, '"\'"', "numbers"),
    ("lambda: 1", 6, "':'", "numbers"),
    ("1e999999 + ٣", 11, "'٣'", "numbers"),
    ("(" * 500, 40, "'('", "within each other"),
    ("-" * 500, 40, "'-'", "within each other"),
    ("1" * (MAX_LENGTH + 1), MAX_LENGTH, f"{MAX_LENGTH + 1} characters", "at most"),
]


@pytest.mark.parametrize(
    ("text", "position", "got", "need"), REFUSED, ids=[r[0][:20] for r in REFUSED]
)
def test_refused_with_place_and_cure(text, position, got, need):
    with pytest.raises(ExpressionError) as error:
        Expression(text, "t, p[3]")
    assert error.value.position == position
    assert got == error.value.got
    assert need in error.value.need
    assert f"at character {position + 1}" in str(error.value)


@pytest.mark.usefixtures("unchecked")
def test_bad_variables_and_arguments():
    with pytest.raises(DescriptionError, match="names such as"):
        Expression("1", "2x")
    with pytest.raises(DescriptionError, match="names such as"):
        Expression("1", "sin")
    with pytest.raises(DescriptionError, match="as text"):
        Expression(3.0, "t")
    with pytest.raises(TypeError, match="takes 1 argument"):
        Expression("t", "t")(1.0, 2.0)


def mutated(text: str, rng: random.Random) -> str:
    """A text with a few characters changed, repeated or taken away."""
    alphabet = "0123456789.eE+-*/()[],<>= $tuXpisncowhr_'\"\\\n#%^~\u00e9\u0663"
    for _ in range(rng.randint(1, 6)):
        i = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:i] + rng.choice(alphabet) + text[i:]
        elif kind == 1:
            text = text[:i] + text[i + 1 :]
        elif kind == 2:
            text = text[:i] + text[i : i + 20] * rng.randint(2, 5) + text[i:]
        else:
            text = (
                text[:i]
                + rng.choice(["sin(", "where(", ")", "**", "[", "]", "$a", "1e99"])
                + text[i:]
            )
    return text


@pytest.mark.usefixtures("unchecked")
def test_fuzz():
    """10,000 mutated formulas: each is read and gives numbers, or is refused by our own error."""
    rng = random.Random(5)
    seeds = [text for text, _ in VALUES] + ["[0.01*(1 - u), sin(tau*u)]", "20 + $a*sin(5*pi*t)"]
    read = outside = 0
    for _ in range(10_000):
        text = mutated(rng.choice(seeds), rng)
        try:
            found = Expression(text, "t, u", a=2.0)
        except ExpressionError as error:
            outside += not 0 <= error.position <= len(text)
            continue
        read += 1
        values = np.asarray(found(0.5, 0.25))
        assert values.dtype.kind == "f"
        assert Expression(found.text, "t, u")(0.5, 0.25) == pytest.approx(values, nan_ok=True)
    assert read > 500
    assert not outside


def test_as_law_profile_and_routing():
    """An Expression stands wherever a description takes a function."""
    rod = sp.Rod(
        "arm",
        1.0,
        sp.Circle(Expression("0.01*(1 - u/2)", "u")),
        sp.Material(E=Expression("1e7*(1 + u)", "u"), density=1000.0),
        rest=Expression("[0, 0, 3*u, 1, 0, 0]", "u"),
        joint=sp.Driven(sp.Motion("[sin(t), 0, 0]")),
        basis=2,
    )
    robot = sp.Robot(
        rod,
        sp.Tendon(
            "cable",
            on="arm",
            offset=Expression("[0.005*(1 - u), 0]", "u"),
            tension=Expression("2*ramp(t)", "t"),
        ),
        sp.DistributedLoad(
            "wind", on="arm", density=sp.LoadDensity("[0, 0, 0, 0, 0.1*X, -twist[5]]")
        ),
        sp.ActiveStress("muscle", on="arm", stress=Expression("[0, 0, X*t, 0, 0, 0]", "X, t")),
    )
    assert robot == robot.replacing(rod)
    assert robot.build().nv == 6


def test_a_tendon_follows_a_rest_shape_however_it_is_written():
    def held(rest):
        rod = sp.Rod(
            "arm", 1.0, sp.Circle(0.01), sp.Material(E=1e7, density=1.0), basis=2, rest=rest
        )
        tendon = sp.Tendon("cable", on="arm", offset=(0.005, 0.0), tension=1.0)
        return sp.equilibrium(sp.Robot(rod, tendon))

    numbers, formula = (
        held(rest) for rest in ((0, 0.1, 2, 1, 0, 0), Expression("[0, 0.1, 2, 1, 0, 0]", "u"))
    )
    assert np.abs(numbers.q - formula.q).max() < 1e-9
    assert abs(numbers.tendon("cable").length - formula.tendon("cable").length) < 1e-12


def test_motion_and_load_refuse_other_sizes():
    with pytest.raises(DescriptionError, match="3 entries"):
        sp.Motion("[0, 0]")
    with pytest.raises(DescriptionError, match="6 entries"):
        sp.LoadDensity("[0, 0]")
