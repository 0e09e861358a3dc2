"""Supple: simulate, analyze and optimize robots of rigid bodies and slender elastic rods."""

import importlib as _importlib
import os
from importlib.metadata import version as _version
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small solves; threads would only stall them

from supple.compile import use_persistent_cache
from supple.configuration import Configuration as Configuration, configure as configure

configure(precision="float64")
use_persistent_cache()

from supple import plot as plot
from supple.errors import (
    ArgumentError as ArgumentError,
    DescriptionError as DescriptionError,
    SolveError as SolveError,
    StoreError as StoreError,
    SuppleError as SuppleError,
)
from supple.expression import Expression as Expression
from supple.fleet.batch import batch as batch
from supple.hints import Hint as Hint
from supple.lie import Pose as Pose
from supple.mechanics.classical import (
    EquationsOfMotion as EquationsOfMotion,
    equations_of_motion as equations_of_motion,
)
from supple.mechanics.frames import FrameMotion as FrameMotion, frame_motion as frame_motion
from supple.mechanics.sensing import Sensors as Sensors
from supple.model.friction import (
    AbstractFriction as AbstractFriction,
    ArctanFriction as ArctanFriction,
    DryFriction as DryFriction,
)
from supple.model.laws import (
    AbstractEffortLaw as AbstractEffortLaw,
    Constant as Constant,
    Function as Function,
    Input as Input,
    Spline as Spline,
    Table as Table,
    ramp as ramp,
    smooth as smooth,
    triangle as triangle,
)
from supple.model.model import Model as Model
from supple.model.state import State as State
from supple.results.result import Result as Result, Stats as Stats
from supple.results.stretch import Stretch as Stretch
from supple.robot.actuators import (
    Chamber as Chamber,
    Motor as Motor,
    Spring as Spring,
    Tendon as Tendon,
)
from supple.robot.controller import (
    ContinuousController as ContinuousController,
    Controller as Controller,
)
from supple.robot.custom import (
    AbstractJoint as AbstractJoint,
    AbstractLineLoad as AbstractLineLoad,
    AbstractLoad as AbstractLoad,
)
from supple.robot.edits import (
    Add as Add,
    Attach as Attach,
    Change as Change,
    Lock as Lock,
    Release as Release,
    Remove as Remove,
    Unlock as Unlock,
)
from supple.robot.formulas import (
    FormulaFriction as FormulaFriction,
    LoadDensity as LoadDensity,
    Motion as Motion,
)
from supple.robot.items import (
    Body as Body,
    Closure as Closure,
    Connection as Connection,
    KnifeEdge as KnifeEdge,
    Marker as Marker,
    PrescribedCoordinate as PrescribedCoordinate,
    Rod as Rod,
    RollingContact as RollingContact,
)
from supple.robot.joint import (
    Cylindrical as Cylindrical,
    Driven as Driven,
    Fixed as Fixed,
    Free as Free,
    Helical as Helical,
    Planar as Planar,
    Prismatic as Prismatic,
    Revolute as Revolute,
    Spherical as Spherical,
    Universal as Universal,
    XJoint as XJoint,
)
from supple.robot.loads import (
    ActiveStress as ActiveStress,
    Buoyancy as Buoyancy,
    DistributedLoad as DistributedLoad,
    Drag as Drag,
    PlaneFriction as PlaneFriction,
    Swimming as Swimming,
    Wrench as Wrench,
)
from supple.robot.looks import (
    Box as Box,
    Cylinder as Cylinder,
    Mesh as Mesh,
    Sphere as Sphere,
)
from supple.robot.placement import along as along
from supple.robot.robot import Robot as Robot
from supple.run.branch import (
    Branch as Branch,
    BranchStatus as BranchStatus,
    SpecialPoint as SpecialPoint,
)
from supple.run.continuation import follow as follow
from supple.run.equilibrium import Equilibrium as Equilibrium
from supple.run.events import Event as Event, Sensed as Sensed
from supple.run.inverse_statics import (
    InverseStatics as InverseStatics,
    InverseStaticsStatus as InverseStaticsStatus,
    inverse_statics as inverse_statics,
)
from supple.run.refine import refine as refine
from supple.run.rollout import rollout as rollout, step as step
from supple.run.simulate import resume as resume, simulate as simulate
from supple.run.stability import Stability as Stability
from supple.run.start import initial_state as initial_state
from supple.run.statics import (
    assemble as assemble,
    equilibrium as equilibrium,
    linearize as linearize,
    modes as modes,
    release as release,
    sweep as sweep,
)
from supple.run.transfer import carry_over as carry_over
from supple.section import (
    Circle as Circle,
    Ellipse as Ellipse,
    GivenProperties as GivenProperties,
    Material as Material,
    MatrixDamping as MatrixDamping,
    Rectangle as Rectangle,
    ShearViscosity as ShearViscosity,
    StiffnessDamping as StiffnessDamping,
    Tube as Tube,
)
from supple.shooting.law import RodPlace as RodPlace
from supple.shooting.settings import Shooting as Shooting
from supple.solve.distribution import Distribution as Distribution, distribute as distribute
from supple.solve.equilibrium import EquilibriumStatus as EquilibriumStatus
from supple.solve.linear_model import LinearModel as LinearModel
from supple.solve.modes import Modes as Modes
from supple.space import (
    Magnus as Magnus,
    RungeKutta as RungeKutta,
    Spectral as Spectral,
)
from supple.spelling import open_doors as _open_doors
from supple.strain import (
    Chebyshev as Chebyshev,
    CustomBasis as CustomBasis,
    Legendre as Legendre,
    Monomial as Monomial,
    PiecewiseConstant as PiecewiseConstant,
    PiecewiseLegendre as PiecewiseLegendre,
    PiecewiseLinear as PiecewiseLinear,
)
from supple.studies.samples import (
    Grid as Grid,
    LatinHypercube as LatinHypercube,
    Listed as Listed,
    RandomSamples as RandomSamples,
)
from supple.studies.study import study as study
from supple.time.advance import Status as Status
from supple.time.alpha import (
    GeneralizedAlpha as GeneralizedAlpha,
    ImplicitEuler as ImplicitEuler,
    generalized_alpha as generalized_alpha,
    hht as hht,
    newmark as newmark,
    trapezoidal as trapezoidal,
    wbz as wbz,
)
from supple.time.collocation import (
    gauss as gauss,
    radau as radau,
)
from supple.time.explicit import Explicit as Explicit
from supple.time.linearly_implicit import LinearlyImplicitEuler as LinearlyImplicitEuler
from supple.time.multistep import (
    bdf2 as bdf2,
    bdf3 as bdf3,
    bdf_alpha as bdf_alpha,
)
from supple.time.rollout import Rollout as Rollout, Stepped as Stepped

__version__ = _version("supple")
_open_doors(globals())

if _TYPE_CHECKING:
    from supple import files as files, identify as identify, view as view
    from supple.files import load as load

_LATER = {"files": None, "identify": None, "view": None, "load": "files"}
"""What is imported when it is first asked for, since it takes its time; ``load`` is in ``files``."""


def __getattr__(name: str) -> _Any:
    """Modules and functions that are imported when they are first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    inside = _LATER[name]
    module = _importlib.import_module(f"supple.{inside or name}")
    found = getattr(module, name) if inside else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What users may want, without the modules it comes from."""
    hidden = {"use_persistent_cache"}
    modules = {"plot", *_LATER}
    found = [
        name
        for name, value in globals().items()
        if name[0] != "_"
        and name not in hidden
        and (name in modules or type(value) is not _ModuleType)
    ]
    return [*found, *(name for name in _LATER if name not in found), "__version__"]
