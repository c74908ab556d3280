"""Tune: the live views of the run, how far it is, and everything one can do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMessageBox, QProgressBar, QVBoxLayout, QWidget

from app.pages.at_edge import AtEdge
from app.pages.page import Page
from app.pages.tune.by_hand import ByHand
from app.pages.tune.replay import Replay
from app.pages.tune.stopwatch import Stopwatch
from app.pages.tune.workers import Workers
from app.text.keys import PAUSE, START, STOP
from app.text.plan import strategy_title
from app.text.ranges import waiting_in_words
from app.text.tuning.head import before_the_start, line, model_in_words, share, title
from app.text.tuning.narrator import sentences
from app.text.tuning.stopping import interrupted, stopping
from app.views.board import Board
from app.widgets.card import Card
from app.widgets.labels import label
from core.tuning.events import Event, RunFailed, WorkersSeen

if TYPE_CHECKING:
    from app.session.session import Session

MORE = 20
FINE = 1000  # steps of the progress bar


class TunePage(Page):
    """One page for all runs: before the start, while running, and looking back."""

    topic = "tune"

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.run = session.shown.state  # at the moment that is shown
        self._count = 0  # how many of the session's events belong to that
        self._lead_on: Callable[[], None] = session.start
        self._clock = Stopwatch()
        self._ticks = QTimer(self, interval=1000)
        self._ticks.timeout.connect(self._show_words)
        self._make_buttons()
        self._make_bar()
        self._make_middle()
        session.events_arrived.connect(self._arrived)
        session.run_replaced.connect(self._begin_again)
        session.run_changed.connect(self._state_changed)
        session.plan_changed.connect(self._show)
        session.estimate_changed.connect(self._show)
        self._begin_again()

    # Making it --------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        self.discard_button = self.add_button("Discard", self.discard, "discard")
        self.more_button = self.add_button(
            f"{MORE} more trials",
            lambda: self.session.more_trials(MORE),
            "plus",
        )
        self.leave_button = self.add_button("Do not wait", self.session.abandon)
        self.keep_button = self.add_button("Keep what there is", self.session.stop, "check")
        self.pause_button = self.add_button("Pause", self.session.pause, "pause")
        self.resume_button = self.add_button("Resume", self.session.resume, "play")
        self.primary = self.add_primary("Start tuning", self._primary_pressed)
        self.pause_button.setToolTip(f"Pause ({PAUSE})")
        self.resume_button.setToolTip(f"Resume ({PAUSE})")

    def _make_bar(self) -> None:
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.bar.setAccessibleName("Progress of the run")
        self.replay = Replay()
        self.replay.moved.connect(self._replayed)
        self.workers = Workers()
        self.under_head.addWidget(self.bar)
        self.under_head.addWidget(self.workers)
        self.under_head.addWidget(self.replay)
        self.at_edge = AtEdge(self.session)
        self.at_edge.widened.connect(lambda: self.step_wanted.emit("strategy"))
        self.by_hand = ByHand(self.session)
        self.by_hand.entered.connect(self._show_words)
        asides = QHBoxLayout()
        asides.setSpacing(10)
        asides.addWidget(self.at_edge, 1)
        asides.addWidget(self.by_hand.button, 0, Qt.AlignmentFlag.AlignRight)
        self.under_head.addLayout(asides)

    def _make_middle(self) -> None:
        self.before = Card("What will happen")
        self._before_words = label("")
        self.before.body.addWidget(self._before_words)
        self.board = Board()
        self.board.setFrameShape(QFrame.Shape.NoFrame)
        self.board.exclude_requested.connect(self._exclude)
        self.board.trial_selected.connect(self.by_hand.take_trial)
        self.board.pick_requested.connect(lambda number: self.session.pick("trial", number))
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
        """Bring everything up to date."""
        self._show()

    def _exclude(self, number: int, excluded: bool) -> None:
        """Take a trial out, or back in; a paused run shows it at once."""
        self.session.exclude(number, excluded)
        if self.session.state == "paused":
            self.session.shown.state.exclude(number, excluded)
            self.board.show_run(self.run, onward=True)
            self._show_words()

    def _arrived(self, events: Sequence[Event]) -> None:
        if self.run is not self.session.shown.state:
            self._replayed(len(self.session.events))  # the replay stood at an earlier moment
        for event in events:
            if isinstance(event, WorkersSeen):
                self.workers.show_workers(event.workers)
            else:
                self.board.consume(event)
        self._count = len(self.session.events)
        self._clock.set(self.run.seconds)
        self._show()

    def _begin_again(self) -> None:
        self.run, self._count = self.session.shown.state, len(self.session.events)
        if self._count:
            self.board.show_run(self.run)
        else:
            self.board.record.show(self.run)  # its views come when it begins
        self._state_changed()

    def _replayed(self, count: int) -> None:
        """Show the run as it stood after so many events."""
        onward, self._count = count >= self._count, count
        self.run = self.session.shown.state_after(count)
        self.board.show_run(self.run, onward)
        self._show_words()

    def _state_changed(self) -> None:
        runs = self.session.state in ("running", "stopping")
        self._clock.run(runs, self.session.shown.state.seconds)
        if runs:
            self._ticks.start()
        else:
            self._ticks.stop()
        if self.session.state in ("finished", "interrupted"):
            shown = self.session.shown
            of_trials = not shown.state.learns_penalties
            self.replay.load(shown.events, shown.stops, of_trials)
        else:
            self.replay.stop()
        self._show()

    # Showing it -------------------------------------------------------------------------------

    def _show(self) -> None:
        begun = bool(self.session.events)
        self.before.setVisible(not begun)
        self._filler.setVisible(not begun)
        self.board.setVisible(begun)
        self._show_buttons()
        self.by_hand.show_run(self.run)
        self.at_edge.show_run(self.run)
        self._show_progress()
        self._show_words()

    def _show_buttons(self) -> None:
        state, begun = self.session.state, bool(self.session.events)
        trials = not self.run.learns_penalties
        self.pause_button.setVisible(state == "running")
        self.resume_button.setVisible(state == "paused")
        self.more_button.setVisible(state == "finished" and trials)
        self.leave_button.setVisible(state == "stopping")
        self.keep_button.setVisible(state == "interrupted" and begun)
        self.discard_button.setVisible(begun or state in ("running", "paused"))
        self.discard_button.allow(state != "stopping", "The run is just ending.")
        text, action, why_not = self._primary()
        self.primary.rename(text)
        self.primary.allow(not why_not, why_not)
        key = STOP if state in ("running", "paused") else START
        if not why_not and state != "finished":
            self.primary.setToolTip(f"{text} ({key})")
        self._lead_on = action

    def _primary(self) -> tuple[str, Callable[[], None], str]:
        """The one thing that leads on: words, action, and why it cannot be had now."""
        session = self.session
        match session.state:
            case "running" | "paused":
                return "Stop and keep best", session.stop, ""
            case "stopping":
                return "Stopping …", session.stop, "The results are coming."
            case "interrupted":
                return "Go on", session.resume, ""
            case "finished" if session.results is not None:
                return "See the results", self._go_to_results, ""
        why_not = "" if session.plan is not None else "Open a file first, in step 1."
        return "Start tuning", session.start, why_not

    def _primary_pressed(self) -> None:
        self._lead_on()

    def _go_to_results(self) -> None:
        self.step_wanted.emit("results")

    def _show_progress(self) -> None:
        state = self.session.state
        self.bar.setVisible(self.session.is_going_on)
        if state not in ("running", "paused"):
            self.workers.hide()
        looks_back = state in ("finished", "interrupted") and bool(self.session.events)
        self.replay.setVisible(looks_back)
        done = share(self.run, state)
        works = state == "stopping" and self.run.fold is None  # nobody knows for how long
        if works or (done is None and state == "running"):
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, FINE)
            self.bar.setValue(round(FINE * (done or 0.0)))

    def _show_words(self) -> None:
        session = self.session
        if not session.events:
            self._show_before()
            return
        said = line(self.run, session.state, self._elapsed())
        self.set_head(title(self.run), said)
        self.bar.setAccessibleDescription(said)
        self.tell("What is happening", (*self._of_the_state(), *sentences(self.run)))

    def _elapsed(self) -> float | None:
        """Seconds of the run by now; None where an earlier moment is looked at, or it is over."""
        live = self.session.state in ("running", "stopping") and self.run.ended is None
        return self._clock.seconds if live else None

    def _show_before(self) -> None:
        session = self.session
        if session.state == "running":
            said = before_the_start(session.plan, self._clock.seconds)
            self.set_head("Tuning", f"{said} · the data are being prepared")
            self.tell("What is happening", ("The data are being prepared.",))
            return
        estimate = (session.estimate or {}).get("sentence", "")
        self.set_head("Ready to tune", estimate)
        if session.plan is None:
            self._before_words.setText("Open a file first, in step 1.")
            return
        words = (
            "The program tunes {model}. Strategy: {strategy}. While it runs, you see here what it "
            "has tried and what it has learned. You can pause or stop at any time and keep the "
            "best."
        )
        model, strategy = model_in_words(session.plan.model), strategy_title(session)
        self._before_words.setText(words.format(model=model, strategy=strategy))
        self.tell("What is happening", ("Nothing yet. Press “Start tuning”.",))

    def _of_the_state(self) -> tuple[str, ...]:
        whole = self.session.shown.state
        match self.session.state:
            case "paused":
                waiting = waiting_in_words(len(self.session.shown.wanted))
                return ("The run is paused. “Resume” goes on where it stands." + waiting,)
            case "stopping":
                return stopping(whole)
            case "interrupted" if not isinstance(whole.ended, RunFailed):
                return interrupted(whole)
        return ()

    # What a person does -----------------------------------------------------------------------

    def discard(self) -> None:
        """Ask, then end the run and delete what it found."""
        box = QMessageBox(self)
        box.setObjectName("discarding")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Discard the run")
        box.setText("Discard this run?")
        box.setInformativeText("Its trials and its model are deleted. This cannot be undone.")
        stay = box.addButton("Keep it", QMessageBox.ButtonRole.RejectRole)
        gone = box.addButton("Discard", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.exec()
        if box.clickedButton() is gone:
            self.session.discard()
