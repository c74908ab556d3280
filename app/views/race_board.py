"""The race board: what is known of each of several models, and which is tried next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from PySide6.QtCore import QLineF, QModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.look import appearance
from app.text import model_progress_text as words
from app.views.plot.axes import small_font
from app.views.plot.items import clear_colour, pen, symbol_path
from app.views.plot.view import View
from app.widgets.layouts import in_column
from app.widgets.plain_table import ALIGNMENT, DISPLAY, LEFT_CELL, RIGHT_CELL, Index, PlainTable
from app.widgets.text_labels import plain_tooltip, wrapping_label
from core.estimators.model_settings import title_of
from core.figures.figure import Table
from core.figures.scales import Ticks, near_range, score_scale
from core.tuning import events
from core.tuning.results.result_facts import untried_text
from core.tuning.runs import model_runs as standings
from core.tuning.runs.model_runs import LeaderboardRow, models_of
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import tunes_several
from core.tuning.scores.score import metric_in_short, score_text, signed_difference
from core.wording import PERCENT, duration_text, format_number
from resources.theme import TARGET

MODEL, SEEN, PICTURE, TRIALS, TIME, STATE = range(6)
HEADS = ("model", "rows · folds", "", "trials", "time", "state")
TIPS = {
    SEEN: "The share of a fold's training rows that its largest fit has seen, and how many folds.",
    TRIALS: "Trials on all folds, behind a plus those that were ended early, clearly behind.",
    TIME: "Time spent on the model so far.",
}
STRONG = ("leads", "tuning")  # states of the models that the run is about now
BOLD = (*STRONG, "next")
PALE = ("failed", "too slow", "clearly behind")
MARGIN, PADDING = 10, 30  # pixels left and right of the picture; of a cell, both together
BAR, TICK_ROOM = 8, 56  # pixels: the bar's height; what a tick takes
SEEN_ROWS = 11  # that are seen without scrolling
NARROWEST, WIDEST = 170, 900  # pixels of the picture
CUT_NAME = 190  # pixels of a model's name, where room is short
LEFT_OUT = (TIME, SEEN, TRIALS)  # columns that go next


@dataclass(frozen=True)
class ScoreRange:
    """The range common to all rows."""

    low: float
    high: float
    baseline: float | None

    def position_of(self, score: float) -> float:
        return (score - self.low) / ((self.high - self.low) or 1.0)

    @lru_cache(maxsize=8)  # noqa: B019 - ranges are values
    def score_ticks(self, metric: str, width: float) -> Ticks:
        """(position, label) of ticks that have room, shares in percent."""
        # The sign stands at the scores beside the dots; over the picture it would crowd the ticks.
        scale = replace(score_scale(metric), unit="")
        ticks = scale.ticks_between(self.low, self.high, max(2, int(width / TICK_ROOM)))
        return [(self.position_of(value), label) for value, label in ticks]


def common_range(
    leaderboard: list[LeaderboardRow], baseline: float | None, maximize: bool = True
) -> ScoreRange:
    """Of every picture of scores; a baseline beyond it is None."""
    scored = [row for row in leaderboard if row.best_known_score is not None]
    if not scored:
        return ScoreRange(0.0, 1.0, None)
    scores = np.array([row.best_known_score for row in scored], float)
    error = scored[int(scores.argmax() if maximize else scores.argmin())].error or 0.0
    low, high = near_range(scores, maximize, error)
    # The bar of the best is whole; others beyond the edge are triangles.
    low, high = (low, high + error) if maximize else (low - error, high)
    is_near = baseline is not None and low <= baseline <= high
    return ScoreRange(low, high, baseline if is_near else None)


class ScoreHeader(QHeaderView):
    """The columns' names, and the ticks of the scores."""

    def __init__(self, board: RaceBoard) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._board = board

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        painter.save()
        super().paintSection(painter, rect, section)
        painter.restore()
        if section != PICTURE or not any(self._board.labels):
            return
        box = self._board.picture_box(rect)
        painter.save()
        painter.setFont(small_font())
        painter.setPen(QColor(appearance.current().muted))
        for position, label in self._board.ticks_in(box):
            x = box.left() + position * box.width()
            label_box = QRectF(x - TICK_ROOM / 2, box.top(), TICK_ROOM, box.height())
            painter.drawText(label_box, Qt.AlignmentFlag.AlignCenter, label)
        painter.restore()


