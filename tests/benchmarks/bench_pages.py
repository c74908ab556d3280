"""How long each page takes to open with a run of 10,000 trials shown and 1,000 runs kept.

    python tests/benchmarks/bench_pages.py [--trials 10000] [--runs 1000] [--keep FOLDER]

From `go` to the end of the first paint, the time that the window's thread computes (other work on
the machine does not count); the first time, which makes the page, and again. The wish is 100 ms.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.cli import main as run_command
from app.look import appearance
from app.preferences import preferences
from app.session.session import Session
from app.window.window import PAGES, Window


def prepare(place: Path, trials: int, runs: int) -> Path:
    """A folder of runs: a long one, and copies of a short one."""
    root = place / "runs"
    tune = ["tune", "sample:iris", "--model", "knn", "--strategy", "random"]
    if not (root / "long").exists():
        run_command([*tune, "--trials", str(trials), "--run-dir", str(root / "long")])
    if not (root / "short").exists():
        run_command([*tune, "--trials", "5", "--run-dir", str(root / "short")])
    for at in range(runs):
        copy = root / f"short {at:04}"
        if not copy.exists():
            shutil.copytree(root / "short", copy)
    return root


def opened(window: Window, key: str) -> tuple[float, float]:
    """Milliseconds that are computed, and by the clock, until the page is painted."""
    begun, clock = time.thread_time(), time.perf_counter()
    window.show_page(key)
    QApplication.processEvents()
    window.grab()
    return 1e3 * (time.thread_time() - begun), 1e3 * (time.perf_counter() - clock)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    place = given.keep or Path(tempfile.mkdtemp())
    os.environ["TUNESCOPE_HISTORY"] = str(place / "history.sqlite3")
    root = prepare(place, given.trials, given.runs)
    preferences.use_file(place / "settings.ini")
    app = QApplication([])
    appearance.start(app)
    session = Session(runs_root=root)
    window = Window(session)
    window.resize(1280, 800)
    window.show()
    told: list[int] = []
    session.run_opened.connect(lambda *_: told.append(1))
    window.open_run(root / "long")
    while not told:
        QTest.qWait(50)
    QTest.qWait(3000)
    print(f"{given.trials:,} trials, {given.runs:,} runs; milliseconds computed (by the clock)")
    for key in PAGES:
        window.show_page("start")
        QTest.qWait(500)
        first = opened(window, key)
        QTest.qWait(1500)
        window.show_page("start")
        QTest.qWait(500)
        again = opened(window, key)
        pair = (("first", first), ("again", again))
        print(f"{key:12}", *(f"{name} {ms[0]:6.0f} ({ms[1]:.0f})" for name, ms in pair))
    window.close()
    session.shutdown()
    if given.keep is None:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
