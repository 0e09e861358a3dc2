"""What is special between two points of a branch: limit, branching and flutter points.

Between two points the branch is a function of arc length. Where its direction in time changes sign there is
a limit point; where the number of unstable motions changes otherwise, a branching point. Both are roots of
smooth functions: the direction itself, and the eigenvalue of the motion that becomes unstable. Flutter has
no such function: it is bisected for.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from supple.run.arc import (
    NEUTRAL,
    Corrected,
    Path,
    Point,
    along,
    direction,
    orthonormal,
    point_at,
)
from supple.run.branch import SpecialPoint
from supple.run.stability import Stability
from supple.solve.bracket import bracketed_root

SHARP = 1e-10
"""Of a step: how well its special points are located."""
SAME = 1e-3
"""Of a step, beside a limit point, that belongs to it."""
TOGETHER = 1e-5
"""Of a step, within which motions become unstable at once."""
NEAR = 0.03
"""Of a step, between two points that are near each other."""
SOFT = 1e-3
"""Eigenvalue, beside the elastic stiffness, of a motion that is nearly free."""
FINE = 40
"""Halvings of a step with which flutter is located."""


class Lost(Exception):
    """No equilibrium was found where the branch should be."""


@dataclass
class Span:
    """The branch between two points, by the arc length from the first."""

    path: Path
    start: Point
    end: Point
    z: np.ndarray
    """The end, in coordinates around the start."""
    seen: dict[float, Corrected] = field(default_factory=dict)
    points: dict[float, Point] = field(default_factory=dict)

    @property
    def length(self) -> float:
        """Arc length of the end."""
        return self.path.product(self.start.direction, self.z - self.start.origin)

    def guess(self, s: float) -> np.ndarray:
        """A parabola through both ends, in the direction of the first; between near points, straight on."""
        known = {0.0: self.start.origin, self.length: self.z}
        known |= {x: found.z for x, found in self.seen.items()}
        low, high = max(x for x in known if x <= s), min(x for x in known if x >= s)
        if low == high:
            return known[low]
        if high - low < NEAR * self.length:
            share = (s - low) / (high - low)
            return (1 - share) * known[low] + share * known[high]
        straight = self.start.origin + s * self.start.direction
        whole = self.start.origin + self.length * self.start.direction
        return straight + (s / self.length) ** 2 * (self.z - whole)

    def at(self, s: float) -> Corrected:
        """The equilibrium there."""
        if s not in self.seen:
            guess = self.guess(s)
            found = along(self.path, self.start, s, guess)
            if found is None:  # so near a branching point that round-off moves it
                found = along(self.path, self._without_soft(s), s, guess)
            if found is None:
                raise Lost
            self.seen[s] = found
        return self.seen[s]

    def _without_soft(self, s: float) -> Point:
        """The start, with the motions left alone that are nearly free at an arc length."""
        known = {0.0: self.start, self.length: self.end} | self.points
        soft = known[min(known, key=lambda x: abs(x - s))].soft
        size = np.abs(soft.values)
        motions = soft.shapes[:, size <= max(size.min(initial=np.inf), SOFT)]
        n, way = len(motions), self.start.direction
        weighted = self.path.weights[:n] * way[:n]
        motions = motions - way[:n, None] * (weighted @ motions)
        fixed = orthonormal(self.path, np.hstack([self.start.fixed, motions]))
        return replace(self.start, fixed=fixed)

    def direction(self, s: float) -> np.ndarray:
        """Direction of the branch there, in coordinates around the start."""
        if s == 0.0:
            return self.start.direction
        return direction(self.path, self.at(s).response, self.start.direction)

    def point(self, s: float) -> Point:
        """The equilibrium there, with its softest motions."""
        if s == 0.0:
            return self.start
        if s == self.length:
            return self.end
        if s not in self.points:
            like, soft = self.start.direction, self.start.soft
            known = max(soft.unstable, self.end.soft.unstable)
            self.points[s] = point_at(self.path, self.at(s), like, soft, known)
        return self.points[s]

    def root(self, f: Callable[[float], float], low: float, high: float) -> float:
        """Where a function changes its sign; the end where it is smaller, if it does not."""
        at_low, at_high = f(low), f(high)
        if not at_low * at_high < 0:
            return low if abs(at_low) < abs(at_high) else high
        return bracketed_root(f, low, at_low, high, at_high, SHARP * self.length)[0]


@dataclass(frozen=True)
class Special:
    """A special point, and where on the span it lies."""

    s: float
    point: SpecialPoint


def located(span: Span, index: int, since: float) -> list[Special]:
    """Limit, branching and flutter points between two points of a branch, in their order."""
    found: list[Special] = []
    parts = [(0.0, span.length)]
    if span.start.direction[-1] * span.end.direction[-1] < 0:
        try:
            turn = span.root(lambda s: float(span.direction(s)[-1]), 0.0, span.length)
        except Lost:
            turn = span.length / 2
        found.append(_special(span, "limit", turn, 1, index, since))
        gap = SAME * span.length
        parts = [(0.0, turn - gap), (turn + gap, span.length)]
    for low, high in parts:
        if high > low:
            found += _branchings(span, low, high, index, since)
    return sorted(found, key=lambda one: one.s)


def _branchings(span: Span, low: float, high: float, index: int, since: float) -> list[Special]:
    """Where motions become unstable, or stable, between two places without a limit point."""
    try:
        before, after = span.point(low), span.point(high)
    except Lost:
        return []
    first, last = sorted((before.soft.unstable, after.soft.unstable))
    if first == last:
        kinds = before.soft.stability, after.soft.stability
        changes = kinds[0] != kinds[1] and Stability.FLUTTER in kinds
        return [_flutter(span, low, high, index, since)] if changes else []
    places: list[float] = []
    for i in range(first, last):

        def eigenvalue(s: float, i: int = i) -> float:
            values = span.point(s).soft.values
            return float(values[min(i, len(values) - 1)])  # of what was not looked at: positive

        try:
            if places and abs(eigenvalue(places[-1])) < NEUTRAL:
                places.append(places[-1])
                continue
            places.append(span.root(eigenvalue, low, high))
        except Lost:
            values = [one.soft.values[min(i, len(one.soft.values) - 1)] for one in (before, after)]
            places.append(low + (high - low) * values[0] / (values[0] - values[1]))
    found, places = [], sorted(places)
    while places:
        together = [s for s in places if s - places[0] < TOGETHER * span.length]
        place = float(np.mean(together))
        found.append(_special(span, "branch", place, len(together), index, since))
        places = places[len(together) :]
    return found


def _flutter(span: Span, low: float, high: float, index: int, since: float) -> Special:
    """Where a robot under follower loads begins to swing by itself, or ends to."""
    kind = span.point(low).soft.stability
    try:
        for _ in range(FINE):
            middle = (low + high) / 2
            same = span.point(middle).soft.stability == kind
            low, high = (middle, high) if same else (low, middle)
    except Lost:
        pass
    return _special(span, "flutter", (low + high) / 2, 0, index, since)


def _special(span: Span, kind: str, s: float, motions: int, index: int, since: float) -> Special:
    """The special point at an arc length."""
    path, n = span.path, span.path.model.nv
    try:
        point = span.point(s)
        z, q = (point.origin, point.q) if s == 0.0 else (span.at(s).z, span.at(s).q)
    except Lost:
        point, z = span.start, span.guess(s)
        q = point.q + 0.0
    order = np.argsort(np.abs(point.soft.values))[:motions]
    gap = SAME * span.length
    try:
        sides = [span.direction(x) for x in (max(s - gap, 0.0), min(s + gap, span.length))]
    except Lost:
        sides = [span.start.direction]
    way = np.mean(sides, axis=0)
    return Special(
        s,
        SpecialPoint(
            kind,
            index,
            float(z[-1]),
            q,
            z[n:-1],
            orthonormal(path, point.soft.shapes[:, order]).T,
            way / path.length(way),
            span.start.soft.unstable,
            since,
        ),
    )
