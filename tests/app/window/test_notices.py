"""What the window says across the top of a page."""

from __future__ import annotations

from app.window.notices import LONG, Waiting


def test_only_a_long_wait_is_shown(qtbot):
    waiting = Waiting()
    qtbot.addWidget(waiting)
    waiting.say("Reading a.csv …")
    assert waiting.isHidden()
    waiting.say("")
    qtbot.wait(LONG + 100)
    assert waiting.isHidden()
    waiting.say("Reading b.csv …")
    qtbot.waitUntil(lambda: not waiting.isHidden(), timeout=LONG + 5000)
    waiting.say("")
    assert waiting.isHidden()
