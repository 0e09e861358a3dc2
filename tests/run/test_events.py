"""Events during a run: when they happen, what edits do, and the laws that hold across them."""

from dataclasses import replace

import numpy as np
import pytest

import supple as sp

ROUND_OFF = 1e-12
"""Of numbers about one, through some tens of operations."""
LENGTH, HEIGHT = 0.5, 0.7


def bob(**fields):
    return sp.Body(
        "bob",
        mass=0.3,
        inertia=(1e-4,) * 3,
        com=(0.0, 0.0, -LENGTH),
        joint=sp.Revolute("y"),
        **fields,
    )


def angle(sensors):
    return sensors.joint("bob").position[0]


def swinging(model):
    return sp.initial_state(model, q=[1.0], v=[0.0])


def ball(name="ball", mass=1.0, at=(0.0, 0.0, 1.0)):
    inertia = (2e-3, 4e-3, 3e-3)
    return sp.Body(name, mass=mass, inertia=inertia, joint=sp.Free(), position=at)


def height(sensors):
    return sensors.position("ball")[2] - (1.0 - HEIGHT)


def jumps(run):
    """Change of energy, momentum and angular momentum at each edit."""
    after = np.cumsum([len(one) for one in run.stretches[:-1]])
    found = [run.energies.total, run.momentum.linear, run.momentum.angular]
    return [x[after] - x[after - 1] for x in found]


def test_a_falling_body_is_caught_where_it_should_be():
    """h = g t²/2: Radau is exact for it, so that the time has an error of round-off."""
    event = sp.Event(when=height, direction="falling", edit=sp.Lock("ball"))
    run = sp.simulate(sp.Robot(ball()), 1.0, events=[event])
    assert run.ok
    np.testing.assert_allclose(run.stretches[0].t[-1], np.sqrt(2 * HEIGHT / 9.81), rtol=1e-14)
    np.testing.assert_allclose(run.position("ball")[-1], [0.0, 0.0, 1.0 - HEIGHT], atol=ROUND_OFF)
    held = run.closure("ball locked")
    assert np.isnan(held[: len(run.stretches[0])]).all()
    np.testing.assert_allclose(held[-1, 3:], [0.0, 0.0, 9.81], atol=1e-9)


@pytest.mark.parametrize("options", [{"dt": 0.01}, {"accuracy": 1e-8}])
def test_a_pendulum_cut_at_its_lowest_point_flies_off(options):
    """Whatever the scheme, the cut is at the zero of the angle it computes, and loses nothing."""
    event = sp.Event(when=angle, edit=sp.Release("bob"))
    run = sp.simulate(sp.Robot(bob()), 1.0, initial=swinging, events=[event], **options)
    assert [one.ended for one in run.stretches] == [(0,), ()]
    assert abs(run.stretches[0].joint("bob").position[-1, 0]) < 1e-15
    energy, linear, angular = jumps(run)
    assert np.abs(energy).max() < ROUND_OFF
    assert max(np.abs(linear).max(), np.abs(angular).max()) < ROUND_OFF
    # From there on it spins evenly, and its mass center falls freely.
    cut, free = float(run.stretches[0].t[-1]), run.stretches[1]
    spin = run.stretches[0].v[-1, 0]
    center, t = free.momentum.center, free.t - cut
    tolerance = 1e-6 if "accuracy" in options else 1e-3  # of the scheme in a turn of four radians
    np.testing.assert_allclose(free.v[:, 1], spin, rtol=tolerance)
    np.testing.assert_allclose(center[:, 0], -LENGTH * spin * t, atol=tolerance)
    np.testing.assert_allclose(center[:, 2], -LENGTH - 9.81 / 2 * t**2, atol=tolerance)
    if "accuracy" in options:
        x, w = np.polynomial.legendre.leggauss(40)  # the quarter period by quadrature
        quarter = (
            np.pi / 4 * np.sum(w / np.sqrt(1 - (np.sin(0.5) * np.sin(np.pi / 4 * (x + 1))) ** 2))
        )
        inertia = 0.3 * LENGTH**2 + 1e-4
        np.testing.assert_allclose(
            cut, quarter * np.sqrt(inertia / (0.3 * 9.81 * LENGTH)), rtol=1e-7
        )


def two_balls(model):
    return sp.initial_state(model, v=np.random.default_rng(3).normal(size=12))


