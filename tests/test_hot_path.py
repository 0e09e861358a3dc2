"""The program of a Newton iteration does not grow: what XLA counts in it, against what it counted before.

Times on shared machines tell little; the operations, bytes and instructions of a compiled program are the
same each time. They depend on the version of XLA, so other versions are not judged. Whoever makes the program
smaller, or has a reason for a larger one, writes the new numbers here:
``python -m tests.test_hot_path`` prints them.
"""

import jax
import pytest

from supple.bench.profile import CASES, Cost, cost

JAX = "0.10"
"""With which the numbers were counted (major and minor version)."""
MORE = 1.3
"""What is too much."""
COUNTED = {
    "cantilever": Cost(flops=214650.0, bytes=639901.0, instructions=1692),
    "rfrfr": Cost(flops=237932.0, bytes=1084055.0, instructions=3558),
    "tendon-robot": Cost(flops=237907.0, bytes=779883.0, instructions=2094),
    "chain-32": Cost(flops=4442470.0, bytes=16486869.0, instructions=3669),
}


@pytest.mark.parametrize("case", COUNTED)
def test_a_newton_iteration_has_no_more_work_than_before(case):
    if not jax.__version__.startswith(JAX + "."):
        pytest.skip(f"counted with JAX {JAX}")
    found, before = cost(CASES[case]().build()), COUNTED[case]
    assert found.flops <= MORE * before.flops
    assert found.bytes <= MORE * before.bytes
    assert found.instructions <= MORE * before.instructions
    # Numbers that are far too large would let a slow-down pass.
    assert min(found.flops / before.flops, found.bytes / before.bytes) > 1 / MORE
    assert found.instructions / before.instructions > 1 / MORE


def test_more_work_is_seen():
    small, large = (cost(CASES["cantilever"]().build(), part) for part in ("residual", "solution"))
    assert large.flops > MORE * small.flops
    assert large.bytes > MORE * small.bytes
    assert large.instructions > MORE * small.instructions


if __name__ == "__main__":
    for name in COUNTED:
        print(f'    "{name}": {cost(CASES[name]().build())},')
