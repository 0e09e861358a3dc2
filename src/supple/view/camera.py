"""A camera that sees all of a robot, as large as it can."""

import numpy as np

VIEW = np.array([0.55, -1.0, 0.42])
"""From where the robot is seen."""
FIELD = np.radians(35.0)
"""Vertical angle of view."""
FILL = 0.88
"""Share of the picture's width or height that the robot takes."""
DIRECTIONS = 256


def camera_axes(view: np.ndarray = VIEW) -> np.ndarray:
    """Rows: what is right, up and towards the camera in the picture."""
    back = view / np.linalg.norm(view)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back])


def camera_on(
    points: np.ndarray, aspect: float, fill: float = FILL
) -> tuple[np.ndarray, np.ndarray]:
    """Where a camera stands, and what it looks at, to see points (n, 3) in a picture of width over height.

    Each point asks for |x - x₀| ≤ s (z₀ - z), with the slope s of the picture's edges; the nearest camera
    (x₀, y₀, z₀) that fulfils all of them is known in closed form.
    """
    axes = camera_axes()
    seen = points @ axes.T
    slope = np.tan(FIELD / 2) * fill * np.array([aspect, 1.0])
    right = np.max(seen[:, :2] + slope * seen[:, 2:], axis=0)
    left = np.min(seen[:, :2] - slope * seen[:, 2:], axis=0)
    front, rear = seen[:, 2].max(), seen[:, 2].min()
    spread = max(float(np.ptp(seen, axis=0).max()), 1e-6)
    away = max(float(np.max((right - left) / (2 * slope))), front + 0.1 * spread)
    beside = (right + left) / 2
    return np.append(beside, away) @ axes, np.append(beside, (front + rear) / 2) @ axes


def outermost(points: np.ndarray) -> np.ndarray:
    """Few of many points (n, 3), between which all are: the farthest in each of many directions."""
    k = np.arange(DIRECTIONS) + 0.5
    height, angle = 1 - 2 * k / DIRECTIONS, np.pi * (1 + np.sqrt(5)) * k
    wide = np.sqrt(1 - height**2)
    directions = np.stack([wide * np.cos(angle), wide * np.sin(angle), height], axis=1)
    return points[np.unique(np.argmax(points @ directions.T, axis=0))]


def round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, near a length."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - length)))
