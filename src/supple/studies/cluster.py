"""Members of a study on a cluster, through Dask: the address of its scheduler is all that is needed.

Tasks hold all that they need: where a worker ends, Dask computes elsewhere what it had. What ended is written
where the study was begun; workers need no common disk.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from supple.errors import ArgumentError, SolveError
from supple.hints import hint
from supple.studies.mapped import members
from supple.studies.member import LOST, Job, Member, Row

if TYPE_CHECKING:
    from distributed import Client

TIMEOUT = 10.0
"""How long (s) a scheduler may take to answer."""


def as_completed_on(
    address: str, job: Job, chunks: Iterable[Sequence[Row]]
) -> Iterator[list[Member]]:
    """The members of each chunk, as they end on the workers of a scheduler.

    A chunk whose workers die again and again is split, and a member that still does is lost. Closing the
    iterator cancels what is not done yet.
    """
    import cloudpickle
    from distributed import CancelledError, KilledWorker, as_completed

    client = connected(address)
    try:
        packed, session = cloudpickle.dumps(job), secrets.token_hex(4)
        rows: dict[str, Sequence[Row]] = {}

        def submitted(chunk: Sequence[Row]) -> Any:
            key = f"supple-{session}-{len(rows)}"
            rows[key] = chunk
            return client.submit(work, packed, list(chunk), key=key, pure=False)

        # Not the loop of the client that is the default one: there may be none, or another.
        waiting = as_completed([submitted(chunk) for chunk in chunks], loop=client.loop)
        for future in waiting:
            chunk = rows[future.key]
            try:
                found = future.result()
            except KilledWorker:
                if len(chunk) > 1:
                    waiting.update([submitted([row]) for row in chunk])
                    continue
                text = "the workers that computed it died"
                found = [Member(number, LOST, False, text, {}) for number, _ in chunk]
            except (CancelledError, OSError) as error:
                raise _gone(address) from error
            except ImportError as error:
                need = "supple, and what its functions import, on every worker"
                raise ArgumentError(f"cluster: {address}: {error}; need {need}") from error
            yield found
            future.release()
    finally:
        client.close(timeout=TIMEOUT)  # which forgets, and so cancels, all that is not done


def connected(address: str) -> Client:
    """A connection to a scheduler that answers."""
    try:
        from distributed import Client
    except ImportError:
        need = "Dask: pip install 'supple[cluster]'"
        raise ArgumentError(f"cluster: got {address!r}; need {need}") from None
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        need = "the address that a running `dask scheduler` tells, such as tcp://host:8786"
        raise ArgumentError(
            f"cluster: got {address!r}, which does not answer; need {need}"
        ) from error
    if not client.scheduler_info().get("workers"):
        hint(f"cluster: {address} has no workers yet; the study waits for them")
    return client


def work(packed: bytes, rows: list[Row]) -> list[Member]:
    """What a worker does."""
    import pickle

    job: Job = pickle.loads(packed)
    return members(job, rows)


def _gone(address: str) -> SolveError:
    return SolveError(
        f"cluster: the scheduler at {address} is gone; what had ended is kept: go on with resume=True "
        "(--resume)"
    )
