"""What users see at a prompt: short texts that tell, and names to complete."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import supple as sp

STEEL = sp.Material(E=2e11, density=7800.0)
ROD = sp.Rod("arm", length=0.5, section=sp.Circle(1e-3), material=STEEL, basis=3)
ROBOT = sp.Robot(
    ROD,
    sp.Body("tool", parent="arm", mass=0.05, joint=sp.Revolute("y", damping=0.1)),
    sp.Tendon("pull", on="arm", offset=(0.01, 0.0), tension=sp.Input("tension", 2.0)),
    gravity=(0.0, 0.0, 0.0),
    name="crane",
)


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        (
            ROD,
            "Rod('arm', length=0.5, section=Circle(radius=1e-3), "
            "material=Material(E=2e11, density=7800), basis=3)",
        ),
        (
            sp.Wrench("pull", on="arm", force=np.array([0.0, 2.0, 0.1])),
            "Wrench('pull', on='arm', force=(0, 2, 0.1))",
        ),
        (sp.Free(), "Free()"),
        (sp.Universal("x", "y"), "Universal(first='x', second='y')"),
        (sp.Legendre(2), "Legendre(order=2)"),
        (sp.Circle(jnp.asarray(0.1)), "Circle(radius=0.1)"),
        (sp.ramp(0.0, 1.0, 2.0), "Table(times=(0, 1), values=(0, 2))"),
        (ROBOT.build(), "Model('crane': 10 degrees of freedom; rods: arm; bodies and markers: tool; "
         "driven by: pull)"),
        (sp.initial_state(ROBOT.build()), "State(t=0 s, q (10,), v (10,))"),
    ],
)  # fmt: skip
def test_texts_are_short_and_say_what_differs(thing, text):
    assert repr(thing) == text


def test_the_text_of_a_robot_makes_the_robot():
    own = {name: getattr(sp, name) for name in dir(sp)}
    assert eval(repr(ROBOT), own) == ROBOT
    assert len(repr(ROBOT).splitlines()) == len(ROBOT.items) + 4


def test_long_numbers_and_traced_ones_have_a_text():
    law = sp.Table(np.arange(20.0), np.zeros(20))
    assert "<20 numbers>" in repr(law)
    seen = []

    @jax.jit
    def traced(radius):
        seen.append(repr(sp.Circle(radius)))
        return radius

    traced(0.1)
    assert seen == ["Circle(radius=<traced ()>)"]


def test_completion_offers_what_users_want():
    offered = dir(sp)
    assert {"Rod", "Robot", "simulate", "plot", "equilibrium"} <= set(offered)
    assert not {"jax", "os", "mechanics", "use_persistent_cache"} & set(offered)