@pytest.mark.parametrize("joint", [sp.Fixed(), sp.Revolute("x"), sp.Spherical()])
def test_bodies_that_are_attached_and_released_keep_their_momenta(joint):
    robot = sp.Robot(ball("a"), ball("b", 0.5, (0.4, 0.1, 1.05)), gravity=(0.0, 0.0, 0.0))
    events = [
        sp.Event(t=0.105, edit=sp.Attach("b", "a", joint)),
        sp.Event(t=0.2, edit=sp.Release("b on a")),
    ]
    run = sp.simulate(robot, 0.3, dt=0.01, initial=two_balls, events=events)
    assert run.ok
    energy, linear, angular = jumps(run)
    assert energy[0] < -0.01  # an inelastic impact
    assert abs(energy[1]) < ROUND_OFF
    assert max(np.abs(linear).max(), np.abs(angular).max()) < ROUND_OFF
    assert np.nanmax(np.abs(run.violation)) < 1e-12
    # The grid of fixed steps is that of the whole run.
    np.testing.assert_allclose(run.t[[10, 11, 12, 13]], [0.1, 0.105, 0.105, 0.11], atol=1e-14)
    assert run.energies.total.max() <= run.energies.total[0] * (1 + 1e-3)


def test_the_impact_of_a_lock_takes_as_much_as_it_must():
    """Two links about one hinge: the angular momentum about it stays, and the energy is the least."""
    upper = sp.Body(
        "upper", mass=1.0, inertia=(0.02,) * 3, com=(0.3, 0.0, 0.0), joint=sp.Revolute("y")
    )
    lower = sp.Body("lower", parent="upper", position=(0.6, 0.0, 0.0), mass=0.5, inertia=(0.01,) * 3,
                    com=(0.2, 0.0, 0.0), joint=sp.Revolute("y"))  # fmt: skip
    events = [sp.Event(t=0.2, edit=sp.Lock("lower")), sp.Event(t=0.3, edit=sp.Unlock("lower"))]
    run = sp.simulate(sp.Robot(upper, lower), 0.4, dt=0.01, events=events)
    energy, _, angular = jumps(run)
    assert energy[0] < -1e-3
    assert np.abs(angular[:, 1]).max() < ROUND_OFF
    assert abs(energy[1]) < ROUND_OFF
    first, held, last = run.stretches
    assert np.ptp(held.joint("lower").position) < ROUND_OFF
    # As one body about the hinge: ω = L / I.
    elbow = held.joint("lower").position[0, 0]
    arm = 0.6**2 + 0.2**2 + 2 * 0.6 * 0.2 * np.cos(elbow)
    inertia = 0.02 + 0.3**2 + 0.01 + 0.5 * arm
    np.testing.assert_allclose(held.v[0, 0] * inertia, first.momentum.angular[-1, 1], rtol=1e-12)
    assert np.isfinite(run.effort("lower locked")).sum() == len(held)
    assert last.joint("lower").position[-1, 0] != pytest.approx(elbow, abs=1e-4)


def test_a_quantity_that_crosses_twice_within_a_step_is_seen():
    """A throw takes Radau few steps; (t₁, t₂) solve h + v t - g t²/2 = 0."""
    event = sp.Event(when=height, edit=lambda robot: robot, repeat=True)
    run = sp.simulate(
        sp.Robot(ball(at=(0.0, 0.0, 0.2))),
        3.0,
        initial=lambda model: sp.initial_state(model, v=[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]),
        events=[event],
    )
    roots = np.sort(np.roots([-9.81 / 2, 2.0, 0.2 - (1.0 - HEIGHT)]))
    np.testing.assert_allclose([one.t[-1] for one in run.stretches[:2]], roots, rtol=1e-13)
    assert len(run.stretches) == 3
    assert np.diff(run.t).max() > roots[1] - roots[0]
    rising = replace(event, direction="rising")
    once = sp.simulate(run.stretches[0].description, 3.0, initial=two_up, events=[rising])
    assert [one.t[-1] for one in once.stretches] == pytest.approx([roots[0], 3.0], rel=1e-13)


def two_up(model):
    return sp.initial_state(model, v=[0.0, 0.0, 0.0, 0.0, 0.0, 2.0])


def test_edits_at_one_time_are_one_edit_and_events_come_in_their_order():
    box = sp.Body("box", parent="bob", position=(0.0, 0.0, -LENGTH), mass=0.1, inertia=(1e-4,) * 3)
    events = [
        sp.Event(t=0.2, edit=sp.Change("bob", mass=0.6)),
        sp.Event(
            t=0.1, edit=[sp.Release("box"), sp.Add(sp.Wrench("push", on="bob", force=(1, 0, 0)))]
        ),
        sp.Event(t=0.2, edit=sp.Remove("push")),
    ]
    run = sp.simulate(sp.Robot(bob(), box), 0.3, dt=0.01, initial=swinging, events=events)
    assert [one.ended for one in run.stretches] == [(1,), (0, 2), ()]
    assert [one.description.items[0].mass for one in run.stretches] == [0.3, 0.3, 0.6]
    assert [len(one.description.items) for one in run.stretches] == [2, 3, 2]
    energy, linear, _ = jumps(run)
    assert abs(energy[0]) < ROUND_OFF
    assert np.abs(linear[0]).max() < ROUND_OFF
    # The mass is added as it moves: its part of the energy comes with it.
    kinetic = run.energies.kinetic
    assert kinetic[np.flatnonzero(np.diff(run.t) == 0)[1] + 1] > 0


