"""A file whose guessed target is unusable: refused by the real reader, opened with another one."""

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app.dialogs.target_dialog import TargetDialog
from app.session.session import Session
from app.window.window import Window


@pytest.fixture
def letters(tmp_path):
    """1,500 rows with free text, whose last column is a different word in every row."""
    random = np.random.default_rng(0)
    path = tmp_path / "letters.csv"
    lines = ["weight,kind,text,word"]
    for i, weight in enumerate(random.normal(size=1500)):
        kind = "ab"[int(weight > 0)]
        lines.append(f"{weight:.3f},{kind},letter {i} says something of its own,w{i}")
    path.write_text("\n".join(lines))
    return path


def _answer(choose):
    """Does something to the dialog that opens next."""

    def act():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TargetDialog)
        choose(dialog)

    QTimer.singleShot(50, act)


def _pick(column):
    def choose(dialog):
        [item] = dialog.columns.findItems(column, Qt.MatchFlag.MatchExactly)
        dialog.columns.setCurrentItem(item)
        dialog.open_button.click()

    return choose


def _button(window):
    [found] = [
        button
        for button in window.notice.findChildren(QPushButton)
        if button.accessibleName() == "Choose what to do"
    ]
    return found


def test_a_refused_target_is_chosen_anew_and_the_file_opens(look, qtbot, tmp_path, letters):
    session = Session(runs_root=tmp_path / "runs")
    try:
        window = Window(session)
        qtbot.addWidget(window)
        window.show()
        with qtbot.waitSignal(session.problem, timeout=60_000):
            session.open_file(letters)
        assert "text with 1,500 different values" in window.notice.sentence
        assert (window.here, session.data, session.summary) == ("start", None, None)
        _answer(QDialog.reject)
        _button(window).click()
        assert window.notice.isVisible()  # thought better of it: all as it was
        _answer(_pick("Predict “kind”"))
        with qtbot.waitSignal(session.plan_changed, timeout=60_000):
            _button(window).click()
        assert (window.here, session.summary["target"], session.data.target) == (
            "data",
            "kind",
            "kind",
        )
        assert not window.notice.isVisible()
        page = window.pages["data"]
        with qtbot.waitSignal(session.problem, timeout=60_000):
            page.question.target.setCurrentIndex(page.question.target.findText("Predict “text”"))
        assert page.question.target.currentText() == "Predict “kind”"
        assert _button(window).isVisible()
    finally:
        session.shutdown()


def test_another_problem_offers_no_columns(look, qtbot, with_data):
    window = Window(with_data)
    qtbot.addWidget(window)
    window.show()
    with_data.problem.emit("heart.csv, line 3: there are 12 values; give every row 14.")
    assert not any(button.text() for button in window.notice.findChildren(QPushButton))


def test_the_list_is_searched_and_taken_by_keyboard(look, qtbot):
    dialog = TargetDialog([f"column {i}" for i in range(30)])
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.chosen_column == "column 0"
    dialog.search.setFocus()
    qtbot.keyClicks(dialog.search, "N 2")
    assert dialog.chosen_column == "column 2"
    qtbot.keyClicks(dialog.search, "x")
    assert dialog.chosen_column == ""
    assert not dialog.open_button.isEnabled()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Backspace)
    dialog.columns.setFocus()
    qtbot.keyClick(dialog.columns, Qt.Key.Key_Down)
    assert dialog.chosen_column == "column 20"
    qtbot.keyClick(dialog.columns, Qt.Key.Key_Return)
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert dialog.chosen_column == "column 20"
