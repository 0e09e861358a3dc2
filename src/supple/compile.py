"""How Supple compiles: many tiny operations in sequence, so that latency matters, not parallelism.

On the CPU some of XLA's choices hurt such programs. Its newer fusion emitters double the compile time
for no gain at these sizes; LLVM's higher levels of optimisation cost a fifth of it, again for none. Its
default scheduler, its matrix products and its larger loops are spread over a thread pool whose
synchronisation costs more than the operations: up to a third of the time of a small rod's step. Reductions
go to a library (YNN) whose overhead shows most in robots with many legs. All are switched off for our own
entry points.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

CPU_OPTIONS: dict[str, Any] = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_multi_thread_eigen": False,
    "xla_disable_hlo_passes": "cpu-parallel-task-assigner",
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
if "xla_backend_optimization_level" not in os.environ.get("XLA_FLAGS", ""):
    CPU_OPTIONS["xla_backend_optimization_level"] = 1
if jax.__version_info__ >= (0, 10):
    # Matrix products may stay with the library: that is little code to compile.
    CPU_OPTIONS["xla_cpu_experimental_ynn_fusion_type"] = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"

QUICK = {"xla_backend_optimization_level": 0}
"""For programs that run once or a few times: half the speed, less than half the compile time."""


def jit(function: Callable[..., Any], *, quick: bool = False, **options: Any) -> Any:
    """``jax.jit`` with the compiler options above."""
    compiler_options = CPU_OPTIONS | QUICK if quick else CPU_OPTIONS
    return jax.jit(function, compiler_options=compiler_options, **options)


def use_persistent_cache() -> None:
    """Keep compiled programs between processes, in the user's cache folder.

    ``JAX_COMPILATION_CACHE_DIR`` chooses another folder; ``SUPPLE_CACHE=off`` keeps nothing.
    """
    if os.environ.get("SUPPLE_CACHE") == "off" or "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jax.config.update("jax_compilation_cache_dir", str(root / "supple" / "jax"))
    # Small programs, too: there are many of them.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
