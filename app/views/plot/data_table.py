"""The table twin of a plot, and both as files."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QImage,
    QKeySequence,
    QPainter,
    QShortcut,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView, QWidget

from app.look import appearance
from app.views.plot.axes import small_font
from app.widgets.plain_table import CellModel, PlainTable
from core.export.spreadsheet_cells import escape_formula
from core.figures.figure import Table
from core.wording import format_value
from core.writing import whole_file
from resources.theme import FONT_CARD, TARGET


class DataTableModel(CellModel):
    """Rows of plain values, formatted for the locale."""

    rows: list[list[Any]]

    def set_table(self, headers: list[str], rows: list[list[Any]]) -> None:
        self.beginResetModel()
        self.heads, self.rows = headers, rows
        cells = ((c, value) for row in rows for c, value in enumerate(row))
        self.numbers = {c for c, value in cells if isinstance(value, (int, float))}
        self.endResetModel()

    def cell_text(self, row: int, column: int) -> str:
        value = self.rows[row][column]
        return "" if value is None else format_value(value, 4)


class DataTable(PlainTable):
    """The table that can replace a plot."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.verticalHeader().setDefaultSectionSize(TARGET)
        self._model = DataTableModel()
        self.setModel(self._model)
        keys, context = QKeySequence.StandardKey.Copy, Qt.ShortcutContext.WidgetShortcut
        QShortcut(keys, self, context=context).activated.connect(self.copy_selected)

    def set_table(self, table: Table) -> None:
        self._model.set_table(*table)
        self.fit_columns()

    def copy_selected(self) -> None:
        cells = self.selectedIndexes()
        if not cells:
            return
        rows: dict[int, list[str]] = {}
        for cell in sorted(cells, key=lambda c: (c.row(), c.column())):
            rows.setdefault(cell.row(), []).append(str(cell.data() or ""))
        QGuiApplication.clipboard().setText(_delimited(rows.values(), "\t").removesuffix("\n"))


def as_text(table: Table, delimiter: str) -> str:
    """Delimited text; numbers in full with a point, missing ones empty."""
    return _delimited([table[0], *table[1]], delimiter)


def _delimited(rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    # NaN is no number, not even itself.
    cells = (["" if v is None or v != v else escape_formula(v) for v in row] for row in rows)
    writer.writerows(cells)
    return out.getvalue()


SHARPNESS = 2  # pixels of the PNG for one of the screen
EDGE = 12


def save_picture(content: QWidget, path: Path, title: str, question: str) -> None:
    """Write a widget as SVG or PNG; raises OSError."""
    written = _write_svg if path.suffix.lower() == ".svg" else _write_png
    with whole_file(path) as draft:
        if not written(content, draft, (title, question)):
            raise OSError


def picture_image(content: QWidget, title: str, question: str) -> QImage:
    """A widget below its title."""
    size = _picture_size(content)
    image = QImage(size * SHARPNESS, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SHARPNESS)
    painter = QPainter(image)
    _draw_picture(painter, content, size, (title, question))
    painter.end()
    return image


def _picture_size(content: QWidget) -> QSize:
    head = sum(QFontMetrics(font).height() for font in _heading_fonts()) + 4
    return QSize(content.width() + 2 * EDGE, content.height() + 2 * EDGE + head)


def _write_png(content: QWidget, path: Path, words: tuple[str, str]) -> bool:
    image = picture_image(content, *words)
    return image.save(str(path), "PNG")  # type: ignore[call-overload]  # no bytes, as Qt's stubs say


def _write_svg(content: QWidget, path: Path, words: tuple[str, str]) -> bool:
    size, generator = _picture_size(content), QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(size)
    generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
    generator.setTitle(words[0])
    generator.setDescription(words[1])
    # With the generator's own resolution, text and lines would be of different scales.
    generator.setResolution(content.logicalDpiX())
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
    title = small_font(bold=True)
    title.setPointSizeF(appearance.points(FONT_CARD))
    return title, small_font()
