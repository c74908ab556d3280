"""This installation: its version, its command, and the extras that can be added."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from pathlib import Path

# The same as pyproject.toml has, which names one extra in another.
EXTRAS: dict[str, tuple[str, ...]] = {
    "onnx": ("onnx>=1.16", "onnxruntime>=1.20"),
    "mlflow": ("mlflow-skinny>=3.1",),
    "deep": ("jax>=0.4.35",),
    "lightgbm": ("lightgbm>=4.5",),
    "xgboost": ("xgboost>=2.1",),
    "catboost": ("catboost>=1.2.7",),
    "more": ("lightgbm>=4.5", "xgboost>=2.1", "catboost>=1.2.7"),
    "columnar": ("pyarrow>=19",),
    "cluster": ("distributed>=2024.8", "cryptography>=42"),
}


def install_command(extra: str) -> str:
    """The command that installs an extra where this very program finds it."""
    return f"{own_command()} install {extra}"


def own_command() -> str:
    """The command of this very program: its name, or its path where the name is another's."""
    if getattr(sys, "frozen", False):
        # A package installs a link to the program.
        return "tunescope" if _is_found(sys.executable) else shlex.quote(sys.executable)
    ending = ".exe" if sys.platform == "win32" else ""
    executable = Path(sys.executable).with_name(f"tunescope{ending}")
    if not executable.exists():
        # With -P a folder `app` in the working folder is not taken for ours.
        return f"{shlex.quote(sys.executable)} -P -m app"
    return "tunescope" if _is_found(executable) else shlex.quote(str(executable))


def _is_found(executable: Path | str) -> bool:
    path = shutil.which("tunescope")
    # Through links, which is what pipx and our packages put on the path.
    return path is not None and os.path.realpath(path) == os.path.realpath(executable)


def other_program() -> str:
    """The path of another `tunescope` that the shell would run; "" for none."""
    command_path = shutil.which("tunescope")
    return "" if command_path is None or own_command() == "tunescope" else command_path


def version() -> str:
    """Such as "tunescope 0.1.0 (Python 3.12.1, /home/ada/tunescope)"."""
    location = Path(sys.executable) if getattr(sys, "frozen", False) else Path(__file__).parents[1]
    return f"tunescope {_version_number()} (Python {platform.python_version()}, {location})"


def _version_number() -> str:
    # Only here: every command would wait for this import.
    from importlib import metadata

    try:
        return metadata.version("tunescope")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "without a version"
