"""What views of explanations share."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.text.score_text import duration_text
from app.text.unit_names import task_of
from app.views.results.result_view import ResultView
from app.widgets.buttons import PlainButton
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer

A_co = TypeVar("A_co", bound=Answer, covariant=True)
TALL = 210  # pixels, the least height of a picture
WORKING = "This is being worked out …"


class WhyView(ResultView, Generic[A_co]):
    """A view of the answer to a question."""

    asks: ClassVar[str] = ""  # a question of core.tuning.why.answers
    answer_type: type[A_co]
    button_words: ClassVar[str] = "Work it out"

    answer_requested = Signal(str)  # the question
    stop_requested = Signal(str)  # the question

    def __init__(self, parent: QWidget | None = None) -> None:
        self._answer: A_co | None = None
        self._message = ""
        super().__init__(parent)
        if hasattr(self, "canvas"):
            self.canvas.setMinimumHeight(TALL)

    @property
    def answer(self) -> A_co:
        """The answer that is drawn, where there is one."""
        assert self._answer is not None
        return self._answer

    def controls(self) -> list[QWidget]:
        """The buttons that ask and stop."""
        asked, stopped = self.answer_requested, self.stop_requested
        self.ask_button = PlainButton(self.button_words, lambda: asked.emit(self.asks))
        self.stop_button = PlainButton("Stop", lambda: stopped.emit(self.asks))
        self.ask_button.hide()
        self.stop_button.hide()
        return [self.ask_button, self.stop_button]

    def show_results(self, results: Results) -> None:
        """Show other results; an earlier answer is dropped."""
        self._answer, self._message = None, ""
        super().show_results(results)

    def offer_answer(self, seconds: float) -> None:
        """Show how long the answer takes, and wait."""
        lasts = duration_text(seconds)
        about = lasts if lasts.startswith("less") else f"about {lasts}"
        self._show_message(f"This takes {about}. “{self.button_words}” begins.", offers=True)

    def show_waiting(self) -> None:
        """Show that the answer is being computed."""
        self._show_message(WORKING, offers=False)

    def show_refusal(self, sentence: str) -> None:
        """Show why there is no answer; offer another request."""
        self._show_message(sentence, offers=True)

    def show_answer(self, answer: Answer) -> None:
        """Draw an answer, final or partial."""
        self._answer = answer if isinstance(answer, self.answer_type) else None
        self._message = ""
        self.ask_button.hide()
        self.stop_button.setVisible(not answer.is_final)
        for plot in self.canvas.plots if hasattr(self, "canvas") else []:
            plot.forget_ranges()
        self.redraw()

    def has_content(self) -> bool:
        """Whether there is an answer."""
        return self._answer is not None

    def waiting_reason(self) -> str:
        """The words in place of the answer."""
        return self._message or super().waiting_reason()

    def of_folds(self) -> str:
        """A sentence on predictions across folds, or ""."""
        if not self.results.folds:
            return ""
        return (
            "Each row was asked of a model that was fitted without its fold, at the setting found."
        )

    def _show_message(self, words: str, *, offers: bool) -> None:
        self._message = words
        self.stop_button.hide()
        if self._answer is None or not self._answer.is_final:
            self.ask_button.setVisible(offers)
        self.redraw()


def of_rows(results: Results) -> bool:
    """Whether results are about single rows of a table."""
    return (has_classes(results) or has_numbers(results)) and not task_of(results)


def has_classes(results: Results) -> bool:
    """Whether the targets are classes."""
    return results.confusion is not None and bool(results.confusion.labels)


def has_numbers(results: Results) -> bool:
    """Whether the targets are numbers."""
    return results.predictions is not None and bool(results.predictions.actual)
