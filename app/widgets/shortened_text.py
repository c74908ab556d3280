"""Names of settings in few pixels: the library's name behind the words is what stays."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

MIN_WORDS = "Cost …"  # of a setting's words, else the library's name stands alone


def shorten_text(text: str, metrics: QFontMetrics, room: int) -> str:
    """A text in so many pixels: "Cost of … (C)" or "C" of "Cost of a wrong row (C)".

    Args:
        text: a setting as `core.space.axis_title` names it, or anything else, which loses its end.
        metrics: of the font that it is drawn in.
        room: pixels.
    """
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
