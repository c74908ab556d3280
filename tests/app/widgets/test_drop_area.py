"""Drops reach the widget that takes them, whatever stands inside it."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.widgets.drop_area import DropArea

HELD = (Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)


def drag(widget, mime):
    action, button, keys = HELD
    event = QDragEnterEvent(QPoint(5, 5), action, mime, button, keys)
    event.ignore()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_a_file_is_dropped_on_the_area_and_a_text_is_not(look, show, tmp_path):
    area, chosen = show(DropArea()), []
    area.file_chosen.connect(chosen.append)
    text, files = QMimeData(), QMimeData()
    text.setText("1,2")
    files.setUrls([QUrl.fromLocalFile(str(tmp_path / "iris.csv"))])
    assert not drag(area, text)
    assert not area.property("over")
    assert drag(area.button, files)  # a control within it takes no drops itself
    assert area.property("over")
    QApplication.sendEvent(area, QDragLeaveEvent())
    assert not area.property("over")
    assert drag(area, files)
    action, button, keys = HELD
    QApplication.sendEvent(area, QDropEvent(QPointF(5, 5), action, files, button, keys))
    assert chosen == [(tmp_path / "iris.csv").as_posix()]
    assert not area.property("over")
