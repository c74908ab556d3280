"""`tunescope --self-test`: open, tune, export and predict in a temporary folder."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.self_test.sample_files import FORMATS
from app.self_test.step_runner import StepRunner

CASES = ("mm", "gp", "eb-hyp", "sequences")


def run_self_test(cases: Sequence[str] = CASES, formats: Sequence[str] = tuple(FORMATS)) -> int:
    """Run every step of CASES and FORMATS; 0 where all passed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    saved_environment = {name: os.environ.get(name) for name in ("RUNS", "HISTORY", "KEY")}
    with tempfile.TemporaryDirectory(prefix="tunescope-", ignore_cleanup_errors=True) as folder:
        os.environ["TUNESCOPE_RUNS"] = str(Path(folder) / "runs")
        os.environ["TUNESCOPE_HISTORY"] = str(Path(folder) / "history.sqlite3")
        os.environ["TUNESCOPE_KEY"] = str(Path(folder) / "key")
        try:
            return _run_steps(Path(folder), cases, formats)
        finally:
            for name, value in saved_environment.items():
                os.environ.pop(f"TUNESCOPE_{name}", None)
                if value is not None:
                    os.environ[f"TUNESCOPE_{name}"] = value


def _run_steps(folder: Path, cases: Sequence[str], formats: Sequence[str]) -> int:
    from app.diagnostics.versions import version

    sys.stdout.write(f"{version()}\n")
    steps = StepRunner()
    steps.run_step("every part can be imported", _import_program)
    if steps.failed:
        return 1
    from app.self_test.program_under_test import ProgramUnderTest
    from app.self_test.tuning_self_test import TuningSelfTest

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
