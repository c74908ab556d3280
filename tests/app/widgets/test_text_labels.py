"""What is left of a setting's name in few pixels."""

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import shorten_text

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


def test_a_narrow_choice_is_painted_short_and_says_it_whole(qtbot, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "app.widgets.quiet_controls.shorten_text",
        lambda text, metrics, room: asked.append((text, room)) or text[:1],
    )
    box = QuietComboBox()
    qtbot.addWidget(box)
    box.addItem(WHOLE)
    box.resize(84, 32)
    box.grab()
    assert asked
    assert asked[-1][0] == box.currentText() == WHOLE
    assert 0 < asked[-1][1] < 84
