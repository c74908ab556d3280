"""Text of files is shown letter by letter: no label and no tooltip takes it for markup."""

from __future__ import annotations

import copy
import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QAbstractItemView, QLabel, QWidget

from app.pages.data.data_page import DataPage
from app.pages.start_page import StartPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences as settings
from app.widgets.text_labels import ElidedLabel, plain_tooltip
from app.worker.messages import Message, Opened
from core.records import Record
from core.tuning.plan import DataPlan

EVIL = "<b>bold</b><img src='http://example.org/x.png'>&amp;"


def rich(text: str) -> bool:
    return bool(text) and GuiQt.mightBeRichText(text)


def shown(tooltip: str) -> str:
    return QTextDocumentFragment.fromHtml(tooltip).toPlainText() if rich(tooltip) else tooltip


@pytest.mark.parametrize(
    "text", [EVIL, "a < b", "plain", "", "a & b", "<", "two\nlines <i>", "&lt;"]
)
def test_a_tooltip_shows_every_letter(text):
    assert shown(plain_tooltip(text)) == text
    assert plain_tooltip("plain") == "plain"


def test_one_line_that_is_cut_tells_it_in_full(qtbot):
    line = ElidedLabel(EVIL * 20)
    qtbot.addWidget(line)
    line.resize(60, 20)
    line.show()
    line.grab()
    assert shown(line.toolTip()) == EVIL * 20


def hostile(value):
    """The same with markup in the names of columns and in every text of the data."""
    if isinstance(value, Record):
        names = (each.name for each in dataclasses.fields(value))
        return dataclasses.replace(value, **{name: hostile(getattr(value, name)) for name in names})
    if isinstance(value, dict):
        return {hostile_name(key): hostile(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(hostile, value))
    return hostile_name(value)


def hostile_name(value):
    return EVIL + value if value in NAMES else value


NAMES = {"age", "smokes", "first_visit", "came_back", "pressure", "ward"}


def check(page: QWidget) -> int:
    """How many texts with markup were found, each shown as it is."""
    found = 0
    for widget in [page, *page.findChildren(QWidget)]:
        if EVIL in shown(widget.toolTip()):
            found += 1
        assert "<b>bold" not in widget.toolTip()
        if isinstance(widget, QLabel) and EVIL in widget.text():
            found += 1
            assert widget.textFormat() == Qt.TextFormat.PlainText
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            found += check_model(widget.model())
    return found


def check_model(model) -> int:
    found = 0
    for column in range(model.columnCount()):
        cells = [model.index(row, column).data(Qt.ItemDataRole.ToolTipRole)
                 for row in range(min(5, model.rowCount()))]  # fmt: skip
        cells.append(
            model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        )
        for text in map(str, filter(None, cells)):
            assert "<b>bold" not in text
            found += EVIL in shown(text)
    return found


@pytest.mark.parametrize("kind", [DataPage, StrategyPage])
def test_columns_with_markup_in_their_names(still, clinic, qtbot, kind):
    summary, advice = copy.deepcopy(clinic)
    NAMES.update(column["name"] for column in summary["columns"])
    still.open_sample("clinic")
    opened = Opened(DataPlan(file="sample:clinic"), hostile(summary), hostile(advice))
    still.worker.arrived.emit([Message(1, opened)])
    page = kind(still)
    qtbot.addWidget(page)
    page.resize(800, 900)
    page.show()
    page.grab()
    found = check(page)
    assert found or kind is StrategyPage


def test_recent_files_with_markup_in_their_names(still, qtbot, tmp_path):
    name = tmp_path / "<b>bold.csv"
    name.write_text("a,b\n1,2\n")
    settings.remember_file(str(name))
    page = StartPage(still)
    qtbot.addWidget(page)
    assert not [w for w in page.findChildren(QWidget) if "<b>bold" in w.toolTip()]
