"""What several test files share: compiled entry points, one compilation for each structure."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit as jit  # at top level only: its options cannot be nested
from supple.mechanics.inverse_dynamics import equations
from supple.mechanics.inverse_dynamics_tangent import Tangent, inverse_dynamics_tangent
from supple.mechanics.kinematics import kinematics
from supple.mechanics.transmissions import TransmissionMotion, transmission_motion


def driven(model: Any, c: Any) -> TransmissionMotion:
    """Transmissions of a model at a motion."""
    return transmission_motion(model, c, kinematics(model, c))


def _equations_and_columns(model: Any, c: Any) -> Any:
    """Equations, and their derivatives by x, ẋ, ẍ and the multipliers: all columns in one program."""
    names = NAMES if c.multipliers is not None else NAMES[:3]
    parts = tuple(jnp.asarray(getattr(c, name)) for name in names)
    ends = np.cumsum([len(part) for part in parts])

    def of(*parts: Any) -> Any:
        return equations(model, c._replace(**dict(zip(names, parts, strict=True))))

    def along(direction: Any) -> Any:
        return jax.jvp(of, parts, tuple(jnp.split(direction, ends[:-1])))

    value, columns = jax.vmap(along)(jnp.eye(ends[-1]))
    return value[0], jnp.split(columns.T, ends[:-1], axis=1)


NAMES = ("x", "xdot", "xddot", "multipliers")
_by_autodiff = jit(_equations_and_columns, quick=True)
tangent = jit(inverse_dynamics_tangent, quick=True)


def check_tangent(model: Any, c: Any, tolerance: float) -> Tangent:
    """Compare all parts of the tangent with automatic differentiation, each relative to its largest entry."""
    n, m = model.nv, model.nv + model.holonomic
    value, (by_x, by_rate, by_change, *rest) = _by_autodiff(model, c)
    found = tangent(model, c)
    pairs = {
        "residual": (found.residual, value[:n]),
        "mass": (found.mass, by_change[:n]),
        "damping": (found.damping, by_rate[:n]),
        "stiffness": (found.stiffness, by_x[:n]),
    }
    if rest:
        closing = len(found.jacobian) - len(found.slipping)
        pairs |= {
            "violation": (found.violation, value[n:]),
            "jacobian": (found.jacobian[:closing], by_x[n:m]),
            "speeds": (found.jacobian[closing:], by_rate[m:]),
            "slipping": (found.slipping, by_x[m:]),
            "pushes": (found.force_jacobian.T, rest[0][:n]),
            "yields": (np.diag(found.compliance), rest[0][n:]),
        }
    for name, (ours, theirs) in pairs.items():
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape, name
        error, size = np.abs(ours - theirs).max(initial=0.0), np.abs(theirs).max(initial=0.0)
        assert error <= tolerance * size, f"{name}: {error:.1e} of {size:.1e}"
    return found


def compiled(module: Any) -> Any:
    """The functions of a module, each compiled as a whole: far cheaper than operation by operation."""
    functions = {
        name: jax.jit(value) if _is_plain(value) else value for name, value in vars(module).items()
    }
    return SimpleNamespace(**functions)


def _is_plain(value: Any) -> bool:
    return isinstance(value, Callable) and not isinstance(value, type)
