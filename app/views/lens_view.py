"""What views that look at the surrogate share: asking the lens, and knowing an old answer."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from PySide6.QtWidgets import QWidget

from app import appearance
from app.views.view import View
from app.widgets.quiet_controls import QuietComboBox
from core.tuning.events import RunStarted, SurrogateFitted, TrialExcluded

# Strategies whose sampler keeps a surrogate and tells it.
WITH_SURROGATE = ("gp", "hybrid", "variable")

# Not asdict: that would copy every point of a surrogate of a thousand trials.
_FIELDS = [field.name for field in fields(SurrogateFitted)]

NARROWEST = 84  # pixels of a chooser


class LensView(View):
    """A view that draws the lens' answers; one request at a time is on its way."""

    listens = (SurrogateFitted, TrialExcluded)
    interval = 0.08

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs of trials whose strategy models the score."""
        return started.kind == "trials" and started.plan.get("strategy") in WITH_SURROGATE

    def start(self, started: RunStarted) -> None:
        """Another run: answers of the last one count no longer."""
        self.answer: dict[str, Any] | None = None
        self._asked: tuple[SurrogateFitted, dict[str, Any]] | None = None
        self._under_way = False

    def question_of_lens(self) -> dict[str, Any]:
        """The keys of the request beside the surrogate and the space."""
        raise NotImplementedError

    def ask_if_new(self) -> None:
        """Ask the lens when the surrogate or the axes are others than last time."""
        surrogate = self.record.surrogate
        if surrogate is None or self._under_way:
            return
        asking = self.question_of_lens()
        if self._asked is not None and self._asked[0] is surrogate and self._asked[1] == asking:
            return
        self._asked, self._under_way = (surrogate, asking), True
        plain = {name: getattr(surrogate, name) for name in _FIELDS}
        self.lens_wanted.emit(
            {"view": self.name, "run": self.record.started.run, "surrogate": plain,
             "space": self.record.axes, **asking}
        )  # fmt: skip

    def redraw(self) -> None:
        """Ask for what is new, draw what is there."""
        self.ask_if_new()
        super().redraw()

    def lens_arrived(self, reply: dict[str, Any]) -> None:
        """Keep an answer of this run; ask again if something changed meanwhile."""
        if reply.get("run") != self.record.started.run:
            return
        self._under_way = False
        if "answer" in reply:
            self.answer = reply["answer"]
        self.dirty = True

    def has_content(self) -> bool:
        """From the first answer."""
        return getattr(self, "answer", None) is not None

    def chooser(self, name: str, changed: Any) -> QWidget:
        """A chooser of an axis of the space."""
        box = QuietComboBox()
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setSizeAdjustPolicy(QuietComboBox.SizeAdjustPolicy.AdjustToContents)
        # In a narrow card a few letters are enough; the list itself shows every label whole.
        box.setMinimumWidth(appearance.pixels(NARROWEST))
        box.activated.connect(changed)
        return box
