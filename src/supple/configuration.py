"""What is set for a whole process: the precision of numbers, where compiled programs are kept, threads."""

from dataclasses import dataclass
from pathlib import Path

import jax

from supple import compile, threads as pool
from supple.errors import ArgumentError

PRECISIONS = {"float64": True, "float32": False}


@dataclass(frozen=True)
class Configuration:
    """What is set now."""

    precision: str
    """Of all that is computed."""
    cache: Path | None
    """Folder in which compiled programs are kept; None: they are not."""
    threads: int
    """Of batches and studies."""


def configure(
    *,
    precision: str | None = None,
    cache: str | Path | bool | None = None,
    threads: int | None = None,
) -> Configuration:
    """Set what is named for this process, leave the rest, and return what is set now.

    ``precision`` is "float64", as it is after the import of Supple, or "float32": for work on devices that
    are slow with float64, to about six digits; tolerances, refinement and estimates of errors are made for
    float64, and closed loops may not converge. Name it before anything is computed; JAX's ``jax_enable_x64``
    is what is set. ``cache`` is the folder of compiled programs, True for that of the user, False for none.
    ``threads`` are those that batches and studies take where they are told nothing else; one a core at first.
    """
    if precision is not None and precision not in PRECISIONS:
        raise ArgumentError(f"precision: got {precision!r}; need one of: {', '.join(PRECISIONS)}")
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if threads is not None and not (whole and threads >= 1):
        raise ArgumentError(f"threads: got {threads!r}; need an integer >= 1")
    if precision is not None and PRECISIONS[precision] != jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        if compile.begun():
            need = "it before anything is computed: programs that are there have the other one"
            raise ArgumentError(f"precision: got {precision!r}; need {need}")
        jax.config.update("jax_enable_x64", PRECISIONS[precision])
    if cache is not None:
        compile.keep_programs(cache)
    if threads is not None:
        pool.limit(threads)
    kept = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    return Configuration(
        "float64" if jax.config.jax_enable_x64 else "float32",  # type: ignore[attr-defined]
        None if kept is None else Path(kept),
        pool.cores(),
    )
