"""The command `tunescope`: the window, or one of the commands that run without it."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence

COMMANDS = (
    "tune",
    "predict",
    "models",
    "strategies",
    "samples",
    "runs",
    "resume",
    "replay",
    "report",
    "export",
    "history",
    "reproduce",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the window (on a file, if one is given), or run a command; returns the exit status."""
    # No process of ours looks for modules in the folder that it happens to be started in.
    os.environ["PYTHONSAFEPATH"] = "1"
    multiprocessing.freeze_support()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and (given[0] in COMMANDS or given[0].startswith("-")):
        from app.cli import main as run_command

        return run_command(given)
    if len(given) > 1:
        sys.stderr.write(f"tunescope: the window opens one file, not {len(given)}.\n")
        return 2
    return open_window(given[0] if given else "")


def open_window(file: str) -> int:
    """Show the window until it is closed."""
    import PySide6

    from app.diagnostics.qt_versions import refuse_bad_qt
    from core.errors import UnusableError

    try:
        refuse_bad_qt(PySide6.__version__)
    except UnusableError as error:
        sys.stderr.write(f"tunescope: {error.sentence}\n")
        return 2
    from app.window.window import run

    return run(file)


if __name__ == "__main__":
    sys.exit(main())
