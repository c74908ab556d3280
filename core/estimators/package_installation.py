"""How extras are installed beside this program: the command, why it cannot run, why it failed."""

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.extras import EXTRAS

# {extra: (purpose, modules)} of those that are no optional part of a model
_OF_FILES = {"columnar": ("Parquet and Feather files", ("pyarrow",))}
# On disk, with what they bring along, under Linux, where XGBoost's part for graphics cards is most.
_MEGABYTES = {"lightgbm": 10, "xgboost": 700, "catboost": 370, "deep": 360}
# {a sentence: what pip and uv write where it is so}, the surer ones first
_FAILURES = {
    "The disk is full.": ("no space left",),
    "There is no right to write into this program's folder.": (
        *("permission denied", "read-only file system", "access is denied", "errno 13"),
    ),
    "The package index cannot be reached: is there a network connection?": (
        *("newconnectionerror", "name resolution", "getaddrinfo", "timed out", "dns error"),
        *("network is unreachable", "connection refused", "error sending request", "proxyerror"),
        *("failed to fetch", "connection reset"),
    ),
}


def purpose_and_modules(name: str) -> tuple[str, tuple[str, ...]]:
    """What an extra is for, and what it brings."""
    if name in _OF_FILES:
        return _OF_FILES[name]
    dependency = OPTIONAL_DEPENDENCIES[name]
    return dependency.does, dependency.modules


def is_there(name: str) -> bool:
    """Whether every module of an extra can be imported."""
    return all(find_spec(module) is not None for module in purpose_and_modules(name)[1])


def size_text(names: Iterable[str]) -> str:
    """About how much of the disk extras take: "10 MB", "1.1 GB"."""
    size = sum(_MEGABYTES.get(name, 0) for name in names)
    return f"{size / 1000:.1f} GB" if size >= 1000 else f"{size} MB"


def installing_command(names: Iterable[str], *, reinstall: bool = False) -> list[str]:
    """The command that installs extras here, by pip, or by uv where pip lacks."""
    requirements = list(dict.fromkeys(package for name in names for package in EXTRAS[name]))
    uv = None if find_spec("pip") else shutil.which("uv")
    # Without their requirements, which work: only what is broken is replaced.
    force_options = ["--force-reinstall", "--no-deps"] if reinstall else []
    if uv:
        start = [uv, "pip", "install", "--python", sys.executable]
    else:
        start = [sys.executable, "-m", "pip", "install"]
    return [*start, *force_options, *requirements]


def installation_refusal(command: list[str]) -> UnusableError | None:
    """Why nothing can be installed here; None where it can."""
    # Its packages lie in archives, beside no Python that could run pip.
    if getattr(sys, "frozen", False):
        return UnusableError(
            "nothing can be added to this program, which was built as one folder",
            cure="install Tunescope with pipx (see its README), and then the extra",
        )
    packages_folder = Path(sysconfig.get_path("purelib"))
    if sys.prefix == sys.base_prefix and _is_managed():
        return UnusableError(
            "this Python belongs to the system, which allows nothing to be added by pip",
            cure="install Tunescope in an environment of its own, by pipx or packaging/run",
        )
    # As in an environment of pipx, or of uv where uv is not on the path.
    if command[0] == sys.executable and find_spec("pip") is None:
        inject = f"pipx inject tunescope {shlex.join(command[command.index('install') + 1 :])}"
        pip = f"{shlex.quote(sys.executable)} -m ensurepip"
        cure = f"run: {inject if 'pipx' in packages_folder.parts else pip}"
        return UnusableError("this environment has no pip", cure=cure)
    if not os.access(packages_folder, os.W_OK):
        cure = f"have it run by someone who may: {shlex.join(command)}"
        return UnusableError("nothing can be written there", where=str(packages_folder), cure=cure)
    return None


def _is_managed() -> bool:
    return (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()


def package_environment() -> dict[str, str]:
    """The environment variables of the process that installs."""
    # pip must not import modules of our folder.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**env, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}


def failure_text(output: str) -> str:
    """Why an installation failed, one sentence, by what it wrote."""
    lowered = output.lower()
    for sentence, signs in _FAILURES.items():
        if any(sign in lowered for sign in signs):
            return sentence
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    last_line = (errors or lines or ["it wrote nothing"])[-1]
    return f"The installer says: {last_line[:200]}"
