"""Supple: simulate, analyse and optimise robots of rigid bodies and slender elastic rods."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small solves; threads would only stall them

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

from supple.errors import DescriptionError as DescriptionError  # noqa: E402
from supple.errors import SolveError as SolveError  # noqa: E402
from supple.errors import StateError as StateError  # noqa: E402
from supple.errors import SuppleError as SuppleError  # noqa: E402
from supple.lie import Pose as Pose  # noqa: E402
from supple.model.laws import Constant as Constant  # noqa: E402
from supple.model.laws import Function as Function  # noqa: E402
from supple.model.laws import Table as Table  # noqa: E402
from supple.model.laws import ramp as ramp  # noqa: E402
from supple.model.laws import triangle as triangle  # noqa: E402
from supple.model.model import Model as Model  # noqa: E402
from supple.model.state import State as State  # noqa: E402
from supple.results.result import Result as Result  # noqa: E402
from supple.robot.items import Body as Body  # noqa: E402
from supple.robot.items import Marker as Marker  # noqa: E402
from supple.robot.items import Rod as Rod  # noqa: E402
from supple.robot.items import Stress as Stress  # noqa: E402
from supple.robot.items import Wrench as Wrench  # noqa: E402
from supple.robot.joint import Cylindrical as Cylindrical  # noqa: E402
from supple.robot.joint import Driven as Driven  # noqa: E402
from supple.robot.joint import Fixed as Fixed  # noqa: E402
from supple.robot.joint import Free as Free  # noqa: E402
from supple.robot.joint import Helical as Helical  # noqa: E402
from supple.robot.joint import Planar as Planar  # noqa: E402
from supple.robot.joint import Prismatic as Prismatic  # noqa: E402
from supple.robot.joint import Revolute as Revolute  # noqa: E402
from supple.robot.joint import Spherical as Spherical  # noqa: E402
from supple.robot.joint import Universal as Universal  # noqa: E402
from supple.robot.placement import along as along  # noqa: E402
from supple.robot.robot import Robot as Robot  # noqa: E402
from supple.run.simulate import initial_state as initial_state  # noqa: E402
from supple.run.simulate import resume as resume  # noqa: E402
from supple.run.simulate import simulate as simulate  # noqa: E402
from supple.run.statics import Equilibrium as Equilibrium  # noqa: E402
from supple.run.statics import equilibrium as equilibrium  # noqa: E402
from supple.run.statics import linearise as linearise  # noqa: E402
from supple.run.statics import modes as modes  # noqa: E402
from supple.run.statics import release as release  # noqa: E402
from supple.run.statics import sweep as sweep  # noqa: E402
from supple.section import Circle as Circle  # noqa: E402
from supple.section import Ellipse as Ellipse  # noqa: E402
from supple.section import GivenProperties as GivenProperties  # noqa: E402
from supple.section import Material as Material  # noqa: E402
from supple.section import MatrixDamping as MatrixDamping  # noqa: E402
from supple.section import Rectangle as Rectangle  # noqa: E402
from supple.section import ShearViscosity as ShearViscosity  # noqa: E402
from supple.section import StiffnessDamping as StiffnessDamping  # noqa: E402
from supple.section import Tube as Tube  # noqa: E402
from supple.space import Magnus as Magnus  # noqa: E402
from supple.space import RungeKutta as RungeKutta  # noqa: E402
from supple.space import Spectral as Spectral  # noqa: E402
from supple.strain import Chebyshev as Chebyshev  # noqa: E402
from supple.strain import CustomBasis as CustomBasis  # noqa: E402
from supple.strain import Legendre as Legendre  # noqa: E402
from supple.strain import Monomial as Monomial  # noqa: E402
from supple.strain import PiecewiseConstant as PiecewiseConstant  # noqa: E402
from supple.strain import PiecewiseLinear as PiecewiseLinear  # noqa: E402
from supple.time.alpha import GeneralizedAlpha as GeneralizedAlpha  # noqa: E402
from supple.time.alpha import ImplicitEuler as ImplicitEuler  # noqa: E402
from supple.time.alpha import generalized_alpha as generalized_alpha  # noqa: E402
from supple.time.alpha import hht as hht  # noqa: E402
from supple.time.alpha import newmark as newmark  # noqa: E402
from supple.time.alpha import trapezoidal as trapezoidal  # noqa: E402
from supple.time.alpha import wbz as wbz  # noqa: E402
from supple.time.advance import Status as Status  # noqa: E402
from supple.time.collocation import gauss as gauss  # noqa: E402
from supple.time.collocation import radau as radau  # noqa: E402
