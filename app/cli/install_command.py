"""`tunescope install`: install extras into this environment."""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import UnusableError, nearest_names_cure
from core.extras import EXTRAS

# {extra: (purpose, modules)} of those that are no optional part of a model
_OF_FILES = {"columnar": ("Parquet and Feather files", ("pyarrow",))}


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    install = commands.add_parser(
        "install", help="install extras: further models, kinds of files, ONNX", closing=extras_text
    )
    add = install.add_argument
    add("names", nargs="*", metavar="NAME", help="which ones; without a name, they are listed")
    add("--dry-run", action="store_true", help="say what would be run, and change nothing")
    add("--again", action="store_true", help="install even what is there, to repair it")
    install.set_defaults(run=run_install)


def run_install(arguments: argparse.Namespace) -> int:
    """Install what is missing; 1 where that failed."""
    for name in arguments.names:
        if name not in EXTRAS:
            fault = f"there is no extra “{name}”"
            raise UnusableError(fault, cure=nearest_names_cure(EXTRAS, name))
    if not arguments.names:
        print(extras_text())
        return 0
    missing_names = [name for name in arguments.names if arguments.again or not is_there(name)]
    for name in arguments.names:
        if name not in missing_names:
            print(f"{name} is installed already.")
    if not missing_names:
        return 0
    command = pip_command(missing_names, reinstall=arguments.again)
    if arguments.dry_run:
        print(f"Would run: {shlex.join(command)}")
        if why := refusal(command):
            print(f"tunescope: {why.sentence}", file=sys.stderr)
        return 0
    if why := refusal(command):
        raise why
    return _install_packages(command, missing_names)


def _install_packages(command: list[str], names: list[str]) -> int:
    print(f"Running: {shlex.join(command)}", flush=True)
    if subprocess.run(command, env=_environment(), check=False).returncode:
        print(
            "tunescope: it was not installed; the lines above say why. It needs a network"
            " connection, and continues when the command is run again.",
            file=sys.stderr,
        )
        return 1
    importlib.invalidate_caches()
    if unusable := [name for name in names if not is_there(name)]:
        print(f"tunescope: {', '.join(unusable)} cannot be imported even so.", file=sys.stderr)
        return 1
    print(f"Installed: {', '.join(names)}. A window that is open takes it at its next start.")
    return 0


def extras_text() -> str:
    """Every extra with its purpose and state."""
    width = max(map(len, EXTRAS))
    lines = []
    for name in EXTRAS:
        state = "installed" if is_there(name) else ", ".join(EXTRAS[name])
        lines.append(f"  {name:{width}}  {_purpose_and_modules(name)[0]} ({state})")
    return "\n".join(["The extras:", *lines])


def is_there(name: str) -> bool:
    """Whether every module of an extra can be imported."""
    return all(find_spec(module) is not None for module in _purpose_and_modules(name)[1])


def _purpose_and_modules(name: str) -> tuple[str, tuple[str, ...]]:
    from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES

    if name in _OF_FILES:
        return _OF_FILES[name]
    dependency = OPTIONAL_DEPENDENCIES[name]
    return dependency.does, dependency.modules


def pip_command(names: Iterable[str], reinstall: bool = False) -> list[str]:
    """The command that installs extras here."""
    requirements = list(dict.fromkeys(package for name in names for package in EXTRAS[name]))
    force_options = ["--force-reinstall", "--no-deps"] if reinstall else []
    return [sys.executable, "-m", "pip", "install", *force_options, *requirements]


def refusal(command: list[str]) -> UnusableError | None:
    """Why nothing can be installed here; None where it can."""
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
    if find_spec("pip") is None:
        inject = f"pipx inject tunescope {shlex.join(command[command.index('install') + 1 :])}"
        pip = f"{shlex.quote(sys.executable)} -m ensurepip"
        return UnusableError(
            "this environment has no pip",
            cure=f"run: {inject if 'pipx' in packages_folder.parts else pip}",
        )
    if not os.access(packages_folder, os.W_OK):
        return UnusableError(
            "nothing can be written there",
            where=str(packages_folder),
            cure=f"have it run by someone who may: {shlex.join(command)}",
        )
    return None


def _is_managed() -> bool:
    return (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()


def _environment() -> dict[str, str]:
    # pip must not import modules of our folder.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**env, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
