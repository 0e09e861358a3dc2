"""Our numbers that take seconds to compute, in groups; each is a function without arguments."""

from collections.abc import Callable, Mapping

from supple.bench.documents import beams

Value = float | str | None
GROUPS: dict[str, Callable[[], Mapping[str, Value]]] = {
    "rolled_beam": beams.rolled,
    "flexion_torsion": beams.twisted,
    "routings": beams.routings,
}
