"""What a static solution is, and what it tells."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from supple.compile import jit
from supple.mechanics.readout import AbstractReadout
from supple.mechanics.regulation import read_at_rest
from supple.model.model import Model
from supple.model.state import State
from supple.robot.robot import Robot
from supple.run.space_error import SpaceError, space_error
from supple.run.stability import Stability, stability
from supple.solve.equilibrium import EquilibriumSolution, EquilibriumStatus


@dataclass(frozen=True, eq=False)
class Equilibrium(AbstractReadout):
    """A static solution: configuration q, status, and how it was reached."""

    model: Model
    q: np.ndarray
    multipliers: np.ndarray
    t: float
    status: EquilibriumStatus
    message: str
    increments: int
    iterations: int
    residual: float
    load_factor: float
    description: Robot | None = None
    """The robot with the modes that it was computed with; None where a model was given."""
    refinements: int = 0
    """How often its rods were refined."""
    known_error: float | None = None
    left: int | None = None
    """Number of unstable motions of the equilibrium that was left for this one; None where none was."""

    def __repr__(self) -> str:
        error = "" if self.known_error is None else f", error {self.known_error:.0e}"
        return (
            f"Equilibrium({self.model.name!r}, t = {self.t:g} s, {self.status.name}, "
            f"{self.increments} load steps, {self.iterations} iterations, "
            f"residual {self.residual:.0e}{error})"
        )

    @property
    def error(self) -> float:
        """Estimate of the largest displacement error over the robot's size, by what finer rods would give.

        It is computed when it is first asked for, where the solve did not need it; NaN where only a model
        is known, or no equilibrium was found.
        """
        if self.known_error is None:
            found = self.estimate().error if self.ok and self.description is not None else np.nan
            object.__setattr__(self, "known_error", float(found))
        assert self.known_error is not None
        return self.known_error

    @cached_property
    def stability(self) -> Stability:
        """What happens after a small push; computed when it is first asked for."""
        forces = self.multipliers if self.model.equations else None
        return stability(self.model, self.q, self.t, forces)

    @property
    def stable(self) -> bool:
        """Whether it does not go away after a small push."""
        return self.stability.stable

    def estimate(self, asked: float | None = None) -> SpaceError:
        """The error in space, and what it was found from; a bound may do where it is far below ``asked``."""
        assert self.description is not None
        forces = self.multipliers if self.model.equations else None
        free = self.status == EquilibriumStatus.RELAXED
        return space_error(
            self.description,
            self.model,
            self.q,
            self.t,
            forces,
            asked,
            free=free,
            load_factor=self.load_factor,
        )

    def __str__(self) -> str:
        return f"{self!r}: {self.message}"

    @property
    def ok(self) -> bool:
        """Whether an equilibrium was found."""
        return self.status.ok

    @property
    def v(self) -> np.ndarray:
        """Velocities: zero."""
        return np.zeros(self.model.nv)

    def read(self, quantity: Callable[..., Any], *fixed: Any) -> Any:
        """``quantity(model, state, *fixed)`` at rest, with nothing growing or driven."""
        forces = self.multipliers if self.model.equations else None
        state = State(np.asarray(self.t), self.q, self.v, self.v, forces)
        return jax.tree.map(np.asarray, _at_rest(quantity, fixed, self.model, state))


@partial(jit, quick=True, static_argnames=("quantity", "fixed"))
def _at_rest(quantity, fixed, model, state):  # type: ignore[no-untyped-def]
    return read_at_rest(quantity, fixed, model, state)


def outcome(
    model: Model,
    found: EquilibriumSolution,
    t: Any,
    status: EquilibriumStatus,
    message: str,
) -> Equilibrium:
    """The outcome of a solve."""
    if model.slips:
        names = ", ".join(slip.name for slip in model.slips)
        message += f"; without the forces of {names}, which only hold motions back"
    return Equilibrium(
        model=model,
        q=np.asarray(found.q),
        multipliers=np.asarray([] if found.multipliers is None else found.multipliers),
        t=float(t),
        status=status,
        message=message,
        increments=int(found.increments),
        iterations=int(found.iterations),
        residual=float(found.residual),
        load_factor=float(found.load_factor),
    )
