"""Robots that together have every kind of item, part and field that files know."""

import numpy as np

import supple as sp
from supple.robots.two_drones import errors, fly, see

E = sp.Expression
STEEL = sp.Material(E=2e11, density=7800.0, nu=0.3)
DAMPINGS = (
    None,
    sp.StiffnessDamping(0.01),
    sp.ShearViscosity(100.0),
    sp.MatrixDamping(np.diag([1e-3, 1e-3, 2e-3, 1.0, 1.0, 1.0])),
)
SECTIONS = (
    sp.Circle(0.01),
    sp.Circle(E("0.01*(1 - u/2)", "u")),
    sp.Circle(E("0.01", "u")),
    sp.Tube(0.01, E("0.005*(1 - u)", "u")),
    sp.Ellipse(0.01, 0.02),
    sp.Rectangle(E("0.01 + 0.01*u", "u"), 0.02),
)
BASES = (
    "auto",
    4,
    sp.Legendre(3),
    sp.Chebyshev(2),
    sp.Monomial(2),
    sp.PiecewiseConstant(3),
    sp.PiecewiseLinear((0.25, 0.5)),
    sp.PiecewiseLegendre(2, 2),
    sp.PiecewiseLegendre((0, 3, 1), (0.25, 0.5)),
    sp.CustomBasis(E("[1, sin(pi*u)]", "u"), 2, resolution=6, breakpoints=(0.5,)),
    {"kx": 1, "ky": sp.Legendre(2), "kz": sp.PiecewiseConstant((0.5,))},
)
SPACES = (sp.Magnus(), sp.Magnus(4, 3), sp.Spectral(), sp.RungeKutta(1e-8))
JOINTS = (
    sp.Fixed(),
    sp.Revolute("y", stiffness=1.0, damping=0.1, rest=0.2, friction=0.01, friction_speed=0.1),
    sp.Prismatic("-x", lower=-0.1, upper=0.2),
    sp.Revolute("z", upper=1.5, stop_stiffness=10.0, stop_damping=0.1),
    sp.Helical((0.0, 1.0, 2.0), pitch=0.05),
    sp.Cylindrical("z", stiffness=(1.0, 2.0)),
    sp.Universal("x", "y", damping=np.array([0.1, 0.2])),
    sp.Spherical(damping=0.3),
    sp.Planar("y", stiffness=2.0),
    sp.XJoint(bar=0.05, diagonal=0.1, axis="-y", along="z", friction=sp.ArctanFriction(0.1, 2.0)),
    sp.Prismatic("x", friction=sp.FormulaFriction("0.2*tanh(speed/0.01) + 0*load")),
    sp.Revolute("x", friction=sp.DryFriction(0.1, width=0.5)),
    sp.Free(),
    sp.Driven(sp.Motion("[sin(t), 0, 0]", "[0, 0, t]"), kinks=(1.0, 2.5)),
)
TIMES = (0.0, 0.5, 1.0, 2.0)
LAWS = (
    2.0,
    E("2 + sin(t)", "t"),
    E("2", "t"),
    sp.Constant(3.0),
    sp.Function(E("2*ramp(t)", "t"), (0.0, 1.0)),
    sp.Function(E("2*t", "t")),
    sp.Table(TIMES, [0.0, 1.0, 0.5, 0.1]),
    sp.Spline(TIMES, np.array([0.0, 1.0, 1 / 3, 0.1])),
    sp.ramp(0.0, 1.0, 5.0),
    sp.triangle(0.0, 1.0, 2.0),
    sp.Input("pull", 0.5),
)


def rod(name: str = "rod", **fields) -> sp.Rod:
    return sp.Rod(name, **{**dict(length=1.0, section=sp.Circle(0.01), material=STEEL), **fields})


