"""Rods of a user's own: the second equation of 002's general form (12), C z + D ż = f, place by place.

With A y′ + B ẏ′ = f₁ a rod's pose, internal wrench and twist change along it. That is kinematics and balance,
the same for all rods (:mod:`supple.shooting.equations`; counted in wrenches, A is one and B zero). What a rod
is made of is the other equation. z begins with the six strains; what follows are variables of the rod's own,
such as the strains of dashpots. After discretization, ż = a (z - z₁) + ż₀, it is linear in z:

    (C + a D) z = f + D (a z₁ - ż₀).
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.errors import DescriptionError
from supple.lie import Pose
from supple.tried import check_numbers, number, tried


class RodPlace(NamedTuple):
    """What a rod's own law is told of a place: everything that y in (12) is, and what the rod is made of."""

    t: Float[Array, ""]
    X: Float[Array, ""]
    """Arc length (m)."""
    pose: Pose
    wrench: Float[Array, " 6"]
    """Moment (N m) and force (N) that the part beyond exerts on the part before, in the section's axes."""
    twist: Float[Array, " 6"]
    """Angular (rad/s), then linear velocity (m/s), in the section's axes."""
    stiffness: Float[Array, "6 6"]
    """Of the rod as it is described: what joins strains to the wrench."""
    damping: Float[Array, "6 6"]
    rest: Float[Array, " 6"]
    """Strain at rest, (κ, γ)."""


RodLaw = Callable[[RodPlace], tuple[Any, Any, Any]]
"""C (n, n), D (n, n) and f (n,) of C z + D ż = f, with z the six strains and n - 6 variables of its own."""

NEED = "a function of a place that gives C (n, n), D (n, n) and f (n,) with n of 6 or more"


@cache
def variables_of(law: RodLaw) -> int:
    """How many variables of its own a law has; refused where it cannot be used."""
    six, matrix, one = number(6), number(6, 6), number()
    place = RodPlace(one, one, Pose(number(3, 3), number(3)), six, six, matrix, matrix, six)
    found = tried("Shooting", "law", law, (place,), NEED)
    if not isinstance(found, tuple | list) or len(found) != 3:
        raise DescriptionError("Shooting", "law", found, NEED)
    size = int(np.size(found[2]))
    for part, shape in zip(found, ((size, size), (size, size), (size,)), strict=True):
        check_numbers("Shooting", "law", part, [shape] if size >= 6 else [(-1,)], NEED)
    return size - 6


def settled(
    law: RodLaw,
    place: RodPlace,
    free: Float[Array, " 6"],
    rate: Any,
    before: Float[Array, " n"],
    begins: Float[Array, " n"],
) -> Float[Array, " n"]:
    """What z is at a place, with z₁ and ż₀ of the last step; at rest (no ``rate``) C z = f.

    Strains that the rod does not have (``free`` is zero) stay as they are at rest.
    """
    C, D, f = (jnp.asarray(part, dtype=float) for part in law(place))
    if rate is not None:
        C, f = C + rate * D, f + D @ (rate * before - begins)
    own = jnp.concatenate([free, jnp.ones(len(f) - 6)])
    held = jnp.concatenate([place.rest, jnp.zeros(len(f) - 6)])
    z: Array = jnp.linalg.solve(
        own[:, None] * C + jnp.diag(1.0 - own), own * f + (1.0 - own) * held
    )
    return z


def all_settled(law: RodLaw, *given: Any) -> Float[Array, "n *b"]:
    """The same for many places on the last axis."""
    rate, before, begins = given[2:]
    each = jax.vmap(
        lambda place, free, before, begins: settled(law, place, free, rate, before, begins),
        in_axes=-1,
        out_axes=-1,
    )
    found: Array = each(given[0], given[1], before, begins)
    return found
