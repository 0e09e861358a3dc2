"""Names that are misspelt, or those of other programs: which of ours was meant, in Python and in files."""

import difflib
import enum
import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from supple.errors import ArgumentError

Anything = TypeVar("Anything", bound=Callable[..., Any])

_MEANT: dict[str, str] = {
    # ours: words of others, of textbooks, and of files before 1.0
    "dt": "step timestep time_step stepsize step_size h dt0 max_step delta_t",
    "duration": "t_end tend t_final tfinal tf final_time end_time t1 t_span total_time time",
    "t_eval": "output saveat save_at ts times t_out",
    "accuracy": "tol rtol atol tolerance reltol abstol precision eps",
    "scheme": "solver integrator method stepper",
    "initial": "start state x0 y0 q0 initial_state init start_state",
    "t": "time at",
    "radius": "diameter r base_radius rad d",
    "outer": "outer_radius outer_diameter r_outer",
    "inner": "inner_radius inner_diameter r_inner thickness",
    "width_y": "width height a",
    "width_z": "height depth b",
    "semi_y": "a semi_major",
    "semi_z": "b semi_minor",
    "length": "base_length l len",
    "E": "young youngs youngs_modulus young_modulus youngmodulus elastic_modulus modulus y",
    "G": "shear_modulus shear",
    "nu": "poisson poissons_ratio poisson_ratio poi v",
    "density": "rho volumetric_density mass_density",
    "rho_inf": "rho rho_infinity spectral_radius alpha",
    "mu": "eta viscosity",
    "mass": "m weight",
    "inertia": "armature i moment_of_inertia inertia_tensor rotor_inertia",
    "com": "center_of_mass centre_of_mass cog inertial",
    "stiffness": "k kp spring spring_constant gain",
    "damping": "c kd kv damper damping_constant dissipation",
    "rest": "springref springdamper rest_position ref rest_strain rest_shape",
    "friction": "frictionloss coulomb mu friction_coefficient",
    "limit": "effort max_torque max_force forcerange saturation",
    "lower": "range min minimum limits joint_limits",
    "upper": "max maximum",
    "gear": "gear_ratio ratio reduction",
    "position": "pos xyz origin translation offset location at_position",
    "rotation": "quat quaternion euler rpy orientation axisangle rotvec",
    "offset": "routing path route position",
    "fraction": "at s xi u where along",
    "to_fraction": "to_at",
    "on": "body link item rod target attach_to attached_to joint parent",
    "to": "child other end_on second",
    "parent": "on base attach_to attached_to parent_link",
    "joint": "jointtype joint_type",
    "axis": "direction",
    "force": "f load value",
    "moment": "torque m",
    "torque": "moment effort force ctrl tau",
    "tension": "force pull_force ctrl",
    "pull": "displacement shortening",
    "pressure": "p",
    "follower": "local body_fixed",
    "law": "function profile time_law signal",
    "basis": "modes n_modes order n_dof ndof degree",
    "strains": "model rod_model formulation theory",
    "nodes": "n_nodes n_elem n_elements elements points",
    "shape": "geom geometry visual mesh look looks",
    "gravity": "g gravitational_acceleration",
    "period": "dt rate frequency fps sample_time",
    "memory": "state",
    "act": "control policy function callback",
    "sense": "observe sensor observation measure",
    "count": "number n n_modes",
    "steps": "n_steps nsteps num_steps number_of_steps",
    "throw": "raise_on_error raises check",
    "store": "save folder path out",
    "progress": "progress_bar verbose callback progress_meter",
    "events": "event",
    "name": "label id",
    "distributed_loads": "distributed",
    "prescribed_coordinates": "prescribed",
    "rolling_contacts": "rolling",
    "plane_frictions": "sliding",
    "active_stresses": "stresses",
    "bodies": "body links",
    "rods": "rod",
    "simulate": "simulation",
}  # fmt: skip
"""Our names, and the words that others have for them; the first of ours that fits is taken."""

