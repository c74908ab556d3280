"""Messages at the top of a page, their offers, and the desktop notice at the end of a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.window import notices
from app.window.notices import LONG, BusyNotice, EndNotice
from app.window.window import Window
from app.worker.messages import InputRefused, Message
from core.datasets.finding import SuggestedChange
from core.tuning.events import DatasetFacts, RunStarted, TrialFinished
from core.tuning.runs.state import state_from_events


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


def test_a_refusal_offers_what_would_make_the_file_usable(still, qtbot):
    window = Window(still)
    qtbot.addWidget(window)
    still.open_file("/data/molecules.csv")
    offer = SuggestedChange("Read other letters as N", "", fields={"other_letters": True})
    still.worker.arrived.emit(
        [Message(still._requests.last, InputRefused("No base.", offer=offer))]
    )
    assert window.notice.sentence == "No base."
    assert window.notice._button.text() == "Read other letters as N"
    window.notice._button.click()
    asked = still.worker.asked[-1].data
    assert (asked.file, asked.other_letters) == ("/data/molecules.csv", True)
    assert window.notice.isHidden()
    still.worker.arrived.emit([Message(still._requests.last, InputRefused("Something else."))])
    assert window.notice._button.isHidden()


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
    monkeypatch.setattr(notices.QApplication, "alert", lambda window: found.append(window))
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
    assert notice.message_text() == "iris: finished. Best accuracy 90.0\u00a0%."


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

    monkeypatch.setattr(notices, "QSystemTrayIcon", Tray)
    session = Session()
    notice = EndNotice(window, session)
    session.go("running", "finished")
    assert said == ["shown", "iris: finished. Best accuracy 90.0\u00a0%."]
    assert notice._tray is not None
