"""Transmissions: how tendons, fluid chambers, motors and springs hold the robot.

Each is a coordinate ℓ(q) (a length, a volume, an angle), its moment arm ∂ℓ/∂q and an effort law. A
coordinate is a sum of parts of three kinds:

- affine ones, a · q: chambers, joint angles, what a winch winds up;
- channels along rods: at the offset D(X) of the section a tendon's tangent is Γ = γ + κ × D + D′, affine in a
  rod's coordinates, Γ = Γ₀ + B q at fixed points, so that the length is Σ w |Γ₀ + B q|;
- segments: straight lines between two points of the robot or the ground.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from supple.arrays import Array
from supple.model.efforts import AbstractEffort, Imposed
from supple.model.laws import Laws


class Grip(eqx.Module):
    """Law of friction: by how much tension changes per radian by which the tendon is turned."""

    dry: Float[Array, "*some"]
    """Coefficient of friction μ."""
    speed: Float[Array, "*some"]
    """Speed (m/s) of sliding at which dry friction is nearly reached."""
    viscous: Float[Array, "*some"]
    """β (s/m) of 002 §5.2.1."""

    def __call__(self, sliding: Float[Array, "*more"]) -> Float[Array, "*more"]:
        """Relative change of tension (1/rad) at speeds of sliding (m/s)."""
        return self.dry * jnp.tanh(sliding / self.speed) + self.viscous * sliding


class Rubbing(eqx.Module):
    """What friction in channels needs: how a tendon turns, and integrals along its channels."""

    turning: Float[Array, "p n 3 m"]
    """Rows of the basis that are curvatures: κ = κ₀ + turning q (rad/m)."""
    turning_rest: Float[Array, "p n 3"]
    differentiation: Float[Array, "p n n"]
    """d/dX of what is known at the points of a channel (1/m)."""
    integration: Float[Array, "p n n"]
    """Integral (m) from the start of a channel to each of its points."""
    grip: Grip
    """Numbers of shape (p, 1)."""
    which: tuple[bool, ...] = eqx.field(static=True)
    """Channels with any friction."""


class Affine(eqx.Module):
    """Affine parts: moment arms in the coordinates of one element each (padded with zeros)."""

    arms: Float[Array, "a m"]
    spans: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """First coordinate of each part's element and the one after its last."""
    of: tuple[int, ...] = eqx.field(static=True)
    """The transmission of each part."""

    @property
    def size(self) -> int:
        """Number of affine parts."""
        return len(self.of)


class Channels(eqx.Module):
    """Channels along rods: p of them with n points each; m coordinates a channel (padded with zeros)."""

    weights: Float[Array, "p n"]
    """Quadrature weights (m)."""
    straight: Float[Array, "p n 3"]
    """Γ₀."""
    slope: Float[Array, "p n 3 m"]
    """B."""
    rubbing: Rubbing | None
    """None without friction."""
    spans: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """First coordinate of each channel's rod and the one after its last."""
    of: tuple[int, ...] = eqx.field(static=True)
    """The transmission of each channel; those of one tendon follow each other."""

    @property
    def size(self) -> int:
        """Number of channels."""
        return len(self.of)


class TendonBends(eqx.Module):
    """Where tendons of straight segments turn over a disc or in a hole, and rub: c of them."""

    grip: Grip
    """Numbers of shape (c,)."""
    arriving: tuple[int, ...] = eqx.field(static=True)
    """The segment before each corner."""
    leaving: tuple[int, ...] = eqx.field(static=True)
    """The one after it."""


class Segments(eqx.Module):
    """Straight lines between points fixed to samples (or the ground): s of them."""

    inner: Float[Array, "s 3"]
    """Point in the frame of the first sample (m)."""
    outer: Float[Array, "s 3"]
    corners: TendonBends | None
    """None without friction."""
    inner_sample: tuple[int, ...] = eqx.field(static=True)
    outer_sample: tuple[int, ...] = eqx.field(static=True)
    of: tuple[int, ...] = eqx.field(static=True)
    """The transmission of each segment; those of one tendon follow each other."""

    @property
    def size(self) -> int:
        """Number of segments."""
        return len(self.of)


class Transmissions(eqx.Module):
    """All transmissions: k of them."""

    constant: Float[Array, " k"]
    """Affine part at q = 0."""
    affine: Affine
    channels: Channels
    segments: Segments
    laws: Laws
    """Input of each."""
    efforts: tuple[AbstractEffort, ...]
    members: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """The transmissions that follow each effort law."""
    kinds: tuple[str, ...] = eqx.field(static=True)
    """"tendon", "chamber", "motor" or "spring"."""
    names: tuple[str, ...] = eqx.field(static=True)
    cables: tuple[bool, ...] = eqx.field(static=True)
    """Whether each can only pull."""

    @property
    def size(self) -> int:
        """Number of transmissions."""
        return len(self.names)

    @property
    def imposing(self) -> Imposed | None:
        """The law of the transmissions whose coordinate is imposed; None if there are none."""
        return next((effort for effort in self.efforts if isinstance(effort, Imposed)), None)

    @property
    def imposed(self) -> np.ndarray:
        """Transmissions whose coordinate is imposed: each has an equation and a multiplier."""
        found = [
            member
            for effort, members in zip(self.efforts, self.members, strict=True)
            if isinstance(effort, Imposed)
            for member in members
        ]
        return np.array(found, dtype=int)

    @property
    def rubs(self) -> bool:
        """Whether friction turns efforts away from the gradients of their coordinates."""
        return self.channels.rubbing is not None or self.segments.corners is not None

    def inputs(self, t: Float[Array, ""]) -> Float[Array, " k"]:
        """What the laws say now."""
        return self.laws(t)


def no_affine() -> Affine:
    """No affine part."""
    return Affine(np.zeros((0, 0)), (), ())


def no_channels() -> Channels:
    """No channel."""
    return Channels(np.zeros((0, 0)), np.zeros((0, 0, 3)), np.zeros((0, 0, 3, 0)), None, (), ())


def no_segments() -> Segments:
    """No segment."""
    return Segments(np.zeros((0, 3)), np.zeros((0, 3)), None, (), (), ())


def no_transmissions() -> Transmissions:
    """A robot that nothing drives."""
    none = np.zeros(0)
    return Transmissions(
        none, no_affine(), no_channels(), no_segments(), Laws((), ()), (), (), (), (), ()
    )
