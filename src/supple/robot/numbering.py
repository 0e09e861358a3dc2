"""Number the elements of a robot: where each begins in the flat lists of the model."""

from dataclasses import dataclass, replace
from functools import cached_property

from supple.model.model import GROUND, Frame, Group, RodGroup, Slot, Topology
from supple.model.orientation_joints import FreeJoint
from supple.robot.attachments import Attachment, Element


@dataclass(frozen=True)
class Numbering:
    """Elements in groups, the groups one after the other."""

    elements: list[Element]
    """As they were described; each knows its group and its row there."""
    groups: list[Group]

    @cached_property
    def order(self) -> list[int]:
        """Elements as the model lists them."""
        elements = self.elements
        return sorted(range(len(elements)), key=lambda e: (elements[e].group, elements[e].row))

    @cached_property
    def element_start(self) -> tuple[int, ...]:
        """First element of each group; as in the other starts, their number comes last."""
        return _running([g.size for g in self.groups])

    @cached_property
    def sample_start(self) -> tuple[int, ...]:
        return _running([g.size * g.samples for g in self.groups])

    @cached_property
    def q_start(self) -> tuple[int, ...]:
        return _running([g.size * g.nq for g in self.groups])

    @cached_property
    def v_start(self) -> tuple[int, ...]:
        return _running([g.size * g.nv for g in self.groups])

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.v_start[-1]

    def sample_of(self, seat: Attachment) -> int:
        """The sample that carries a seat."""
        if seat.element == GROUND:
            return GROUND
        element = self.elements[seat.element]
        group = self.groups[element.group]
        local = int(seat.u)
        if isinstance(group, RodGroup):
            local = group.grid.count + element.points.index(seat.u)
        return self.sample_start[element.group] + element.row * group.samples + local

    @cached_property
    def slots(self) -> dict[str, list[Slot]]:
        """Coordinates of joints and of rods."""
        slots: dict[str, list[Slot]] = {"joint": [], "rod": []}
        for element in self.elements:
            own, row = element.group, element.row
            nq, nv = self.groups[own].nq, self.groups[own].nv
            q, v = self.q_start[own] + row * nq, self.v_start[own] + row * nv
            slot = Slot(element.item, own, row, q, q + nq, v, v + nv)
            kind = slots["rod" if element.rod else "joint"]
            if element.span is None or element.span[0] == 0.0:
                if element.span is not None:
                    slot = replace(slot, edges=(0.0, element.span[1]))
                kind.append(slot)
            else:  # pieces of one rod follow each other, in the group, too
                before = kind[-1]
                edges = (*before.edges, element.span[1])
                kind[-1] = replace(before, q_stop=q + nq, v_stop=v + nv, edges=edges)
        return slots

    def topology(self, frames: list[Frame]) -> Topology:
        """The structure of the model."""
        number = {old: new for new, old in enumerate(self.order)} | {GROUND: GROUND}
        floating = self._floating()
        return Topology(
            parent=tuple(number[self.elements[e].seat.element] for e in self.order),
            attach=tuple(self.sample_of(self.elements[e].seat) for e in self.order),
            element_start=self.element_start[:-1],
            sample_start=self.sample_start[:-1],
            q_start=self.q_start[:-1],
            v_start=self.v_start[:-1],
            nq=self.q_start[-1],
            nv=self.nv,
            joint_slots=tuple(self.slots["joint"]),
            rod_slots=tuple(self.slots["rod"]),
            frames=tuple(frames),
            floating=-1 if floating is None else self._position(self.elements[floating]),
            floating_element=-1 if floating is None else number[floating],
        )

    def _floating(self) -> int | None:
        """The first element that floats freely; None if none does."""
        for e, element in enumerate(self.elements):
            if isinstance(element.joint, FreeJoint) and element.seat.element == GROUND:
                return e
        return None

    def _position(self, element: Element) -> int:
        """Where the position of a floating element begins in q: after its quaternion."""
        return self.q_start[element.group] + element.row * self.groups[element.group].nq + 4


def _running(sizes: list[int]) -> tuple[int, ...]:
    """Sums of the sizes before each, and of all."""
    sums = [0]
    for size in sizes:
        sums.append(sums[-1] + size)
    return tuple(sums)
