"""The heads of the table: bars, missing counts, and the same in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.pages.data.data_page import DataPage
from app.pages.data.preview_table import PreviewTable, draw_bars
from app.text.data_text import column_values_text, missing_text
from core.datasets.columns import distribution
from core.datasets.dataset_summary import (
    Column,
    ColumnSummary,
    DatasetSummary,
    Distribution,
    Preview,
)
from core.datasets.task import Task


def described(values, kind, form=""):
    series = pd.Series(values, name="x")
    column = Column("x", "feature", kind, date_format=form)
    found = distribution(series, column, len(series))
    missing, distinct = int(series.isna().sum()), int(series.nunique())
    return ColumnSummary("x", "feature", kind, missing, distinct, distribution=found)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (described([1, 1, 2, 5, None], "number"),
         "From 1 to 5; the highest bar, 50\u00a0%, is 1.\n1 of 5 values are missing (20\u00a0%)."),
        (described([7.5] * 4, "number"), "Always 7.5.\nNo value is missing."),
        (described([None] * 3, "number"), "3 of 3 values are missing (100\u00a0%)."),
        (described(["<b>", "<b>", "&"], "category"),
         "<b>: 67\u00a0%, &: 33\u00a0%.\nNo value is missing."),
        (described(["2024-01-01", "2024-03-01", "2024-01-02"], "date", "%Y-%m-%d"),
         "From 2024-01-01 to 2024-03-01; the highest bar, 67\u00a0%, is between 2024-01-01 and "
         "2024-01-04.\nNo value is missing."),
        (described(["08:30", "10:15"], "date", "%H:%M"),
         "From 08:30 to 10:15; the highest bar, 50\u00a0%, is between 08:30 and 08:35.\n"
         "No value is missing."),
        (described([-1.7e308, 1.7e308, 1.7e308], "number"),
         "From −1.7×10³⁰⁸ to 1.7×10³⁰⁸; the highest bar, 67\u00a0%, is between 1.53×10³⁰⁸ and "
         "1.7×10³⁰⁸.\nNo value is missing."),
    ],
)  # fmt: skip
def test_a_column_in_words(qapp, column, words):
    assert column_values_text(column, 5 if column["missing"] == 1 else 3) == words


def test_what_is_missing_is_a_share(qapp):
    column = ColumnSummary("x", "feature", "number")
    assert missing_text(replace(column, missing=1234), 10_000) == "12\u00a0% missing"
    assert missing_text(replace(column, missing=1), 10_000) == "< 0.1\u00a0% missing"
    assert missing_text(column, 10) == missing_text(None, 0) == ""


def bars(spread, width=100, height=20):
    """How high the picture is coloured at every pixel from the left."""
    picture = QImage(width, height, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    draw_bars(painter, QRectF(0, 0, width, height), spread)
    painter.end()
    blue = QColor("#0072B2").rgb()
    return [sum(picture.pixel(x, y) == blue for y in range(height)) for x in range(width)]


def test_bars_are_as_high_as_their_counts(look):
    spread = Distribution("numbers", (1, 4, 2, 0))
    heights = bars(spread)
    assert [heights[12], heights[37], heights[62], heights[87]] == [5, 20, 10, 0]


def test_a_rare_value_still_has_a_bar_and_others_a_hollow_one(look):
    spread = Distribution("values", (100000, 1), labels=("a", "b"), other=50000)
    heights = bars(spread)
    assert heights[5] == 20
    assert heights[20] == 1
    assert 0 < heights[35] <= 4  # its two edges


def test_only_what_is_seen_is_drawn_of_very_many_columns(look, qtbot, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "app.pages.data.preview_table.draw_bars", lambda *args: drawn.append(args[2])
    )
    columns = [replace(described([1, 2, 2], "number"), name=f"c{at}") for at in range(300)]
    preview = Preview([column.name for column in columns], [["1"] * 300] * 3)
    summary = DatasetSummary(
        "c.csv", "csv", 3, 300, Task.REGRESSION, "y", columns=columns, preview=preview
    )
    table = PreviewTable()
    qtbot.addWidget(table)
    table.resize(800, 300)
    table.preview.show_summary(summary, {c["name"]: "number" for c in columns})
    with qtbot.waitExposed(table):
        table.show()
    table.grab()
    assert 0 < len({id(one) for one in drawn}) < 15


def test_the_head_has_room_for_bars_and_says_them(with_data, qtbot):
    page = DataPage(with_data)
    qtbot.addWidget(page)
    page.show()
    at = page.table.preview.names.index("blood_pressure")
    across, role = Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole
    said = page.table.preview.headerData(at, across, role)
    assert said.startswith("blood_pressure\nFrom ")
    assert "of 600 values are missing" in said
    head = page.table.horizontalHeader()
    assert head.height() > 2 * head.fontMetrics().height() + 20
    days = with_data.summary["columns"]
    date = next(column for column in days if column["kind"] == "date")["distribution"]
    assert datetime.fromtimestamp(date["low"], UTC).year == 2022
