"""`tunescope --self-test`: open, tune, export and predict in a temporary folder."""

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from app.self_test.sample_files import FORMATS

CASES = ("mm", "gp", "eb-hyp", "sequences")
# What a person has keeps clear of the self-test: {variable: its place in the temporary folder}.
SCRATCH = {"TUNESCOPE_RUNS": "runs", "TUNESCOPE_HISTORY": "history.sqlite3", "TUNESCOPE_KEY": "key"}


class StepFailedError(Exception):
    """A failed step; the message says how."""


class StepRunner:
    """Runs steps, times them and prints a line each."""

    def __init__(self) -> None:
        self.step_count = 0
        self.failed: list[str] = []

    def run_step(self, title: str, act: Callable[[], object]) -> bool:
        start_seconds = time.monotonic()
        self.step_count += 1
        try:
            act()
        # Whatever breaks is one step that failed: the others tell how much of the program works.
        except Exception as error:
            self.failed.append(title)
            sys.stdout.write(f"FAILED  {title}: {_error_text(error)}\n")
        else:
            sys.stdout.write(f"ok      {title} ({time.monotonic() - start_seconds:.1f} s)\n")
        # Whoever waits sees how far it is, also through a pipe.
        sys.stdout.flush()
        return title not in self.failed


def _error_text(error: Exception) -> str:
    from core.errors import UnusableError

    if isinstance(error, (StepFailedError, UnusableError)):
        return str(error)
    return "".join(traceback.format_exception(error)).strip()


def run_self_test(cases: Sequence[str] = CASES, formats: Sequence[str] = tuple(FORMATS)) -> int:
    """Run every step of CASES and FORMATS; 0 where all passed."""
    # On a desktop as well, where a window that works by itself would be in the way.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    saved_values = {name: os.environ.get(name) for name in SCRATCH}
    # Windows deletes no file that a process has still open.
    with tempfile.TemporaryDirectory(prefix="tunescope-", ignore_cleanup_errors=True) as folder:
        os.environ |= {name: str(Path(folder) / file) for name, file in SCRATCH.items()}
        try:
            return _run_steps(Path(folder), cases, formats)
        finally:
            for name, value in saved_values.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _run_steps(folder: Path, cases: Sequence[str], formats: Sequence[str]) -> int:
    from app.diagnostics.displays import obstacle
    from core.extras import version

    sys.stdout.write(f"{version()}\n")
    # Before anything imports Qt, which would end in a traceback.
    if why := obstacle():
        sys.stderr.write(f"tunescope: {why.sentence}\n")
        return 1
    sys.stdout.write("It takes half a minute to two.\n")
    steps = StepRunner()
    steps.run_step("every part can be imported", _import_program)
    # Before the window's modules are imported here, where a failure would be no step.
    if steps.failed:
        return 1
    from app.self_test.tuning_self_test import ProgramUnderTest, TuningSelfTest

    program: list[ProgramUnderTest] = []
    steps.run_step("the window opens", lambda: program.append(ProgramUnderTest(folder)))
    if not program:
        return 1
    try:
        TuningSelfTest(program[0], folder, steps).run_all(cases, formats)
    finally:
        steps.run_step("the window closes", program[0].close)
    failed = len(steps.failed)
    outcome = f"{failed} of {steps.step_count} steps failed." if failed else "All is well."
    sys.stdout.write(f"{outcome}\n")
    return 1 if failed else 0


def _import_program() -> None:
    import app.cli.commands
    import app.window.open_window
    import app.worker.engine  # noqa: F401
