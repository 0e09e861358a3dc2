"""Robot files: YAML descriptions of robots and of what to compute with them."""

from supple.files.mjcf import to_mjcf as to_mjcf
from supple.files.problems import FileError as FileError, Problem as Problem
from supple.files.read import RobotFile as RobotFile, load as load
from supple.files.schema import json_schema as json_schema
from supple.files.stored import StoredRun as StoredRun, stored_run as stored_run
from supple.files.studies import (
    Initial as Initial,
    ModesStudy as ModesStudy,
    Output as Output,
    ReleaseStudy as ReleaseStudy,
    Settings as Settings,
    Simulate as Simulate,
    Statics as Statics,
    Sweep as Sweep,
)
from supple.files.write import dump as dump, save as save
