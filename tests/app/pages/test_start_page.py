"""The first page, and a file whose guessed target is unusable."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app.dialogs.target_dialog import TargetDialog
from app.pages import start_page
from app.pages.start_page import StartPage
from app.preferences import preferences as settings
from app.widgets.buttons import ShorteningLink
from app.window.window import Window
from app.worker.engine import Engine
from app.worker.messages import InputRefused, OpenData
from core.datasets.finding import UnusableTargetError
from core.datasets.reading import read_dataset

CELLS = "size\tcolour\ty\n" + "".join(
    f"{i},5\t{['red', 'blue'][i % 2]}\t{'ab'[i // 10 % 2]}\n" for i in range(40)
)


@pytest.fixture
def page(still, show):
    made = show(StartPage(still), 800, 900)
    QGuiApplication.clipboard().clear()
    yield made
    QGuiApplication.clipboard().clear()


def _asked(page):
    return [Path(asked.data.file) for asked in page.session.worker.asked]


def test_pasted_cells_become_a_file_of_the_program(page, qtbot, tmp_path):
    QGuiApplication.clipboard().setText(CELLS)
    qtbot.mouseClick(page.drop.paste, Qt.MouseButton.LeftButton)
    (file,) = _asked(page)
    assert file.parent == tmp_path / "runs" / "pasted"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    dataset = read_dataset(str(file))
    assert dataset.table["size"].tolist() == [i + 0.5 for i in range(40)]
    page.open_clipboard()
    assert _asked(page) == [file, file]  # the same table is kept once
    QGuiApplication.clipboard().setText(CELLS + "9,5\tred\ta\n")
    page.open_clipboard()
    assert len(set(_asked(page))) == 2


def test_the_key_pastes_and_a_copied_file_is_opened(page, qtbot, tmp_path):
    QGuiApplication.clipboard().setText(CELLS)
    page.activateWindow()
    qtbot.keyClick(page, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    held = QMimeData()
    held.setUrls([QUrl.fromLocalFile(str(tmp_path / "book.xlsx"))])
    QGuiApplication.clipboard().setMimeData(held)
    page.open_clipboard()
    pasted, copied = _asked(page)
    assert pasted.parent.name == "pasted"
    assert copied == tmp_path / "book.xlsx"


@pytest.mark.parametrize(
    ("text", "words"), [("", "there is no text"), ("hello\n", "the text is one line")]
)
def test_what_is_no_table_is_said(page, qtbot, tmp_path, text, words):
    QGuiApplication.clipboard().setText(text)
    with qtbot.waitSignal(page.session.problem) as said:
        page.open_clipboard()
    assert words in said.args[0]
    assert _asked(page) == []
    assert not (tmp_path / "runs" / "pasted").exists()


def test_a_sheet_of_a_recent_workbook_is_offered(page, tmp_path):
    (tmp_path / "book.xlsx").write_bytes(b"PK")
    settings.remember_file(f"{tmp_path / 'book.xlsx'}#Second")
    settings.remember_file(f"{tmp_path / 'gone.xlsx'}#Second")
    page.visited()
    words = [
        page._continue.body.itemAt(i).widget().text() for i in range(page._continue.body.count())
    ]
    assert words == ["Open book.xlsx#Second"]


def test_long_words_of_the_last_run_make_no_page_wider_than_the_window(page, qtbot, monkeypatch):
    words = "a run with a name that goes on and on, " * 5
    monkeypatch.setattr(start_page, "run_text", lambda run: words)
    page.session.runs.run_list = SimpleNamespace(runs=[SimpleNamespace(path=Path("there"))])
    page.visited()
    qtbot.wait(50)
    area = page.scroll_area
    assert area.widget().minimumSizeHint().width() <= area.viewport().width()
    (link,) = page.findChildren(ShorteningLink)
    assert link.width() < link.sizeHint().width()
    assert words.strip() in link.accessibleName()
    assert "goes on and on" in link.toolTip()
    page.resize(4000, 900)
    qtbot.waitUntil(lambda: link.width() >= link.sizeHint().width())


# A target that is unusable --------------------------------------------------------------------


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


def _press_choose(window):
    buttons = {b.accessibleName(): b for b in window.notice.findChildren(QPushButton)}
    assert buttons["Choose what to do"].isVisible()
    buttons["Choose what to do"].click()


def _answer(choose):
    """Does something to the dialog that opens next."""

    def act():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TargetDialog)
        choose(dialog)

    QTimer.singleShot(50, act)


def _predict_kind(dialog):
    [item] = dialog.columns.findItems("Predict “kind”", Qt.MatchFlag.MatchExactly)
    dialog.columns.setCurrentItem(item)
    dialog.open_button.click()


def test_a_refused_target_is_chosen_anew_and_the_file_opens(still, show, letters):
    window, page_of = show(Window(still)), Window.make_page

    def read():
        """The worker reads what was asked for, or refuses it."""
        try:
            still.worker.answer(Engine().answer(OpenData(still.worker.data_wanted)), to=OpenData)
        except UnusableTargetError as error:
            refusal = InputRefused(error.sentence, error.columns, error.texts)
            still.worker.answer(refusal, to=OpenData)

    still.open_file(letters)
    read()
    assert "text with 1,500 different values" in window.notice.sentence
    assert (window.here, still.data, still.summary) == ("start", None, None)
    _answer(QDialog.reject)
    _press_choose(window)
    assert window.notice.isVisible()  # thought better of it: all as it was
    _answer(_predict_kind)
    _press_choose(window)
    read()
    assert (window.here, still.summary["target"], still.data.target) == ("data", "kind", "kind")
    assert not window.notice.isVisible()
    target = page_of(window, "data").question.target
    target.setCurrentIndex(target.findText("Predict “text”"))
    read()
    assert target.currentText() == "Predict “kind”"
    assert window.notice.isVisible()


def test_the_list_is_searched_and_taken_by_keyboard(look, show, qtbot):
    dialog = show(TargetDialog([f"column {i}" for i in range(30)]))
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
