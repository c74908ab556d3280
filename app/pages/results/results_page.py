"""Results: was tuning worth it, on rows that tuning never saw, in words and in pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.look import appearance
from app.pages.at_edge import AtEdge
from app.pages.copying import CopyRow
from app.pages.page import Page
from app.pages.results.beside_default import BesideDefault
from app.pages.results.candidates import CandidatesCard
from app.pages.results.members import MembersCard
from app.pages.results.questions import Questions
from app.text.results.averaging import members_of
from app.text.results.candidates import candidates
from app.text.results.verdict import headline, in_plain_words, line
from app.text.units import task_of
from app.views.board import NARROW, places
from app.views.penalties.group_penalties import GroupPenalties
from app.views.results.calibration import Calibration
from app.views.results.result_view import ResultView
from app.views.results.results_views import RESULT_VIEWS
from app.views.results.run_curves import MOST
from app.views.why.why_view import WhyView
from app.widgets.card import Card
from app.widgets.labels import label
from core.tuning.events import RunStarted
from resources.theme import GAP

if TYPE_CHECKING:
    from app.session.session import Session
    from core.tuning.plan import Plan
    from core.tuning.runs.past_runs import RunSummary

ROW = 290  # pixels, the least height of a row of cards
ROOMY = 1100  # pixels of the page at the usual text size, where half of it holds more classes
MOST_BESIDE = 5  # classes of which right and wrong answers fit beside another card there


class ResultsPage(Page):
    """The tuned model, the default one and the baseline, and this run against earlier ones."""

    topic = "results"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._shown: dict[str, Any] | None = None
        self._arranged: list[Card] = []
        self._shape = (False, False)  # of the page: narrow, roomy
        self.compare_button = self.add_button("Compare runs", self.compare, "table")
        self.primary = self.add_primary(
            "Export the model", lambda: self.step_wanted.emit("export"), "arrow-right"
        )
        self.at_edge = AtEdge(session)
        self.at_edge.widened.connect(lambda: self.step_wanted.emit("strategy"))
        self.under_head.addWidget(self.at_edge)
        self._make_cards()
        session.run_changed.connect(self._refresh)
        session.run_replaced.connect(self._refresh)
        session.runs.changed.connect(self._show_comparable)
        self._refresh()

    def _make_cards(self) -> None:
        self._nothing = label("The results appear here when a run has ended, in step 4.", "muted")
        self.body.addWidget(self._nothing)
        self.views: dict[str, ResultView] = {view.name: view() for view in RESULT_VIEWS}
        calibration = self.views["calibration"]
        assert isinstance(calibration, Calibration)
        self.questions = Questions(self.session, calibration)
        self.penalties = GroupPenalties()
        self.setting, self.measures = BesideDefault(), BesideDefault()
        self.members = MembersCard()
        self.candidates = CandidatesCard()
        self.candidates.picked.connect(self.session.pick)
        self._cards: list[Card] = [
            self.views["scores"],
            self.views["curve"],
            self.views["calibration"],
            self.views["predicted"],
            self.candidates,
            self.penalties,
            self.members,
            self.setting,
            self.views["confusion"],
            self.measures,
            *self.questions.views.values(),
        ]
        for card in self._cards:
            card.setParent(self)  # those that a run does not want end with the page as well
        for view in (*self.views.values(), *self.questions.views.values(), self.penalties):
            view.problem.connect(self.session.problem)
        self._grid = QGridLayout()
        self._grid.setSpacing(GAP)
        for column in (0, 1):
            self._grid.setColumnStretch(column, 1)
        self.body.addLayout(self._grid, 2)
        self.copying = CopyRow(
            "This run again, elsewhere:", self._plan_of_run, self.session.problem.emit
        )
        self.copying.hide()
        self.body.addWidget(self.copying)

    # What happens -----------------------------------------------------------------------------

    def visited(self) -> None:
        """Bring everything up to date."""
        self._refresh()
        self._show_comparable()
        self.questions.begin()
        QTimer.singleShot(0, self.penalties, self.penalties.redraw)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The penalties leave room for their words, so they are drawn for their new size."""
        super().resizeEvent(event)
        if self._shape != self._shape_now():
            self._arrange(self._arranged)
        QTimer.singleShot(0, self.penalties, self.penalties.redraw)

    def compare(self) -> None:
        """Show this run beside the newest others of the same data, target and measure."""
        self.comparison_wanted.emit([run.path for run in self._same_data()])

    def _refresh(self) -> None:
        results = self.session.results
        self.at_edge.show_run(self.session.shown.state)
        self.candidates.setEnabled(self.session.state == "finished")
        if results is self._shown and results is not None:
            if self.isVisible():
                self.questions.begin()
            return
        self._shown = results
        self._nothing.setVisible(results is None)
        self.primary.allow(results is not None, "There is no result yet.")
        self.copying.setVisible(results is not None)
        started = next((e for e in self.session.events if isinstance(e, RunStarted)), None)
        if results is None or started is None:
            self._arrange([])
            self.set_head("Results")
            self.tell("In plain words", ())
            return
        self._show_words(results, started)
        self._show_pictures(results, started)
        self._show_comparable()
        self.questions.forget()
        if self.isVisible():
            self.questions.begin()

    def _show_words(self, results: dict[str, Any], started: RunStarted) -> None:
        rows = int(started.dataset.get("test_rows", 0))
        self.set_head(headline(results, rows), line(results))
        self.tell("In plain words", in_plain_words(results, started))

    def _show_pictures(self, results: dict[str, Any], started: RunStarted) -> None:
        wanted: list[Card] = []
        kept = self.session.run_folder is not None  # else there is nobody to ask
        for card in self._cards:
            if isinstance(card, WhyView) and not kept:
                continue
            if isinstance(card, ResultView) and card.suits(results):
                card.show_results(results)
                wanted.append(card)
        groups = results.get("groups") or {}
        if len(groups) == 1:
            self._show_penalty(results)
            wanted.append(self.setting)
        elif groups:
            self.penalties.record.show(self.session.shown.state)
            self.penalties.consume(started)
            self.penalties.redraw()
            wanted.append(self.penalties)
        if found := candidates(results, started, self.session.events):
            self.candidates.show_candidates(found)
            self.candidates.setEnabled(self.session.state == "finished")
            wanted.append(self.candidates)
        if members_of(results) > 1:
            self.members.show_members(results, started)
            wanted.append(self.members)
        elif results.get("setting"):
            self.setting.show_settings(started, results["setting"], results["default_setting"])
            wanted.append(self.setting)
        if len(results["test"]) > 1:
            self.measures.show_scores(
                {
                    "tuned": results["test"],
                    "default": results["default_test"],
                    "nothing": results.get("baseline_test") or {},
                },
                task_of(results),
                results.get("baseline", ""),
            )
            wanted.append(self.measures)
        self._arrange([card for card in self._cards if card in wanted])

    def _show_penalty(self, results: dict[str, Any]) -> None:
        """The single penalty in a line: one bar says nothing."""
        (group, learned), *_ = results["groups"].items()
        run = self.session.shown.state
        begun = run.steps[0].penalties.get(group) if run.steps else None
        if run.gradients:
            begun = math.exp(run.gradients[0].d[group])
        self.setting.show_penalty(learned, begun, off=group in results["switched_off"])

    def _arrange(self, cards: list[Card]) -> None:
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
        self._arranged, self._shape = cards, self._shape_now()
        narrow, roomy = self._shape
        confusion = self.views["confusion"]
        if confusion in cards:  # its columns, one a class, are seen whole
            labels = len(confusion.results["confusion"]["labels"])
            confusion.wide = labels > (MOST_BESIDE if roomy else 2)
        drawn = set()
        for card, (row, column, across) in zip(cards, places(cards, narrow), strict=True):
            self._grid.addWidget(card, row, column, 1, across)
            card.show()  # not before it has a parent: it would be a window of its own
            if not isinstance(card, (BesideDefault, MembersCard, CandidatesCard)):
                drawn.add(row)
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, ROW if row in drawn else 0)
            self._grid.setRowStretch(row, 1 if row in drawn else 0)

    def _shape_now(self) -> tuple[bool, bool]:
        width = self.scroll.viewport().width()
        return width < appearance.pixels(NARROW), width >= appearance.pixels(ROOMY)

    def _plan_of_run(self) -> Plan | None:
        return self.session.shown.plan if self.session.events else None

    # Other runs -------------------------------------------------------------------------------

    def _same_data(self) -> list[RunSummary]:
        """This run and the newest of its data, target and measure that have a test score."""
        from core.tuning.runs.side_by_side import comparable

        runs, folder = self.session.runs.found.runs, str(self.session.run_folder)
        shown = next((run for run in runs if run.path == folder), None)
        if shown is None:
            return []
        others = [r for r in runs if r is not shown and r.test is not None and comparable(r, shown)]
        return [shown, *others][:MOST]

    def _show_comparable(self) -> None:
        enough = len(self._same_data()) > 1
        self.compare_button.allow(enough, "There is no other run of these data yet.")
