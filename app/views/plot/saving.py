"""Saving a view as PNG, SVG or CSV."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

from app.look import appearance
from app.views.plot.data_table import Table, as_text
from core.errors import write_error
from core.writing import whole_file, write_whole
from resources.theme import FONT_CARD, FONT_SMALL

SHARPNESS = 2  # pixels of the PNG for one of the screen
EDGE = 12


def save_picture(content: QWidget, path: Path, title: str, question: str) -> None:
    """Write a widget as SVG or PNG; raises UnusableError."""
    size = QSize(content.width() + 2 * EDGE, content.height() + 2 * EDGE + _head_height())
    written = _write_svg if path.suffix.lower() == ".svg" else _write_png
    try:
        with whole_file(path) as draft:
            if not written(content, draft, size, (title, question)):
                raise OSError
    except OSError as error:
        raise write_error("the picture", path, error) from error


def save_table(table: Table, path: Path) -> None:
    """Write a table as CSV; raises UnusableError."""
    try:
        write_whole(path, as_text(table, ","))
    except OSError as error:
        raise write_error("the table", path, error) from error


def _write_png(content: QWidget, path: Path, size: QSize, words: tuple[str, str]) -> bool:
    image = QImage(size * SHARPNESS, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SHARPNESS)
    painter = QPainter(image)
    _draw_picture(painter, content, size, words)
    painter.end()
    return image.save(str(path), "PNG")  # type: ignore[call-overload]  # no bytes, as Qt's stubs say


def _write_svg(content: QWidget, path: Path, size: QSize, words: tuple[str, str]) -> bool:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(words[0])
    generator.setDescription(words[1])
    generator.setResolution(content.logicalDpiX())  # text keeps its size beside the lines
    painter = QPainter()
    if not painter.begin(generator):
        return False
    _draw_picture(painter, content, size, words)
    painter.end()
    return path.is_file()


def _draw_picture(painter: QPainter, content: QWidget, size: QSize, words: tuple[str, str]) -> None:
    theme = appearance.current()
    painter.fillRect(0, 0, size.width(), size.height(), QColor(theme.paper))
    top = EDGE
    for text, font, colour in zip(words, _heading_fonts(), (theme.ink, theme.muted), strict=True):
        painter.setFont(font)
        painter.setPen(QColor(colour))
        metrics = QFontMetrics(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, size.width() - 2 * EDGE)
        painter.drawText(EDGE, top + metrics.ascent(), shown)
        top += metrics.height()
    if isinstance(content, QGraphicsView):
        target = QRectF(EDGE, top + 4, content.width(), content.height())
        content.render(painter, target, content.viewport().rect())
    else:
        content.render(painter, QPoint(EDGE, top + 4))


def _heading_fonts() -> tuple[QFont, QFont]:
    title, question = QFont(QApplication.font()), QFont(QApplication.font())
    title.setPointSizeF(appearance.points(FONT_CARD))
    title.setBold(True)
    question.setPointSizeF(appearance.points(FONT_SMALL))
    return title, question


def _head_height() -> int:
    return sum(QFontMetrics(font).height() for font in _heading_fonts()) + 4
