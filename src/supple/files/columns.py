"""Values that a parameter takes in an ensemble."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.files.kinds import NUMBER, AbstractLeaf, Context, Integer, ListOf, Number, Refused

_ONE = Number("a number")
_ENDS = ("from", "to", "count")


@dataclass(frozen=True)
class Column(AbstractLeaf):
    """A list of numbers, or so many of them evenly from one to another."""

    need: str = "a list of numbers, or {from: …, to: …, count: …}"

    @property
    def schema(self) -> dict[str, Any]:
        even = {
            "type": "object",
            "properties": {"from": NUMBER, "to": NUMBER, "count": {"type": "integer"}},
            "required": list(_ENDS),
            "additionalProperties": False,
        }
        return {"anyOf": [ListOf(_ONE).schema, even], "description": self.need}

    def read(self, value: Any, context: Context) -> tuple[float, ...]:
        if not isinstance(value, dict):
            return tuple(ListOf(_ONE, self.need).read(value, context))
        if set(value) != set(_ENDS):
            raise Refused(value, self.need)
        first, last = (_ONE.read(value[name], context) for name in _ENDS[:2])
        count = Integer("how many", 1, 1_000_000).read(value["count"], context)
        return tuple(np.linspace(first, last, count).tolist())

    def write(self, value: Any, item: str, field: str) -> list[float]:
        return np.asarray(value, dtype=float).tolist()
