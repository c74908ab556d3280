"""The state of the session, and how the worker's answers change it."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.preferences import remembered_choices
from app.session.data_undo_stack import DataUndoStack, plan_for
from app.session.run_loader import LatestTask
from app.session.session_history import SessionHistory
from app.session.session_requests import PendingRequests, SessionPrediction
from app.session.session_runs import SessionRuns
from app.session.shown_run import GOING_ON, FrozenEvents, ShownRun
from app.worker import messages as m
from app.worker.evaluator_thread import SurrogateEvaluator
from app.worker.worker_thread import WorkerThread
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.finding import SuggestedChange
from core.tuning.events import Event, ModelSelected, RemarkMade, RunFailed, ThresholdSelected
from core.tuning.guidance.guidance_records import Advice, RunEstimate
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.why.answer_types import NoAnswer

ESTIMATE_AFTER = 300  # milliseconds after the plan changed


class SessionState(QObject):
    """Everything that the pages show; `session.Session` adds a person's actions."""

    data_changed = Signal()
    file_opened = Signal()  # after `data_changed`, where a person opened a file or a sample
    advice_changed = Signal()
    plan_changed = Signal()
    changes_changed = Signal()  # what can be undone, where nothing else changed
    estimate_changed = Signal()
    history_summary_changed = Signal()
    cluster_checked = Signal(object)  # a ClusterChecked
    run_changed = Signal()  # the state, the folder or the results
    run_replaced = Signal()  # another run is shown now: begin again with `shown`
    run_opened = Signal()  # after `run_replaced`, where it is a past run
    events_arrived = Signal(object)  # new events, oldest first
    exported = Signal(str)
    model_given = Signal(str)  # a model file, opened as data
    predictions_saved = Signal(str, int, tuple)  # path, count, sentences on what was changed
    rows_predicted = Signal(object)  # RowsPredicted
    evaluated = Signal(object)  # the answer to `evaluate`
    explained = Signal(object)  # an Explained about the run that is shown
    exporters_changed = Signal()
    problem = Signal(str)
    busy_changed = Signal(str)  # what is waited for; "" for nothing

    def __init__(self, runs_root: Path | None = None, worker: WorkerThread | None = None) -> None:
        super().__init__()
        self.data: DataPlan | None = None
        self.summary: DatasetSummary | None = None
        self.advice: Advice | None = None
        self.plan: Plan | None = None
        self.estimate: RunEstimate | None = None  # None while unknown
        self.history_summary: m.HistorySummary | None = None
        self._estimate_timer = QTimer(self, singleShot=True, interval=ESTIMATE_AFTER)
        self._estimate_timer.timeout.connect(self._ask_estimate)
        self.state = "idle"  # `Session` lists them
        self.shown = ShownRun([], None)
        self._frozen_events = FrozenEvents()  # its events
        self.details = ""  # of the last problem, for “Copy details”; without data
        self.other_targets: tuple[str, ...] = ()  # where the target was refused
        self.texts: tuple[str, ...] = ()  # columns whose topics could be looked for instead
        self.offer: SuggestedChange | None = None  # a change with which a refused file is usable
        self._opening: DataPlan | None = None
        self.changes = DataUndoStack()
        self._is_given = False  # whether a person opened the file
        self.exporters: list[m.ExportFormat] = []
        self.history = SessionHistory(self)
        self.history.changed.connect(self._ask_history_summary)
        self.history.import_wanted.connect(self._import_history)
        self._runs_root = runs_root
        self._keeps_best = True
        self._concludes = False  # whether results are computed from the run's folder
        self._abandons = False  # whether a person does not wait for them
        self._plan_to_restore: Plan | None = None
        self.run_loader = LatestTask(self)
        self.run_loader.done.connect(self._take_past)
        self.runs = SessionRuns(self._find_runs_root, self)
        self.runs.gone.connect(self._leave_deleted)
        self._worker = worker or WorkerThread()
        self._worker.arrived.connect(self._handle_messages)
        self._requests = requests = PendingRequests(self._worker.ask)
        stop_predicting = partial(requests.cancel, m.PredictRows)
        self.prediction = SessionPrediction(requests.ask, stop_predicting, self)
        self._evaluator = SurrogateEvaluator()
        self._evaluator.arrived.connect(self.evaluated)
        # Last: what fails above leaves no process behind.
        self._worker.start()

    # Of open data, for widgets that are shown only then -----------------------------------------

    @property
    def current_data(self) -> DataPlan:
        assert self.data is not None
        return self.data

    @property
    def current_summary(self) -> DatasetSummary:
        assert self.summary is not None
        return self.summary

    @property
    def current_plan(self) -> Plan:
        assert self.plan is not None
        return self.plan

    # The run that is shown --------------------------------------------------------------------

    @property
    def is_going_on(self) -> bool:
        return self.state in GOING_ON

    @property
    def events(self) -> list[Event]:
        return self.shown.events

    @property
    def results(self) -> Results | None:
        return self.shown.state.results if self.state in ("stopping", "finished") else None

    @property
    def run_folder(self) -> Path | None:
        return self.shown.folder

    @property
    def awaits_data(self) -> bool:
        """Whether the data of a past run are being read; those before are open until then."""
        return self._plan_to_restore is not None

    def _ask_estimate(self) -> None:
        if self.plan is not None and not self.is_going_on:
            # First: an estimate takes a second, and the worker answers in turn.
            self._ask_history_summary()
            self._requests.ask(m.Estimate(self.plan))

    def _ask_history_summary(self) -> None:
        if self.plan is not None and not self.is_going_on:
            self._requests.ask(m.SummarizeHistory(self.plan))

    def _import_history(self, request: m.ImportHistory) -> None:
        self.busy_changed.emit("Reading the studies …")
        self._requests.ask(request)

    # The plan -------------------------------------------------------------------------------

    def _change_plan(self, plan: Plan) -> None:
        self.changes.record_plan(plan)
        if plan != self.plan:
            if self.plan is None or plan.model != self.plan.model:
                self.history_summary = None
            self.plan, self.estimate = plan, None
            # The answer on its way is about the plan before.
            self._requests.forget_kind(m.Estimate)
            self.plan_changed.emit()
            self.estimate_changed.emit()
            self._estimate_timer.start()

    # The run --------------------------------------------------------------------------------

    def _conclude(
        self,
        exclude: m.Exclude | None = None,
        pick: ModelSelected | ThresholdSelected | None = None,
    ) -> None:
        self._keeps_best = self._concludes = True
        self._requests.ask(m.Conclude(str(self.run_folder), exclude, pick))
        self._set_state("stopping")

    def _forget_run(self) -> None:
        folder = self.run_folder
        self._requests.forget_run()
        self._show_run([], None)
        if folder is not None and folder.exists():
            self.runs.delete_runs([str(folder)])

    def _show_run(self, events: list[Event], folder: Path | None) -> None:
        self._replace_run(ShownRun(events, folder))

    def _replace_run(self, run: ShownRun) -> None:
        self.shown, self.state = run, run.phase
        self._frozen_events.begin_again(len(run.events))
        self.run_replaced.emit()
        self.run_changed.emit()

    # Past runs ------------------------------------------------------------------------------

    def _take_past(self, loaded: tuple[ShownRun, Plan] | str | None) -> None:
        self.busy_changed.emit("")
        if loaded is None or isinstance(loaded, str):
            self.problem.emit(loaded or "The run cannot be read.")
            return
        run, plan = loaded
        is_followed = run.state.started is self.shown.state.started
        self._replace_run(run)
        if is_followed:
            return
        self._plan_to_restore, self._is_given = plan, False
        self.run_opened.emit()
        self._read_data(plan.data)

    def _read_data(self, data: DataPlan) -> None:
        self.changes.read_no_more()
        self._requests.ask(m.OpenData(data))

    def _find_runs_root(self) -> Path:
        if self._runs_root is None:
            from core.tuning.runs.run_folder import runs_root

            self._runs_root = runs_root()
        return self._runs_root

    def _leave_deleted(self, folder: Path) -> None:
        if self.run_folder == folder and not self.is_going_on:
            self._show_run([], None)

    # Answers --------------------------------------------------------------------------------

    def _handle_messages(self, batch: list[m.Message]) -> None:
        # Emitted together: a cheap run has hundreds in one batch, and the page redraws once.
        events: list[Event] = []
        for message in batch:
            is_awaited, kind = self._requests.answered(message)
            if not is_awaited:
                continue
            if isinstance(message.answer, Event):
                self.shown.add_events([message.answer])
                events.append(message.answer)
                continue
            self._emit_events(events)
            events = []
            self._handle_answer(message.answer, kind)
        self._emit_events(events)

    def _handle_answer(self, answer: m.Answer, kind: type | None) -> None:
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
                self.history_summary = answer
                self.history_summary_changed.emit()
            case m.HistoryImported():
                self.busy_changed.emit("")
                self.history.take_answer(answer.imported)
            case m.FolderMade():
                self.shown.folder = Path(answer.folder)
                self.run_changed.emit()
            case m.Paused():
                self._set_state("paused")
            case m.RunEnded():
                self._take_end()
            case m.Exported():
                self.busy_changed.emit("")
                self.exported.emit(answer.path)
                if answer.remark:
                    self.problem.emit(answer.remark)
            case m.ClusterChecked():
                self.cluster_checked.emit(answer)
            case m.PredictionsSaved():
                self.busy_changed.emit("")
                self.predictions_saved.emit(answer.path, answer.count, answer.sentences)
            case m.Explained():
                self._tell_explained(answer)
            case m.UseProgress():
                self.busy_changed.emit("")  # the page has a progress bar
                self.prediction.take_answer(answer)
            case m.ModelDescribed() | m.RowPredicted() | m.TestRowFound():
                self.prediction.take_answer(answer)
            case m.RowsPredicted():
                self.busy_changed.emit("")
                self.rows_predicted.emit(answer)
            case m.InputRefused():
                is_opening = kind is m.OpenData
                self.other_targets = answer.columns if is_opening else ()
                self.texts = answer.texts if is_opening else ()
                self.offer = answer.offer if is_opening else None
                self._take_refusal(kind, answer.sentence)
            case m.WorkerDefect():
                self.details = answer.details
                self._take_refusal(kind, answer.sentence)
            case m.WorkerDied():
                self._take_death(answer)

    def _take_data(self, opened: m.Opened) -> None:
        self.busy_changed.emit("")
        old_data, is_other_file = self.data, self.data is None or self.data.file != opened.data.file
        self.data, self.summary, self.advice = opened.data, opened.summary, opened.advice
        self.estimate = self.history_summary = None
        restored_plan, self._plan_to_restore = self._plan_to_restore, None
        # A run of other data would be told in the words of these.
        if restored_plan is None and is_other_file and self.events:
            self._show_run([], None)
        if self.changes.is_travelling and old_data is not None:
            self.plan = self.changes.end_travel(opened.advice, self.plan)
            if old_data.test_size != opened.data.test_size:
                remembered_choices.remember_test_size(opened.data.test_size)
        else:
            current_plan = None if is_other_file else self.plan
            self.plan = restored_plan or plan_for(opened.data, opened.advice, current_plan)
            is_new = restored_plan is not None or is_other_file
            (self.changes.reset_to if is_new else self.changes.add_change)(opened.data, self.plan)
            self.changes.read_no_more()
        self.data_changed.emit()
        self.advice_changed.emit()
        self.plan_changed.emit()
        self._estimate_timer.start()
        if self._is_given:
            self.file_opened.emit()
        if left_out := opened.advice.left_out:
            self.problem.emit(" ".join(left_out))

    def _emit_events(self, events: list[Event]) -> None:
        if events:
            self._frozen_events.add_events(len(events))
            self.events_arrived.emit(events)
        for event in events:
            if isinstance(event, (RunFailed, RemarkMade)):
                self.problem.emit(event.sentence)

    def _take_end(self) -> None:
        if self._keeps_best:
            self._set_state(self.shown.phase)
            self._estimate_timer.start()
        else:
            self._forget_run()

    def _tell_explained(self, answer: m.Explained) -> None:
        if answer.details and isinstance(answer.answer, NoAnswer):
            self.details = answer.details
            self.problem.emit(answer.answer.problem)
        if self.run_folder is not None and answer.request.folder == str(self.run_folder):
            self.explained.emit(answer)

    def _take_refusal(self, kind: type | None, sentence: str) -> None:
        if kind is m.Estimate and not self.details:
            self.estimate = RunEstimate(sentence, unusable=True)
            self.estimate_changed.emit()
            return
        if kind is m.SummarizeHistory and not self.details:
            # The estimate, which is asked for beside it, says why the plan cannot be carried out.
            return
        self.busy_changed.emit("")
        if kind is m.ImportHistory:
            self.history.report_refusal(sentence)
            if not self.details:
                return
        if kind is m.OpenData:
            self.changes.read_no_more()
        if kind is m.OpenData and self._plan_to_restore is not None:
            self._plan_to_restore, self.other_targets, self.texts = None, (), ()
            # The run itself is read; only views of single rows need its data.
            if self.events:
                sentence = f"The run is shown without its data. {sentence}"
        if kind in (m.Tune, m.Conclude):
            self._set_state(self.shown.phase)
        self.problem.emit(sentence)

    def _take_death(self, died: m.WorkerDied) -> None:
        self.changes.read_no_more()
        self._plan_to_restore = None
        self.busy_changed.emit("")
        self.details = died.details
        for question in self._requests.forget_kind(m.Explain):
            self._tell_explained(m.Explained(question, NoAnswer(died.sentence)))
        is_abandoned, self._abandons = self._abandons, False
        if self._requests.forget_kind(m.ImportHistory):
            self.history.report_refusal(died.sentence)
        if not self.is_going_on:
            self.problem.emit(died.sentence)
        elif not self._keeps_best:
            self._forget_run()
        elif is_abandoned:
            self._set_state("interrupted" if self.run_folder is not None else "idle")
        # The worker did not react to the stop and was killed: its folder has all finished trials.
        elif self._was_stopped(died):
            self._conclude()
        else:
            loss = f"{self.shown.state.finished} trials are kept; the current one is lost."
            self._set_state("interrupted" if self.run_folder is not None else "idle")
            self.problem.emit(f"{died.sentence} {loss}")

    def _was_stopped(self, died: m.WorkerDied) -> bool:
        is_stopping = self.state == "stopping" and not self._concludes
        return died.forced and is_stopping and self.run_folder is not None

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.run_changed.emit()
