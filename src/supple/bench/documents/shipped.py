"""The shipped robots whose descriptions the inventory reads, by name."""

from collections.abc import Callable

from supple.bench.strong import benchmark_rod
from supple.robot.robot import Robot
from supple.robots.bird_neck import bird_neck
from supple.robots.cantilever import soft_cantilever, stiff_cantilever
from supple.robots.clamped_rod import loaded_rod, struck_rod
from supple.robots.flexion_torsion import flexion_torsion
from supple.robots.fluidic_finger import fluidic_finger
from supple.robots.flying_rod import soft_flying_rod, stiff_flying_rod
from supple.robots.follower import follower_beam
from supple.robots.four_tendons import four_tendon_robot
from supple.robots.muscle_beam import muscle_beam
from supple.robots.rfrfr import rfrfr
from supple.robots.rfrfr_prototype import rfrfr_prototype
from supple.robots.rolled_beam import PRINTED_RADIUS, rolled_beam
from supple.robots.single_tendon_arm import single_tendon_arm
from supple.robots.stewart import stewart_gough
from supple.robots.string_pendulum import string_pendulum
from supple.robots.swimmer import swimmer
from supple.robots.tendon_beam import tendon_beam
from supple.robots.tendon_cpr import tendon_cpr
from supple.robots.two_drones import two_drones

ROBOTS: dict[str, Callable[[], Robot]] = {
    "soft_cantilever": soft_cantilever,
    "stiff_cantilever": stiff_cantilever,
    "stiff_cantilever_as_printed": lambda: stiff_cantilever(as_printed=True),
    "soft_flying_rod": soft_flying_rod,
    "stiff_flying_rod": stiff_flying_rod,
    "two_drones": two_drones,
    "swimmer": swimmer,
    "tendon_cpr": tendon_cpr,
    "rfrfr_prototype": rfrfr_prototype,
    "rfrfr": rfrfr,
    "rolled_beam": lambda: rolled_beam(5.0, radius=PRINTED_RADIUS),
    "released_beam": lambda: rolled_beam(5.4),
    "follower_beam": lambda: follower_beam(1.3e5),
    "flexion_torsion": flexion_torsion,
    "tendon_beam": lambda: tendon_beam("parallel", 5.0),
    "string_pendulum": string_pendulum,
    "muscle_beam": muscle_beam,
    "damping_rod": lambda: benchmark_rod("cosserat"),
    "loaded_rod": loaded_rod,
    "struck_rod": struck_rod,
    "stewart_gough": stewart_gough,
    "four_tendons": four_tendon_robot,
    "single_tendon_arm": single_tendon_arm,
    "fluidic_finger": fluidic_finger,
    "bird_neck_3": lambda: bird_neck(3),
    "bird_neck_4": lambda: bird_neck(4),
}
