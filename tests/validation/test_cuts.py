"""Where loops are cut, and whether a platform is carried or floats, does not matter as steps become small.

``pytest -m slow -s tests/validation/test_cuts.py`` prints the differences.
"""

import numpy as np
import pytest

import supple as sp
from tests.robot.test_spanning_tree import drawn

DURATION = 2.0
STEPS = (0.01, 0.005, 0.0025)
# Where the same scheme is solved in other coordinates of the same motion, only Newton's rest is left.
SAME = 1e-8  # m
STEEL = sp.Material(E=2e11, density=7800.0, damping=sp.StiffnessDamping(1e-3))


def twisted_plate(carried):
    """A heavy plate on two bent legs, pushed aside: it sways and turns about all axes."""
    legs = [sp.Rod(f"leg {i}", length=0.4, section=sp.Circle(1e-3), basis=2, position=(x, 0, 0),
                   rotation=sp.along("z"), material=STEEL) for i, x in enumerate((-0.1, 0.1))]  # fmt: skip
    push = sp.Wrench("push", on="plate", force=(0.3, 0.5, 0.0), moment=(0.0, 0.0, 0.03),
                     law=sp.Expression("where(t < 0.5, sin(2*pi*t)**2, 0)", "t"))  # fmt: skip
    body = {"mass": 0.1, "inertia": (1e-4, 3e-4, 2e-4), "com": (0.0, 0.02, 0.01)}
    placed = {"parent": None} if carried else {"joint": sp.Free(), "position": (0, 0, 0.4)}
    plate = sp.Body("plate", **body, **placed)
    joins = [sp.Connection(f"clamp {i}", on=f"leg {i}", to="plate", to_position=(x, 0, 0),
                        to_rotation=sp.along("z")) for i, x in enumerate((-0.1, 0.1))]  # fmt: skip
    return sp.Robot(*legs, plate, *joins, push)


PAIRS = {
    "RFRFR, cut at the tip or at both ends of a rod": (drawn(), drawn(right=True), "left"),
    "plate on two legs, carried or floating": (twisted_plate(True), twisted_plate(False), "plate"),
}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [sp.generalized_alpha(0.8), sp.radau(2)], ids=["alpha", "radau"])
@pytest.mark.parametrize("pair", PAIRS)
def test_cuts_converge_to_each_other_at_the_order_of_the_scheme(pair, scheme):
    *robots, frame = PAIRS[pair]
    starts = [sp.assemble(robot) if frame == "left" else None for robot in robots]
    differences = []
    for dt in STEPS:
        one, other = (
            sp.simulate(robot, DURATION, dt=dt, scheme=scheme, initial=start).position(frame)
            for robot, start in zip(robots, starts, strict=True)
        )
        differences.append(np.abs(one - other).max())
    orders = np.log2(np.divide(differences[:-1], differences[1:]))
    print(
        f"\n{pair}, {scheme}: moved {np.ptp(one, axis=0).max():.3g} m, differences",
        differences,
        orders,
    )
    assert np.ptp(one, axis=0).max() > 0.01
    assert all(
        order > scheme.order - 0.5 or smaller < SAME
        for order, smaller in zip(orders, differences[1:], strict=True)
    )
