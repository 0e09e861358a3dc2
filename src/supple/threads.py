"""Many tasks on all cores: XLA releases the interpreter while it computes, so threads are enough."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")


_most: int | None = None
"""Threads that are to be taken, where somebody has said so."""


def limit(count: int) -> None:
    """Take so many threads from here on, where nothing else is named."""
    global _most
    _most = count


def cores() -> int:
    """Cores that this process may use, or as many threads as were asked for."""
    if _most is not None:
        return _most
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def as_completed(
    function: Callable[[Task], Found], tasks: Iterable[Task], threads: int | None = None
) -> Iterator[tuple[Task, Found]]:
    """Each task with ``function(task)``, as they end, computed on so many threads (default: one a core).

    Tasks are taken as threads become free. Ctrl-C takes no more of them: those under way are still ended
    and yielded, then KeyboardInterrupt is raised; a second Ctrl-C raises it at once. So does what a task
    raises.
    """
    count = threads or cores()
    waiting = iter(tasks)
    under_way: dict[Future[Found], Task] = {}
    interrupt: KeyboardInterrupt | None = None
    pool = ThreadPoolExecutor(count)
    try:
        while True:
            try:
                if interrupt is None:
                    for task in islice(waiting, 2 * count - len(under_way)):
                        under_way[pool.submit(function, task)] = task
                if not under_way:
                    break
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt as error:
                if interrupt is not None:
                    raise
                interrupt = error
                under_way = {one: task for one, task in under_way.items() if not one.cancel()}
                continue
            for one in done:
                yield under_way.pop(one), one.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if interrupt is not None:
        raise interrupt
