"""References of ``supple bench accuracy``: rods at rest by other means than strain modes.

Inextensible (or Reissner) rods in the strong form, integrated from a free end or by collocation (SciPy's
``solve_bvp``, tolerance 1e-10), with continuation where it is needed; arcs in closed form. All is computed
again with a tolerance of 1e-8: the differences, printed here, bound the references' own errors.

    python benchmarks/reference/accuracy.py     # writes src/supple/bench/data/accuracy.npz
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp

from supple.bench import accuracy_cases as case

OUT = Path(__file__).parents[2] / "src" / "supple" / "bench" / "data" / "accuracy.npz"
Array = np.ndarray
PLACES = np.array(case.PLACES)


@dataclass
class Slack:
    """By how much tolerances are looser, to see what they matter."""

    looser: float = 1.0


slack = Slack()


def arcs(edges: list[float], curvatures: list[float]) -> Array:
    """Points of a rod made of circular arcs."""
    found = []
    for place in PLACES:
        x = y = angle = 0.0
        for a, b, k in zip(edges[:-1], edges[1:], curvatures, strict=True):
            s = max(0.0, min(b, place) - a)
            if abs(k) < 1e-14:
                x, y = x + s * np.cos(angle), y + s * np.sin(angle)
            else:
                x += (np.sin(angle + k * s) - np.sin(angle)) / k
                y -= (np.cos(angle + k * s) - np.cos(angle)) / k
            angle += k * s
        found.append([x, y, 0.0])
    return np.array(found)


def follower(size: float) -> Array:
    """A force along the tip's normal: seen from the tip the rod is an initial-value problem."""

    # Angle against the tip's, moment/EI, and the way from the tip, for s from the tip inwards.
    def rate(s: float, z: Array) -> Array:
        angle, curvature = z[0], z[1]
        return np.array([-curvature, size * np.cos(angle), -np.cos(angle), -np.sin(angle)])

    stations = 1.0 - np.array([0.0, *PLACES])
    found = solve_ivp(rate, (0, 1), np.zeros(4), t_eval=stations[::-1], method="DOP853",
                      rtol=1e-13, atol=1e-14).y[:, ::-1]  # fmt: skip
    turn = -found[0, 0]
    away = found[2:, 1:].T - found[2:, 0]
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([c * away[:, 0] - s * away[:, 1], s * away[:, 0] + c * away[:, 1],
                     0 * away[:, 0]], axis=1)  # fmt: skip


