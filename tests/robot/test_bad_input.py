"""Every impossible description is refused when it is written or built, by name, value and cure."""

import numpy as np
import pytest

import supple as sp

STEEL = sp.Material(E=2e11, density=7800.0)
pytestmark = pytest.mark.usefixtures("unchecked")  # users meet our messages, not beartype's


def rod(**changes):
    """A good rod named "arm", with changes."""
    options = dict(length=1.0, section=sp.Circle(0.01), material=STEEL, basis=2)
    return sp.Rod("arm", **{**options, **changes})


def twice(u):
    """The same function as both columns of a basis."""
    return np.stack([1 + u, 1 + u], axis=1)


def body(**changes):
    """A good body named "tool", with changes."""
    return sp.Body("tool", **{**dict(mass=1.0, inertia=(1e-3, 1e-3, 1e-3)), **changes})


def numpy_rest(u):
    """A rest shape that only NumPy arrays can go through."""
    rest = np.tile((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), (len(u), 1))
    rest[:, 2] = np.sin(u)
    return rest


def built(*items, **options):
    return sp.Robot(*items, **options).build()


def jointed(joint):
    return built(body(joint=joint))


def hung(**place):
    """The tool on the arm."""
    return sp.Robot(rod(), body(parent="arm", **place))


def loaded(**changes):
    return sp.Robot(rod(), sp.Wrench("pull", **{**dict(on="arm", force=(0, 1, 0)), **changes}))


