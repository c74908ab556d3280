"""What leaves a data table: cells of files are text there, and numbers numbers."""

from __future__ import annotations

import csv
import io

from PySide6.QtGui import QGuiApplication

from app.views.plot.data_table import DataTable, as_text

CALC = "=cmd|' /C calc'!A0"
TABLE = ([CALC, "number"], [[f"{CALC} 1", -1.5], ["a\r=1\tb", float("nan")], ["plain", None]])
CELLS = [
    [f"'{CALC}", "number"], [f"'{CALC} 1", "-1.5"], ["a\n=1\tb", ""], ["plain", ""],
]  # fmt: skip


def test_the_csv_of_a_view_holds_no_formula():
    for delimiter in (",", "\t"):
        text = as_text(TABLE, delimiter)
        assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == CELLS


def test_copied_cells_hold_no_formula(qtbot):
    table = DataTable("table")
    qtbot.addWidget(table)
    table.set_table(TABLE)
    table.selectAll()
    table.copy_selected()
    text = QGuiApplication.clipboard().text()
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
    assert [row[0] for row in rows] == [row[0] for row in CELLS[1:]]
