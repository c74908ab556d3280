"""Walks all pages with the real worker, and prints what the window's thread computes and imports.

Run as a program by test_window_load.py; FOLDER has table.csv, rows.csv, and is where runs are kept.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.window.pages_ahead import Preparation
from app.window.window import PAGES, Window

PATIENCE = 120  # seconds
NOTED = 0.02  # seconds of a slice


class MeasuredApplication(QApplication):
    """An application that notes how long its thread computes for each event."""

    slices: list[tuple[float, str]]
    phase = ""
    _is_inside = False

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        if self._is_inside:
            return super().notify(receiver, event)
        self._is_inside, begin = True, time.thread_time()
        try:
            return super().notify(receiver, event)
        finally:
            self._is_inside = False
            if (taken := time.thread_time() - begin) > NOTED:
                self.slices.append((taken, self.phase))


class Walk:
    """The window, and what a person does in it, each as an event of its own."""

    def __init__(self, folder: Path) -> None:
        settings.use_file(folder / "settings.ini")
        self.app = MeasuredApplication([])
        self.app.slices = []
        appearance.start(self.app)
        self.session = Session(runs_root=folder / "runs")
        self.window = Window(self.session)
        self.window.show()
        QTest.qWait(200)
        self.app.slices.clear()  # until here it is the start

    def do(self, phase: str, action: Callable[[], Any], wait: int = 700) -> None:
        self.app.phase = phase
        QTimer.singleShot(0, action)
        QTest.qWait(wait)

    def until(self, is_true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_true():
            assert time.monotonic() < end, f"{self.app.phase}: nothing happened"
            QTest.qWait(20)

    def show_pages(self, phase: str, keys: list[str]) -> None:
        for key in keys:
            self.do(f"{phase} {key}", lambda key=key: self.window.show_page(key))
            bar = self.window.current_page.scroll_area.verticalScrollBar()
            self.do(f"{phase} {key}, scrolled", lambda bar=bar: bar.setValue(bar.maximum()), 200)

    def show_tabs(self, phase: str) -> None:
        from app.pages.results_page import TABS

        for title in TABS:
            page: Any = self.window.pages["results"]
            self.do(f"{phase} {title}", lambda title=title, page=page: page.show_tab(title))

    def look_up(self, phase: str, show: Callable[[], None]) -> None:
        def close() -> None:
            if dialog := self.app.activeModalWidget():
                dialog.close()

        # Its own loop of events is inside one event of ours: only what it imports is looked at.
        QTimer.singleShot(500, close)
        QTest.qWait(0)
        show()
        self.app.phase = phase


def walk(folder: Path) -> None:
    """A file, all pages, a run, its results, its model, and the same run opened again."""
    visit = Walk(folder)
    session, window = visit.session, visit.window
    preparation = Preparation(window)
    visit.do("preparation", preparation.start)
    visit.until(lambda: session.exporters and not preparation.goes_on)
    visit.do("open the file", lambda: session.open_file(folder / "table.csv"))
    visit.until(lambda: session.plan is not None)
    QTest.qWait(1000)
    visit.show_pages("before", ["data", "model", "strategy", "tune", "history", "runs"])
    visit.do("choose", lambda: session.choose_model("logistic"))
    visit.do("choose", lambda: session.choose_strategy("random"))
    visit.do("plan", lambda: session.set_plan(trials=2))
    visit.do("start", session.start)
    visit.until(lambda: not session.is_going_on)
    assert session.results is not None
    every_page = ["results", *(key for key in PAGES if key != "results")]
    visit.show_pages("after", every_page)
    visit.show_tabs("after")
    visit.do("rows", lambda: session.predict_rows(folder / "rows.csv"), 3000)
    visit.do("past run", lambda: window.open_run(session.run_folder), 3000)
    visit.show_pages("past run", every_page)
    visit.show_tabs("past run")
    visit.look_up("help", lambda: window.show_help("start"))
    visit.look_up("settings", window.show_settings)
    for taken, phase in sorted(visit.app.slices, reverse=True)[:20]:
        sys.stdout.write(f"slice {1000 * taken:.0f} {phase}\n")
    sys.stdout.write(f"modules {' '.join(sys.modules)}\n")
    preparation.shutdown()
    session.shutdown()


if __name__ == "__main__":
    walk(Path(sys.argv[1]))
