"""What is read of robots: the same everywhere, and right by the laws of statics and dynamics."""

from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp
from supple.errors import ArgumentError
from supple.mechanics.element_motion import retract
from supple.mechanics.energy import momentum
from supple.mechanics.readout import AbstractReadout
from supple.system.error_norm import total_mass

RUBBER = sp.Material(E=2e6, density=1100.0, damping=sp.StiffnessDamping(0.02))
GRAVITY = np.array([0.3, -0.2, -9.81])
TOL = 1e-9  # over the size of what is compared: round-off of sums over the robot
TOL_SPACE = 1e-7  # of the largest force: orientations along rods are integrated to so much
TOL_MODES = 2e-4  # of the largest moment: what nine modes leave of a smooth curvature


def crane(**arm) -> sp.Robot:
    """A jointed rod with a branch in its middle, a tool on a hinge, a tendon and loads."""
    return sp.Robot(
        sp.Rod("arm", 0.4, sp.Circle(0.008), RUBBER, basis=3, position=(0.1, 0.2, 0.3),
               joint=sp.Revolute("y", stiffness=2.0, damping=0.01), **arm),
        sp.Rod("twig", 0.2, sp.Circle(0.005), RUBBER, strains="kirchhoff", basis=2, parent="arm",
               fraction=0.4, rotation=(0.0, 0.3, 1.2)),
        sp.Body("tool", parent="arm", mass=0.05, inertia=(1e-5, 2e-5, 3e-5), com=(0.01, 0.0, 0.02),
                joint=sp.Revolute("z", stiffness=0.5, damping=1e-3)),
        sp.Marker("eye", parent="tool", position=(0.0, 0.02, 0.0)),
        sp.Tendon("pull", on="arm", offset=(0.006, 0.0), tension=sp.Input("tension", 1.5)),
        sp.Spring("rubber", on="ground", to="twig", position=(0.2, 0.5, 0.0), stiffness=4.0),
        sp.Motor("drive", on="tool", torque=0.01),
        sp.Wrench("push", on="tool", force=(0.05, 0.1, -0.1), moment=(0.0, 0.002, 0.001)),
        sp.Wrench("side", on="arm", fraction=0.7, force=(0.0, 0.1, 0.05)),
        gravity=GRAVITY,
        name="crane",
    )  # fmt: skip


@cache
def run() -> sp.Result:
    return sp.simulate(crane(), 0.2, dt=0.01, scheme=sp.radau(3))


@cache
def held() -> sp.Equilibrium:
    return sp.equilibrium(crane())


def close(found, expected, tolerance=TOL):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(size, 1e-3))


def forces_of(result, model):
    """Rate of momentum, less weight and loads (moment about the world's origin, force), by derivatives."""

    def total(q, v):
        found = momentum(model, q, v)
        return jnp.concatenate([found.angular, found.linear]), found.center

    def rate(q, v, a):
        def moved(s):
            return total(retract(model, q, s * v), v + s * a)[0]

        return jax.jacfwd(moved)(0.0), total(q, v)[1]

    rates, center = jax.vmap(rate)(*(jnp.atleast_2d(x) for x in (result.q, result.v, result.a)))
    mass = float(total_mass(model))
    weight = mass * GRAVITY
    return np.asarray(rates) - np.concatenate(
        [np.cross(center, weight), np.broadcast_to(weight, center.shape)], axis=-1
    )


def applied(readout) -> np.ndarray:
    """Loads and the spring's pull on the whole robot: moment about the world's origin, then force."""

    def about_origin(place, force, moment=0.0):
        return np.concatenate([np.cross(place, force) + moment, force], axis=-1)

    tool, side, tip = (
        np.atleast_2d(readout.position(*where)) for where in (("tool",), ("arm", 0.7), ("twig",))
    )
    each = [
        about_origin(tool, np.broadcast_to([0.05, 0.1, -0.1], tool.shape), [0.0, 0.002, 0.001]),
        about_origin(side, np.broadcast_to([0.0, 0.1, 0.05], side.shape)),
    ]
    way = np.array([0.2, 0.5, 0.0]) - tip
    tension = np.atleast_1d(readout.spring("rubber").tension)
    pull = tension[:, None] * way / np.linalg.norm(way, axis=1)[:, None]
    return sum(each) + about_origin(tip, pull)


def at_origin(wrench, place):
    """A world wrench at a place, with its moment about the world's origin."""
    wrench, place = np.atleast_2d(wrench), np.atleast_2d(place)
    return np.concatenate([wrench[:, :3] + np.cross(place, wrench[:, 3:]), wrench[:, 3:]], axis=1)


def test_the_ground_carries_weight_loads_and_the_change_of_momentum():
    found = run()
    needed = forces_of(found, found.model) - applied(found)
    close(at_origin(found.reaction("arm"), (0.1, 0.2, 0.3)), needed, TOL_SPACE)
    assert np.abs(np.diff(found.reaction("arm")[:, 3:], axis=0)).max() > 1e-3  # it does move


