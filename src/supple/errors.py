"""Errors the library raises on purpose. Each names the item, the value and the cure."""

from typing import Any

from supple.units import number_to_write


class SuppleError(Exception):
    """Base of every error raised by Supple."""


class DescriptionError(SuppleError, ValueError):
    """The description of a robot is wrong; raised when the robot is described or built."""

    def __init__(self, item: str, field: str, got: object, need: str) -> None:
        self.item = item
        self.field = field
        self.got = got
        self.need = need + number_to_write(got)
        super().__init__(f"{item}: {field}: got {got!r}; need {self.need}")


class ArgumentError(SuppleError, ValueError):
    """An argument of a function cannot be used: a state, a name or a setting that does not fit the model."""


class StoreError(SuppleError, ValueError):
    """A run on disk cannot be used: it is damaged, another's, being written, or the disk refuses.

    ``readable`` is how many of its instants can still be read, None where that is not the question.
    """

    def __init__(self, path: object, what: str, need: str, readable: int | None = None) -> None:
        self.path = path
        self.readable = readable
        super().__init__(f"store: {path}: {what}; need {need}")


class SolveError(SuppleError, RuntimeError):
    """A solve did not succeed; ``throw=False`` returns what was found instead.

    ``result`` is that: a run up to where it ended, an equilibrium that is none, a branch as far as it was
    followed. It is None where there is nothing to show.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
        super().__init__(message)
