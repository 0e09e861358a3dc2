"""Tasks on all cores: every result once, errors and interrupts in order."""

import signal
import threading
import time

import pytest

from supple.threads import as_completed, cores


def test_every_task_ends_once_on_several_threads():
    meeting = threading.Barrier(2, timeout=30)  # two tasks at once, or none ends

    def square(x):
        if x < 2:
            meeting.wait()
        return x * x

    found = list(as_completed(square, range(50), threads=2))
    assert sorted(found) == [(x, x * x) for x in range(50)]
    assert cores() >= 1


def test_tasks_are_taken_only_as_they_are_needed():
    taken = []

    def tasks():
        for x in range(1000):
            taken.append(x)
            yield x

    running = as_completed(lambda x: x, tasks(), threads=2)
    next(running)
    running.close()
    assert len(taken) < 20


def test_what_a_task_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(as_completed(lambda x: 1 / x, [1, 0, 2], threads=2))


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_is_under_way():
    begun, sent, found = threading.Barrier(3, timeout=30), threading.Event(), []

    def slow(x):
        begun.wait()
        sent.wait()
        return x

    def interrupt():
        begun.wait()
        time.sleep(0.3)  # the main thread has handed its tasks out by then, and waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.1)
        sent.set()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        found.extend(as_completed(slow, range(100), threads=2))
    assert sorted(found) == [(0, 0), (1, 1)]
