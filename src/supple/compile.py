"""How Supple compiles: many tiny operations in sequence, so that latency matters, not parallelism.

On the CPU two of XLA's choices hurt such programs. Its newer fusion emitters double the compile time
for no gain at these sizes, and its default scheduler hands tiny operations to a thread pool whose
synchronisation costs more than the operations. Both are switched off for our own entry points.
"""

from collections.abc import Callable
from typing import Any

import jax

CPU_OPTIONS: dict[str, Any] = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}


def jit(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """``jax.jit`` with the compiler options above."""
    return jax.jit(function, compiler_options=CPU_OPTIONS, **options)
