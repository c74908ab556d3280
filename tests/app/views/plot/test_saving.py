from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import pytest
from PySide6.QtGui import QImage

from resources.theme import LIGHT


@pytest.fixture
def view(feed, streams):
    return feed(streams.trials()).views["best"]


def test_png_shows_title_and_plot(view, tmp_path):
    path = tmp_path / "best.png"
    view.save_file(str(path))
    image = QImage(str(path))
    assert image.width() == 2 * (view.canvas.width() + 24)
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2)
               for y in range(0, image.height(), 2)}  # fmt: skip
    assert LIGHT.paper.lower() in colours
    assert LIGHT.observed.lower() in colours


def test_svg_has_shapes_and_text_not_pixels(view, tmp_path):
    path = tmp_path / "best.svg"
    view.save_file(str(path))
    root = ET.parse(path).getroot()
    tags = [element.tag.rsplit("}")[-1] for element in root.iter()]
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "image" not in tags
    assert "Best so far" in texts
    assert "default setting" in texts
    fills = [element.get("fill", "").upper() for element in root.iter()]
    assert LIGHT.observed in fills


def test_csv_is_the_twin(view, tmp_path):
    path = tmp_path / "best.csv"
    view.save_file(str(path))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["trial", "accuracy", "best so far", "note"]
    assert [float(row[1]) for row in rows[1:] if row[1]] == [
        0.70,
        0.72,
        0.71,
        0.80,
        0.79,
        0.81,
        0.60,
    ]


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_a_folder_that_is_not_there_is_said(view, tmp_path, qtbot, ending):
    with qtbot.waitSignal(view.problem) as told:
        view.save_file(str(tmp_path / "nowhere" / f"best.{ending}"))
    assert " cannot be written" in told.args[0]
    assert told.args[0].endswith("; choose another folder or name.")
