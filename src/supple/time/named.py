"""Schemes by name: ``scheme="rk4"`` for those who know it by that."""

from collections.abc import Callable
from functools import partial
from typing import Any

from supple.errors import ArgumentError
from supple.spelling import meant
from supple.system.formulation import AbstractFormulation
from supple.time.alpha import ImplicitEuler, generalized_alpha, hht, newmark, trapezoidal, wbz
from supple.time.collocation import gauss, radau
from supple.time.explicit import ORDERS, Explicit
from supple.time.linearly_implicit import LinearlyImplicitEuler
from supple.time.multistep import Multistep, bdf2, bdf3, bdf_alpha
from supple.time.scheme import AbstractScheme

NAMED: dict[str, Callable[[], AbstractScheme]] = {
    "generalized-alpha": generalized_alpha,
    "hht": hht,
    "wbz": wbz,
    "newmark": newmark,
    "trapezoidal": trapezoidal,
    "implicit-euler": ImplicitEuler,
    "linearly-implicit-euler": LinearlyImplicitEuler,
    "gauss": gauss,
    "radau": radau,
    "bdf2": bdf2,
    "bdf3": bdf3,
    "bdf-alpha": bdf_alpha,
    **{method: partial(Explicit, method) for method in ORDERS},
}
"""Each with its usual numbers."""

_ELSEWHERE = {
    "rk45": "dopri5",
    "tsit5": "dopri5",
    "dp45": "dopri5",
    "ode45": "dopri5",
    "runge-kutta": "rk4",
    "rungekutta": "rk4",
    "rk": "rk4",
    "explicit": "dopri5",
    "backward-euler": "implicit-euler",
    "implicit": "implicit-euler",
    "implicitfast": "implicit-euler",
    "ode15s": "radau",
    "bdf": "bdf2",
    "lsoda": "radau",
    "crank-nicolson": "trapezoidal",
    "midpoint": "gauss",
    "verlet": "rk4",
    "position-verlet": "rk4",
}
"""Names of other programs, and what is nearest here."""


def scheme_for(
    formulation: AbstractFormulation, scheme: AbstractScheme | None, *, fixed: bool
) -> AbstractScheme:
    """The scheme of a run, by default one that suits the formulation and steps that are ``fixed`` or not."""
    if formulation.starts_with_acceleration:
        return scheme or (generalized_alpha(0.8) if fixed else radau(3))
    found = scheme or (bdf_alpha(-0.2) if fixed else bdf2())
    if isinstance(found, Multistep | ImplicitEuler):
        return found
    need = (
        "one that begins from positions and velocities: bdf2(), bdf_alpha(α), of which α = -0.5 is the "
        "trapezoidal rule, bdf3() or 'implicit-euler'; or formulation='strain'"
    )
    raise ArgumentError(f"scheme: got {found!r} for a robot whose rods are shot; need {need}")


def scheme_named(scheme: Any) -> AbstractScheme:
    """A scheme, or that of a name."""
    if isinstance(scheme, AbstractScheme):
        return scheme
    if isinstance(scheme, str):
        word = scheme.strip().lower().replace("_", "-").replace(" ", "-")
        if word in NAMED:
            return NAMED[word]()
        likely = f"{_ELSEWHERE[word]!r}? " if word in _ELSEWHERE else meant(word, NAMED)
        raise ArgumentError(
            f"scheme: got {scheme!r}; need {likely}one of: {', '.join(NAMED)}, or a scheme such as radau()"
        )
    called = f"{scheme.__name__}(): it is to be called; " if hasattr(scheme, "__name__") else ""
    raise ArgumentError(
        f"scheme: got {scheme!r}; need {called}a scheme such as radau(), or the name of one: "
        + ", ".join(NAMED)
    )
