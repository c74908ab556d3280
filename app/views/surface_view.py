"""The expected score over two hyperparameters as a coloured surface."""

import itertools

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app.look import appearance
from app.text.plan_text import setting_title, surrogate_of
from app.views.plot.canvas import HoverText
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.legend import ColourBar
from app.views.plot.plot import Plot
from app.views.plot.view_state import TrialDots
from app.views.surrogate_view import AxesView, SurrogateView, expected_text
from core.figures.figure import Figure, Table
from core.figures.run_figures import rank_figure
from core.figures.scales import Scale, axis_position
from core.gp.evaluations import SurrogateImage
from core.space import Axis
from core.tuning.events import RunStarted, TrialExcluded, TrialFinished
from core.tuning.scores.score import score_text
from core.wording import format_value

MIN_RANKED = 5  # trials with a score
BEYOND = 0.2  # of the range of the scores that colours go on beyond it


class SmoothImage(pg.ImageItem):
    """An image that is interpolated, unless its axes are choices."""

    smooth = True

    def paint(self, painter: QPainter, *args: object) -> None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
        super().paint(painter, *args)


class PairView(AxesView):
    """A view over two chosen settings."""

    choosing = ("Setting along the bottom", "Setting along the left")

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return started.kind == "trials" and sum(axis.is_free for axis in started.space) >= 2

    def _on_axis_chosen(self, which: int) -> None:
        box = self.choosers[1 - which]
        if box.currentIndex() == self.choosers[which].currentIndex():
            # A setting against itself is no surface: the other chooser moves on.
            box.setCurrentIndex((box.currentIndex() + 1) % box.count())
        super()._on_axis_chosen(which)


class SurfaceView(PairView, SurrogateView):
    """A mean over two axes, brighter where better."""

    answer: SurrogateImage
    zooms = True
    interval = 0.09

    def make_plots(self) -> None:
        self.plot = self.canvas.add_plot()
        self.image = SmoothImage(axisOrder="row-major")
        self.contours = Lines()
        self.trials, self.next = TrialDots(8), Dots("diamond", 13)
        self.plot.add_marks(
            self.image, self.contours, *self.behind_trials(), *self.trials.marks, self.next
        )
        self.bar = ColourBar()
        self.canvas.addItem(self.bar, row=0, col=1)

    def behind_trials(self) -> list[Dots]:
        return []

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return super().wants(started) and surrogate_of(started) in cls.surrogates

    def _set_styles(self) -> None:
        self.contours.set_style(pen("#FFFFFF", 1.0), pen("#1F2933", 1.8))
        self.trials.set_styles("#FFFFFF", "#1F2933", "#FFFFFF")
        self.next.set_style("#D55E00", "#FFFFFF", 1.6)
        self.colours = pg.colormap.get(appearance.current().colormap)
        if not self.maximize():
            # The library keeps the map and gives the same one to everybody: turn a copy.
            self.colours = pg.ColorMap(self.colours.pos, self.colours.getColors(mode="byte")[::-1])
        self.image.setColorMap(self.colours)
        self.bar.set_colours(self.colours)

    def draw(self) -> None:
        answer, scales = self.answer, self.axis_scales
        self._set_styles()
        sides = self.plot.bottom, self.plot.left
        for side, axis, scale in zip(sides, self.shown_axes(), scales, strict=True):
            side.set_scale(scale)
            side.set_title(setting_title(axis))
        self._draw_image(*self._grid_positions(), np.array(answer.mean))
        self._draw_contours(*scales)
        x, y = self.record.positions[:, self.columns].T
        self.trials.show_trials(self.record, x, y)
        self.mark_trials(x, y)
        self.set_question(self.question)
        self.draw_more()
        if answer.next is None or self.run.ended:
            self.next.set_data([], [])
        else:
            position = [axis_position(answer.next.x, scales[0])]
            self.next.set_data(position, [axis_position(answer.next.y, scales[1])])
        self.canvas.align_left()

    def _grid_positions(self) -> tuple[np.ndarray, np.ndarray]:
        (x_scale, y_scale), answer = self.axis_scales, self.answer
        x = np.array([axis_position(value, x_scale) for value in answer.x])
        return x, np.array([axis_position(value, y_scale) for value in answer.y])

    def _draw_image(self, x: np.ndarray, y: np.ndarray, mean: np.ndarray) -> None:
        (x_edges, across), (y_edges, up) = _even_grid(x), _even_grid(y)
        low, high = self._shown_levels(mean)
        # pyqtgraph divides by the width of the levels.
        high = high if high > low else low + 1e-9
        # Between two choices there is nothing to interpolate.
        self.image.smooth = not any(scale.kind == "choice" for scale in self.axis_scales)
        self.image.setImage(mean[np.ix_(up, across)], levels=(low, high), autoLevels=False)
        wide, tall = x_edges[1] - x_edges[0], y_edges[1] - y_edges[0]
        self.image.setRect(QRectF(x_edges[0], y_edges[0], wide, tall))
        # A star at the edge of the surface is seen whole.
        self.plot.hold_x(x_edges[0] - 0.03 * wide, x_edges[1] + 0.03 * wide, exact=True)
        self.plot.hold_y(y_edges[0] - 0.04 * tall, y_edges[1] + 0.04 * tall, exact=True)
        ends = mean.min() < low, mean.max() > high
        self.bar.set_range(low, high, self.height_scale(), maximize=self.maximize(), cut=ends)

    def _shown_levels(self, mean: np.ndarray) -> tuple[float, float]:
        """The mean's range, without what is far from the best unless all is asked for."""
        low, high = float(mean.min()), float(mean.max())
        heights = self.heights()
        values = heights if np.isfinite(heights).any() else mean.ravel()
        near_low, near_high = self.near_heights(values)
        # What is expected of a better setting than the best has a colour of its own.
        room = BEYOND * (near_high - near_low)
        near_low, near_high = near_low - room, near_high + room
        self.plot.leaves_out = low < near_low or high > near_high
        if self.plot.is_whole or room == 0 or low > near_high or high < near_low:
            return low, high
        return max(low, near_low), min(high, near_high)

    def _draw_contours(self, x_scale: Scale, y_scale: Scale) -> None:
        if "choice" in (x_scale.kind, y_scale.kind) or not self.answer.contours:
            self.contours.set_data([], [])
            return
        lines = [
            np.column_stack([x_scale.positions_of(line.x), y_scale.positions_of(line.y)])
            for line in self.answer.contours
        ]
        gap = np.full((1, 2), np.nan)
        corners = np.vstack([piece for line in lines for piece in (line, gap)])
        self.contours.set_data(corners[:, 0], corners[:, 1])

    def draw_more(self) -> None:
        """Draw marks of its own."""

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        across, up = self._grid_positions()
        column, row = int(np.argmin(np.abs(across - x))), int(np.argmin(np.abs(up - y)))
        nearest = float(across[column]), float(up[row])
        sides = zip(self.shown_axes(), self.axis_scales, nearest, strict=True)
        lines = [f"{setting_title(axis)} {scale.label_at(spot)}" for axis, scale, spot in sides]
        mean, sd = self.answer.mean[row][column], self.answer.sd[row][column]
        expected = expected_text(mean, sd, self.height_scale(), self.height_limits)
        lines.append(f"expected {self.height_title()} {expected}")
        return HoverText("\n".join(lines), *nearest)

    @property
    def columns(self) -> list[int]:
        names = [axis.name for axis in self.record.axes]
        return [names.index(self.answer.first), names.index(self.answer.second)]

    @property
    def axis_scales(self) -> list[Scale]:
        return [self.record.scales[column] for column in self.columns]

    def shown_axes(self) -> list[Axis]:
        return [self.record.axes[column] for column in self.columns]

    def table_data(self) -> Table:
        answer = self.answer
        x, y = answer.x_labels or answer.x, answer.y_labels or answer.y
        cells = itertools.product(range(len(y)), range(len(x)))
        rows = [[x[i], y[j], answer.mean[j][i], answer.sd[j][i]] for j, i in cells]
        return [*map(setting_title, self.shown_axes()), "expected", "standard deviation"], rows


