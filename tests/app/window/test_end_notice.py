"""The desktop is told that a run ended, if nobody looks, and never where it has no tray."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.window import end_notice
from app.window.end_notice import EndNotice
from core.tuning.events import RunStarted, TrialFinished
from core.tuning.payloads import DatasetFacts
from core.tuning.runs.state import state_from_events


class Session(QObject):
    run_changed = Signal()
    state = "idle"

    def __init__(self):
        super().__init__()
        begun = RunStarted(dataset=DatasetFacts(name="iris.csv"))
        self.shown = SimpleNamespace(
            state=state_from_events([begun, TrialFinished(number=0, score=0.9)])
        )

    def go(self, *states):
        for self.state in states:
            self.run_changed.emit()


@pytest.fixture
def asked(monkeypatch):
    found = []
    monkeypatch.setattr(end_notice.QApplication, "alert", lambda window: found.append(window))
    return found


@pytest.fixture
def window(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_the_end_is_told_once_and_without_a_tray(asked, window, qapp):
    session = Session()
    notice = EndNotice(window, session)
    session.go("running", "paused", "running", "stopping")
    assert asked == []
    session.go("finished", "finished")
    assert asked == [window]
    assert notice.message_text() == "iris: finished. Best accuracy 0.9."


def test_opening_a_past_run_tells_nothing(asked, window):
    session = Session()
    session.go("idle")
    EndNotice(window, session)
    session.go("finished")
    assert asked == []


@pytest.mark.parametrize("wanted", [True, False])
def test_who_does_not_want_it_is_not_told(asked, window, wanted, own_settings):
    settings.remember(TELLS_ENDS, wanted)
    session = Session()
    notice = EndNotice(window, session)
    session.go("running", "interrupted")
    assert asked == ([window] if wanted else [])
    assert "stopped before its end" in notice.message_text()


def test_a_window_in_front_needs_no_notice(asked, window, monkeypatch):
    monkeypatch.setattr(window, "isActiveWindow", lambda: True)
    session = Session()
    notice = EndNotice(window, session)
    session.go("running", "finished")
    assert notice._tray is None
    assert asked == []


def test_where_there_is_a_tray_a_message_says_it(asked, window, monkeypatch):
    said = []

    class Tray(QObject):
        messageClicked = Signal()
        isSystemTrayAvailable = staticmethod(lambda: True)
        supportsMessages = staticmethod(lambda: True)

        def __init__(self, _icon, parent):
            super().__init__(parent)

        def show(self):
            said.append("shown")

        def hide(self):
            said.append("hidden")

        def showMessage(self, *words):
            said.append(words[1])

    monkeypatch.setattr(end_notice, "QSystemTrayIcon", Tray)
    session = Session()
    notice = EndNotice(window, session)
    session.go("running", "finished")
    assert said == ["shown", "iris: finished. Best accuracy 0.9."]
    assert notice._tray is not None
