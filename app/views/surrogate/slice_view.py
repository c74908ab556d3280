"""What slices share: a mean with its bands along one setting, and the trials on it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain
from app.text.settings import named
from app.views.plot.highlight import Highlight
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.marker import Marker
from app.views.plot.plot import Plot
from app.views.plot.pointer import Reading
from app.views.plot.record import Record
from app.views.plot.scales import Scale, bounds_of, scale_of
from app.views.surrogate.surrogate_view import SurrogateView
from core.tuning.events import RunStarted

OFF = "Trials off them: noise, or settings not on this axis."
BAND_SHARE = 0.25  # of the values' span, to each side, that bands take beyond them
HEADROOM = 0.12  # of the range above the data, for the words at the next trial


class SliceView(SurrogateView):
    """Mean with bands of one and two standard deviations along a chosen setting.

    A subclass says how high the trials lie (`heights`) and what the height is (`height_title`).
    The answer of the evaluator has axis, x, labels, mean, sd and next_x.

    Attributes:
        top: the row of the canvas that the plot takes.
    """

    zooms = True
    top: ClassVar[int] = 0

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(row=self.top)
        self.wide_band, self.band, self.mean = Band(), Band(), Lines()
        self.dots, self.others = Dots("circle", 9), Dots("circle", 6)
        self.best, self.highlight, self.next = Dots("star", 19), Highlight(), Marker()
        self.markers = [self.next]
        for item in (self.wide_band, self.band, self.mean, self.next, *self.behind_trials()):
            self.plot.addItem(item)
        for item in (self.others, self.dots, self.best, self.highlight):
            self.plot.addItem(item)

    def behind_trials(self) -> list[Dots]:
        """What is drawn below this run's trials."""
        return []

    def controls(self) -> list[QWidget]:
        """The axis to go along."""
        self.axis = self.chooser("Setting along the bottom", self._axis_chosen)
        return [self.axis]

    def start(self, started: RunStarted) -> None:
        """Other axes."""
        super().start(started)
        self.axis.clear()
        for axis in started.space:
            self.axis.addItem(named(axis), axis["name"])
        self.axis.setVisible(len(started.space) > 1)

    def _axis_chosen(self, _at: int) -> None:
        self.canvas.zoom.whole()
        for plot in self.canvas.plots:
            plot.forget_ranges()
        self.dirty = True

    def paint_theme(self) -> None:
        """The model in blue, what was observed in paper with an ink outline."""
        theme = appearance.current()
        self.wide_band.set_style(clear_colour(theme.model, 0.16))
        self.band.set_style(clear_colour(theme.model, 0.26))
        self.mean.set_style(pen(theme.model, 2.2))
        self.dots.set_style(theme.paper, theme.ink, 1.6)
        self.others.set_style(None, theme.control, 1.0)
        self.best.set_style("#F2B632", theme.ink, 1.4)

    def height_title(self) -> str:
        """What the height is."""
        raise NotImplementedError

    def heights(self) -> np.ndarray:
        """How high the record's trials lie, NaN for those that are not drawn, shape (n,)."""
        raise NotImplementedError

    def draw_more(self, axis: dict[str, Any], scale: Scale) -> np.ndarray:
        """Draw what else belongs to it; the heights that must be seen of that."""
        return np.empty(0)

    @property
    def column(self) -> int:
        """Which of the record's axes the answer goes along."""
        return [axis["name"] for axis in self.record.axes].index(self.answer["axis"])

    def draw(self) -> None:
        """The answer of the evaluator, and the record's trials that the filter lets through."""
        axis, scale = self.record.axes[self.column], scale_of(self.record.axes[self.column])
        for plot in self.canvas.plots:
            plot.bottom.set_scale(scale)
        self.canvas.plots[-1].bottom.set_title(named(axis))
        self.plot.left.set_title(self.height_title(), self.higher_is_better())
        x = self.places(axis, scale)
        wide = [self.along_places(end) for end in self.answer["wide_band"]]
        self.wide_band.set_data(x, *wide)
        self.band.set_data(x, *(self.along_places(end) for end in self.answer["band"]))
        self.mean.set_data(x, self.along("mean"))
        heights = self.heights()
        self._draw_trials(self.record.places[:, self.column], heights)
        self._draw_next(axis, scale)
        self.plot.hold_x(*_wider(*bounds_of(axis)), exact=True)
        seen = self.draw_more(axis, scale)
        low, high = shown_heights(np.concatenate([self.along("mean"), heights, seen]), wide)
        self.plot.hold_y(low, high + HEADROOM * (high - low))
        self.canvas.align_left()
        self._explain_dots(x, heights)

    def _explain_dots(self, x: np.ndarray, heights: np.ndarray) -> None:
        """A sentence on why trials lie off the bands, where some do."""
        low, high = (self.along_places(end) for end in self.answer["wide_band"])
        at, known = self.record.places[:, self.column], np.isfinite(x)
        order = np.argsort(x[known], kind="stable")
        along = x[known][order]
        edges = [np.interp(at, along, edge[known][order]) for edge in (low, high)]
        off = (heights < edges[0]) | (heights > edges[1])
        question = self.question
        if np.any(off & np.isfinite(heights) & np.isfinite(at)):
            question = f"{question} {OFF}"
        if not self.record.model and question != self._caption.text():
            self._caption.setText(question)

    def reading(self, plot: Plot, x: float, y: float) -> Reading | None:
        """What is expected at the nearest value of the setting."""
        axis = self.record.axes[self.column]
        scale = scale_of(axis)
        places = [place_of(position, axis, scale) for position in self.answer["x"]]
        at = int(np.argmin(np.abs(np.array(places) - x)))
        mean, sd = self.answer["mean"][at], self.answer["sd"][at]
        lines = [f"{named(axis)} {self.named(self.answer['x'][at])}"]
        lines.append(f"expected {self.height_title()} {plain(mean)} ± {plain(sd, 2)}")
        lines += self.read_more(at)
        height = float(mean) if plot is self.plot else y
        return Reading("\n".join(lines), float(places[at]), height)

    def read_more(self, at: int) -> list[str]:
        """What else is known of one of the answer's values."""
        return []

    def higher_is_better(self) -> bool:
        """Whether a better score lies higher."""
        return self.run.started.maximize

    def places(self, axis: dict[str, Any], scale: Scale) -> np.ndarray:
        """Where along the axis the answer's values lie."""
        positions = self.answer["x"]
        if axis["kind"] != "choice":
            return scale.places(positions)
        x = np.array(positions)
        return np.column_stack([x - 0.35, x + 0.35, np.full(len(x), np.nan)]).ravel()

    def along(self, key: str) -> np.ndarray:
        """Some of the answer's values, as many as there are `places`."""
        return self.along_places(self.answer[key])

    def along_places(self, found: list[float]) -> np.ndarray:
        """A value for each of the answer's positions, as many as there are `places`."""
        values = np.array(found)
        if not self.answer["labels"]:
            return values
        # A choice has no between: each value is a short level line, and a gap before the next.
        return np.column_stack([values, values, np.full(len(values), np.nan)]).ravel()

    def _draw_trials(self, x: np.ndarray, y: np.ndarray) -> None:
        run = self.run
        clear = self.record.filtered() & ~run.out
        self.dots.set_data(x[clear], y[clear])
        rest = np.isfinite(y) & ~clear
        self.others.set_data(x[rest], y[rest])
        top = run.best_rows(1)
        self.best.set_data(x[top], y[top])
        self._star = (float(x[top][0]), float(y[top][0])) if len(self.best.x) else None
        self.highlight.mark(self.record, x, y)
        self.canvas.set_pickable(self.plot, x, y, run.numbers)

    def _draw_next(self, axis: dict[str, Any], scale: Scale) -> None:
        place = self.answer["next_x"]
        at = None if place is None or self.run.ended else place_of(place, axis, scale)
        for marker in self.markers:
            marker.set_value(at, "next trial" if marker is self.next else "", self._star)

    def expected_next(self, mean: str = "mean", sd: str = "sd") -> str:
        """Where the next trial goes and which score is expected there; "" if there is none."""
        answer = self.answer
        if answer["next_x"] is None or self.run.ended:
            return ""
        nearest = int(np.argmin(np.abs(np.array(answer["x"]) - answer["next_x"])))
        words = "Next trial at {}, where {} ± {} is expected."
        expected = (plain(answer[mean][nearest]), plain(answer[sd][nearest], 2))
        return words.format(self.named(answer["next_x"]), *expected)

    def named(self, place: float) -> str:
        """A place along the axis in words."""
        labels = self.answer["labels"]
        return labels[round(place)] if labels else plain(place)


def place_of(position: float, axis: dict[str, Any], scale: Scale) -> float:
    """Where a value, or the index of a choice, is drawn."""
    return position if axis["kind"] == "choice" else scale.place(position)


def _wider(low: float, high: float) -> tuple[float, float]:
    room = 0.02 * (high - low)
    return low - room, high + room


def shown_heights(values: np.ndarray, band: list[np.ndarray]) -> tuple[float, float]:
    """From where to where a slice is drawn: bands of nothing known must not press trials together.

    Args:
        values: heights of trials and of the mean.
        band: its two edges; what lies further off than a part of the values' span is cut.
    """
    low, high = _range(values)
    least, most = _range(np.concatenate(band))
    span = high - low
    if span == 0:
        return min(low, least), max(high, most)
    room = BAND_SHARE * span
    return max(min(low, least), low - room), min(max(high, most), high + room)


def _range(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
