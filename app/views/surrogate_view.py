"""What views of the surrogate share."""

import itertools
from functools import partial
from typing import ClassVar

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.plan_text import setting_title, surrogate_of
from app.views.plot.view import View
from app.widgets.quiet_controls import NARROWEST, QuietComboBox, chooser
from app.worker.evaluator_process import EvaluationReply, EvaluationRequest
from core.figures.run_figures import shown_scores
from core.figures.scales import Scale, score_scale
from core.gp.evaluations import Evaluation
from core.tuning.events import Event, JointSurfaceFitted, RunStarted, SurrogateFitted, TrialExcluded
from core.tuning.scores.score import metric_in_short, score_limits
from core.wording import format_decimals, format_number

# Surrogates that learn from earlier datasets (`Strategy.surrogate`), and the one of these
# whose responses are ranks instead of standardized scores.
WITH_HISTORY = ("common", "ranks")
RANKING = "ranks"

ON_ITS_WAY = "This is being worked out …"
REQUEST_NUMBERS = itertools.count()
BESIDE = 150  # pixels of the buttons beside title and choosers, and of what keeps them apart


def expected_text(mean: float, sd: float, scale: Scale, limits: tuple[float, float]) -> str:
    """Such as "0.81 ± 0.02", "81.0 ± 2.0 %", or "99.0 % (95.0 to 100 %)" at a limit."""
    low, high = max(mean - sd, limits[0]), min(mean + sd, limits[1])
    if low > mean - sd or high < mean + sd:
        # What lies beyond is not promised.
        return f"{scale.label_at(mean)} ({scale.label_at(low)} to {scale.label_at(high)})"
    if scale.kind == "percent":
        return " ± ".join(format_decimals(100 * number, 1) for number in (mean, sd)) + scale.unit
    return f"{format_number(mean)} ± {format_number(sd, 2)}"


class ChooserView(View):
    """A view with choosers."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._title.ensurePolished()
        title = self._title.fontMetrics().horizontalAdvance(self.title)
        boxes = [box for box in self.findChildren(QuietComboBox) if not box.isHidden()]
        room = self.width() - title - appearance.pixels(BESIDE)
        for box in boxes:
            box.setMaximumWidth(max(appearance.pixels(NARROWEST), room // len(boxes)))


class AxesView(ChooserView):
    """A view along chosen settings."""

    choosing: ClassVar[tuple[str, ...]] = ("Setting along the bottom",)  # names of the choosers

    def controls(self) -> list[QWidget]:
        self.choosers = [
            chooser(name, partial(self._on_axis_chosen, index))
            for index, name in enumerate(self.choosing)
        ]
        return [*self.choosers]

    def start(self, started: RunStarted) -> None:
        super().start(started)
        axes = self.record.axes
        titles = {axis.name: setting_title(axis) for axis in axes}
        for index, box in enumerate(self.choosers):
            box.set_choices(titles)
            box.setCurrentIndex(min(index, len(axes) - 1))
            box.setVisible(len(axes) > len(self.choosers))

    def _on_axis_chosen(self, _which: int) -> None:
        self.canvas.forget_ranges()
        self.dirty = True


class SurrogateView(AxesView):
    """A view of evaluations; one request at a time is pending."""

    listens: ClassVar[tuple[type[Event], ...]] = (SurrogateFitted, TrialExcluded)
    surrogates: ClassVar[tuple[str, ...]] = ("scores",)  # values of `Strategy.surrogate`
    interval = 0.08

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return surrogate_of(started) in cls.surrogates

    def start(self, started: RunStarted) -> None:
        super().start(started)
        self.answer: Evaluation | None = None
        self._answered: Event | None = None  # the fit behind it
        self._last_request: EvaluationRequest | None = None
        self._is_pending = False

    def latest_fit(self) -> SurrogateFitted | JointSurfaceFitted | None:
        return self.run.surrogate

    @property
    def score_limits(self) -> tuple[float, float]:
        return score_limits(self.run.started.metric)

    def height_title(self) -> str:
        return metric_in_short(self.run.started.metric)

    def height_scale(self) -> Scale:
        return score_scale(self.run.started.metric)

    def heights(self) -> np.ndarray:
        """At the trials, NaN for those not drawn, shape (n,)."""
        return self.run.scores

    def maximize(self) -> bool:
        return self.run.started.maximize

    @property
    def height_limits(self) -> tuple[float, float]:
        """Of what is drawn upwards."""
        return self.score_limits

    def near_heights(self, heights: np.ndarray) -> tuple[float, float]:
        """The same as in every picture of the run's scores."""
        return shown_scores(self.run, heights)

    def ask_if_new(self) -> None:
        fitted = self.latest_fit()
        # One request at a time: an evaluation may take longer than a trial, and then only the
        # newest surrogate is worth asking.
        if fitted is None or self._is_pending:
            return
        axes, last = tuple(box.currentData() for box in self.choosers), self._last_request
        if last is not None and last.fitted is fitted and last.axes == axes:
            return
        history = self.run.history if isinstance(fitted, JointSurfaceFitted) else None
        number, space = next(REQUEST_NUMBERS), tuple(self.record.axes)
        self._last_request = EvaluationRequest(
            self.name, number, space, fitted, axes, history, self.score_limits
        )
        self._is_pending = True
        self.evaluation_wanted.emit(self._last_request)

    def redraw(self) -> None:
        self.ask_if_new()
        super().redraw()

    def take_evaluation(self, reply: EvaluationReply) -> None:
        # The answer may come after another run has begun, or an earlier moment of this one.
        request = self._last_request
        if request is None or reply.number != request.number:
            return
        self._is_pending = False
        if reply.answer is not None:
            self.answer, self._answered = reply.answer, request.fitted
        self.dirty = True

    @property
    def shown_moment(self) -> int:
        return self.moment_of(self._answered)

    def has_content(self) -> bool:
        return getattr(self, "answer", None) is not None

    def waiting_reason(self) -> str:
        return ON_ITS_WAY if self.latest_fit() is not None else super().waiting_reason()
