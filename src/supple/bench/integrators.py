"""Rules that integrate along a rod (000, Table 5.3): time of forward kinematics and inverse dynamics; error.

A steel rod, bent and twisted and moving, on 11, 21 and 31 points; for Runge-Kutta, whose steps follow from
its tolerance, with 5, 10 and 15 modes instead. "FK" are poses, twists and accelerations of all sections,
"IDM" the whole inverse dynamics, "BD" the difference. "hybrid" is Supple's default: orientations by Magnus'
expansion from node to node, all else by quadrature on the nodes. "spectral" solves for the orientations by
collocation, "magnus" is an expansion of order four in SE(3) that gives poses alone. Times are those of one
evaluation within a compiled loop on one core; the error is the largest distance of a section from a far finer
solution, over the length.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.bench.pcs import best_time, looped
from supple.lie import se3
from supple.lie.se3 import Pose
from supple.mechanics.element_motion import Coordinates
from supple.mechanics.frames import rod_shape
from supple.mechanics.inverse_dynamics import inverse_dynamics
from supple.mechanics.kinematics import kinematics
from supple.model.model import Model
from supple.robot.items import Rod
from supple.robot.robot import Robot
from supple.section import Circle, Material
from supple.space.integrator import Magnus, RungeKutta, SpaceIntegrator, Spectral
from supple.space.magnus import GAUSS_POINTS

RULES: dict[str, SpaceIntegrator] = {
    "runge-kutta": RungeKutta(1e-10),
    "spectral": Spectral(),
    "hybrid": Magnus(),
}
NAMES = (*RULES, "magnus")
POINTS = (11, 21, 31)
MODES = (5, 10, 15)
"""Of each strain, for Runge-Kutta."""
STEEL = Material(E=210e9, G=80e9, density=7800.0)


@dataclass(frozen=True)
class IntegratorRow:
    """One rule on one grid: times in µs; None where the rule gives no such thing."""

    rule: str
    modes: int
    points: int
    fk_us: float
    bd_us: float | None
    idm_us: float | None
    pose_error: float
    status: str = "DONE"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def robot(modes: int, points: int, rule: SpaceIntegrator) -> Robot:
    """A rod of the RFRFR robot with both curvatures and torsion."""
    rod = Rod(
        "rod", 1.0, Circle(1e-3), STEEL, strains="kirchhoff", basis=modes, nodes=points, space=rule
    )
    return Robot(rod, gravity=(0.0, -9.81, 0.0))


def state(modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of three strains and their rates, smaller for higher modes."""
    rng = np.random.default_rng(0)
    size = 3.0 / (1 + np.arange(modes)) ** 2
    q, v = (np.concatenate([size * rng.normal(size=modes) for _ in range(3)]) for _ in range(2))
    return q, v


def run_integrators(rules: list[str] | None = None, repeats: int = 20) -> Iterator[IntegratorRow]:
    """All rules on all grids."""
    for rule in rules or NAMES:
        cases = (
            [(modes, 31) for modes in MODES] if rule == "runge-kutta" else [(3, n) for n in POINTS]
        )
        for modes, points in cases:
            yield _pure(points, repeats) if rule == "magnus" else _row(rule, modes, points, repeats)


def _row(rule: str, modes: int, points: int, repeats: int) -> IntegratorRow:
    model = _built(modes, points, RULES[rule])
    q, v = (jnp.asarray(part) for part in state(modes))
    fk, _ = best_time(looped(_forward), (model, q, v), repeats)
    idm, _ = best_time(looped(_inverse), (model, q, v), repeats)
    places = np.linspace(0.0, 1.0, 11)
    exact, found = _exact(modes, q, places), rod_shape(model, "rod", q, places).position
    error = float(np.linalg.norm(np.asarray(found) - exact, axis=1).max())
    return IntegratorRow(rule, modes, points, fk, idm - fk, idm, error)


def _built(modes: int, points: int, rule: SpaceIntegrator) -> Model:
    model: Model = jax.tree.map(jnp.asarray, robot(modes, points, rule).build())
    return model


def _forward(model: Model, q: Any, v: Any, t: Any) -> Any:
    found = kinematics(model, Coordinates(q, jnp.zeros_like(q), v, v, t))
    parts = jax.tree.leaves(found)
    return q * 0.0 + sum(
        jnp.sum(part) for part in parts if jnp.issubdtype(part.dtype, jnp.floating)
    )


def _inverse(model: Model, q: Any, v: Any, t: Any) -> Any:
    return inverse_dynamics(model, Coordinates(q, jnp.zeros_like(q), v, v, t))


def _exact(modes: int, q: Any, places: np.ndarray) -> np.ndarray:
    """Positions by Magnus' expansion on far more points."""
    model = _built(modes, 120, Magnus())
    return np.asarray(rod_shape(model, "rod", q, places).position)


def _pure(points: int, repeats: int) -> IntegratorRow:
    """Poses alone, by steps in SE(3) between even points."""
    q = jnp.asarray(state(3)[0])
    model = _built(3, points, Magnus())
    best, _ = best_time(looped(partial(_poses, points)), (model, q, q), repeats)
    position = np.asarray(_stepped(points, q).position)
    apart = position - _exact(3, q, np.linspace(0.0, 1.0, points))[1:]
    return IntegratorRow(
        "magnus", 3, points, best, None, None, float(np.linalg.norm(apart, axis=1).max())
    )


def _poses(points: int, model: Model, q: Any, v: Any, t: Any) -> Any:
    found = _stepped(points, q)
    return 0.0 * q + jnp.sum(found.position) + jnp.sum(found.rotation)


def _stepped(points: int, q: Float[Array, " m"]) -> Pose:
    """Poses (points - 1,) after each step of order four."""
    width = 1.0 / (points - 1)
    u = (np.arange(points - 1)[:, None] + GAUSS_POINTS[4]) * width
    values = np.polynomial.legendre.legvander(2 * u - 1, 2)  # (steps, 2, modes)
    curvature = jnp.einsum("sgm,im->sgi", values, q.reshape(3, 3))
    straight = jnp.zeros_like(curvature).at[..., 0].set(1.0)
    first, second = jnp.moveaxis(jnp.concatenate([curvature, straight], axis=-1), 1, 0)
    twist = width / 2 * (first + second) + width**2 * np.sqrt(3) / 12 * se3.ad(first, second)
    return jax.lax.associative_scan(lambda a, b: a @ b, se3.exp(twist))
