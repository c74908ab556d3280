"""The README's pictures: the surrogate, the trajectory of group penalties, the verdict.

    QT_QPA_PLATFORM=offscreen .venv/bin/python packaging/make_screenshots.py

Each is the program's own window at 1440 × 900 in the light theme, on a run that is made for it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.cli import main as run_command
from app.look import appearance
from app.preferences import preferences
from app.session.session import Session
from app.views.plot.view import View
from app.window.window import Window

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "screenshots"
SIZE = (1440, 900)
PATIENCE = 60.0  # seconds
SETTLES = 8000  # milliseconds, until what the worker computes for a view has come
# {picture: (page, arguments of tunescope tune)}
PICTURES = {
    "tune": ("tune", "sample:groups --model svm --strategy hybrid --trials 16"),
    "penalties": ("tune", "sample:groups --model logistic --strategy mm --groups prefix"),
    "results": ("results", "sample:digits --minutes 0.8"),
}


def main() -> None:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    named = parser.parse_args().names or list(PICTURES)
    with tempfile.TemporaryDirectory() as place:
        os.environ["TUNESCOPE_RUNS"] = f"{place}/runs"
        os.environ["TUNESCOPE_HISTORY"] = f"{place}/history.sqlite3"
        for name in named:
            run = Path(place) / "runs" / name
            asked = ["tune", *PICTURES[name][1].split(), "--run-dir", str(run)]
            if run_command(asked):
                raise SystemExit(f"{name}: the run failed")
        preferences.use_file(Path(place) / "settings.ini")
        application = QApplication([])
        application.setApplicationName("Tunescope")
        appearance.start(application)
        appearance.change_look(scheme="light")
        session = Session(runs_root=Path(place) / "runs")
        window = Window(session)
        window.resize(*SIZE)
        window.show()
        try:
            for name in named:
                window.show_page("start")
                take(window, Path(place) / "runs" / name, PICTURES[name][0], name)
        finally:
            window.close()
            session.shutdown()


def take(window: Window, run: Path, page: str, name: str) -> None:
    """Show a run's page and save what is seen."""
    opened: list[bool] = []
    window.session.run_opened.connect(lambda: opened.append(True))
    window.session.problem.connect(print)
    window.open_run(run)
    until(lambda: bool(opened))
    window.show_page(page)
    until(lambda: not drawing(window))
    QTest.qWait(SETTLES)
    path = FOLDER / f"{name}.png"
    window.grab().save(str(path))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def drawing(window: Window) -> bool:
    """Whether a visible view has not drawn yet."""
    QTest.qWait(300)
    views = [view for view in window.findChildren(View) if view.isVisible()]
    return any(view.dirty and not view.visibleRegion().isEmpty() for view in views)


def until(true) -> None:
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise SystemExit("nothing happened")
        QTest.qWait(50)


if __name__ == "__main__":
    main()
