"""Batch the elements of a robot: those of one kind and shape are computed together."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.errors import DescriptionError
from supple.model.laws import as_law
from supple.model.model import FAR, Group, JointGroup, RodGroup
from supple.numeric import asarray, is_traced, stack
from supple.robot.attachments import Element
from supple.robot.items import Rod
from supple.robot.pieces import piece_nodes, piece_rest
from supple.section import MatrixDamping
from supple.section.added import added_mass
from supple.space import RodGrid, piece_grid, rod_grid
from supple.space.grid import one_sided
from supple.space.integrator import SpaceIntegrator
from supple.space.quadrature import Panels
from supple.strain.field import STRAINS, StrainField


def grouped(elements: list[Element]) -> list[Group]:
    """Groups of elements of one kind and shape; joints first, in order of appearance."""
    _fill_up(elements)
    batches: dict[Any, list[tuple[Element, Any]]] = {}
    for element in sorted(elements, key=lambda e: e.rod is not None):
        part = _rod_part(element) if element.rod is not None else _joint_part(element)
        leaves, structure = jax.tree.flatten(part)
        key = (structure, tuple(np.shape(leaf) for leaf in leaves))
        batches.setdefault(key, []).append((element, part))
    groups: list[Group] = []
    for g, batch in enumerate(batches.values()):
        for row, (element, _) in enumerate(batch):
            element.group, element.row = g, row
        parts = [part for _, part in batch]
        groups.append(jax.tree.map(lambda *leaves: _stack(leaves), *parts))
    return groups


def _fill_up(elements: list[Element]) -> None:
    """As many points on each piece of a rod, so that its pieces are one batch."""
    most: dict[str, int] = {}
    for element in elements:
        if element.span is not None:
            most[element.item] = max(most.get(element.item, 0), len(element.points))
    for element in elements:
        if element.span is not None:
            element.points += [1.0] * (most[element.item] - len(element.points))


def _piece_part(element: Element, rod: Rod, span: tuple[float, float]) -> RodGroup:
    grid = piece_grid(
        element.strain_field(),
        piece_rest(rod, span),
        tuple(element.points),
        piece_nodes(rod),
    )
    a, b = span
    matrices = rod.sectional().matrices(a + (b - a) * np.asarray(grid.points))
    return RodGroup(
        grid=grid,
        length=asarray((b - a) * rod.length),
        stiffness=matrices.stiffness,
        damping=None if _undamped(rod) else matrices.damping,
        inertia=matrices.inertia,
        added=_added(element, a + (b - a) * np.asarray(grid.points)),
        start=asarray(a * rod.length),
        diagonal=_diagonal(rod),
    )


def _diagonal(rod: Rod) -> bool:
    """Whether the matrices of all sections are known to be diagonal: those of all shapes are."""
    if rod.section is not None:
        return rod.material is not None and not isinstance(rod.material.damping, MatrixDamping)
    found = rod.sectional().matrices(np.linspace(0.0, 1.0, 5))
    return not is_traced(found) and all(
        not np.any(np.asarray(part) * (1 - np.eye(6))) for part in found
    )


def _undamped(rod: Rod) -> bool:
    """Whether a rod is undamped everywhere."""
    damping = rod.sectional().matrices(np.linspace(0.0, 1.0, 33)).damping
    return not is_traced(damping) and not np.any(damping)


def _rod_part(element: Element) -> RodGroup:
    rod = element.rod
    assert rod is not None
    if element.span is not None:
        return _piece_part(element, rod, element.span)
    grid = _grid(rod, tuple(element.points))
    _check_nodes(rod, np.asarray(grid.basis))
    nodes = one_sided(np.asarray(grid.points)[: len(grid.weights)], grid.edges)
    matrices = rod.sectional().matrices(nodes)
    undamped = not is_traced(matrices.damping) and not np.any(matrices.damping)
    return RodGroup(
        grid=grid,
        length=asarray(rod.length),
        stiffness=matrices.stiffness,
        damping=None if undamped else matrices.damping,
        inertia=matrices.inertia,
        added=_added(element, nodes),
        growth=None if rod.growth is None else as_law(rod.growth),
        slope=np.einsum("nk,kim->nim", _slopes(rod, grid), grid.basis) if rod.slides else None,
    )


def _grid(rod: Rod, points: tuple[float, ...]) -> RodGrid:
    """The grid of a rod; rods of one shape share it, whatever their lengths."""
    numbers = rod.strain_field(), rod.space, rod.nodes, tuple(rod.breaks)
    if callable(rod.rest) or is_traced((rod.rest, rod.length)):
        field, space, nodes, breaks = numbers
        return rod_grid(field, rod.rest, points, space, nodes, breaks, rod.length)
    rest = tuple(np.asarray(rod.rest, dtype=float).tolist())
    # The length only says how far a curved rod turns.
    return _plain_grid(rest, points, float(rod.length) if any(rest[:3]) else 1.0, *numbers)


@lru_cache(maxsize=64)
def _plain_grid(
    rest: tuple[float, ...],
    points: tuple[float, ...],
    length: float,
    field: StrainField,
    space: SpaceIntegrator,
    nodes: int | None,
    breaks: tuple[float, ...],
) -> RodGrid:
    return rod_grid(field, rest, points, space, nodes, breaks, length)


def _slopes(rod: Rod, grid: RodGrid) -> np.ndarray:
    """Matrix of d/du at the nodes of a rod."""
    count = len(grid.weights) // (len(grid.edges) - 1)
    return Panels(grid.edges, count, rod.space.node_family).differentiation


def _check_nodes(rod: Rod, basis: Float[np.ndarray, "n 6 m"]) -> None:
    """Refuse strain functions that the nodes cannot tell apart: some motion would have no mass."""
    strains = np.array(rod.strain_field().rows)
    for strain in np.unique(strains):
        functions = basis[:, strain, strains == strain]
        told_apart = int(np.linalg.matrix_rank(functions))
        if told_apart < functions.shape[1]:
            need = (
                f"more nodes, or fewer functions: at {len(basis)} nodes only {told_apart} of the "
                f"{functions.shape[1]} functions of {STRAINS[strain]} are independent"
            )
            raise DescriptionError(rod.name, "nodes", rod.nodes, need)


def _added(element: Element, nodes: np.ndarray) -> Any:
    """Inertia of fluid around a swimming rod; None for others."""
    if element.added is None or element.rod is None or element.rod.section is None:
        return None
    return element.added * added_mass(element.rod.section, nodes)


def _joint_part(element: Element) -> JointGroup:
    joint = element.joint
    assert joint is not None
    inner, outer = element.inner_damping, element.damping
    undamped = not is_traced((inner, outer)) and not np.any(inner) and not np.any(outer)
    backend: Any = jnp if is_traced((inner, outer)) else np
    parts = [asarray(inner) + np.zeros(joint.pivots), asarray(outer) + np.zeros(joint.nv)]
    return JointGroup(
        joint=joint,
        stiffness=asarray(element.stiffness) + np.zeros(joint.nv),
        rest=asarray(element.rest) + np.zeros(joint.nq),
        damping=None if undamped else backend.concatenate(parts),
        friction=element.friction,
        armature=element.armature,
        bumpers=_bumpers(element, joint.nv),
    )


def _bumpers(element: Element, count: int) -> Any:
    """Bounds, stiffness and damping of compliant stops; None without any."""
    bounds = element.bounds
    if bounds is None or bounds.stiffness is None:
        return None
    backend: Any = jnp if is_traced((bounds.lower, bounds.upper)) else np
    pair = [backend.clip(bound, -FAR, FAR) for bound in (bounds.lower, bounds.upper)]
    yields = [asarray(part) + np.zeros(count) for part in (bounds.stiffness, bounds.damping)]
    return stack([*pair, *yields])


def _stack(leaves: tuple[Any, ...]) -> Any:
    if np.issubdtype(np.asarray(leaves[0]).dtype if not is_traced(leaves) else float, np.integer):
        return np.stack(leaves)
    return stack(leaves)
