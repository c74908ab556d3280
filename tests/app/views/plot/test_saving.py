"""What leaves a view: pictures, and tables in which cells of files are text, numbers numbers."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import pytest
from PySide6.QtGui import QGuiApplication, QImage

from app.views.plot.data_table import DataTable, as_text
from resources.theme import LIGHT

CALC = "=cmd|' /C calc'!A0"
TABLE = ([CALC, "number"], [[f"{CALC} 1", -1.5], ["a\r=1\tb", float("nan")], ["plain", None]])
CELLS = [
    [f"'{CALC}", "number"], [f"'{CALC} 1", "-1.5"], ["a\n=1\tb", ""], ["plain", ""],
]  # fmt: skip


def test_tables_that_leave_hold_no_formula(qtbot):
    table = DataTable("table")
    qtbot.addWidget(table)
    table.set_table(TABLE)
    table.selectAll()
    table.copy_selected()
    copied = QGuiApplication.clipboard().text()
    for delimiter, text in ((",", as_text(TABLE, ",")), ("\t", as_text(TABLE, "\t"))):
        assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == CELLS
    rows = list(csv.reader(io.StringIO(copied, newline=""), delimiter="\t"))
    assert [row[0] for row in rows] == [row[0] for row in CELLS[1:]]


@pytest.fixture
def view(feed, streams):
    return feed(streams.trials()).views["best"]


def test_pictures_show_title_and_plot_and_svg_has_shapes_and_text(view, tmp_path):
    path = tmp_path / "best.png"
    view.save_file(str(path))
    image = QImage(str(path))
    assert image.width() == 2 * (view.canvas.width() + 24)
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2)
               for y in range(0, image.height(), 2)}  # fmt: skip
    assert {LIGHT.paper.lower(), LIGHT.observed.lower()} <= colours
    view.save_file(str(path.with_suffix(".svg")))
    elements = list(ET.parse(path.with_suffix(".svg")).getroot().iter())
    assert not any(element.tag.endswith("image") for element in elements)
    assert {"Best so far", "default setting"} <= {element.text for element in elements}
    assert LIGHT.observed in {element.get("fill", "").upper() for element in elements}


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_a_folder_that_is_not_there_is_said(view, tmp_path, qtbot, ending):
    with qtbot.waitSignal(view.problem) as told:
        view.save_file(str(tmp_path / "nowhere" / f"best.{ending}"))
    assert " cannot be written" in told.args[0]
