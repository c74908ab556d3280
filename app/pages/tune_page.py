"""Step 4, tuning: the live views of the run, its progress, and its controls."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.dialogs.message_boxes import is_deletion_confirmed
from app.look import appearance
from app.pages.page import Page
from app.pages.run_bar import Replay, RunBar, Stopwatch, WorkersPanel
from app.pages.shared_cards import RangeEdgeNotice
from app.session.session import Session
from app.text import run_head
from app.text.key_names import PAUSE, START, STOP
from app.text.narration import narration
from app.text.plan_text import editable_number, waiting_settings_text, with_decimal_point
from app.text.rail_text import strategy_title
from app.views.board import Board
from app.views.plot.view import View
from app.widgets.buttons import LinkButton, PlainButton, PrimaryButton
from app.widgets.cards import Card
from app.widgets.layouts import DIALOG_MARGINS, add_to, in_column, in_grid, in_row
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import show_text, wrapping_label
from core.errors import UnusableError
from core.estimators.model_settings import noun_of
from core.space import Axis, Setting, axis_title
from core.tuning.events import Event, RunFailed, WorkersSeen
from core.tuning.ranges import value_of
from core.tuning.runs.state import RunState

SHOWN = ("running", "paused", "finished", "interrupted")
FOLLOW_MILLISECONDS = 5_000  # between two looks at the run of another process
REPLAYED = ("finished", "interrupted", "running elsewhere")
MORE = 20
USUAL_VIEWS = (
    *("best", "trials", "timeline", "parallel", "ranks", "slice", "surface", "predicted"),
    *("models", "members", "average"),
)


class ManualTrials(QObject):
    """The button, for runs of one model."""

    entered = Signal()  # a setting

    def __init__(self, session: Session) -> None:
        self.button = LinkButton("Try a setting…", self.ask_setting, "plus")
        super().__init__(self.button)
        self.session = session
        self._run: RunState | None = None
        self._chosen_number: int | None = None
        self.button.setToolTip("Enter a setting yourself; it is tried next, beyond the budget.")

    def show_run(self, run: RunState) -> None:
        # Another run, in which a trial of this number is another one.
        if run is not self._run:
            self._run, self._chosen_number = run, None
        is_search = run.started.kind == "trials" and bool(run.started.space)
        searches_settings = is_search and not run.tunes_several_models
        is_open = self.session.state != "running" or run.tuning_ended is None
        self.button.setVisible(searches_settings and is_open and self.session.state in SHOWN)

    def take_trial(self, number: int) -> None:
        self._chosen_number = number

    def ask_setting(self) -> None:
        run = self._run
        if run is None:
            return
        axes = tuple(run.started.space)
        chosen = run.find_trial(self._chosen_number) or run.best_trial
        initial_setting = chosen.setting if chosen is not None else {}
        dialog = SettingDialog(axes, initial_setting, self.button.window())
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.session.try_setting(dialog.setting)
            self.entered.emit()


class SettingDialog(QDialog):
    """A field an axis, its fault below."""

    def __init__(
        self, axes: Sequence[Axis], initial: Mapping[str, Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Try a setting")
        self._axes = axes
        self.setting: Setting = {}  # once it was accepted
        self.fields: dict[str, QWidget] = {}
        self.faults = {axis.name: wrapping_label("", "bad") for axis in axes}
        caption = "It is tried beyond the budget, and the strategy learns from it."
        title = wrapping_label("Which setting should be tried next?", "cardtitle")
        grid = in_grid(14, 4)
        for index, axis in enumerate(axes):
            self._add_row(grid, 2 * index, axis, initial.get(axis.name, axis.default))
        self.try_button = PrimaryButton("Try it", self._accept_setting)
        self.try_button.setDefault(True)
        foot = in_row(1, PlainButton("Cancel", self.reject), self.try_button)
        rows = (title, wrapping_label(caption, "caption"), grid, 1, foot)
        in_column(*rows, on=self, gap=10, margins=DIALOG_MARGINS)
        self.setMinimumWidth(appearance.pixels(420))

    def _add_row(self, grid: QGridLayout, row: int, axis: Axis, value: Any) -> None:
        name = wrapping_label(axis_title(axis.label, axis.name))
        grid.addWidget(name, row, 0)
        if axis.kind == "choice":
            box = QuietComboBox()
            chosen = axis.choices.index(value) if value in axis.choices else 0
            box.set_choices(dict(enumerate(map(str, axis.choices))), chosen)
            field: QWidget = box
        else:
            field = QLineEdit("" if value is None else editable_number(value))
            ends = f"from {editable_number(axis.low)} to {editable_number(axis.high)}"
            grid.addWidget(wrapping_label(ends if axis.is_free else "fixed", "muted"), row, 2)
        field.setEnabled(axis.is_free)
        field.setAccessibleName(axis.label)
        name.setBuddy(field)
        grid.addWidget(field, row, 1)
        self.faults[axis.name].hide()
        grid.addWidget(self.faults[axis.name], row + 1, 0, 1, 3)
        self.fields[axis.name] = field

    def _accept_setting(self) -> None:
        setting, is_valid = {}, True
        for axis in self._axes:
            fault = ""
            try:
                setting[axis.name] = self._entered_value(axis)
            except UnusableError as error:
                fault, is_valid = error.sentence, False
            show_text(self.faults[axis.name], fault)
        if is_valid:
            self.setting = setting
            self.accept()

    def _entered_value(self, axis: Axis) -> Any:
        field = self.fields[axis.name]
        if isinstance(field, QuietComboBox):
            return axis.choices[field.currentData()]
        assert isinstance(field, QLineEdit)
        return value_of(axis, with_decimal_point(field.text()))


class TunePage(Page):
    """One page for all runs: before, during and afterwards."""

    topic = "tune"
    changes_title = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.run = session.shown.state  # at the shown moment
        self._count = 0  # of the events until then
        self._lead_on: Callable[[], None] = session.start
        self._clock = Stopwatch()
        self._ticks = QTimer(self, interval=1000)
        self._ticks.timeout.connect(self.request_refresh)
        self._follower = QTimer(self, interval=FOLLOW_MILLISECONDS, singleShot=True)
        self._follower.timeout.connect(self._follow_run)
        self._make_buttons()
        self._make_bar()
        self._make_middle()
        session.events_arrived.connect(self._on_events)
        session.run_replaced.connect(self._begin_again)
        session.run_changed.connect(self._state_changed)
        self.refresh_after(session.plan_changed, session.estimate_changed)
        self._begin_again()

    # Making it --------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        # What stands where other pages have their primary button does no harm: what ends, lengthens
        # or discards a run has a line of its own.
        self.primary = self.add_primary("Start tuning", lambda: self._lead_on())
        stop, keep = self.session.stop, "Stop and keep best"
        self.stop_button = PlainButton(keep, stop)
        self.stop_button.setToolTip(f"{keep} ({STOP})")
        self.keep_button = PlainButton("Keep what there is", stop, "check")
        self.leave_button = PlainButton("Do not wait", self.session.abandon_run)
        self.more_button = PlainButton(f"{MORE} more trials", self._go_on, "plus")
        self.discard_button = PlainButton("Discard", self.discard, "discard")

    def _make_bar(self) -> None:
        self.bar = RunBar()
        self.replay = Replay()
        self.replay.moved.connect(self._show_replay)
        self.workers = WorkersPanel()
        self.edge_notice = RangeEdgeNotice(self.session)
        self.edge_notice.widened.connect(lambda: self.step_wanted.emit("strategy"))
        self.manual_trials = ManualTrials(self.session)
        self.manual_trials.entered.connect(self._show_words)
        # At the right end of a narrow head of two lines stands the primary button of other pages.
        row = in_row(
            *(self.discard_button, self.stop_button, self.keep_button, self.more_button, 1),
            *(self.leave_button, self.manual_trials.button),
            gap=10,
        )
        add_to(self.under_head, self.bar, self.workers, self.replay, row, self.edge_notice)

    def _make_middle(self) -> None:
        self.before = Card("What will happen")
        self._before_words = wrapping_label("")
        self.before.body.addWidget(self._before_words)
        self.board = Board()
        self.board.exclude_requested.connect(self._exclude_trial)
        self.board.trial_selected.connect(self.manual_trials.take_trial)
        self.board.pick_requested.connect(lambda number: self.session.select_model("trial", number))
        self.board.evaluation_wanted.connect(self.session.evaluate)
        self.board.problem.connect(self.session.problem)
        self.session.evaluated.connect(self.board.take_evaluation)
        self._filler = QWidget()
        QVBoxLayout(self._filler)
        add_to(self.body, self.before, (self.board, 1), (self._filler, 1))

    def steps(self) -> Iterator[View]:
        return self.board.views_ahead(USUAL_VIEWS)

    # What happens -----------------------------------------------------------------------------

    def tour_target(self, name: str) -> QWidget | None:
        views = self.board.views.values()
        return next((view for view in views if view.name == "best"), next(iter(views), None))

    def _exclude_trial(self, number: int, excluded: bool) -> None:
        """A paused run shows it at once."""
        self.session.exclude_trial(number, excluded)
        # The worker tells of it only when the run goes on, and a person looks now.
        if self.session.state == "paused":
            self.session.shown.state.exclude(number, excluded)
            self.board.show_run(self.run, onward=True)
            self._show_words()

    def _on_events(self, events: Sequence[Event]) -> None:
        if self.run is not self.session.shown.state:
            # The replay was at an earlier moment; news of the run lead to its end.
            self._show_replay(len(self.session.events))
        for event in events:
            if isinstance(event, WorkersSeen):
                self.workers.show_workers(event.workers)
            else:
                self.board.consume(event)
        self._count = len(self.session.events)
        self._clock.set_seconds(self.run.seconds)
        self.request_refresh()

    def _follow_run(self) -> None:
        """Read what another process wrote; a replay stays where it is."""
        if self.isVisible() and self._count == len(self.session.events):
            self.session.look_again()
        self._follower.start()

    def _begin_again(self) -> None:
        self.run, self._count = self.session.shown.state, len(self.session.events)
        self.board.record.has_other_writer = self.session.state == "running elsewhere"
        if self._count:
            self.board.show_run(self.run, onward=True)
        else:
            # The board makes its views at the first event, when it knows which fit.
            self.board.record.show_run(self.run)
        self._state_changed()

    def _show_replay(self, count: int) -> None:
        is_onward, self._count = count >= self._count, count
        self.run = self.session.shown.state_after(count)
        self.board.show_run(self.run, is_onward)
        self._show_words()

    def _state_changed(self) -> None:
        is_running = self.session.state in ("running", "stopping")
        self._clock.set_running(is_running, self.session.shown.state.seconds)
        (self._ticks.start if is_running else self._ticks.stop)()
        is_elsewhere = self.session.state == "running elsewhere"
        (self._follower.start if is_elsewhere else self._follower.stop)()
        if self.session.state in REPLAYED:
            shown = self.session.shown
            of_trials = not shown.state.learns_penalties
            self.replay.load_run(shown.events, shown.stops, of_trials)
        else:
            self.replay.stop()
        self.request_refresh()

    # Showing it -------------------------------------------------------------------------------

    def refresh(self) -> None:
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
        self.stop_button.setVisible(state in ("running", "paused"))
        self.more_button.setVisible(state == "finished" and not self.run.learns_penalties)
        minutes = self.run.more_minutes
        self.more_button.set_label(
            run_head.more_time_text(minutes) if minutes else f"{MORE} more trials"
        )
        self.leave_button.setVisible(state == "stopping")
        self.keep_button.setVisible(state == "interrupted" and has_begun)
        may_discard = has_begun and state != "running elsewhere"
        self.discard_button.setVisible(may_discard or state in ("running", "paused"))
        self.discard_button.set_allowed(state != "stopping", "The run is just ending.")
        text, action, key, why_not = self._primary_action()
        self.primary.set_label(text)
        self.primary.set_allowed(not why_not, why_not)
        if key and not why_not:
            self.primary.setToolTip(f"{text} ({key})")
        self._lead_on = action

    def _primary_action(self) -> tuple[str, Callable[[], None], str, str]:
        """Words, action, key, why it is disabled."""
        session = self.session
        match session.state:
            case "running":
                return "Pause", session.pause, PAUSE, ""
            case "paused":
                return "Resume", session.resume, PAUSE, ""
            case "stopping":
                return "Stopping …", session.stop, "", "The results are coming."
            case "interrupted":
                return "Resume", session.resume, START, ""
            case "running elsewhere":
                return "Look again", session.look_again, START, ""
            case "finished" if session.results is not None:
                return "See the results", partial(self.step_wanted.emit, "results"), "", ""
        why_not = "" if session.plan is not None else "Open a file first, in step 1."
        return "Start tuning", session.start, START, why_not

    def _go_on(self) -> None:
        if self.run.more_minutes:
            self.session.more_minutes()
        else:
            self.session.more_trials(MORE)

    def _show_progress(self) -> None:
        state = self.session.state
        self.bar.setVisible(self.session.is_going_on)
        if state not in ("running", "paused"):
            self.workers.hide()
        self.replay.setVisible(state in REPLAYED and bool(self.session.events))

    def _show_words(self) -> None:
        session = self.session
        is_live = session.state in ("running", "stopping") and self.run.ended is None
        elapsed = self._clock.seconds if is_live else None
        self.bar.show_run(self.run, session.state, elapsed)
        if not session.events:
            self._show_before()
            return
        progress_line = run_head.progress_text(self.run, session.state, elapsed)
        self.set_head(run_head.run_title(self.run), progress_line)
        self.bar.setAccessibleDescription(f"{progress_line}. {self.bar.toolTip()}".strip(". "))
        self.set_panel("What is happening", (*self._state_sentences(), *narration(self.run)))

    def _show_before(self) -> None:
        session = self.session
        if session.state == "running":
            preparation_line = run_head.before_the_start(session.plan, self._clock.seconds)
            self.set_head("Tuning", f"{preparation_line} · the data are being prepared")
            self.set_panel("What is happening", ("The data are being prepared.",))
            return
        self.set_head("Ready to tune", session.estimate.sentence if session.estimate else "")
        if session.plan is None:
            self._before_words.setText("Open a file first, in step 1.")
            return
        strategy = strategy_title(session.plan, session.advice)
        self._before_words.setText(
            f"The program tunes {noun_of(session.plan.model)}. Strategy: {strategy}. While it "
            "runs, you see here what it has tried and what it has learned. You can pause or stop "
            "at any time and keep the best."
        )
        self.set_panel("What is happening", ("Nothing yet. Press “Start tuning”.",))

    def _state_sentences(self) -> tuple[str, ...]:
        run = self.session.shown.state
        match self.session.state:
            case "paused":
                waiting = waiting_settings_text(len(self.session.shown.wanted))
                return ("The run is paused. “Resume” continues it." + waiting,)
            case "stopping":
                return run_head.stopping_sentences(run)
            case "interrupted" if not isinstance(run.ended, RunFailed):
                return run_head.interrupted_sentences(run)
            case "running elsewhere":
                return run_head.elsewhere_sentences(run)
        return ()

    # What a person does -----------------------------------------------------------------------

    def discard(self) -> None:
        loss = "It goes to the bin of past runs, from which it can be brought back for 30 days."
        words = ("Discard this run?", loss, "Keep it", "Discard")
        if is_deletion_confirmed(self, *words, name="discarding"):
            self.session.discard_run()
