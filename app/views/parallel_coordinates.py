"""Parallel coordinates of settings and score."""

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.plan_text import setting_title
from app.views.plot.axes import small_font
from app.views.plot.canvas import HoverText
from app.views.plot.items import Lines, PixelItem, draw_words, pen
from app.views.plot.plot import Plot
from app.views.plot.view import View, trial_text
from app.views.trials_table import BestK
from core.figures.figure import Table, joined, range_of
from core.figures.run_figures import shown_scores
from core.figures.scales import Scale, Ticks, bounds_of, score_scale
from core.tuning.events import RunStarted, TrialExcluded, TrialFailed, TrialFinished
from core.tuning.scores.score import metric_in_short, score_text

MAX_LINES = 250  # of the best trials; more are neither readable nor drawn in time
SHADES = 6  # colours from the worst to the best line that is drawn
NARROW = 64  # pixels between axes below which names stand upright and only the score has numbers
NAMES = 130  # pixels below the axes for upright names


class ParallelCoordinates(View):
    """One axis a hyperparameter, one for the score."""

    name = "parallel"
    title = "All settings at once"
    question = "What do the good trials have in common?"
    waiting = "A line for every trial appears here."
    listens = (TrialFinished, TrialFailed, TrialExcluded)
    wide = True
    crops = True
    interval = 0.08

    def make_plots(self) -> None:
        self.plot = self.canvas.add_plot()
        self.plot.left.hide()
        self.plot.bottom.hide()
        self.shades = [Lines() for _ in range(SHADES)]
        self.chosen, self.axes = Lines(), UprightAxes()
        self.plot.add_marks(*self.shades, self.chosen, self.axes)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return started.kind == "trials" and sum(axis.is_free for axis in started.space) >= 2

    def controls(self) -> list[QWidget]:
        self.best_k = BestK(self.best_k_requested.emit)
        return [self.best_k]

    def has_content(self) -> bool:
        return bool(np.isfinite(self.run.scores).any())

    def drawn_rows(self) -> np.ndarray:
        count = min(self.record.best_k or MAX_LINES, MAX_LINES)
        return self.run.best_rows(count, estimates=True)[::-1]

    def heights(self, rows: np.ndarray) -> np.ndarray:
        """Heights in [0, 1] at every axis and, last, the score."""
        run = self.run
        ends = np.array([bounds_of(axis) for axis in self.record.axes])
        # A setting that is held fixed has a range of no width.
        wide = np.maximum(ends[:, 1] - ends[:, 0], 1e-300)
        positions = (self.record.positions_of_rows(rows) - ends[:, 0]) / wide
        low, high = self._score_range()
        # Scores beyond the axis end at its foot, where the worst of them is told.
        scores = np.clip((run.scores[rows] - low) / (high - low), 0.0, 1.0)
        return np.column_stack([positions, scores])

    def _score_range(self) -> tuple[float, float]:
        scores = self.run.scores[self.drawn_rows()]
        if not len(scores):
            return 0.0, 1.0
        full, near = range_of(scores), shown_scores(self.run)
        self.plot.leaves_out = full[0] < near[0] or full[1] > near[1]
        low, high = full if self.plot.is_whole else near
        # A single score stands in the middle of its axis.
        room = (0.1 * abs(low) or 0.5) * (high == low)
        return low - room, high + room

    def draw(self) -> None:
        self.best_k.show_k(self.record.best_k)
        rows = self.drawn_rows()
        heights = self.heights(rows)
        width = heights.shape[1]
        colours = self._shade_colours()
        # By rank, not by score: one outlier would take all shades for itself.
        groups = np.array_split(np.arange(len(rows)), SHADES)
        for shade, group, colour in zip(self.shades, groups, colours, strict=True):
            shade.set_style(pen(colour, 1.5))
            shade.set_data(*joined(heights[group], np.arange(width)))
        self._draw_selected(width)
        self._draw_axes()
        count = int(np.sum(self.run.scored_rows))
        more = f" Drawn are the best {len(rows)} of {count}." if len(rows) < count else ""
        self.set_question(f"{self.question}{more}")
        between = self.canvas.width() / width
        narrow = between < appearance.pixels(NARROW)
        # Only the score has numbers then; they stand right of the last axis.
        right = appearance.pixels(NARROW) / between if narrow else 0.35
        self.plot.hold_x(-0.35, width - 1 + right, exact=True)
        foot = QFontMetricsF(small_font()).height() + 14  # pixels for the names of the axes
        if narrow:
            foot = appearance.pixels(NAMES)
        tall = max(60.0, self.canvas.height() - 20.0)
        self.plot.hold_y(-1.06 * min(0.5, foot / max(tall - foot, 1.0)), 1.06, exact=True)

    def _shade_colours(self) -> list[str]:
        # From pale to strong in the model's hue: order is seen without telling hues apart.
        theme = appearance.current()
        ends = (QColor(theme.control), QColor(theme.model))
        pale, strong = (np.array([end.red(), end.green(), end.blue()]) for end in ends)
        shares = np.linspace(0.0, 1.0, SHADES)[:, None]
        mixed = (1 - shares) * pale + shares * strong
        return [QColor(*map(round, rgb)).name() for rgb in mixed.tolist()]

    def _draw_selected(self, width: int) -> None:
        row = self.run.row_of.get(-1 if self.record.selected is None else self.record.selected)
        self.chosen.set_style(pen(appearance.current().observed, 3.0))
        if row is None or not np.isfinite(self.run.scores[row]):
            self.chosen.set_data([], [])
        else:
            self.chosen.set_data(*joined(self.heights(np.array([row])), np.arange(width)))

    def _draw_axes(self) -> None:
        scaled = zip(self.record.axes, self.record.scales, strict=True)
        axes = [(setting_title(axis), scale, *bounds_of(axis)) for axis, scale in scaled]
        arrow = "↑" if self.run.started.maximize else "↓"
        score = f"{metric_in_short(self.run.started.metric)} {arrow}"
        scale = score_scale(self.run.started.metric)
        low, high = self._score_range()
        worst = range_of(self.run.scores[self.drawn_rows()])[not self.run.started.maximize]
        beyond = "" if low <= worst <= high else scale.label_at(worst)
        self.axes.set_axes([*axes, (score, scale, low, high)], beyond)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        rows = self.drawn_rows()
        heights = self.heights(rows)
        last = heights.shape[1] - 1
        if not len(rows) or not -0.5 <= x <= last + 0.5:
            return None
        axis = int(np.clip(np.floor(x), 0, last - 1))
        share = float(np.clip(x - axis, 0.0, 1.0))
        crossed = (1 - share) * heights[:, axis] + share * heights[:, axis + 1]
        if not np.isfinite(crossed).any():
            return None
        index = int(np.nanargmin(np.abs(crossed - y)))
        text = trial_text(self.run.trials[rows[index]], self.run)
        return HoverText(text, float(np.clip(x, 0.0, last)), float(crossed[index]))

    def describe(self) -> str:
        best, drawn = self.run.best_trial, len(self.drawn_rows())
        if best is None:
            return "No trial has a score that counts."
        count = int(np.sum(self.run.scored_rows))
        score = score_text(best.score, self.run.started.metric)
        words = f"The best {drawn} of {count} trials with a score; the very best has {score}."
        return f"{words} {'Higher' if self.run.started.maximize else 'Lower'} is better."

    def table_data(self) -> Table:
        names = [axis.name for axis in self.record.axes]
        heads = [setting_title(axis) for axis in self.record.axes]
        trials = [self.run.trials[row] for row in self.drawn_rows()[::-1]]
        rows = [[t.number, *(t.setting.get(name) for name in names), t.score] for t in trials]
        return ["trial", *heads, metric_in_short(self.run.started.metric)], rows