_REMARKS = {
    "diameter": "half of it",
    "d": "half of it",
    "outer_diameter": "half of it",
    "inner_diameter": "half of it",
    "rate": "one over it",
    "frequency": "one over it",
    "fps": "one over it",
    "weight": "in kg",
    "max": "both bounds apart",
    "range": "lower=…, upper=…",
    "limits": "lower=…, upper=…",
    "quat": "w, x, y, z",
}
"""What else is different."""

_HOMES = {
    "radius": ("section", "section=Circle(radius)"),
    "width_y": ("section", "section=Rectangle(width_y, width_z)"),
    "E": ("material", "material=Material(E=…, density=…)"),
    "density": ("material", "material=Material(E=…, density=…)"),
    "nu": ("material", "material=Material(E=…, density=…, nu=…)"),
    "G": ("material", "material=Material(E=…, density=…, G=…)"),
    "mu": ("damping", "damping=StiffnessDamping(mu)"),
    "axis": ("joint", "joint=Revolute(axis)"),
    "size": ("shape", "shape=Box(size)"),
}
"""What is not given here but as a part of something else."""


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for ours, words in _MEANT.items():
        for word in words.split():
            found.setdefault(word, []).append(ours)
    return found


_OTHERS = _table()
_ALIKE = 0.75
"""How alike (of 1) words are of which one is a slip of the other."""


def meant(word: str, known: Iterable[str]) -> str:
    """The name that was likely meant, as ``length? ``; nothing where none is near."""
    names, small = list(known), word.lower()
    ours = _OTHERS.get(small, [])
    near = [name for name in names if name.lower() == small]
    near += [name for name in ours if name in names]
    near += difflib.get_close_matches(word, names, 1, _ALIKE)
    if not near:
        homes = [_HOMES[name] for name in (word, *ours) if name in _HOMES]
        near = [text for home, text in homes if home in names]
    near += difflib.get_close_matches(word, names, 1)
    if not near:
        return ""
    remark = _REMARKS.get(small) if near[0] in ours else None
    return f"{near[0]} ({remark})? " if remark else f"{near[0]}? "


class KeywordError(ArgumentError, TypeError):
    """A keyword that a class or a function does not know."""


def spelled(function: Anything) -> Anything:
    """The function, with unknown keywords told with those that were likely meant."""
    known = _names(function)
    if known is None:
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for word in kwargs:
            if word not in known:
                raise _unknown(function.__qualname__.removesuffix(".__init__"), word, known)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]  # of the same signature


def spell(kind: type) -> None:
    """As :func:`spelled`, for the keywords with which objects of a class are made."""
    if "__init__" in vars(kind) and not hasattr(kind.__init__, "__spelled__"):  # type: ignore[misc]
        told = spelled(kind.__init__)  # type: ignore[misc]
        told.__spelled__ = True
        kind.__init__ = told  # type: ignore[misc]


def open_doors(public: dict[str, Any]) -> None:
    """Let all public classes and functions of a namespace tell unknown keywords.

    In one place instead of at each of them, and at run time only, so that types and signatures stay what
    they are. Functions are replaced where they are defined, too, since pickle looks for them there.
    """
    for name, value in list(public.items()):
        if name.startswith("_") or not getattr(value, "__module__", "").startswith(_OWN):
            continue
        if inspect.isclass(value):
            if not issubclass(value, BaseException | tuple | enum.Enum):
                spell(value)
        elif inspect.isfunction(value):
            public[name] = spelled(value)
            setattr(sys.modules[value.__module__], value.__name__, public[name])


_OWN = __name__.partition(".")[0] + "."


def _names(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of a function's arguments; None if it takes any."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return None
    return tuple(name for name, p in parameters.items() if p.kind is not p.POSITIONAL_ONLY)


def _unknown(function: str, word: str, known: tuple[str, ...]) -> KeywordError:
    names = [name for name in known if name != "self"]
    likely = meant(word, names)
    return KeywordError(
        f"{function}: got the unknown name {word!r}; need {likely}one of: {', '.join(names)}"
    )
