"""What Python describes is written to files and read back, the same to the last digit."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import supple as sp
import supple.robots
from supple.files import (
    Ensemble,
    FileError,
    Follow,
    Identify,
    Initial,
    InverseStaticsStudy,
    Linearize,
    ModesStudy,
    Output,
    ReleaseStudy,
    Settings,
    Simulate,
    Statics,
    Sweep,
    dump,
    load,
    save,
)
from supple.files.items import ITEMS
from supple.files.joints import JOINT
from supple.files.rods import BASIS, DAMPING, SECTION, SPACE
from supple.files.schema import STUDIES
from supple.files.schemes import SCHEME
from supple.robot.graph import Item
from supple.robot.joint import AbstractJointSpec
from supple.robots.bird_neck import bird_neck
from supple.robots.cantilever import soft_cantilever, stiff_cantilever
from supple.robots.clamped_rod import loaded_rod, struck_rod
from supple.robots.delta import delta
from supple.robots.feeler_arm import feeler_arm
from supple.robots.flexion_torsion import flexion_torsion
from supple.robots.fluidic_finger import fluidic_finger
from supple.robots.flying_rod import soft_flying_rod, stiff_flying_rod
from supple.robots.follower import follower_beam
from supple.robots.four_tendons import four_tendon_robot, helical_tendon_robot
from supple.robots.muscle_beam import muscle_beam
from supple.robots.rfrfr import rfrfr
from supple.robots.rfrfr_prototype import rfrfr_prototype
from supple.robots.rolled_beam import rolled_beam
from supple.robots.section_arm import section_arm
from supple.robots.single_tendon_arm import single_tendon_arm
from supple.robots.stewart import SIDEWAYS_LENGTHS, stewart_gough
from supple.robots.string_pendulum import string_pendulum
from supple.robots.swimmer import swimmer
from supple.robots.tendon_arm import tendon_arm
from supple.robots.tendon_beam import ROUTINGS, tendon_beam
from supple.robots.tendon_cpr import tendon_cpr
from supple.robots.tentacle import tentacle
from supple.robots.two_drones import two_drones
from supple.section.material import AbstractDamping
from supple.section.shape import AbstractShape
from supple.space import SpaceIntegrator
from supple.strain.basis import AbstractBasis
from supple.time.scheme import AbstractScheme
from tests.files.everything import ROBOTS, rod

CATALOGUE = {
    "soft cantilever": soft_cantilever,
    "stiff cantilever": stiff_cantilever,
    "soft flying rod": soft_flying_rod,
    "stiff flying rod": stiff_flying_rod,
    "rolled beam": lambda: rolled_beam(5.0),
    "follower beam": lambda: follower_beam(1e5),
    "string pendulum": string_pendulum,
    "hinged string": lambda: string_pendulum(hinged=True),
    "muscle beam": muscle_beam,
    "rfrfr": rfrfr,
    "rfrfr prototype": rfrfr_prototype,
    "stewart": stewart_gough,
    "moving stewart": lambda: stewart_gough(times=np.arange(10.0), lengths=SIDEWAYS_LENGTHS),
    "delta": delta,
    "tendon CPR": tendon_cpr,
    "loaded rod": loaded_rod,
    "struck rod": struck_rod,
    "finger with air": lambda: fluidic_finger("air"),
    "finger with water": lambda: fluidic_finger("water"),
    "four tendons": four_tendon_robot,
    "helical tendon": helical_tendon_robot,
    "single tendon arm": single_tendon_arm,
    "tendon arm": tendon_arm,
    "section arm": section_arm,
    "section arm in pieces": lambda: section_arm(4, True, "pcs", 0.2),
    "flexion and torsion": flexion_torsion,
    "two drones": two_drones,
    "two drones, other root": lambda: two_drones(rooted_at=2),
    "feeler arm": feeler_arm,
    "tentacle": tentacle,
    "bird neck": bird_neck,
    "longer bird neck": lambda: bird_neck(4, elastic=False, push=False),
    "swimmer": swimmer,
    **{f"{name} cable": lambda name=name: tendon_beam(name, 5.0) for name in ROUTINGS},
}
PILOTS = ["supple.robots.two_drones"]


@pytest.mark.parametrize("name", ROBOTS)
def test_every_kind(name):
    robot = ROBOTS[name]
    text = dump(robot)
    back = load(text, modules=PILOTS).robot
    assert back == robot
    assert dump(back) == text


@pytest.mark.parametrize("name", CATALOGUE)
def test_catalogue(name):
    robot = CATALOGUE[name]()
    assert load(dump(robot), modules=PILOTS).robot == robot


def test_the_whole_catalogue_is_tried():
    modules = {path.stem for path in Path(supple.robots.__file__).parent.glob("*.py")}
    modules -= {"__init__", "bird_neck_angles"}  # the last one holds equations, not a robot
    own = Path(__file__).read_text()
    assert {name for name in modules if f"from supple.robots.{name} import" not in own} == set()


def test_files_know_everything_that_python_does():
    of_users = {
        sp.AbstractLoad,
        sp.AbstractLineLoad,
        sp.AbstractJoint,
    }  # programs, not descriptions
    assert {record.make for record in ITEMS.values()} == set(get_args(Item)) - of_users

    def final(base):
        known = [sub for sub in base.__subclasses__() if sub not in of_users]
        return {c for sub in known for c in (final(sub) or {sub})}

    def written(one_of, classes, values):
        return {cls for cls in classes if any(type(v) is cls for v in values)} == set(classes)

    parts = [getattr(item, field) for r in ROBOTS.values() for item in r.items
             for field in ("section", "joint", "space", "basis") if hasattr(item, field)]  # fmt: skip
    parts += [
        p.damping for r in ROBOTS.values() for i in r.items if (p := getattr(i, "material", None))
    ]
    assert written(SECTION, final(AbstractShape), parts)
    assert written(JOINT, final(AbstractJointSpec), parts)
    assert written(SPACE, get_args(SpaceIntegrator), parts)
    assert written(BASIS, final(AbstractBasis), parts)
    assert written(DAMPING, final(AbstractDamping), parts)
    schemes = {type(record.make()) for record in SCHEME.records.values() if not record.required}
    assert schemes | {sp.GeneralizedAlpha} == final(AbstractScheme)


def test_every_field_of_every_item_is_tried():
    """The sample robots change each field from its default somewhere."""
    untouched = set()
    for section, record in ITEMS.items():
        items = [i for robot in ROBOTS.values() for i in robot.items if record.fits(i)]
        used = {name for item in items for name in record.write(item, item.name, "")}
        untouched |= {f"{section}.{name}" for name in set(record.kinds) - used}
    assert not untouched


STUDY_SETTINGS = Settings(
    {
        "simulate": Simulate(2.0, dt=0.01),
        "long": Simulate(
            10.0,
            accuracy=1e-4,
            scheme=sp.radau(2),
            t_eval=0.1,
            max_steps=100,
            initial=Initial(
                "equilibrium", {"arm": 0.1}, {"arm": (0.1, 0.2)}, {"arm": 1.0}, {"arm": (1, 2)}
            ),
        ),
        "edited": Simulate(
            1.0,
            dt=0.1,
            events=(
                sp.Event(
                    t=0.1, edit=sp.Attach("rod", "ground", sp.Revolute("y"), "held", fraction=0.5)
                ),
                sp.Event(t=0.2, edit=(sp.Release("held"), sp.Lock("rod"))),
                sp.Event(t=0.3, edit=(sp.Unlock("rod"), sp.Change("rod", length=2.0, basis=2))),
                sp.Event(
                    when=sp.Sensed("position", "rod", "z", -0.1),
                    direction="falling",
                    repeat=True,
                    edit=sp.Add(sp.Body("tool", parent="rod", mass=0.1), sp.Marker("eye")),
                ),
                sp.Event(
                    when=sp.Sensed("joint_rate", "rod", 1),
                    edit=(sp.Change("tool", mass=0.2), sp.Remove("tool", "eye")),
                ),
            ),
            max_events=7,
        ),
        "listed": Simulate(1.0, dt=0.1, t_eval=(0.0, 0.5), initial=Initial("assembled")),
        "drop": ReleaseStudy("push", 1.0, dt=0.01, scheme=sp.generalized_alpha(0.5)),
        "drop both": ReleaseStudy(("push", "pull"), 1.0, accuracy=1e-3),
        "statics": Statics(),
        "hold": Statics(t=1.0, accuracy=1e-4, first_increment=0.1),
        "modes": ModesStudy(),
        "shapes": ModesStudy(4, "equilibrium"),
        "branch": Follow(2.0, since=0.5, duration_scale=0.1, step=0.1, largest=0.3, max_points=50),
        "reach": InverseStaticsStudy("rod", ((0.1, 0.0, 0.2), (0.1, 0.0, 0.3)), ("pull",), 1e-8),
        "poles": Linearize("assembled"),
        "many": Ensemble(Statics(1.0), grid={"rod.length": (0.5, 0.75), "gravity[2]": (0.0,)}),
        "more": Ensemble(
            Simulate(1.0, dt=0.1),
            latin_hypercube=sp.LatinHypercube({"rod.length": (0.5, 2.0)}, 9, 1, ("rod.length",)),
        ),
        "fit": Identify("rod", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), (0.0, 1.0), 1e-4, 0.1),
    },
    {"tip": Output("position", "rod"), "energy": Output("energy", "total")},
)


def test_studies_and_outputs():
    loads = (sp.Wrench(name, on="rod", force=(0.0, 0.0, 1.0)) for name in ("push", "pull"))
    robot = sp.Robot(rod(basis=1), *loads)
    text = dump(robot, STUDY_SETTINGS)
    back = load(text)
    assert back.settings == STUDY_SETTINGS
    assert dump(back.robot, back.settings) == text
    assert {type(s) for s in STUDY_SETTINGS.studies.values()} | {Sweep} == {
        r.make for r in STUDIES.values()
    }


def test_edits_of_python_alone_cannot_be_written():
    robot = sp.Robot(rod(basis=1))
    for event, need in [
        (sp.Event(t=0.1, edit=lambda robot: robot), "need an edit"),
        (sp.Event(when=lambda s: s.t, edit=sp.Remove("rod")), "a function cannot"),
        (sp.Event(t=0.1, edit=sp.Change("tool", mass=1.0)), "need one of: rod"),
    ]:
        settings = Settings({"run": Simulate(1.0, events=(event,))})
        with pytest.raises(sp.DescriptionError, match=need):
            dump(robot, settings)


@pytest.mark.parametrize(
    ("edit", "place", "need"),
    [
        ("{lok: arm}", "edit", "lock? one of attach"),
        ("{lock: 3}", "edit.lock", "the name of an item"),
        ("{change: {bodies: {a: {mas: 2}}}}", "bodies.a.mas", "mass? one of"),
        ("{change: {bodies: {a: {mass: 1}, b: {mass: 1}}}}", "change", "need one item"),
        ("{add: {bodies: {a: {mass: -1}}}}", "bodies.a.mass", "> 0"),
        ("{add: {}}", "add", "need items"),
    ],
)
def test_edits_in_files_that_make_no_sense_are_told_with_their_place(edit, place, need):
    text = f"bodies: {{arm: {{mass: 1}}}}\nsimulate: {{duration: 1, events: [{{t: 0, edit: {edit}}}]}}\n"
    with pytest.raises(FileError) as told:
        load(text)
    assert need in str(told.value)
    assert place in str(told.value)


@pytest.mark.parametrize(
    "scheme",
    [
        sp.newmark(), sp.newmark(0.3, 0.6), sp.hht(0.7), sp.wbz(0.7), sp.generalized_alpha(0.3, penalty=2.0),
        sp.trapezoidal(), sp.ImplicitEuler(), sp.LinearlyImplicitEuler(), sp.gauss(3), sp.gauss(2),
        sp.radau(3), sp.Explicit("rk4"), sp.Explicit(), sp.bdf2(), sp.bdf_alpha(-0.4), sp.bdf3(),
    ],
)  # fmt: skip
def test_schemes(scheme):
    settings = Settings({"run": Simulate(1.0, dt=0.1, scheme=scheme)})
    assert load(dump(sp.Robot(rod(basis=1)), settings)).settings == settings


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("{generalized-alpha: 0.3}", sp.generalized_alpha(0.3)),
        ("{hht: {rho_inf: 0.7}}", sp.hht(0.7)),
        ("wbz", sp.wbz()),
        ("{newmark: {beta: 0.3, gamma: 0.6}}", sp.newmark(0.3, 0.6)),
        ("trapezoidal", sp.trapezoidal()),
        ("implicit-euler", sp.ImplicitEuler()),
        ("bdf2", sp.bdf2()),
        ("{bdf-alpha: -0.4}", sp.bdf_alpha(-0.4)),
        ("bdf3", sp.bdf3()),
        ("{radau: 2}", sp.radau(2)),
        ("gauss", sp.gauss()),
        ("{explicit: rk4}", sp.Explicit("rk4")),
    ],
)
def test_schemes_by_name(name, scheme):
    text = dump(sp.Robot(rod(basis=1))) + f"simulate: {{duration: 1, dt: 0.1, scheme: {name}}}\n"
    assert load(text).settings.studies["simulate"].scheme == scheme


def test_a_sweep_cannot_be_dumped_without_its_parameter():
    settings = Settings({"more": Sweep("radius", (1.0, 2.0))})
    with pytest.raises(sp.DescriptionError, match=r"studies.more: .* need .*RobotFile.text"):
        dump(sp.Robot(rod()), settings)


PLAIN_FUNCTIONS = {
    "section.radius": lambda: (rod(section=sp.Circle(lambda u: 0.01 + 0 * u)),),
    "material.E": lambda: (rod(material=sp.Material(E=lambda u: 1e7 + u, density=1.0)),),
    "rest": lambda: (rod(rest=lambda u: np.tile((0.0, 0, 0, 1, 0, 0), (len(u), 1))),),
    "joint.motion": lambda: (rod(joint=sp.Driven(lambda t: (np.zeros(3), np.zeros(3)))),),
    "tension": lambda: (rod(), sp.Tendon("x", on="rod", offset=(0, 0), tension=lambda t: 1.0 + t)),
    "offset": lambda: (
        rod(),
        sp.Tendon("x", on="rod", offset=lambda u: np.stack([u, u], 1), tension=1.0),
    ),
    "law.formula": lambda: (rod(), sp.Wrench("x", on="rod", law=sp.Function(lambda t: t))),
    "stress": lambda: (
        rod(),
        sp.ActiveStress("x", on="rod", stress=lambda X, t: np.zeros((len(X), 6))),
    ),
    "density": lambda: (
        rod(),
        sp.DistributedLoad("x", on="rod", density=lambda t, X, pose, twist: 0.0 * twist),
    ),
    "act": lambda: (rod(), sp.Controller("x", lambda t, seen, memory: ({}, memory))),
    "basis.function": lambda: (rod(basis=sp.CustomBasis(lambda u: u[:, None], 1)),),
}


@pytest.mark.parametrize("field", PLAIN_FUNCTIONS)
def test_plain_functions_are_refused_with_the_cure(field):
    items = PLAIN_FUNCTIONS[field]()
    with pytest.raises(sp.DescriptionError) as error:
        dump(sp.Robot(*items))
    assert error.value.item == items[-1].name
    assert error.value.field == field
    assert "function" in error.value.need
    assert "lambda" in str(error.value) or "<function" in str(error.value)


def test_traced_numbers_are_refused():
    import jax

    def mass(m):
        with pytest.raises(sp.DescriptionError, match=r"tool: mass: .* a plain number"):
            dump(sp.Robot(sp.Body("tool", mass=m)))
        return m

    jax.eval_shape(mass, 1.0)


def test_save_and_load(tmp_path):
    robot = soft_cantilever()
    path = save(tmp_path / "arm.yaml", robot)
    found = load(path)
    assert found.robot == robot
    assert load(str(path)).robot == robot
    assert found.source.name == str(path)
    assert found.source.position(("rods", "rod", "length")).line == 5


def test_robots_are_compared_by_value():
    here = sp.Robot(rod(position=(0.1, 0.0, 0.0)))
    assert here == sp.Robot(rod(position=np.array([0.1, 0.0, 0.0])))
    assert here == sp.Robot(rod(position=[0.1, 0, 0]))
    assert hash(here) == hash(sp.Robot(rod(position=[0.1, 0, 0])))
    assert here != sp.Robot(rod(position=(0.2, 0.0, 0.0)))
    assert here != sp.Robot(rod("other", position=(0.1, 0.0, 0.0)))
    assert here != "robot"
    first, second = (sp.Spline((0, 1, 2, 3), (1, 1, 1, last)) for last in (1.0, 2.0))
    assert sp.Robot(rod(growth=first)) != sp.Robot(rod(growth=second))


def test_controllers_only_from_what_the_caller_allows():
    ours = dump(
        two_drones()
    )  # functions of robots that we ship need no leave, others of their modules do
    assert load(ours).robot["pilot"].act is two_drones()["pilot"].act
    with pytest.raises(FileError, match="is not one"):
        load(ours.replace(":fly", ":partial").replace(":see", ":np"))
    text = ours.replace("supple.robots.two_drones:", "two_drones:")
    with pytest.raises(FileError, match="that the caller allows"):
        load(text)
    with pytest.raises(FileError, match="that the caller allows"):
        load(text, modules=["drones"])

    def see(sensors):
        return ()

    def fly(t, seen, memory):
        return {}

    given = {"fly": fly, "see": see, "errors": fly}
    names = {f"two_drones:{name}": function for name, function in given.items()}
    pilot = load(text, functions=names).robot["pilot"]
    assert pilot.act is fly
    with pytest.raises(FileError, match="can be imported"):
        load(ours.replace(":fly", ":crash"), modules=PILOTS)