def _even_grid(positions: np.ndarray) -> tuple[tuple[float, float], np.ndarray]:
    """The edges, and the nearest position of equal cells."""
    if len(positions) == 1:
        return (positions[0] - 0.5, positions[0] + 0.5), np.array([0])
    gaps = np.diff(positions)
    half_gaps = (gaps[0] / 2, gaps[-1] / 2)
    edges = (float(positions[0] - half_gaps[0]), float(positions[-1] + half_gaps[1]))
    # An image has cells of one size: on an uneven grid many small ones come near enough.
    count = len(positions) if np.allclose(gaps, gaps[0]) else 120
    middles = edges[0] + (np.arange(count) + 0.5) * (edges[1] - edges[0]) / count
    return edges, np.abs(middles[:, None] - positions[None, :]).argmin(axis=1)


class Surface(SurfaceView):
    """The surrogate's mean over two axes."""

    name = "surface"
    title = "Pairs of settings"
    question = "Which pairs of settings go well together?"
    waiting = "The expected score over two settings appears here after the first few trials."

    def describe(self) -> str:
        answer, best = self.answer, self.run.best_trial
        mean = np.array(answer.mean)
        first, second = map(setting_title, self.shown_axes())
        low, high = (self.height_scale().label_at(float(end)) for end in (mean.min(), mean.max()))
        sentence = f"Expected score over {first} and {second}, from {low} to {high}."
        sentence += f" {'Higher' if self.maximize() else 'Lower'} is better, and bright."
        if best is not None:
            pair = [format_value(best.setting.get(name)) for name in (answer.first, answer.second)]
            score = score_text(best.score, self.run.started.metric)
            sentence += f" Best {score} at {pair[0]} and {pair[1]}."
        return sentence


class TrialRanks(PairView):
    """A dot a trial, stronger the better its rank."""

    name = "ranks"
    title = "Trials by their ranks"
    question = "Where do the best trials lie? The stronger and larger, the better."
    waiting = "Trials appear here after the first five."
    wide = True
    zooms = True
    late = True
    has_legend = True
    interval = 0.08
    listens = (TrialFinished, TrialExcluded)

    def has_content(self) -> bool:
        return int(self.run.scored_rows.sum()) >= MIN_RANKED

    def figure(self) -> Figure:
        return rank_figure(self.run, *(self.record.axes[column] for column in self._columns))

    @property
    def _columns(self) -> list[int]:
        return [box.currentIndex() for box in self.choosers]

    def draw(self) -> None:
        super().draw()
        self.mark_trials(*self.record.positions[:, self._columns].T)
