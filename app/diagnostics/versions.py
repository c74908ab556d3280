"""The version of Tunescope."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def version() -> str:
    """Such as "tunescope 0.1.0 (Python 3.12.1, /home/ada/tunescope)"."""
    location = Path(sys.executable) if getattr(sys, "frozen", False) else _ROOT
    return f"tunescope {_version_number()} (Python {platform.python_version()}, {location})"


def _version_number() -> str:
    try:
        return metadata.version("tunescope")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "without a version"
