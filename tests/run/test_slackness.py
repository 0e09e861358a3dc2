"""Tendons driven by length that share their forces: those that would push are let go, whatever the path."""

import numpy as np

import supple as sp

NITINOL = sp.Material(E=60e9, nu=0.3, density=6450)
BENT = {"in": (0.004, -0.0025, -0.0025), "out": (0.001, 0.002, -0.0035)}
"""Pulls (m) of two antagonistic sets of three, which together let out more than they pull."""


def arm(basis: int) -> sp.Robot:
    """Two sections with three tendons each; those of the outer section pass through the inner one."""
    inner = sp.Rod("inner", 0.2, sp.Circle(1e-3), NITINOL, basis=basis, rotation=sp.along("z"))
    outer = sp.Rod("outer", 0.2, sp.Circle(7e-4), NITINOL, basis=basis, parent="inner")
    tool = sp.Body("tool", 0.02, (2e-6, 4e-6, 4e-6), parent="outer", com=(0.02, 0.0, 0.0))
    tendons = []
    for k in range(3):
        for name, on, turn in (("in", "inner", 0.0), ("out", ("inner", "outer"), np.pi / 3)):
            angle = 2 * np.pi * k / 3 + turn
            offset = (0.01 * np.cos(angle), 0.01 * np.sin(angle))
            pull = BENT[name][k]
            tendons.append(sp.Tendon(f"{name} {k}", on=on, offset=offset, pull=pull, discs=5))
    return sp.Robot(inner, outer, tool, *tendons)


def test_antagonistic_tendons_go_slack_instead_of_pushing():
    held = sp.equilibrium(arm(4))
    assert held.ok
    names = [f"{name} {k}" for name in BENT for k in range(3)]
    tendons = {name: held.tendon(name) for name in names}
    free = {f"{name} {k}": BENT[name][k] for name in BENT for k in range(3)}
    natural = {name: 0.2 if name.startswith("in") else 0.4 for name in names}
    slack = 0
    for name, tendon in tendons.items():
        assert tendon.tension > -1e-6
        # Its path is as long as it is, or shorter where it is slack.
        spare = natural[name] - free[name] - tendon.length
        assert spare > -1e-8
        assert tendon.tension < 1e-6 or abs(spare) < 1e-8
        slack += tendon.tension < 1e-6
    assert slack == 3