class UprightAxes(PixelItem):
    """Vertical axes with ticks and names."""

    def __init__(self) -> None:
        super().__init__()
        self._axes: list[tuple[str, Scale, float, float]] = []
        self._beyond = ""

    def set_axes(self, axes: list[tuple[str, Scale, float, float]], beyond: str) -> None:
        """(name, scale, low, high) from left to right; the number of what lies beyond the last."""
        self._axes, self._beyond = axes, beyond
        self.update()

    def _with_beyond(self, ticks: Ticks, foot: float, top: float, name: str) -> Ticks:
        if not self._beyond:
            return ticks
        sign, end = ("▾", foot) if name.endswith("↑") else ("▴", top)
        room = 1.2 * QFontMetricsF(small_font()).height()
        clear = [(y, text) for y, text in ticks if abs(y - end) > room]
        return [*clear, (end, f"{sign} {self._beyond}")]

    def paint_pixels(self, painter: QPainter, transform: QTransform, area: QRectF) -> None:
        theme, room = appearance.current(), transform.mapRect(QRectF(0, 0, 1, 1)).width()
        for position, (name, scale, low, high) in enumerate(self._axes):
            foot, top = (transform.map(QPointF(position, end)) for end in (0.0, 1.0))
            painter.setPen(QPen(QColor(theme.ink), 1.4))
            painter.drawLine(foot, top)
            self._draw_name(painter, name, foot, room, area)
            max_ticks = int((foot.y() - top.y()) / (2.4 * painter.fontMetrics().height()))
            ticks = scale.ticks_between(low, high, max(2, max_ticks))
            scale_y = (top.y() - foot.y()) / ((high - low) or 1.0)
            placed = [(foot.y() + (tick - low) * scale_y, text) for tick, text in ticks]
            if position == len(self._axes) - 1:
                placed = self._with_beyond(placed, foot.y(), top.y(), name)
                self._draw_ticks(painter, foot, placed, max(room, NARROW))
            elif room >= appearance.pixels(NARROW):
                self._draw_ticks(painter, foot, placed, room)

    @staticmethod
    def _draw_name(painter: QPainter, name: str, foot: QPointF, room: float, seen: QRectF) -> None:
        metrics = QFontMetricsF(painter.font())
        tall = metrics.height()
        if room < appearance.pixels(NARROW):
            long = seen.bottom() - foot.y() - 10
            painter.save()
            painter.translate(foot.x() + tall / 2, foot.y() + 8)
            painter.rotate(90)
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, long)
            painter.drawText(QRectF(0, 0, long, tall), 0, shown)
            painter.restore()
            return
        # The first name begins where the picture does, and must end before the second one.
        most = min(room - 8, foot.x() + room / 2 - 8 - seen.left())
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, most)
        wide = metrics.horizontalAdvance(shown) + 2
        x = max(seen.left(), foot.x() - wide / 2)
        painter.drawText(QRectF(x, foot.y() + 8, wide, tall), 0, shown)

    @staticmethod
    def _draw_ticks(painter: QPainter, foot: QPointF, ticks: Ticks, room: float) -> None:
        muted, metrics = appearance.current().muted, QFontMetricsF(painter.font())
        for y, text in ticks:
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room * 0.6)
            wide, tall = metrics.horizontalAdvance(shown) + 4, metrics.height()
            draw_words(painter, QRectF(foot.x() + 5, y - tall / 2, wide, tall), shown, muted)
            painter.drawLine(QPointF(foot.x() - 3, y), QPointF(foot.x() + 3, y))
