"""Plots show the numbers of the result, in one style, on the axes they are given."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import supple as sp
from supple.errors import ArgumentError
from supple.mechanics.frames import rod_strain
from supple.plot.spaces import plane_of

RUBBER = sp.Material(E=1e6, density=1000.0)


def options(name, **more):
    return sp.Rod(
        name,
        length=0.3,
        section=sp.Circle(0.01),
        material=RUBBER,
        strains="planar",
        basis=2,
        **more,
    )


@pytest.fixture(scope="module")
def run():
    """A hinged, motor-driven arm with a tendon and a chamber whose tip is tied to a plate that slides."""
    robot = sp.Robot(
        options("arm", joint=sp.Revolute("z", damping=0.01)),
        sp.Body("plate", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), joint=sp.Prismatic("x"),
                position=(0.3, 0.0, 0.0)),
        sp.Closure("pin", on="arm", to="plate", joint=sp.Revolute("z")),
        sp.Tendon("pull", on="arm", offset=(0.008, 0.0), tension=sp.ramp(0.0, 0.05, 2.0)),
        sp.Chamber("bag", on="arm", area=1e-4, offset=(-0.005, 0.0), pressure=1e3),
        sp.Motor("drive", on="arm", torque=0.01),
        gravity=(0.0, 0.0, 0.0),
        name="tied arm",
    )  # fmt: skip
    return sp.simulate(robot, 0.1, dt=0.01)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_curves_are_the_numbers_of_the_result(run):
    np.testing.assert_array_equal(
        lines(sp.plot.tensions(run))["pull"].get_ydata(), run.tendon("pull").tension
    )
    length = run.tendon("pull").length
    np.testing.assert_allclose(
        lines(sp.plot.lengths(run))["pull"].get_ydata(), 1e3 * (length - length[0])
    )
    bag = lines(sp.plot.pressures(run))["bag"].get_ydata()
    np.testing.assert_allclose(bag, 1.0)  # kPa
    angle = lines(sp.plot.angles(run))["arm"].get_ydata()
    np.testing.assert_allclose(np.radians(angle), run.joint("arm").position[:, 0])
    total = lines(sp.plot.energies(run))["total"].get_ydata()
    np.testing.assert_array_equal(total, run.energies.total)
    force = lines(sp.plot.multipliers(run))["pin"].get_ydata()
    np.testing.assert_allclose(force, np.linalg.norm(run.closure("pin")[:, 3:], axis=1))
    path = sp.plot.path(run, "plate").lines[0]
    np.testing.assert_array_equal(path.get_xdata(), run.position("plate")[:, 0])
    count = lines(sp.plot.newton(run))["Newton iterations"].get_ydata()
    np.testing.assert_array_equal(count, run.newton[1:])


def test_strain_over_time_is_that_of_each_state(run):
    strain = run.strain("arm", 5)
    assert strain.shape == (len(run), 5, 6)
    np.testing.assert_array_equal(strain[-1], rod_strain(run.model, "arm", run.q[-1], 5))
    axes = sp.plot.strains(run)
    assert "κz" in axes.get_ylabel()
    np.testing.assert_array_equal(axes.lines[-1].get_ydata(), run.strain("arm", 61)[-1, :, 2])


def test_a_plot_uses_the_axes_it_is_given(run):
    _, axes = plt.subplots()
    assert sp.plot.energies(run, axes=axes) is axes
    assert sp.plot.shapes(run, axes=axes) is axes


def test_whole_figures(run, tmp_path):
    assert len(sp.plot.overview(run).axes) >= 5
    known = sp.plot.fitting(run)
    assert set(sp.plot.KINDS) - set(known) == {"efforts"}
    fig = sp.plot.figure(run, known)
    fig.savefig(tmp_path / "all.svg")
    assert len(fig.axes) >= len(known)
    with pytest.raises(ArgumentError, match="need one of: shapes, path"):
        sp.plot.figure(run, ["tenson"])


def test_what_a_robot_does_not_have_is_told(run):
    with pytest.raises(ArgumentError, match="need one with an imposed coordinate"):
        sp.plot.efforts(run)
    with pytest.raises(ArgumentError, match="component: got 'kw'; need one of: kx"):
        sp.plot.strains(run, component="kw")


@pytest.mark.parametrize(
    ("scale", "plane"),
    [
        ((1, 1, 0), "xy"),
        ((1, 0, 2), "xz"),
        ((0, 1, 1), "yz"),
        ((1, 1, 1), "xyz"),
        ((0, 0, 1), "xz"),
    ],
)
def test_planar_motions_are_drawn_in_their_plane(rng, scale, plane):
    assert plane_of(rng.normal(size=(20, 3)) * scale) == plane


def test_importing_supple_does_not_import_matplotlib():
    code = "import sys, supple; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
