"""A small robot file, and how the tests call commands on it."""

from typer.testing import CliRunner

from supple.cli.main import app

ARM = """\
robot: arm
rods:
  arm:
    length: 0.3
    section: {circle: 0.005}
    material: {E: 1.0e8, density: 1000}
    strains: planar
    basis: 2
tendons:
  pull: {on: arm, offset: [0.004, 0], tension: 1}
simulate: {duration: 0.1, dt: 0.01}
"""


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])