def _rods() -> dict[str, sp.Robot]:
    found = {f"section {i}": rod(section=s) for i, s in enumerate(SECTIONS)}
    found |= {f"basis {i}": rod(basis=b) for i, b in enumerate(BASES)}
    found |= {f"space {i}": rod(space=s, basis=2) for i, s in enumerate(SPACES)}
    found |= {f"joint {i}": rod(joint=j, basis=1) for i, j in enumerate(JOINTS)}
    found |= {
        f"damping {i}": rod(material=sp.Material(E=1e7, density=1e3, damping=d))
        for i, d in enumerate(DAMPINGS)
    }
    found |= {
        "graded": rod(
            material=sp.Material(E=E("1e7*(1 + u)", "u"), density=E("1e3 + u", "u"), G=3e6)
        ),
        "given": sp.Rod(
            "rod", 1.0, properties=sp.GivenProperties((1.0,) * 6, np.eye(6), (0.1,) * 6)
        ),
        "strains": rod(strains=("ky", "kz", "gx"), basis=2, nodes=12, breaks=(0.25, 0.75)),
        "bent": rod(rest=(0.0, 0.1, 0.2, 1.0, 0.0, 0.0)),
        "curled": rod(rest=E("[0, 0, 3*u, 1, 0, 0]", "u"), space=sp.RungeKutta()),
        "growing": rod(growth=sp.Spline(TIMES, [1.0, 1.1, 1.2, 1.1])),
        "turned": rod(position=np.array([0.1, 1 / 3, 0.0]), rotation=sp.along((1.0, 1.0, 0.0))),
        "quaternion": rod(rotation=(0.6, 0.0, 0.0, 0.8)),
        "matrix": rod(rotation=((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
    }
    return {name: sp.Robot(item) for name, item in found.items()}


def _everything() -> sp.Robot:
    """Items of every kind, in an order that no file would have by itself."""
    return sp.Robot(
        sp.Body("base", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.0, 0.0, 0.1), joint=sp.Free(),
                shape=(sp.Box((0.1, 0.2, 0.3), position=(0, 0, 0.1)), sp.Cylinder(0.1, 0.2, axis="x"))),
        rod("arm", basis=2, parent="base", position=(0.1, 0.0, 0.0)),
        sp.Wrench(
            "push", on="arm", fraction=0.5, force=(0, 1, 0), moment=(0, 0, 2), law=sp.ramp(0.0, 1.0),
            position=(0.0, 0.01, 0.0),
        ),
        rod("tip", basis=1, parent="arm", joint=sp.Revolute("y"), section=sp.Ellipse(0.01, 0.02)),
        sp.Body("tool", mass=0.1, inertia=((0.1, 0.01, 0), (0.01, 0.1, 0), (0, 0, 0.1)), parent="tip"),
        sp.Body("lamp", mass=0.1, parent="arm", fraction=0.75, position=(0, 0.1, 0), rotation=(0.1, 0, 0)),
        rod("twig", basis=1, parent="arm", fraction=0.25),
        sp.Marker("eye", parent="arm", fraction=0.25, position=(0.0, 0.01, 0.0), rotation=(0.1, 0.0, 0.0),
                  shape=sp.Sphere(0.01)),
        sp.Body("cross", mass=0.1, joint=sp.XJoint(bar=0.05, diagonal=0.1)),
        sp.Body("strut", mass=0.1, parent="cross", link="left"),
        rod("whisker", basis=1, parent="cross", link="right"),
        sp.Marker("spot", parent="cross", link="left", position=(0.05, 0.0, 0.0)),
        sp.Motor("winder", torque=0.5, inertia=1e-3, friction=sp.ArctanFriction(0.008, 0.5)),
        sp.Motor("winch", torque=0.5, inertia=1e-3, gear=2.0, viscous=0.1, friction=0.01, limit=3.0),
        sp.Motor("servo", on="tip", position=E("sin(t)", "t"), stiffness=5.0, damping=1.0),
        sp.Motor("wheel", on="tip", coordinate=1, velocity=1.0, damping=2.0, friction_speed=0.5),
        sp.Tendon("left", on="arm", offset=(0.01, 0.0), tension=E("2 + t", "t"), end=0.5, friction=0.1),
        sp.Tendon("round", on="arm", offset=E("[0.01*cos(tau*u), 0.01*sin(tau*u)]", "u"), pull=0.01),
        sp.Tendon(
            "long",
            on=("ground", "arm", "tip"),
            offset={"ground": (0.0, 0.0, 0.1), "arm": (0.01, 0.0), "tip": E("[0.01 - u/200, 0]", "u")},
            pull=sp.Input("long", 0.0),
            stiffness=1e3,
            damping=1.0,
        ),
        sp.Tendon("wound", on="arm", offset=(0, -0.01), winch="winch", drum=0.01, stiffness=50.0),
        sp.Tendon("discs", on="arm", offset=(0, 0.01), tension=-1.0, push=True, discs=5, viscous=0.1),
        sp.Tendon(
            "fewer", on="arm", offset=(0, 0.01), tension=1.0, discs=(0.0, 0.3, 1.0), start=0.1,
            friction_speed=0.1,
        ),
        sp.Chamber("air", on="arm", area=1e-5, offset=(0.0, 0.002), pressure=1e4, start=0.1, end=0.9),
        sp.Chamber("water", on="arm", area=1e-5, volume=1e-5),
        sp.Chamber("gas", on="arm", area=1e-5, gas=sp.Table(TIMES, (1.0, 1.1, 1.2, 1.3))),
        sp.Spring("rope", on="tool", stiffness=10.0, damping=0.1, length=0.5, to_position=(1, 0, 0)),
        sp.Spring("band", on="arm", fraction=0.5, to="tip", to_fraction=0.5, position=(0.0, 0.01, 0.0)),
        sp.Closure(
            "ring", on="tool", to="ground", joint=sp.Revolute("z"), to_rotation=(0.0, 0.0, 1.0),
            position=(0.1, 0.0, 0.0), rotation=(0.0, 0.1, 0.0), to_position=(1.0, 0.0, 0.0),
        ),
        sp.Body("wing", mass=0.1, parent=None),
        rod("feather", basis=1, parent=None, joint_name="quill"),
        sp.Connection(
            "shoulder", on="base", to="wing", joint=sp.Revolute("x"), position=(0.1, 0, 0), cut=False,
            rotation=(0, 0.1, 0), to_position=(0, 0.1, 0), to_rotation=(0, 0, 0.1),
        ),
        sp.Connection("knuckle", on="arm", fraction=0.5, to="feather", to_fraction=0.5, cut=True),
        sp.Connection("hand", on="wing", to="feather"),
        sp.Body(
            "door", mass=1.0, joint=sp.Revolute("z"), joint_position=(0.1, 0, 0),
            joint_rotation=(0, 0, 0.1), joint_name="hinge",
        ),
        rod("crank", basis=1, joint_position=(0.0, 0.01, 0.0), joint_rotation=(0.1, 0.0, 0.0)),
        rod("feeler", basis=1, growth=E("1 + t", "t"), slides=True),
        sp.KnifeEdge("skate", on="arm", across="z", fraction=0.5, position=(0.0, 0.01, 0.0)),
        sp.RollingContact("ball", on="arm", fraction=0.5, radius=0.1, normal=(0.0, 1.0, 1.0)),
        sp.RollingContact("disc", on="base", radius=0.1, axle="y", position=(0.0, 0.01, 0.0)),
        sp.PlaneFriction(
            "felt", on="arm", friction=0.1, damping=0.2, friction_speed=0.1, normal="y", fraction=0.5,
            position=(0.0, 0.0, 0.01),
        ),
        sp.Closure("middle", on="arm", fraction=0.5, to="tip", to_fraction=0.5),
        sp.PrescribedCoordinate(
            "bend", on="arm", of="rod", coordinate=1, value=sp.Spline(TIMES, (0, 0, 1, 1))
        ),
        sp.ActiveStress("muscle", on="arm", stress=E("[0, X*sin(t), 0, 0, 0, 0]", "X, t"), kinks=(0.5,)),
        sp.DistributedLoad(
            "grass", on="arm", follower=True, law=0.5,
            density=sp.LoadDensity("[0, 0, 0, 0, -twist[4], -50*position[2]*rotation[2][2]]"),
        ),
        sp.Drag("slow", on="arm", linear=0.1, quadratic=(1.0, 2.0, 3.0), current=(0.1, 0.0, 0.0)),
        sp.Buoyancy("float", on="tool", density=998.0, volume=1e-3, position=(0.0, 0.0, 0.01)),
        sp.Swimming("water flow", on=("arm", "tip"), density=998.0),
        sp.Wrench("rotor", on="base", force=(1, 1, 1), follower=True, law=sp.Input("rotor", np.zeros(6))),
        sp.ContinuousController("steady", fly, sense=see, rate=errors, state=(0.1, 0.2)),
        sp.Controller("pilot", fly, see, period=0.05, memory={"sum": np.zeros((2, 6))}, compiled=True),
        sp.Controller("outside", fly, compiled=False),
        gravity=(0.0, -9.81, 0.0),
        name="everything",
    )  # fmt: skip


def _loaded(law) -> sp.Robot:
    return sp.Robot(rod(basis=1), sp.Wrench("push", on="rod", force=(0, 1, 0), law=law))


ROBOTS = {
    "everything": _everything(),
    **_rods(),
    "shooting": sp.Robot(rod(basis=1), formulation=sp.Shooting(41, 2, "euler", tolerance=1e-6)),
    "pieces": sp.Robot(rod(basis="pcc:3"), formulation="pcs"),
    **{f"law {i}": _loaded(law) for i, law in enumerate(LAWS)},
}
