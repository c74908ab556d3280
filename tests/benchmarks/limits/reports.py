"""The report of a long run, beside writing as many characters."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from app.cli import main as run_command
from core.export.finished_run import FinishedRun, finished_run
from core.export.report.report_page import page_html
from core.tuning.runs.run_folder import RunFolder
from limits.work import Work, seconds

TRIALS = 10_000


@cache
def long_run() -> FinishedRun:
    folder = Path(tempfile.mkdtemp()) / "long"
    tune = ["tune", "sample:iris", "--model", "knn", "--strategy", "random"]
    run_command([*tune, "--trials", str(TRIALS), "--patience", "0", "--run-dir", str(folder)])
    return finished_run(RunFolder.open(folder))


def reporting() -> float:
    """Seconds of the page's text."""
    run = long_run()
    return seconds(lambda: page_html(run), 3)


def writing() -> float:
    """Seconds of joining as many characters, a hundred at a time, and encoding them."""
    text = page_html(long_run())
    return seconds(lambda: "".join(text[k : k + 100] for k in range(0, len(text), 100)).encode(), 5)


WORK = (
    Work("report of 10,000 trials", 1.0, reporting, writing, "joining its characters"),
)  # fmt: skip
