"""The preview of the data: how each column is spread, what it is, and its first rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.look import appearance
from app.text.data_text import column_values_text, missing_text
from app.widgets.plain_table import DISPLAY, CellModel, Index, PlainTable
from app.widgets.text_labels import plain_tooltip
from core.datasets.dataset_summary import ColumnSummary, DatasetSummary, Distribution
from core.wording import MAX_NAME, shortened_text

HEIGHT = 26  # pixels of a picture at the usual text size
MIN_WIDTH = 84  # pixels of a column, so that its bars are distinct
_LEFT, _RIGHT, _ABOVE, _BELOW = 11, 8, 5, 5  # as the stylesheet pads the name
MIN_ROWS = 9
MISSING = "missing"
FITTED_ROWS = 20  # whose cells decide how wide a column is
MAX_WIDTH = 320  # pixels a column takes at most before its cells end in …


class SpreadHeader(QHeaderView):
    """Draws the bars of the columns in view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._columns: Sequence[ColumnSummary | None] = ()
        self._rows = 0
        self._pictures = False
        self.keys = Qt.KeyboardModifier.NoModifier  # of the last click

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.keys = event.modifiers()
        super().mousePressEvent(event)

    def show_columns(self, columns: Sequence[ColumnSummary | None], rows: int) -> None:
        self._columns, self._rows = columns, rows
        self._pictures = any(c and (c.distribution or c.missing) for c in columns)
        if columns:  # another height, perhaps
            self.headerDataChanged(Qt.Orientation.Horizontal, 0, len(columns) - 1)

    def _small_font(self) -> QFont:
        font = QFont(self.font())
        font.setBold(False)
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font

    def _missing_text(self, section: int) -> str:
        if section >= len(self._columns):
            return ""
        return missing_text(self._columns[section], self._rows)

    def sectionSizeFromContents(self, section: int) -> QSize:
        size = super().sectionSizeFromContents(section)
        if not self._pictures:
            return size
        small = QFontMetrics(self._small_font())
        width = small.horizontalAdvance(self._missing_text(section)) + _LEFT + _RIGHT + 2
        min_width = max(width, appearance.pixels(MIN_WIDTH))
        height = size.height() + appearance.pixels(HEIGHT) + small.height() + 4
        return QSize(max(size.width(), min_width), height)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        super().paintSection(painter, rect, section)
        if not self._pictures or section >= len(self._columns):
            return
        painter.save()
        small = self._small_font()
        caption = QFontMetrics(small).height()
        inner = rect.adjusted(_LEFT, _ABOVE, -_RIGHT, -_BELOW)
        words = QRect(inner.left(), inner.bottom() - caption + 1, inner.width(), caption)
        height = appearance.pixels(HEIGHT)
        bars = QRect(inner.left(), words.top() - 2 - height, inner.width(), height)
        if (column := self._columns[section]) and column.distribution:
            draw_bars(painter, QRectF(bars), column.distribution)
        painter.setFont(small)
        painter.setPen(QColor(appearance.current().warning))
        text, elide = self._missing_text(section), Qt.TextElideMode.ElideRight
        text = QFontMetrics(small).elidedText(text, elide, words.width())
        painter.drawText(words, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


def draw_bars(painter: QPainter, area: QRectF, spread: Distribution) -> None:
    """Bins of numbers touch, single values do not, the others are hollow."""
    theme = appearance.current()
    counts, single = spread.counts, spread.kind == "values"
    heights = (*counts, spread.other) if spread.other else counts
    max_count = max(heights, default=0)
    if not max_count:
        return
    # Few values would be drawn as blocks, not as bars.
    max_step = appearance.pixels(14 if single else 200)
    step = min(area.width() / max(len(heights), 6 if single else 1), max_step)
    gap = min(3.0, step / 3) if single else min(1.0, step / 5)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    base = QColor(theme.line)
    painter.fillRect(QRectF(area.left(), area.bottom(), step * len(heights), 1), base)
    colour = QColor(theme.model)
    for index, count in enumerate(heights):
        if not count:
            continue
        # A rare value is one pixel high rather than not there.
        tall = max(1.0, area.height() * count / max_count)
        bar = QRectF(area.left() + index * step, area.bottom() - tall, max(1.0, step - gap), tall)
        if index < len(counts):
            painter.fillRect(bar, colour)
        else:
            painter.setPen(colour)
            painter.drawRect(bar.adjusted(0, 0, -1, -1))


class PreviewModel(CellModel):
    """Row 0 says what each column is, then the first rows; the target comes first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heads: list[str] = []
        self.described: Sequence[ColumnSummary | None] = ()
        self.total = 0  # rows, with those without a target
        self._words: list[str] = []
        self._roles: list[str] = []
        self._has_cells: list[bool] = []
        self.rows: list[list[str]] = []

    def show_summary(self, summary: DatasetSummary, words: Mapping[str, str]) -> None:
        described = {column.name: column for column in summary.columns}
        names = list(summary.preview.columns)
        preview_names = set(names)
        # Of very many columns, those beyond the preview have no cells here, but their heads do all.
        names += [name for name in described if name not in preview_names]
        roles = [described[name].role if name in described else "feature" for name in names]
        order = sorted(range(len(names)), key=lambda index: roles[index] != "target")
        self.beginResetModel()
        self.heads = [names[index] for index in order]
        self._roles = [roles[index] for index in order]
        self.described = [described.get(name) for name in self.heads]
        self.total = summary.rows + summary.set_aside
        self._words = [words.get(name, "") for name in self.heads]
        self._has_cells = [name in preview_names for name in self.heads]
        gap = [""] * (len(names) - len(preview_names))
        rows = ([*row, *gap] for row in summary.preview.rows)
        self.rows = [[row[index] for index in order] for row in rows]
        self.endResetModel()

    def longest(self, column: int) -> tuple[str, str]:
        """What a column is, and the longest of its first cells."""
        rows = range(1, self.rowCount())[:FITTED_ROWS]
        cells = (self.cell_text(row, column) for row in rows)
        return self._words[column], max(cells, key=len, default="")

    def is_missing(self, row: int, column: int) -> bool:
        return row > 0 and self._has_cells[column] and not self.rows[row - 1][column]

    def cell_text(self, row: int, column: int) -> str:
        if row == 0:
            return self._words[column]
        return MISSING if self.is_missing(row, column) else self.rows[row - 1][column]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() or not self.heads else len(self.rows) + 1

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        is_tip = role == Qt.ItemDataRole.ToolTipRole
        if section < len(self.heads) and (is_tip or role == Qt.ItemDataRole.AccessibleTextRole):
            name, column = self.heads[section], self.described[section]
            column_text = shortened_text(name, MAX_NAME)
            if column:
                column_text += f"\n{column_values_text(column, self.total)}"
            return plain_tooltip(column_text) if is_tip else column_text
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.FontRole and row == 0:
            font = QFont()
            font.setItalic(True)
            font.setBold(self._roles[column] == "target")
            return font
        if role == Qt.ItemDataRole.ForegroundRole:
            theme = appearance.current()
            if self._roles[column] == "target" and row == 0:
                return QColor(theme.accent)
            is_ignored = self._roles[column] == "ignore"
            return QColor(theme.muted) if row == 0 or is_ignored else QColor(theme.ink)
        return super().data(index, role)


class _Cell(QStyledItemDelegate):
    """Paints a missing value as a soft badge, so that it is no word of the file."""

    def __init__(self, preview: PreviewModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._preview = preview

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if not self._preview.is_missing(index.row(), index.column()):
            super().paint(painter, option, index)
            return
        blank = QStyleOptionViewItem(option)
        self.initStyleOption(blank, index)
        blank.text = ""
        style = blank.widget.style() if blank.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, blank, painter, blank.widget)
        theme, metrics = appearance.current(), option.fontMetrics
        area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, blank, blank.widget)
        width = min(metrics.horizontalAdvance(MISSING) + 12, area.width())
        height = min(metrics.height() + 4, option.rect.height() - 2)
        top = option.rect.center().y() - height / 2 + 0.5
        soft = QColor(theme.warning)
        # Faint, so that it shows on the ground of the even and of the odd rows.
        soft.setAlphaF(0.12)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        badge = QRectF(area.left(), top, width, height)
        painter.drawRoundedRect(badge, 4, 4)
        painter.setPen(QColor(theme.warning))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, MISSING)
        painter.restore()


class PreviewTable(PlainTable):
    """Enter, or a click on a head, opens the menu of the column."""

    column_pressed = Signal(str, QPoint)  # name, position of the menu on the screen
    columns_pressed = Signal(object, QPoint)  # names and position
    selected = Signal()  # other columns are selected

    def __init__(self) -> None:
        super().__init__()
        self.min_rows = MIN_ROWS  # that have room in any case
        self._keys = Qt.KeyboardModifier.NoModifier  # of the last click into the cells
        self.preview = PreviewModel(self)
        self.setModel(self.preview)
        self.setItemDelegate(_Cell(self.preview, self))
        self.setAccessibleName("First rows of the table")
        self.setAccessibleDescription("The first row says what each column is. Enter changes it.")
        self._head = head = SpreadHeader(self)
        self.setHorizontalHeader(head)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectColumns)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        head.setSectionsClickable(True)
        head.setHighlightSections(False)
        head.setTextElideMode(Qt.TextElideMode.ElideRight)
        head.setResizeContentsPrecision(20)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setAccessibleName("Names of the columns")
        head.sectionClicked.connect(self._head_clicked)
        head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        head.customContextMenuRequested.connect(self._on_menu_wanted)
        self.clicked.connect(self._cell_clicked)
        self.preview.modelReset.connect(self._show_spread)
        appearance.notifier.themed.connect(self._show_spread)
        self.selectionModel().selectionChanged.connect(lambda *_changes: self.selected.emit())

    def _show_spread(self, _theme: object = None) -> None:  # with another one, texts differ in size
        self._head.show_columns(self.preview.described, self.preview.total)
        self.fit_columns()
        self.selected.emit()

    def selected_columns(self) -> list[str]:
        selection = self.selectionModel().selection()
        column_indices = {
            index
            for selected_range in map(selection.at, range(selection.size()))
            for index in range(selected_range.left(), selected_range.right() + 1)
        }
        return [self.preview.heads[index] for index in sorted(column_indices)]

    def fit_columns(self) -> None:
        line = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(line + 12)
        # The preview has the row of kinds and fifty of the file at most.
        rows = min(self.preview.rowCount(), 51)
        head = self.horizontalHeader().sizeHint().height()
        frame = 2 * self.frameWidth() + self.horizontalScrollBar().sizeHint().height()
        self.setMinimumHeight(head + min(rows, self.min_rows) * (line + 12) + frame)
        self.setMaximumHeight(head + rows * (line + 12) + frame)
        super().fit_columns()

    def least_widths(self, wanted: Sequence[int]) -> list[int]:
        longest = appearance.pixels(MAX_WIDTH)
        return [min(width, longest) for width in wanted]

    def wanted_widths(self) -> list[int]:
        """By the longest cell: measuring each takes too long."""
        count, head = self.preview.columnCount(), self.horizontalHeader()
        if not count:
            return []
        bold = QFont(self.font())
        bold.setItalic(True)
        bold.setBold(True)
        plain, first = self.fontMetrics(), QFontMetrics(bold)

        def cell_width(column: int) -> int:
            kind, longest = self.preview.longest(column)
            return max(first.horizontalAdvance(kind), plain.horizontalAdvance(longest))

        padding = max(0, self.sizeHintForColumn(0) - cell_width(0))
        return [max(head.sectionSizeHint(c), cell_width(c) + padding) + 6 for c in range(count)]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Menu)
        has_no_ctrl = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        # Ctrl+Space selects, as in every table.
        if event.key() in keys and has_no_ctrl and self.currentIndex().isValid():
            self._request_menu(self.currentIndex().column())
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._keys = event.modifiers()
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # The menu key comes as a key too, which is taken above.
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            self._on_menu_wanted(event.pos())

    def _on_menu_wanted(self, position: QPoint) -> None:
        column = self.columnAt(position.x())
        if column >= 0:
            if self.preview.heads[column] not in self.selected_columns():
                self.selectColumn(column)
            self._request_menu(column)

    def _head_clicked(self, column: int) -> None:
        if not _extends_selection(self._head.keys):
            self.setCurrentIndex(self.preview.index(0, column))
            self._request_menu(column)

    def _cell_clicked(self, index: QModelIndex) -> None:
        # The first row says what a column is, and is where people click to change it.
        if index.row() == 0 and not _extends_selection(self._keys):
            self._request_menu(index.column())

    def _request_menu(self, column: int) -> None:
        x = self.columnViewportPosition(column)
        position = self.viewport().mapToGlobal(QPoint(max(0, x), 0))
        names, name = self.selected_columns(), self.preview.heads[column]
        if len(names) > 1 and name in names:
            self.columns_pressed.emit(names, position)
        else:
            self.column_pressed.emit(name, position)


def _extends_selection(pressed: Qt.KeyboardModifier) -> bool:
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return bool(pressed & keys)
