"""The root of a function between two places where its signs differ."""

from collections.abc import Callable

TIGHT = 4e-16
"""Relative width of an interval that cannot be halved much further."""
MOST = 100
"""Evaluations: twice what halving any interval of ordinary numbers takes."""


def bracketed_root(
    f: Callable[[float], float], a: float, fa: float, b: float, fb: float, width: float = 0.0
) -> tuple[float, float]:
    """A place just behind the root of f, seen from a, and the value there: zero or of the sign at b.

    The place is known to a width, or to round-off where that is wider.

    Chandrupatla's method: inverse quadratic interpolation where it can be trusted, else bisection. Jumps
    through zero count as roots.
    """
    behind = b, fb
    new, f_new, other, f_other, share = b, fb, a, fa, 0.5
    for _ in range(MOST):
        if behind[1] == 0 or abs(new - other) <= max(width, TIGHT * max(abs(new), abs(other))):
            break
        x = new + share * (other - new)
        if not min(new, other) < x < max(new, other):
            break
        fx = f(x)
        if (fx >= 0) == (f_new >= 0) if fb >= 0 else (fx <= 0) == (f_new <= 0):
            old, f_old = new, f_new
        else:
            old, f_old, other, f_other = other, f_other, new, f_new
        new, f_new = x, fx
        if fx * fb >= 0:
            behind = x, fx
        share = _share(new, f_new, other, f_other, old, f_old, width)
    return behind


def _share(
    new: float,
    f_new: float,
    other: float,
    f_other: float,
    old: float,
    f_old: float,
    width: float,
) -> float:
    """Where from the newest place (0) to the one of the other sign (1) to look next."""
    share = 0.5
    if f_old not in (f_new, f_other) and f_new != f_other:
        xi, phi = (new - other) / (old - other), (f_new - f_other) / (f_old - f_other)
        if 0 < xi < 1 and phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            share = f_new / (f_other - f_new) * f_old / (f_other - f_old)
            share += (
                (old - new) / (other - new) * f_new / (f_old - f_new) * f_other / (f_old - f_other)
            )
    # Not nearer than the width that ends the search, so that the other end comes to the root as well.
    least = 0.5 * max(width, TIGHT * max(abs(new), abs(other))) / abs(other - new)
    return min(max(share, least), 1 - least)
