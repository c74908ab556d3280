"""One walk through all six steps with the real worker, in whatever display there is.

Run as a program by test_walk.py; prints one line a step and ends with status 0. Every press is a
mouse press on a visible control, found by the name that a screen reader would say.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from unittest import mock

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.window.window import Window
from core.tuning.events import TrialFinished

PATIENCE = 120  # seconds
MINUTES = 0.1  # of a run of several models


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Walker:
    def __init__(self, folder: Path) -> None:
        settings.use_file(folder / "settings.ini")
        self.app = QApplication(sys.argv[:1])
        appearance.start(self.app)
        self.folder = folder
        self.session = Session(runs_root=folder / "runs")
        self.problems: list[str] = []
        self.session.problem.connect(self.problems.append)
        self.window = Window(self.session)
        self.window.show()
        assert QTest.qWaitForWindowExposed(self.window)

    def until(self, true) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"nothing happened; problems: {self.problems}"
            QTest.qWait(20)

    def named(self, name: str) -> QWidget:
        found = [
            widget
            for widget in self.window.findChildren(QWidget)
            if widget.isVisible() and widget.isEnabled() and widget.accessibleName() == name
        ]
        assert found, f"no visible control is called “{name}”"
        return found[0]

    def press(self, name: str) -> None:
        widget = self.named(name)
        self.window.pages[self.window.here].scroll_area.ensureWidgetVisible(widget)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        QTest.qWait(50)

    def here(self, key: str) -> None:
        self.until(lambda: self.window.here == key)
        say(f"{key}: {self.window.pages[key].title}")


def walk(folder: Path, kill: bool) -> None:
    walker = Walker(folder)
    session = walker.session
    walker.press("Breast cancer")
    walker.here("data")
    walker.press("Choose a model")
    walker.here("model")
    session.choose_model("svm")
    walker.press("Choose a strategy")
    walker.here("strategy")
    session.choose_strategy("gp")
    session.set_plan(trials=6, options={"start_trials": 3})
    walker.until(lambda: (session.estimate or {}).get("trials") == 6)
    walker.press("Start tuning")
    walker.here("tune")
    if kill:
        kill_once(walker)
    walker.until(lambda: session.state == "finished")
    tried = [event.number for event in session.events if isinstance(event, TrialFinished)]
    assert sorted(tried) == list(range(6)), tried
    walker.until(lambda: walker.window.pages["tune"].board.views["slice"].has_content())
    walker.press("See the results")
    walker.here("results")
    walker.press("Export the model")
    walker.here("export")
    for name, ending in (("Save Model as", ".skops"), ("Save Python script as", ".py")):
        save(walker, name, folder / f"taken{ending}")
    walker.window.grab().save(str(folder / "end.png"))
    if not kill:
        assert walker.problems == []
    walker.window.close()
    session.shutdown()
    assert session._worker.isFinished()
    shiboken6.delete(walker.window)  # before the application, as where the program ends
    say("closed")


def walk_by_first_buttons(folder: Path) -> None:
    """What a person sees who presses the first button on every page: several models in one run."""
    walker = Walker(folder)
    session = walker.session
    walker.press("Iris flowers")
    walker.here("data")
    walker.press("Choose a model")
    walker.here("model")
    assert session.plan.model == "auto"
    walker.press("Choose a strategy")
    walker.here("strategy")
    session.set_plan(minutes=MINUTES)  # instead of one
    walker.until(lambda: (session.estimate or {}).get("seconds") == 60 * MINUTES)
    walker.press("Start tuning")
    walker.until(lambda: walker.window.here == "tune")
    walker.until(lambda: session.shown.state.started.space)  # the worker has begun
    walker.until(lambda: walker.window.pages["tune"].title.startswith("Finding"))
    walker.here("tune")
    board = walker.window.pages["tune"].board
    walker.until(lambda: any(trial.score > 0 for trial in session.shown.state.trials))
    assert {"models", "best", "trials"} <= set(board.views)
    board.look_at(session.shown.state.trials[0].setting["model"])
    walker.until(lambda: session.state == "finished")
    say(f"models: {len(board.views['models'].leaderboard)}")
    assert board.record.run.trials
    walker.press("See the results")
    walker.here("results")
    candidates = walker.window.pages["results"].candidates
    other = next(key for key in candidates.cards.cards if key != session.results["taken"])
    session.select_model(other)
    walker.until(lambda: session.state == "finished")
    assert session.results["taken"] == other
    say("picked another one")
    walker.press("Export the model")
    walker.here("export")
    for name, ending in (("Save Model as", ".skops"), ("Save Report as", ".html")):
        save(walker, name, folder / f"taken{ending}")
    assert walker.problems == []
    walker.window.close()
    session.shutdown()
    shiboken6.delete(walker.window)
    say("closed")


def kill_once(walker: Walker) -> None:
    """Kill the worker in the middle of the run, and go on as the window offers."""
    session = walker.session
    walker.until(lambda: sum(isinstance(e, TrialFinished) for e in session.events) >= 2)
    os.kill(session._worker.process_id, signal.SIGKILL)
    walker.until(lambda: session.state == "interrupted")
    assert "killed (signal 9)" in walker.problems[0]
    assert "the current one is lost" in walker.problems[0]
    walker.press("Resume")
    say("killed and gone on")


def save(walker: Walker, name: str, path: Path) -> None:
    with mock.patch.object(QFileDialog, "getSaveFileName", return_value=(str(path), "")):
        walker.press(name)
    walker.until(path.exists)
    walker.until(lambda: any(card._path == path for card in cards(walker)))
    say(f"saved {path.name}")


def cards(walker: Walker) -> list:
    return list(walker.window.pages["export"].cards.values())


if __name__ == "__main__":
    if "several" in sys.argv[2:]:
        walk_by_first_buttons(Path(sys.argv[1]))
    else:
        walk(Path(sys.argv[1]), kill="kill" in sys.argv[2:])
