"""What the views of questions share: an answer that comes later, or at a person's wish."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.text.scores import duration_in_words
from app.text.units import task_of
from app.views.results.result_view import ResultView
from app.widgets.buttons import PlainButton

TALL = 210  # pixels, the least height of a picture
WORKING = "This is being worked out …"


class WhyView(ResultView):
    """A view of the answer to a question about the run that is shown.

    Attributes:
        asks: the question (core.tuning.why.answers) whose answer it draws.
        answer: that answer; {} while there is none.
    """

    asks: ClassVar[str] = ""
    button_words: ClassVar[str] = "Work it out"

    asked = Signal(str)  # the question, when a person wants it answered
    left = Signal(str)  # the question, when a person wants no more of its answer

    def __init__(self, parent: QWidget | None = None) -> None:
        self.answer: dict[str, Any] = {}
        self._said = ""
        super().__init__(parent)
        if hasattr(self, "canvas"):
            self.canvas.setMinimumHeight(TALL)

    def controls(self) -> list[QWidget]:
        """The button that asks, and the one that stops what is under way."""
        self.ask_button = PlainButton(self.button_words, lambda: self.asked.emit(self.asks))
        self.stop_button = PlainButton("Stop", lambda: self.left.emit(self.asks))
        for button in (self.ask_button, self.stop_button):
            button.hide()
        return [self.ask_button, self.stop_button]

    def show_results(self, results: dict[str, Any]) -> None:
        """Other results: what was answered of earlier ones no longer counts."""
        self.answer, self._said = {}, ""
        super().show_results(results)

    def offer(self, seconds: float) -> None:
        """Say how long the answer takes, and wait for a person."""
        lasts = duration_in_words(seconds)
        about = lasts if lasts.startswith("less") else f"about {lasts}"
        self._say(f"This takes {about}. “{self.button_words}” begins.", offers=True)

    def wait(self) -> None:
        """The answer is being worked out."""
        self._say(WORKING, offers=False)

    def refuse(self, sentence: str) -> None:
        """Why there is no answer; a person may ask again."""
        self._say(sentence, offers=True)

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """Draw an answer, or what is known of it so far."""
        self.answer, self._said = answer, ""
        self.ask_button.hide()
        self.stop_button.setVisible(not done)
        for plot in self.canvas.plots if hasattr(self, "canvas") else []:
            plot.forget_ranges()
        self.redraw()

    def has_content(self) -> bool:
        """Whether there is an answer."""
        return bool(self.answer)

    def waits_for(self) -> str:
        """What stands in place of the answer."""
        return self._said or super().waits_for()

    def of_folds(self) -> str:
        """How rows were asked about where every row was tested; "" of one test set."""
        if not self.results.get("folds"):
            return ""
        return (
            "Each row was asked of a model that was fitted without its fold, at the setting found."
        )

    def _say(self, words: str, *, offers: bool) -> None:
        self._said = words
        self.stop_button.hide()
        if not self.answer or not self.answer.get("done", True):
            self.ask_button.setVisible(offers)
        self.redraw()


def of_rows(results: dict[str, Any]) -> bool:
    """Whether results are about single rows of a table, which can be asked about."""
    classes = bool((results.get("confusion") or {}).get("labels"))
    numbers = bool((results.get("predictions") or {}).get("actual"))
    return (classes or numbers) and not task_of(results)
