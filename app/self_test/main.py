"""`tunescope --self-test`: open, tune, export and predict, a line a step; status 0 or 1.

Everything happens in a folder that goes at the end: no run, history, key or setting of the person
is read or changed. The window opens without a display.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.self_test.files import FORMATS
from app.self_test.steps import Steps

PARTS = ("mm", "gp", "eb-hyp", "sequences")


def main(parts: Sequence[str] = PARTS, formats: Sequence[str] = tuple(FORMATS)) -> int:
    """Take every step, even after one has failed; 0 where all came out as they must.

    Args:
        parts: what is tuned, of PARTS.
        formats: what is read, of FORMATS; those whose package is missing are left out.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    kept = {name: os.environ.get(name) for name in ("RUNS", "HISTORY", "KEY")}
    with tempfile.TemporaryDirectory(prefix="tunescope-", ignore_cleanup_errors=True) as folder:
        os.environ["TUNESCOPE_RUNS"] = str(Path(folder) / "runs")
        os.environ["TUNESCOPE_HISTORY"] = str(Path(folder) / "history.sqlite3")
        os.environ["TUNESCOPE_KEY"] = str(Path(folder) / "key")
        try:
            return _run(Path(folder), parts, formats)
        finally:
            for name, value in kept.items():
                os.environ.pop(f"TUNESCOPE_{name}", None)
                if value is not None:
                    os.environ[f"TUNESCOPE_{name}"] = value


def _run(folder: Path, parts: Sequence[str], formats: Sequence[str]) -> int:
    from app.diagnostics.versions import version

    sys.stdout.write(f"{version()}\n")
    steps = Steps()
    steps.take("every part can be imported", _import)
    if steps.failed:
        return 1
    from app.self_test.program import Program
    from app.self_test.tuning import Tried

    program: list[Program] = []
    steps.take("the window opens", lambda: program.append(Program(folder)))
    if not program:
        return 1
    try:
        Tried(program[0], folder, steps).all(parts, formats)
    finally:
        steps.take("the window closes", program[0].close)
    failed = len(steps.failed)
    sys.stdout.write(f"{failed} of {steps.taken} steps failed.\n" if failed else "All is well.\n")
    return 1 if failed else 0


def _import() -> None:
    import app.cli.commands
    import app.window.opening
    import app.worker.engine  # noqa: F401
