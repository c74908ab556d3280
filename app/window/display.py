"""A display that goes: the terminal is told, and the program ends, whoever notices it first.

Qt reads from the connection to an X server and ends its event loop when that breaks; where Xlib is
the one that is writing then, it ends the process by itself, and nothing of ours would run.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from app.session.session import Session

GONE = 1  # what Qt's event loop returns where the X server has died, and the exit status

_Handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_kept: list[_Handler] = []  # Xlib holds a bare pointer to it


def tell_when_gone(window: QWidget) -> None:
    """Have Xlib, where it is in use, tell the terminal before it ends the process."""
    if QGuiApplication.platformName() != "xcb":
        return
    try:
        xlib = ctypes.CDLL("libX11.so.6")  # the one that Qt has loaded
    except OSError:
        return

    def broken(_display: int) -> int:
        say_gone(window)
        sys.stderr.flush()
        os._exit(GONE)  # the worker ends by itself, and the run goes on from its folder

    _kept[:] = [_Handler(broken)]
    xlib.XSetIOErrorHandler(_kept[0])


def say_gone(window: QWidget) -> None:
    """Tell the terminal that the display has gone, and how a run that was going on goes on."""
    session: Session = window.session
    goes_on = ""
    if session.is_going_on and session.run_folder is not None:
        name = session.run_folder.name
        goes_on = f" The run is kept: tunescope resume {name} goes on with it, as does the window."
    sys.stderr.write(f"tunescope: the display has gone.{goes_on}\n")
