"""Samples are what their names promise; parameters are found by their paths."""

import numpy as np
import pytest

import supple as sp
from supple.studies.parameters import WithParameters
from tests.studies.robots import arm


def test_a_grid_has_every_combination():
    grid = sp.Grid({"a": [1, 2], "b": [10, 20, 30]})
    pairs = [(a, b) for a in (1, 2) for b in (10, 20, 30)]
    np.testing.assert_array_equal(grid.table, pairs)
    assert len(grid) == 6
    assert grid.sample(4) == {"a": 2.0, "b": 20.0}


def test_a_latin_hypercube_has_one_sample_in_every_step():
    ranges = {"a": (2.0, 4.0), "E": (1e6, 1e10)}
    cube = sp.LatinHypercube(ranges, 200, seed=3, logarithmic=("E",))
    a, e = (cube.table[:, 0] - 2.0) / 2.0, np.log10(cube.table[:, 1] / 1e6) / 4
    for unit in (a, e):
        np.testing.assert_array_equal(np.sort(np.floor(200 * unit)), np.arange(200))
    assert abs(np.corrcoef(a, e)[0, 1]) < 0.2
    same = sp.LatinHypercube(ranges, 200, seed=3, logarithmic=("E",))
    np.testing.assert_array_equal(cube.table, same.table)
    assert not np.array_equal(cube.table, sp.LatinHypercube(ranges, 200, seed=4).table)


def test_random_samples_fill_their_ranges():
    table = sp.RandomSamples({"a": (2.0, 4.0)}, 1000).table
    assert table.min() > 2.0
    assert table.max() < 4.0
    assert table.mean() == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: sp.Listed({"a": [1, 2], "b": [1, 2, 3]}), "2 of a, 3 of b"),
        (lambda: sp.Listed({}), "a mapping from parameters"),
        (lambda: sp.Grid({"a": []}), "a list of finite numbers"),
        (lambda: sp.Grid({"a": [1.0, np.nan]}), "a list of finite numbers"),
        (lambda: sp.Grid({"a/b": [1.0]}), "without /"),
        (lambda: sp.Grid({f"p{i}": [1.0] * 100 for i in range(6)}), "at most"),
        (lambda: sp.RandomSamples({"a": (1.0, 1.0)}, 3), "the least and the largest"),
        (lambda: sp.RandomSamples({"a": (0.0, 1.0)}, 3, logarithmic=("a",)), "logarithmic"),
        (lambda: sp.RandomSamples({"a": (0.0, 1.0)}, 3, logarithmic=("b",)), "one of: a"),
        (lambda: sp.LatinHypercube({"a": (0.0, 1.0)}, 0), "count: got 0"),
    ],
)
def test_samples_that_cannot_be(make, match):
    with pytest.raises(sp.DescriptionError, match=match):
        make()


def test_parameters_are_set_where_their_paths_lead():
    values = {
        "arm.length": 0.3,
        "arm.material.E": 3e9,
        "arm.section.radius": 2e-3,
        "push.force[1]": -0.5,
        "pull": 4.0,
        "left.offset[0]": 0.02,
        "gravity[1]": -1.0,
        "arm.material.nu": 0.4,
    }
    changed = WithParameters(arm(), values)(values)
    rod, tendon = changed["arm"], changed["left"]
    assert (rod.length, rod.material.E, rod.section.radius) == (0.3, 3e9, 2e-3)
    assert rod.material.nu == 0.4
    assert changed["push"].force == (0.0, -0.5, 0.0)
    assert tendon.tension == sp.Input("pull", 4.0)
    assert tendon.offset == (0.02, 0.0)
    assert changed.gravity == (0.0, -1.0, 0.0)
    assert changed["arm"].basis == 2
    assert WithParameters(arm(), ())({}) == arm()


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("arn.length", "arm\\? a path"),
        ("arm.lenght", "'lenght' is unknown; need length\\? one of: .*material.E"),
        ("arm.material.young", "need E\\? one of: E, damping.mu, density"),
        ("arm.material", "which is no number; need a number in it: E, "),
        ("push.force", "need a number in it: \\[0\\], \\[1\\], \\[2\\]"),
        ("push.force[3]", "not \\[3\\] of 3"),
        ("arm.length[0]", "not \\[0\\] of 0"),
        ("arm.strains", "which is no number"),
        ("arm..length", "fields after dots"),
        ("pull.value", "a path such as"),
        ("gravity", "need a number in it"),
    ],
)
def test_a_parameter_that_no_item_has(path, match):
    with pytest.raises(sp.ArgumentError, match=match):
        WithParameters(arm(), [path])({path: 1.0})
