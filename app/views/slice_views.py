"""The surrogate along one axis, with the trials and the next one."""

from typing import Any, ClassVar

import numpy as np

from app.look import appearance
from app.text.plan_text import setting_title
from app.views.plot.canvas import HoverText
from app.views.plot.items import Band, Dots, Lines, clear_colour, pen
from app.views.plot.labels import EdgeMarks, Marker
from app.views.plot.plot import Plot
from app.views.plot.view_state import TrialDots
from app.views.surrogate_view import SurrogateView, expected_text
from core.figures.figure import Table, range_of
from core.figures.run_figures import edge_marks
from core.figures.scales import Scale, axis_position, bounds_of, score_scale
from core.gp.evaluations import ScoreSlice, SurrogateSlice
from core.space import Axis
from core.tuning.scores.score import score_text
from core.wording import format_number, format_value

OFF = "Trials off them: noise, or settings not on this axis."
BAND_SHARE = 0.2  # of the range of the scores that mean and band take beyond their best
HEADROOM = 0.08  # of the range above the data, for the words at the next trial


class SliceView(SurrogateView):
    """Mean with bands of one and two deviations, and trials."""

    answer: SurrogateSlice
    zooms = True
    top: ClassVar[int] = 0

    def make_plots(self) -> None:
        self.plot = self.canvas.add_plot(row=self.top)
        self.wide_band, self.band, self.mean = Band(), Band(), Lines()
        self.trials, self.beyond, self.next = TrialDots(9), EdgeMarks(), Marker()
        self.markers = [self.next]
        self.plot.add_marks(self.wide_band, self.band, self.mean, self.next)
        self.plot.add_marks(*self.behind_trials(), *self.trials.marks, self.beyond)

    def behind_trials(self) -> list[Dots]:
        return []

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        """Returns heights that must be visible."""
        return np.empty(0)

    @property
    def axis_index(self) -> int:
        return [axis.name for axis in self.record.axes].index(self.answer.axis)

    @property
    def shown_axis(self) -> Axis:
        return self.record.axes[self.axis_index]

    def draw(self) -> None:
        axis, scale = self.shown_axis, self.record.scales[self.axis_index]
        theme = appearance.current()
        self.wide_band.set_style(clear_colour(theme.model, 0.16))
        self.band.set_style(clear_colour(theme.model, 0.26))
        self.mean.set_style(pen(theme.model, 2.2))
        self.trials.set_styles(theme.paper, theme.ink, theme.control)
        for plot in self.canvas.plots:
            plot.bottom.set_scale(scale)
        self.canvas.plots[-1].bottom.set_title(setting_title(axis))
        self.plot.left.set_title(self.height_title(), self.maximize())
        self.plot.left.set_scale(self.height_scale())
        x, mean = self._x_positions(scale), self.curve_of(self.answer.mean)
        wide = [self.curve_of(end) for end in self.answer.wide_band]
        self.wide_band.set_data(x, *wide)
        self.band.set_data(x, *(self.curve_of(end) for end in self.answer.band))
        self.mean.set_data(x, mean)
        heights = self.heights()
        start, end = bounds_of(axis)
        self.plot.hold_x(start - 0.03 * (end - start), end + 0.03 * (end - start), exact=True)
        drawn_heights = np.concatenate([heights, self.draw_more(x, scale)])
        near = self.near_heights(drawn_heights if np.isfinite(drawn_heights).any() else mean)
        low, high = shown_heights(near, wide, self.maximize(), self.height_limits)
        self.plot.full_ranges[1] = range_of(drawn_heights)
        self.plot.hold_y(low, high + HEADROOM * (high - low))
        positions = self.record.positions[:, self.axis_index]
        self._draw_trials(positions, heights)
        self._draw_next(scale)
        edges = edge_marks(positions, heights, (low, high), self.height_scale())
        self.beyond.set_data(edges.x, edges.y, edges.texts, theme.observed)
        self.canvas.align_left()
        self._explain_dots(x, heights)

    def _explain_dots(self, x: np.ndarray, heights: np.ndarray) -> None:
        low, high = (self.curve_of(end) for end in self.answer.wide_band)
        positions, is_finite = self.record.positions[:, self.axis_index], np.isfinite(x)
        order = np.argsort(x[is_finite], kind="stable")
        along = x[is_finite][order]
        edges = [np.interp(positions, along, edge[is_finite][order]) for edge in (low, high)]
        off = (heights < edges[0]) | (heights > edges[1])
        has_off = np.any(off & np.isfinite(heights) & np.isfinite(positions))
        self.set_question(f"{self.question} {OFF}" if has_off else self.question)

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        answer, scale = self.answer, self.record.scales[self.axis_index]
        positions = [axis_position(position, scale) for position in answer.x]
        index = int(np.argmin(np.abs(np.array(positions) - x)))
        mean, sd = answer.mean[index], answer.sd[index]
        lines = [f"{setting_title(self.shown_axis)} {self.value_text(answer.x[index])}"]
        expected = expected_text(mean, sd, self.height_scale(), self.height_limits)
        lines += [f"expected {self.height_title()} {expected}", *self.extra_lines(index)]
        height = float(mean) if plot is self.plot else y
        return HoverText("\n".join(lines), float(positions[index]), height)

    def extra_lines(self, index: int) -> list[str]:
        return []

    def _x_positions(self, scale: Scale) -> np.ndarray:
        if scale.kind != "choice":
            return scale.positions_of(self.answer.x)
        x = np.array(self.answer.x)
        return np.column_stack([x - 0.35, x + 0.35, np.full(len(x), np.nan)]).ravel()

    def curve_of(self, numbers: list[float]) -> np.ndarray:
        values = np.array(numbers)
        if not self.answer.labels:
            return values
        # A choice has no between: each value is a short level line, and a gap before the next.
        return np.column_stack([values, values, np.full(len(values), np.nan)]).ravel()

    def _draw_trials(self, x: np.ndarray, y: np.ndarray) -> None:
        self.trials.show_trials(self.record, x, y)
        best = self.trials.best
        self._star = (float(best.x[0]), float(best.y[0])) if len(best.x) else None
        # Trials without a height are not drawn.
        self.mark_trials(x, np.where(np.isfinite(y), self.plot.seen_heights(y), np.nan))

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
        # The grid need not hold the next point itself.
        nearest = int(np.argmin(np.abs(np.array(answer.x) - answer.next_x)))
        # The next score is expected as a score, also where standardized responses are drawn.
        scale = score_scale(self.run.started.metric)
        expected = expected_text(mean[nearest], sd[nearest], scale, self.score_limits)
        return f"Next trial at {self.value_text(answer.next_x)}, where {expected} is expected."

    def value_text(self, position: float) -> str:
        labels = self.answer.labels
        return labels[round(position)] if labels else format_number(position)


