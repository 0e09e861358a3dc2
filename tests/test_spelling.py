"""Names that are misspelt or foreign are answered with the right one, by every public class and function."""

import inspect
import pickle

import numpy as np
import pytest

import supple as sp
from supple.spelling import meant

pytestmark = pytest.mark.usefixtures("unchecked")

CASES = [
    (lambda: sp.Rod("arm", lenght=1.0), "Rod: got the unknown name 'lenght'; need length?"),
    (lambda: sp.Circle(diameter=0.01), "need radius (half of it)?"),
    (lambda: sp.Rod("arm", length=1.0, radius=0.01), "need section=Circle(radius)?"),
    (lambda: sp.Rod("arm", length=1.0, youngs_modulus=1e9), "need material=Material(E=…"),
    (lambda: sp.Material(young=1e9, density=1e3), "need E?"),
    (lambda: sp.Material(E=1e9, rho=1e3), "need density?"),
    (lambda: sp.Material(E=1e9, density=1e3, poisson_ratio=0.5), "need nu?"),
    (lambda: sp.Body("box", mass=1.0, pos=(0, 0, 1)), "need position?"),
    (lambda: sp.Wrench("pull", body="arm"), "need on?"),
    (lambda: sp.Motor("drive", on="arm", torque=1.0, armature=1e-3), "need inertia?"),
    (lambda: sp.Revolute(range=(0, 1)), "need lower (lower=…, upper=…)?"),
    (lambda: sp.Table(time=(0, 1), values=(0, 1)), "need times?"),
    (lambda: sp.Robot(g=(0, 0, -9.81)), "need gravity?"),
    (lambda: sp.simulate(None, 1.0, step=0.01), "simulate: got the unknown name 'step'; need dt?"),
    (lambda: sp.simulate(None, t_end=1.0), "need duration?"),
    (lambda: sp.simulate(None, 1.0, rtol=1e-3), "need accuracy?"),
    (lambda: sp.simulate(None, 1.0, solver="rk4"), "need scheme?"),
    (lambda: sp.simulate(None, 1.0, y0=0), "need initial?"),
    (lambda: sp.simulate(None, 1.0, saveat=0.1), "need t_eval?"),
    (lambda: sp.equilibrium(None, tol=1e-3), "equilibrium: got the unknown name 'tol'; need accur"),
    (lambda: sp.equilibrium(None, start=None), "need initial?"),
    (lambda: sp.generalized_alpha(rho=0.8), "generalized_alpha: got the unknown name 'rho'; need"),
    (lambda: sp.radau(stage=2), "need stages?"),
    (lambda: sp.Event(time=1.0, edit=None), "need t?"),
    (lambda: sp.Box(sizes=(1, 1, 1)), "need size?"),
]


@pytest.mark.parametrize(("make", "words"), CASES, ids=[words for _, words in CASES])
def test_an_unknown_keyword_is_answered_with_the_right_one(make, words):
    with pytest.raises(sp.ArgumentError) as told:
        make()
    assert words in str(told.value)
    assert isinstance(told.value, TypeError)  # what Python itself would have raised


def test_every_public_door_says_what_it_knows():
    for name in dir(sp):
        door = getattr(sp, name)
        if inspect.ismodule(door) or not callable(door) or inspect.isabstract(door):
            continue
        if inspect.isclass(door) and issubclass(door, BaseException | tuple | int):
            continue
        parameters = inspect.signature(door).parameters.values()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            continue  # takes any name, and hands it on
        with pytest.raises(sp.ArgumentError, match="unknown name 'zzz'"):
            door(zzz=1)


def test_a_name_that_is_right_is_never_refused():
    robot = sp.Robot(sp.Rod(name="arm", length=1.0, section=sp.Circle(radius=0.01),
                            material=sp.Material(E=1e9, density=1e3)))  # fmt: skip
    assert robot["arm"].length == 1.0
    assert list(inspect.signature(sp.simulate).parameters)[:3] == ["robot", "duration", "dt"]
    assert pickle.loads(pickle.dumps(sp.simulate)) is sp.simulate


def test_files_know_the_same_words():
    arm = "{lenght: 1, section: {circle: {diameter: 1}}, material: {young: 1e9, rho: 1e3}}"
    text = f"rods:\n  arm: {arm}\n"
    with pytest.raises(sp.files.FileError) as told:
        sp.load(text)
    for words in ("need length?", "radius (half of it)?", "need E?", "need density?"):
        assert words in str(told.value)


def test_what_is_far_from_everything_is_not_guessed():
    assert meant("qqqq", ["length", "radius"]) == ""
    assert meant("Length", ["length", "radius"]) == "length? "


ARM = sp.Robot(
    sp.Body("arm", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1), joint=sp.Revolute("y")),
    name="pendulum",
)


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        ("arm.yaml", "supple.load('arm.yaml').robot"),
        (ARM["arm"], "Robot(rod, body, …)"),
        ([ARM["arm"]], "Robot(rod, body, …)"),
        (3.0, "a Robot, or a model of one"),
    ],
)
def test_what_is_no_robot_is_answered_with_how_to_make_one(robot, words):
    for call in (lambda: sp.simulate(robot, 1.0), lambda: sp.equilibrium(robot)):
        with pytest.raises(sp.ArgumentError, match="robot: got") as told:
            call()
        assert words in str(told.value)


def test_schemes_by_name_and_coordinates_as_plain_numbers():
    named = sp.simulate(ARM, 0.02, dt=0.01, scheme="RK4", initial=[0.1])
    given = sp.simulate(
        ARM, 0.02, dt=0.01, scheme=sp.Explicit("rk4"), initial=sp.initial_state(ARM.build(), [0.1])
    )
    np.testing.assert_array_equal(named.q, given.q)
    assert named.q[0, 0] == 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(scheme="RK45"), "'dopri5'?"),
        (dict(scheme="newmrk"), "newmark?"),
        (dict(scheme=sp.radau), "radau(): it is to be called"),
        (dict(scheme=3), "the name of one"),
        (dict(initial=[0.1, 0.2]), "got shape (2,)"),
        (dict(initial="rest"), "got 'rest'; need a state"),
    ],
)
def test_what_is_no_scheme_or_start_is_told(options, words):
    with pytest.raises(sp.ArgumentError) as told:
        sp.simulate(ARM, 0.02, dt=0.01, **options)
    assert words in str(told.value)