class ScorePicture(QStyledItemDelegate):
    """The score on a bar of one standard error to each side."""

    def __init__(self, board: RaceBoard) -> None:
        super().__init__(board)
        self._board = board

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        board, rect, theme = self._board, QRectF(option.rect), appearance.current()
        shown, box = board.range, board.picture_box(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(option.rect)
        painter.setPen(pen(theme.line))
        tick_xs = [round(box.left() + x * box.width()) + 0.5 for x, _ in board.ticks_in(box)]
        painter.drawLines([QLineF(x, rect.top(), x, rect.bottom()) for x in tick_xs])
        if shown.baseline is not None:
            x = box.left() + shown.position_of(shown.baseline) * box.width()
            painter.setPen(pen(theme.muted, 1.4, dashed=True))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
        row = board.leaderboard[index.row()]
        if row.best_known_score is not None:
            state, label = board.cells[index.row()][STATE], board.labels[index.row()]
            _paint_score(painter, box, shown, row, state, label)
        painter.restore()


def _paint_score(
    painter: QPainter, box: QRectF, shown: ScoreRange, row: LeaderboardRow, state: str, label: str
) -> None:
    theme, middle = appearance.current(), box.center().y()
    strong = theme.model if state in STRONG else theme.observed if state == "next" else theme.muted
    score, error = row.best_known_score or 0.0, row.error or 0.0
    shares = (shown.position_of(value) for value in (score - error, score, score + error))
    low, x, high = (box.left() + min(1.0, max(0.0, share)) * box.width() for share in shares)
    painter.setFont(small_font())
    painter.setPen(QColor(theme.muted if state in PALE else theme.ink))
    label_box = QRectF(max(high, x + 5) + 6, box.top(), box.width(), box.height())
    painter.drawText(label_box, Qt.AlignmentFlag.AlignVCenter, label)
    painter.setPen(pen(strong, 1.0))
    painter.setBrush(clear_colour(strong, 0.3))
    if error:
        bar = QRectF(low, middle - BAR / 2, high - low, BAR)
        painter.drawRoundedRect(bar, BAR / 2, BAR / 2)
    # A triangle that points beyond the edge.
    if not 0.0 <= shown.position_of(score) <= 1.0:
        sign = -1.0 if shown.position_of(score) < 0.0 else 1.0
        corners = ((5 * sign, 0), (-4 * sign, -5), (-4 * sign, 5))
        painter.drawPolygon([QPointF(x + right, middle + down) for right, down in corners])
        return
    is_whole = row.best is not None
    painter.setPen(pen(theme.paper, 1.0) if is_whole else pen(strong, 1.6))
    painter.setBrush(QColor(strong if is_whole else theme.paper))
    symbol = symbol_path("circle", 10) if is_whole else symbol_path("diamond", 9)
    painter.drawPath(symbol.translated(x, middle))


class RaceGrid(PlainTable):
    """The table; a click or Enter looks at a model."""

    def __init__(self, board: RaceBoard) -> None:
        super().__init__()
        self._board = board
        self.setAlternatingRowColors(False)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setHorizontalHeader(ScoreHeader(board))
        self.setItemDelegateForColumn(PICTURE, ScorePicture(board))
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setStretchLastSection(True)
        self.items = model = QStandardItemModel(0, len(HEADS), self)
        for column, head in enumerate(HEADS):
            values: dict[int, Any] = {DISPLAY: head, Qt.ItemDataRole.ToolTipRole: TIPS.get(column)}
            values[Qt.ItemDataRole.AccessibleTextRole] = head or "score"
            values[ALIGNMENT] = _alignment(column)
            for role, value in values.items():
                model.setHeaderData(column, Qt.Orientation.Horizontal, value, role)
        self.setModel(model)
        self.setAccessibleName("Models")

    def fit_columns(self) -> None:
        self._board.fit_columns()


class RaceBoard(View):
    """Every model, and their average."""

    name = "models"
    title = "Models"
    question = "Which model leads? Choose one to see its trials alone."
    waiting = "Every model is listed here as soon as their screening begins."
    listens = (
        *(events.ModelScreened, events.ModelsCompared, events.TuningEnded, events.TrialStarted),
        *(events.TrialFinished, events.TrialFailed, events.RunResumed, events.RunFinished),
        *(events.RunStopped, events.RunFailed, events.EnsembleUpdated),
    )
    wide = True
    of_all = True

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return started.kind == "trials" and tunes_several(started)

    @property
    def run(self) -> RunState:
        return self.record.whole_run

    def make_content(self) -> QWidget:
        self.leaderboard: list[LeaderboardRow] = []
        self.range = ScoreRange(0.0, 1.0, None)
        self.cells: list[list[str]] = []
        self.labels: list[str] = []  # of the scores in the picture
        self._label_room = 0  # pixels
        self.table = RaceGrid(self)
        self.table.clicked.connect(self._on_row_chosen)
        self.table.activated.connect(self._on_row_chosen)
        self.next = wrapping_label("", "caption")
        container = QWidget()
        in_column((self.table, 1), self.next, on=container, gap=6)
        return container

    def tooltip_at(self, position: QPointF) -> str:
        return self.table.tooltip_at(position)

    def has_content(self) -> bool:
        return tunes_several(self.run.started)

    def picture_box(self, rect: QRect) -> QRectF:
        return QRectF(rect).adjusted(MARGIN, 0, -self._label_room - 2 * MARGIN, 0)

    def ticks_in(self, box: QRectF) -> Ticks:
        return self.range.score_ticks(self.run.started.metric, box.width())

    def draw(self) -> None:
        run, metric = self.run, self.run.started.metric
        average, rows = standings.average_row(run), standings.model_leaderboard(run)
        self.leaderboard = [average, *rows] if average is not None else rows
        self.range = common_range(self.leaderboard, run.started.baseline, run.started.maximize)
        self.cells = [_row_cells(row, run) for row in self.leaderboard]
        scores = [row.best_known_score for row in self.leaderboard]
        self.labels = ["" if s is None else score_text(s, metric) for s in scores]
        self.labels = [label.removesuffix(PERCENT) for label in self.labels]
        if average is not None:
            self.labels[0] = signed_difference(standings.average_lead(run), metric)
        metrics, items = QFontMetrics(small_font()), self.table.items
        self._label_room = max(map(metrics.horizontalAdvance, self.labels), default=0)
        items.setRowCount(len(self.leaderboard))
        for index, (row, cells) in enumerate(zip(self.leaderboard, self.cells, strict=True)):
            for column, values in enumerate(_cell_values(cells, _descriptions(row, run))):
                items.setItemData(items.index(index, column), values)
        self._update_captions()
        models = [row.model for row in self.leaderboard]
        # Rows change their places at every drawing: the selection follows its model.
        if self.record.model and self.record.model in models:
            self.table.selectRow(models.index(self.record.model))
        else:
            self.table.clearSelection()
        self.table.viewport().update()
        self.paint_theme()

    def _update_captions(self) -> None:
        run, shown = self.run, self.range
        known_rows = [row for row in self.leaderboard if row.best_known_score is not None]
        question = f"{self.question} Dot: {metric_in_short(run.started.metric)}."
        if any(row.error for row in known_rows):
            question += " Bar: one standard error to each side; more rows and folds narrow it."
        if any(row.best is None for row in known_rows):
            question += " Diamond: an estimate from a part of the rows."
        if any(not 0 <= shown.position_of(row.best_known_score or 0) <= 1 for row in known_rows):
            question += " Triangle: beyond the edge."
        if standings.average_lead(run) is not None:
            question += " Average: by its lead over the best, on rows that chose neither."
        if baseline := words.baseline_text(run):
            name = "Without a model" if shown.baseline is None else "Dashes: without a model"
            question += f" {name}, {baseline}."
        self.set_question(question)
        untried = (run.results.untried if run.results is not None else None) or {}
        untried_sentence = untried_text(untried, len(models_of(run.started)))
        self.next.setText(words.what_is_next(run) or untried_sentence or words.who_leads(run))
        self.next.setVisible(bool(self.next.text()))

    def paint_theme(self) -> None:
        tall = appearance.pixels(TARGET)
        self.table.verticalHeader().setDefaultSectionSize(tall)
        seen = min(SEEN_ROWS, max(1, len(self.leaderboard)))
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(head + seen * tall + 4)
        self.fit_columns()

    def fit_columns(self) -> None:
        if not self.leaderboard:
            return
        needed, room = self._needed_widths(), self.table.viewport().width()
        room_beside = room - appearance.pixels(NARROWEST)
        # Names are cut before whole columns go: they can be read in the tooltip.
        if sum(needed.values()) > room_beside:
            needed[MODEL] = min(needed[MODEL], appearance.pixels(CUT_NAME))
        for column in LEFT_OUT:
            is_over = sum(needed.values()) > room_beside
            self.table.setColumnHidden(column, is_over)
            if is_over:
                del needed[column]
        picture = min(appearance.pixels(WIDEST), room - sum(needed.values()))
        needed[PICTURE] = max(appearance.pixels(NARROWEST) // 2, picture)
        for column, wide in needed.items():
            self.table.setColumnWidth(column, wide)

    def _needed_widths(self) -> dict[int, int]:
        metrics, bold = QFontMetrics(self.table.font()), QFontMetrics(_bold_font())
        needed = {}
        for column in (MODEL, SEEN, TRIALS, TIME, STATE):
            font = bold if column in (MODEL, STATE) else metrics
            widest = max(font.horizontalAdvance(cells[column]) for cells in self.cells)
            needed[column] = max(widest, bold.horizontalAdvance(HEADS[column]) + 6) + PADDING
        return needed

    def _on_row_chosen(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() < len(self.leaderboard):
            model = self.leaderboard[index.row()].model
            self.model_requested.emit("" if model == self.record.model else model)

    def describe(self) -> str:
        leads = words.who_leads(self.run) or "No model has a score yet."
        return " ".join(filter(None, (leads, words.what_is_next(self.run))))

    def table_data(self) -> Table:
        headers = ["model", "title", "best", "standard error", "estimate of those ended early"]
        headers += ["screening", "over baseline", "rows", "folds", "trials", "ended early"]
        headers += ["seconds", "expected improvement", "seconds of the next trial", "state"]
        rows = zip(self.leaderboard, self.cells, strict=True)
        return headers, [self._table_row(row, cells[MODEL]) for row, cells in rows]

    def _table_row(self, row: LeaderboardRow, title: str) -> list[object]:
        baseline, over = self.run.started.baseline, None
        if row.best_known_score is not None and baseline is not None:
            over = (row.best_known_score - baseline) * (1 if self.run.started.maximize else -1)
        score = [row.best, row.error, row.estimate, row.look, over, row.rows, row.folds]
        cost = [row.trials, row.early, row.seconds, row.gain, row.takes]
        return [row.model or "average", title, *score, *cost, row.why or row.state]


def _row_cells(row: LeaderboardRow, run: RunState) -> list[str]:
    count = len(run.ensemble.members) if run.ensemble is not None else 0
    title = title_of(row.model) if row.model else f"Average of {count}"
    trials = words.trials_of(row) if row.trials or row.early else ""
    time = duration_text(row.seconds) if row.seconds else ""
    return [title, words.seen_text(row, run), "", trials, time, words.standing_text(row, run)]


def _descriptions(row: LeaderboardRow, run: RunState) -> dict[int, str]:
    metric = run.started.metric
    texts = {PICTURE: f"{metric_in_short(metric)} {words.score_of(row, metric)}"}
    texts[STATE] = words.explained_standing(row, run)
    if row.rows:
        folds = "1 fold" if row.folds == 1 else f"{row.folds} folds"
        most = format_number(max(row.rows, standings.fit_rows(run)), 9)
        texts[SEEN] = f"{format_number(row.rows, 9)} of {most} rows of a fold, {folds}"
    return texts


def _cell_values(cells: list[str], descriptions: dict[int, str]) -> list[dict[int, Any]]:
    theme, state, bold = appearance.current(), cells[STATE], _bold_font()
    ink = (
        {STATE: theme.accent} if state in STRONG else {STATE: theme.ink} if state == "next" else {}
    )
    ink |= {} if state in PALE else {MODEL: theme.ink}
    bold_columns = (MODEL, STATE) if state == "leads" else (STATE,) if state in BOLD else ()
    return [
        {
            DISPLAY: text,
            Qt.ItemDataRole.ToolTipRole: plain_tooltip(descriptions.get(column, text)),
            Qt.ItemDataRole.AccessibleTextRole: descriptions.get(column, text),
            ALIGNMENT: _alignment(column),
            Qt.ItemDataRole.ForegroundRole: QColor(ink.get(column, theme.muted)),
            Qt.ItemDataRole.FontRole: bold if column in bold_columns else QApplication.font(),
        }
        for column, text in enumerate(cells)
    ]


def _alignment(column: int) -> Qt.AlignmentFlag:
    return RIGHT_CELL if column in (TRIALS, TIME) else LEFT_CELL


def _bold_font() -> QFont:
    font = QApplication.font()
    font.setBold(True)
    return font
