"""The table of models with pictures of their scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPointF, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QApplication, QStyledItemDelegate, QStyleOptionViewItem

from app.look import appearance
from app.text.number_format import format_duration
from app.text.tuning.model_progress_text import (
    above_baseline,
    gain_text,
    score_of,
    standing_text,
    trials_of,
)
from app.views.plot.data_table import DISPLAY, Index
from app.views.plot.items import pen, symbol_path
from app.widgets.text_labels import plain_tooltip
from core.estimators.model_settings import title_of
from core.tuning.runs.model_leaderboard import LeaderboardRow, model_leaderboard
from core.tuning.runs.state import RunState

MODEL, PICTURE, SCORE, ABOVE, TRIALS, TIME, GAIN, STATE = range(8)
HEADS = ("model", "", "best score", "over baseline", "trials", "time", "may gain", "state")
TIPS = {
    SCORE: "The best score in validation, give or take one standard error over the folds.",
    ABOVE: "How much better that is than always the most frequent class, or the mean.",
    TRIALS: "Trials on all folds, behind a plus those that were ended early, clearly behind.",
    TIME: "Time spent on the model so far.",
    GAIN: "How much the best score of all is expected to rise by its next trial.",
}
MARGIN = 10  # pixels left and right of the picture
MIN_SCORE_SHARE = 0.2  # of the picture that the models' scores take beside the baseline


@dataclass(frozen=True)
class ScoreRange:
    """The range of scores common to all rows."""

    low: float
    high: float
    baseline: float | None

    def position_of(self, score: float) -> float:
        """The position of a score, 0 to 1."""
        return (score - self.low) / ((self.high - self.low) or 1.0)


def common_range(
    leaderboard: list[LeaderboardRow], baseline: float | None, maximize: bool = True
) -> ScoreRange:
    """The range of scores with intervals, and of a near baseline."""
    ends: list[float] = []
    for row in leaderboard:
        if row.best is not None:
            ends += [row.best - (row.error or 0.0), row.best + (row.error or 0.0)]
        elif row.best_known_score is not None:
            ends.append(row.best_known_score)
    if not ends:
        return ScoreRange(0.0, 1.0, None)
    low, high = min(ends), max(ends)
    if baseline is None or not math.isfinite(baseline):
        return ScoreRange(low, high, None)
    if low < baseline < high:  # models that are worse than the baseline are at the edge
        ends_at_baseline = (baseline, high) if maximize else (low, baseline)
        return ScoreRange(*ends_at_baseline, baseline)
    with_baseline = ScoreRange(min(low, baseline), max(high, baseline), baseline)
    if high - low >= MIN_SCORE_SHARE * (with_baseline.high - with_baseline.low):
        return with_baseline
    return ScoreRange(low, high, None)


class ModelsTableModel(QAbstractTableModel):
    """A row for every model of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.leaderboard: list[LeaderboardRow] = []
        self.range = ScoreRange(0.0, 1.0, None)
        self.looked_at = ""
        self._run: RunState | None = None
        self._cells: list[list[str]] = []

    def show_run(self, run: RunState, looked_at: str) -> None:
        """Show the leaderboard of a run."""
        self._run, self.looked_at = run, looked_at
        leaderboard = model_leaderboard(run)
        if [row.model for row in leaderboard] != [row.model for row in self.leaderboard]:
            self.beginResetModel()
            self._set_leaderboard(leaderboard, run)
            self.endResetModel()
            return
        self._set_leaderboard(leaderboard, run)
        if leaderboard:
            corner = self.index(len(leaderboard) - 1, len(HEADS) - 1)
            self.dataChanged.emit(self.index(0, 0), corner)

    def _set_leaderboard(self, leaderboard: list[LeaderboardRow], run: RunState) -> None:
        self.leaderboard = leaderboard
        self.range = common_range(leaderboard, run.started.baseline, run.started.maximize)
        metric, self._cells = run.started.metric, []
        for row in leaderboard:
            cells = [title_of(row.model), "", score_of(row, metric), above_baseline(row, run)]
            cells += [trials_of(row), format_duration(row.seconds)]
            cells += [gain_text(row, metric) if run.ended is None else "–", standing_text(row, run)]
            self._cells.append(cells)

    def row_of(self, model: str) -> int | None:
        """The row of a model."""
        models = [row.model for row in self.leaderboard]
        return models.index(model) if model in models else None

    def cell_texts(self) -> list[list[str]]:
        """The texts of all rows."""
        return self._cells

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """The number of models."""
        return 0 if parent.isValid() else len(self.leaderboard)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Name, picture, score, baseline, trials, time, gain, state."""
        return 0 if parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        """Names of the columns, and their tooltips."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(HEADS):
            return None
        if role == DISPLAY:
            return HEADS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS.get(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        """Text; numbers right-aligned, models that dropped out pale."""
        if index.row() >= len(self.leaderboard):
            return None
        row, column = self.leaderboard[index.row()], index.column()
        if role == DISPLAY:
            return self._cells[index.row()][column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._cells[index.row()][column])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole and row.state in ("failed", "slow", "behind"):
            return QColor(appearance.current().muted)
        if role == Qt.ItemDataRole.FontRole and column == MODEL and index.row() == 0:
            return _bold_font() if row.best is not None else None
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_left = column in (MODEL, PICTURE, STATE)
    side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _bold_font() -> QFont:
    font = QApplication.font()
    font.setBold(True)
    return font


class ScorePicture(QStyledItemDelegate):
    """Draws score, interval and baseline of a row."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the background, then the picture."""
        super().paint(painter, option, index)
        model = index.model()
        if not isinstance(model, ModelsTableModel) or index.row() >= len(model.leaderboard):
            return
        row, shown, theme = model.leaderboard[index.row()], model.range, appearance.current()
        box = option.rect.adjusted(MARGIN, 0, -MARGIN, 0)
        middle = box.center().y() + 0.5

        def x_of(score: float) -> float:
            return box.left() + min(1.0, max(0.0, shown.position_of(score))) * box.width()

        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(option.rect)
        if shown.baseline is not None:
            x = x_of(shown.baseline)
            painter.setPen(pen(theme.muted, 1.4, dashed=True))
            painter.drawLine(QPointF(x, option.rect.top()), QPointF(x, option.rect.bottom() + 1))
        score = row.best_known_score
        if score is not None and not 0.0 <= shown.position_of(score) <= 1.0:
            edge = QPointF(x_of(score), middle)
            _paint_triangle(painter, edge, shown.position_of(score) < 0.0)
        elif row.best is not None:
            strong = theme.model if row.state not in ("behind", "slow") else theme.control
            if row.error is not None:
                painter.setPen(pen(strong, 2.4))
                ends = (x_of(row.best - row.error), x_of(row.best + row.error))
                painter.drawLine(QPointF(ends[0], middle), QPointF(ends[1], middle))
            painter.setPen(pen(theme.paper, 1.0))
            painter.setBrush(QColor(strong))
            painter.drawPath(symbol_path("circle", 10).translated(x_of(row.best), middle))
        elif score is not None:
            painter.setPen(pen(theme.muted, 1.6))
            painter.setBrush(QColor(theme.paper))
            painter.drawPath(symbol_path("diamond", 9).translated(x_of(score), middle))
        painter.restore()


def _paint_triangle(painter: QPainter, edge: QPointF, is_left: bool) -> None:
    """A triangle that points to a score beyond the edge."""
    sign = -1.0 if is_left else 1.0
    corners = (QPointF(5 * sign, 0), QPointF(-4 * sign, -5), QPointF(-4 * sign, 5))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(appearance.current().muted))
    painter.drawPolygon([edge + corner for corner in corners])
