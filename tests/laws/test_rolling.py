"""What may not slip against closed forms: a skate on a slope, balls and discs that roll, a rod on edges."""

from functools import cache

import numpy as np
import pytest

import supple as sp
from supple.mechanics.element_motion import neutral
from supple.model.state import State

SLOPE, G, SPIN = 0.3, 9.81, 4.0
DOWN = G * np.sin(SLOPE)
GRAVITY = (DOWN, 0.0, -G * np.cos(SLOPE))  # x points down the slope, z is its normal
MASS, RADIUS = 0.4, 0.1
DURATION = 1.5
TOL_RADAU = 1e-6  # m; order 5 with steps of 10 ms over 1.5 s
TOL_ALPHA = 4e-4  # m; order 2 with steps of 5 ms


def started(model, **velocities):
    """The described pose, with velocities of the joints of some items."""
    v = np.zeros(model.nv)
    for slot in model.topology.joint_slots:
        if slot.name in velocities:
            v[slot.v] = velocities[slot.name]
    return State(np.zeros(()), neutral(model), v, np.zeros(model.nv))


@cache
def skate():
    return sp.Robot(
        sp.Body("skate", mass=MASS, inertia=(1e-3, 1e-3, 2e-3), joint=sp.Planar("z")),
        sp.KnifeEdge("edge", on="skate"),
        gravity=GRAVITY,
    ).build()


def on_the_slope(t):
    """Place of a skate that starts at rest, heading downhill and turning: it stays on its level."""
    size = DOWN / (2 * SPIN**2)
    return size * np.stack([np.sin(SPIN * t) ** 2, SPIN * t - np.sin(2 * SPIN * t) / 2], axis=1)


@pytest.mark.parametrize(
    ("scheme", "dt", "tolerance"),
    [(sp.generalized_alpha(0.8), 0.005, TOL_ALPHA), (sp.radau(3), 0.01, TOL_RADAU)],
)
def test_a_skate_on_a_slope_follows_its_cycloid(scheme, dt, tolerance):
    model = skate()
    start = started(model, skate=(0.0, 0.0, SPIN))
    result = sp.simulate(model, DURATION, dt=dt, scheme=scheme, initial=start)
    assert result.ok
    place = result.position("skate")[:, :2]
    assert np.abs(place - on_the_slope(result.t)).max() < tolerance
    heading = result.poses["skate"].rotation[:, :, 1]
    across = np.einsum("ni,ni->n", heading[:, :2], result.v[:, :2])
    assert np.abs(across).max() < 1e-10
    # The edge pushes the skate round its bend: m (u ω + g sin α sin θ).
    speed = DOWN / SPIN * np.sin(SPIN * result.t)
    push = MASS * (speed * SPIN + DOWN * np.sin(SPIN * result.t))
    assert np.abs(result.contact("edge")[:, 4] - push).max() < 20 * MASS * tolerance * SPIN**2
    total = result.energies.total
    assert np.ptp(total) < 50 * tolerance * MASS * DOWN


@pytest.mark.parametrize(("axle", "factor"), [(None, 5 / 7), ("y", 2 / 3)])
def test_balls_and_discs_roll_down_a_slope(axle, factor):
    share = 1 / factor - 1  # moment of inertia over m r²
    moment = share * MASS * RADIUS**2
    inertia = (moment, moment, moment) if axle is None else (moment / 2, moment, moment / 2)
    model = sp.Robot(
        sp.Body("body", mass=MASS, inertia=inertia, joint=sp.Free(), position=(0, 0, RADIUS)),
        sp.RollingContact("floor", on="body", radius=RADIUS, axle=axle),
        gravity=GRAVITY,
    ).build()
    result = sp.simulate(model, 0.6, dt=0.01, scheme=sp.radau(3))
    expected = np.stack(
        [factor * DOWN * result.t**2 / 2, 0 * result.t, RADIUS + 0 * result.t], axis=1
    )
    assert np.abs(result.position("body") - expected).max() < TOL_RADAU
    force = np.einsum("nij,nj->ni", result.poses["body"].rotation, result.contact("floor")[:, 3:])
    friction = -(1 - factor) * MASS * DOWN
    np.testing.assert_allclose(
        force, np.tile([friction, 0.0, MASS * G * np.cos(SLOPE)], (len(force), 1)), atol=1e-6
    )


def test_a_leaning_disc_keeps_its_rim_on_the_plane():
    lean = 0.3
    moment = MASS * RADIUS**2 / 4
    model = sp.Robot(
        sp.Body(
            "disc", mass=MASS, inertia=(moment, 2 * moment, moment), joint=sp.Free(),
            position=(0, 0, RADIUS * np.cos(lean)), rotation=(lean, 0.0, 0.0),
        ),
        sp.RollingContact("floor", on="disc", radius=RADIUS, axle="y"),
    ).build()  # fmt: skip
    # A free joint measures rotations in the body, speeds in the world (its parent).
    start = started(model, disc=(0.0, 15.0, 0.0, 1.5, 0.0, 0.0))
    result = sp.simulate(model, DURATION, dt=0.005, scheme=sp.radau(3), initial=start)
    assert result.ok
    axle = result.poses["disc"].rotation[:, 2, 1]
    height = RADIUS * np.sqrt(1 - axle**2)
    assert np.ptp(axle) > 0.01  # it wobbles
    assert np.abs(result.position("disc")[:, 2] - height).max() < TOL_RADAU
    assert np.ptp(result.energies.total) < 1e-5 * result.energies.kinetic[0]


@cache
def crawler():
    """A flexible rod on ice, with edges at a third and at its tip, whose tail is kicked sideways."""
    return sp.Robot(
        sp.Rod(
            "snake", length=0.5, section=sp.Circle(4e-3), strains="planar", basis=3, nodes=10,
            material=sp.Material(E=2e7, density=1200.0), joint=sp.Planar("y"),
        ),
        sp.KnifeEdge("middle", on="snake", across="z", fraction=0.3),
        sp.KnifeEdge("head", on="snake", across="z"),
        gravity=(0, 0, 0),
    ).build()  # fmt: skip


@pytest.mark.slow
def test_a_rod_on_edges_keeps_its_energy_and_does_not_slip():
    model = crawler()
    start = started(model, snake=(0.4, 0.3, 2.0))
    fine = sp.simulate(model, 1.0, accuracy=1e-5, initial=start)
    coarse = sp.simulate(model, 1.0, dt=0.002, initial=start)
    assert fine.ok
    assert np.ptp(fine.energies.total) < 1e-3 * fine.energies.total[0]
    gap = coarse.position("snake")[-1] - fine.position("snake")[-1]
    assert np.linalg.norm(gap) < 2e-3
    traveled = fine.position("snake")[-1] - fine.position("snake")[0]
    assert np.linalg.norm(traveled) > 0.1


def test_statics_leaves_edges_out_and_says_so():
    robot = sp.Robot(
        sp.Rod("arm", length=0.5, section=sp.Circle(4e-3), basis=2, nodes=8,
               material=sp.Material(E=2e9, density=1200.0)),
        sp.KnifeEdge("edge", on="arm", across="z"),
    )  # fmt: skip
    held = sp.equilibrium(robot)
    free = sp.equilibrium(robot.removing("edge"))
    np.testing.assert_allclose(held.q, free.q, atol=1e-12)
    assert "without the forces of edge" in held.message
