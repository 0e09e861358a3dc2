"""What linear models tell of inputs and outputs, against steps of the nonlinear robot."""

import numpy as np
import pytest

import supple as sp

NITINOL = sp.Material(E=60e9, nu=0.3, density=6450, damping=sp.StiffnessDamping(0.01))


def arm(left=2.0, right=1.0, push=0.1):
    rod = sp.Rod("arm", 0.3, sp.Circle(1e-3), NITINOL, strains="planar", basis=3)
    return sp.Robot(
        rod,
        sp.Tendon("left", on="arm", offset=(0.01, 0), tension=sp.Input("left", left)),
        sp.Tendon("right", on="arm", offset=(-0.01, 0), tension=sp.Input("right", right)),
        sp.Wrench("push", on="arm", force=(0, push, 0)),
    )


OBSERVED = {
    "tip": lambda seen: seen.position("arm"),
    "length": lambda seen: seen.tendon("left").length,
    "speed": lambda seen: seen.twist("arm")[5],
}


def test_the_response_to_constant_inputs_is_that_of_statics():
    """−C A⁻¹ B + D is how what is observed at rest changes with loads and inputs."""
    held = sp.equilibrium(arm())
    linear = sp.linearize(arm(), at=held, observe=OBSERVED)
    assert linear.inputs == ("push", "left", "right")
    assert linear.outputs == ("tip[0]", "tip[1]", "tip[2]", "length", "speed")
    np.testing.assert_allclose(linear.values[:3], held.position("arm"), atol=1e-12)
    gain = linear.D - linear.C @ np.linalg.solve(linear.A, linear.B)

    def rest(**changed):
        found = sp.equilibrium(arm(**changed), initial=held.q)
        return np.array([*found.position("arm"), found.tendon("left").length])

    steps = {"push": ("push", 0.1), "left": ("left", 2.0), "right": ("right", 1.0)}
    for column, (name, value) in enumerate(steps.values()):
        h = 1e-3
        ahead, behind = rest(**{name: value + h}), rest(**{name: value - h})
        unit = 0.1 if name == "push" else 1.0  # a load's factor counts from its value
        slope = unit * (ahead - behind) / (2 * h)
        size = np.abs(gain[:4, column]).max()
        np.testing.assert_allclose(gain[:4, column], slope, atol=2e-5 * size)
    assert np.abs(gain[4]).max() < 1e-9  # at rest nothing moves


def test_forces_of_closures_are_outputs_with_feedthrough():
    """A pendulum whose pivot closes a loop: a weight more is carried at once, a push sideways is not.

    Turned by a small angle, the pivot carries the weight along the rod as it did; of the acceleration
    g / l along the path it feels nothing, since the bob is a point.
    """
    robot = sp.Robot(
        sp.Body("bob", mass=2.0, inertia=(1e-9,) * 3, joint=sp.Planar("y"), position=(0, 0, -1.5)),
        sp.Closure("pivot", on="ground", to="bob", joint=sp.Revolute("y"), to_position=(0, 0, 1.5)),
        sp.Wrench("weight", on="bob", force=(0, 0, -3.0)),
        sp.Wrench("push", on="bob", force=(0.5, 0, 0), law=sp.ramp(0.0, 1.0)),
    )
    pivot = {"pivot": lambda seen: seen.closure("pivot", "world")[3:]}
    linear = sp.linearize(robot, at=sp.equilibrium(robot), observe=pivot)
    weight = 2.0 * 9.81 + 3.0
    np.testing.assert_allclose(linear.values, [0.0, 0.0, weight], atol=1e-8)
    np.testing.assert_allclose(linear.D[:, 0], [0.0, 0.0, 3.0], atol=1e-6)
    np.testing.assert_allclose(linear.D[:, 1], 0.0, atol=1e-6)
    speed = np.sqrt(weight / 2.0 / 1.5)
    np.testing.assert_allclose(np.abs(linear.eigenvalues.imag), [speed] * 2, rtol=1e-6)
    # Per unit of the bob's way to the side, the pivot pulls it back by weight / l.
    bob = sp.linearize(
        robot, at=sp.equilibrium(robot), observe=lambda seen: seen.position("bob")[0]
    )
    np.testing.assert_allclose(linear.C[0, 0] / bob.C[0, 0], -weight / 1.5, rtol=1e-6)


def test_inputs_drive_and_a_single_function_observes():
    """A pushed cart: its velocity changes by F / m."""
    cart = sp.Robot(
        sp.Body("cart", mass=4.0, joint=sp.Prismatic("x")),
        sp.Motor("drive", on="cart", torque=sp.Input("force", 0.0)),
        gravity=(0, 0, 0),
    )
    linear = sp.linearize(cart, observe=lambda seen: seen.q)
    assert linear.inputs == ("force",)
    np.testing.assert_allclose(linear.B, [[0.0], [0.25]])
    np.testing.assert_allclose(linear.C, [[1.0, 0.0]])
    np.testing.assert_allclose(linear.D, [[0.0]])


def test_an_output_that_is_no_function_is_told(unchecked):
    with pytest.raises(sp.ArgumentError, match="observe: got 'tip'"):
        sp.linearize(arm(), observe={"tip": "tip"})
