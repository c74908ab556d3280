"""Inner loops compiled to machine code, once a machine: numba with its cache on disk.

The loops release the interpreter, so that threads work on several sequences at once. What they
are given must be numpy arrays and numbers. Functions that prediction needs import nothing but
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


def _numba() -> Any:
    """The module, without the settings that it would take from a file in the working folder.

    The folder may be a stranger's, and the settings say from where machine code is loaded.
    """
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


njit = _numba().njit

# Sums may be reordered, which is what lets them use vector registers; infinities keep their sense.
_FREEDOM = {"reassoc", "contract", "nsz", "arcp"}


_PLAIN = (bool, int, float, str)
_CONTENTS: dict[Any, bytes] = {}  # of what each function was compiled from, by function


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code, compiled when it is first called."""
    if getattr(sys, "frozen", False):  # its code says "core/…", which numba would seek where we are
        place = str(sys.modules[function.__module__].__file__)
        function.__code__ = function.__code__.replace(co_filename=place)
    choices: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FREEDOM}
    try:
        made = njit(cache=True, **choices)(function)
    except RuntimeError:  # no folder to keep the machine code in
        return njit(**choices)(function)
    _CONTENTS[made] = _content(function)
    kept: Any = getattr(made._cache, "_cache_file", None)
    if hasattr(kept, "_source_stamp"):
        # By itself numba looks at the function's own file alone, not at what it took from others.
        kept._source_stamp = (kept._source_stamp, _CONTENTS[made])
    return made


def _content(function: Callable[..., Any]) -> bytes:
    """A digest of a function with the compiled functions and the numbers that its file imports.

    All of them, as those that it calls may stand further down and take what it does not name.
    """
    code, digest = function.__code__, hashlib.sha256()
    constants = [one for one in code.co_consts if not isinstance(one, types.CodeType)]
    digest.update(code.co_code + repr([code.co_names, constants]).encode())
    for name, value in sorted(function.__globals__.items()):
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray):
            digest.update(name.encode() + value.tobytes())
        elif isinstance(value, _PLAIN) or (
            isinstance(value, tuple) and all(isinstance(one, _PLAIN) for one in value)
        ):
            digest.update(f"{name} {value!r}".encode())
        elif isinstance(value, Hashable):
            digest.update(_CONTENTS.get(value, b""))
    return digest.digest()
