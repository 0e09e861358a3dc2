"""Equilibria of many robots of one structure: one compiled program that goes through them.

The program describes and builds the robot of a row of numbers and solves it, so that Python does no more for
a member than to check its description. What does not converge there, or may be unstable, is computed again by
:func:`supple.equilibrium`, which knows what to do then; so are all members where there is no such program.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from supple.compile import jit
from supple.errors import SuppleError
from supple.hints import collected
from supple.mechanics.element_motion import Coordinates, neutral
from supple.model.model import Model
from supple.numeric import is_traced
from supple.robot.formulations import DEFAULT
from supple.robot.items import Rod
from supple.robot.resolution import open_rods
from supple.robot.robot import Robot
from supple.run.inverted_rods import stretches
from supple.run.stability import rest_matrix, unstable_motion
from supple.run.statics import equilibrium
from supple.run.traced import at_rest, resting
from supple.solve.equilibrium import (
    EquilibriumSolution,
    EquilibriumStatus,
)
from supple.studies.member import Job, Member, Row, computed
from supple.studies.readings import Reading, readings
from supple.system.dense import DenseFactors
from supple.system.strain import Strain

CHUNK = 64
"""Members that one call of the program goes through."""
OPTIONS = {"t", "first_increment", "settle", "throw"}
"""Options of an equilibrium that the program knows."""


class NoProgramError(Exception):
    """There is no one program for the members of a study."""


def _matrix(model: Model, found: EquilibriumSolution, t: Any) -> Any:
    """The matrix that tells whether an equilibrium is stable; None where that is not asked."""
    if not isinstance(found.factors, DenseFactors) or model.regulators:
        return None
    still, zero = Strain(model).frozen_at(t), jnp.zeros(model.nv)
    c = Coordinates(found.q, zero, zero, zero, t, found.multipliers)
    return rest_matrix(still.tangent(c, still.balance(c)))


class Equilibria:
    """The program for the equilibria of a job's members."""

    def __init__(self, job: Job, first: Mapping[str, float]) -> None:
        """Raises :class:`NoProgramError` where there is none; ``first`` are parameters that can be used."""
        self.job, self.names = job, tuple(first)
        self.options = options_of(job.compute)
        self.like: dict[str, Reading] = {}
        _check(job.describe(first))
        program = jit(lambda rows: jax.lax.map(self._solved, rows))
        try:
            with collected():
                self._program = program.lower(np.zeros((CHUNK, len(first)))).compile()
        except Exception as error:  # whatever functions of users do with what is traced
            raise NoProgramError(str(error)) from error

    def _solved(self, row: Any) -> dict[str, Any]:
        """The equilibrium of one row of parameters."""
        robot = self.job.describe(dict(zip(self.names, row, strict=True)))
        _check(robot)
        model, options = robot.build(), self.options
        if model.slips:
            raise NoProgramError("contacts without slip, which are told in each message")
        now = jnp.asarray(float(options.get("t", 0.0)))
        increment = options.get("first_increment", 1.0)
        found = resting(model, jnp.asarray(neutral(model)), now, increment)
        told = readings(at_rest(model, found, now), self.job.outputs)
        self.like = {name: own._replace(values=None) for name, own in told.items()}
        least = [jnp.min(stretch) for _, stretch in stretches(model, found.q)]
        return {
            "status": found.status,
            "matrix": _matrix(model, found, now) if options.get("settle", True) else None,
            "scale": jnp.asarray(model.scale),
            "stretch": jnp.min(jnp.stack([jnp.ones(()), *least])),
            "readings": {name: jnp.asarray(own.values) for name, own in told.items()},
        }

    def chunk(self, rows: Sequence[Row]) -> list[Member]:
        """Members, at most ``CHUNK`` of them."""
        numbers = np.array([list(sample.values()) for _, sample in rows])
        padded = np.concatenate([numbers, np.repeat(numbers[-1:], CHUNK - len(rows), axis=0)])
        found = jax.tree.map(np.asarray, self._program(padded))
        leaves, structure = jax.tree.flatten(found)
        each = (
            jax.tree.unflatten(structure, [leaf[i] for leaf in leaves]) for i in range(len(rows))
        )
        return [self._member(row, own) for row, own in zip(rows, each, strict=True)]

    def _member(self, row: Row, found: Mapping[str, Any]) -> Member:
        """A member from what the program found, or from the function that does more."""
        status = EquilibriumStatus(int(found["status"]))
        known, matrix = status == EquilibriumStatus.CONVERGED, found["matrix"]
        if matrix is not None and known:
            known = unstable_motion(found["scale"], matrix) is None
        if not known or found["stretch"] <= 0:
            return computed(self.job, row)
        try:
            _check(self.job.describe(row[1]))
        except SuppleError:
            return computed(self.job, row)
        told = {n: own._replace(values=found["readings"][n]) for n, own in self.like.items()}
        return Member(row[0], status.name, True, status.message, told)


def options_of(compute: Any) -> dict[str, Any]:
    """The options of :func:`supple.equilibrium` that a member is computed with; raises for others."""
    options = dict(compute.keywords) if isinstance(compute, partial) and not compute.args else {}
    function = compute.func if isinstance(compute, partial) else compute
    plain = getattr(function, "__wrapped__", function) is getattr(
        equilibrium, "__wrapped__", equilibrium
    )
    if not plain or not options.keys() <= OPTIONS:
        raise NoProgramError("it is not equilibria that are computed, or with other options")
    return options


def _check(robot: Robot) -> None:
    """Raise where the choices that depend on numbers could differ from member to member."""
    if robot.formulation != DEFAULT or open_rods(robot):
        raise NoProgramError("rods whose modes follow from the accuracy, or another formulation")
    for item in robot.items:
        if isinstance(item, Rod) and item.nodes is None and is_traced((item.rest, item.length)):
            bent = callable(item.rest) or is_traced(item.rest) or np.any(np.asarray(item.rest)[:3])
            if bent:  # the number of nodes follows from how far it is coiled
                raise NoProgramError("rods that are bent at rest and of several lengths")


_programs: dict[str, Equilibria | None] = {}
_lock = Lock()


def members(job: Job, rows: Sequence[Row]) -> list[Member]:
    """Members of a study, by the program if there is one."""
    program = program_of(job)
    if program is None:
        return [computed(job, row) for row in rows]
    return program.chunk(rows)


def program_of(job: Job) -> Equilibria | None:
    """The program of a job, which a process makes once; None where there is none."""
    if job.first is None:
        return None
    with _lock:
        if job.token not in _programs:
            _programs.clear()  # of other studies
            try:
                _programs[job.token] = Equilibria(job, job.first)
            except NoProgramError:
                _programs[job.token] = None
        return _programs[job.token]
