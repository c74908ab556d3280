"""Titles of settings in few pixels."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

MIN_WORDS = "Cost …"  # the least that is shown before the library's name


def shorten_text(text: str, metrics: QFontMetrics, room: int) -> str:
    """Such as "Cost of … (C)" or "C" of "Cost of a wrong row (C)" in `room` pixels."""
    right = Qt.TextElideMode.ElideRight
    if metrics.horizontalAdvance(text) <= room:
        return text
    words, bracket, name = text.rpartition(" (")
    if not bracket or not name.endswith(")"):
        return metrics.elidedText(text, right, room)
    end = f" ({name}"
    room_left = room - metrics.horizontalAdvance(end)
    if room_left < metrics.horizontalAdvance(MIN_WORDS):
        return metrics.elidedText(name.removesuffix(")"), right, room)
    return metrics.elidedText(words, right, room_left) + end
