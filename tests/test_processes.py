"""Supple among processes: forked after use, without a home folder, ended by a controller."""

import os
import subprocess
import sys

import pytest

import supple as sp

RUN = """
import supple as sp
robot = sp.Robot(sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y")))
"""
FORK = (
    RUN
    + """
import os, sys, warnings
warnings.simplefilter("ignore")
sp.simulate(robot, 0.02, dt=0.01)
child = os.fork()
if child == 0:
    try:
        sp.simulate(robot, 0.02, dt=0.01)
    except sp.ArgumentError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
)
SPAWN = """
import multiprocessing
def work(length):
    import supple as sp
    return float(sp.simulate(sp.Robot(sp.Body("bob", mass=1.0, com=(length, 0.0, 0.0),
        joint=sp.Revolute("y"))), 0.02, dt=0.01).q[-1, 0])

if __name__ == "__main__":
    before = work(0.5)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(work, [0.5]) == [before]
    print("the same")
"""


def printed(code, tmp_path, **environment):
    file = tmp_path / "code.py"
    file.write_text(code)
    options = {k: v for k, v in os.environ.items() if environment.get(k, "") is not None}
    options |= {k: v for k, v in environment.items() if v is not None}
    words = [sys.executable, str(file)]
    return subprocess.run(
        words, env=options, capture_output=True, text=True, timeout=120, check=True
    ).stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_after_use_says_so_instead_of_waiting_for_ever(tmp_path):
    said = printed(FORK, tmp_path)
    assert "forked from a process that has used JAX" in said
    assert "get_context('spawn')" in said


def test_processes_started_anew_work(tmp_path):
    assert printed(SPAWN, tmp_path) == "the same\n"


def test_supple_is_imported_without_a_home_folder(tmp_path):
    code = (
        "import pathlib\n"
        "def home(): raise RuntimeError('Could not determine home directory.')\n"
        "pathlib.Path.home = home\n" + RUN + "print(sp.simulate(robot, 0.02, dt=0.01).status.name)"
    )
    nothing = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"))
    assert printed(code, tmp_path, **nothing) == "DONE\n"


@pytest.mark.parametrize("leave", [SystemExit(3), SystemExit, ValueError("no")])
def test_a_controller_ends_its_run_and_not_the_process(leave):
    def act(t, seen, memory):
        if t > 0.025:
            raise leave
        return {"push": 1.0}, memory

    robot = sp.Robot(
        sp.Body("bob", mass=1.0, com=(0.5, 0.0, 0.0), joint=sp.Revolute("y")),
        sp.Wrench("load", on="bob", force=(0.0, 0.0, 1.0), law=sp.Input("push")),
        sp.Controller("pilot", act=act, period=0.01, compiled=False),
    )
    run = sp.simulate(robot, 0.1, dt=0.01, throw=False)
    assert run.status.name == "BAD_INPUT"
    assert "pilot: act raised" in run.message
    assert len(run) >= 3
