"""Our numbers that take seconds to compute, in groups; each is a function without arguments."""

from collections.abc import Callable, Mapping

from supple.bench.documents import beams, cosserat, necks, pieces, thesis

Value = float | str | None
GROUPS: dict[str, Callable[[], Mapping[str, Value]]] = {
    "parts": thesis.parts,
    "critical_steps": thesis.critical_steps,
    "rolled_beam": beams.rolled,
    "flexion_torsion": beams.twisted,
    "routings": beams.routings,
    "steel_rod": cosserat.steel_rod,
    "weight": cosserat.weight,
    "plate": cosserat.plate,
    "tendons": cosserat.tendons,
    "finger": cosserat.finger,
    "appendix_b": cosserat.appendix_b,
    "necks": necks.parts,
    "closed_forms": pieces.closed_forms,
    "pcs_dynamics": pieces.dynamics,
    "pcs_section": pieces.section,
}
