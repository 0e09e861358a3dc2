"""A study on a cluster is the same study, also when a worker dies on the way."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from tests.studies.robots import arm, product

COUNT = 60


@pytest.mark.slow  # two processes that import everything
def test_a_worker_that_is_killed_loses_nothing(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    log = tmp_path / "log"
    monkeypatch.setenv("LOG", str(log))
    monkeypatch.setenv("NAP", "0.02")
    samples = {"arm.length": np.linspace(0.1, 0.4, COUNT)}
    killed = []

    def kill(done, total, failed):
        if done >= 10 and not killed:
            last = int(log.read_text().split()[-1])
            os.kill(last, signal.SIGKILL)
            killed.append(last)

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        data = sp.study(
            arm(),
            samples,
            product,
            cluster=cluster.scheduler_address,
            store=tmp_path / "s",
            progress=kill,
        )
    assert killed
    lines = [line.split() for line in Path(log).read_text().splitlines()]
    again = len(lines) - COUNT
    mine = sum(int(pid) == killed[0] for _, pid in lines)
    assert 0 <= again <= mine  # of that worker's share at most
    monkeypatch.setenv("NAP", "0")
    assert data.identical(sp.study(arm(), samples, product))
