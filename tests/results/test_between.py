"""Between the instants of a run: as good as at them, closed, and without ringing where something jumps."""

import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp


@pytest.fixture(scope="module")
def swing():
    """A pendulum with many more instants than its motion needs."""
    body = sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y"))
    return sp.simulate(sp.Robot(body), 3.0, dt=5e-3, scheme=sp.gauss(3))


def left_out(run, every):
    """Largest error of joint angles where only some instants are kept; not at the two ends."""
    few = run.pick(slice(None, None, every))
    inside = slice(every, -2 * every)
    return float(np.abs(few.sample(run.t[inside]).q - run.q[inside]).max())


def test_errors_fall_faster_than_those_of_quintic_interpolation(swing):
    long, short = left_out(swing, 40), left_out(swing, 20)
    assert 7 < np.log2(long / short) < 11  # 6 with two instants, 9 in the end with three
    assert short < 2e-7  # 0.1 s apart, of a swing of two seconds


def four_bar():
    crank = sp.Body("crank", mass=1.0, com=(0.15, 0.0, 0.0), joint=sp.Revolute("z"))
    coupler = sp.Body(
        "coupler", parent="crank", position=(0.3, 0.0, 0.0), mass=0.5, com=(0.5, 0.0, 0.0),
        inertia=(0.01, 0.05, 0.05), joint=sp.Revolute("z"),
    )  # fmt: skip
    rocker = sp.Body(
        "rocker", position=(0.9, 0.0, 0.0), rotation=(0.0, 0.0, 1.6), mass=1.0,
        com=(0.35, 0.0, 0.0), joint=sp.Revolute("z"),
    )  # fmt: skip
    pin = sp.Closure(
        "pin", on="coupler", position=(1.0, 0.0, 0.0), to="rocker", to_position=(0.7, 0.0, 0.0),
        joint=sp.Revolute("z"),
    )  # fmt: skip
    return sp.Robot(crank, coupler, rocker, pin, gravity=(0.0, -9.81, 0.0))


def test_loops_are_closed_between_instants_and_their_forces_are_curves():
    run = sp.simulate(four_bar(), 1.0, dt=0.01, scheme=sp.radau(3))
    few = run.pick(slice(None, None, 4))
    inside = slice(8, -8)
    between = few.sample(run.t[inside])
    own = np.isin(between.t, few.t)
    assert np.abs(between.violation[~own]).max() < 1e-13
    assert np.abs(between.violation_rate[~own]).max() < 1e-12
    same = np.isin(few.t, between.t)
    np.testing.assert_array_equal(between.q[own], few.q[same])
    np.testing.assert_array_equal(between.v[own], few.v[same])
    assert np.abs(between.q - run.q[inside]).max() < 1e-5
    straight = np.stack([np.interp(run.t[inside], few.t, y) for y in few.multipliers.T], axis=1)
    error, lines = (
        np.abs(found - run.multipliers[inside]).max() for found in (between.multipliers, straight)
    )
    assert error < lines / 2


def pushed(t):
    return jnp.where(t > 1.0, 1.0, 0.0)


def test_where_a_load_jumps_the_motion_beyond_it_is_not_taken_in():
    """A mass on a slider that is pushed from one second on: its way is known."""
    body = sp.Body("mass", mass=2.0, joint=sp.Prismatic("x"))
    push = sp.Wrench("push", on="mass", force=(4.0, 0.0, 0.0), law=pushed)
    run = sp.simulate(sp.Robot(body, push, gravity=(0.0, 0.0, 0.0)), 2.0, accuracy=1e-3)
    times = np.linspace(0.0, 2.0, 301)
    way = np.maximum(times - 1.0, 0.0) ** 2
    np.testing.assert_allclose(run.sample(times).q[:, 0], way, atol=2e-3)
