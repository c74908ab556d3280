"""The evaluator's process: it evaluates surrogates for plots, and leaves when the window is gone.

It imports numpy, scipy, contourpy and core.gp only, so that it is ready in a moment. No Qt in here.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from app.worker.process import NICENESS, THREAD_LIMITS


def serve(pipe: Connection) -> None:
    """Answer one request after the other until the other end closes."""
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))  # before numpy comes
    if sys.platform != "win32":
        os.nice(NICENESS)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_all()  # while nobody waits
    while True:
        try:
            request = pipe.recv()
            pipe.send(answer(request))
        except (EOFError, OSError):
            return


def _import_all() -> None:
    """Evaluate a surrogate of two points, which brings everything that later requests need."""
    axes = [
        {"name": name, "label": name, "kind": "float", "low": 0.0, "high": 1.0, "log": False,
         "choices": [], "default": 0.5}
        for name in "xy"
    ]  # fmt: skip
    two = {"points": [[0.2, 0.3], [0.7, 0.9]], "responses": [0.0, 1.0], "numbers": [0, 1],
           "lengths": [0.5, 0.5], "noise": 0.1, "trials": 2, "incumbent": [0.7, 0.9],
           "next": [0.5, 0.5]}  # fmt: skip
    about = {"surrogate": two, "space": axes}
    answer({"what": "slice", **about, "axis": "x"})
    answer({"what": "surface", **about, "first": "x", "second": "y"})


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the request asked, under "answer", or why there is none, under "problem".

    Args:
        request: {"what": "slice", "surrogate", "space", "axis", "at"} or {"what": "surface",
            "surrogate", "space", "first", "second", "at"}; "common slice" and "common surface"
            likewise, with the fields of HistoryRead under "history".
    """
    from core.gp import evaluator
    from core.gp.transfer import evaluator as transfer_evaluator

    common = "history" in request
    history = (request["history"],) if common else ()
    about = (request["surrogate"], *history, request["space"])
    along = transfer_evaluator.common_slice if common else evaluator.slice_through
    over = transfer_evaluator.common_image if common else evaluator.surface
    try:
        if "axis" in request:
            found = along(*about, request["axis"], at=request.get("at"))
        else:
            found = over(*about, request["first"], request["second"], at=request.get("at"))
    except (ArithmeticError, LookupError, ValueError) as error:
        return {"problem": type(error).__name__}
    return {"answer": found}
