from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from app.window.close_confirmation import may_close


@pytest.fixture
def window(opened, qtbot):
    made = QWidget()
    made.session = opened
    qtbot.addWidget(made)
    return made


@pytest.fixture
def running(opened, qtbot):
    opened.set_plan(trials=10_000, options={"trial_seconds": 0.02})
    opened.start()
    qtbot.waitUntil(lambda: len(opened.events) > 4, timeout=30_000)
    return opened


def answer(monkeypatch, words):
    """Answer the question by pressing the button with these words."""
    asked = []

    def execute(box):
        asked.append(box)
        chosen = next((b for b in box.buttons() if b.text() == words), box.escapeButton())
        monkeypatch.setattr(QMessageBox, "clickedButton", lambda _box: chosen)

    monkeypatch.setattr(QMessageBox, "exec", execute)
    return asked


def test_without_a_run_nothing_is_asked(window, monkeypatch):
    asked = answer(monkeypatch, "Keep tuning")
    assert may_close(window)
    assert asked == []


def test_esc_and_keep_tuning_leave_the_run_alone(window, running, monkeypatch):
    for words in ("Keep tuning", "no such button, as with Esc"):
        asked = answer(monkeypatch, words)
        assert not may_close(window)
        assert asked[0].escapeButton().text() == "Keep tuning"
    assert running.state == "running"


def test_stop_and_keep_best_waits_for_the_results(window, running, monkeypatch):
    answer(monkeypatch, "Stop and keep best")
    assert may_close(window)
    assert running.state == "finished"
    assert running.results is not None


def test_close_now_keeps_the_run_for_later(window, running, monkeypatch):
    answer(monkeypatch, "Close, continue later")
    assert may_close(window)
    assert running.state == "running"
    folder = running.run_folder
    running.shutdown()
    assert (folder / "events.jsonl").stat().st_size > 0
