"""The benches of driven robots."""

from dataclasses import replace

from supple.bench.actuation import CASES, run_case
from supple.bench.rods import Row


def test_a_short_bench_gives_a_row_like_those_of_the_rods():
    row = run_case(replace(CASES["finger-air"], duration=0.1), repeats=1)
    assert isinstance(row, Row)
    assert row.status == "DONE"
    assert row.steps == 10
    assert 0 < row.tip_error < 1e-2
