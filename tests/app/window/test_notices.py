"""What the window says across the top of a page."""

from __future__ import annotations

from app.window.notices import LONG, BusyNotice


def test_only_a_long_wait_is_shown(qtbot):
    waiting = BusyNotice()
    qtbot.addWidget(waiting)
    waiting.show_message("Reading a.csv …")
    assert waiting.isHidden()
    waiting.show_message("")
    qtbot.wait(LONG + 100)
    assert waiting.isHidden()
    waiting.show_message("Reading b.csv …")
    qtbot.waitUntil(lambda: not waiting.isHidden(), timeout=LONG + 5000)
    waiting.show_message("")
    assert waiting.isHidden()
