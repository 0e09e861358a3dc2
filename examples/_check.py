"""What every example ends with: its numbers beside their limits.

A limit is the most that an error may be, or a range (least, most) that a number must lie in.
"""

from collections.abc import Mapping

Limit = float | tuple[float, float]
Limits = Mapping[str, Limit]


def meets(value: float, limit: Limit) -> bool:
    """Whether a number is within its limit; NaN never is."""
    least, most = limit if isinstance(limit, tuple) else (float("-inf"), limit)
    return least <= value <= most


def worded(limit: Limit) -> str:
    """A limit as text."""
    if isinstance(limit, tuple):
        return f"{limit[0]:.4g} to {limit[1]:.4g}"
    return f"{limit:.2e}"


def failures(errors: Mapping[str, float], limits: Limits) -> list[str]:
    """The measured numbers that miss their limit, in words; every number must have a limit."""
    unlimited = sorted(set(errors) - set(limits))
    if unlimited:
        return [f"no limit for {name!r}" for name in unlimited]
    return [
        f"{name}: {value:.2e}, limit {worded(limits[name])}"
        for name, value in errors.items()
        if not meets(value, limits[name])
    ]


def check(errors: Mapping[str, float], limits: Limits) -> None:
    """Raise if a number misses its limit."""
    found = failures(errors, limits)
    if found:
        raise AssertionError("; ".join(found))


def report(title: str, errors: Mapping[str, float], limits: Limits) -> None:
    """Print each number with its limit, then raise if one is missed."""
    width = max(len(name) for name in errors)
    print(f"{title}\n{'':{width}}   measured   limit")
    for name, value in errors.items():
        known = name in limits
        mark = "" if known and meets(value, limits[name]) else "  <- missed"
        print(f"{name:{width}}   {value:8.2e}   {worded(limits[name]) if known else 'none'}{mark}")
    check(errors, limits)