def collocation(
    rate: Callable[[Array, Array, float], Array],
    ends: Callable[[Array, Array, float], Array],
    start: Callable[[Array], Array],
    shares: Array | None = None,
    tolerance: float = 1e-10,
) -> Callable[[Array], Array]:
    """A solution on [0, 1] by continuation in a share of the loads."""
    s = np.linspace(0, 1, 101)
    z = start(s)
    for share in np.linspace(0.05, 1, 20) if shares is None else shares:
        last = share == 1.0
        found = solve_bvp(
            lambda a, b, share=share: rate(a, b, share),
            lambda a, b, share=share: ends(a, b, share),
            s,
            z,
            tol=slack.looser * tolerance if last else 1e-5,
            max_nodes=200_000,
        )
        if not found.success:
            raise ArithmeticError(f"{share}: {found.message}")
        s, z = found.x, found.y
        if not last and len(s) > 2000:
            keep = np.unique([*range(0, len(s), len(s) // 1000), len(s) - 1])
            s, z = s[keep], z[:, keep]
    return found.sol


class Planar:
    """A rod in the plane between s = 0 and 1: z = x, y, angle, moment, force (2); one row set a span."""

    def __init__(
        self,
        spans: list[tuple[float, float]],
        *,
        bending: Callable[[Array], Array] = lambda s: case.BENDING + 0 * s,
        rest: float = 0.0,
        active: Callable[[Array], Array] = lambda s: 0 * s,
        weight: Callable[[Array], Array] = lambda s: 0 * s,
        load: Callable[[Array, Array], tuple[Array, Array]] | None = None,
        tendon: list[float] | None = None,
        compliance: tuple[float, float] = (0.0, 0.0),
        length: float = 1.0,
        gravity: tuple[float, float] = (0.0, -1.0),
        unit: float = case.BENDING,
    ) -> None:
        self.unit = unit  # of moments, so that tolerances fit them
        self.spans, self.length = spans, length
        self.tendon = [0.0] * len(spans) if tendon is None else tendon
        self.bending, self.rest, self.active, self.weight = bending, rest, active, weight
        self.load, self.compliance, self.gravity = load, compliance, gravity

    def rate(self, u: Array, z: Array, share: float) -> Array:
        rows = []
        for k, (a, b) in enumerate(self.spans):
            angle, moment, nx, ny = z[6 * k + 2 : 6 * k + 6]
            s = a + (b - a) * u
            bent = self.unit * moment + share * (self.tendon[k] - self.active(s))
            curvature = self.rest + bent / self.bending(s)
            c, i = np.cos(angle), np.sin(angle)
            stretch = 1 + self.compliance[0] * (c * nx + i * ny)
            shear = self.compliance[1] * (-i * nx + c * ny)
            dx, dy = stretch * c - shear * i, stretch * i + shear * c
            fx, fy = (share * self.weight(s) * g for g in self.gravity)
            if self.load is not None:
                px, py = self.load(s, angle)
                fx, fy = fx + share * px, fy + share * py
            size = (b - a) * self.length
            rows += [size * dx, size * dy, size * curvature,
                     -size * (dx * ny - dy * nx) / self.unit, -size * fx, -size * fy]  # fmt: skip
        return np.stack([row + 0 * u for row in rows])

    def start(self, u: Array) -> Array:
        rows = []
        for a, b in self.spans:
            s = (a + (b - a) * u) * self.length
            if self.rest:
                rows += [np.sin(self.rest * s) / self.rest, (1 - np.cos(self.rest * s)) / self.rest]
                rows += [self.rest * s]
            else:
                rows += [s, 0 * s, 0 * s]
            rows += [0 * s, 0 * s, 0 * s]
        return np.stack(rows)

    def ends(
        self, a: Array, b: Array, force: Array, clamp: tuple[float, ...] = (0, 0, 0)
    ) -> list[float]:
        """Clamped at 0, free at 1 with a force, joined in between."""
        n = len(self.spans)
        rows = [a[0] - clamp[0], a[1] - clamp[1], a[2] - clamp[2]]
        for k in range(n - 1):
            rows += list(b[6 * k : 6 * k + 6] - a[6 * k + 6 : 6 * k + 12])
        tip = b[6 * (n - 1) :]
        return [*rows, tip[3], tip[4] - force[0], tip[5] - force[1]]

    def points(self, found: Callable[[Array], Array]) -> Array:
        rows = []
        for place in PLACES:
            k = next(i for i, (a, b) in enumerate(self.spans) if a <= place <= b + 1e-15)
            a, b = self.spans[k]
            z = found(np.array([(place - a) / (b - a)]))[6 * k : 6 * k + 2, 0]
            rows.append([z[0], z[1], 0.0])
        return np.array(rows)


def cantilever(rod: Planar, tip: tuple[float, float] = (0.0, 0.0), jump: int | None = None,
               force: tuple[float, float] = (0.0, 0.0), **options: object) -> Array:  # fmt: skip
    """A clamped rod; ``force`` acts between spans ``jump`` and the next."""

    def ends(a: Array, b: Array, share: float) -> Array:
        rows = rod.ends(a, b, share * np.array(tip))
        if jump is not None:  # the part before carries the force, too
            rows[3 + 6 * jump + 4] -= share * force[0]
            rows[3 + 6 * jump + 5] -= share * force[1]
        return np.array(rows)

    return rod.points(collocation(rod.rate, ends, rod.start, **options))  # type: ignore[arg-type]


def weight(s: Array) -> Array:
    return case.WEIGHT + 0 * s


def two_rods() -> dict[str, Array]:
    soft = case.SOFT
    rod = Planar(
        [(0, 1), (1, 2)],
        bending=lambda s: case.BENDING * np.where(np.asarray(s).mean() < 1, 1.0, soft**4) + 0 * s,
        weight=lambda s: case.WEIGHT * np.where(np.asarray(s).mean() < 1, 1.0, soft**2) + 0 * s,
    )

    def ends(a: Array, b: Array, share: float) -> Array:
        return np.array(rod.ends(a, b, np.zeros(2)))

    found = collocation(rod.rate, ends, rod.start)
    flat = [[*z, 0.0] for k in (0, 1) for z in found(PLACES)[6 * k : 6 * k + 2].T]
    return {"rod": np.array(flat[:5]), "tip": np.array(flat[5:])}


def clamped_twice() -> Array:
    rod = Planar([(0, 1)], weight=weight)
    goal = np.array(case.CLAMPED)

    def ends(a: Array, b: Array, share: float) -> Array:
        x, y = (1, 0) + share * (goal - (1, 0))
        return np.array([*a[:3], b[0] - x, b[1] - y, b[2]])

    def start(s: Array) -> Array:
        high, turn = (
            0.09,
            2 * np.pi,
        )  # buckled downwards: an inextensible straight rod cannot be shortened
        z = rod.start(s)
        z[1], z[2] = -high * (1 - np.cos(turn * s)) / 2, -high * turn * np.sin(turn * s) / 2
        z[3], z[4] = -high * turn**2 * np.cos(turn * s) / 2, -(turn**2) * case.BENDING
        return z

    shares = np.linspace(0.1, 1, 19)
    return rod.points(collocation(rod.rate, ends, start, shares))


def sagging() -> Array:
    rod = Planar([(0, 1)], weight=weight)

    def ends(a: Array, b: Array, share: float) -> Array:
        return np.array([a[0], a[1], a[3], b[0] - 1 - share * (case.SPAN - 1), b[1], b[3]])

    def start(s: Array) -> Array:
        z = rod.start(s)
        z[1], z[2] = -0.15 * np.sin(np.pi * s), -0.4 * np.cos(np.pi * s)
        return z

    return rod.points(collocation(rod.rate, ends, start, np.array([1.0])))


def spring() -> Array:
    rod = Planar([(0, 1)], weight=weight)

    def ends(a: Array, b: Array, share: float) -> Array:
        pull = case.STIFFNESS * (np.array(case.ANCHOR[:2]) - b[:2])
        return np.array(rod.ends(a, b, share * pull))

    return rod.points(collocation(rod.rate, ends, rod.start))


def out_of_plane() -> Array:
    """A curved Kirchhoff rod in space: place, directors (9), moment and force, both in the world."""

    def rate(s: Array, z: Array, share: float) -> Array:
        frame = z[3:12].reshape(3, 3, -1)  # columns are directors
        local = np.einsum("ijs,is->js", frame, z[12:15])
        kappa = local / np.array([case.TORSION, case.BENDING, case.BENDING])[:, None]
        kappa[2] += case.ARC
        x, y, w = kappa
        hat = np.array([[0 * x, -w, y], [w, 0 * x, -x], [-y, x, 0 * x]])
        turned = np.einsum("ijs,jks->iks", frame, hat).reshape(9, -1)
        tangent = frame[:, 0]
        moment = -np.cross(tangent.T, z[15:18].T).T
        return np.concatenate([tangent, turned, moment, 0 * z[15:18]])

    def ends(a: Array, b: Array, share: float) -> Array:
        force = share * np.array([0, 0, case.SIDE_PULL])
        return np.concatenate([a[:3], a[3:12] - np.eye(3).ravel(), b[12:15], b[15:18] - force])

    def start(s: Array) -> Array:
        z = np.zeros((18, len(s)))
        t = case.ARC * s
        z[0], z[1] = np.sin(t) / case.ARC, (1 - np.cos(t)) / case.ARC
        z[3], z[4], z[6], z[7], z[11] = np.cos(t), -np.sin(t), np.sin(t), np.cos(t), 1
        return z

    return collocation(rate, ends, start)(PLACES)[:3].T


def references() -> dict[str, Array]:
    """Points of the rods of all cases."""
    one, moment = [(0.0, 1.0)], case.OFFSET * case.TENSION
    end = case.TENDON_ENDS[1]
    by_tendon = moment / case.BENDING
    cut = case.PULL_AT
    bent = case.OFFSET * case.AREA * case.PRESSURE / case.BENDING
    bending, axial, shear = case.THICK
    string = case.STRING_E * np.pi * case.STRING_RADIUS**4 / 4
    heavy = case.STRING_DENSITY * np.pi * case.STRING_RADIUS**2 * 9.81
    printed = case.PRINTED_E * np.pi * case.PRINTED_RADIUS**4 / 4
    own = case.PRINTED_DENSITY * np.pi * case.PRINTED_RADIUS**2 * case.PRINTED_GRAVITY
    found = {
        "tip-force": cantilever(Planar(one), (0, case.TIP_PULL)),
        "wound-up": arcs([0, 1], [case.TURNS]),
        "follower": follower(case.FOLLOWER),
        "follower-coils": follower(case.COILS),
        "load-in-span": cantilever(Planar([(0, cut), (cut, 1)]), jump=0, force=(0, case.PULL)),
        "tendon-ends": arcs([0, end, 1], [by_tendon, 0]),
        "three-tendons": arcs([0, *case.TENDON_ENDS, 1], [3 * by_tendon, 2 * by_tendon, by_tendon, 0]),
        "tendon-and-weight": cantilever(
            Planar([(0, end), (end, 1)], weight=weight, tendon=[moment, 0])
        ),
        "chamber-ends": arcs([0, *case.CHAMBER, 1], [0, -bent, 0]),
        "heavy-string": cantilever(
            Planar(one, bending=lambda s: string + 0 * s, weight=lambda s: heavy + 0 * s,
                   length=case.STRING_LENGTH, unit=string),
            shares=np.geomspace(1e-5, 1, 60), tolerance=1e-8),
        "body-in-span": cantilever(
            Planar([(0, case.BODY_AT), (case.BODY_AT, 1)], weight=weight),
            jump=0, force=(0, -9.81 * case.BODY)),
        "tapered": cantilever(
            Planar(one, bending=lambda s: case.BENDING * (1 - case.TAPER * s) ** 4,
                   weight=lambda s: case.WEIGHT * (1 - case.TAPER * s) ** 2)),
        "coil-at-rest": cantilever(Planar(one, rest=case.CURVE, weight=weight)),
        "arc-out-of-plane": out_of_plane(),
        "clamped-twice": clamped_twice(),
        "sagging": sagging(),
        "spring": spring(),
        "thick": cantilever(
            Planar(one, bending=lambda s: bending + 0 * s, compliance=(1 / axial, 1 / shear), unit=bending),
            (0, case.TIP_PULL)),
        "active-waves": cantilever(
            Planar(one, weight=weight, active=lambda s: case.WAVE * np.sin(4 * np.pi * s))),
        "wind": cantilever(
            Planar(one, load=lambda s, angle: (-6 * s**2 * np.sin(angle), 6 * s**2 * np.cos(angle)))),
        "printed-cantilever": cantilever(
            Planar(one, bending=lambda s: printed + 0 * s, weight=lambda s: own + 0 * s,
                   length=case.PRINTED_LENGTH, gravity=(1.0, 0.0), unit=printed),
            (0, case.PRINTED_FORCE), shares=np.geomspace(1e-3, 1, 40)),
    }  # fmt: skip
    found = {f"{name}/rod": points for name, points in found.items()}
    return found | {f"two-rods/{name}": points for name, points in two_rods().items()}


if __name__ == "__main__":
    solutions = references()
    slack.looser = 100.0
    looser = references()
    for name, points in solutions.items():
        error = np.abs(points - looser[name]).max()
        print(f"{name:24s} tip {points[-1]}, with a looser tolerance {error:.0e} m away")
    np.savez(OUT, **solutions)