def test_at_rest_the_ground_carries_weight_and_loads():
    rest = held()
    mass = float(total_mass(rest.model))
    weight = at_origin(np.concatenate([np.zeros(3), mass * GRAVITY]), rest.momentum.center)
    close(at_origin(rest.reaction("arm"), (0.1, 0.2, 0.3)), -weight - applied(rest))


def test_a_hinge_carries_no_moment_about_its_axis_but_that_of_spring_and_motor():
    rest = held()
    moment = rest.reaction("tool", axes="item")[2]
    angle = rest.joint("tool").position[0]
    assert moment == pytest.approx(rest.motor("drive").torque - 0.5 * angle, abs=1e-10)


def test_sections_carry_what_is_beyond_them():
    """Just before the tip: the tool's reaction. At the base: the rod's own. Over the branch: a jump."""
    for found in (run(), held()):
        tip, base = found.pose("arm"), found.pose("arm", 0.0)
        wrenches = found.internal_wrench("arm", (0.0, 0.4, 0.4 + 1e-12, 1.0))

        def world(wrench, rotation):
            parts = wrench[..., :3, None], wrench[..., 3:, None]
            return np.concatenate([(rotation @ part)[..., 0] for part in parts], axis=-1)

        close(world(wrenches[..., 3, :], tip.rotation), -found.reaction("tool"))
        close(world(wrenches[..., 0, :], base.rotation), -found.reaction("arm"))
        middle = found.pose("arm", 0.4).rotation
        jump = world(wrenches[..., 1, :] - wrenches[..., 2, :], middle)
        # The branch is clamped where it begins, on the axis of the arm.
        close(jump, -found.reaction("twig"), 1e-8)


def test_the_material_carries_it_by_its_law():
    """Without tendons the moment in a section is E I times the curvature, as well as modes tell."""
    rod = sp.Rod("arm", 0.4, sp.Circle(0.008), sp.Material(E=2e6, density=1100.0), basis=9)
    load = sp.Wrench("push", on="arm", force=(0.02, 0.05, 0.03), moment=(1e-3, 2e-3, -1e-3))
    rest = sp.equilibrium(sp.Robot(rod, load))
    u = np.linspace(0.1, 0.9, 9)
    stiffness = rod.sectional().matrices(u).stiffness
    straight = np.array([0, 0, 0, 1.0, 0, 0])
    stress = np.einsum("nij,nj->ni", stiffness, rest.strain("arm", u) - straight)
    found = rest.internal_wrench("arm", u)
    close(found[:, :3], stress[:, :3], TOL_MODES)
    # The tip carries the load itself, in its axes.
    turned = np.asarray(rest.pose("arm").rotation).T
    close(rest.internal_wrench("arm", 1.0)[0, 3:], turned @ [0.02, 0.05, 0.03])


def test_tendons_in_channels_run_through_sections():
    """Pulled at both ends by nothing but itself, a rod and its tendon carry nothing together."""
    rod = sp.Rod("arm", 0.3, sp.Circle(0.005), sp.Material(E=1e7, density=1e3), strains="planar",
                 basis=2)  # fmt: skip
    tendon = sp.Tendon("pull", on="arm", offset=(0.004, 0.0), tension=3.0)
    rest = sp.equilibrium(sp.Robot(rod, tendon, gravity=(0, 0, 0)))
    assert abs(rest.strain("arm")[0, 2]) > 1.0
    assert np.abs(rest.internal_wrench("arm")).max() < 1e-9


@pytest.mark.parametrize("name", ["found", "branch", "sensors"])
def test_all_readouts_tell_the_same_at_the_same_state(name):
    rest = held()
    if name == "found":
        other = run().pick(slice(0, 1))
        still = {"q": rest.q[None], "v": rest.v[None], "a": rest.v[None], "t": np.zeros(1)}
        other = replace(other, stretches=(replace(other.stretches[0], **still),))
        row = 0
    elif name == "branch":
        other = sp.Branch(rest.model, np.zeros(1), rest.q[None], np.zeros((1, 0)), np.zeros(1), (),
                          sp.BranchStatus.DONE, "")  # fmt: skip
        row = 0
    else:
        state = sp.State(np.asarray(0.0), rest.q, rest.v, rest.v, None)
        other, row = sp.Sensors(rest.model, state), ...
    ask = [
        lambda r: r.position("eye"),
        lambda r: r.pose("arm", 0.3).rotation,
        lambda r: r.twist("tool"),
        lambda r: r.shape("twig", (0.2, 0.7)).position,
        lambda r: r.strain("arm", (0.2, 0.7)),
        lambda r: r.internal_wrench("arm", (0.2, 0.7)),
        lambda r: r.reaction("twig"),
        lambda r: r.tendon("pull").tension,
        lambda r: r.tendon("pull").length,
        lambda r: r.spring("rubber").tension,
        lambda r: r.motor("drive").torque,
        lambda r: r.joint("tool").position,
        lambda r: r.coordinates("arm"),
        lambda r: r.energies.elastic,
        lambda r: r.momentum.center,
        lambda r: r.input("tension"),
        lambda r: r.frame("tool").jacobian,
    ]
    for each in ask:
        close(np.asarray(each(other))[row], np.asarray(each(rest)), 1e-12)


