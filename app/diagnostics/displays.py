"""Whether a window can be opened here, and with this version of Qt."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from core.errors import UnusableError

PATIENCE = 10.0  # seconds for a display to answer
# What Qt's wheels expect of the system, the same as in packaging/environment.sh.
PACKAGES = (
    "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0"
    " libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-xkb1 libxcb-randr0"
    " libxcb-image0 libxcb-render-util0 libx11-xcb1 libwayland-client0"
    " libwayland-cursor0 libwayland-egl1 fonts-dejavu-core"
)


_OLD = ("3.10", "3.11")
# (PySide6, affected versions of Python; empty for all): why
BAD: dict[tuple[str, tuple[str, ...]], str] = {
    ("6.8.0", ()): "it ends the program with a segmentation fault",
    ("6.9.1", ()): "plots zoom by themselves and their attributes get lost",
    ("6.9.2", ("3.12", "3.13")): "plots end the program with a segmentation fault",
    ("6.10.1", ()): "connecting to a table's signals ends the program",
    ("6.11.0", ()): "it is on record as failing together with pyqtgraph",
    ("6.11.1", ()): "it is on record as failing together with pyqtgraph",
    ("6.12.0", _OLD): "it loses references to None and aborts after some thousand calls",
}
# The rest of 6.10 needs pyqtgraph 0.14 or newer, which pyproject.toml asks for anyway.
GOOD = "6.11.3"


def obstacle() -> UnusableError | None:
    """Why no window can be opened here; None where one can."""
    try:
        importlib.import_module("PySide6.QtWidgets")
    except ModuleNotFoundError:
        return UnusableError(
            "the window needs PySide6, which is missing here",
            cure=f"install it with: {sys.executable} -m pip install PySide6-Essentials=={GOOD}",
        )
    except ImportError as error:
        return _missing_library_error(_library_in(str(error)))
    if not sys.platform.startswith("linux") or _can_open():
        return None
    if library := _missing_library():
        return _missing_library_error(library)
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if platform := os.environ.get("QT_QPA_PLATFORM"):
        return UnusableError(
            f"Qt cannot open a window on the platform “{platform}”, which the variable "
            "QT_QPA_PLATFORM names",
            cure="start the window without this variable",
        )
    if display:
        return UnusableError(f"the display {display} does not answer")
    return UnusableError("there is no display here")


def refuse_bad_qt(version: str, python: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raise UnusableError for a version that is known to fail."""
    running = f"{python[0]}.{python[1]}"
    for (bad, pythons), why in BAD.items():
        if version == bad and (not pythons or running in pythons):
            cure = f"install PySide6-Essentials {GOOD}"
            raise UnusableError(f"PySide6 {bad} cannot be used: {why}", cure=cure)


def _missing_library_error(library: str) -> UnusableError:
    cure = "install the package that brings it"
    if shutil.which("apt-get"):
        # Root needs no sudo, and may have none.
        sudo = "" if os.geteuid() == 0 else "sudo "
        cure = f"install it with: {sudo}apt-get update && {sudo}apt-get install -y {PACKAGES}"
    return UnusableError(
        f"the window needs {library}, a library of the system that is missing here", cure=cure
    )


def _library_in(message: str) -> str:
    return message.partition(":")[0].strip() or "Qt"


def _missing_library() -> str:
    package = sys.modules["PySide6"]
    plugins = Path(str(package.__file__)).parent / "Qt" / "plugins" / "platforms"
    for name in ("libqxcb.so", "libqwayland.so"):
        if (plugins / name).is_file() and name in _plugin_names():
            # The loader's error names the first library that is missing.
            try:
                ctypes.CDLL(str(plugins / name))
            except OSError as error:
                return _library_in(str(error))
    return ""


def _plugin_names() -> tuple[str, ...]:
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return ()
    # Options may follow the name (xcb:…), and wayland has variants (wayland-egl).
    platform_name = os.environ.get("QT_QPA_PLATFORM", "xcb").partition(":")[0]
    return (f"libq{platform_name.partition('-')[0]}.so",)


def _can_open() -> bool:
    # A copy tries first (30 ms): without a display or a library Qt ends the process.
    child = os.fork()
    if child == 0:
        _try_display()
    end = time.monotonic() + PATIENCE
    # waitpid knows no limit of time, and a display may never answer.
    while time.monotonic() < end:
        ended_id, status = os.waitpid(child, os.WNOHANG)
        if ended_id:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _try_display() -> None:
    # Whatever is raised, the copy must not go on as a second program.
    with contextlib.suppress(BaseException):
        import resource

        # Qt aborts where there is no display, which is expected and leaves no core dump.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        from PySide6.QtGui import QGuiApplication

        application = QGuiApplication(["tunescope"])
        os._exit(0 if application is not None else 1)
    os._exit(1)
