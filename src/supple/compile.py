"""How Supple compiles: many tiny operations in sequence, so that latency matters, not parallelism.

On the CPU some of XLA's choices hurt such programs. Its newer fusion emitters double the compile time
for no gain at these sizes; LLVM's higher levels of optimization cost a fifth of it, again for none. Its
default scheduler, its matrix products and its larger loops are spread over a thread pool whose
synchronization costs more than the operations: up to a third of the time of a small rod's step. Reductions
go to a library (YNN) whose overhead shows most in robots with many legs. All are switched off for our own
entry points.
"""

import os
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from pathlib import Path
from typing import Any

import jax

from supple.errors import ArgumentError
from supple.numeric import is_traced

WANTED: dict[str, dict[str, Any]] = {
    "cpu": {
        "xla_cpu_use_fusion_emitters": False,
        "xla_cpu_multi_thread_eigen": False,
        "xla_disable_hlo_passes": "cpu-parallel-task-assigner",
        "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
        # Matrix products may stay with the library: that is little code to compile.
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    }
}
"""What we ask of each kind of device. Options come and go with XLA's versions: `known_options` asks."""

LEVEL = "xla_backend_optimization_level"


@lru_cache
def known_options(platform: str, quick: bool) -> dict[str, Any]:
    """The options we want on this kind of device that its compiler knows.

    ``quick`` is for programs that run once or a few times: half the speed, less than half the compile
    time. A level of optimization named in ``XLA_FLAGS`` wins over ours, except over that of quick programs.
    """
    options = dict(WANTED.get(platform, {}))
    if options and (quick or LEVEL not in os.environ.get("XLA_FLAGS", "")):
        options[LEVEL] = 0 if quick else 1
    if not options or _accepted(platform, options):
        return options
    return {name: value for name, value in options.items() if _accepted(platform, {name: value})}


def _accepted(platform: str, options: dict[str, Any]) -> bool:
    """Whether a program of nothing compiles with these options."""
    # A function of its own for every question: JAX remembers programs by function.
    with jax.default_device(jax.local_devices(backend=platform)[0]):
        try:
            jax.jit(lambda x: x, compiler_options=options).lower(0.0).compile()
        except jax.errors.JaxRuntimeError:  # no such option, or no such value
            return False
    return True


def platform() -> str:
    """The kind of device that programs are compiled for now."""
    device: Any = getattr(jax.config, "jax_default_device", None)
    if device is None:
        return jax.default_backend()
    return device if isinstance(device, str) else str(device.platform)


_process: int | None = None
"""In which process the first program was run."""


def _check_process() -> None:
    """Raise in a process forked after use: it has none of JAX's threads, and would wait for ever."""
    global _process
    if _process is None:
        _process = os.getpid()
    if _process != os.getpid():
        need = (
            "processes started anew, multiprocessing.get_context('spawn') or "
            "ProcessPoolExecutor(mp_context=…), or to fork before Supple computes anything"
        )
        raise ArgumentError(
            f"process: got one forked from a process that has used JAX; need {need}"
        )


def begun() -> bool:
    """Whether a program was run."""
    return _process is not None


class Program:
    """A function compiled with our options, which are settled at its first use.

    Not earlier: asking for them starts JAX's backend, and importing Supple should not.
    """

    def __init__(self, function: Callable[..., Any], quick: bool, options: dict[str, Any]):
        update_wrapper(self, function)
        self._function, self._quick, self._options = function, quick, options
        self._compiled: dict[str, Any] = {}
        self._inner = jax.jit(function, **options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_traced((args, kwargs)):  # part of a larger program, whose options count
            return self._inner(*args, **kwargs)
        return self._on_this_device(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._on_this_device.lower(*args, **kwargs)

    @property
    def _on_this_device(self) -> Any:
        _check_process()
        device = platform()
        if device not in self._compiled:
            self._compiled[device] = jax.jit(
                self._function,
                compiler_options=known_options(device, self._quick) or None,
                **self._options,
            )
        return self._compiled[device]


def jit(function: Callable[..., Any], *, quick: bool = False, **options: Any) -> Program:
    """``jax.jit`` with the compiler options of `known_options`."""
    return Program(function, quick, options)


def use_persistent_cache() -> None:
    """Keep compiled programs between processes, in the user's cache folder.

    ``JAX_COMPILATION_CACHE_DIR`` chooses another folder; ``SUPPLE_CACHE=off`` keeps nothing.
    """
    if os.environ.get("SUPPLE_CACHE") == "off" or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    keep_programs(True)


def keep_programs(place: str | Path | bool) -> None:
    """Keep compiled programs in a folder (True: that of the user), or (False) not at all."""
    if place is True:
        try:
            root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # a user without a home folder, as in containers
            return
        place = root / "supple" / "jax"
    if begun():  # JAX looks for its folder once
        from jax.experimental.compilation_cache import compilation_cache

        compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", str(place) if place else None)
    # Small programs, too: there are many of them.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
