"""What the session knows, and how it changes with the answers of the worker.

The session itself (app.session.session) adds what a person may ask.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.preferences import choices
from app.session.changes import Changes
from app.session.collecting import Spared
from app.session.history import SessionHistory
from app.session.plan import plan_for
from app.session.reading import Reading
from app.session.requests import PendingRequests
from app.session.run import GOING_ON, ShownRun
from app.session.runs import SessionRuns
from app.session.using import SessionUse
from app.worker import messages as m
from app.worker.evaluator import SurrogateEvaluator
from app.worker.thread import WorkerThread
from core.errors import UnusableError
from core.tuning.events import Event, ModelPicked, Noticed, RunFailed
from core.tuning.plan import DataPlan, Plan

ESTIMATE_AFTER = 300  # milliseconds after the last change of the plan


class Known(QObject):
    """Everything that the pages show and change.

    Attributes:
        data: which data are open and how they are understood, or None.
        summary: what the data look like, as `core.datasets.summary.summarize` gives it.
        advice: the models and strategies that fit (core.tuning.guidance.advice).
        plan: what would be tuned now; the recommendation until a person chooses.
        estimate: {"seconds", "trials", "sentence"}; with "unusable": True, the sentence says why
            the plan cannot be carried out; "values" are those that a grid tries, {label: values}.
        known: what the history holds for the plan's model, as `HistorySummary` tells it; {} while
            nobody knows.
        state: idle, running, paused, stopping, interrupted or finished.
        details: what "Copy details" copies for the last problem; no data in it.
        other_targets, texts: the columns to choose from where the last problem was the target, and
            those whose topics could be looked for instead.
        offer: of a refused file, how it could be used (messages.Refused); None for nothing.
        shown: the run that is shown: its events, and its state at every moment.
        history: of datasets, for the page about it.
        reading: reads a past run.
        runs: the past runs, for the page about them and for lists.
        using: a model that is used on single rows.
        changes: of the Data page, which can be undone.
        exporters: {name, title, sentence, warning, ending} of everything that can be saved.
    """

    data_changed = Signal()
    file_opened = Signal()  # after `data_changed`, where a person gave a file or a sample
    advice_changed = Signal()
    plan_changed = Signal()
    changes_changed = Signal()  # what can be undone, where nothing else changed
    estimate_changed = Signal()
    known_changed = Signal()
    cluster_tried = Signal(object)  # a ClusterTried
    run_changed = Signal()  # the state, the folder or the results
    run_replaced = Signal()  # another run is shown now: begin again with `shown`
    run_opened = Signal()  # after `run_replaced`, where it is a past run
    events_arrived = Signal(object)  # what the run told since the last time, oldest first
    exported = Signal(str)
    model_given = Signal(str)  # a file that holds a model, where data were looked for
    predicted = Signal(str, int)  # where the predictions are, and how many
    used = Signal(object)  # what the model says of new rows, messages.Used
    evaluated = Signal(object)  # the answer to `evaluate`
    explained = Signal(object)  # an Explained about the run that is shown
    exporters_changed = Signal()
    problem = Signal(str)
    busy_changed = Signal(str)  # what is waited for; "" for nothing

    def __init__(self, runs_root: Path | None = None, worker: WorkerThread | None = None) -> None:
        super().__init__()
        self.data: DataPlan | None = None
        self.summary: dict[str, Any] | None = None
        self.advice: dict[str, Any] | None = None
        self.plan: Plan | None = None
        self.estimate: dict[str, Any] | None = None
        self.known: dict[str, Any] = {}
        self._estimate_timer = QTimer(self, singleShot=True, interval=ESTIMATE_AFTER)
        self._estimate_timer.timeout.connect(self._ask_estimate)
        self.state = "idle"
        self.shown = ShownRun([], None)
        self._spared = Spared()  # its events
        self.details = ""
        self.other_targets: tuple[str, ...] = ()
        self.texts: tuple[str, ...] = ()
        self.offer: dict[str, Any] | None = None
        self._opening: DataPlan | None = None
        self.changes = Changes()
        self._is_given = False  # whether a person gave the file that is opened
        self.exporters: list[dict[str, Any]] = []
        self.history = SessionHistory(self)
        self.history.changed.connect(self._ask_known)
        self.history.import_wanted.connect(self._take_in)
        self._runs_root = runs_root
        self._keeps_best = True
        self._concludes = False  # whether the results are worked out from the run's folder
        self._abandons = False  # whether a person does not wait for them
        self._plan_to_restore: Plan | None = None
        self.reading = Reading(self)
        self.reading.done.connect(self._take_past)
        self.reading.refused.connect(self._refuse_past)
        self.runs = SessionRuns(self._root, self)
        self.runs.gone.connect(self._leave_deleted)
        self._worker = worker or WorkerThread()
        self._worker.arrived.connect(self._take)
        self._asked = asked = PendingRequests(self._worker.ask)
        self.using = SessionUse(asked.ask, lambda: asked.leave_latest(m.Use), self)
        self._evaluator = SurrogateEvaluator()
        self._evaluator.arrived.connect(self.evaluated)
        self._worker.start()  # last: what fails above leaves no process behind

    # The run that is shown --------------------------------------------------------------------

    @property
    def is_going_on(self) -> bool:
        """Whether a run goes on, is paused, or works out its results."""
        return self.state in GOING_ON

    @property
    def events(self) -> list[Event]:
        """Of the run that is shown, oldest first."""
        return self.shown.events

    @property
    def results(self) -> dict[str, Any] | None:
        """Of the run that is shown, once it ended (core.tuning.results.comparison)."""
        return self.shown.state.results if self.state in ("stopping", "finished") else None

    @property
    def run_folder(self) -> Path | None:
        """Where the run that is shown keeps everything."""
        return self.shown.folder

    def _ask_estimate(self) -> None:
        if self.plan is not None and not self.is_going_on:
            self._ask_known()  # first: an estimate takes a second
            self._asked.ask(m.Estimate(self.plan))

    def _ask_known(self) -> None:
        if self.plan is not None and not self.is_going_on:
            self._asked.ask(m.SummarizeHistory(self.plan))

    def _take_in(self, wanted: m.ImportHistory) -> None:
        self.busy_changed.emit("Reading the studies …")
        self._asked.ask(wanted)

    # The plan -------------------------------------------------------------------------------

    def _change_plan(self, plan: Plan) -> None:
        self.changes.watch(plan)
        if plan != self.plan:
            if self.plan is None or plan.model != self.plan.model:
                self.known = {}
            self.plan, self.estimate = plan, None
            self._asked.forget(m.Estimate)  # the answer on its way is about the plan before
            self.plan_changed.emit()
            self.estimate_changed.emit()
            self._estimate_timer.start()

    # The run --------------------------------------------------------------------------------

    def _conclude(self, exclude: m.Exclude | None = None, pick: ModelPicked | None = None) -> None:
        self._keeps_best = self._concludes = True
        self._asked.conclude(m.Conclude(str(self.run_folder), exclude, pick))
        self._set_state("stopping")

    def _forget_run(self) -> None:
        folder = self.run_folder
        self._asked.forget(m.Tune)
        self._show_run([], None)
        if folder is not None:
            from core.tuning.runs.run_folder import RunFolder  # not needed for the first paint

            try:
                RunFolder(folder).remove()
            except UnusableError as error:  # such as: another program goes on with it
                self.problem.emit(error.sentence)

    def _show_run(self, events: list[Event], folder: Path | None) -> None:
        self._replace_run(ShownRun(events, folder))

    def _replace_run(self, run: ShownRun) -> None:
        self.shown, self.state = run, run.phase
        self._spared.begin_again(len(run.events))
        self.run_replaced.emit()
        self.run_changed.emit()

    # Past runs ------------------------------------------------------------------------------

    def _take_past(self, run: ShownRun, plan: Plan) -> None:
        self.busy_changed.emit("")
        self._replace_run(run)
        self._plan_to_restore, self._is_given = plan, False
        self.run_opened.emit()
        self._read(plan.data)

    def _read(self, data: DataPlan) -> None:
        """Read data that are no change of those that are shown."""
        self.changes.read_no_more()
        self._asked.ask(m.Open(data))

    def _root(self) -> Path:
        if self._runs_root is None:
            from core.tuning.runs.run_folder import runs_root

            self._runs_root = runs_root()
        return self._runs_root

    def _leave_deleted(self, folder: Path) -> None:
        """Show a run that is in the bin now no longer: nothing could be saved of it."""
        if self.run_folder == folder and not self.is_going_on:
            self._show_run([], None)

    def _refuse_past(self, sentence: str) -> None:
        self.busy_changed.emit("")
        self.problem.emit(sentence)

    # Answers --------------------------------------------------------------------------------

    def _take(self, batch: list[m.Message]) -> None:
        events: list[Event] = []  # told together: a cheap run has hundreds in one batch
        for message in batch:
            counts, kind = self._asked.answered(message)
            if not counts:
                continue
            if isinstance(message.answer, Event):
                self.shown.take(message.answer)
                events.append(message.answer)
                continue
            self._tell(events)
            events = []
            self._match(message.answer, kind)
        self._tell(events)

    def _match(self, answer: m.Answer, kind: type | None) -> None:
        match answer:
            case m.Ready():
                self.exporters = answer.exporters
                self.exporters_changed.emit()
                if answer.left_out:
                    self.problem.emit(" ".join(answer.left_out))
            case m.Opened():
                self._take_data(answer)
            case m.Estimated():
                self.estimate = answer.estimate
                self.estimate_changed.emit()
            case m.HistorySummary():
                self.known = answer.known
                self.known_changed.emit()
            case m.HistoryImported():
                self.busy_changed.emit("")
                self._asked.forget(m.ImportHistory)
                self.history.take_answer(answer.imported)
            case m.FolderMade():
                self.shown.folder = Path(answer.folder)
                self.run_changed.emit()
            case m.Paused():
                self._set_state("paused")
            case m.Ended():
                self._take_end()
            case m.Exported():
                self.busy_changed.emit("")
                self.exported.emit(answer.path)
                if answer.said:
                    self.problem.emit(answer.said)
            case m.ClusterTried():
                self.cluster_tried.emit(answer)
            case m.Predicted():
                self.busy_changed.emit("")
                self.predicted.emit(answer.path, answer.count)
            case m.Explained():
                self._tell_explained(answer)
            case m.UseProgress() | m.ModelDescribed() | m.RowTried() | m.RowFound():
                if isinstance(answer, m.UseProgress):
                    self.busy_changed.emit("")  # the page has a bar of its own
                self.using.take(answer)
            case m.Used():
                self.busy_changed.emit("")
                self.used.emit(answer)
            case m.Refused():
                opening = kind is m.Open
                self.other_targets = answer.columns if opening else ()
                self.texts = answer.texts if opening else ()
                self.offer = answer.offer if opening else None
                self._take_refusal(kind, answer.sentence)
            case m.Broke():
                self.details = answer.details
                self._take_refusal(kind, answer.sentence)
            case m.Died():
                self._take_death(answer)

    def _take_data(self, opened: m.Opened) -> None:
        self.busy_changed.emit("")
        old, other = self.data, self.data is None or self.data.file != opened.data.file
        self.data, self.summary, self.advice = opened.data, opened.summary, opened.advice
        self.estimate, self.known = None, {}
        before, self._plan_to_restore = self._plan_to_restore, None
        if before is None and other and self.events:
            self._show_run([], None)
        if self.changes.travels and old is not None:
            self.plan = self.changes.arrive(opened.advice, self.plan)
            if old.test_size != opened.data.test_size:
                choices.keep_test_size(opened.data.test_size)
        else:
            self.plan = before or plan_for(opened.data, opened.advice, None if other else self.plan)
            begins = before is not None or other
            (self.changes.begin if begins else self.changes.add)(opened.data, self.plan)
            self.changes.read_no_more()
        self.data_changed.emit()
        self.advice_changed.emit()
        self.plan_changed.emit()
        self._estimate_timer.start()
        if self._is_given:
            self.file_opened.emit()
        if left_out := opened.advice["left_out"]:
            self.problem.emit(" ".join(left_out))

    def _tell(self, events: list[Event]) -> None:
        if events:
            self._spared.add(len(events))
            self.events_arrived.emit(events)
        for event in events:
            if isinstance(event, (RunFailed, Noticed)):
                self.problem.emit(event.sentence)

    def _take_end(self) -> None:
        if self._keeps_best:
            self._set_state(self.shown.phase)
            self._estimate_timer.start()
        else:
            self._forget_run()

    def _tell_explained(self, answer: m.Explained) -> None:
        if answer.details:
            self.details = answer.details
            self.problem.emit(answer.answer["problem"])
        if self.run_folder is not None and answer.asked.folder == str(self.run_folder):
            self.explained.emit(answer)

    def _leave_questions(self, sentence: str) -> None:
        """The worker broke or is gone: whoever waits for an answer is told."""
        for asked in self._asked.unanswered():
            self._tell_explained(m.Explained(asked, {"problem": sentence}))

    def _take_refusal(self, kind: type | None, sentence: str) -> None:
        if kind is m.Estimate and not self.details:
            nothing = {"seconds": None, "trials": None}
            self.estimate = {**nothing, "sentence": sentence, "unusable": True}
            self.estimate_changed.emit()
            return
        if kind is m.SummarizeHistory and not self.details:
            return  # the estimate says why the plan cannot be carried out
        self.busy_changed.emit("")
        if kind is m.ImportHistory:
            self._asked.forget(kind)
            self.history.refuse(sentence)
            if not self.details:
                return
        if kind is m.Open:
            self.changes.read_no_more()
        if kind is m.Open and self._plan_to_restore is not None:
            self._plan_to_restore, self.other_targets, self.texts = None, (), ()
            if self.events:
                sentence = f"The run is shown without its data. {sentence}"
        if kind in (m.Tune, m.Conclude):
            self._set_state(self.shown.phase)
        self.problem.emit(sentence)

    def _take_death(self, died: m.Died) -> None:
        self.changes.read_no_more()
        self.busy_changed.emit("")
        self.details = died.details
        self._leave_questions(died.sentence)
        abandoned, self._abandons = self._abandons, False
        if self._asked.forget(m.ImportHistory):
            self.history.refuse(died.sentence)
        if not self.is_going_on:
            self.problem.emit(died.sentence)
        elif not self._keeps_best:
            self._forget_run()
        elif abandoned:
            self._set_state("interrupted" if self.run_folder is not None else "idle")
        elif self._was_stopped(died):
            self._conclude()
        else:
            lost = "{count} trials are kept; the current one is lost."
            self._set_state("interrupted" if self.run_folder is not None else "idle")
            self.problem.emit(f"{died.sentence} {lost.format(count=self.shown.state.finished)}")

    def _was_stopped(self, died: m.Died) -> bool:
        """Whether it ended for a person's stop, so that the results are still to come."""
        stopped = self.state == "stopping" and not self._concludes
        return died.forced and stopped and self.run_folder is not None

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.run_changed.emit()
