"""What several test files share: compiled entry points, one compilation for each structure."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax

from supple.compile import jit as jit  # at top level only: its options cannot be nested
from supple.mechanics.kinematics import kinematics
from supple.mechanics.transmissions import TransmissionMotion, transmission_motion


def driven(model: Any, c: Any) -> TransmissionMotion:
    """Transmissions of a model at a motion."""
    return transmission_motion(model, c, kinematics(model, c))


def compiled(module: Any) -> Any:
    """The functions of a module, each compiled as a whole: far cheaper than operation by operation."""
    functions = {
        name: jax.jit(value) if _is_plain(value) else value for name, value in vars(module).items()
    }
    return SimpleNamespace(**functions)


def _is_plain(value: Any) -> bool:
    return isinstance(value, Callable) and not isinstance(value, type)
