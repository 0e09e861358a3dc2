"""Robots whose rods are as fine as an accuracy needs: found once, by numbers, and kept from there on."""

from typing import Any

from supple.errors import ArgumentError
from supple.robot.items import Rod
from supple.robot.resolution import with_own_nodes
from supple.robot.robot import DEFAULT_ACCURACY, Robot
from supple.run.simulate import simulate
from supple.run.statics import equilibrium


def refine(
    robot: Robot,
    accuracy: float = DEFAULT_ACCURACY,
    *,
    duration: float | None = None,
    initial: Any = None,
    t: float = 0.0,
) -> Robot:
    """The robot with its rods as fine as ``accuracy`` (displacement error over its size) needs.

    Strains, modes, pieces and nodes that rods leave to us are chosen and refined as :func:`equilibrium` does
    at time ``t``, or, with a ``duration`` (s), as :func:`simulate` does on a run of that length; ``initial``
    is as there. What is returned names them, so that nothing is left to choose where it is traced, in a batch
    or in a rollout; :meth:`Robot.resolved_as` gives them to robots with other numbers.
    Raises :class:`SolveError` where no equilibrium or no run is found; where refinement ends before the
    accuracy is met, a warning tells.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(
            f"refine: got a {type(robot).__name__}; need a Robot, whose rods can change"
        )
    if duration is None:
        found: Any = equilibrium(robot, initial=initial, t=t, accuracy=accuracy).description
    else:
        found = simulate(robot, duration, accuracy=accuracy, initial=initial).description
    chosen = (robot if found is None else found).resolved(accuracy)
    rods = [with_own_nodes(item) for item in chosen.items if isinstance(item, Rod)]
    return chosen.replacing(*rods)
