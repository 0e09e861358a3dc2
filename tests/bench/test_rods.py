"""The benches' own tools."""

import os
import threading

import pytest

from supple.bench.rods import on_one_core


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot hold threads")
def test_process_is_held_on_one_core_and_let_go():
    before = os.sched_getaffinity(0)
    ready, seen = threading.Event(), []
    thread = threading.Thread(target=lambda: (ready.wait(), seen.append(os.sched_getaffinity(0))))
    thread.start()
    with on_one_core():
        assert len(os.sched_getaffinity(0)) == 1
        ready.set()
        thread.join()
    assert seen[0] == {max(before)}
    assert os.sched_getaffinity(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot hold threads")
def test_process_is_let_go_after_an_error():
    before = os.sched_getaffinity(0)
    with pytest.raises(RuntimeError), on_one_core():
        raise RuntimeError
    assert os.sched_getaffinity(0) == before