def test_the_number_of_events_is_limited():
    def speed(sensors):
        return sensors.joint("bob").velocity[0]

    event = sp.Event(when=speed, edit=lambda robot: robot, repeat=True)
    run = sp.simulate(
        sp.Robot(bob()), 20.0, dt=0.01, initial=swinging, events=[event], max_events=3, throw=False
    )
    assert run.status == sp.Status.EVENT_LIMIT
    assert "max_events" in run.message
    assert len(run.stretches) == 4
    turns = [one.t[-1] for one in run.stretches]  # at each end of the swing
    np.testing.assert_allclose(np.diff(turns), np.diff(turns)[0], rtol=1e-3)


def moving(model):
    return sp.initial_state(model, v=[1.0, *6 * [0.0]])


def aside(robot):
    return robot.adding(sp.Closure("far", on="ground", to="bob", position=(9.0, 9.0, 9.0)))


def too_far(robot):
    return robot.adding(sp.Closure("far", on="ground", to="other", position=(9.0, 9.0, 9.0)))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (sp.Release("nobody"), "got 'nobody'; need one of: bob, other"),
        (sp.Change("bob", weight=1.0), "got 'weight'; need one of: "),
        (sp.Unlock("bob"), "no joint is locked"),
        (sp.Attach("bob", "wall"), "got 'wall'; need one of: bob, other"),
        (sp.Change("bob", joint=sp.Fixed()), "need Lock to hold a joint"),
        (aside, "in which nothing can move"),
        (too_far, "closure 'far' is open by"),
        (lambda robot: 3, "got 3; need a function that returns a Robot"),
    ],
)
def test_an_edit_that_fails_ends_the_run_and_keeps_it(edit, told):
    robot = sp.Robot(bob(), ball("other"))
    with pytest.raises(sp.SolveError) as error:
        sp.simulate(robot, 0.3, dt=0.01, initial=moving, events=[sp.Event(t=0.1, edit=edit)])
    run = error.value.result
    assert run.status == sp.Status.EDIT_FAILED
    assert told in run.message
    assert "t = 0.1 s" in run.message
    assert len(run) == 11


def test_events_that_make_no_sense_are_refused_before_the_run():
    release = sp.Release("bob")
    for fields, need in [
        ({}, "a time t, or a quantity"),
        ({"t": 1.0, "when": angle}, "a time t, or a quantity"),
        ({"t": np.nan}, "a finite number"),
        ({"t": 1.0, "repeat": True}, "neither repeat"),
        ({"when": 3.0}, "a function of Sensors"),
        ({"when": angle, "direction": "up"}, "one of: both, rising, falling"),
        ({"when": angle, "edit": 3}, "an edit such as"),
    ]:
        with pytest.raises(sp.DescriptionError, match=need):
            sp.Event(**{"edit": release, **fields})
    robot = sp.Robot(bob())
    for given, event, need in [
        (robot.build(), sp.Event(t=0.1, edit=release), "need a Robot"),
        (robot, sp.Event(when=lambda s: s.joint("bob").position, edit=release), "need one number"),
        (robot, sp.Event(when=lambda s: float(s.t), edit=release), "written with jax.numpy"),
        (robot, sp.Event(when=sp.Sensed("joint", "arm"), edit=release), "need one of: bob"),
    ]:
        with pytest.raises((sp.ArgumentError, sp.DescriptionError), match=need):
            sp.simulate(given, 0.1, dt=0.01, events=[event])
    with pytest.raises(sp.DescriptionError, match="one of: position"):
        sp.Sensed("color", "bob")


def test_an_event_waits_for_its_item():
    box = sp.Body("box", parent="bob", position=(0.0, 0.0, -LENGTH), mass=0.1, inertia=(1e-4,) * 3)
    comes = sp.Event(t=0.1, edit=sp.Add(box))
    lands = sp.Event(when=sp.Sensed("joint", "box", 6, -1.0), edit=sp.Lock("box"))
    leaves = sp.Event(t=0.15, edit=sp.Release("box"))
    run = sp.simulate(
        sp.Robot(bob()), 0.8, dt=0.01, initial=swinging, events=[comes, lands, leaves]
    )
    assert [one.ended for one in run.stretches] == [(0,), (2,), (1,), ()]
    assert run.position("box")[-1, 2] == pytest.approx(-1.0, abs=1e-12)
    never = sp.Event(when=sp.Sensed("joint", "bix"), edit=sp.Lock("box"))
    with pytest.warns(RuntimeWarning, match="never existed: joint: got 'bix'"):
        sp.simulate(sp.Robot(bob()), 0.12, dt=0.01, initial=swinging, events=[comes, never])


