"""Which Tunescope this is, and whether the command of that name is another one."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def version() -> str:
    """Such as "tunescope 0.1.0 (Python 3.12.1, /home/ada/tunescope)"."""
    place = Path(sys.executable) if getattr(sys, "frozen", False) else _ROOT
    return f"tunescope {_number()} (Python {platform.python_version()}, {place})"


def _number() -> str:
    try:
        return metadata.version("tunescope")
    except metadata.PackageNotFoundError:  # a checkout that nobody installed
        return "without a version"


def other_program() -> str:
    """That the path's command `tunescope` is not this program, a sentence; "" where it is."""
    found = shutil.which("tunescope")
    if found is None or getattr(sys, "frozen", False):
        return ""
    beside = (Path(sys.executable).parent, Path(sys.argv[0]).parent)
    if any(os.path.realpath(found).startswith(os.path.realpath(one) + os.sep) for one in beside):
        return ""
    return f"the command tunescope on the path is another one, {found}"
