"""A lost display: print it, and end the program.

Qt ends its event loop then; where Xlib is writing, it ends the process without Python code.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
    from app.window.window import Window

GONE = 1  # what Qt's event loop returns where the X server has died, and the exit status

_Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_error_handlers: list[Callable[[int], int]] = []  # Xlib holds a bare pointer to it


def tell_when_gone(window: Window) -> None:
    """Make Xlib print a message before it ends the process."""
    if QGuiApplication.platformName() != "xcb":
        return
    try:
        xlib = ctypes.CDLL("libX11.so.6")  # the one that Qt has loaded
    except OSError:
        return

    def handle_display_error(_display: int) -> int:
        say_gone(window)
        sys.stderr.flush()
        os._exit(GONE)  # the worker ends by itself, and the run goes on from its folder

    _error_handlers[:] = [_Handler(handle_display_error)]
    xlib.XSetIOErrorHandler(_error_handlers[0])


def say_gone(window: Window) -> None:
    """Print that the display has gone, and how to continue the run."""
    session = window.session
    goes_on = ""
    if session.is_going_on and session.run_folder is not None:
        name = session.run_folder.name
        goes_on = f" The run is kept: tunescope resume {name} continues it, as does the window."
    sys.stderr.write(f"tunescope: the display has gone.{goes_on}\n")
