"""The session: what the window knows, what a person may do, and which signals tell the pages.

The pages speak with nothing else. The session holds plain data only; reading, tuning and exporting
happen in the worker, which keeps the rows to itself.

States of the run: idle (none yet), running, paused, stopping (the best is being worked out),
interrupted (the worker was lost; `resume` goes on), finished.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.preferences import choices
from app.session.history import SessionHistory
from app.session.plan import plan_for, with_model, with_strategy
from app.session.reading import Reading
from app.session.requests import PendingRequests
from app.session.run import ShownRun
from app.worker import messages as m
from app.worker.evaluator import SurrogateEvaluator
from app.worker.thread import WorkerThread
from core.tuning.events import Event, Noticed, RunFailed
from core.tuning.plan import DataPlan, Plan

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary


ESTIMATE_AFTER = 300  # milliseconds after the last change of the plan


class Session(QObject):
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
        shown: the run that is shown: its events, and its state at every moment.
        history: of datasets, for the page about it.
        reading: reads a past run.
        exporters: {name, title, sentence, warning, ending} of everything that can be saved.
    """

    data_changed = Signal()
    file_opened = Signal()  # after `data_changed`, where a person gave a file or a sample
    advice_changed = Signal()
    plan_changed = Signal()
    estimate_changed = Signal()
    known_changed = Signal()
    run_changed = Signal()  # the state, the folder or the results
    run_replaced = Signal()  # another run is shown now: begin again with `shown`
    run_opened = Signal()  # after `run_replaced`, where it is a past run
    event_arrived = Signal(object)
    exported = Signal(str)
    evaluated = Signal(object)  # the answer to `evaluate`
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
        self.details = ""
        self.other_targets: tuple[str, ...] = ()
        self.texts: tuple[str, ...] = ()
        self._opening: DataPlan | None = None
        self._is_given = False  # whether a person gave the file that is opened
        self.exporters: list[dict[str, Any]] = []
        self.history = SessionHistory(self)
        self.history.changed.connect(self._ask_known)
        self.history.import_wanted.connect(self._take_in)
        self._runs_root = runs_root
        self._keeps_best = True
        self._plan_to_restore: Plan | None = None
        self.reading = Reading(self)
        self.reading.done.connect(self._take_past)
        self.reading.refused.connect(self._refuse_past)
        self._worker = worker or WorkerThread()
        self._worker.arrived.connect(self._take)
        self._worker.start()
        self._asked = PendingRequests(self._worker.ask)
        self._evaluator = SurrogateEvaluator()
        self._evaluator.arrived.connect(self.evaluated)

    # The run that is shown --------------------------------------------------------------------

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

    # Data -----------------------------------------------------------------------------------

    def open_file(self, path: str | Path) -> None:
        """Open a file; on success `data_changed` and `advice_changed` follow."""
        self._open(DataPlan(file=str(path), test_size=choices.test_size()), given=True)

    def open_sample(self, name: str) -> None:
        """Open a sample that comes with the program."""
        self._open(DataPlan(file=f"sample:{name}", test_size=choices.test_size()), given=True)

    def open_with_target(self, name: str, task: str = "") -> None:
        """Open the file that was refused because of its target once more, with another one."""
        if self._opening is not None:
            roles = {column: role for column, role in self._opening.roles.items() if column != name}
            other = replace(self._opening, target=name, task=task, roles=roles)
            self._open(other, given=self._is_given)

    def change_data(self, **fields: Any) -> None:
        """Read the same file with other fields of DataPlan: target, task, roles, kinds or test."""
        if self.data is not None:
            self._open(replace(self.data, **fields))

    def _open(self, data: DataPlan, given: bool = False) -> None:
        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then change the data.")
            return
        self.stop_reading()
        name = data.file.removeprefix("sample:").replace("\\", "/").rsplit("/", 1)[-1]
        self.busy_changed.emit(f"Reading {name} …")
        self._opening, self._is_given = data, given
        self._asked.ask(m.Open(data))

    def _ask_estimate(self) -> None:
        if self.plan is not None and not self._is_tuning():
            self._ask_known()  # first: an estimate takes a second
            self._asked.ask(m.Estimate(self.plan))

    def _ask_known(self) -> None:
        if self.plan is not None and not self._is_tuning():
            self._asked.ask(m.SummarizeHistory(self.plan))

    def _take_in(self, wanted: m.ImportHistory) -> None:
        self.busy_changed.emit("Reading the studies …")
        self._asked.ask(wanted)

    # The plan -------------------------------------------------------------------------------

    def choose_model(self, name: str) -> None:
        """Tune this model; the strategy stays if it fits, else it becomes the recommended one."""
        if self.plan is not None and self.advice is not None:
            self._change_plan(with_model(self.plan, name, self.advice))

    def choose_strategy(self, name: str) -> None:
        """Tune in this way, with the options that were chosen for it before."""
        if self.plan is not None and self.advice is not None and name != self.plan.strategy:
            self._change_plan(with_strategy(self.plan, name, self.advice))

    def set_option(self, name: str, value: Any) -> None:
        """Set one option of the strategy."""
        if self.plan is not None:
            self.set_plan(options={**self.plan.options, name: value})

    def set_plan(self, **fields: Any) -> None:
        """Change fields of the plan."""
        if self.plan is not None:
            self._change_plan(self.plan.changed(**fields))

    def _change_plan(self, plan: Plan) -> None:
        if plan != self.plan:
            if self.plan is None or plan.model != self.plan.model:
                self.known = {}
            self.plan, self.estimate = plan, None
            self._asked.forget(m.Estimate)  # the answer on its way is about the plan before
            self.plan_changed.emit()
            self.estimate_changed.emit()
            self._estimate_timer.start()

    # Run ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin a new run of the plan."""
        if self.plan is None or self._is_tuning():
            return
        self.stop_reading()
        self._show_run([], None)
        self._tune(m.Tune(self.plan, root=str(self._root())))

    def pause(self) -> None:
        """Wait after the current trial; the state becomes paused when it is done."""
        if self.state == "running":
            self._asked.tell(m.Pause())

    def resume(self) -> None:
        """Go on after a pause, or after the worker was lost."""
        if self.state == "paused":
            self._asked.tell(m.Resume())
            self._set_state("running")
        elif self.state == "interrupted" and self.run_folder is not None:
            self._tune(m.Tune(self.shown.plan, folder=str(self.run_folder)))

    def stop(self) -> None:
        """End the run and keep the best; results follow even if the worker does not react."""
        if self.state == "interrupted" and self.run_folder is not None:
            self._conclude()
        elif self._is_tuning():
            self._end(keep=True)

    def discard(self) -> None:
        """End the run and delete everything it found."""
        if self._is_tuning() and self._asked.waits_for(m.Tune):
            self._end(keep=False)
        else:
            self._forget_run()

    def more_trials(self, count: int) -> None:
        """Go on with a run that ended, for more trials and without a limit of minutes."""
        if self.state in ("finished", "interrupted") and self.run_folder is not None:
            plan, more = self.shown.plan.changed(minutes=None), self.shown.budget_for(count)
            self._tune(m.Tune(plan, folder=str(self.run_folder), more_trials=more))

    def exclude(self, number: int, excluded: bool = True) -> None:
        """Take a trial out of the competition, or back in; the best is chosen anew."""
        control = m.Exclude(number, excluded)
        if self.state in ("running", "paused"):
            self._asked.tell(control)
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._conclude(control)

    def export(self, format: str, path: str | Path, which: str = "tuned") -> None:
        """Save something of the run that is shown, or another of its models; `exported` tells."""
        if self.run_folder is not None:
            fitting = which != "tuned"
            self.busy_changed.emit("Fitting the model …" if fitting else "Saving …")
            self._asked.ask(m.Export(str(self.run_folder), format, str(path), which))

    def evaluate(self, request: dict[str, Any]) -> None:
        """Evaluate a surrogate for a view; `evaluated` brings the answer."""
        self._evaluator.ask(request)

    # Past runs ------------------------------------------------------------------------------

    def past_runs(self) -> list[RunSummary]:
        """The runs kept on this computer, as `core.tuning.runs.past_runs.list_runs` gives them."""
        from core.tuning.runs.past_runs import list_runs  # not needed for the first paint

        return list_runs(self._root())

    def open_run(self, folder: str | Path) -> None:
        """Show a past run in the same views, and open its data so that it can go on.

        A thread of its own reads it; `run_opened` tells when it is there.
        """
        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then open another.")
            return
        self.busy_changed.emit("Reading the run …")
        self.reading.start(Path(folder))

    def stop_reading(self) -> None:
        """Leave a past run that is being read."""
        if self.reading.goes_on:
            self.reading.stop()
            self.busy_changed.emit("")

    def _take_past(self, run: ShownRun, plan: Plan) -> None:
        self.busy_changed.emit("")
        self._replace_run(run)
        self._plan_to_restore, self._is_given = plan, False
        self.run_opened.emit()
        self._asked.ask(m.Open(plan.data))

    def _refuse_past(self, sentence: str) -> None:
        self.busy_changed.emit("")
        self.problem.emit(sentence)

    def shutdown(self) -> None:
        """End the worker; a run that is going on can be continued at the next start."""
        self.stop_reading()
        self._estimate_timer.stop()
        self._worker.close()
        self._evaluator.shutdown()

    # What the run is made of ----------------------------------------------------------------

    def _is_tuning(self) -> bool:
        return self.state in ("running", "paused", "stopping")

    def _tune(self, request: m.Tune) -> None:
        self._keeps_best = True
        self._asked.ask(request)
        self._set_state("running")

    def _conclude(self, exclude: m.Exclude | None = None) -> None:
        self._keeps_best = True
        self._asked.conclude(m.Conclude(str(self.run_folder), exclude))
        self._set_state("stopping")

    def _end(self, keep: bool) -> None:
        self._keeps_best = keep
        self._asked.tell(m.Stop(keep))
        self._set_state("stopping")

    def _forget_run(self) -> None:
        folder = self.run_folder
        self._asked.forget(m.Tune)
        self._show_run([], None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _show_run(self, events: list[Event], folder: Path | None) -> None:
        self._replace_run(ShownRun(events, folder))

    def _replace_run(self, run: ShownRun) -> None:
        self.shown, self.state = run, run.phase
        self.run_replaced.emit()
        self.run_changed.emit()

    def _root(self) -> Path:
        if self._runs_root is None:
            from core.tuning.runs.run_folder import runs_root

            self._runs_root = runs_root()
        return self._runs_root

    # The worker -----------------------------------------------------------------------------

    def _take(self, batch: list[m.Message]) -> None:
        for message in batch:
            counts, kind = self._asked.answered(message)
            if counts:
                self._match(message.answer, kind)

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
            case Event():
                self._take_event(answer)
            case m.Paused():
                self._set_state("paused")
            case m.Ended():
                self._take_end()
            case m.Exported():
                self.busy_changed.emit("")
                self.exported.emit(answer.path)
            case m.Refused():
                opening = kind is m.Open
                self.other_targets = answer.columns if opening else ()
                self.texts = answer.texts if opening else ()
                self._take_refusal(kind, answer.sentence)
            case m.Broke():
                self.details = answer.details
                self._take_refusal(kind, answer.sentence)
            case m.Died():
                self._take_death(answer)

    def _take_data(self, opened: m.Opened) -> None:
        self.busy_changed.emit("")
        other = self.data is None or self.data.file != opened.data.file
        self.data, self.summary, self.advice = opened.data, opened.summary, opened.advice
        self.estimate, self.known = None, {}
        before, self._plan_to_restore = self._plan_to_restore, None
        if before is None and other and self.events:
            self._show_run([], None)
        self.plan = before or plan_for(opened.data, opened.advice, None if other else self.plan)
        self.data_changed.emit()
        self.advice_changed.emit()
        self.plan_changed.emit()
        self._estimate_timer.start()
        if self._is_given:
            self.file_opened.emit()
        if left_out := opened.advice["left_out"]:
            self.problem.emit(" ".join(left_out))

    def _take_event(self, event: Event) -> None:
        self.shown.take(event)
        self.event_arrived.emit(event)
        if isinstance(event, (RunFailed, Noticed)):
            self.problem.emit(event.sentence)

    def _take_end(self) -> None:
        if self._keeps_best:
            self._set_state(self.shown.phase)
            self._estimate_timer.start()
        else:
            self._forget_run()

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
        if kind is m.Open and self._plan_to_restore is not None:
            self._plan_to_restore, self.other_targets, self.texts = None, (), ()
            sentence = f"The run is shown without its data. {sentence}"
        if kind in (m.Tune, m.Conclude):
            self._set_state("interrupted" if self.events else "idle")
        self.problem.emit(sentence)

    def _take_death(self, died: m.Died) -> None:
        self.busy_changed.emit("")
        if self._asked.forget(m.ImportHistory):
            self.history.refuse(died.sentence)
        if not self._is_tuning():
            self.problem.emit(died.sentence)
        elif not self._keeps_best:
            self._forget_run()
        elif died.forced and self.run_folder is not None:
            self._conclude()
        else:
            lost = "{count} trials are kept; the current one is lost."
            self._set_state("interrupted" if self.run_folder is not None else "idle")
            self.problem.emit(f"{died.sentence} {lost.format(count=self.shown.state.finished)}")

    def _set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.run_changed.emit()
