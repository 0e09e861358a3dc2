"""Branches of equilibria: what :func:`supple.follow` returns, and what can be read along them."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import numpy as np

from supple.compile import jit
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import read_at_rest
from supple.model.model import Model
from supple.model.state import State
from supple.run.stability import Stability


class BranchStatus(enum.IntEnum):
    """How a branch ended."""

    DONE = 0
    CAME_BACK = 1
    NOT_CONVERGED = 2
    STEP_LIMIT = 3
    SLACK = 4

    @property
    def ok(self) -> bool:
        """Whether it was followed to one of its ends in time."""
        return self in (BranchStatus.DONE, BranchStatus.CAME_BACK)

    @property
    def message(self) -> str:
        """One sentence for people."""
        return {
            BranchStatus.DONE: "reached the end",
            BranchStatus.CAME_BACK: "turned and came back to the time it began at",
            BranchStatus.NOT_CONVERGED: "the step became too small",
            BranchStatus.STEP_LIMIT: "the limit on the number of points was reached",
            BranchStatus.SLACK: "a tendon becomes taut or slack, or a joint meets or leaves its stop",
        }[self]


@dataclass(frozen=True, eq=False)
class SpecialPoint:
    """A limit, branching or flutter point: after which point of the branch, at which time (s), where.

    ``motions`` (k, nv) need no force there: at a branching point others leave along them, and
    ``follow(model, initial=point, side=1, until=…)`` goes there.
    """

    kind: str
    index: int
    t: float
    q: np.ndarray
    multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    motions: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    direction: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Of the branch there: coordinates, multipliers, time."""
    unstable: int = 0
    """Unstable motions before it."""
    since: float = 0.0
    """Time at which its branch began (s)."""

    def __repr__(self) -> str:
        many = f", {len(self.motions)} motions" if len(self.motions) > 1 else ""
        return f"SpecialPoint({self.kind} at {self.t:.7g} s{many})"


@dataclass(frozen=True, eq=False)
class Branch(AbstractReadout):
    """Equilibria along a branch: times t (n,), q (n, nq), multipliers (n, m), unstable motions (n,)."""

    model: Model
    t: np.ndarray
    q: np.ndarray
    multipliers: np.ndarray
    unstable: np.ndarray
    special: tuple[SpecialPoint, ...]
    status: BranchStatus
    message: str
    stability: tuple[Stability, ...] = ()
    """What a small push does at each point."""
    others: tuple["Branch", ...] = ()
    """Branches that leave from its branching points, where they were asked for."""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        special = "".join(f", {point.kind} at {point.t:.4g} s" for point in self.special)
        span = f"t = {self.t[0]:g} … {self.t[-1]:g} s"
        others = f", {len(self.others)} others from it" if self.others else ""
        return (
            f"Branch({self.model.name!r}, {len(self)} equilibria, {span}{special}, "
            f"{self.status.name}{others})"
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    @property
    def ok(self) -> bool:
        """Whether the branch was followed to one of its ends in time, and those that leave from it."""
        return self.status.ok and all(other.ok for other in self.others)

    @property
    def all(self) -> tuple["Branch", ...]:
        """The branch, those that leave from it, and those that leave from these."""
        return (self, *(one for other in self.others for one in other.all))

    @property
    def stable(self) -> np.ndarray:
        """Whether the robot stays after a small push (n,)."""
        return np.array([one.stable for one in self.stability], dtype=bool)

    @property
    def limits(self) -> tuple[SpecialPoint, ...]:
        """Points where the branch turns back in time."""
        return tuple(point for point in self.special if point.kind == "limit")

    @property
    def branchings(self) -> tuple[SpecialPoint, ...]:
        """Points where other branches leave."""
        return tuple(point for point in self.special if point.kind == "branch")

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, nv): zero."""
        return np.zeros((len(self), self.model.nv))

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at every equilibrium, with nothing growing or driven."""
        forces = self.multipliers if self.model.equations else None
        columns = self.t, self.q, self.v, self.v, forces
        return jax.tree.map(np.asarray, _at_rest(quantity, fixed, self.model, columns))


@partial(jit, static_argnames=("quantity", "fixed"))
def _at_rest(quantity, fixed, model, columns):  # type: ignore[no-untyped-def]
    def one(columns):  # type: ignore[no-untyped-def]
        return read_at_rest(quantity, fixed, model, State(*columns))

    return jax.vmap(one)(columns)
