"""The extras of the distribution: what each consists of, and the command that installs it here."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

# The same as pyproject.toml has, which names one extra in another.
EXTRAS: dict[str, tuple[str, ...]] = {
    "onnx": ("onnx>=1.16", "onnxruntime>=1.20"),
    "deep": ("jax>=0.4.35",),
    "lightgbm": ("lightgbm>=4.5",),
    "xgboost": ("xgboost>=2.1",),
    "catboost": ("catboost>=1.2.7",),
    "more": ("lightgbm>=4.5", "xgboost>=2.1", "catboost>=1.2.7"),
    "sheets": ("openpyxl>=3.1.5", "odfpy>=1.4"),
    "columnar": ("pyarrow>=19",),
    "cluster": ("distributed>=2024.8", "cryptography>=42"),
}


def install_command(extra: str) -> str:
    """What a person runs to install an extra where this very program finds it."""
    return f"{own_command()} install {extra}"


def own_command() -> str:
    """How this very program is called: by its name, or by its path where the name is another's."""
    if getattr(sys, "frozen", False):
        found = shutil.which("tunescope")  # of a package a link to the program
        same = found is not None and os.path.realpath(found) == os.path.realpath(sys.executable)
        return "tunescope" if same else shlex.quote(sys.executable)
    ending = ".exe" if sys.platform == "win32" else ""
    own = Path(sys.executable).with_name(f"tunescope{ending}")
    if not own.exists():
        return f"{shlex.quote(sys.executable)} -P -m app"
    named = shutil.which("tunescope")
    same = named is not None and os.path.realpath(named) == os.path.realpath(own)
    return "tunescope" if same else shlex.quote(str(own))


def other_program() -> str:
    """The command `tunescope` that the path has, where it is not this program; "" otherwise."""
    named = shutil.which("tunescope")
    return "" if named is None or own_command() == "tunescope" else named
