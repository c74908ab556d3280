"""How many processors this process may use."""

from __future__ import annotations

import os


def processor_count() -> int:
    """How many processors this process may use, or what PYTHON_CPU_COUNT says, as Python 3.13."""
    count = os.environ.get("PYTHON_CPU_COUNT", "")
    if count.isdigit() and int(count) > 0:
        return int(count)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
