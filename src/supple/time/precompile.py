"""Compile the loop of a run while its start is compiled and computed: XLA compiles without Python's lock."""

import gc
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import jax
import jax.numpy as jnp

from supple.system.formulation import AbstractFormulation
from supple.time.advance import advance, cursor_like
from supple.time.control import StepControl
from supple.time.scheme import AbstractScheme

_known: set[Hashable] = set()
"""Programs asked for before."""


@contextmanager
def compiled_ahead(
    formulation: AbstractFormulation,
    scheme: AbstractScheme,
    control: StepControl,
    chunk: int,
) -> Iterator[None]:
    """While the body runs, compile ``advance``."""
    leaves, structure = jax.tree.flatten((formulation, control))
    program = (structure, scheme, chunk, tuple(map(jnp.shape, leaves)))
    if program in _known:
        yield
        return
    _known.add(program)
    cursor = cursor_like(formulation, scheme)
    time, attempts = jnp.asarray(0.0), jnp.asarray(chunk)

    traced, collects = Event(), gc.isenabled()

    def compile_loop() -> None:
        with suppress(Exception):  # the run itself will meet it, and say so
            try:
                loop = advance.lower(
                    formulation, scheme, control, chunk, cursor, time, time, time, attempts
                )
            finally:
                traced.set()
            loop.compile()

    thread = Thread(target=compile_loop)
    gc.disable()  # a third of the time of tracing went into looking through its many small objects
    thread.start()
    try:
        traced.wait()  # two threads that trace at once only hold each other up
        yield
    finally:
        thread.join()
        if collects:
            gc.enable()
