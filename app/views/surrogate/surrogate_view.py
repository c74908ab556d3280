"""What views that look at the surrogate share: asking the evaluator, and knowing an old answer."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.strategies import surrogate_of
from app.views.plot.view import View
from app.widgets.labels import tip
from app.widgets.quiet_controls import QuietComboBox
from core.tuning.events import Event, RunStarted, SurrogateFitted, TrialExcluded
from resources.theme import FONT_CARD

# Surrogates that are told of earlier datasets too (`Strategy.surrogate`), and the one of these
# whose responses are ranks instead of standardized scores.
WITH_HISTORY = ("common", "ranks")
RANKING = "ranks"

ON_ITS_WAY = "This is being worked out …"
NARROWEST = 84  # pixels of a chooser
BESIDE = 150  # pixels of the buttons beside title and choosers, and of what keeps them apart


def plain_fields(record: Any) -> dict[str, Any]:
    """A dataclass as fields; not asdict, which would copy every point of a thousand trials."""
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    listed = isinstance(value, list) and value and is_dataclass(value[0])
    return [plain_fields(one) for one in value] if listed else value


class SurrogateView(View):
    """A view that draws the evaluator's answers; one request at a time is on its way.

    Attributes:
        surrogates: what the strategies of its runs model (`Strategy.surrogate`).
    """

    listens = (SurrogateFitted, TrialExcluded)
    surrogates: ClassVar[tuple[str, ...]] = ("scores",)
    interval = 0.08

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs of trials whose strategy models the score."""
        return surrogate_of(started) in cls.surrogates

    def start(self, started: RunStarted) -> None:
        """Another run: answers of the last one count no longer."""
        self.answer: dict[str, Any] | None = None
        self._asked: tuple[Event, dict[str, Any]] | None = None
        self._under_way = False

    def fitted(self) -> Event | None:
        """What was fitted last, which the evaluator is to look at."""
        return self.run.surrogate

    def handed_over(self, fitted: Event) -> dict[str, Any]:
        """What the evaluator needs to know, as plain data."""
        return {"surrogate": plain_fields(fitted)}

    def what_to_evaluate(self) -> dict[str, Any]:
        """The keys of the request beside the surrogate and the space."""
        raise NotImplementedError

    def ask_if_new(self) -> None:
        """Ask the evaluator when the surrogate or the axes are others than last time."""
        fitted = self.fitted()
        if fitted is None or self._under_way:
            return
        asking = self.what_to_evaluate()
        if self._asked is not None and self._asked[0] is fitted and self._asked[1] == asking:
            return
        self._asked, self._under_way = (fitted, asking), True
        self.evaluation_wanted.emit(
            {"view": self.name, "run": self.run.started.run, "space": self.record.axes,
             **self.handed_over(fitted), **asking}
        )  # fmt: skip

    def redraw(self) -> None:
        """Ask for what is new, draw what is there."""
        self.ask_if_new()
        super().redraw()

    def take_evaluation(self, reply: dict[str, Any]) -> None:
        """Keep an answer of this run; ask again if something changed meanwhile."""
        if reply.get("run") != self.run.started.run:
            return
        self._under_way = False
        if "answer" in reply:
            self.answer = reply["answer"]
        self.dirty = True

    def has_content(self) -> bool:
        """From the first answer."""
        return getattr(self, "answer", None) is not None

    def waits_for(self) -> str:
        """That the picture is being worked out, once there is something to draw."""
        return ON_ITS_WAY if self.fitted() is not None else super().waits_for()

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

    def chooser(self, name: str, changed: Any) -> QWidget:
        """A chooser of an axis of the space."""
        box = QuietComboBox()
        box.setAccessibleName(name)
        box.setToolTip(tip(name))
        box.setSizeAdjustPolicy(QuietComboBox.SizeAdjustPolicy.AdjustToContents)
        # In a narrow card the library's name is enough; the list itself shows every label whole.
        box.setMinimumWidth(appearance.pixels(NARROWEST))
        box.activated.connect(changed)
        return box
