"""Walks through the window with the real worker, in whatever display there is, and their hands.

Run as a program by test_walk.py; prints one line a step and ends with status 0. By keys, a control
is reached with Tab alone; by the mouse, it must lie where it is pressed, covered by nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QTableView, QWidget

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.window.window import Window
from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.tuning.events import TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

PATIENCE = 120  # seconds
MINUTES = 0.1  # of a run of several models
MOST_STOPS = 400  # of Tab, until a control must have been reached
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton
Target = QWidget | str  # a control, or the name that a screen reader would say


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Hand:
    """What a person does in a window: reach a control and press it, and give keys to it."""

    def __init__(self, folder: Path) -> None:
        settings.use_file(folder / "settings.ini")
        appearance.start(appearance.application())
        self.folder = folder
        self.session = Session(runs_root=folder / "runs")
        self.problems: list[str] = []
        self.session.problem.connect(self.problems.append)
        self.window = Window(self.session)
        self.window.show()
        assert QTest.qWaitForWindowExposed(self.window)
        self.window.session.runs.reload()  # as the program does once it has painted
        self.window.activateWindow()
        QTest.qWait(200)

    def close(self) -> None:
        self.window.grab().save(str(self.folder / "end.png"))
        self.by(Qt.Key.Key_Q, self.window.close)
        self.until(lambda: not self.window.isVisible())
        self.session.shutdown()
        assert self.session._worker.isFinished()
        shiboken6.delete(self.window)  # before the application, as where the program ends
        say("closed")

    # Looking ----------------------------------------------------------------------------------

    def until(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > end:
                there = f"problems: {self.problems}, controls: {sorted(self._controls())}"
                raise AssertionError(f"nothing happened; {there}")
            QTest.qWait(20)

    def here(self, key: str) -> None:
        self.until(lambda: self.window.here == key)
        say(f"{key}: {self.window.pages[key].title}")

    def named(self, wanted: Target) -> QWidget:
        if isinstance(wanted, QWidget):
            return wanted
        self.until(lambda: wanted in self._controls())
        return self._controls()[wanted]

    def _controls(self) -> dict[str, QWidget]:
        """The controls that can be pressed by name, the first of those that share one."""
        widgets = self.window.findChildren(QWidget)
        usable = [one for one in widgets if one.isVisible() and one.isEnabled()]
        return {one.accessibleName(): one for one in reversed(usable)}

    # Doing ------------------------------------------------------------------------------------

    def reach(self, wanted: Target) -> QWidget:
        """Bring the focus to a control, or the pointer."""
        raise NotImplementedError

    def press(self, wanted: Target) -> None:
        raise NotImplementedError

    def by(self, key: Qt.Key, otherwise: Target | Callable[[], object], *more: object) -> None:
        """What has a key, with Ctrl, and a control that does the same."""
        raise NotImplementedError

    def key(self, key: Qt.Key, modifier: object = NONE, pause: int = 30) -> None:
        """A key, to whatever has the focus, and milliseconds until the next."""
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        QTest.qWait(pause)

    def write(self, text: str) -> None:
        for letter in text:
            QTest.keyClick(QApplication.focusWidget(), letter)
        QTest.qWait(30)

    def choose(self, entry: str, press: Callable[[], object]) -> None:
        """Open a menu and choose an entry."""

        def trigger() -> None:
            menu = QApplication.activePopupWidget()
            assert isinstance(menu, QMenu), menu
            next(one for one in menu.actions() if one.text() == entry).trigger()
            menu.close()

        QTimer.singleShot(100, trigger)
        press()

    def save(self, name: str, path: Path) -> None:
        """Save a kind of file of the Export page."""
        with mock.patch.object(QFileDialog, "getSaveFileName", return_value=(str(path), "")):
            self.press(name)
        cards = self.window.pages["export"].cards.values()
        self.until(lambda: path.exists() and any(card._path == path for card in cards))


class Keys(Hand):
    """Tab, Enter and the keys of the help."""

    def reach(self, wanted: Target) -> QWidget:
        widget, passed = self.named(wanted), []
        for _ in range(MOST_STOPS):
            focused = QApplication.focusWidget()
            passed.append(focused.accessibleName() or type(focused).__name__ if focused else "-")
            if focused is not None and (focused is widget or widget.isAncestorOf(focused)):
                return widget
            self.key(Qt.Key.Key_Tab, pause=5)
        stops = " | ".join(dict.fromkeys(passed))
        raise AssertionError(f"Tab does not reach {widget.accessibleName() or widget}: {stops}")

    def press(self, wanted: Target) -> None:
        widget = self.reach(wanted)
        self.until(lambda: not getattr(widget, "is_deaf", False))
        self.key(Qt.Key.Key_Return)

    def by(self, key: Qt.Key, otherwise: object, *more: object) -> None:
        self.key(key, CONTROL | more[0] if more else CONTROL)


class Mouse(Hand):
    """The pointer, after scrolling as far as needed."""

    def reach(self, wanted: Target) -> QWidget:
        widget = self.named(wanted)

        def below() -> QWidget | None:
            self.window.pages[self.window.here].scroll_area.ensureWidgetVisible(widget, 20, 60)
            QTest.qWait(50)
            return self.window.childAt(widget.mapTo(self.window, self._middle(widget)))

        self.until(below)  # the page may still grow, and it is scrolled away
        there = below()
        own = there is widget or widget.isAncestorOf(there) or there.isAncestorOf(widget)
        assert own, f"{there} lies over {widget.accessibleName()}"
        return widget

    def press(self, wanted: Target) -> None:
        widget = self.reach(wanted)
        self.until(lambda: not getattr(widget, "is_deaf", False))
        QTest.mouseClick(widget, LEFT, pos=self._middle(widget))
        QTest.qWait(50)

    def by(self, key: Qt.Key, otherwise: object, *more: object) -> None:
        if callable(otherwise):
            otherwise()
        else:
            self.press(otherwise)

    def _middle(self, widget: QWidget) -> QPoint:
        return widget.visibleRegion().boundingRect().center()


# A sample, one model, and a worker that is killed ---------------------------------------------


def walk_six_steps(folder: Path) -> None:
    hand = Mouse(folder)
    session, window = hand.session, hand.window
    hand.press("Breast cancer")
    hand.here("data")
    hand.press("Choose a model")
    hand.here("model")
    session.choose_model("svm")
    hand.press("Choose a strategy")
    hand.here("strategy")
    session.choose_strategy("gp")
    session.set_plan(trials=6, options={"start_trials": 3})
    hand.until(lambda: (session.estimate or {}).get("trials") == 6)
    hand.press("Start tuning")
    hand.here("tune")
    hand.until(lambda: sum(isinstance(e, TrialFinished) for e in session.events) >= 2)
    os.kill(session._worker.process_id, signal.SIGKILL)
    hand.until(lambda: session.state == "interrupted")
    assert "killed (signal 9)" in hand.problems[0]
    assert "the current one is lost" in hand.problems[0]
    hand.press("Resume")
    hand.until(lambda: session.state == "finished")
    tried = [event.number for event in session.events if isinstance(event, TrialFinished)]
    assert sorted(tried) == list(range(6)), tried
    hand.until(lambda: window.pages["tune"].board.views["slice"].has_content())
    hand.press("See the results")
    hand.here("results")
    hand.press("Export the model")
    hand.here("export")
    hand.save("Save Model as", folder / "taken.skops")
    hand.save("Save Python script as", folder / "taken.py")
    assert len(hand.problems) == 1
    hand.close()


# From an unknown file to predictions and a tidy list of runs ------------------------------------


def write_patients(path: Path, rows: int, seed: int) -> None:
    """Patients of two wards: a number with holes, categories, dates, and who fell ill."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=rows)
    ward = rng.choice(["east", "west"], rows)
    ill = dose + (ward == "east") + 0.8 * rng.normal(size=rows) > 0.5
    table = pd.DataFrame({"patient age": rng.integers(18, 90, rows), "dose": dose, "ward": ward})
    table.loc[::17, "dose"] = np.nan
    table["seen on"] = pd.Series(pd.date_range("2023-01-02", periods=rows)).astype(str)
    table["outcome"] = np.where(ill, "ill", "well")
    table.to_csv(path, index=False)


