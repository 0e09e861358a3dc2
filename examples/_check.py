"""What every example ends with: its numbers beside their limits."""

from collections.abc import Mapping


def failures(errors: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """The measured errors above their limit, in words; every error must have a limit."""
    unlimited = sorted(set(errors) - set(limits))
    if unlimited:
        return [f"no limit for {name!r}" for name in unlimited]
    return [
        f"{name}: {value:.2e}, limit {limits[name]:.2e}"
        for name, value in errors.items()
        if not value <= limits[name]  # true for NaN
    ]


def check(errors: Mapping[str, float], limits: Mapping[str, float]) -> None:
    """Raise if an error is above its limit."""
    found = failures(errors, limits)
    if found:
        raise AssertionError("; ".join(found))


def report(title: str, errors: Mapping[str, float], limits: Mapping[str, float]) -> None:
    """Print each number with its limit, then raise if one is missed."""
    width = max(len(name) for name in errors)
    print(f"{title}\n{'':{width}}   measured      limit")
    for name, value in errors.items():
        mark = "" if value <= limits.get(name, -1.0) else "  <- missed"
        print(f"{name:{width}}   {value:8.2e}   {limits.get(name, float('nan')):8.2e}{mark}")
    check(errors, limits)
