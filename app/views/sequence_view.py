"""One labelled sequence: its tokens, labels and how sure the model is."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.examples_view import ExamplesView
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour
from app.views.plot.legend import SAMPLE, LegendEntry, height_of, paint_entries
from app.views.plot.scrolled_views import PaintedView
from core.datasets.task import Task
from core.figures.example_figures import LabelPicture
from core.figures.figure import Table
from core.tuning.events import LabelledSequence, RunStarted, SequencesLabelled
from core.wording import format_decimals

EDGE = 6  # pixels around everything
LONGEST_TOKEN, LONGEST_LABEL = 120, 150  # pixels of a word before it is cut
NARROWEST, WIDEST = 24, 150  # pixels of a column
TALLEST = 80  # pixels of a row
SEEN = 20  # rows that are seen without scrolling


@dataclass(frozen=True)
class SequenceLabels:
    """One sequence as it is drawn: T tokens, R labels."""

    tokens: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    probabilities: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (T, R)
    true: tuple[int, ...] = ()  # the row of the true label of each token, −1 for none
    predictions: tuple[int, ...] = ()  # the row of the label that the model gives

    @property
    def is_wrong(self) -> list[bool]:
        return [true != row for true, row in zip(self.true, self.predictions, strict=True)]


class TokenGrid:
    """The drawing; columns fit their words, which stay in sight as the labels and the legend do."""

    def __init__(self) -> None:
        self.shown, self.entries = SequenceLabels(), list[LegendEntry]()
        self.min_height = 0.0
        self._token_text: Callable[[int], str] = str
        self._left_edge = 0.0  # of what was in sight

    def set_data(
        self, shown: SequenceLabels, entries: list[LegendEntry], token_text: Callable[[int], str]
    ) -> None:
        self.shown, self.entries, self._token_text = shown, entries, token_text

    def lay_out(self, width: float, height: float) -> QSizeF:
        self.metrics, self.bold = QFontMetricsF(small_font()), QFontMetricsF(small_font(bold=True))
        tall, labels = self.metrics.height(), self.shown.labels
        max_width = appearance.pixels(LONGEST_LABEL)
        widths = [min(max_width, self.metrics.horizontalAdvance(label)) for label in labels]
        self.left = EDGE + max(widths, default=0.0) + 6
        self.head = EDGE + height_of(self.entries, width - 2 * EDGE) + 5
        self.top = self.head + tall + 5  # below the tokens
        words = np.array([self.bold.horizontalAdvance(token) for token in self.shown.tokens])
        columns = np.maximum(NARROWEST, np.minimum(LONGEST_TOKEN, words) + 8)
        room = width - self.left - EDGE
        if len(columns) and columns.sum() < room:
            # A short sequence spreads over the card, but to no columns wider than a word can be.
            columns = np.minimum(columns * room / columns.sum(), np.maximum(WIDEST, columns))
        self.edges = np.concatenate([[0.0], np.cumsum(columns)])
        count = max(1, len(labels))
        self.min_height = self.top + min(count, SEEN) * (tall + 1) + EDGE
        self.row = min(TALLEST, max(tall + 1, (height - self.top - EDGE) / count))
        across = self.left + float(self.edges[-1]) + EDGE
        return QSizeF(across, self.top + count * self.row + EDGE)

    def cell_box(self, token: int, row: int) -> QRectF:
        first, last = self.edges[token], self.edges[token + 1]
        return QRectF(self.left + first, self.top + row * self.row, last - first, self.row)

    def paint(self, painter: QPainter, seen: QRectF) -> None:
        self._left_edge = seen.left()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_entries(painter, self.entries, seen.adjusted(EDGE, EDGE, -EDGE, 0))
        cells = seen.adjusted(self.left, self.top, 0, 0)
        painter.setClipRect(cells.adjusted(-1, -1, 0, 0))
        _paint_cells(painter, self, cells)
        painter.setClipRect(QRectF(cells.left(), seen.top(), cells.width(), self.top))
        painter.translate(0, seen.top())
        _paint_tokens(painter, self)
        painter.translate(seen.left(), -seen.top())
        painter.setClipRect(QRectF(0, cells.top() - 1, self.left, cells.height() + 1))
        _paint_labels(painter, self)

    def token_at(self, x: float) -> int | None:
        """The token at a distance from the left of the drawing."""
        token = int(np.searchsorted(self.edges, x - self.left, "right")) - 1
        is_on_labels = x < self._left_edge + self.left
        return None if is_on_labels or token >= len(self.shown.tokens) else token

    def tooltip_at(self, position: QPointF) -> str:
        token = self.token_at(position.x())
        return "" if token is None else self._token_text(token)


def _paint_cells(painter: QPainter, grid: TokenGrid, seen: QRectF) -> None:
    theme, shown = appearance.current(), grid.shown
    for token, is_wrong in enumerate(shown.is_wrong):
        column = grid.cell_box(token, 0).united(grid.cell_box(token, len(shown.labels) - 1))
        # Of thousands of tokens a few are on the screen.
        if not column.intersects(seen):
            continue
        if is_wrong:
            painter.fillRect(column, clear_colour(theme.bad, 0.10))
        for row, share in enumerate(shown.probabilities[token]):
            # Fainter cells could not be seen, and most labels are that unlikely.
            if share >= 0.005:
                cell = grid.cell_box(token, row).adjusted(0.5, 0.5, -0.5, -0.5)
                painter.fillRect(cell, clear_colour(theme.model, float(share)))
    painter.setPen(QPen(QColor(theme.line), 1))
    for row in range(len(shown.labels) + 1):
        y = grid.top + row * grid.row
        painter.drawLine(QPointF(seen.left(), y), QPointF(grid.left + grid.edges[-1], y))
    for token, is_wrong in enumerate(shown.is_wrong):
        if shown.true[token] >= 0:
            draw_true(painter, grid.cell_box(token, shown.true[token]))
        if shown.predictions[token] >= 0:
            mark = draw_wrong if is_wrong else draw_right
            mark(painter, grid.cell_box(token, shown.predictions[token]))


def draw_true(painter: QPainter, cell: QRectF) -> None:
    """Draw the frame around the true label."""
    theme = appearance.current()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(theme.observed), 2))
    painter.drawRect(cell.adjusted(2, 2, -2, -2))


def draw_right(painter: QPainter, cell: QRectF) -> None:
    """Draw the dot on a right prediction."""
    theme, size = appearance.current(), _size_of(cell)
    painter.setBrush(QColor(theme.paper))
    painter.setPen(QPen(QColor(theme.ink), 1.2))
    painter.drawEllipse(cell.center(), size / 2, size / 2)


def draw_wrong(painter: QPainter, cell: QRectF) -> None:
    """Draw the cross on a wrong prediction."""
    theme, radius = appearance.current(), _size_of(cell) / 2 + 0.5
    middle = cell.center()
    diagonal, antidiagonal = QPointF(radius, radius), QPointF(radius, -radius)
    # A rim in the colour of the paper keeps the cross apart from dark cells.
    for colour, width in ((theme.paper, 5.0), (theme.bad, 2.4)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawLine(middle - diagonal, middle + diagonal)
        painter.drawLine(middle - antidiagonal, middle + antidiagonal)


def _size_of(cell: QRectF) -> float:
    return max(5.0, min(9.0, cell.height() - 8))


def _paint_tokens(painter: QPainter, grid: TokenGrid) -> None:
    theme, shown = appearance.current(), grid.shown
    for token, (word, wrong) in enumerate(zip(shown.tokens, shown.is_wrong, strict=True)):
        font = small_font(bold=wrong)
        # Not by the colour alone.
        font.setUnderline(wrong)
        painter.setFont(font)
        painter.setPen(QColor(theme.bad if wrong else theme.ink))
        cell = grid.cell_box(token, 0)
        box = QRectF(cell.left() + 2, grid.head, cell.width() - 4, grid.top - grid.head)
        metrics = grid.bold if wrong else grid.metrics
        text = metrics.elidedText(word, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)


def _paint_labels(painter: QPainter, grid: TokenGrid) -> None:
    painter.setFont(small_font())
    painter.setPen(QColor(appearance.current().ink))
    for row, label in enumerate(grid.shown.labels):
        box = QRectF(EDGE, grid.top + row * grid.row, grid.left - EDGE - 6, grid.row)
        text = grid.metrics.elidedText(label, Qt.TextElideMode.ElideMiddle, box.width())
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, int(flags), text)


MAX_FULL_LABELS = 20  # labels up to which each has a row, likely or not
LIKELY = 0.05  # of more labels, those that are as likely as this somewhere have one
MAX_TOOLTIP_LABELS = 3  # labels that are named when the pointer rests on a token


class SequenceView(ExamplesView[LabelledSequence], PaintedView):
    """Tokens across, labels down; frames are true labels."""

    name = "sequence"
    title = "One sequence, token by token"
    question = "Which label does the model find likely, where?"
    waiting = "The likely labels of a few training sequences appear here at step 0."
    choosing = "Which sequence"
    listens = (SequencesLabelled,)
    task = Task.SEQUENCE
    interval = 0.06

    def make_drawing(self) -> TokenGrid:
        self.grid = TokenGrid()
        return self.grid

    def start(self, started: RunStarted) -> None:
        super().start(started)
        self._rows: dict[str, set[int]] = {}

    def reset_ranges(self) -> None:
        """Nothing: the grid starts at the left."""

    def examples(self) -> list[LabelledSequence]:
        return self.run.labelled.sequences

    def example_title(self, example: LabelledSequence) -> str:
        return f"{example.name} ({len(example.tokens)} tokens)"

    def draw(self) -> None:
        entries = [
            LegendEntry(_paint_shades, "more likely"),
            LegendEntry(_centred_sample(draw_true), "true label"),
            LegendEntry(_centred_sample(draw_right), "model right"),
            LegendEntry(_centred_sample(draw_wrong), "model wrong"),
        ]
        shown = self.sequence_labels()
        # Another sequence begins at its left; the next step of the same stays where it was scrolled
        # to.
        if shown.tokens != self.grid.shown.tokens:
            self.page.horizontalScrollBar().setValue(0)
        self.grid.set_data(shown, entries, self._token_text)
        self.page.update_layout()

    def sequence_labels(self) -> SequenceLabels:
        example, classes = self.example(), self.run.labelled.classes
        marginals = np.array(example.marginals, dtype=float).reshape(-1, len(classes))
        code_of = {label: code for code, label in enumerate(classes)}
        # The rows only grow, so that none jumps from step to step.
        shown = self._rows.setdefault(example.name, set())
        if len(classes) <= MAX_FULL_LABELS:
            shown.update(range(len(classes)))
        shown.update(
            code_of[label] for label in (*example.truth, *example.labels) if label in code_of
        )
        shown.update(np.flatnonzero(marginals.max(axis=0, initial=0.0) >= LIKELY).tolist())
        codes = sorted(shown)
        row_of = {classes[code]: row for row, code in enumerate(codes)}
        return SequenceLabels(
            tokens=tuple(example.tokens),
            labels=tuple(row_of),
            probabilities=marginals[:, codes],
            true=tuple(row_of.get(label, -1) for label in example.truth),
            predictions=tuple(row_of.get(label, -1) for label in example.labels),
        )

    def _token_text(self, token: int) -> str:
        example, classes = self.example(), self.run.labelled.classes
        shares = np.array(example.marginals[token])
        likely = np.argsort(-shares, kind="stable")[:MAX_TOOLTIP_LABELS]
        lines = [
            f"“{example.tokens[token]}”, token {token + 1}",
            f"true label: {example.truth[token]}",
            f"predicted: {example.labels[token]}",
        ]
        lines += [f"{classes[code]} {format_decimals(100 * shares[code], 1)} %" for code in likely]
        return "\n".join(lines)

    def describe(self) -> str:
        return f"Step {self.run.labelled.step}, {self._label_picture().label_text()}"

    def table_data(self) -> Table:
        return self._label_picture().label_table()

    def _label_picture(self) -> LabelPicture:
        return LabelPicture(self.example(), self.run.labelled.classes)


def _paint_shades(painter: QPainter, box: QRectF) -> None:
    model, steps = appearance.current().model, 6
    wide = box.width() / steps
    for step in range(steps):
        shade_box = QRectF(box.left() + step * wide, box.top() + 3, wide + 0.5, box.height() - 6)
        painter.fillRect(shade_box, clear_colour(model, (step + 0.5) / steps))


def _centred_sample(draw: Callable[[QPainter, QRectF], None]) -> Callable[[QPainter, QRectF], None]:
    def paint_sample(painter: QPainter, box: QRectF) -> None:
        draw(painter, QRectF(box.center().x() - SAMPLE / 2, box.top(), SAMPLE, box.height()))

    return paint_sample
