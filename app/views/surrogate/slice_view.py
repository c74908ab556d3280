"""What slices along one hyperparameter share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_number
from app.text.setting_text import setting_title
from app.views.plot.highlight import Highlight
from app.views.plot.hover_text import HoverText
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.marker import Marker
from app.views.plot.plot import Plot
from app.views.plot.scales import Scale, axis_position, bounds_of
from app.views.plot.view_state import ViewState
from app.views.surrogate.surrogate_view import SurrogateView
from core.space import Axis
from core.tuning.events import RunStarted

if TYPE_CHECKING:
    from core.gp.evaluations import SurrogateSlice

OFF = "Trials off them: noise, or settings not on this axis."
BAND_SHARE = 0.25  # of the values' span, to each side, that bands take beyond them
HEADROOM = 0.12  # of the range above the data, for the words at the next trial


class SliceView(SurrogateView):
    """Mean with bands of one and two deviations, and trials."""

    answer: SurrogateSlice
    zooms = True
    top: ClassVar[int] = 0

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(row=self.top)
        self.wide_band, self.band, self.mean = Band(), Band(), Lines()
        self.dots, self.other_dots = Dots("circle", 9), Dots("circle", 6)
        self.best, self.highlight, self.next = Dots("star", 19), Highlight(), Marker()
        self.markers = [self.next]
        self.plot.add_marks(
            self.wide_band,
            self.band,
            self.mean,
            self.next,
            *self.behind_trials(),
            self.other_dots,
            self.dots,
            self.best,
            self.highlight,
        )

    def behind_trials(self) -> list[Dots]:
        """Dots below this run's trials."""
        return []

    def controls(self) -> list[QWidget]:
        """The chooser of the axis."""
        self.axis = self.chooser("Setting along the bottom", self._axis_chosen)
        return [self.axis]

    def start(self, started: RunStarted) -> None:
        """Offer the axes of the run."""
        super().start(started)
        self.axis.clear()
        for axis in self.record.axes:
            self.axis.addItem(setting_title(axis), axis.name)
        self.axis.setVisible(len(self.record.axes) > 1)

    def axes_to_evaluate(self) -> tuple[str]:
        """The chosen axis."""
        return (self.axis.currentData(),)

    def _axis_chosen(self, _index: int) -> None:
        self.canvas.show_full_range()
        for plot in self.canvas.plots:
            plot.forget_ranges()
        self.dirty = True

    def paint_theme(self) -> None:
        """Style the marks."""
        theme = appearance.current()
        self.wide_band.set_style(clear_colour(theme.model, 0.16))
        self.band.set_style(clear_colour(theme.model, 0.26))
        self.mean.set_style(pen(theme.model, 2.2))
        self.dots.set_style(theme.paper, theme.ink, 1.6)
        self.other_dots.set_style(None, theme.control, 1.0)
        self.best.set_style("#F2B632", theme.ink, 1.4)

    def height_title(self) -> str:
        """The title of the left axis."""
        raise NotImplementedError

    def heights(self) -> np.ndarray:
        """Heights of the trials, NaN for those not drawn, shape (n,)."""
        raise NotImplementedError

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        """Draw more; returns heights that must be visible."""
        return np.empty(0)

    @property
    def axis_index(self) -> int:
        """The index of the answer's axis."""
        return [axis.name for axis in self.record.axes].index(self.answer.axis)

    @property
    def shown_axis(self) -> Axis:
        """The axis of the answer."""
        return self.record.axes[self.axis_index]

    def draw(self) -> None:
        """Draw the evaluation, and the trials that pass the filter."""
        axis, scale = self.shown_axis, self.record.scales[self.axis_index]
        for plot in self.canvas.plots:
            plot.bottom.set_scale(scale)
        self.canvas.plots[-1].bottom.set_title(setting_title(axis))
        self.plot.left.set_title(self.height_title(), self.higher_is_better())
        x, mean = self._x_positions(scale), self.curve_of(self.answer.mean)
        wide = [self.curve_of(end) for end in self.answer.wide_band]
        self.wide_band.set_data(x, *wide)
        self.band.set_data(x, *(self.curve_of(end) for end in self.answer.band))
        self.mean.set_data(x, mean)
        heights = self.heights()
        self._draw_trials(self.record.positions[:, self.axis_index], heights)
        self._draw_next(scale)
        self.plot.hold_x(*_widened_range(*bounds_of(axis)), exact=True)
        seen = self.draw_more(x, scale)
        low, high = shown_heights(np.concatenate([mean, heights, seen]), wide)
        self.plot.hold_y(low, high + HEADROOM * (high - low))
        self.canvas.align_left()
        self._explain_dots(x, heights)

    def _explain_dots(self, x: np.ndarray, heights: np.ndarray) -> None:
        low, high = (self.curve_of(end) for end in self.answer.wide_band)
        positions, is_finite = self.record.positions[:, self.axis_index], np.isfinite(x)
        order = np.argsort(x[is_finite], kind="stable")
        along = x[is_finite][order]
        edges = [np.interp(positions, along, edge[is_finite][order]) for edge in (low, high)]
        off = (heights < edges[0]) | (heights > edges[1])
        question = self.question
        if np.any(off & np.isfinite(heights) & np.isfinite(positions)):
            question = f"{question} {OFF}"
        if not self.record.model and question != self._caption.text():
            self._caption.setText(question)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        """The expectation at the nearest evaluated value."""
        answer, scale = self.answer, self.record.scales[self.axis_index]
        positions = [axis_position(position, scale) for position in answer.x]
        index = int(np.argmin(np.abs(np.array(positions) - x)))
        mean, sd = answer.mean[index], answer.sd[index]
        lines = [f"{setting_title(self.shown_axis)} {self.value_text(answer.x[index])}"]
        expected = f"{format_number(mean)} ± {format_number(sd, 2)}"
        lines += [f"expected {self.height_title()} {expected}", *self.extra_lines(index)]
        height = float(mean) if plot is self.plot else y
        return HoverText("\n".join(lines), float(positions[index]), height)

    def extra_lines(self, index: int) -> list[str]:
        """More lines for the hover text."""
        return []

    def higher_is_better(self) -> bool:
        """Whether a better score lies higher."""
        return self.run.started.maximize

    def _x_positions(self, scale: Scale) -> np.ndarray:
        if scale.kind != "choice":
            return scale.positions_of(self.answer.x)
        x = np.array(self.answer.x)
        return np.column_stack([x - 0.35, x + 0.35, np.full(len(x), np.nan)]).ravel()

    def curve_of(self, numbers: list[float]) -> np.ndarray:
        """Values at the x positions."""
        values = np.array(numbers)
        if not self.answer.labels:
            return values
        # A choice has no between: each value is a short level line, and a gap before the next.
        return np.column_stack([values, values, np.full(len(values), np.nan)]).ravel()

    def _draw_trials(self, x: np.ndarray, y: np.ndarray) -> None:
        run = self.run
        clear = self.record.filtered() & ~run.is_excluded
        self.dots.set_data(x[clear], y[clear])
        is_other = np.isfinite(y) & ~clear
        self.other_dots.set_data(x[is_other], y[is_other])
        top = run.best_rows(1)
        self.best.set_data(x[top], y[top])
        self._star = (float(x[top][0]), float(y[top][0])) if len(self.best.x) else None
        self.highlight.ring_selected(self.record, x, y)
        self.canvas.set_pickable(self.plot, x, y, run.numbers)

    def _draw_next(self, scale: Scale) -> None:
        next_x = self.answer.next_x
        position = None if next_x is None or self.run.ended else axis_position(next_x, scale)
        for marker in self.markers:
            marker.set_value(position, "next trial" if marker is self.next else "", self._star)

    def expected_next(self, mean: list[float], sd: list[float]) -> str:
        """The next trial and its expected score, or ""."""
        answer = self.answer
        if answer.next_x is None or self.run.ended:
            return ""
        nearest = int(np.argmin(np.abs(np.array(answer.x) - answer.next_x)))
        words = "Next trial at {}, where {} ± {} is expected."
        expected = (format_number(mean[nearest]), format_number(sd[nearest], 2))
        return words.format(self.value_text(answer.next_x), *expected)

    def value_text(self, position: float) -> str:
        """A position along the axis in words."""
        labels = self.answer.labels
        return labels[round(position)] if labels else format_number(position)


def _widened_range(low: float, high: float) -> tuple[float, float]:
    room = 0.02 * (high - low)
    return low - room, high + room


def shown_heights(values: np.ndarray, band: list[np.ndarray]) -> tuple[float, float]:
    """The range of values, extended by the band up to a share."""
    low, high = _finite_range(values)
    band_low, band_high = _finite_range(np.concatenate(band))
    span = high - low
    if span == 0:
        return min(low, band_low), max(high, band_high)
    room = BAND_SHARE * span
    return max(min(low, band_low), low - room), min(max(high, band_high), high + room)


def _finite_range(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
