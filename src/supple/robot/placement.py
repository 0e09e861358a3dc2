"""Poses, axes and directions as users write them."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.lie import Pose, so3
from supple.numeric import check_vector, is_traced

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def unit_axis(item: str, field: str, axis: str | Sequence[float]) -> np.ndarray:
    """Unit vector from "x", "-y", … or three numbers."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith("-") else 1.0
        name = axis[1:] if axis[:1] in ("+", "-") else axis
        if name not in AXES:
            raise DescriptionError(item, field, axis, "x, y, z, -x, -y, -z or a vector")
        return sign * np.array(AXES[name])
    vector = check_vector(item, field, axis, (3,))
    norm = np.linalg.norm(vector)
    if norm == 0:
        raise DescriptionError(item, field, axis, "a vector that is not zero")
    return vector / norm


def along(direction: str | Sequence[float]) -> np.ndarray:
    """Rotation vector (rad) that points a rod's x axis along ``direction``, by the shortest turn."""
    target = unit_axis("along", "direction", direction)
    turn, cosine = np.cross([1.0, 0.0, 0.0], target), target[0]
    sine = np.linalg.norm(turn)
    if sine < 1e-15:
        return np.zeros(3) if cosine > 0 else np.array([0.0, 0.0, np.pi])
    return turn / sine * np.arctan2(sine, cosine)


def placement(item: str, position: Any, rotation: Any) -> Pose:
    """Pose from a position (m) and a rotation vector (rad), quaternion or matrix."""
    if isinstance(position, str):
        need = "three numbers (m); a side is found on a body with a shape, in a Robot"
        raise DescriptionError(item, "position", position, need)
    position = check_vector(item, "position", position, (3,))
    if is_traced(rotation):
        array: Any = jnp.asarray(rotation)
        if array.shape == (4,):
            return Pose(so3.quaternion_to_matrix(array / jnp.linalg.norm(array)), position)
        return Pose(array if array.shape == (3, 3) else so3.exp(array), position)
    try:
        array = np.asarray(rotation, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape not in ((3,), (4,), (3, 3)) or not np.all(np.isfinite(array)):
        need = "a rotation vector (3), a quaternion (w, x, y, z) or a rotation matrix (3, 3)"
        raise DescriptionError(item, "rotation", rotation, need)
    if array.shape == (3,):
        return Pose(_matrix_of_vector(array), position)
    if array.shape == (4,):
        if np.linalg.norm(array) == 0:
            raise DescriptionError(item, "rotation", rotation, "a quaternion that is not zero")
        angle = 2 * np.arctan2(np.linalg.norm(array[1:]), array[0])
        return Pose(_matrix_of_vector(_rescaled(array[1:], angle)), position)
    if not np.allclose(array @ array.T, np.eye(3), atol=1e-9) or np.linalg.det(array) < 0:
        raise DescriptionError(item, "rotation", rotation, "an orthonormal, right-handed matrix")
    return Pose(array, position)


def _rescaled(vector: np.ndarray, length: Any) -> np.ndarray:
    norm = np.linalg.norm(vector)
    return vector * (length / norm) if norm > 0 else vector


def _matrix_of_vector(w: np.ndarray) -> np.ndarray:
    """Rodrigues' formula in plain NumPy: descriptions must not wait for a compiler."""
    angle = np.linalg.norm(w)
    x, y, z = w
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    half = np.sinc(angle / (2 * np.pi))
    return np.eye(3) + np.sinc(angle / np.pi) * hat + half**2 / 2 * hat @ hat
