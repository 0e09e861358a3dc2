"""How far a run is from the exact motion of its description, as it estimates itself."""

from typing import NamedTuple


class RunError(NamedTuple):
    """Estimates of the largest displacement error over the robot's size; NaN where it is not known.

    They are what finer rods and shorter steps would change, not what the description leaves out.
    """

    space: float
    """Of the modes, pieces and nodes of rods."""
    time: float
    """Of the steps."""

    def __repr__(self) -> str:
        return f"RunError(space={self.space:.2g}, time={self.time:.2g})"

    @property
    def total(self) -> float:
        """Of both."""
        return self.space + self.time

    @property
    def known(self) -> float:
        """The sum of what is known of them; NaN where nothing is."""
        found = [value for value in self if value == value]
        return sum(found) if found else float("nan")

    def as_dict(self) -> dict[str, float | None]:
        """For JSON: what is not known is None."""
        named = self._asdict() | {"total": self.total}
        return {name: value if value == value else None for name, value in named.items()}

    @classmethod
    def from_dict(cls, told: dict[str, float | None]) -> "RunError":
        """From what :meth:`as_dict` told."""
        nan = float("nan")
        values = (told.get(name) for name in cls._fields)
        return cls(*(nan if value is None else float(value) for value in values))