def open_file(hand: Hand) -> None:
    """A column is left out, the change undone and done again; then on to the strategy."""
    session, window = hand.session, hand.window
    file = str(hand.folder / "patients.csv")
    with mock.patch.object(QFileDialog, "getOpenFileName", return_value=(file, "")):
        hand.by(Qt.Key.Key_O, window.pages["start"].drop.button)
        hand.here("data")
    hand.until(lambda: session.plan is not None)
    page = window.pages["data"]
    hand.reach(page.table)
    before = session.data
    if isinstance(hand, Keys):
        hand.key(Qt.Key.Key_Right)
        hand.choose("Leave it out", lambda: hand.key(Qt.Key.Key_Return))
    else:
        head = page.table.horizontalHeader()
        second = QPoint(head.sectionViewportPosition(1) + head.sectionSize(1) // 2, 12)
        click = lambda: QTest.mouseClick(head.viewport(), LEFT, pos=second)  # noqa: E731
        hand.choose("Leave it out", click)
    hand.until(lambda: session.data != before)
    after = session.data
    hand.by(Qt.Key.Key_Z, page.undo)
    hand.until(lambda: session.data == before)
    hand.by(Qt.Key.Key_Z, page.redo, SHIFT)
    hand.until(lambda: session.data == after)

    for step, button in (("model", "Choose a model"), ("strategy", "Choose a strategy")):
        hand.by(Qt.Key.Key_PageDown, button)
        hand.here(step)


def tune_several_models(hand: Hand) -> None:
    """The best of several models is found, and another one is taken after all."""
    session, window = hand.session, hand.window
    assert session.plan.model == "auto"
    session.set_plan(minutes=MINUTES)  # instead of one
    hand.until(lambda: (session.estimate or {}).get("seconds") == 60 * MINUTES)
    hand.by(Qt.Key.Key_Return, "Start tuning")
    hand.until(lambda: window.here == "tune" and window.pages["tune"].title.startswith("Finding"))
    hand.here("tune")
    board = window.pages["tune"].board
    hand.until(lambda: any(trial.score > 0 for trial in session.shown.state.trials))
    assert {"models", "best", "trials"} <= set(board.views)
    board.look_at(session.shown.state.trials[0].setting["model"])
    hand.until(lambda: session.state == "finished")

    hand.by(Qt.Key.Key_PageDown, "See the results")
    hand.here("results")
    buttons = window.pages["results"].candidates.buttons
    other = next(key for key in buttons if key != session.results["taken"])
    session.select_model(other)
    hand.until(lambda: session.state == "finished")
    assert session.results["taken"] == other


def read_results(hand: Hand) -> None:
    """What matters is told; the threshold is moved."""
    views = hand.window.pages["results"].questions.views
    columns, threshold = views["columns"], views["threshold"]
    hand.until(lambda: columns.has_content() and columns.answer.is_final)
    hand.until(threshold.has_content)

    index, sentence = threshold.handle_index(), threshold.sentence.text()
    slider = hand.reach(threshold.slider)
    if isinstance(hand, Keys):
        for _ in range(6):
            hand.key(Qt.Key.Key_Left)
    else:
        QTest.mouseClick(slider, LEFT, pos=QPoint(slider.width() // 8, slider.height() // 2))
    hand.until(lambda: threshold.handle_index() != index)
    assert threshold.sentence.text() != sentence


def predict_new_rows(hand: Hand) -> None:
    """New rows are predicted and saved, as the command line does it."""
    page, folder = hand.window.pages["use"], hand.folder
    hand.until(lambda: page.can_use)
    file = str(folder / "new.csv")
    with mock.patch.object(QFileDialog, "getOpenFileName", return_value=(file, "")):
        hand.press(page.primary)
        hand.until(lambda: page.file_card.has_table)
    out, model = (folder / f"{type(hand).__name__}{ending}" for ending in (".csv", ".skops"))
    with mock.patch.object(QFileDialog, "getSaveFileName", return_value=(str(out), "")):
        hand.by(Qt.Key.Key_S, page.file_card.save)
        hand.until(out.exists)
    hand.until(lambda: QApplication.activeModalWidget() is not None)  # it says where they are
    QTest.keyClick(QApplication.activeModalWidget(), Qt.Key.Key_Escape)
    QTest.qWait(100)
    hand.window.activateWindow()  # as a desktop does
    export_run(finished_run(RunFolder.open(hand.session.run_folder)), model)
    said, shown = predict_file(model, folder / "new.csv"), pd.read_csv(out)
    assert shown["prediction"].tolist() == said["prediction"].tolist()
    share = "probability of ill"
    np.testing.assert_allclose(shown[share], said[share], atol=1e-9)
    assert len(shown) == 25


def reach_first_run(hand: Hand) -> None:
    table = hand.reach(hand.window.pages["runs"].table)
    if isinstance(hand, Keys):
        hand.key(Qt.Key.Key_Home, CONTROL)
    else:
        first = table.visualRect(table.model().index(0, 0)).center()
        QTest.mouseClick(table.viewport(), LEFT, pos=first)


def open_first_run(hand: Hand) -> None:
    page = hand.window.pages["runs"]
    hand.until(lambda: len(page.table.runs.runs) == 2)
    reach_first_run(hand)
    hand.press(page.primary)
    hand.here("results")


def tidy_runs(hand: Hand) -> None:
    """A run is renamed, noted, compared with another, deleted and brought back."""
    page, uses_keys = hand.window.pages["runs"], isinstance(hand, Keys)
    table, name, note = page.table, f"good by {type(hand).__name__}", "shown to the ward"
    hand.until(lambda: len(table.runs.runs) == 2)
    reach_first_run(hand)
    path = table.current_path()
    if uses_keys:
        hand.key(Qt.Key.Key_F2)
    else:
        hand.press(page.rename)
    hand.until(lambda: table.state() == QTableView.State.EditingState)
    hand.key(Qt.Key.Key_A, CONTROL)
    hand.write(name)
    hand.key(Qt.Key.Key_Return)
    hand.until(lambda: any(run.title == name for run in table.runs.runs))
    hand.reach(page.note.box)
    if not uses_keys:
        QTest.mouseClick(page.note.box.viewport(), LEFT)
    hand.key(Qt.Key.Key_A, CONTROL)
    hand.write(note)
    hand.reach(table)
    table.setFocus()
    hand.until(lambda: any(run.note == note for run in table.runs.runs))

    if uses_keys:
        hand.key(Qt.Key.Key_A, CONTROL)
    else:
        second = table.visualRect(table.model().index(1, 0)).center()
        QTest.mouseClick(table.viewport(), LEFT, CONTROL, second)
    hand.until(lambda: len(table.chosen_paths()) == 2)
    hand.press(page.compare)
    hand.until(lambda: page.comparison_card.isVisible())

    table.choose_runs({path}, path)
    hand.reach(table)
    if uses_keys:
        hand.key(Qt.Key.Key_Delete)
    else:
        hand.press(page.delete)
    hand.until(lambda: len(table.runs.runs) == 1)
    hand.by(Qt.Key.Key_Z, page.undo)
    hand.until(lambda: len(table.runs.runs) == 2)
    assert any(run.title == name for run in table.runs.runs)


def walk_from_file_to_predictions(folder: Path) -> None:
    """All by keys; then by the mouse in what was left, but for another tuning."""
    write_patients(folder / "patients.csv", 160, 0)
    write_patients(folder / "new.csv", 25, 1)
    before = Plan(DataPlan(str(folder / "patients.csv")), "logistic", "mm")
    earlier = RunFolder.create(before, root=folder / "runs")
    for _ in tune(before, read_data(before.data), folder=earlier):
        pass
    earlier.close()
    for kind in (Keys, Mouse):
        hand = kind(folder)
        open_file(hand)
        if kind is Keys:
            tune_several_models(hand)
        else:
            hand.press("All runs")
            hand.here("runs")
            open_first_run(hand)
        read_results(hand)
        hand.press("Export the model")
        hand.here("export")
        if kind is Keys:
            hand.save("Save Report as", folder / "taken.html")
        hand.press("Use the model")
        hand.here("use")
        predict_new_rows(hand)
        hand.press("All runs")
        hand.here("runs")
        tidy_runs(hand)
        assert hand.problems == [], hand.problems
        hand.close()


if __name__ == "__main__":
    walks = {"steps": walk_six_steps, "file": walk_from_file_to_predictions}
    walks[sys.argv[2]](Path(sys.argv[1]))
