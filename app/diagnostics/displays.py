"""Whether a window can be opened here.

Without a display or a system library Qt ends the process, so a forked child tries first (30 ms).
"""

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

from app.diagnostics.qt_versions import GOOD
from core.errors import UnusableError

PATIENCE = 10.0  # seconds for a display to answer
# What Qt's wheels expect of the system, the same as in packaging/environment.sh.
PACKAGES = (
    "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 libxcb-cursor0"
    " libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-xkb1 libxcb-randr0"
    " libxcb-image0 libxcb-render-util0 libx11-xcb1 libwayland-client0"
    " libwayland-cursor0 libwayland-egl1 fonts-dejavu-core"
)


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


def _missing_library_error(library: str) -> UnusableError:
    cure = "install the package that brings it"
    if shutil.which("apt-get"):
        cure = f"install it with: sudo apt-get update && sudo apt-get install -y {PACKAGES}"
    return UnusableError(
        f"the window needs {library}, a library of the system that is missing here", cure=cure
    )


def _library_in(message: str) -> str:
    """The library in "libEGL.so.1: cannot open shared object file: …"."""
    return message.partition(":")[0].strip() or "Qt"


def _missing_library() -> str:
    """The missing library of Qt's platform plugin; "" for none."""
    package = sys.modules["PySide6"]
    plugins = Path(str(package.__file__)).parent / "Qt" / "plugins" / "platforms"
    for name in ("libqxcb.so", "libqwayland.so"):
        if (plugins / name).is_file() and name in _plugin_names():
            try:
                ctypes.CDLL(str(plugins / name))
            except OSError as error:
                return _library_in(str(error))
    return ""


def _plugin_names() -> tuple[str, ...]:
    """The platform plugin for the display here, if any."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return ()
    platform_name = os.environ.get("QT_QPA_PLATFORM", "xcb").partition(":")[0]
    return (f"libq{platform_name.partition('-')[0]}.so",)


def _can_open() -> bool:
    child = os.fork()
    if child == 0:
        _try_display()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended_id, status = os.waitpid(child, os.WNOHANG)
        if ended_id:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _try_display() -> None:
    with contextlib.suppress(BaseException):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump of an expected abort
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        from PySide6.QtGui import QGuiApplication

        application = QGuiApplication(["tunescope"])
        os._exit(0 if application is not None else 1)
    os._exit(1)
