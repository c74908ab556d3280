"""What views that look at the surrogate share: asking the evaluator, and knowing an old answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent

from app.look import appearance
from app.text.strategy_text import surrogate_of
from app.views.plot.view import View
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import plain_tooltip
from app.worker.messages.surrogate_evaluation import EvaluationReply, EvaluationRequest
from core.tuning.events import Event, JointSurfaceFitted, RunStarted, SurrogateFitted, TrialExcluded
from resources.theme import FONT_CARD

if TYPE_CHECKING:
    from core.gp.evaluations import Evaluation

# Surrogates that are told of earlier datasets too (`Strategy.surrogate`), and the one of these
# whose responses are ranks instead of standardized scores.
WITH_HISTORY = ("common", "ranks")
RANKING = "ranks"

ON_ITS_WAY = "This is being worked out …"
NARROWEST = 84  # pixels of a chooser
BESIDE = 150  # pixels of the buttons beside title and choosers, and of what keeps them apart


class SurrogateView(View):
    """A view that draws the evaluator's answers; one request at a time is on its way.

    Attributes:
        surrogates: what the strategies of its runs model (`Strategy.surrogate`).
    """

    listens: ClassVar[tuple[type[Event], ...]] = (SurrogateFitted, TrialExcluded)
    surrogates: ClassVar[tuple[str, ...]] = ("scores",)
    interval = 0.08

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs of trials whose strategy models the score."""
        return surrogate_of(started) in cls.surrogates

    def start(self, started: RunStarted) -> None:
        """Another run: answers of the last one count no longer."""
        self.answer: Evaluation | None = None
        self._last_request: EvaluationRequest | None = None
        self._is_pending = False

    def latest_fit(self) -> SurrogateFitted | JointSurfaceFitted | None:
        """What was fitted last, which the evaluator is to look at."""
        return self.run.surrogate

    def axes_to_evaluate(self) -> tuple[str] | tuple[str, str]:
        """The names of the chosen axes: one for a slice, two for an image."""
        raise NotImplementedError

    def ask_if_new(self) -> None:
        """Ask the evaluator when the surrogate or the axes are others than last time."""
        fitted = self.latest_fit()
        if fitted is None or self._is_pending:
            return
        axes, last = self.axes_to_evaluate(), self._last_request
        if last is not None and last.fitted is fitted and last.axes == axes:
            return
        self._last_request = EvaluationRequest(
            self.name,
            self.run.started.run,
            tuple(self.record.axes),
            fitted,
            axes,
            self.run.history if isinstance(fitted, JointSurfaceFitted) else None,
        )
        self._is_pending = True
        self.evaluation_wanted.emit(self._last_request)

    def redraw(self) -> None:
        """Ask for what is new, draw what is there."""
        self.ask_if_new()
        super().redraw()

    def take_evaluation(self, reply: EvaluationReply) -> None:
        """Keep an answer of this run; ask again if something changed meanwhile."""
        if reply.run != self.run.started.run:
            return
        self._is_pending = False
        if reply.answer is not None:
            self.answer = reply.answer
        self.dirty = True

    def has_content(self) -> bool:
        """From the first answer."""
        return getattr(self, "answer", None) is not None

    def waiting_reason(self) -> str:
        """That the picture is being worked out, once there is something to draw."""
        return ON_ITS_WAY if self.latest_fit() is not None else super().waiting_reason()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The choosers take the room that the title leaves on its line."""
        super().resizeEvent(event)
        font = QFont(self.font())
        font.setBold(True)
        font.setPointSizeF(appearance.points(FONT_CARD))
        title = QFontMetricsF(font).horizontalAdvance(self.title)
        boxes = [box for box in self.findChildren(QuietComboBox) if not box.isHidden()]
        room = self.width() - title - appearance.pixels(BESIDE)
        for box in boxes:
            box.setMaximumWidth(max(appearance.pixels(NARROWEST), int(room / len(boxes))))

    def chooser(self, name: str, changed: Callable[[int], None]) -> QuietComboBox:
        """A chooser of an axis of the space."""
        box = QuietComboBox()
        box.setAccessibleName(name)
        box.setToolTip(plain_tooltip(name))
        box.setSizeAdjustPolicy(QuietComboBox.SizeAdjustPolicy.AdjustToContents)
        # In a narrow card the library's name is enough; the list itself shows every label whole.
        box.setMinimumWidth(appearance.pixels(NARROWEST))
        box.activated.connect(changed)
        return box
