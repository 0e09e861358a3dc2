"""Step control: a fixed grid with substeps where the solver needs them, or a requested accuracy.

Both are pytrees of numbers, so that one compiled run serves every step and every accuracy.
"""

import equinox as eqx

from supple.errors import ArgumentError


class FixedStep(eqx.Module):
    """Steps of ``dt`` seconds; one that does not converge is split, down to ``smallest`` of it.

    So is one of a scheme that damps, if a passive robot has more than (1 + ``gain``) times the energy
    after it that it started with, counted from the lowest potential energy seen, until steps follow its
    motion or are ``smallest_for_energy`` of it.
    """

    dt: float
    smallest: float = 2.0**-18
    gain: float = 0.04
    smallest_for_energy: float = 2.0**-18

    def __check_init__(self) -> None:
        if not self.dt > 0:
            raise ArgumentError(f"dt: got {self.dt!r}; need a positive number of seconds")


class ErrorControl(eqx.Module):
    """Steps chosen so that displacement errors stay within ``accuracy`` times the robot's size.

    The budget is spread over the run's steps, whose errors add up like a random walk.
    ``largest`` (s) bounds the step, ``smallest`` is the fraction of the run at which it gives up.
    """

    accuracy: float = 1e-3
    largest: float = float("inf")
    smallest: float = 1e-9
    safety: float = 0.85

    def __check_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            raise ArgumentError(f"accuracy: got {self.accuracy!r}; need a number between 0 and 1")


StepControl = FixedStep | ErrorControl
