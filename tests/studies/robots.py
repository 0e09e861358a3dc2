"""A robot for studies, and what is computed of it; in a module, so that other processes find it."""

import os
import time

import supple as sp


def arm(gravity=(0.0, -9.81, 0.0)) -> sp.Robot:
    return sp.Robot(
        sp.Rod(
            "arm",
            length=0.4,
            section=sp.Circle(3e-3),
            material=sp.Material(E=2e9, density=1100.0, damping=sp.StiffnessDamping(0.01)),
            strains="planar",
            basis=2,
        ),
        sp.Tendon("left", on="arm", offset=(0.01, 0.0), tension=sp.Input("pull", 0.0)),
        sp.Wrench("push", on="arm", force=(0.0, -0.2, 0.0)),
        gravity=gravity,
    )


def product(robot: sp.Robot) -> float:
    """Nothing to speak of, slowly; who computed it is written down where LOG says."""
    rod = robot["arm"]
    if "LOG" in os.environ:
        with open(os.environ["LOG"], "a") as log:
            log.write(f"{rod.length} {os.getpid()}\n")
    time.sleep(float(os.environ.get("NAP", "0")))
    if rod.length > 9.0:
        raise ValueError("too long")
    return rod.length * rod.material.E
