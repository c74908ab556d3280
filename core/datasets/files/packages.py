"""Optional packages that some file formats need."""

from __future__ import annotations

from importlib.util import find_spec

from core.errors import UnusableError
from core.extras import install_command

# {package: (the extra of pyproject.toml that brings it, what needs it)}
NEEDED = {"pyarrow": ("columnar", "Parquet and Feather files")}


def check_package(module: str, where: str) -> None:
    """Check that a package is installed.

    Raises:
        UnusableError: it is missing; with the command that installs it.
    """
    if find_spec(module) is None:
        extra, needs = NEEDED[module]
        fault = f"{needs} need {module}, which is missing here"
        raise UnusableError(fault, where=where, cure=f"install it with: {install_command(extra)}")
