"""Inner loops compiled to machine code, once a machine: numba with its cache on disk.

The loops release the interpreter, so that threads work on several sequences at once. What they
are given must be numpy arrays and numbers. Functions that prediction needs import nothing but
numpy and this decorator: an exported script holds their source and runs it without numba as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# Sums may be reordered, which is what lets them use vector registers; infinities keep their sense.
_FREEDOM = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, compiled when it is first called."""
    choices: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FREEDOM}
    try:
        return njit(cache=True, **choices)(function)
    except RuntimeError:  # no folder to keep the machine code in
        return njit(**choices)(function)
