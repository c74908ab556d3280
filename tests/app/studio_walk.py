"""A walk from an unknown file to predictions and a tidy list of runs, by keys or by the mouse.

Run as a program by test_walk.py; prints one line a step and ends with status 0. By keys, a control
is reached with Tab alone; by the mouse, it must lie where it is pressed, covered by nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFileDialog, QMenu, QWidget

from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from tests.app.walk import MINUTES, Walker, say

MOST_STOPS = 400  # of Tab, until a control must have been reached


def write(path: Path, rows: int, seed: int) -> None:
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


class Hand:
    """What a person does: reach a control and press it, and give keys to it."""

    def __init__(self, walker: Walker) -> None:
        self.walker, self.window = walker, walker.window

    def reach(self, wanted: QWidget | str) -> QWidget:
        """Bring the focus to a control, or the pointer."""
        raise NotImplementedError

    def press(self, wanted: QWidget | str) -> None:
        """Press a button."""
        raise NotImplementedError

    def key(
        self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """A key, to whatever has the focus."""
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)
        QTest.qWait(30)

    def control(self, key: Qt.Key, *more: Qt.KeyboardModifier) -> None:
        """A key with Ctrl."""
        modifier = Qt.KeyboardModifier.ControlModifier
        for one in more:
            modifier |= one
        self.key(key, modifier)

    def write(self, text: str) -> None:
        """Letters."""
        for letter in text:
            QTest.keyClick(QApplication.focusWidget(), letter)
        QTest.qWait(30)

    def named(self, wanted: QWidget | str) -> QWidget:
        if isinstance(wanted, str):
            try:
                self.walker.until(lambda: self._found(wanted))
            except AssertionError:
                say(f"there is no “{wanted}”, only {self._names()}")
                raise
            return self._found(wanted)[0]
        return wanted

    def _names(self) -> list[str]:
        shown = (one for one in self.window.findChildren(QWidget) if one.isVisible())
        return sorted({one.accessibleName() for one in shown if one.isEnabled()})

    def _found(self, name: str) -> list[QWidget]:
        return [
            widget
            for widget in self.window.findChildren(QWidget)
            if widget.isVisible() and widget.isEnabled() and widget.accessibleName() == name
        ]


class Keys(Hand):
    """Tab, Enter and the keys of the help."""

    def reach(self, wanted: QWidget | str) -> QWidget:
        widget, passed = self.named(wanted), []
        for _ in range(MOST_STOPS):
            focused = QApplication.focusWidget()
            passed.append(focused.accessibleName() or type(focused).__name__ if focused else "-")
            if focused is not None and (focused is widget or widget.isAncestorOf(focused)):
                return widget
            self.key(Qt.Key.Key_Tab)
        stops = " | ".join(dict.fromkeys(passed))
        raise AssertionError(f"Tab does not reach {widget.accessibleName() or widget}: {stops}")

    def press(self, wanted: QWidget | str) -> None:
        self.reach(wanted)
        self.key(Qt.Key.Key_Return)


class Mouse(Hand):
    """The pointer, after scrolling as far as needed."""

    def reach(self, wanted: QWidget | str) -> QWidget:
        widget = self.named(wanted)
        self.window.pages[self.window.here].scroll_area.ensureWidgetVisible(widget, 20, 60)
        QTest.qWait(50)
        middle = self._middle(widget)
        there = self.window.childAt(widget.mapTo(self.window, middle))
        own = there is widget or widget.isAncestorOf(there) or there.isAncestorOf(widget)
        assert own, f"{there} lies over {widget.accessibleName()}"
        return widget

    def press(self, wanted: QWidget | str) -> None:
        widget = self.reach(wanted)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=self._middle(widget))
        QTest.qWait(50)

    def _middle(self, widget: QWidget) -> QPoint:
        return widget.visibleRegion().boundingRect().center()


def choosing(entry: str, press: Callable[[], None]) -> None:
    """Open a menu and choose an entry by its first letters and Enter."""

    def choose() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu), menu
        action = next(one for one in _actions(menu) if one.text().replace("&", "") == entry)
        action.trigger()
        menu.close()

    QTimer.singleShot(100, choose)
    press()


def _actions(menu: QMenu) -> list:
    found = []
    for action in menu.actions():
        inner = action.menu()
        found += _actions(inner) if inner is not None else [action]
    return found


def data_page(hand: Hand) -> None:
    """A column is left out, the change undone and done again."""
    session, page = hand.walker.session, hand.window.pages["data"]
    hand.reach(page.table)
    before = session.data
    if isinstance(hand, Keys):
        hand.key(Qt.Key.Key_Right)
        opens = lambda: hand.key(Qt.Key.Key_Return)  # noqa: E731 - one of two ways
    else:
        header = page.table.horizontalHeader()
        second = QPoint(header.sectionViewportPosition(1) + header.sectionSize(1) // 2, 12)
        opens = lambda: QTest.mouseClick(  # noqa: E731
            header.viewport(), Qt.MouseButton.LeftButton, pos=second
        )
    choosing("Leave it out", opens)
    hand.walker.until(lambda: session.data != before)
    after = session.data
    if isinstance(hand, Keys):
        hand.control(Qt.Key.Key_Z)
    else:
        hand.press(page.undo)
    hand.walker.until(lambda: session.data == before)
    if isinstance(hand, Keys):
        hand.control(Qt.Key.Key_Z, Qt.KeyboardModifier.ShiftModifier)
    else:
        hand.press(page.redo)
    hand.walker.until(lambda: session.data == after)
    say("changed, undone, done again")


def results_page(hand: Hand) -> None:
    """What matters is told; the threshold is moved."""
    page = hand.window.pages["results"]
    views = page.questions.views
    columns, threshold = views["columns"], views["threshold"]
    hand.walker.until(lambda: columns.has_content() and columns.answer.is_final)
    hand.walker.until(threshold.has_content)
    say(f"why: {views['columns'].describe()}")
    view = views["threshold"]
    before = view.handle_index(), view.sentence.text()
    hand.reach(view.slider)
    if isinstance(hand, Keys):
        for _ in range(6):
            hand.key(Qt.Key.Key_Left)
    else:
        at = QPoint(view.slider.width() // 8, view.slider.height() // 2)
        QTest.mouseClick(view.slider, Qt.MouseButton.LeftButton, pos=at)
    hand.walker.until(lambda: view.handle_index() != before[0])
    assert view.sentence.text() != before[1]
    say(f"threshold: {view.sentence.text()}")


def use_page(hand: Hand, folder: Path) -> None:
    """New rows are predicted and saved, as the command line does it."""
    walker, page = hand.walker, hand.window.pages["use"]
    walker.until(lambda: page.can_use)
    with mock.patch.object(
        QFileDialog, "getOpenFileName", return_value=(str(folder / "new.csv"), "")
    ):
        hand.press(page.primary)
        walker.until(lambda: page.file_card.has_table)
    out = folder / "predicted.csv"
    with mock.patch.object(QFileDialog, "getSaveFileName", return_value=(str(out), "")):
        if isinstance(hand, Keys):
            hand.control(Qt.Key.Key_S)
        else:
            hand.press(page.file_card.save)
        walker.until(out.exists)
    walker.until(lambda: QApplication.activeModalWidget() is not None)  # it says where they are
    QTest.keyClick(QApplication.activeModalWidget(), Qt.Key.Key_Escape)
    QTest.qWait(100)
    hand.window.activateWindow()  # as a desktop does
    run = finished_run(RunFolder.open(walker.session.run_folder))
    export_run(run, folder / "model.skops")
    said, shown = predict_file(folder / "model.skops", folder / "new.csv"), pd.read_csv(out)
    assert shown["prediction"].tolist() == said["prediction"].tolist()
    share = "probability of ill"
    np.testing.assert_allclose(shown[share], said[share], atol=1e-9)
    say(f"predicted {len(shown)} rows")


def runs_page(hand: Hand) -> None:
    """A run is renamed, noted, compared with another, deleted and brought back."""
    walker, page = hand.walker, hand.window.pages["runs"]
    table = page.table
    walker.until(lambda: len(table.runs.runs) == 2)
    hand.reach(table)
    if isinstance(hand, Mouse):
        first = table.visualRect(table.model().index(0, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=first)
    else:
        hand.control(Qt.Key.Key_Home)
    path = table.current_path()
    if isinstance(hand, Keys):
        hand.key(Qt.Key.Key_F2)
    else:
        hand.press(page.rename)
    walker.until(lambda: table.state() == QAbstractScrollAreaEditing(table))
    hand.control(Qt.Key.Key_A)
    hand.write("the good one")
    hand.key(Qt.Key.Key_Return)
    walker.until(lambda: any(run.display_name == "the good one" for run in table.runs.runs))
    hand.reach(page.note.box)
    if isinstance(hand, Mouse):
        QTest.mouseClick(page.note.box.viewport(), Qt.MouseButton.LeftButton)
    hand.write("shown to the ward")
    hand.reach(table)
    table.setFocus()
    walker.until(lambda: any(run.note == "shown to the ward" for run in table.runs.runs))
    say("renamed and noted")
    if isinstance(hand, Keys):
        hand.control(Qt.Key.Key_A)
    else:
        second = table.visualRect(table.model().index(1, 0)).center()
        control = Qt.KeyboardModifier.ControlModifier
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, control, second)
    walker.until(lambda: len(table.chosen_paths()) == 2)
    hand.press(page.compare)
    walker.until(lambda: page.comparison_card.isVisible())
    say("compared")
    table.choose_runs({path}, path)
    hand.reach(table)
    if isinstance(hand, Keys):
        hand.key(Qt.Key.Key_Delete)
    else:
        hand.press(page.delete)
    walker.until(lambda: len(table.runs.runs) == 1)
    if isinstance(hand, Keys):
        hand.control(Qt.Key.Key_Z)
    else:
        hand.press(page.undo)
    walker.until(lambda: len(table.runs.runs) == 2)
    assert any(run.display_name == "the good one" for run in table.runs.runs)
    say("deleted and brought back")


def QAbstractScrollAreaEditing(table: QAbstractScrollArea):
    return type(table).State.EditingState


def walk(folder: Path, hand_of: type[Hand]) -> None:
    """All of it."""
    write(folder / "patients.csv", 160, 0)
    write(folder / "new.csv", 25, 1)
    before = Plan(DataPlan(str(folder / "patients.csv")), "logistic", "mm")
    earlier = RunFolder.create(before, root=folder / "runs")
    for _ in tune(before, read_data(before.data), folder=earlier):
        pass
    earlier.close()
    walker = Walker(folder)
    hand, session, window = hand_of(walker), walker.session, walker.window
    window.activateWindow()
    QTest.qWait(200)
    keys = hand_of is Keys
    with mock.patch.object(
        QFileDialog, "getOpenFileName", return_value=(str(folder / "patients.csv"), "")
    ):
        hand.control(Qt.Key.Key_O) if keys else hand.press(window.pages["start"].drop.button)
        walker.here("data")
    walker.until(lambda: session.plan is not None)
    data_page(hand)
    for step, button in (("model", "Choose a model"), ("strategy", "Choose a strategy")):
        hand.control(Qt.Key.Key_PageDown) if keys else hand.press(button)
        walker.here(step)
    assert session.plan.model == "auto"
    session.set_plan(minutes=MINUTES)  # instead of minutes
    walker.until(lambda: (session.estimate or {}).get("seconds") == 60 * MINUTES)
    hand.control(Qt.Key.Key_Return) if keys else hand.press("Start tuning")
    walker.here("tune")
    walker.until(lambda: session.state == "finished")
    hand.control(Qt.Key.Key_PageDown) if keys else hand.press("See the results")
    walker.here("results")
    results_page(hand)
    hand.press("Export the model")
    walker.here("export")
    hand.press("Use the model")
    walker.here("use")
    use_page(hand, folder)
    hand.press("All runs")
    walker.here("runs")
    runs_page(hand)
    assert walker.problems == [], walker.problems
    window.grab().save(str(folder / "end.png"))
    hand.control(Qt.Key.Key_Q) if keys else window.close()
    walker.until(lambda: not window.isVisible())
    session.shutdown()
    say("closed")


if __name__ == "__main__":
    walk(Path(sys.argv[1]), Keys if "keys" in sys.argv[2:] else Mouse)