def test_a_rod_keeps_its_shape_and_motion_when_it_is_let_go():
    rod = sp.Rod("rod", length=0.4, section=sp.Circle(2e-3), basis=3,
                 material=sp.Material(E=2e9, density=1000.0))  # fmt: skip
    tip = sp.Body("tip", parent="rod", mass=0.01, inertia=(1e-6,) * 3)
    events = [sp.Event(t=0.05, edit=sp.Release("rod")), sp.Event(t=0.06, edit=sp.Release("tip"))]
    run = sp.simulate(sp.Robot(rod, tip), 0.07, dt=0.005, events=events)
    assert run.ok
    energy, linear, angular = jumps(run)
    assert max(np.abs(x).max() for x in (energy, linear, angular)) < ROUND_OFF
    for before, after in zip(run.stretches, run.stretches[1:], strict=False):
        for name in ("rod", "tip"):
            np.testing.assert_allclose(
                after.position(name)[0], before.position(name)[-1], atol=ROUND_OFF
            )
        np.testing.assert_array_equal(after.coordinates("rod")[0], before.coordinates("rod")[-1])


def test_a_graph_that_loses_a_connection_hangs_on_the_others():
    """A bar on two ropes of links: without one of its hinges another joint carries it, where it was."""
    link = {"mass": 0.2, "inertia": (1e-3,) * 3, "com": (0.0, 0.0, -0.15), "parent": None}
    robot = sp.Robot(
        sp.Body("left", **link),
        sp.Body("right", **link),
        sp.Body("bar", mass=1.0, inertia=(0.01,) * 3, com=(0.2, 0.0, 0.0), parent=None),
        sp.Connection("a", on="ground", to="left", joint=sp.Revolute("y")),
        sp.Connection("b", on="ground", to="right", joint=sp.Revolute("y"), position=(0.4, 0.0, 0.0)),
        sp.Connection("c", on="left", to="bar", joint=sp.Revolute("y"), position=(0.0, 0.0, -0.3)),
        sp.Connection("d", on="right", to="bar", joint=sp.Revolute("y"), position=(0.0, 0.0, -0.3),
                   to_position=(0.4, 0.0, 0.0)),
        gravity=(2.0, 0.0, -9.81),
    )  # fmt: skip
    for gone in ("a", "c", "d"):
        run = sp.simulate(robot, 0.2, dt=0.01, events=[sp.Event(t=0.1, edit=sp.Release(gone))])
        assert run.ok, run.message
        assert np.abs(np.concatenate(jumps(run), axis=None)).max() < 1e-9
        for name in ("left", "right", "bar"):
            before, after = (one.position(name) for one in run.stretches)
            np.testing.assert_allclose(after[0], before[-1], atol=1e-9)


def test_controllers_go_on_across_edits():
    """A counting controller keeps its memory, its clock and its input; compiled or not."""

    def count(t, seen, memory):
        return {"torque": 0.0 * memory, "count": memory}, memory + 1.0

    for compiled in (True, False):
        motor = sp.Motor("motor", on="bob", torque=sp.Input("torque"))
        counted = sp.Wrench("counted", on="bob", force=(0, 0, 1e-9), law=sp.Input("count"))
        clock = sp.Controller("clock", count, period=0.02, memory=1.0, compiled=compiled)
        robot = sp.Robot(bob(), motor, counted, clock)
        events = [sp.Event(t=0.05, edit=sp.Change("bob", mass=0.5))]
        run = sp.simulate(robot, 0.1, dt=0.01, initial=swinging, events=events)
        plain = sp.simulate(robot, 0.1, dt=0.01, initial=swinging)
        np.testing.assert_array_equal(np.delete(run.input("count"), 6), plain.input("count"))


def test_continuous_controllers_go_on_and_can_be_waited_for():
    """An integral of one is the time, across an edit; the event waits for what the controller says."""
    clock = sp.ContinuousController(
        "clock",
        lambda t, seen, z: {"torque": 1e-3 * z[0]},
        rate=lambda t, seen, z: np.ones(1),
        state=(0.0,),
    )
    motor = sp.Motor("motor", on="bob", torque=sp.Input("torque"))
    said = sp.Event(
        when=sp.Sensed("motor_torque", "motor", 0, 2e-4), edit=sp.Change("bob", mass=0.5)
    )
    run = sp.simulate(sp.Robot(bob(), motor, clock), 0.3, dt=0.01, events=[said])
    assert [one.ended for one in run.stretches] == [(0,), ()]
    np.testing.assert_allclose(run.stretches[0].t[-1], 0.2, rtol=1e-9)
    np.testing.assert_allclose(run.controller("clock")[:, 0], run.t, atol=1e-9)
