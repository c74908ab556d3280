"""Inner loops compiled to machine code, once a machine: numba with its cache on disk.

Their arguments must be numpy arrays and numbers. Functions that prediction needs import nothing but
numpy and this decorator: an exported script holds their source and runs it without numba as well.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import types
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np


def _import_numba() -> Any:
    # Without the settings of a file in the working folder: that may be a stranger's, and the
    # settings say from where machine code is loaded.
    if os.path.exists(".numba_config.yaml") and "numba" not in sys.modules:
        before = sys.modules.get("yaml")
        sys.modules["yaml"] = None  # type: ignore[assignment]  # numba cannot read the file then
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module("numba")
        finally:
            del sys.modules["yaml"]
            if before is not None:
                sys.modules["yaml"] = before
    numba = importlib.import_module("numba")
    numba.core.config._config_fname = os.devnull  # it looks again whenever it compiles
    return numba


njit = _import_numba().njit

# Sums may be reordered, which is what lets them use vector registers; infinities keep their sense.
_FREEDOM = {"reassoc", "contract", "nsz", "arcp"}

_PLAIN = (bool, int, float, str)
_CONTENTS: dict[Any, bytes] = {}  # of what each function was compiled from, by function


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, compiled when it is first called."""
    if getattr(sys, "frozen", False):  # its code says "core/…", which numba would seek where we are
        source_path = str(sys.modules[function.__module__].__file__)
        function.__code__ = function.__code__.replace(co_filename=source_path)
    choices: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FREEDOM}
    try:
        dispatcher = njit(cache=True, **choices)(function)
    except RuntimeError:  # no folder to keep the machine code in
        return njit(**choices)(function)
    _CONTENTS[dispatcher] = _content(function)
    cache_file: Any = getattr(dispatcher._cache, "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        # By itself numba looks at the function's own file alone, not at what it took from others.
        cache_file._source_stamp = (cache_file._source_stamp, _CONTENTS[dispatcher])
    return dispatcher


def _content(function: Callable[..., Any]) -> bytes:
    """A digest of a function with the compiled functions and the numbers that its file imports."""
    # All of them: what it calls may use further ones that it does not name itself.
    code, digest = function.__code__, hashlib.sha256()
    constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
    digest.update(code.co_code + repr([code.co_names, constants]).encode())
    for name, value in sorted(function.__globals__.items()):
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray):
            digest.update(name.encode() + value.tobytes())
        elif isinstance(value, _PLAIN) or (
            isinstance(value, tuple) and all(isinstance(element, _PLAIN) for element in value)
        ):
            digest.update(f"{name} {value!r}".encode())
        elif isinstance(value, Hashable):
            digest.update(_CONTENTS.get(value, b""))
    return digest.digest()
