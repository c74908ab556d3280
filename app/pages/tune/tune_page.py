"""Tune: the live views of the run, its progress, and its controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.pages.deletion_question import is_deletion_confirmed
from app.pages.page import Page
from app.pages.range_edge_notice import RangeEdgeNotice
from app.pages.tune.manual_trials import ManualTrials
from app.pages.tune.replay import Replay
from app.pages.tune.run_bar import RunBar, Stopwatch
from app.pages.tune.workers_panel import WorkersPanel
from app.text.key_names import PAUSE, START, STOP
from app.text.plan_text import strategy_title
from app.text.range_text import waiting_settings_text
from app.text.tuning.head import before_the_start, model_text, progress_text, run_title
from app.text.tuning.narrator import narration
from app.text.tuning.stopped_run_text import interrupted_sentences, stopping_sentences
from app.views.board import Board
from app.widgets.card import Card
from app.widgets.text_labels import wrapping_label
from core.tuning.events import Event, RunFailed, WorkersSeen

if TYPE_CHECKING:
    from app.session.session import Session

MORE = 20


class TunePage(Page):
    """One page for all runs: before the start, while running, and afterwards."""

    topic = "tune"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.run = session.shown.state  # at the shown moment
        self._count = 0  # of the events until then
        self._lead_on: Callable[[], None] = session.start
        self._clock = Stopwatch()
        self._ticks = QTimer(self, interval=1000)
        self._ticks.timeout.connect(self._show_words)
        self._make_buttons()
        self._make_bar()
        self._make_middle()
        session.events_arrived.connect(self._on_events)
        session.run_replaced.connect(self._begin_again)
        session.run_changed.connect(self._state_changed)
        session.plan_changed.connect(self._show_run)
        session.estimate_changed.connect(self._show_run)
        self._begin_again()

    # Making it --------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        self.discard_button = self.add_button("Discard", self.discard, "discard")
        self.more_button = self.add_button(f"{MORE} more trials", self._go_on, "plus")
        self.leave_button = self.add_button("Do not wait", self.session.abandon_run)
        self.keep_button = self.add_button("Keep what there is", self.session.stop, "check")
        self.pause_button = self.add_button("Pause", self.session.pause, "pause")
        self.resume_button = self.add_button("Resume", self.session.resume, "play")
        self.primary = self.add_primary("Start tuning", self._primary_pressed)
        self.pause_button.setToolTip(f"Pause ({PAUSE})")
        self.resume_button.setToolTip(f"Resume ({PAUSE})")

    def _make_bar(self) -> None:
        self.bar = RunBar()
        self.replay = Replay()
        self.replay.moved.connect(self._show_replay)
        self.workers = WorkersPanel()
        self.under_head.addWidget(self.bar)
        self.under_head.addWidget(self.workers)
        self.under_head.addWidget(self.replay)
        self.edge_notice = RangeEdgeNotice(self.session)
        self.edge_notice.widened.connect(lambda: self.step_wanted.emit("strategy"))
        self.manual_trials = ManualTrials(self.session)
        self.manual_trials.entered.connect(self._show_words)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.edge_notice, 1)
        row.addWidget(self.manual_trials.button, 0, Qt.AlignmentFlag.AlignRight)
        self.under_head.addLayout(row)

    def _make_middle(self) -> None:
        self.before = Card("What will happen")
        self._before_words = wrapping_label("")
        self.before.body.addWidget(self._before_words)
        self.board = Board()
        self.board.setFrameShape(QFrame.Shape.NoFrame)
        self.board.exclude_requested.connect(self._exclude_trial)
        self.board.trial_selected.connect(self.manual_trials.take_trial)
        self.board.pick_requested.connect(lambda number: self.session.select_model("trial", number))
        self.board.evaluation_wanted.connect(self.session.evaluate)
        self.board.problem.connect(self.session.problem)
        self.session.evaluated.connect(self.board.take_evaluation)
        self.body.addWidget(self.before)
        self.body.addWidget(self.board, 1)
        self._filler = QWidget()
        QVBoxLayout(self._filler)
        self.body.addWidget(self._filler, 1)

    # What happens -----------------------------------------------------------------------------

    def visited(self) -> None:
        """Update everything."""
        self._show_run()

    def tour_target(self, name: str) -> QWidget | None:
        """The view of the best so far, or else the first."""
        views = self.board.views.values()
        return next((view for view in views if view.name == "best"), next(iter(views), None))

    def _exclude_trial(self, number: int, excluded: bool) -> None:
        """Exclude a trial or include it again; a paused run shows it at once."""
        self.session.exclude_trial(number, excluded)
        if self.session.state == "paused":
            self.session.shown.state.exclude(number, excluded)
            self.board.show_run(self.run, onward=True)
            self._show_words()

    def _on_events(self, events: Sequence[Event]) -> None:
        if self.run is not self.session.shown.state:
            self._show_replay(len(self.session.events))  # the replay was at an earlier moment
        for event in events:
            if isinstance(event, WorkersSeen):
                self.workers.show_workers(event.workers)
            else:
                self.board.consume(event)
        self._count = len(self.session.events)
        self._clock.set_seconds(self.run.seconds)
        self._show_run()

    def _begin_again(self) -> None:
        self.run, self._count = self.session.shown.state, len(self.session.events)
        if self._count:
            self.board.show_run(self.run)
        else:
            self.board.record.show_run(self.run)  # its views are made at the first event
        self._state_changed()

    def _show_replay(self, count: int) -> None:
        """Show the run as it was after so many events."""
        is_onward, self._count = count >= self._count, count
        self.run = self.session.shown.state_after(count)
        self.board.show_run(self.run, is_onward)
        self._show_words()

    def _state_changed(self) -> None:
        is_running = self.session.state in ("running", "stopping")
        self._clock.set_running(is_running, self.session.shown.state.seconds)
        if is_running:
            self._ticks.start()
        else:
            self._ticks.stop()
        if self.session.state in ("finished", "interrupted"):
            shown = self.session.shown
            of_trials = not shown.state.learns_penalties
            self.replay.load_run(shown.events, shown.stops, of_trials)
        else:
            self.replay.stop()
        self._show_run()

    # Showing it -------------------------------------------------------------------------------

    def _show_run(self) -> None:
        has_begun = bool(self.session.events)
        self.before.setVisible(not has_begun)
        self._filler.setVisible(not has_begun)
        self.board.setVisible(has_begun)
        self._show_buttons()
        self.manual_trials.show_run(self.run)
        self.edge_notice.show_run(self.run)
        self._show_progress()
        self._show_words()

    def _show_buttons(self) -> None:
        state, has_begun = self.session.state, bool(self.session.events)
        has_trials = not self.run.learns_penalties
        self.pause_button.setVisible(state == "running")
        self.resume_button.setVisible(state == "paused")
        self.more_button.setVisible(state == "finished" and has_trials)
        minutes = self._more_minutes
        text = f"{minutes:g} more minute{'' if minutes == 1 else 's'}"
        self.more_button.setText(text if minutes else f"{MORE} more trials")
        self.leave_button.setVisible(state == "stopping")
        self.keep_button.setVisible(state == "interrupted" and has_begun)
        self.discard_button.setVisible(has_begun or state in ("running", "paused"))
        self.discard_button.set_allowed(state != "stopping", "The run is just ending.")
        text, action, why_not = self._primary_action()
        self.primary.set_label(text)
        self.primary.set_allowed(not why_not, why_not)
        key = STOP if state in ("running", "paused") else START
        if not why_not and state != "finished":
            self.primary.setToolTip(f"{text} ({key})")
        self._lead_on = action

    def _primary_action(self) -> tuple[str, Callable[[], None], str]:
        """The primary button: words, action, and why it is disabled."""
        session = self.session
        match session.state:
            case "running" | "paused":
                return "Stop and keep best", session.stop, ""
            case "stopping":
                return "Stopping …", session.stop, "The results are coming."
            case "interrupted":
                return "Resume", session.resume, ""
            case "finished" if session.results is not None:
                return "See the results", self._go_to_results, ""
        why_not = "" if session.plan is not None else "Open a file first, in step 1."
        return "Start tuning", session.start, why_not

    def _primary_pressed(self) -> None:
        self._lead_on()

    @property
    def _more_minutes(self) -> float:
        """As many as a run of several models was given; 0 for others, which count trials."""
        plan = self.run.started.run_plan
        return (plan.minutes or 0.0) if self.run.tunes_several_models else 0.0

    def _go_on(self) -> None:
        if self._more_minutes:
            self.session.more_minutes()
        else:
            self.session.more_trials(MORE)

    def _go_to_results(self) -> None:
        self.step_wanted.emit("results")

    def _show_progress(self) -> None:
        state = self.session.state
        self.bar.setVisible(self.session.is_going_on)
        if state not in ("running", "paused"):
            self.workers.hide()
        looks_back = state in ("finished", "interrupted") and bool(self.session.events)
        self.replay.setVisible(looks_back)

    def _show_words(self) -> None:
        session, elapsed = self.session, self._elapsed_seconds()
        self.bar.show_run(self.run, session.state, elapsed)
        if not session.events:
            self._show_before()
            return
        progress_line = progress_text(self.run, session.state, elapsed)
        self.set_head(run_title(self.run), progress_line)
        self.bar.setAccessibleDescription(f"{progress_line}. {self.bar.toolTip()}".strip(". "))
        self.set_panel("What is happening", (*self._state_sentences(), *narration(self.run)))

    def _elapsed_seconds(self) -> float | None:
        """Seconds of a run that goes on; None in a replay."""
        is_live = self.session.state in ("running", "stopping") and self.run.ended is None
        return self._clock.seconds if is_live else None

    def _show_before(self) -> None:
        session = self.session
        if session.state == "running":
            preparation_line = before_the_start(session.plan, self._clock.seconds)
            self.set_head("Tuning", f"{preparation_line} · the data are being prepared")
            self.set_panel("What is happening", ("The data are being prepared.",))
            return
        estimate = session.estimate.sentence if session.estimate else ""
        self.set_head("Ready to tune", estimate)
        if session.plan is None:
            self._before_words.setText("Open a file first, in step 1.")
            return
        words = (
            "The program tunes {model}. Strategy: {strategy}. While it runs, you see here what it "
            "has tried and what it has learned. You can pause or stop at any time and keep the "
            "best."
        )
        strategy = strategy_title(session.plan, session.advice)
        model = model_text(session.plan.model)
        self._before_words.setText(words.format(model=model, strategy=strategy))
        self.set_panel("What is happening", ("Nothing yet. Press “Start tuning”.",))

    def _state_sentences(self) -> tuple[str, ...]:
        run = self.session.shown.state
        match self.session.state:
            case "paused":
                waiting = waiting_settings_text(len(self.session.shown.wanted))
                return ("The run is paused. “Resume” continues it." + waiting,)
            case "stopping":
                return stopping_sentences(run)
            case "interrupted" if not isinstance(run.ended, RunFailed):
                return interrupted_sentences(run)
        return ()

    # What a person does -----------------------------------------------------------------------

    def discard(self) -> None:
        """Ask, then end the run and delete it."""
        title, question = "Discard the run", "Discard this run?"
        loss = "Its trials and its model are deleted. This cannot be undone."
        if is_deletion_confirmed(self, title, question, loss, "Keep it", "Discard", "discarding"):
            self.session.discard_run()