CASES = [
    # Lengths and numbers
    ("zero length", lambda: rod(length=0.0), "arm: length", "got 0.0", "> 0"),
    ("negative length", lambda: rod(length=-0.5), "arm: length", "got -0.5", "> 0"),
    ("nan length", lambda: rod(length=np.nan), "arm: length", "got nan", "finite"),
    ("infinite length", lambda: rod(length=np.inf), "arm: length", "got inf", "finite"),
    ("text length", lambda: rod(length="1.0"), "arm: length", "got '1.0'", "number"),
    ("no length", lambda: rod(length=None), "arm: length", "got None", "number"),
    ("true length", lambda: rod(length=True), "arm: length", "got True", "number"),
    ("two lengths", lambda: rod(length=(1.0, 2.0)), "arm: length", "(1.0, 2.0)", "number"),
    # Sections and materials
    ("no section", lambda: rod(section=None), "arm: section", "got None", "properties"),
    ("no material", lambda: rod(material=None), "arm: material", "got None", "properties"),
    ("text section", lambda: rod(section="circle"), "arm: section", "'circle'", "need"),
    ("text material", lambda: rod(material="steel"), "arm: material", "'steel'", "need"),
    (
        "both ways",
        lambda: rod(properties=sp.GivenProperties((1,) * 6, (1,) * 6)),
        "arm: properties", "GivenProperties", "either",
    ),
    ("zero radius", lambda: rod(section=sp.Circle(0.0)), "arm: section.radius", "got 0.0", "> 0"),
    (
        "negative modulus",
        lambda: rod(material=sp.Material(E=-1.0, density=1.0)),
        "arm: material.E", "got -1.0", ">= 0",
    ),
    (
        "nan modulus",
        lambda: rod(material=sp.Material(E=np.nan, density=1.0)),
        "arm: material.E", "got nan", "finite",
    ),
    (
        "zero density",
        lambda: rod(material=sp.Material(E=1.0, density=0.0)),
        "arm: material.density", "got 0.0", "> 0",
    ),
    (
        "text Poisson ratio",
        lambda: rod(material=sp.Material(E=1.0, density=1.0, nu="0.3")),
        "arm: material.nu", "got '0.3'", "number",
    ),
    (
        "text damping",
        lambda: rod(material=sp.Material(E=1.0, density=1.0, damping=0.1)),
        "arm: material.damping", "got 0.1", "StiffnessDamping",
    ),
    (
        "text stiffness",
        lambda: rod(section=None, material=None, properties=sp.GivenProperties("soft", (1,) * 6)),
        "arm: section.stiffness", "'soft'", "numbers",
    ),
    # Strains, bases, grids
    ("misspelt model", lambda: rod(strains="kirchoff"), "arm: strains", "'kirchoff'", "kirchhoff"),
    ("strains are no names", lambda: rod(strains=3), "arm: strains", "got 3", "need"),
    ("no modes", lambda: rod(basis=0), "arm: basis", "got 0", ">= 1"),
    ("text basis", lambda: rod(basis="three"), "arm: basis", "'three'", "number of modes"),
    ("half a mode", lambda: rod(basis=1.5), "arm: basis", "got 1.5", ">= 1"),
    ("missing basis", lambda: rod(basis={"kx": 1}), "arm: basis", "('kx',)", "'ky'"),
    ("short rest", lambda: rod(rest=(0, 0, 0)), "arm: rest", "(0, 0, 0)", "(6,)"),
    ("nan rest", lambda: rod(rest=(np.nan,) * 6), "arm: rest", "nan", "finite"),
    ("rest of wrong shape", lambda: rod(rest=lambda u: u), "arm: rest", "(5,)", "(n, 6)"),
    (
        "rest that cannot be compiled",
        lambda: rod(rest=numpy_rest, space=sp.RungeKutta()),
        "arm: rest", "numpy_rest", "jax.numpy",
    ),
    ("rest that raises", lambda: rod(rest=lambda u: 1 / 0), "arm: rest", "function", "(n, 6)"),
    ("one node", lambda: rod(nodes=1), "arm: nodes", "got 1", ">= 2"),
    (
        "fewer nodes than modes",
        lambda: sp.Robot(rod(nodes=2, basis={"kx": 2, "ky": 3, "kz": 1})).build(),
        "arm: nodes", "got 2", "only 2 of the 3 functions of ky",
    ),
    (
        "a function twice",
        lambda: sp.Robot(rod(basis=sp.CustomBasis(twice, 2))).build(),
        "arm: nodes", "got None", "only 1 of the 2 functions of kx",
    ),
    ("break outside", lambda: rod(breaks=(1.5,)), "arm: breaks", "(1.5,)", "(0, 1)"),
    ("break at the end", lambda: rod(breaks=(1.0,)), "arm: breaks", "(1.0,)", "(0, 1)"),
    ("one bare break", lambda: rod(breaks=0.5), "arm: breaks", "got 0.5", "(0, 1)"),
    ("unknown integrator", lambda: rod(space="magnus"), "arm: space", "'magnus'", "Magnus"),
    ("joint is a name", lambda: rod(joint="revolute"), "arm: joint", "'revolute'", "Revolute"),
    (
        "break of a basis is nan",
        lambda: sp.PiecewiseConstant((np.nan,)),
        "PiecewiseConstant: segments", "nan", "between 0 and 1",
    ),
    (
        "break of a custom basis outside",
        lambda: sp.CustomBasis(lambda u: u[:, None], 1, breakpoints=(1.5,)),
        "CustomBasis: breakpoints", "1.5", "between 0 and 1",
    ),
    # Bodies
    ("no mass", lambda: body(mass=0.0), "tool: mass", "got 0.0", "> 0"),
    ("negative mass", lambda: body(mass=-1), "tool: mass", "got -1.0", "> 0"),
    ("text mass", lambda: body(mass="heavy"), "tool: mass", "'heavy'", "number"),
    ("short com", lambda: body(com=(0, 0)), "tool: com", "(0, 0)", "(3,)"),
    ("text com", lambda: body(com=("0", "0", "1")), "tool: com", "'1'", "numbers"),
    ("negative inertia", lambda: body(inertia=(1, 1, -1)), "tool: inertia", "-1", "negative"),
    ("unphysical inertia", lambda: body(inertia=(1, 1, 3)), "tool: inertia", "3", "triangle"),
    (
        "asymmetric inertia",
        lambda: body(inertia=((1, 0.5, 0), (0, 1, 0), (0, 0, 1))),
        "tool: inertia", "0.5", "symmetric",
    ),
    (
        "indefinite inertia",
        lambda: body(inertia=((1, 2, 0), (2, 1, 0), (0, 0, 1))),
        "tool: inertia", "2", "negative",
    ),
    ("short inertia", lambda: body(inertia=(1, 1)), "tool: inertia", "(1, 1)", "(3, 3)"),
    ("joint is a class", lambda: body(joint=sp.Revolute), "tool: joint", "Revolute", "joint"),
    # Friction
    (
        "friction that drives",
        lambda: sp.PlaneFriction("felt", on="tool", friction=-1.0),
        "felt: friction", "got -1.0", ">= 0",
    ),
    (
        "friction that jumps",
        lambda: sp.PlaneFriction("felt", on="tool", friction=1.0, friction_speed=0.0),
        "felt: friction_speed", "got 0.0", "> 0",
    ),
    (
        "sliding on no plane",
        lambda: sp.PlaneFriction("felt", on="tool", normal=(0, 0, 0)),
        "felt: normal", "(0, 0, 0)", "zero",
    ),
    (
        "nothing slides",
        lambda: sp.Robot(body(), sp.PlaneFriction("felt", on="toll")),
        "felt: on", "'toll'", "tool",
    ),
    # Joints
    ("no such axis", lambda: jointed(sp.Revolute("w")), "tool: joint.axis", "'w'", "x, y, z"),
    ("zero axis", lambda: jointed(sp.Revolute((0, 0, 0))), "tool: joint.axis", "(0, 0, 0)", "zero"),
    ("flat axis", lambda: jointed(sp.Prismatic((1, 0))), "tool: joint.axis", "(1, 0)", "(3,)"),
    ("nan axis", lambda: jointed(sp.Prismatic((np.nan, 0, 0))), "tool: joint.axis", "nan", "finite"),
    (
        "negative spring",
        lambda: jointed(sp.Revolute("z", stiffness=-1.0)),
        "tool: joint.stiffness", "got -1.0", ">= 0",
    ),
    (
        "negative damper",
        lambda: jointed(sp.Spherical(damping=-1.0)),
        "tool: joint.damping", "got -1.0", ">= 0",
    ),
    (
        "nan rest angle",
        lambda: jointed(sp.Revolute("z", stiffness=1.0, rest=np.nan)),
        "tool: joint.rest", "nan", "finite",
    ),
    (
        "too many springs",
        lambda: jointed(sp.Revolute("z", stiffness=(1.0, 2.0))),
        "tool: joint.stiffness", "(1.0, 2.0)", "need",
    ),
    ("nan pitch", lambda: jointed(sp.Helical(pitch=np.nan)), "tool: joint.pitch", "nan", "finite"),
    ("text pitch", lambda: jointed(sp.Helical(pitch="fine")), "tool: joint.pitch", "'fine'", "number"),
    (
        "parallel axes",
        lambda: jointed(sp.Universal("x", (2, 0, 0))),
        "tool: joint.second", "(2, 0, 0)", "parallel",
    ),
    (
        "driven shape",
        lambda: built(rod(joint=sp.Driven(lambda t: (np.zeros(2), np.zeros(3))))),
        "arm: joint.motion", "(2,)", "rotation vector",
    ),
    (
        "driven error",
        lambda: built(rod(joint=sp.Driven(lambda t: 1 / 0))),
        "arm: joint.motion", "function", "ZeroDivisionError",
    ),
    # Places
    ("place beyond", lambda: hung(fraction=1.5), "tool: fraction", "got 1.5", "[0, 1]"),
    ("place before", lambda: hung(fraction=-0.1), "tool: fraction", "got -0.1", "[0, 1]"),
    ("place nan", lambda: hung(fraction=np.nan), "tool: fraction", "nan", "[0, 1]"),
    ("place text", lambda: hung(fraction="middle"), "tool: fraction", "'middle'", "[0, 1]"),
    (
        "place on a body",
        lambda: sp.Robot(body(joint=sp.Free()), sp.Marker("eye", parent="tool", fraction=0.5)),
        "eye: fraction", "got 0.5", "rod",
    ),
    ("place on the ground", lambda: sp.Robot(rod(fraction=0.5)), "arm: fraction", "got 0.5", "rod"),
    ("flat position", lambda: built(rod(position=(0, 0))), "arm: position", "(0, 0)", "(3,)"),
    ("nan position", lambda: built(rod(position=(0, 0, np.nan))), "arm: position", "nan", "finite"),
    ("bad rotation", lambda: built(rod(rotation=(1, 2))), "arm: rotation", "(1, 2)", "quaternion"),
    ("text rotation", lambda: built(rod(rotation="up")), "arm: rotation", "'up'", "quaternion"),
    (
        "zero quaternion",
        lambda: built(rod(rotation=(0, 0, 0, 0))),
        "arm: rotation", "(0, 0, 0, 0)", "zero",
    ),
    (
        "reflection",
        lambda: built(rod(rotation=np.diag([1.0, 1.0, -1.0]))),
        "arm: rotation", "-1", "right-handed",
    ),
    (
        "not orthonormal",
        lambda: built(rod(rotation=2 * np.eye(3))),
        "arm: rotation", "2", "orthonormal",
    ),
    # Loads
    ("unknown target", lambda: loaded(on="leg"), "pull: on", "'leg'", "arm"),
    ("load on the ground", lambda: loaded(on="ground"), "pull: on", "'ground'", "arm"),
    ("flat force", lambda: loaded(force=(0, 1)), "pull: force", "(0, 1)", "(3,)"),
    ("text force", lambda: loaded(force="down"), "pull: force", "'down'", "numbers"),
    ("nan moment", lambda: loaded(moment=(np.nan, 0, 0)), "pull: moment", "nan", "finite"),
    ("load beyond the tip", lambda: loaded(fraction=2.0), "pull: fraction", "got 2.0", "[0, 1]"),
    ("text law", lambda: loaded(law="sine"), "pull: law", "'sine'", "need"),
    (
        "stress on a body",
        lambda: sp.Robot(rod(), body(parent="arm"),
                         sp.ActiveStress("muscle", on="tool", stress=lambda X, t: np.zeros((len(X), 6)))),
        "muscle: on", "'tool'", "rod",
    ),
    (
        "stress of wrong shape",
        lambda: sp.ActiveStress("muscle", on="arm", stress=lambda X, t: X),
        "muscle: stress", "(5,)", "(n, 6)",
    ),
    (
        "stress that raises",
        lambda: sp.ActiveStress("muscle", on="arm", stress=lambda X, t: 1 / 0),
        "muscle: stress", "ZeroDivisionError", "(n, 6)",
    ),
    # The graph
    ("unknown parent", lambda: sp.Robot(rod(parent="base")), "arm: parent", "'base'", "ground"),
    ("no parent", lambda: sp.Robot(rod(parent=None)), "arm: parent", "None", "ground"),
    ("own parent", lambda: sp.Robot(rod(parent="arm")), "arm: parent", "arm -> arm", "ground"),
    (
        "cycle",
        lambda: sp.Robot(rod(parent="tool"), body(parent="arm")),
        "arm: parent", "arm -> tool -> arm", "ground",
    ),
    ("name used twice", lambda: sp.Robot(rod(), rod()), "arm: name", "'arm'", "once"),
    (
        "load named as a rod",
        lambda: loaded().adding(sp.Wrench("arm", on="arm")),
        "arm: name", "'arm'", "once",
    ),
    ("empty name", lambda: sp.Marker(""), "item: name", "''", "non-empty"),
    ("number as name", lambda: sp.Marker(3), "item: name", "3", "non-empty"),
    ("reserved name", lambda: sp.Body("ground", mass=1.0), "item: name", "'ground'", "other than"),
    ("no items", lambda: sp.Robot(), "robot: items", "0", "at least one"),
    ("only a marker", lambda: sp.Robot(sp.Marker("eye")), "robot: items", "1", "at least one"),
    ("foreign item", lambda: sp.Robot("arm"), "robot: items", "'arm'", "Rod, Body"),
    ("nothing moves", lambda: built(body()), "robot: items", "1", "moving part"),
    ("flat gravity", lambda: sp.Robot(rod(), gravity=(0, -9.81)), "robot: gravity", "-9.81", "(3,)"),
    ("text gravity", lambda: sp.Robot(rod(), gravity="earth"), "robot: gravity", "'earth'", "3 finite"),
    ("named robot", lambda: sp.Robot(rod(), gravity=9.81, name="eve"), "eve: gravity", "9.81", "(3,)"),
    ("direction", lambda: sp.along("up"), "along: direction", "'up'", "x, y, z"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "where", "value", "cure"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_impossible_descriptions_are_refused_by_name_value_and_cure(make, where, value, cure):
    with pytest.raises(sp.DescriptionError) as caught:
        make()
    message = str(caught.value)
    assert message.startswith(f"{where}: got ")
    assert value in message
    assert cure in message[message.index("; need ") :]


def test_errors_are_value_errors_and_carry_their_parts():
    with pytest.raises(ValueError, match="arm") as caught:
        rod(length=-1.0)
    error = caught.value
    assert (error.item, error.field, error.got) == ("arm", "length", -1.0)
    assert isinstance(error, sp.SuppleError)
