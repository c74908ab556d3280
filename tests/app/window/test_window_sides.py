"""The panel at the right."""

from __future__ import annotations

from app.window.window_sides import SidePanel


def test_a_long_name_is_broken_and_others_are_not(qtbot, qapp):
    panel = SidePanel()
    qtbot.addWidget(panel)
    panel.setFixedWidth(240)
    panel.show()
    long = "resting_electrocardiographic_results_of_the_first_visit"
    said = ["A short sentence.", f"“{long}” and {'x' * 90} are at the end."]
    panel.show_words("What is happening", said)
    qapp.processEvents()
    short, broken = panel._lines
    assert short.text() == said[0]
    assert broken.text().replace("\u200b", "") == said[1]
    assert broken.minimumSizeHint().width() <= 220
    assert panel.accessibleDescription() == " ".join(said)
