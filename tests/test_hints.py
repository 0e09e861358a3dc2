"""Numbers that are almost certainly a slip get a hint, once, that can be switched off."""

import warnings

import pytest

import supple as sp
from supple import hints


@pytest.fixture(autouse=True)
def with_hints(monkeypatch):
    monkeypatch.delenv("SUPPLE_HINTS")
    monkeypatch.setattr(hints, "_told", set())


def robot(*, E=2e11, density=7800.0, length=0.5, gravity=(0, 0, -9.81), **fields):
    material = sp.Material(E=E, density=density)
    rod = sp.Rod(
        "arm", length=length, section=sp.Circle(1e-3), material=material, basis=2, **fields
    )
    return sp.Robot(rod, gravity=gravity)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"E": 200}, "arm: material.E: 200 Pa"),
        ({"E": 2e14}, "stiffer than diamond"),
        ({"density": 7.8}, "arm: material.density: 7.8 kg/m³"),
        ({"density": 7.8e6}, "heavier than any metal"),
        ({"length": 500}, "arm: length: 500 m with a section 0.002 m thick"),
        ({"length": 1e-3}, "arm: length: 0.001 m"),
        ({"gravity": (0, 0, -9810)}, "robot: gravity:"),
        ({"rotation": (0, 90, 0)}, "arm: rotation: a turn by 90 rad"),
        ({"joint": sp.Revolute("y", upper=90)}, "arm: joint.upper: 90 rad"),
    ],
)
def test_slips(fields, part):
    with pytest.warns(sp.Hint, match="supple.Hint") as told:
        robot(**fields).build()
    assert [part in str(one.message) for one in told] == [True]
    assert told[0].filename == __file__  # at the line of who built it


def test_each_once_and_none_when_switched_off(monkeypatch):
    with pytest.warns(sp.Hint):
        robot(E=200).build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot(E=200).build()
        monkeypatch.setenv("SUPPLE_HINTS", "off")
        robot(density=7.8).build()
        monkeypatch.delenv("SUPPLE_HINTS")
        warnings.simplefilter("ignore", sp.Hint)
        robot(density=7.9).build()


def test_steps_longer_than_what_moves():
    """A mass on a spring with a period of 0.2 s."""
    spring = sp.Prismatic("x", stiffness=1e3)
    mass = sp.Robot(sp.Body("mass", mass=1.0, inertia=(1e-3,) * 3, joint=spring))
    with pytest.warns(sp.Hint, match=r"steps of 1 s .*'mass'"):
        sp.simulate(mass, 20.0, dt=1.0, initial=[0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sp.simulate(mass, 1.0, dt=0.01, initial=[0.1])
