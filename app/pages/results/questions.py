"""What the Results page asks the worker after the score, and to whom it hands the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.views.why.columns_view import ColumnsView
from app.views.why.dependence_view import DependenceView
from app.views.why.learning_view import LearningView
from app.views.why.residuals_view import ResidualsView
from app.views.why.settings_view import SettingsView
from app.views.why.threshold_view import ThresholdView
from app.views.why.why_view import WhyView
from app.views.why.wrong_rows import WrongRowsView

if TYPE_CHECKING:
    from app.session.session import Session
    from app.views.results.results_views import Calibration
    from app.worker.messages import Explained

WHY_VIEWS: tuple[type[WhyView], ...] = (
    ColumnsView,
    DependenceView,
    SettingsView,
    ThresholdView,
    ResidualsView,
    WrongRowsView,
    LearningView,
)
BEGUN = ("rows", "importance", "settings")  # asked without a person's wish where it takes seconds


class Questions(QObject):
    """Asks for the run that is shown, once each, and tells the views.

    Args:
        session: which asks the worker.
        calibration: the view that draws a part of one of the answers.
    """

    def __init__(self, session: Session, calibration: Calibration) -> None:
        super().__init__()
        self._session, self._calibration = session, calibration
        self.views: dict[str, WhyView] = {view.name: view() for view in WHY_VIEWS}
        self._asked: set[str] = set()
        self._along: dict[str, dict[str, Any]] = {}  # what is known of single columns
        self._wanted = ""  # the column that is looked at
        self._fresh = False
        for view in self.views.values():
            view.asked.connect(self.ask)
            view.left.connect(session.leave_question)
        columns, dependence = self._columns, self._dependence
        columns.column_chosen.connect(self.look_at)
        dependence.column_wanted.connect(self.look_at)
        session.explained.connect(self._take)

    @property
    def _columns(self) -> ColumnsView:
        view = self.views["columns"]
        assert isinstance(view, ColumnsView)
        return view

    @property
    def _dependence(self) -> DependenceView:
        view = self.views["dependence"]
        assert isinstance(view, DependenceView)
        return view

    def forget(self) -> None:
        """Other results are shown now."""
        self._asked.clear()
        self._along.clear()
        self._wanted, self._fresh = "", True
        self._dependence.set_columns([])

    def begin(self) -> None:
        """Ask what takes seconds or was answered before; offer the rest, with its time."""
        if not self._fresh or self._session.state != "finished":
            return
        self._fresh = False
        from core.tuning.why.answers import FOLDER, SOON, seconds_before  # not for the first paint

        state, folder = self._session.shown.state, self._session.run_folder
        for question in (*BEGUN, "learning"):
            seconds = seconds_before(question, state)
            kept = folder is not None and (folder / FOLDER / f"{question}.json").is_file()
            if kept or (question in BEGUN and seconds <= SOON):
                self.ask(question)
            else:
                for view in self._views_of(question):
                    view.offer(seconds)

    def ask(self, question: str) -> None:
        """Ask, and say that the answer is on its way."""
        if question in self._asked:
            return
        self._asked.add(question)
        for view in self._views_of(question):
            view.wait()
        self._session.explain(question)

    def look_at(self, column: str) -> None:
        """Show what a column does."""
        self._wanted = column
        if column in self._along:
            self._dependence.show_answer(self._along[column])
            return
        self._dependence.refuse("This is being worked out …")
        self._session.explain("dependence", column=column)

    def _views_of(self, question: str) -> list[WhyView]:
        return [view for view in self.views.values() if view.asks == question]

    def _take(self, told: Explained) -> None:
        question, answer = told.asked.question, told.answer
        if question == "dependence":
            self._take_dependence(told)
        elif "problem" in answer:
            self._asked.discard(question)
            for view in self._views_of(question):
                view.refuse(answer["problem"])
            if question == "importance":
                self._dependence.refuse("")
        else:
            for view in self._views_of(question):
                view.show_answer(answer, told.done)
            if question == "rows":
                self._calibration.show_answer(answer)
            if question == "importance" and told.done:
                self._take_columns(answer)

    def _take_columns(self, answer: dict[str, Any]) -> None:
        self._along |= answer.get("dependence", {})
        names = [one["names"][0] for one in answer["columns"]]
        self._dependence.set_columns(names)
        if names:
            self.look_at(names[0])

    def _take_dependence(self, told: Explained) -> None:
        column = told.asked.options.get("column", "")
        if "problem" not in told.answer or "name" in told.answer:
            self._along[column] = told.answer
        if column != self._wanted:
            return
        if "problem" in told.answer:
            self._dependence.refuse(told.answer["problem"])
        else:
            self._dependence.show_answer(told.answer)
