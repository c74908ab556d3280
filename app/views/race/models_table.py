"""The table of the models of a run: the best first, with a dot and an interval for each score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPointF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.look import appearance
from app.text.numbers import seconds
from app.text.tuning.models import above_baseline, gain_in_words, score_of, stands, trials_of
from app.views.plot.items import pen, symbol_path
from app.widgets.labels import tip
from core.estimators.settings import title_of
from core.tuning.runs.standings import Standing, standings
from core.tuning.runs.state import RunState

Index = QModelIndex | QPersistentModelIndex
MODEL, PICTURE, SCORE, ABOVE, TRIALS, TIME, GAIN, STATE = range(8)
HEADS = ("model", "", "best score", "over nothing", "trials", "time", "may gain", "state")
TIPS = {
    SCORE: "The best score in validation, give or take one standard error over the folds.",
    ABOVE: "How much better that is than knowing nothing of the columns.",
    TRIALS: "Trials on all folds, behind a plus those that were ended early, clearly behind.",
    TIME: "Time spent on the model so far.",
    GAIN: "How much the best score of all is expected to rise by its next trial.",
}
MARGIN = 10  # pixels left and right of the picture
LEAST_SHARE = 0.2  # of the picture that the models' scores take, the baseline beside them or not


@dataclass(frozen=True)
class Range:
    """What the pictures of all rows show in common: scores from low to high."""

    low: float
    high: float
    baseline: float | None

    def place(self, score: float) -> float:
        """Where a score lies, 0 to 1."""
        return (score - self.low) / ((self.high - self.low) or 1.0)


def common_range(found: list[Standing], baseline: float | None, maximize: bool = True) -> Range:
    """The range of all scores with their intervals; the baseline too unless it is far away."""
    ends = [
        one.best + sign * (one.error or 0.0)
        for one in found
        if one.best is not None
        for sign in (-1.0, 1.0)
    ]
    ends += [one.known for one in found if one.best is None and one.known is not None]
    if not ends:
        return Range(0.0, 1.0, None)
    low, high = min(ends), max(ends)
    known = baseline is not None and math.isfinite(baseline)
    if (
        known and low < baseline < high
    ):  # models that are worse than knowing nothing are at the edge
        return Range(baseline, high, baseline) if maximize else Range(low, baseline, baseline)
    if known and (high - low) >= LEAST_SHARE * (max(high, baseline) - min(low, baseline)):
        return Range(min(low, baseline), max(high, baseline), baseline)
    return Range(low, high, None)


class ModelsTableModel(QAbstractTableModel):
    """A row for every model of a run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Standing] = []
        self.range = Range(0.0, 1.0, None)
        self.looked_at = ""
        self._run: RunState | None = None
        self._cells: list[list[str]] = []

    def show_run(self, run: RunState, looked_at: str) -> None:
        """Show how the models of a run stand."""
        self._run, self.looked_at = run, looked_at
        found = standings(run)
        if [one.model for one in found] != [one.model for one in self.found]:
            self.beginResetModel()
            self._take(found, run)
            self.endResetModel()
            return
        self._take(found, run)
        if found:
            self.dataChanged.emit(self.index(0, 0), self.index(len(found) - 1, len(HEADS) - 1))

    def _take(self, found: list[Standing], run: RunState) -> None:
        self.found, self.range = (
            found,
            common_range(found, run.started.baseline, run.started.maximize),
        )
        metric = run.started.metric
        self._cells = [
            [
                title_of(one.model),
                "",
                score_of(one, metric),
                above_baseline(one, run),
                trials_of(one),
                seconds(one.seconds),
                gain_in_words(one, metric) if run.ended is None else "–",
                stands(one, run),
            ]
            for one in found
        ]

    def row_of(self, model: str) -> int | None:
        """The row of a model."""
        return next((at for at, one in enumerate(self.found) if one.model == model), None)

    def cells(self) -> list[list[str]]:
        """What all rows say."""
        return self._cells

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """How many models."""
        return 0 if parent.isValid() else len(self.found)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Name, picture, score, baseline, trials, time, gain, state."""
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Names of the columns, and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(HEADS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS.get(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text of a cell; numbers to the right, models that are out pale."""
        if index.row() >= len(self.found):
            return None
        one, column = self.found[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cells[index.row()][column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self._cells[index.row()][column])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole and one.state in ("failed", "slow", "behind"):
            return QColor(appearance.current().muted)
        if role == Qt.ItemDataRole.FontRole and column == MODEL and index.row() == 0:
            return _bold() if one.best is not None else None
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    left = column in (MODEL, PICTURE, STATE)
    side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _bold() -> Any:
    from PySide6.QtWidgets import QApplication

    font = QApplication.font()
    font.setBold(True)
    return font


class ScorePicture(QStyledItemDelegate):
    """Draws a row's dot and interval; an estimate as a diamond, the baseline in dashes."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The cell's background as usual, then the picture."""
        super().paint(painter, option, index)
        model = index.model()
        if not isinstance(model, ModelsTableModel) or index.row() >= len(model.found):
            return
        one, shown, theme = model.found[index.row()], model.range, appearance.current()
        box = option.rect.adjusted(MARGIN, 0, -MARGIN, 0)
        middle = box.center().y() + 0.5

        def across(score: float) -> float:
            return box.left() + min(1.0, max(0.0, shown.place(score))) * box.width()

        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(option.rect)
        if shown.baseline is not None:
            x = across(shown.baseline)
            painter.setPen(pen(theme.muted, 1.4, dashed=True))
            painter.drawLine(QPointF(x, option.rect.top()), QPointF(x, option.rect.bottom() + 1))
        if one.known is not None and not 0.0 <= shown.place(one.known) <= 1.0:
            _beyond(painter, QPointF(across(one.known), middle), shown.place(one.known) < 0.0)
        elif one.best is not None:
            strong = theme.model if one.state not in ("behind", "slow") else theme.control
            if one.error is not None:
                painter.setPen(pen(strong, 2.4))
                ends = (across(one.best - one.error), across(one.best + one.error))
                painter.drawLine(QPointF(ends[0], middle), QPointF(ends[1], middle))
            painter.setPen(pen(theme.paper, 1.0))
            painter.setBrush(QColor(strong))
            painter.drawPath(symbol_path("circle", 10).translated(across(one.best), middle))
        elif one.known is not None:
            painter.setPen(pen(theme.muted, 1.6))
            painter.setBrush(QColor(theme.paper))
            painter.drawPath(symbol_path("diamond", 9).translated(across(one.known), middle))
        painter.restore()


def _beyond(painter: QPainter, edge: QPointF, left: bool) -> None:
    """A triangle that points to a score beyond the edge."""
    sign = -1.0 if left else 1.0
    corners = (QPointF(5 * sign, 0), QPointF(-4 * sign, -5), QPointF(-4 * sign, 5))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(appearance.current().muted))
    painter.drawPolygon([edge + corner for corner in corners])
