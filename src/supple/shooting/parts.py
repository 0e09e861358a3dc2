"""What a record stands for, and where its numbers stand in configurations, velocities and unknowns."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from supple.arrays import Array
from supple.lie import Pose
from supple.model.model import Model, RodGroup
from supple.shooting.layout import Layout
from supple.shooting.rods import START, Rods

NUMBERS = START
"""At the start of a segment: displacement, wrench, twist. At a node: strain, wrench, twist."""
TWIST = slice(12, 18)
"""Where a node's twist is."""

Vector = Float[Array, " _"]


class Parts(eqx.Module):
    """What a record stands for: rods that are shot, and a companion model of all that is no rod."""

    companion: Model
    rods: Rods
    mounts: Pose
    """First section of each rod in the frame of the sample that it hangs on."""
    host: Model
    """The same robot in strain coordinates: where starts and guesses come from."""
    mounted: tuple[int, ...] = eqx.field(static=True)
    """The companion's sample that each rod hangs on, or GROUND."""

    @property
    def layout(self) -> Layout:
        """How rods are cut."""
        return self.rods.layout

    @property
    def equations(self) -> int:
        """Number of the companion's equations."""
        return self.companion.equations

    @property
    def lines(self) -> int:
        """Number of tendons and chambers along rods."""
        return 0 if self.rods.lines is None else len(self.rods.lines.area)

    @property
    def joint_coordinates(self) -> int:
        """Number of the companion's coordinates before those of stations."""
        return self.companion.topology.v_start[-1]

    @property
    def force(self) -> Float[Array, ""]:
        """What multipliers are counted in (N)."""
        return jnp.max(self.rods.units[:, 9])

    @property
    def energy(self) -> Float[Array, ""]:
        """What the companion's balance is counted in (J)."""
        return jnp.max(self.rods.units[:, 6])

    @property
    def grows(self) -> bool:
        """Whether the length of some rod is a law of time."""
        return any(isinstance(g, RodGroup) and g.growth is not None for g in self.host.groups)

    def growth_at(self, t: Float[Array, ""]) -> tuple[Float[Array, " r"], Float[Array, " r"]]:
        """Length of each rod over that described, and its rate over the length."""
        grown, found = self.host.with_lengths_at(t), []
        for slot in self.host.topology.rod_slots:
            before, now = self.host.groups[slot.group], grown.groups[slot.group]
            assert isinstance(before, RodGroup)
            assert isinstance(now, RodGroup)
            rate = jnp.zeros(now.size) if now.growth_rates is None else now.growth_rates[0]
            found.append((now.length[slot.row] / before.length[slot.row], rate[slot.row]))
        ratios, rates = zip(*found, strict=True)
        return jnp.stack(ratios), jnp.stack(rates)

    # Configurations and velocities of the record ----------------------------------------------------------

    def widths(self, whole: Vector) -> tuple[int, int]:
        """Numbers of the joints, and of each node's pose, in a configuration or in velocities."""
        at, layout = self.companion.topology, self.layout
        known = self.known * layout.size * (layout.steps + 1)
        rates = at.v_start[-1] + 6 * layout.node_count + known + NUMBERS * at.element_start[-1]
        return (at.v_start[-1], 6) if len(whole) == rates else (at.q_start[-1], 7)

    def poses(self, whole: Vector) -> Float[Array, "n w"]:
        """The poses of the nodes, or their rates."""
        joints, width = self.widths(whole)
        return whole[joints : joints + width * self.layout.node_count].reshape(-1, width)

    @property
    def known(self) -> int:
        """Numbers that are known of a node: strain, wrench, twist, variables of a rod's own."""
        return NUMBERS + self.rods.settings.variables

    def fields(self, whole: Vector) -> Float[Array, "s k z"]:
        """Strains, wrenches, twists and variables of its own at the nodes, or their rates."""
        joints, width = self.widths(whole)
        start, k = joints + width * self.layout.node_count, self.layout.steps + 1
        count = self.layout.size * k * self.known
        return whole[start : start + count].reshape(self.layout.size, k, self.known)

    def of_companion(self, whole: Vector) -> Vector:
        """The companion's part."""
        stations = self.poses(whole)[self.layout.station_nodes]
        return jnp.concatenate([whole[: self.widths(whole)[0]], stations.reshape(-1)])

    # Unknowns of a solve ----------------------------------------------------------------------------------

    def split(self, y: Vector) -> tuple[Vector, Vector, Vector, Float[Array, "s 18"]]:
        """Displacements of the companion, multipliers, efforts of lines, starts of segments."""
        n, m, k = self.companion.nv, self.equations, self.lines
        return y[:n], y[n : n + m], y[n + m : n + m + k], y[n + m + k :].reshape(-1, NUMBERS)

    @property
    def line_slice(self) -> slice:
        """Where the companion's velocities tell of lines along rods."""
        stop = self.companion.topology.v_start[-1]
        return slice(stop - self.lines, stop)

    @property
    def line_places(self) -> slice:
        """The same in configurations."""
        stop = self.companion.topology.q_start[-1]
        return slice(stop - self.lines, stop)

    @property
    def line_sizes(self) -> Float[Array, " k"]:
        """How large what lines measure is (m, m³)."""
        return jnp.asarray(self.companion.scale)[self.line_slice]

    def efforts(self, scaled: Vector) -> Vector:
        """Efforts of lines along rods, from those in units of energy over the size of each coordinate."""
        return scaled * self.energy / self.line_sizes

    def owner(self, unknown: int) -> str:
        """Whose one of the unknowns of a solve is, for messages."""
        layout, companion = self.layout, self.companion
        joints = companion.topology.v_start[-1]
        for slot in companion.topology.joint_slots:
            if slot.v_start <= unknown < slot.v_stop:
                return f"joint of {slot.name!r}, coordinate {unknown - slot.v_start}"
        if unknown < companion.nv:
            segment = layout.ends[(unknown - joints) // 6]
            return (
                f"rod {layout.names[layout.rod[segment]]!r} at u = {layout.spans[segment, 1]:.3g}"
            )
        rest = unknown - companion.nv - companion.equations - self.lines
        if rest < -self.lines:
            return companion.constraints.owner[unknown - companion.nv]
        segment = max(rest, 0) // NUMBERS
        return f"rod {layout.names[layout.rod[segment]]!r} at u = {layout.spans[segment, 0]:.3g}"


def parts_of(record: Model) -> Parts:
    """What a record stands for."""
    assert record.fields is not None
    found: Parts = record.fields.parts
    return found
