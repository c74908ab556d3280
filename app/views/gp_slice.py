"""The slice: what the Gaussian process believes along one setting, and where it looks next."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QT_TRANSLATE_NOOP
from PySide6.QtWidgets import QWidget

from app import appearance
from app.scores import metric_in_short
from app.views.highlight import Highlight
from app.views.items import Band, Dots, Lines, clear_colour, pen
from app.views.lens_view import LensView
from app.views.marker import Marker
from app.views.numbers import plain, shown
from app.views.record import Record
from app.views.scales import Scale, bounds_of, scale_of
from app.views.twin import Table
from core.tuning.events import RunStarted

ACQUISITIONS = {
    "ei": QT_TRANSLATE_NOOP("GpSlice", "gain"),
    "pi": QT_TRANSLATE_NOOP("GpSlice", "chance"),
    "mean": QT_TRANSLATE_NOOP("GpSlice", "score"),
}


HEADROOM = 0.12  # of the range above the data, for the words at the next trial


class GpSlice(LensView):
    """Mean with bands of one and two standard deviations; below, the acquisition."""

    name = "slice"
    title = QT_TRANSLATE_NOOP("GpSlice", "What the model believes")
    question = QT_TRANSLATE_NOOP(
        "GpSlice", "Where might better settings be? Bands: one and two standard deviations."
    )
    zooms = True
    waiting = QT_TRANSLATE_NOOP(
        "GpSlice", "The model's guess appears here after the first few trials."
    )

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.plot = self.canvas.add_plot(row=0)
        self.below = self.canvas.add_plot(row=1)
        self.below.setXLink(self.plot)
        self.plot.bottom.hide_labels()
        self.canvas.ci.layout.setRowStretchFactor(0, 7)
        self.canvas.ci.layout.setRowStretchFactor(1, 3)
        self.wide_band, self.band, self.mean = Band(), Band(), Lines()
        self.dots, self.others = Dots("circle", 9), Dots("circle", 6)
        self.best, self.highlight, self.next = Dots("star", 19), Highlight(), Marker()
        self.area, self.promise, self.next_below = Band(), Lines(), Marker()
        for item in (self.wide_band, self.band, self.mean, self.next, self.others, self.dots):
            self.plot.addItem(item)
        self.plot.addItem(self.best)
        self.plot.addItem(self.highlight)
        for item in (self.area, self.promise, self.next_below):
            self.below.addItem(item)
        self.paint_theme()

    def controls(self) -> list[QWidget]:
        """The axis to go along."""
        self.axis = self.chooser(self.tr("Setting along the bottom"), self._axis_chosen)
        return [self.axis]

    def start(self, started: RunStarted) -> None:
        """Other axes."""
        super().start(started)
        self.axis.clear()
        for axis in started.space:
            self.axis.addItem(axis["label"], axis["name"])
        self.axis.setVisible(len(started.space) > 1)

    def _axis_chosen(self, _at: int) -> None:
        self.canvas.zoom.whole()
        for plot in self.canvas.plots:
            plot.forget_ranges()
        self.dirty = True

    def paint_theme(self) -> None:
        """The model in blue, what was observed in vermilion with an ink outline."""
        theme = appearance.current()
        self.wide_band.set_style(clear_colour(theme.model, 0.16))
        self.band.set_style(clear_colour(theme.model, 0.26))
        self.mean.set_style(pen(theme.model, 2.2))
        self.dots.set_style(theme.paper, theme.ink, 1.6)
        self.others.set_style(None, theme.control, 1.0)
        self.best.set_style("#F2B632", theme.ink, 1.4)
        self.area.set_style(clear_colour(theme.observed, 0.2))
        self.promise.set_style(pen(theme.observed, 1.8))

    def question_of_lens(self) -> dict[str, object]:
        """The slice along the chosen axis through the best point."""
        return {"what": "slice", "axis": self.axis.currentData()}

    def draw(self) -> None:
        """The answer of the lens, and the record's trials that the filter lets through."""
        answer, record = self.answer, self.record
        column = [axis["name"] for axis in record.axes].index(answer["axis"])
        axis, scale = record.axes[column], scale_of(record.axes[column])
        for plot in self.canvas.plots:
            plot.bottom.set_scale(scale)
        self.plot.left.set_title(metric_in_short(record.started.metric))
        kind = record.surrogate.acquisition if record.surrogate else "ei"
        self.below.left.set_title(self.tr(ACQUISITIONS.get(kind, "")))
        self.below.bottom.set_title(axis["label"])
        x = _places(answer["x"], axis, scale)
        mean, sd = np.array(answer["mean"]), np.array(answer["sd"])
        promise = np.array(answer["acquisition"])
        if scale.kind == "choice":
            x, mean, sd, promise = (_stepped(values, x) for values in (None, mean, sd, promise))
        self.wide_band.set_data(x, mean - 2 * sd, mean + 2 * sd)
        self.band.set_data(x, mean - sd, mean + sd)
        self.mean.set_data(x, mean)
        self.promise.set_data(x, promise)
        floor = 0.0 if kind != "mean" else float(np.nanmin(promise))
        self.area.set_data(x, np.full(len(x), floor), promise)
        self._draw_trials(column)
        self._draw_next(axis, scale)
        self.plot.hold_x(*_wider(*bounds_of(axis)), exact=True)
        scores = record.scores[np.isfinite(record.scores)]
        low, high = _range(np.concatenate([mean - 2 * sd, mean + 2 * sd, scores]))
        self.plot.hold_y(low, high + HEADROOM * (high - low))
        top = float(np.nanmax(promise))
        self.below.forget_ranges()  # its height says nothing; its shape does
        self.below.hold_y(floor, top if top > floor else floor + 1e-9)
        self.canvas.align_left()

    def _draw_trials(self, column: int) -> None:
        record = self.record
        x, y = record.places[:, column], record.scores
        clear = record.filtered() & ~record.excluded
        self.dots.set_data(x[clear], y[clear])
        rest = np.isfinite(y) & ~clear
        self.others.set_data(x[rest], y[rest])
        top = record.best_rows(1)
        self.best.set_data(x[top], y[top])
        self._star = (float(x[top][0]), float(y[top][0])) if len(top) else None
        self.highlight.mark(record, x, y)
        self.canvas.set_pickable(self.plot, x, y, record.numbers)

    def _draw_next(self, axis: dict, scale: Scale) -> None:
        place = self.answer["next_x"]
        at = None if place is None or self.record.ended else _place(place, axis, scale)
        self.next.set_value(at, self.tr("next trial"), self._star)
        self.next_below.set_value(at, "")

    def describe(self) -> str:
        """The best, and where the next trial goes and what is expected there."""
        best, answer = self.record.best(), self.answer
        said = self.tr("Slice along {} through the best setting.").format(answer["axis"])
        if best is not None:
            at = shown(best.setting.get(answer["axis"]))
            said += " " + self.tr("Best {} at {}.").format(plain(best.score), at)
        if answer["next_x"] is not None and not self.record.ended:
            nearest = int(np.argmin(np.abs(np.array(answer["x"]) - answer["next_x"])))
            at = self._named(answer["next_x"])
            expected = (plain(answer["mean"][nearest]), plain(answer["sd"][nearest], 2))
            said += " " + self.tr("Next trial at {}, where {} ± {} is expected.").format(
                at, *expected
            )
        return said

    def _named(self, place: float) -> str:
        labels = self.answer["labels"]
        return labels[round(place)] if labels else plain(place)

    def rows(self) -> Table:
        """Place, mean, standard deviation, acquisition; then the trials."""
        answer = self.answer
        name = answer["axis"]
        headers = [name, self.tr("expected"), self.tr("standard deviation"), self.tr("promise")]
        rows = [
            [self._named(x) if answer["labels"] else x, mean, sd, promise, None]
            for x, mean, sd, promise in zip(
                answer["x"], answer["mean"], answer["sd"], answer["acquisition"], strict=True
            )
        ]
        tried = [
            [trial.setting.get(name), None, None, None, trial.score]
            for trial in self.record.trials
            if not trial.failure
        ]
        return [*headers, self.tr("score of a trial")], rows + tried


def _place(position: float, axis: dict, scale: Scale) -> float:
    return position if axis["kind"] == "choice" else scale.place(position)


def _places(positions: list[float], axis: dict, scale: Scale) -> np.ndarray:
    return np.array(positions) if axis["kind"] == "choice" else scale.places(positions)


def _stepped(values: np.ndarray | None, x: np.ndarray) -> np.ndarray:
    # A choice has no between: each value is a short level line, and a gap before the next.
    if values is None:
        return np.column_stack([x - 0.35, x + 0.35, np.full(len(x), np.nan)]).ravel()
    return np.column_stack([values, values, np.full(len(x), np.nan)]).ravel()


def _wider(low: float, high: float) -> tuple[float, float]:
    room = 0.02 * (high - low)
    return low - room, high + room


def _range(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
