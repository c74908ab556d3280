"""Texts in labels and tooltips: what is left of them in few pixels, and every letter as it is."""

from __future__ import annotations

import copy
import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QTextDocumentFragment
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QWidget

from app.pages.data.data_page import DataPage
from app.pages.start_page import StartPage
from app.pages.strategy_page import StrategyPage
from app.preferences import preferences as settings
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import ElidedLabel, plain_tooltip, shorten_text
from app.worker.messages import Opened
from core.records import Record
from core.tuning.plan import DataPlan

WHOLE = "Cost of a wrong row (C)"


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(QApplication.font())


def test_the_library_s_name_stays(metrics):
    whole = metrics.horizontalAdvance(WHOLE)
    assert shorten_text(WHOLE, metrics, whole) == WHOLE
    said = shorten_text(WHOLE, metrics, int(whole * 0.75))
    assert said.startswith("Cost")
    assert said.endswith("… (C)")
    assert shorten_text(WHOLE, metrics, metrics.horizontalAdvance("C") + 1) == "C"
    assert shorten_text("All the trials", metrics, metrics.horizontalAdvance("All t…")).endswith(
        "…"
    )


@pytest.mark.parametrize("text", [WHOLE, "All trials of all models", "(", "a (b", "", "x ()"])
def test_nothing_is_wider_than_its_room(metrics, text):
    for room in range(8, 160, 7):
        said = shorten_text(text, metrics, room)
        assert metrics.horizontalAdvance(said) <= max(room, metrics.horizontalAdvance("…"))


def test_a_narrow_choice_is_painted_short_and_says_it_whole(show, monkeypatch):
    asked = []

    def shorten(text, _metrics, room):
        asked.append((text, room))
        return text[:1]

    monkeypatch.setattr("app.widgets.quiet_controls.shorten_text", shorten)
    box = QuietComboBox()
    box.addItem(WHOLE)
    show(box, 84, 32).grab()
    text, room = asked[-1]
    assert text == box.currentText() == WHOLE
    assert 0 < room < 84


# Text of files is no markup -------------------------------------------------------------------


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


def test_one_line_that_is_cut_tells_it_in_full(show):
    line = show(ElidedLabel(EVIL * 10), 60, 20)
    line.grab()
    assert shown(line.toolTip()) == EVIL * 10


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
    role, across = Qt.ItemDataRole.ToolTipRole, Qt.Orientation.Horizontal
    found = 0
    for column in range(model.columnCount()):
        rows = range(min(5, model.rowCount()))
        cells = [model.index(row, column).data(role) for row in rows]
        for text in map(str, filter(None, [*cells, model.headerData(column, across, role)])):
            assert "<b>bold" not in text
            found += EVIL in shown(text)
    return found


@pytest.mark.parametrize("kind", [DataPage, StrategyPage])
def test_columns_with_markup_in_their_names(still, clinic, show, kind):
    summary, advice = copy.deepcopy(clinic)
    NAMES.update(column["name"] for column in summary["columns"])
    still.open_sample("clinic")
    still.worker.answer(Opened(DataPlan("sample:clinic"), hostile(summary), hostile(advice)))
    page = show(kind(still), 800, 900)
    page.grab()
    found = check(page)
    assert found or kind is StrategyPage


def test_recent_files_with_markup_in_their_names(still, show, tmp_path):
    name = tmp_path / "<b>bold.csv"
    name.write_text("a,b\n1,2\n")
    settings.remember_file(str(name))
    page = show(StartPage(still))
    page.visited()
    assert not [w for w in page.findChildren(QWidget) if "<b>bold" in w.toolTip()]