def four_bar(*, other_way: bool = False) -> sp.Robot:
    ends = ({"on": "left", "to": "right"}, {"on": "right", "to": "left"})[other_way]
    steel = {"section": sp.Circle(2e-3), "material": sp.Material(E=2e11, density=7800.0)}
    return sp.Robot(
        sp.Rod("left", 0.5, **steel, strains="planar", basis=2, joint=sp.Revolute("z"),
               rotation=(0, 0, 1.0)),
        sp.Rod("right", 0.5, **steel, strains="planar", basis=2, joint=sp.Revolute("z"),
               position=(0.5, 0, 0), rotation=(0, 0, 2.0)),
        sp.Closure("hinge", **ends, joint=sp.Revolute("z")),
        sp.PrescribedCoordinate("motor", on="left", value=1e-9),
        sp.Wrench("push", on="left", force=(0.0, -1.0, 0.0)),
        gravity=(0, 0, 0),
    )  # fmt: skip


def test_closing_joints_act_on_both_sides():
    """Drawn the other way round, a closing joint exerts the opposite; the rods balance it."""
    one, other = (sp.equilibrium(four_bar(other_way=way)) for way in (False, True))
    ours, theirs = (r.closure("hinge", axes="world") for r in (one, other))
    assert np.abs(ours[3:]).max() > 0.1
    close(ours, -theirs, 1e-7)
    # It is all that acts on the right rod, besides the ground.
    close(ours[3:], -one.reaction("right")[3:], 1e-7)
    tip = one.internal_wrench("right", 1.0)[0]
    turned = np.asarray(one.pose("right").rotation).T
    close(tip[3:], turned @ ours[3:], 1e-7)
    own = one.closure("hinge")
    close(np.linalg.norm(own[3:]), np.linalg.norm(ours[3:]))
    # The motor holds what the hinge cannot: about z, the moment of the ground.
    assert one.reaction("left")[2] == pytest.approx(one.effort("motor"), abs=1e-8)


def test_twists_and_rates_are_derivatives_in_time():
    found = run().sample(np.array([0.1 - 1e-5, 0.1, 0.1 + 1e-5]))
    speed = (found.position("eye")[2] - found.position("eye")[0]) / 2e-5
    rotation = found.pose("eye").rotation[1]
    np.testing.assert_allclose(rotation @ found.twist("eye")[1, 3:], speed, atol=1e-5)
    length = found.tendon("pull").length
    np.testing.assert_allclose(
        found.tendon("pull").rate[1], (length[2] - length[0]) / 2e-5, atol=1e-6
    )


def test_statistics_count_every_step_whatever_is_kept():
    robot = sp.Robot(sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y")))
    whole = sp.simulate(robot, 0.2, accuracy=1e-4)
    sparse = sp.simulate(robot, 0.2, accuracy=1e-4, t_eval=0.1)
    assert len(sparse) == 3
    assert sparse.stats[:3] == whole.stats[:3]
    assert whole.stats.steps == len(whole) - 1
    assert whole.stats.newton_iterations == whole.newton.sum()
    again = sp.resume(sp.simulate(robot, 0.1, dt=0.01), 0.1)
    assert again.stats.steps == 20
    assert again.stats.newton_iterations == again.newton.sum()


def test_results_of_several_stretches_can_be_asked_all_that_others_can():
    asked = {name for name in vars(AbstractReadout) if name[0] != "_"} - {"read"}
    assert {name for name in asked if not hasattr(sp.Result, name)} == set()


def test_what_is_not_there_is_named():
    with pytest.raises(ArgumentError, match=r"reaction: got 'eye'; need one of: .*arm"):
        held().reaction("eye")
    with pytest.raises(ArgumentError, match="axes: got 'body'; need one of: world, item"):
        held().reaction("arm", axes="body")
    with pytest.raises(ArgumentError, match="closure: got 'hand'; need one of: none: no loop"):
        held().closure("hand")
    with pytest.raises(ArgumentError, match="rod: got 'tool'; need one of: arm, twig"):
        held().internal_wrench("tool")
    with pytest.raises(ArgumentError, match=r"fraction.*\[0, 1\]"):
        held().shape("arm", (0.5, 1.5))