def shown_heights(
    near: tuple[float, float], band: list[np.ndarray], maximize: bool, limits: tuple[float, float]
) -> tuple[float, float]:
    """The range near the best trial, with a little of the band beyond."""
    low, high = near
    if low == high:  # all are alike: where the band is narrowest it has a height
        narrowest = [np.nanargmin(band[1] - band[0])]
        low, high = range_of([low], *(end[narrowest] for end in band))
    # Far from all trials the band is as wide as the prior: it must not press the trials together.
    (band_low, band_high), room = range_of(*band), BAND_SHARE * (high - low)
    if maximize:
        return max(low, limits[0]), min(max(high, min(band_high, high + room)), limits[1])
    return max(min(low, max(band_low, low - room)), limits[0]), min(high, limits[1])


ACQUISITIONS = {"ei": "gain", "pi": "chance", "mean": "score"}


class GpSlice(SliceView):
    """Mean with bands, and acquisition."""

    answer: ScoreSlice
    name = "slice"
    title = "What the surrogate expects"
    question = "Where might better settings be? Bands: one and two standard deviations."
    waiting = "Its expectation appears here after the first few trials."

    def make_plots(self) -> None:
        super().make_plots()
        self.below = self.canvas.add_plot(row=1)
        self.below.vb.setXLink(self.plot.vb)
        self.plot.bottom.set_labelled(False)
        for row, share in ((0, 7), (1, 3)):
            self.canvas.ci.layout.setRowStretchFactor(row, share)
        self.area, self.promise, self.next_below = Band(), Lines(), Marker()
        self.markers.append(self.next_below)
        self.below.add_marks(self.area, self.promise, self.next_below)

    def draw_more(self, x: np.ndarray, scale: Scale) -> np.ndarray:
        kind = self.run.surrogate.acquisition if self.run.surrogate else "ei"
        self._show_below(kind != "mean", setting_title(self.shown_axis))
        self.below.left.set_title(ACQUISITIONS.get(kind, ""), maximize=True)
        promise, colour = self.curve_of(self.answer.acquisition), appearance.current().observed
        self.area.set_style(clear_colour(colour, 0.2))
        self.promise.set_style(pen(colour, 1.8))
        self.promise.set_data(x, promise)
        # A gain and a chance begin at 0, a mean anywhere.
        floor = 0.0 if kind != "mean" else float(np.nanmin(promise))
        self.area.set_data(x, np.full(len(x), floor), promise)
        top = float(np.nanmax(promise))
        # Its height says nothing, its shape does: it fills the plot at every step.
        self.below.forget_ranges()
        self.below.hold_y(floor, top if top > floor else floor + 1e-9)
        return np.empty(0)

    def extra_lines(self, index: int) -> list[str]:
        kind = self.run.surrogate.acquisition if self.run.surrogate else "ei"
        word = {"ei": "expected improvement", "pi": "probability of improvement"}.get(kind)
        return [f"{word} {format_number(self.answer.acquisition[index])}"] if word else []

    def _show_below(self, shown: bool, label: str) -> None:
        upper = self.plot.bottom
        upper.set_title("" if shown else label)
        if shown != upper.labelled:
            return
        upper.set_labelled(not shown)
        if shown:
            self.canvas.addItem(self.below, row=1, col=0)
            self.canvas.plots.append(self.below)
        else:
            # Hidden, it would keep its room in the layout.
            self.canvas.removeItem(self.below)
            self.canvas.plots.remove(self.below)

    def describe(self) -> str:
        best, answer = self.run.best_trial, self.answer
        sentence = f"Slice along {setting_title(self.shown_axis)} through the best setting."
        if best is not None:
            best_value = format_value(best.setting.get(answer.axis))
            sentence += f" Best {score_text(best.score, self.run.started.metric)} at {best_value}."
        return f"{sentence} {self.expected_next(answer.mean, answer.sd)}".rstrip()

    def table_data(self) -> Table:
        answer = self.answer
        headers = [setting_title(self.shown_axis), "expected", "standard deviation", "promise"]
        values = map(self.value_text, answer.x) if answer.labels else answer.x
        curves = zip(values, answer.mean, answer.sd, answer.acquisition, strict=True)
        rows: list[list[Any]] = [[*numbers, None] for numbers in curves]
        for trial in self.run.trials:
            if not trial.failure:
                rows.append([trial.setting.get(answer.axis), None, None, None, trial.score])
        return [*headers, "score of a trial"], rows
