"""Where a relaxation ends with tendons that push or stops that pull: which of them to let go.

While a robot moves to its rest, one-sided equations that are closed hold, whatever their force: to let go and
catch again at each step would not end. Where it rests, forces tell. One at a time, since equations that
forbid the same motions share their forces: without the worst one the others may be right.
"""

from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.model.model import Model
from supple.run.assembly import relaxed
from supple.solve.equilibrium import Rest
from supple.system.active_set import CLOSE, OneSided, one_sided
from supple.system.error_norm import characteristic_length

ROUNDS = 12
"""Relaxations, at most."""
SMALL = 1e-6
"""Share of the largest force up to which one of the wrong sign is round-off."""


class Slack(NamedTuple):
    """Where a robot rests with what it lets go."""

    rest: Rest
    pushing: tuple[str, ...]
    """One-sided equations whose force has the wrong sign there; none where all is well."""

    @property
    def message(self) -> str:
        """What is wrong, and what to do."""
        return (
            f"{' and '.join(self.pushing)} would have to push: other equations forbid the same motions. Let "
            "out more length, give tendons a stiffness, or rods that stretch (strains='auto')"
        )


def without_pushing(model: Model, rest: Rest, t: Any) -> Slack:
    """Let go, one after the other, what has a force of the wrong sign, and come to rest again."""
    table = model.constraints
    if len(table.one_sided) == 0 or rest.multipliers is None:
        return Slack(rest, ())
    let_go = np.zeros(len(table.one_sided), dtype=bool)
    close = CLOSE * float(characteristic_length(model))
    owners = np.array(table.owner)[table.one_sided]
    for _ in range(ROUNDS):
        seen = _seen(model, rest.q, t, rest.multipliers)
        force = np.where(let_go, 0.0, np.asarray(seen.force))
        open_again = let_go & (np.asarray(seen.gap) > close)
        wrong = force < -SMALL * max(np.abs(force).max(), 1e-300)
        if not np.any(wrong) and not np.any(open_again):
            return Slack(rest, ())
        tried = let_go & ~open_again
        if not np.any(open_again):
            tried[np.argmin(force)] = True
        again = relaxed(model, rest.q, t, jnp.asarray(tried))
        again = again._replace(steps=again.steps + rest.steps)
        if not bool(again.came_to_rest) or np.array_equal(tried, let_go):
            break
        rest, let_go = again, tried
    return Slack(rest, tuple(dict.fromkeys(owners[wrong | open_again].tolist())))


@partial(jit, quick=True)
def _seen(model: Model, q: Any, t: Any, multipliers: Any) -> OneSided:
    return one_sided(model.frozen_at(t), q, jnp.zeros(model.nv), t, multipliers)
