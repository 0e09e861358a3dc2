"""Malformed robot files, each with the lines that its error must contain."""

GOOD = """\
robot: arm
gravity: [0, 0, -9.81]
parameters: {radius: 0.002}
materials:
  steel: {E: 2e11, density: 7800}
rods:
  backbone:
    length: 0.24
    section: {circle: {radius: $radius}}
    material: steel
    basis: 6
bodies:
  tool: {parent: backbone, mass: 0.05}
tendons:
  left: {on: backbone, offset: [0.0095, 0], tension: "5*min(t, 1)"}
simulate: {duration: 2.0, dt: 0.0167}
"""


def changed(old: str, new: str) -> str:
    """The good file with one change."""
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


RENAMED = {
    "at of an item": (
        changed("{parent: backbone, mass", "{parent: backbone, at: 0.5, mass"),
        ("bodies.tool.at:", "got the unknown name 'at'", "need fraction?"),
    ),
    "output of a run": (
        changed("dt: 0.0167}", "dt: 0.0167, output: 0.1}"),
        ("simulate.output:", "got the unknown name 'output'", "need t_eval?"),
    ),
    "start of a run": (
        changed("dt: 0.0167}", "dt: 0.0167, start: equilibrium}"),
        ("simulate.start:", "need initial?"),
    ),
    "rho of a scheme": (
        changed("dt: 0.0167}", "dt: 0.0167, scheme: {hht: {rho: 0.8}}}"),
        ("scheme.hht.rho:", "need rho_inf?"),
    ),
    **{
        f"section {old}": (
            GOOD + f"{old}: {{}}\n",
            (f"text:17:{len(old) + 3}: {old}:", f"need {new}?"),
        )
        for old, new in {
            "rolling": "rolling_contacts",
            "sliding": "plane_frictions",
            "stresses": "active_stresses",
            "distributed": "distributed_loads",
            "prescribed": "prescribed_coordinates",
        }.items()
    },
}
"""Names of before 1.0, which are answered with those of now."""

CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    **RENAMED,
    # name: (text, what the message says)
    "not yaml": ("robot: arm\nrods: [1\n", ("text:3:1:", "need YAML")),
    "colon in a value": ("robot: a: b\n", ("text:1:9:", "need YAML")),
    "tab": ("robot: arm\nrods:\n\ta: 1\n", ("text:3:1:", "need YAML")),
    "a list": ("- robot\n- rods\n", ("text:1:1:", "got ['robot', 'rods']", "need a mapping")),
    "nothing": ("\n", ("text:1:1:", "got None", "need a mapping")),
    "two documents": (
        GOOD + "---\nrobot: b\n",
        ("text:17:1:", "a second document", "one robot a file"),
    ),
    "tag": (
        changed("length: 0.24", "length: !!python/object:os.system 0.24"),
        ("text:8:13: rods.backbone.length:", "the tag", "python/object", "without tags"),
    ),
    "repeated name": (
        changed("    basis: 6\n", "    basis: 6\n    basis: 7\n"),
        ("text:12:5: rods.backbone.basis:", "a second time", "only once"),
    ),
    "merge key": (
        changed("{E: 2e11,", "{<<: 1, E: 2e11,"),
        ("text:5:11:", "the merge key", "alias"),
    ),
    "unknown alias": (
        changed("material: steel", "material: *steel"),
        ("text:10:15: rods.backbone.material:", "got *steel", "none is defined"),
    ),
    "unknown section": (
        changed("tendons:", "tendon:"),
        ("text:15:3: tendon:", "the unknown name 'tendon'", "need tendons? one of: robot, gravity"),
    ),
    "unknown field": (
        changed("offset: [0.0095, 0]", "ofset: [0.0095, 0]"),
        (
            "text:15:31: tendons.left.ofset:",
            "unknown name 'ofset'",
            "need offset? one of: on, offset",
        ),
    ),
    "missing field": (
        changed("    length: 0.24\n", ""),
        ("text:8:5: rods.backbone.length:", "got nothing", "need a number, the length (m)"),
    ),
    "empty field": (
        changed("length: 0.24", "length:"),
        ("text:8:12: rods.backbone.length:", "got nothing", "need a number, the length (m)"),
    ),
    "text for a number": (
        changed("length: 0.24", "length: long"),
        (
            "text:8:13: rods.backbone.length:",
            "got 'long'",
            "need a number, the length (m)",
            "one of: pi",
        ),
    ),
    "truth for a number": (
        changed("length: 0.24", "length: true"),
        ("text:8:13: rods.backbone.length:", "got True", "need a number, the length (m)"),
    ),
    "negative length": (
        changed("length: 0.24", "length: -0.24"),
        ("text:8:13: rods.backbone.length:", "got -0.24", "need a finite number > 0"),
    ),
    "infinite length": (
        changed("length: 0.24", "length: .inf"),
        ("text:8:13: rods.backbone.length:", "got inf", "finite and at most 1e+30"),
    ),
    "power of powers": (
        changed("length: 0.24", "length: 9**9**9"),
        ("text:8:13: rods.backbone.length:", "got inf", "finite"),
    ),
    "unknown section of a rod": (
        changed("{circle: {radius: $radius}}", "{circel: 0.01}"),
        (
            "text:9:14: rods.backbone.section:",
            "got {'circel': 0.01}",
            "circle? one of circle, tube",
        ),
    ),
    "two sections at once": (
        changed("{circle: {radius: $radius}}", "{circle: 0.01, tube: 0.01}"),
        ("text:9:14: rods.backbone.section:", "need a section", "as in {circle: …}"),
    ),
    "section without its field": (
        changed("{circle: {radius: $radius}}", "circle"),
        ("text:9:14: rods.backbone.section:", "got 'circle'", "need {circle: {radius: …}}"),
    ),
    "negative radius": (
        changed("radius: $radius", "radius: -$radius"),
        (
            "text:9:32: rods.backbone.section.circle.radius:",
            "got -0.002",
            "need a finite number > 0",
        ),
    ),
    "negative radius, short": (
        changed("{circle: {radius: $radius}}", "{circle: -1}"),
        ("text:9:23: rods.backbone.section.circle:", "got -1.0", "need a finite number > 0"),
    ),
    "unknown parameter": (
        changed("$radius", "2*$raduis"),
        ("text:9:34: rods.backbone.section.circle.radius:", "got '$raduis'", "one of: $radius"),
    ),
    "unknown material": (
        changed("material: steel", "material: steal"),
        ("text:10:15: rods.backbone.material:", "got 'steal'", "one of: steel"),
    ),
    "bad material": (
        changed("density: 7800", "density: 0"),
        ("text:5:29: materials.steel.density:", "got 0.0", "need a finite number > 0"),
    ),
    "half a mode": (
        changed("basis: 6", "basis: 1.5"),
        ("text:11:12: rods.backbone.basis:", "got 1.5", "need a number of modes from 1 to 1000"),
    ),
    "too many modes": (
        changed("basis: 6", "basis: 1000000000"),
        ("text:11:12: rods.backbone.basis:", "need a number of modes from 1 to 1000"),
    ),
    "basis of an unknown strain": (
        changed("basis: 6", "basis: {kx: 1, kq: 2}"),
        ("text:11:12: rods.backbone.basis:", "'kq'", "a basis, or one for each strain"),
    ),
    "missing basis": (
        changed("basis: 6", "basis: {kx: 1}"),
        ("text:11:12: rods.backbone.basis:", "got ('kx',)", "need one basis for each"),
    ),
    "unknown strains": (
        changed("basis: 6", "strains: kirchoff"),
        ("text:11:14: rods.backbone.strains:", "got 'kirchoff'", "kirchhoff"),
    ),
    "formula that ends": (
        changed('"5*min(t, 1)"', '"5*min(t, 1"'),
        ("text:15:65: tendons.left.tension:", "got '5*min(t, 1'", "a comma or )"),
    ),
    "unknown name in a formula": (
        changed('"5*min(t, 1)"', '"5*min(time, 1)"'),
        ("text:15:61: tendons.left.tension:", "got 'time'", "the tension (N)", "one of: t, pi"),
    ),
    "Python in a formula": (
        changed('"5*min(t, 1)"', "__import__(os)"),
        ("text:15:54: tendons.left.tension:", "got '__import__'", "one of the functions sin"),
    ),
    "formula of the wrong size": (
        changed("[0.0095, 0]", '"[0.01*u, 0, 0]"'),
        ("text:15:32: tendons.left.offset:", "got '[0.01*u, 0, 0]'", "not 3 entries"),
    ),
    "formula inside a vector": (
        changed("[0.0095, 0]", "[0.01*(1 - u), 0]"),
        ("text:15:43: tendons.left.offset[0]:", "one formula", '"[0.01*(1 - u), 0]"'),
    ),
    "offset of three": (
        changed("[0.0095, 0]", "[0.0095, 0, 0]"),
        ("text:15:32: tendons.left.offset:", "got [0.0095, 0, 0]", "need (y, z) in meters"),
    ),
    "negative tension": (
        changed('"5*min(t, 1)"', "-5"),
        ("text:15:54: tendons.left.tension:", "got -5.0", "push=True"),
    ),
    "two drives": (
        changed("tension:", "pull: 0.1, tension:"),
        (
            "text:15:65: tendons.left.tension:",
            "got ['tension', 'pull']",
            "need a tension, or a pull",
        ),
    ),
    "unknown law": (
        changed('"5*min(t, 1)"', "{step: 1}"),
        ("text:15:54: tendons.left.tension:", "got {'step': 1}", "one of table, spline, ramp"),
    ),
    "table that goes back": (
        changed('"5*min(t, 1)"', "{table: {times: [0, 2, 1], values: [0, 1, 2]}}"),
        ("text:15:70: tendons.left.tension.table.times:", "need increasing times"),
    ),
    "tendon on nothing": (
        changed("on: backbone", "on: backbon"),
        ("text:15:14: tendons.left.on:", "got 'backbon'", "need one of: backbone, tool, ground"),
    ),
    "parent that is its own child": (
        changed("    basis: 6\n", "    basis: 6\n    parent: tool\n"),
        ("text:12:13: rods.backbone.parent:", "backbone -> tool -> backbone", "lead to the ground"),
    ),
    "one name twice": (
        changed("  left:", "  tool:"),
        ("text:15:9: tendons.tool:", "got 'tool' in bodies too", "used only once"),
    ),
    "unknown joint": (
        changed("mass: 0.05", "mass: 0.05, joint: hinge"),
        ("text:13:47: bodies.tool.joint:", "got 'hinge'", "one of fixed, revolute"),
    ),
    "unknown axis": (
        changed("mass: 0.05", "mass: 0.05, joint: {revolute: w}"),
        ("text:13:58: bodies.tool.joint.revolute:", "got 'w'", "one of: x, y, z"),
    ),
    "impossible inertia": (
        changed("mass: 0.05", "mass: 0.05, inertia: [1, 1, 5]"),
        ("text:13:49: bodies.tool.inertia:", "got (1.0, 1.0, 5.0)", "triangle inequality"),
    ),
    "gravity of two": (
        changed("[0, 0, -9.81]", "[0, -9.81]"),
        ("text:2:10: gravity:", "got [0, -9.81]", "three numbers"),
    ),
    "study without duration": (
        changed("duration: 2.0, ", ""),
        ("text:16:11: simulate.duration:", "got nothing", "need a number, s"),
    ),
    "unknown scheme": (
        changed("dt: 0.0167", "dt: 0.0167, scheme: rk4"),
        ("text:16:47: simulate.scheme:", "got 'rk4'", "one of generalized-alpha"),
    ),
    "sweep of nothing": (
        GOOD + "sweep: {parameter: lenght, values: [1, 2]}\n",
        ("text:17:8: sweep:", "got 'lenght'", "one of the file's parameters: radius"),
    ),
    "function not allowed": (
        GOOD + "controllers:\n  pilot: {act: 'os:system'}\n",
        ("text:18:16: controllers.pilot.act:", "got 'os:system'", "that the caller allows"),
    ),
    "unknown output": (
        GOOD + "outputs: {tip: {place: tool}}\n",
        ("text:17:16: outputs.tip:", "got {'place': 'tool'}", "{position: tool}"),
    ),
    "no such urdf": (
        GOOD + "urdf: missing.urdf\n",
        ("text:17:7: urdf:", "got 'missing.urdf'", "path"),
    ),
    "bad parameter": (
        changed("{radius: 0.002}", "{radius: 0.002, 2r: 1}"),
        ("text:3:33: parameters.2r:", "got '2r'", "letters, digits"),
    ),
    "parameter of a later one": (
        changed("{radius: 0.002}", "{radius: $b, b: 1}"),
        ("text:3:22: parameters.radius:", "got '$b'", "there are none"),
    ),
    "unknown item in order": (
        GOOD + "order: [tool, arm]\n",
        ("text:17:15: order[1]:", "got 'arm'", "need one of: backbone, tool, left"),
    ),
    "no rod, no body": (
        "robot: arm\nmarkers: {a: {}}\n",
        ("text:1:1:", "at least one rod or body"),
    ),
    "item is no mapping": (
        changed("{parent: backbone, mass: 0.05}", "heavy"),
        ("text:13:9: bodies.tool:", "got 'heavy'", "a mapping with names among: mass, inertia"),
    ),
    "section is no mapping": (
        "robot: arm\nrods: [1, 2]\n",
        ("text:2:7: rods:", "got [1, 2]", "a mapping from names"),
    ),
}
