"""Robot files: YAML descriptions of robots and of what to compute with them."""

from supple.files.analyses import (
    Follow as Follow,
    Identify as Identify,
    InverseStaticsStudy as InverseStaticsStudy,
    Linearize as Linearize,
    ModesStudy as ModesStudy,
    Statics as Statics,
    Sweep as Sweep,
)
from supple.files.ensemble import Ensemble as Ensemble
from supple.files.initial import Initial as Initial
from supple.files.mjcf import to_mjcf as to_mjcf
from supple.files.outputs import Output as Output
from supple.files.problems import FileError as FileError, Problem as Problem
from supple.files.read import RobotFile as RobotFile, load as load
from supple.files.schema import json_schema as json_schema
from supple.files.stored import StoredRun as StoredRun, stored_run as stored_run
from supple.files.studies import (
    ReleaseStudy as ReleaseStudy,
    Settings as Settings,
    Simulate as Simulate,
)
from supple.files.write import dump as dump, save as save
