"""What a benchmark is told of the start."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMainWindow

from app.window.open_window import START_TIMES, tell_painted


class Worker(QObject):
    ready = Signal()


def test_the_marks_are_told_and_the_window_closes(qtbot, tmp_path, monkeypatch):
    window, worker = QMainWindow(), Worker()
    qtbot.addWidget(window)
    window.show()
    monkeypatch.setenv(START_TIMES, str(tmp_path / "marks"))
    tell_painted(window, worker.ready)
    assert (tmp_path / "marks").read_text() == "painted\n"
    worker.ready.emit()
    assert (tmp_path / "marks").read_text() == "painted\nready\n"
    qtbot.waitUntil(lambda: not window.isVisible())


def test_nothing_is_done_where_nobody_measures(qtbot, monkeypatch):
    monkeypatch.delenv(START_TIMES, raising=False)
    window, worker = QMainWindow(), Worker()
    qtbot.addWidget(window)
    window.show()
    tell_painted(window, worker.ready)
    worker.ready.emit()
    qtbot.wait(20)
    assert window.isVisible()
