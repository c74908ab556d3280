"""The first page: pasted tables, copied files, and the last run."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication

from app.pages import start_page
from app.pages.start_page import StartPage
from app.preferences import preferences as settings
from app.widgets.buttons import ShorteningLink
from core.datasets.reading import read_dataset

CELLS = "size\tcolour\ty\n" + "".join(
    f"{i},5\t{['red', 'blue'][i % 2]}\t{'ab'[i // 10 % 2]}\n" for i in range(40)
)


@pytest.fixture
def page(still, qtbot):
    made = StartPage(still)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
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


def test_the_key_pastes(page, qtbot):
    QGuiApplication.clipboard().setText(CELLS)
    page.activateWindow()
    qtbot.keyClick(page, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert len(_asked(page)) == 1


def test_a_copied_file_is_opened(page, tmp_path):
    held = QMimeData()
    held.setUrls([QUrl.fromLocalFile(str(tmp_path / "book.xlsx"))])
    QGuiApplication.clipboard().setMimeData(held)
    page.open_clipboard()
    assert _asked(page) == [tmp_path / "book.xlsx"]


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
    assert link.text().endswith("…")
    assert words.strip() in link.accessibleName()
    assert "goes on and on" in link.toolTip()
    page.resize(4000, 900)
    qtbot.waitUntil(lambda: link.text() == f"Last run: {words}")
