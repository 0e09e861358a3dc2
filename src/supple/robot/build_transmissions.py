"""From tendons, chambers, motors and springs as users write them to the transmissions of the model."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.errors import DescriptionError
from supple.model.efforts import (
    AbstractEffort,
    Cable,
    ElasticRod,
    Gas,
    Given,
    Governor,
    Imposed,
    Pressure,
    Servo,
    Spring as SpringEffort,
    Tension,
    TorqueDrive,
    WithFriction,
)
from supple.model.friction import friction_rows
from supple.model.laws import AbstractEffortLaw, AbstractLaw, Constant, batched
from supple.model.model import Slot
from supple.model.transmissions import (
    Affine,
    Channels,
    Grip,
    Rubbing,
    Segments,
    TendonBends,
    Transmissions,
    no_affine,
    no_channels,
    no_segments,
    no_transmissions,
)
from supple.numeric import asarray, is_traced, stack
from supple.robot.actuators import Actuator, Chamber, Motor, Spring, Tendon
from supple.robot.attachments import Attachment, Attachments
from supple.robot.graph import Graph
from supple.robot.items import Rod
from supple.robot.numbering import Numbering
from supple.robot.pieces import piece_field, piece_rest
from supple.space.quadrature import Panels
from supple.strain.basis import CustomBasis
from supple.strain.field import StrainField

POINTS = 32
"""Most quadrature points along each smooth piece of a channel."""
FEWEST_POINTS, SPARE_POINTS = 12, 10
"""Points where strains are polynomials: as many, or twice their degree and so many more."""
SLACK_WIDTH = 1e-6
"""Of the length: from slack to taut."""


Span = tuple[int, int]
"""First velocity coordinate of an element and the one after its last."""


@dataclass
class Route:
    """Where a transmission runs: channels (rod, from, to), lines between seats, and a constant length."""

    channels: list[tuple[str, float, float]] = field(default_factory=list)
    lines: list[tuple[Attachment, Attachment]] = field(default_factory=list)
    constant: Any = 0.0


def routes_of(robot: Graph, seating: Attachments) -> list[Route]:
    """The route of each actuator; seats that lines need are made."""
    rods = {item.name: item for item in robot.items if isinstance(item, Rod)}
    routes = []
    for item in actuators_of(robot):
        if isinstance(item, Tendon):
            routes.append(_tendon_route(item, rods, seating))
        elif isinstance(item, Spring):
            ends = (
                seating.at_point(item.on, item.fraction, item.position),
                seating.at_point(item.to, item.to_fraction, item.to_position),
            )
            if ends[0].beside(ends[1]):
                need = "items that can move against one another"
                raise DescriptionError(item.name, "on, to", (item.on, item.to), need)
            routes.append(Route(lines=[ends]))
        else:
            routes.append(Route())
    return routes


def actuators_of(robot: Graph) -> list[Actuator]:
    """Tendons, chambers, motors and springs in the order of the description."""
    return [item for item in robot.items if isinstance(item, Actuator)]


def _tendon_route(item: Tendon, rods: dict[str, Rod], seating: Attachments) -> Route:
    """Channels or straight lines along rods, and straight lines from item to item."""
    route, before = Route(), None
    alone = len(item.items) == 1
    for i, name in enumerate(item.items):
        if name not in rods:
            here = seating.at_point(name, 1.0, item.point(name))
            seats = [here]
        else:
            if rods[name].growth is not None:
                raise DescriptionError(item.name, "on", name, "a rod of constant length")
            first = item.start if i == 0 else 0.0
            last = item.end if i == len(item.items) - 1 else 1.0
            held = np.array([first, last]) if item.discs is None else item.stops(first, last)
            if item.discs is None:
                route.channels.append((name, first, last))
            points = _across(item.offsets(name, held))
            ends = zip(held.tolist(), points, strict=True)
            # A channel along one rod needs no seats.
            needed = not alone or item.discs is not None
            seats = [seating.at_point(name, u, point) for u, point in ends] if needed else []
        if before is not None:
            _join(route, before, seats[0])
        if item.discs is not None:
            route.lines += pairwise(seats)
        before = seats[-1] if seats else None
    if not route.channels and not route.lines:
        raise DescriptionError(item.name, "on", item.on, "items that can move against one another")
    if item.rubs and route.lines and route.channels:
        need = "discs, if the tendon goes over joints: friction is known in channels or at discs"
        raise DescriptionError(item.name, "friction", (item.friction, item.viscous), need)
    return route


def _join(route: Route, a: Attachment, b: Attachment) -> None:
    """A straight line between two seats; of constant length if they are fixed to one another."""
    if not a.beside(b):
        route.lines.append((a, b))
        return
    apart = asarray(b.offset.position) - asarray(a.offset.position)
    backend: Any = jnp if is_traced(apart) else np
    distance = backend.sqrt(backend.sum(apart**2))
    route.constant = route.constant + distance


def transmissions_of(
    robot: Graph,
    seating: Attachments,
    routes: list[Route],
    at: Numbering,
) -> Transmissions:
    """All transmissions of a robot."""
    items = actuators_of(robot)
    if not items:
        return no_transmissions()
    rods = {item.name: item for item in robot.items if isinstance(item, Rod)}
    places = {slot.name: slot for slot in at.slots["rod"]}
    joints = {slot.name: slot for slot in at.slots["joint"]}
    motors = {item.name: item for item in items if isinstance(item, Motor)}

    channels = _channels(items, routes, rods, places)
    segments = _segments(items, routes, at)
    constants, arms = [], []
    for i, (item, route) in enumerate(zip(items, routes, strict=True)):
        constant, own = _affine_part(item, route, rods, places, joints, motors)
        constants.append(constant)
        arms += [(i, *part) for part in own]
    rest = _rest_lengths(items, routes, channels, constants, seating)
    laws: list[AbstractLaw] = []
    batches: dict[Any, list[tuple[int, AbstractEffort]]] = {}
    for i, item in enumerate(items):
        laws.append(Constant(0.0) if isinstance(item, Spring) else item.time_law())
        effort = _effort(item, rest[i])
        leaves, form = jax.tree.flatten(effort)
        # Laws of users are one by one, as they may treat their numbers in any way.
        alone = i if effort_law(item) is not None else -1
        batches.setdefault((form, alone, tuple(map(np.shape, leaves))), []).append((i, effort))
    return Transmissions(
        constant=stack(constants),
        affine=_affine(arms),
        channels=channels,
        segments=segments,
        laws=batched(laws),
        efforts=tuple(_joined([effort for _, effort in batch]) for batch in batches.values()),
        members=tuple(tuple(i for i, _ in batch) for batch in batches.values()),
        kinds=tuple(type(item).__name__.lower() for item in items),
        names=tuple(item.name for item in items),
        cables=tuple(isinstance(item, Tendon) and not item.push for item in items),
    )


def effort_law(item: Actuator) -> AbstractEffortLaw | None:
    """The effort law of a user that an actuator has; None if it has a law of time."""
    if isinstance(item, Spring):
        return None
    law = {Tendon: "tension", Chamber: "pressure", Motor: "torque"}[type(item)]
    found = getattr(item, law)
    return found if isinstance(found, AbstractEffortLaw) else None


def _joined(efforts: list[AbstractEffort]) -> AbstractEffort:
    """One batch of efforts of one form, each of them given as a batch of one."""
    if len(efforts) == 1:
        return efforts[0]
    return jax.tree.map(lambda *leaves: stack([leaf[0] for leaf in leaves]), *efforts)


def _effort(item: Actuator, rest: Any) -> AbstractEffort:
    """The effort of one actuator, as a batch of one; ``rest`` is its coordinate as described."""
    kind, numbers = _plain_effort(item, rest)
    effort: AbstractEffort = kind(**{name: stack([number]) for name, number in numbers.items()})
    if (law := effort_law(item)) is not None:
        effort = Given(effort, jax.tree.map(asarray, law))
    if isinstance(item, Motor) and (friction := item.dry()) is not None:
        effort = WithFriction(effort, friction_rows(friction, 1), stack([item.gear]))
    return effort


def _plain_effort(item: Actuator, rest: Any) -> tuple[type[AbstractEffort], dict[str, Any]]:
    """The effort law of one actuator and its numbers."""
    if isinstance(item, Spring):
        length = rest if item.length is None else item.length
        gains = {"stiffness": item.stiffness, "damping": item.damping}
        return SpringEffort, {**gains, "rest": length}
    if isinstance(item, Motor):
        limit = {"limit": item.gear * item.limit}
        if item.kind == "torque":
            return TorqueDrive, {"gear": item.gear, "limit": item.limit}
        if item.kind == "velocity":
            return Governor, {"damping": item.damping, **limit}
        return Servo, {"stiffness": item.stiffness, "damping": item.damping, **limit}
    if isinstance(item, Chamber):
        if item.kind == "pressure":
            return Pressure, {}
        if item.kind == "gas":
            return Gas, {"start": rest}
        return Imposed, {
            "start": rest,
            "offset": 0.0,
            "sign": 1.0,
            "scale": 1 / item.area,
        }
    if item.kind == "tension":
        return Tension, {"push": float(item.push)}
    if item.kind == "elastic":
        gains = {"stiffness": item.stiffness, "damping": item.damping, "rest": rest}
        if item.push:
            return ElasticRod, gains
        return Cable, {**gains, "slack_width": SLACK_WIDTH * rest}
    return Imposed, {"start": rest, "offset": rest, "sign": -1.0, "scale": 1.0}


def _affine_part(
    item: Actuator,
    route: Route,
    rods: dict[str, Rod],
    places: dict[str, Slot],
    joints: dict[str, Slot],
    motors: dict[str, Motor],
) -> tuple[Any, list[tuple[Span, Any]]]:
    """Constant and derivative of the affine part of a coordinate: whose coordinates, and numbers."""
    if isinstance(item, Chamber):
        rod, slot = rods[item.on], places[item.on]
        if rod.growth is not None:
            raise DescriptionError(item.name, "on", item.on, "a rod of constant length")
        # A chamber's path is a cable's; its volume takes the component along the section's normal.
        path = Tendon(item.name, on=item.on, offset=item.offset, tension=0.0)
        volume: Any = 0.0
        parts = []
        for span, channel in _along(path, rod, slot, item.start, item.end):
            backend: Any = jnp if is_traced((item.area, channel.__dict__)) else np
            own = item.area * backend.einsum("n,nm->m", channel.weights, channel.slope[:, 0])
            volume = volume + item.area * backend.sum(channel.weights * channel.straight[:, 0])
            parts.append((span, own))
        return volume, parts
    motor, radius = None, 1.0
    if isinstance(item, Motor):
        motor = item
    elif isinstance(item, Tendon) and item.winch is not None:
        motor, radius = motors[item.winch], item.drum
    if motor is None:
        return route.constant, []
    slot = _driven_joint(motor, joints)
    chosen = np.arange(slot.v_stop - slot.v_start) == motor.coordinate
    return route.constant, [((slot.v_start, slot.v_stop), asarray(radius) * chosen)]


def _affine(found: list[tuple[int, Span, Any]]) -> Affine:
    """Moment arms of those transmissions that have affine parts."""
    if not found:
        return no_affine()
    width = max(len(own) for _, _, own in found)
    backend: Any = jnp if is_traced([own for _, _, own in found]) else np
    return Affine(
        arms=stack([backend.pad(own, (0, width - len(own))) for _, _, own in found]),
        spans=tuple(span for _, span, _ in found),
        of=tuple(i for i, _, _ in found),
    )


def _driven_joint(motor: Motor, joints: dict[str, Slot]) -> Slot:
    """The joint that a motor turns."""
    slot = joints.get(motor.joint)
    if slot is None or slot.q_stop - slot.q_start != slot.v_stop - slot.v_start:
        known = ", ".join(
            name for name, s in joints.items() if s.q_stop - s.q_start == s.v_stop - s.v_start
        )
        need = f"an item with a joint of plain coordinates, one of: {known or 'none'}"
        raise DescriptionError(motor.name, "on", motor.on, need)
    if motor.coordinate >= slot.v_stop - slot.v_start:
        need = f"0 … {slot.v_stop - slot.v_start - 1}"
        raise DescriptionError(motor.name, "coordinate", motor.coordinate, need)
    return slot


def _rest_lengths(
    items: list[Actuator],
    routes: list[Route],
    channels: Channels,
    constants: list[Any],
    seating: Attachments,
) -> list[Any]:
    """Coordinates in the described shape."""
    rest = list(constants)
    backend: Any = jnp if is_traced(channels) else np
    if channels.size:
        size = backend.sqrt(backend.sum(channels.straight**2, axis=-1))
        lengths = backend.sum(channels.weights * size, axis=1)
        for k, of in enumerate(channels.of):
            rest[of] = rest[of] + lengths[k]
    for i, route in enumerate(routes):
        for a, b in route.lines:
            length = seating.distance(a, b)
            if not is_traced(length) and length < 1e-9:
                need = (
                    "end points that are apart: the direction of a line without length is unknown"
                )
                raise DescriptionError(items[i].name, "on", items[i].on, need)
            rest[i] = rest[i] + length
    return rest


def _segments(items: list[Actuator], routes: list[Route], at: Numbering) -> Segments:
    lines = [(i, a, b) for i, route in enumerate(routes) for a, b in route.lines]
    if not lines:
        return no_segments()
    return Segments(
        inner=stack([a.offset.position for _, a, _ in lines]),
        outer=stack([b.offset.position for _, _, b in lines]),
        corners=_corners(items, [i for i, _, _ in lines]),
        inner_sample=tuple(at.sample_of(a) for _, a, _ in lines),
        outer_sample=tuple(at.sample_of(b) for _, _, b in lines),
        of=tuple(i for i, _, _ in lines),
    )


def _corners(items: list[Actuator], of: list[int]) -> TendonBends | None:
    """TendonBends between segments of tendons that rub; the segments of one tendon follow each other."""
    rubs = [isinstance(item, Tendon) and item.rubs for item in items]
    arriving = [k for k, (a, b) in enumerate(pairwise(of)) if a == b and rubs[a]]
    if not arriving:
        return None
    tendons = [item for k in arriving if isinstance(item := items[of[k]], Tendon)]
    return TendonBends(
        grip=_grip(tendons),
        arriving=tuple(arriving),
        leaving=tuple(k + 1 for k in arriving),
    )


def _grip(tendons: list[Tendon]) -> Grip:
    """Numbers of friction, one for each tendon of a list."""
    return Grip(
        dry=stack([tendon.friction for tendon in tendons]),
        speed=stack([tendon.friction_speed for tendon in tendons]),
        viscous=stack([tendon.viscous for tendon in tendons]),
    )


@dataclass(frozen=True)
class _Channel:
    """One channel: weights (m), Γ₀, B, κ₀ and its slope at its points, d/dX and ∫₀ˣ between them."""

    weights: Any
    straight: Any
    slope: Any
    turning_rest: Any
    turning: Any
    differentiation: Any
    integration: Any


def _channels(
    items: list[Actuator], routes: list[Route], rods: dict[str, Rod], places: dict[str, Slot]
) -> Channels:
    found = []
    for i, (item, route) in enumerate(zip(items, routes, strict=True)):
        for name, first, last in route.channels:
            assert isinstance(item, Tendon)
            own = _along(item, rods[name], places[name], first, last)
            found += [(i, span, channel) for span, channel in own]
    if not found:
        return no_channels()
    spans = tuple(span for _, span, _ in found)
    width = max(stop - start for start, stop in spans)
    points = max(len(channel.weights) for _, _, channel in found)
    of = tuple(i for i, _, _ in found)
    padded = [_padded(channel, points, width) for _, _, channel in found]
    rubbing = None
    tendons = [item for i in of if isinstance(item := items[i], Tendon)]
    if any(tendon.rubs for tendon in tendons):
        rubbing = _rubbing(tendons, padded)
    return Channels(
        weights=stack([channel.weights for channel in padded]),
        straight=stack([channel.straight for channel in padded]),
        slope=stack([channel.slope for channel in padded]),
        rubbing=rubbing,
        spans=spans,
        of=of,
    )


def _padded(channel: _Channel, points: int, width: int) -> _Channel:
    """A channel with more points and coordinates, which count for nothing."""
    missing, spare = points - len(channel.weights), width - channel.slope.shape[-1]
    backend: Any = jnp if is_traced(channel.__dict__) else np
    # Points that are not there have a tangent of length one and no weight.
    straight = backend.concatenate([channel.straight, np.tile([1.0, 0.0, 0.0], (missing, 1))])
    more = ((0, missing), (0, 0), (0, spare))
    square = ((0, missing), (0, missing))
    return _Channel(
        backend.pad(channel.weights, (0, missing)),
        straight,
        backend.pad(channel.slope, more),
        backend.pad(channel.turning_rest, ((0, missing), (0, 0))),
        backend.pad(channel.turning, more),
        backend.pad(channel.differentiation, square),
        backend.pad(channel.integration, square),
    )


def _rubbing(items: list[Tendon], channels: list[_Channel]) -> Rubbing:
    """Friction of channels."""
    return Rubbing(
        turning=stack([channel.turning for channel in channels]),
        turning_rest=stack([channel.turning_rest for channel in channels]),
        differentiation=stack([channel.differentiation for channel in channels]),
        integration=stack([channel.integration for channel in channels]),
        grip=jax.tree.map(lambda number: number[:, None], _grip(items)),
        which=tuple(item.rubs for item in items),
    )


def _along(
    item: Tendon, rod: Rod, slot: Slot, first: float, last: float
) -> Iterator[tuple[Span, _Channel]]:
    """A channel between two fractions of a rod, as one, or in its pieces: on whose coordinates, and how."""
    whole = slot.v_start, slot.v_stop
    if not slot.in_pieces:
        yield whole, _channel(item, rod, rod.strain_field(), rod.rest, first, last)
        return
    field_, width = piece_field(rod), (whole[1] - whole[0]) // slot.pieces
    for k, (a, b) in enumerate(pairwise(slot.edges)):
        if max(a, first) < min(b, last):
            start = whole[0] + k * width
            rest = piece_rest(rod, (a, b))
            channel = _channel(item, rod, field_, rest, max(a, first), min(b, last))
            yield (start, start + width), channel


def _channel(
    item: Tendon, rod: Rod, field_: StrainField, rest_shape: Any, first: float, last: float
) -> _Channel:
    edges = (first, *(b for b in sorted({*field_.breaks, *rod.breaks}) if first < b < last), last)
    at, weight, differentiation, integration = _panels(
        edges, _point_count(item, rod, field_, rest_shape)
    )
    at = at.copy()  # for the functions of users, who may write to it
    offset, change = _across(item.offsets(rod.name, at)), _across(_slope(item, rod.name, at))
    values = np.asarray(field_.values(at))
    rest = (
        asarray(rest_shape(at))
        if callable(rest_shape)
        else asarray(rest_shape) + np.zeros((len(at), 1))
    )
    backend: Any = jnp if is_traced((rest, offset)) else np
    across = backend.cross(np.swapaxes(values[:, :3], 1, 2), offset[:, None, :]).swapaxes(1, 2)
    return _Channel(
        weights=weight * rod.length,
        straight=rest[:, 3:] + backend.cross(rest[:, :3], offset) + change / rod.length,
        slope=values[:, 3:] + across,
        turning_rest=rest[:, :3],
        turning=values[:, :3],
        differentiation=differentiation / rod.length,
        integration=integration * rod.length,
    )


def _across(places: Any) -> Any:
    """(y, z) of sections as vectors."""
    return (jnp if is_traced(places) else np).pad(places, ((0, 0), (1, 0)))


def _point_count(item: Tendon, rod: Rod, strains: StrainField, rest_shape: Any) -> int:
    """Points along each smooth piece of a channel: few where its tangent is a polynomial."""
    plain = not any(isinstance(basis, CustomBasis) for _, basis in strains.components)
    if item.rubs or callable(rest_shape) or not (plain and item.is_parallel(rod.name)):
        return POINTS
    return min(POINTS, max(FEWEST_POINTS, 2 * strains.degree + SPARE_POINTS))


@lru_cache(maxsize=64)
def _panels(
    edges: tuple[float, ...], points: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points, weights, d/du and ∫ from the first edge, for fractions u between edges."""
    begin, span = edges[0], edges[-1] - edges[0]
    panels = Panels(tuple((e - begin) / span for e in edges), points)
    nodes = panels.nodes
    return (
        begin + span * nodes,
        span * panels.weights,
        panels.differentiation / span,
        span * panels.integration_to(nodes),
    )


def _slope(item: Tendon, rod: str, u: np.ndarray) -> Any:
    """dD/du by differences of high order; channels are smooth."""
    if item.is_parallel(rod):
        return np.zeros((len(u), 2))
    h = 1e-3
    shifted = [item.offsets(rod, u + k * h) for k in (-2, -1, 1, 2)]
    return (shifted[0] - 8 * shifted[1] + 8 * shifted[2] - shifted[3]) / (12 * h)
