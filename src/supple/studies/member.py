"""One member of a study: a robot is made, something computed, and what came out kept, whatever it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.errors import SolveError, SuppleError
from supple.hints import collected
from supple.robot.robot import Robot
from supple.studies.readings import Outputs, Reading, readings

DONE, BAD_INPUT, FAILED, LOST, PENDING = "DONE", "BAD_INPUT", "FAILED", "LOST", "PENDING"
"""Statuses of members beside those of what was computed: without a status of its own, with values that
cannot be used, ended by an error, lost with the processes that computed it, not computed yet."""
LONGEST = 500
"""Characters of a message that are kept."""


class Member(NamedTuple):
    """How one member ended, and its outputs; those that failed have none."""

    number: int
    status: str
    ok: bool
    message: str
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class Job:
    """What is done for each member of a study; it may be sent to other machines."""

    describe: Callable[[Mapping[str, float]], Robot]
    compute: Callable[[Robot], Any]
    outputs: Outputs | None
    token: str
    """Names the study, so that a process makes its programs once."""
    first: Mapping[str, float] | None
    """Parameters of a member to make one program for all of them with; None where that is not worth it."""


Row = tuple[int, Mapping[str, float]]
"""Number and parameters of a member."""


def computed(job: Job, row: Row) -> Member:
    """A member, by the functions that users call; errors are members, too."""
    number, sample = row
    with collected() as warned:
        try:
            result = job.compute(job.describe(sample))
            status, ok, message = _ended(result)
            found = readings(result, job.outputs) if ok else {}
        except SolveError as error:
            status, _, message = _ended(error.result, FAILED)
            message = str(error) or message
            ok, found = False, {}
        except SuppleError as error:
            status, ok, message, found = BAD_INPUT, False, str(error), {}
        except Exception as error:  # of functions of users, of JAX: told, and the study goes on
            text = str(error).strip().partition("\n")[0]
            status, ok, message, found = FAILED, False, f"{type(error).__name__}: {text}", {}
    told = [text for text in dict.fromkeys(warned) if message not in text and text not in message]
    return Member(number, status, ok, "; ".join([message, *told])[:LONGEST], _plain(found))


def _ended(result: Any, status: str = DONE) -> tuple[str, bool, str]:
    """Name of the status of a result, whether it is what was asked for, and its message."""
    own = getattr(result, "status", None)
    if own is not None and hasattr(own, "name"):
        return own.name, bool(getattr(result, "ok", True)), str(getattr(result, "message", ""))
    return status, True, ""


def _plain(found: Mapping[str, Reading]) -> dict[str, Reading]:
    return {name: own._replace(values=np.asarray(own.values)) for name, own in found.items()}
