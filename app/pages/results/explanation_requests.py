"""What the Results page asks the worker about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.views.why.columns_view import ColumnsView
from app.views.why.dependence_view import DependenceView
from app.views.why.learning_view import LearningView
from app.views.why.residuals_view import ResidualsView
from app.views.why.settings_view import SettingsView
from app.views.why.threshold_view import ThresholdView
from app.views.why.why_view import WhyView
from app.views.why.wrong_rows import WrongRowsView
from core.tuning.why.answer_types import (
    Answer,
    ColumnImportance,
    Dependence,
    NoAnswer,
    RowDiagnostics,
)

if TYPE_CHECKING:
    from app.session.session import Session
    from app.views.results.calibration import Calibration
    from app.worker.messages import Explained

WHY_VIEWS: tuple[type[WhyView[Answer]], ...] = (
    ColumnsView,
    DependenceView,
    SettingsView,
    ThresholdView,
    ResidualsView,
    WrongRowsView,
    LearningView,
)
# Requested without a click where it takes seconds.
QUICK_QUESTIONS = ("rows", "importance", "settings")


class ExplanationRequests(QObject):
    """Requests explanations of the shown run, once each, and passes them to the views."""

    def __init__(self, session: Session, calibration: Calibration) -> None:
        super().__init__()
        self._session, self._calibration = session, calibration
        self.views: dict[str, WhyView[Answer]] = {view.name: view() for view in WHY_VIEWS}
        self._requested_questions: set[str] = set()
        self._dependence_by_column: dict[str, Dependence] = {}
        self._chosen_column = ""  # of the dependence view
        self._is_fresh = False
        for view in self.views.values():
            view.answer_requested.connect(self.ask)
            view.stop_requested.connect(session.leave_question)
        columns, dependence = self._columns_view, self._dependence_view
        columns.column_chosen.connect(self.look_at)
        dependence.column_wanted.connect(self.look_at)
        session.explained.connect(self._on_answer)

    @property
    def _columns_view(self) -> ColumnsView:
        view = self.views["columns"]
        assert isinstance(view, ColumnsView)
        return view

    @property
    def _dependence_view(self) -> DependenceView:
        view = self.views["dependence"]
        assert isinstance(view, DependenceView)
        return view

    def clear_answers(self) -> None:
        """Forget the answers about other results."""
        self._requested_questions.clear()
        self._dependence_by_column.clear()
        self._chosen_column, self._is_fresh = "", True
        self._dependence_view.set_columns([])

    def request_answers(self) -> None:
        """Request what takes seconds or is stored; offer the others with their time."""
        if not self._is_fresh or self._session.state != "finished":
            return
        self._is_fresh = False
        from core.tuning.why.answers import FOLDER, SOON, seconds_before  # not for the first paint

        state, folder = self._session.shown.state, self._session.run_folder
        for question in (*QUICK_QUESTIONS, "learning"):
            seconds = seconds_before(question, state)
            has_answer = folder is not None and (folder / FOLDER / f"{question}.json").is_file()
            if has_answer or (question in QUICK_QUESTIONS and seconds <= SOON):
                self.ask(question)
            else:
                for view in self._views_of(question):
                    view.offer_answer(seconds)

    def ask(self, question: str) -> None:
        """Request an answer once, and show that it is coming."""
        if question in self._requested_questions:
            return
        self._requested_questions.add(question)
        for view in self._views_of(question):
            view.show_waiting()
        self._session.explain(question)

    def look_at(self, column: str) -> None:
        """Show how predictions depend on a column."""
        self._chosen_column = column
        if column in self._dependence_by_column:
            self._dependence_view.show_answer(self._dependence_by_column[column])
            return
        self._dependence_view.show_refusal("This is being worked out …")
        self._session.explain("dependence", column)

    def _views_of(self, question: str) -> list[WhyView[Answer]]:
        return [view for view in self.views.values() if view.asks == question]

    def _on_answer(self, message: Explained) -> None:
        question, answer = message.request.question, message.answer
        if question == "dependence":
            self._show_dependence(message)
        elif isinstance(answer, NoAnswer):
            self._requested_questions.discard(question)
            for view in self._views_of(question):
                view.show_refusal(answer.problem)
            if question == "importance":
                self._dependence_view.show_refusal("")
        else:
            for view in self._views_of(question):
                view.show_answer(answer)
            if isinstance(answer, RowDiagnostics):
                self._calibration.show_answer(answer)
            if isinstance(answer, ColumnImportance) and answer.done:
                self._show_columns(answer)

    def _show_columns(self, answer: ColumnImportance) -> None:
        self._dependence_by_column |= answer.dependence or {}
        names = [column.names[0] for column in answer.columns]
        self._dependence_view.set_columns(names)
        if names:
            self.look_at(names[0])

    def _show_dependence(self, message: Explained) -> None:
        column, answer = message.request.column, message.answer
        if isinstance(answer, Dependence):
            self._dependence_by_column[column] = answer
        if column != self._chosen_column:
            return
        if isinstance(answer, (NoAnswer, Dependence)) and answer.problem:
            self._dependence_view.show_refusal(answer.problem)
        else:
            self._dependence_view.show_answer(answer)
