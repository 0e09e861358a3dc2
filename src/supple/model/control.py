"""Controllers as the time loop sees them."""

from collections.abc import Callable
from typing import Any

import equinox as eqx


class Box:
    """Anything, compared by identity: a controller's own objects, which no compiled code sees."""

    def __init__(self, content: Any) -> None:
        self.content = content


class Control(eqx.Module):
    """Called every ``period`` (s): senses, acts, remembers."""

    memory: Any
    """What it remembers at the start; any arrays."""
    name: str = eqx.field(static=True)
    sense: Callable[[Any], Any] = eqx.field(static=True)
    act: Callable[[Any, Any, Any], Any] = eqx.field(static=True)
    period: float = eqx.field(static=True)
    compiled: bool = eqx.field(static=True)
    """Whether it is part of the compiled run, or called between steps."""
    own: Box | None = eqx.field(static=True, default=None)
    """Memory of one that is called between steps."""
