"""The generator of random robots: the same for the same seed, and everything that robots are made of."""

from typing import get_args

from supple.bench.random_robots import CLASSES, STRUCTURES, class_of, random_robot
from supple.robot.controller import ContinuousController
from supple.robot.custom import AbstractLineLoad, AbstractLoad
from supple.robot.items import Rod
from supple.robot.joint import AbstractJointSpec
from supple.robot.robot import Item
from supple.strain import ROD_MODELS

OWN = {AbstractLoad, AbstractLineLoad, ContinuousController}
"""Items that users write themselves."""


def test_every_kind_of_item_joint_and_rod_is_drawn():
    robots = [random_robot(seed) for seed in range(STRUCTURES)]
    assert STRUCTURES >= 60
    items = [item for robot in robots for item in robot.items]
    assert {type(item) for item in items} >= set(get_args(Item)) - OWN
    joints = {type(getattr(item, "joint", None)) for item in items}
    assert sum(issubclass(joint, AbstractJointSpec) for joint in joints) == 10
    assert {item.strains for item in items if isinstance(item, Rod)} == set(ROD_MODELS)
    assert {class_of(seed) for seed in range(STRUCTURES)} == set(CLASSES)


def test_a_seed_is_a_robot_and_a_structure_many():
    one, same, other = (random_robot(seed) for seed in (3, 3, 3 + STRUCTURES))
    assert one == same
    assert one != other
    assert [item.name for item in one.items] == [item.name for item in other.items]
