"""Time schemes as files have them."""

from collections.abc import Callable
from typing import Any

from supple.files.common import number
from supple.files.forms import OneOf, Record, record
from supple.files.kinds import Flag, Integer, Text
from supple.solve.newton import NewtonSettings
from supple.time.alpha import (
    GeneralizedAlpha,
    ImplicitEuler,
    generalized_alpha,
    hht,
    newmark,
    trapezoidal,
    wbz,
)
from supple.time.collocation import Collocation, gauss, radau
from supple.time.explicit import Explicit
from supple.time.linearly_implicit import LinearlyImplicitEuler
from supple.time.multistep import Multistep, bdf2, bdf3, bdf_alpha

_NEWTON = {
    "newton": record(
        NewtonSettings,
        tolerance=number("of the update"),
        max_iterations=Integer("a number of iterations", least=1),
        reuse_below=number("a factor"),
        smallest_damping=number("a factor"),
        round_off=number("an update, at most this large, that is round-off where it stays"),
    )
}
_PENALTY = number("the weight (kg) of an augmented Lagrangian for closed loops")
_RHO = number("the spectral radius at infinite frequency")


_STAGES = {"stages": Integer("2 or 3", 2, 3), **_NEWTON}


def _family(name: str) -> Callable[[Any], bool]:
    return lambda scheme: isinstance(scheme, Collocation) and scheme.family == name


def _backward(past: int, *, plain: bool) -> Callable[[Any], bool]:
    return lambda scheme: (
        isinstance(scheme, Multistep) and scheme.past == past and (scheme.alpha == 0.0) == plain
    )


SCHEME = OneOf(
    "a time scheme",
    {
        "generalized-alpha": record(generalized_alpha, rho_inf=_RHO, penalty=_PENALTY, **_NEWTON),
        "hht": record(hht, rho_inf=_RHO, **_NEWTON),
        "wbz": record(wbz, rho_inf=_RHO, **_NEWTON),
        "newmark": record(newmark, beta=number("β"), gamma=number("γ"), **_NEWTON),
        "trapezoidal": record(trapezoidal, **_NEWTON),
        "implicit-euler": record(ImplicitEuler, **_NEWTON),
        "linearly-implicit-euler": record(LinearlyImplicitEuler, hold_friction=Flag()),
        "bdf2": Record(bdf2, _NEWTON, fits=_backward(2, plain=True)),
        "bdf-alpha": Record(
            bdf_alpha,
            {"alpha": number("from -0.5, the trapezoidal rule, to 0, BDF2"), **_NEWTON},
            fits=_backward(2, plain=False),
        ),
        "bdf3": Record(bdf3, _NEWTON, fits=_backward(3, plain=True)),
        "gauss": Record(gauss, _STAGES, fits=_family("gauss")),
        "radau": Record(radau, _STAGES, fits=_family("radau")),
        "explicit": record(Explicit, method=Text("euler, rk4 or dopri5")),
        "alpha": record(
            GeneralizedAlpha,
            alpha_m=number("α_m"),
            alpha_f=number("α_f"),
            beta=number("β"),
            gamma=number("γ"),
            penalty=_PENALTY,
            **_NEWTON,
        ),
    },
)
