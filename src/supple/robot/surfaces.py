"""Places that name a side of a body ("x", "-z", …) become points on the surface of its shape."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from supple.errors import DescriptionError
from supple.robot.items import Body, Closure, Connection, Marker, Rod
from supple.robot.looks import outermost
from supple.robot.placement import unit_axis


def on_surfaces(items: Iterable[Any]) -> tuple[Any, ...]:
    """The items with numbers wherever they name a side: of their parent, or their own."""
    given = tuple(items)
    shapes = {
        i.name: i.shape for i in given if isinstance(i, Body | Marker) and i.shape is not None
    }

    def found(item: Any, field: str, body: str | None) -> Any:
        side = getattr(item, field)
        if not isinstance(side, str):
            return side
        if body not in shapes:
            need = f"three numbers (m), or a shape of {body!r}, on which to find that side"
            raise DescriptionError(item.name, field, side, need)
        return tuple(outermost(body, shapes[body], unit_axis(item.name, field, side)).tolist())

    def settled(item: Any) -> Any:
        sides = {}
        if isinstance(item, Rod | Body | Marker):
            sides = {"position": item.parent, "joint_position": item.name}
        elif isinstance(item, Closure | Connection):
            sides = {"position": item.on, "to_position": item.to}
        changed = {
            field: found(item, field, body)
            for field, body in sides.items()
            if isinstance(getattr(item, field, None), str)
        }
        return replace(item, **changed) if changed else item

    return tuple(settled(item) for item in given)
