"""Rods in pieces of constant strain: what the formulation "pcs" makes of the rods of a robot."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from supple.errors import DescriptionError
from supple.numeric import asarray, is_traced
from supple.robot.items import Rod
from supple.space.piece import TURN, nodes_for_turn
from supple.space.quadrature import Panels
from supple.strain import Legendre, PiecewiseConstant, StrainField

AUTO = 0.6
"""Pieces for an accuracy a, times √a: the error of a static shape falls with the square of their number."""
MOST_PIECES = 10_000
"""Pieces of a rod: their programs are built in seconds, and their arrays fit into a machine."""
MEAN = 8
"""Gauss points for the mean rest strain of a piece."""


def in_pieces(rod: Rod, accuracy: float) -> Rod:
    """A rod whose strains are constant between the same edges, those of its pieces.

    A number n makes n pieces, "auto" as many as the accuracy needs; breaks of the rod are edges, too.
    """
    if rod.growth is not None:
        need = "a rod of constant length; formulation 'strain' has rods that grow"
        raise DescriptionError(rod.name, "growth", rod.growth, need)
    if not rod.resolved(accuracy).strain_field().components:
        return rod
    basis: Any = rod.basis
    if basis == "auto":
        basis = max(2, int(np.ceil(AUTO / np.sqrt(accuracy))))
    if isinstance(basis, int | np.integer):
        basis = PiecewiseConstant(int(basis))
    found = replace(rod, basis=basis).resolved(accuracy)
    bases = {basis for _, basis in found.strain_field().components}
    if not all(isinstance(basis, PiecewiseConstant | Legendre) for basis in bases) or any(
        isinstance(basis, Legendre) and basis.order > 0 for basis in bases
    ):
        need = (
            "pieces of constant strain for formulation 'pcs': their number, PiecewiseConstant(…) or 'pcc'; "
            "formulation 'strain' takes any basis"
        )
        raise DescriptionError(rod.name, "basis", rod.basis, need)
    edges = {basis.edges if isinstance(basis, PiecewiseConstant) else (0.0, 1.0) for basis in bases}
    if len(edges) > 1:
        need = "the same pieces for all strains (formulation 'strain' takes others, too)"
        raise DescriptionError(rod.name, "basis", rod.basis, need)
    inner = sorted({*edges.pop()[1:-1], *rod.breaks})
    if len(inner) >= MOST_PIECES:
        raise DescriptionError(rod.name, "basis", len(inner) + 1, f"at most {MOST_PIECES} pieces")
    return replace(found, basis=PiecewiseConstant(tuple(inner)), breaks=())


def piece_edges(rod: Rod) -> tuple[float, ...]:
    """Where the pieces of such a rod begin and end (u)."""
    components = rod.strain_field().components
    if not components:
        return (0.0, 1.0)
    basis = components[0][1]
    assert isinstance(basis, PiecewiseConstant)
    return basis.edges


def piece_field(rod: Rod) -> StrainField:
    """The strains of one piece."""
    return StrainField(tuple((row, Legendre(0)) for row, _ in rod.strain_field().components))


def piece_nodes(rod: Rod) -> int:
    """Gauss nodes of each piece of a rod, enough for its longest one."""
    if rod.nodes is not None:
        return rod.nodes
    edges = piece_edges(rod)
    turns = []
    for a, b in pairwise(edges):
        rest = piece_rest(rod, (a, b))
        own = 0.0 if is_traced((rest, rod.length)) else float(np.linalg.norm(rest[:3] * rod.length))
        turns.append((b - a) * (TURN + own))
    return nodes_for_turn(max(turns))


def piece_rest(rod: Rod, span: tuple[float, float]) -> Any:
    """Strain at rest of the piece between two fractions: the mean of the rod's."""
    if not callable(rod.rest):
        return asarray(rod.rest)
    panels = Panels((0.0, 1.0), MEAN)
    a, b = span
    return panels.weights @ asarray(rod.rest(a + (b - a) * panels.nodes))
