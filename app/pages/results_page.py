"""Step 5, the results: whether tuning was worth it, on rows that it never saw, and why."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, QSignalBlocker
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabBar, QWidget

from app.look import appearance
from app.pages.page import Page
from app.pages.result_cards import AnswerLines, DefaultComparisonCard, FactsCard, MembersCard
from app.pages.shared_cards import CopyButtons, RangeEdgeNotice
from app.session.session import Session
from app.text.candidate_text import candidate_texts, completed_results
from app.text.run_head import more_time_text
from app.views import explanation_views as why
from app.views.board import NARROW, grid_positions
from app.views.penalty_views import GroupPenalties
from app.views.plot.view import View
from app.views.result_views import RESULT_VIEWS, CalibrationView, ModelsView, ResultView
from app.views.threshold_view import ThresholdView
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import add_to, in_grid
from app.widgets.text_labels import wrapping_label
from app.worker.messages import Explained
from core.figures.run_figures import MAX_RUNS
from core.tuning.events import RunStarted
from core.tuning.plan import Plan
from core.tuning.results.answer import Step, answer_of
from core.tuning.results.result_facts import fact_sentences, member_count, plain_sentences
from core.tuning.run_results import Results
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_comparison import are_comparable
from core.tuning.why import answer_types as answers
from core.tuning.why.questions import FOLDER, SOON, seconds_before
from resources.theme import GAP

AnswerView = why.WhyView[answers.Answer]
WHY_VIEWS: tuple[type[AnswerView], ...] = (
    why.ColumnsView,
    why.DependenceView,
    why.SettingsView,
    ThresholdView,
    why.ResidualsView,
    why.WrongRowsView,
    why.LearningView,
)
TABLES = (DefaultComparisonCard, MembersCard, FactsCard)  # as high as their words
# Requested without a click where it takes seconds.
QUICK_QUESTIONS = ("rows", "importance", "settings", "learning")
NAMES = 160  # pixels of the names of models, where one can be selected
MIN_ROW = 290  # pixels of a row of cards
GOOD, WHY, WRONG, DETAILS = TABS = ("Good enough?", "Why?", "Where is it wrong?", "Details")
TAB_OF_VIEW = {  # all others answer the first question
    **dict.fromkeys(("columns", "dependence", "mattered"), WHY),
    **dict.fromkeys(("confusion", "predicted", "residuals", "wrong"), WRONG),
}
STEP_LABELS: dict[Step, str] = {  # the other steps have buttons of their own
    "leak": "See the columns",
    "columns": "See the columns",
    "default": "Select the default",
    "rows": "Open more rows",
    "honest": "Choose a test set",
}
ROOMY = 1100  # pixels of a wide page at the usual text size
MAX_CLASSES_BESIDE = 5  # of a confusion matrix beside another card of a wide page


AnyCard = TypeVar("AnyCard", bound=Card)


class ExplanationRequests(QObject):
    """Requests explanations once each, and passes them to the views."""

    def __init__(
        self, session: Session, views: dict[str, AnswerView], calibration: CalibrationView
    ) -> None:
        super().__init__()
        self._session, self.views, self._calibration = session, views, calibration
        columns, dependence = views["columns"], views["dependence"]
        assert isinstance(columns, why.ColumnsView)
        assert isinstance(dependence, why.DependenceView)
        self._dependence_view = dependence
        self._requested_questions: set[str] = set()
        self._dependence_by_column: dict[str, answers.Dependence] = {}
        self._chosen_column = ""  # of the dependence view
        self._is_fresh = False
        self._open_questions: set[str] = set()
        self._last_question = ""  # asked once no other is open
        for view in self.views.values():
            view.answer_requested.connect(self.ask)
            view.stop_requested.connect(session.leave_question)
        columns.column_chosen.connect(self.look_at)
        dependence.column_wanted.connect(self.look_at)
        session.explained.connect(self._on_answer)

    def clear_answers(self) -> None:
        self._requested_questions.clear()
        self._dependence_by_column.clear()
        self._open_questions.clear()
        self._chosen_column, self._last_question, self._is_fresh = "", "", True
        self._dependence_view.set_columns([])

    def request_answers(self) -> None:
        """What takes seconds or is stored; the others are offered with their time."""
        if not self._is_fresh or self._session.state != "finished":
            return
        self._is_fresh = False
        state, folder = self._session.shown.state, self._session.run_folder
        for question in QUICK_QUESTIONS:
            seconds = seconds_before(question, state)
            has_answer = folder is not None and (folder / FOLDER / f"{question}.json").is_file()
            if seconds <= SOON and not has_answer and question == "learning":
                self._last_question = question  # it would yield to every other one
            elif has_answer or seconds <= SOON:
                self.ask(question)
            else:
                for view in self._views_of(question):
                    view.offer_answer(seconds)

    def ask(self, question: str) -> None:
        if question in self._requested_questions:
            return
        self._requested_questions.add(question)
        self._open_questions.add(question)
        for view in self._views_of(question):
            view.show_waiting()
        self._session.explain(question)

    def look_at(self, column: str) -> None:
        self._chosen_column = column
        if column in self._dependence_by_column:
            self._dependence_view.show_answer(self._dependence_by_column[column])
            return
        self._dependence_view.show_refusal("This is being worked out …")
        self._open_questions.add("dependence")
        self._session.explain("dependence", column)

    def _views_of(self, question: str) -> list[AnswerView]:
        return [view for view in self.views.values() if view.asks == question]

    def _on_answer(self, message: Explained) -> None:
        question, answer = message.request.question, message.answer
        if question == "dependence":
            self._show_dependence(message)
        elif isinstance(answer, answers.NoAnswer):
            self._requested_questions.discard(question)
            for view in self._views_of(question):
                view.show_refusal(answer.problem)
            if question == "importance":
                self._dependence_view.show_refusal("")
        else:
            for view in self._views_of(question):
                view.show_answer(answer)
            if isinstance(answer, answers.RowDiagnostics):
                self._calibration.show_answer(answer)
            if isinstance(answer, answers.ColumnImportance) and answer.done:
                self._show_columns(answer)
        if answer.is_final:
            self._open_questions.discard(question)
        if self._last_question and not self._open_questions:
            last, self._last_question = self._last_question, ""
            self.ask(last)

    def _show_columns(self, answer: answers.ColumnImportance) -> None:
        self._dependence_by_column |= answer.dependence or {}
        names = [column.names[0] for column in answer.columns]
        self._dependence_view.set_columns(names)
        if names:
            self.look_at(names[0])

    def _show_dependence(self, message: Explained) -> None:
        column, answer = message.request.column, message.answer
        if isinstance(answer, answers.Dependence):
            self._dependence_by_column[column] = answer
        if column != self._chosen_column:
            return
        if isinstance(answer, (answers.NoAnswer, answers.Dependence)) and answer.problem:
            self._dependence_view.show_refusal(answer.problem)
        else:
            self._dependence_view.show_answer(answer)


class ResultsPage(Page):
    """Tuned model, default and baseline, in words and charts."""

    topic = "results"
    changes_title = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._shown: Results | None = None
        self._wanted: list[Card] = []  # of all tabs
        self._step: Step = "export"
        self._shape = (False, False)  # of the page: narrow, roomy
        self.compare_button = PlainButton("Compare runs", self.compare, "table")
        self.more_button = PlainButton("More minutes", self._go_on, "plus")
        export = partial(self.step_wanted.emit, "export")
        self.primary = self.add_primary("Export the model", export, "arrow-right")
        self.edge_notice = RangeEdgeNotice(session)
        self.edge_notice.widened.connect(lambda: self.step_wanted.emit("strategy"))
        self.use_button = PlainButton("Use the model", lambda: self.step_wanted.emit("use"))
        self.step_button = PlainButton("", self._take_step)
        buttons = (self.step_button, self.use_button, self.compare_button, self.more_button)
        self.answer = AnswerLines(*buttons)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Parts of the results")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for title in TABS:
            self.tabs.addTab(title)
        self.tabs.hide()
        self.answer.hide()
        add_to(self.under_head, self.answer, self.edge_notice, self.tabs)
        self._make_grid()
        self._steps = self._make_cards()
        self.tabs.currentChanged.connect(lambda _: self._arrange_tab())
        self.refresh_after(session.run_changed, session.run_replaced)
        session.runs.changed.connect(self._show_comparable)
        self.request_refresh()

    def _make_grid(self) -> None:
        words = "The results appear here when a run has ended, in step 4."
        self._nothing = wrapping_label(words, "muted")
        self._grid = in_grid(GAP, GAP)
        self.copy_buttons = CopyButtons(
            "This run again, elsewhere:", self._plan_and_target, self.session.problem.emit
        )
        self.copy_buttons.hide()
        add_to(self.body, self._nothing, self._grid, self.copy_buttons, 0)

    def _plan_and_target(self) -> tuple[Plan | None, str]:
        shown = self.session.shown
        target = shown.state.started.dataset.target or ""
        return (shown.plan if self.session.events else None), target

    def steps(self) -> Iterator[Card]:
        return self._steps

    def _make_all_cards(self) -> None:
        for _ in self._steps:
            pass

    def _make_cards(self) -> Iterator[Card]:
        self.views: dict[str, ResultView] = {}
        for kind in RESULT_VIEWS:
            self.views[kind.name] = self._take_card(kind(parent=self))
            yield self.views[kind.name]
        why_views: dict[str, AnswerView] = {}
        for why_kind in WHY_VIEWS:
            why_views[why_kind.name] = self._take_card(why_kind(parent=self))
            yield why_views[why_kind.name]
        self.penalties = self._take_card(GroupPenalties(parent=self))
        self.penalties.canvas.resized.connect(self.penalties.redraw)
        yield self.penalties
        self.setting = self._take_card(DefaultComparisonCard())
        self.measures = self._take_card(DefaultComparisonCard())
        yield self.measures
        self.members, self.facts = self._take_card(MembersCard()), self._take_card(FactsCard())
        calibration, candidates = self.views["calibration"], self.views["scores"]
        assert isinstance(calibration, CalibrationView)
        self.questions = ExplanationRequests(self.session, why_views, calibration)
        assert isinstance(candidates, ModelsView)
        self.candidates = candidates
        candidates.picked.connect(self.session.select_model)
        threshold = why_views["threshold"]
        assert isinstance(threshold, ThresholdView)
        threshold.threshold_chosen.connect(self.session.select_threshold)
        self._cards: list[Card] = [
            candidates,
            why_views["learning"],
            *(v for name, v in self.views.items() if name not in ("scores", "confusion")),
            self.views["confusion"],
            self.penalties,
            *(v for name, v in why_views.items() if name != "learning"),
            self.members,
            self.setting,
            self.facts,
            self.measures,
        ]

    def _take_card(self, card: AnyCard) -> AnyCard:
        # Cards that are not shown have no layout to belong to, and would outlive the page.
        card.setParent(self)
        card.hide()
        if isinstance(card, View):
            card.problem.connect(self.session.problem)
        return card

    # What happens -----------------------------------------------------------------------------

    def visited(self) -> None:
        self.refresh()
        self._show_comparable()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_all_cards()
        if self._shape != self._shape_now():
            self._arrange_tab()

    def tour_target(self, name: str) -> QWidget | None:
        self._make_all_cards()
        view = self.views.get(name)
        if view is not None and view in self._wanted:
            self.show_tab(self._tab_of(view))
        return view

    def show_tab(self, title: str) -> None:
        self.tabs.setCurrentIndex(TABS.index(title))

    def _take_step(self) -> None:
        if self._step == "default":
            self.session.select_model("default")
        else:
            self.step_wanted.emit("data")

    def _go_on(self) -> None:
        self.step_wanted.emit("tune")
        self.session.more_minutes()

    def compare(self) -> None:
        self.comparison_wanted.emit([run.path for run in self._same_data()])

    def refresh(self) -> None:
        self._make_all_cards()
        results = self.session.results
        self.edge_notice.show_run(self.session.shown.state)
        self.candidates.set_selectable(self.session.state == "finished")
        if results is self._shown and results is not None:
            if self.isVisible():
                self.questions.request_answers()
            return
        self._shown = results
        minutes = self.session.shown.state.more_minutes
        self.more_button.setVisible(bool(minutes) and self.session.state == "finished")
        self.more_button.set_label(more_time_text(minutes))
        self._nothing.setVisible(results is None)
        self.primary.set_allowed(results is not None, "There is no result yet.")
        started = next((e for e in self.session.events if isinstance(e, RunStarted)), None)
        if results is None or started is None:
            self._show_cards([])
            self.set_head("Results")
            self.set_panel("In plain words", ())
            return
        self._show_words(results, started)
        self._show_pictures(results, started)
        self._show_comparable()
        self.questions.clear_answers()
        if self.isVisible():
            self.questions.request_answers()

    def _show_words(self, results: Results, started: RunStarted) -> None:
        answer = answer_of(results, started, self.session.shown.state.topics)
        # A title of one line: what it is compared to stands below, where room is kept for it.
        title, _, comparison = answer.ability.partition("; ")
        self.set_head(title.removesuffix("."), comparison[:1].upper() + comparison[1:])
        self.answer.show_answer(answer)
        self._step = answer.step
        self.step_button.setVisible(answer.step in STEP_LABELS)
        self.step_button.set_label(STEP_LABELS.get(answer.step, ""))
        sentences = fact_sentences(results, started)
        self.facts.show_sentences(sentences)
        self.set_panel("In plain words", plain_sentences(results, started))

    def _show_pictures(self, results: Results, started: RunStarted) -> None:
        wanted_cards: list[Card] = []
        results = completed_results(results, self.session.shown.ends)
        # Runs of earlier versions have the unit in their first event alone.
        unit = results.target_unit or started.dataset.target_unit
        results = replace(results, target_unit=unit)
        can_explain = self.session.run_folder is not None
        for card in self._cards:
            if isinstance(card, why.WhyView) and not can_explain:
                continue
            if isinstance(card, ResultView) and card.is_suitable(results):
                card.show_results(results)
                wanted_cards.append(card)
        if len(results.groups) == 1:
            self._show_penalty(results)
            wanted_cards.append(self.setting)
        elif results.groups:
            self.penalties.record.show_run(self.session.shown.state)
            self.penalties.consume(started)
            self.penalties.redraw()
            wanted_cards.append(self.penalties)
        self.candidates.show_candidates(candidate_texts(results, started, self.session.shown.ends))
        if results.ensemble is not None and member_count(results) > 1:
            default = self.session.shown.state.default_trial
            self.members.show_members(results.ensemble, results.default_setting, started, default)
            wanted_cards.append(self.members)
        elif results.setting:
            self.setting.show_settings(started, results.setting, results.default_setting)
            wanted_cards.append(self.setting)
        if len(results.test) > 1:
            scores = {
                "tuned": results.test,
                "default": results.default_test,
                "baseline": results.baseline_scores,
            }
            self.measures.show_scores(scores, results)
            wanted_cards.append(self.measures)
        wanted_cards.append(self.facts)
        self._show_cards([card for card in self._cards if card in wanted_cards])

    def _tab_of(self, card: Card) -> str:
        if card in (self.facts, self.measures):
            return DETAILS
        if card in (self.penalties, self.members, self.setting):
            return WHY
        return TAB_OF_VIEW.get(getattr(card, "name", ""), GOOD)

    def _show_cards(self, cards: list[Card]) -> None:
        before = TABS[self.tabs.currentIndex()] if self._wanted else GOOD
        self._wanted = cards
        tabs = [title for title in TABS if title in map(self._tab_of, cards)]
        # To hide the tab in front brings another there.
        with QSignalBlocker(self.tabs):
            for index, title in enumerate(TABS):
                self.tabs.setTabVisible(index, title in tabs)
            if tabs:
                self.show_tab(before if before in tabs else tabs[0])
        for widget in (self.tabs, self.answer):
            widget.setVisible(bool(cards))
        self._arrange_tab()

    def _arrange_tab(self) -> None:
        title = TABS[self.tabs.currentIndex()]
        self.copy_buttons.setVisible(title == DETAILS and bool(self._wanted))
        self._arrange_cards([card for card in self._wanted if self._tab_of(card) == title])

    def _show_penalty(self, results: Results) -> None:
        """A table: a chart of one bar says nothing."""
        (group, learned), *_ = results.groups.items()
        run = self.session.shown.state
        steps = run.gradients or run.steps
        start_penalty = steps[0].penalties.get(group) if steps else None
        self.setting.show_penalty(learned, start_penalty, off=group in results.switched_off)

    def _arrange_cards(self, cards: list[Card]) -> None:
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
        self._shape = self._shape_now()
        is_narrow, is_roomy = self._shape
        confusion = self.views["confusion"]
        # A matrix needs a column a class, and takes the row where they are many.
        if confusion in cards:
            counts = confusion.results.confusion
            labels = len(counts.labels) if counts is not None else 0
            confusion.wide = labels > (MAX_CLASSES_BESIDE if is_roomy else 2)
        # Names of models stand beside their scores.
        for column, share in enumerate((3, 2) if self.candidates.buttons else (1, 1)):
            self._grid.setColumnStretch(column, share)
        # Rows of charts share the height that is left; tables and words have their own.
        drawn_rows = set()
        for card, (row, column, span) in zip(cards, grid_positions(cards, is_narrow), strict=True):
            self._grid.addWidget(card, row, column, 1, span)
            # Only once it has a parent: without one it would be a window of its own.
            card.show()
            if not isinstance(card, TABLES):
                drawn_rows.add(row)
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, MIN_ROW if row in drawn_rows else 0)
            self._grid.setRowStretch(row, 1 if row in drawn_rows else 0)
        # Below tables and words alone, what is left stays empty.
        self.body.setStretchFactor(self._grid, bool(drawn_rows))
        self.body.setStretch(self.body.count() - 1, not drawn_rows)

    def _shape_now(self) -> tuple[bool, bool]:
        width = self.scroll_area.viewport().width()
        narrow = NARROW + NAMES * bool(self.candidates.buttons)
        return width < appearance.pixels(narrow), width >= appearance.pixels(ROOMY)

    # Other runs -------------------------------------------------------------------------------

    def _same_data(self) -> list[RunSummary]:
        """This run and the newest tested ones of its data, target and measure."""
        runs, folder = self.session.runs.run_list.runs, str(self.session.run_folder)
        shown = next((run for run in runs if run.path == folder), None)
        if shown is None:
            return []
        tested_runs = [run for run in runs if run is not shown and run.test is not None]
        return [shown, *(run for run in tested_runs if are_comparable(run, shown))][:MAX_RUNS]

    def _show_comparable(self) -> None:
        self.compare_button.setVisible(len(self._same_data()) > 1)
