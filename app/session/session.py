"""The session: what a person may do, with the signals of `SessionState`."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.preferences import preferences, remembered_choices
from app.session.data_undo_stack import with_model, with_strategy
from app.session.run_loader import load_run
from app.session.session_state import SessionState
from app.session.shown_run import ShownRun
from app.worker import messages as m
from app.worker.evaluator_process import EvaluationRequest
from core.datasets.files.addresses import keep_pasted, with_sheet
from core.datasets.finding import SuggestedChange
from core.errors import UnusableError
from core.space import Setting
from core.tuning.events import ModelSelected, ThresholdSelected
from core.tuning.guidance.guidance_records import Advice
from core.tuning.plan import DataPlan, Plan

PASTED = "pasted"  # the folder of pasted tables below the runs


class Session(SessionState):
    """The actions on data, plan, run and model.

    States of the run: idle (none yet), running, paused, stopping (results are computed),
    interrupted (the worker was lost, or the results abandoned; `resume` continues), finished,
    running elsewhere (another process writes it).
    """

    # Data -----------------------------------------------------------------------------------

    def open_file(self, path: str | Path) -> None:
        """Open a file, the folder of a run, or a model (`model_given`)."""
        # Not needed for the first paint.
        from core.export.exportable_models import MODEL_ENDINGS

        if os.path.isfile(Path(path, "plan.json")):
            self.open_run(path)
        elif str(path).lower().endswith(MODEL_ENDINGS):
            self.model_given.emit(str(path))
        else:
            self._open_given(str(path))

    def open_pasted(self, text: str) -> None:
        if path := self._keep_pasted(text):
            self.open_file(path)

    def _keep_pasted(self, text: str) -> Path | None:
        try:
            return keep_pasted(text, self._find_runs_root() / PASTED)
        except UnusableError as error:
            self.problem.emit(error.sentence)
            return None

    def open_sheet(self, name: str) -> None:
        if self.data is not None:
            self.open_file(with_sheet(self.data.file, name))

    def open_sample(self, name: str) -> None:
        self._open_given(f"sample:{name}")

    def _open_given(self, file: str) -> None:
        data = DataPlan(file=file, test_size=remembered_choices.test_size())
        self._open_data(data, is_given=True)

    def open_with_target(self, name: str, task: str = "") -> None:
        if self._opening is not None:
            roles = {column: role for column, role in self._opening.roles.items() if column != name}
            new_data = replace(self._opening, target=name, task=task, roles=roles)
            self._open_data(new_data, is_given=self._is_given)

    def open_otherwise(self, change: SuggestedChange) -> None:
        if self._opening is not None:
            self._open_data(replace(self._opening, **change.fields), is_given=self._is_given)

    def change_data(self, **fields: Any) -> None:
        if self.data is not None:
            self._open_data(replace(self.requested_data, **fields))

    @property
    def requested_data(self) -> DataPlan:
        """The data with a change that is still being read."""
        assert self.data is not None
        reading = self.changes.reading
        return reading if reading is not None and reading.file == self.data.file else self.data

    def undo_change(self) -> None:
        """Of data or groups; a change being read is cancelled."""
        if self.data is None or not self._may_begin():
            return
        # A change that is still being read is taken back by not waiting for it.
        if self.requested_data != self.data and not self.changes.is_travelling:
            self._requests.forget_kind(m.OpenData)
            self.changes.read_no_more()
            self.busy_changed.emit("")
            self.changes_changed.emit()
        else:
            self._travel_by(-1)

    def redo_change(self) -> None:
        self._travel_by(1)

    def _travel_by(self, offset: int) -> None:
        reading = self.changes.reading
        if self.data is None or not self._may_begin():
            return
        if reading is not None and reading.file != self.data.file:
            # Another file is on its way, of which nothing was changed yet.
            return
        step = self.changes.begin_travel(offset)
        if step is None:
            return
        if step.data != self.data:
            self._begin_reading(step.data)
            return
        # A step that was skipped, by going on before it was read, is read no more.
        self._requests.forget_kind(m.OpenData)
        self.busy_changed.emit("")
        plan = self.changes.end_travel(self.advice or Advice(), self.plan)
        if plan is not None:
            self._change_plan(plan)
        self.changes_changed.emit()

    def _may_begin(self, action: str = "change the data") -> bool:
        if self.is_going_on:
            self.problem.emit(f"A run is in progress. Stop it first, then {action}.")
        return not self.is_going_on

    def _open_data(self, data: DataPlan, is_given: bool = False) -> None:
        if self._may_begin():
            self.changes.begin_reading(data)
            self._begin_reading(data, is_given)

    def _begin_reading(self, data: DataPlan, is_given: bool = False) -> None:
        self.stop_reading()
        name = data.file.removeprefix("sample:").replace("\\", "/").rsplit("/", 1)[-1]
        self.busy_changed.emit(f"Reading {name} …")
        self._opening, self._is_given = data, is_given
        self._requests.ask(m.OpenData(data))

    def return_to(self, data: DataPlan, plan: Plan | None, run: ShownRun) -> None:
        if not self._may_begin():
            return
        self._replace_run(run)
        self._plan_to_restore, self._is_given = plan, False
        self._opening = data
        self._read_data(data)

    @property
    def requested_file(self) -> str:
        return self._opening.file if self._opening is not None else ""

    # Past runs ------------------------------------------------------------------------------

    def open_run(self, folder: str | Path) -> None:
        """`run_opened` follows."""
        if self._may_begin("open another"):
            self.busy_changed.emit("Reading the run …")
            self.run_loader.start(partial(load_run, Path(folder)))

    def plan_again(self, folder: str | Path, seed: int) -> None:
        """Plan a past run with another seed, which splits the rows again."""
        from core.tuning.runs.run_folder import RunFolder

        if not self._may_begin("plan another"):
            return
        try:
            plan = RunFolder.open(folder).plan.changed(seed=seed)
        except UnusableError as error:
            self.problem.emit(error.sentence)
            return
        self.stop_reading()
        self._show_run([], None)
        self.busy_changed.emit("Reading the data …")
        self._plan_to_restore, self._is_given = plan, False
        self._read_data(plan.data)

    def stop_reading(self) -> None:
        if self.run_loader.goes_on:
            self.run_loader.stop()
            self.busy_changed.emit("")

    # The plan -------------------------------------------------------------------------------

    def choose_model(self, name: str) -> None:
        """The strategy stays if it fits, else it becomes the recommended one."""
        if self.plan is not None and self.advice is not None:
            self._change_plan(with_model(self.plan, name, self.advice))

    def choose_strategy(self, name: str) -> None:
        if self.plan is not None and self.advice is not None and name != self.plan.strategy:
            self._change_plan(with_strategy(self.plan, name, self.advice))

    def set_option(self, name: str, value: Any) -> None:
        if self.plan is not None:
            self.set_plan(options={**self.plan.options, name: value})

    def set_plan(self, **fields: Any) -> None:
        if self.plan is not None:
            plan = self.plan.changed(**fields)
            if self.data is not None and plan.groups != self.plan.groups:
                self.changes.add_change(self.data, plan)
            self._change_plan(plan)

    # Run ------------------------------------------------------------------------------------

    def start(self) -> None:
        if self.plan is None or self.is_going_on:
            return
        self.stop_reading()
        self._show_run([], None)
        self._start_tuning(m.Tune(self.plan, root=str(self._find_runs_root())))

    def pause(self) -> None:
        if self.state == "running":
            self._requests.send_control(m.Pause())

    def resume(self) -> None:
        """Continue after a pause, or after the worker was lost."""
        if self.state == "paused":
            self._requests.send_control(m.Resume())
            self._set_state("running")
        elif self.state == "interrupted" and self.run_folder is not None:
            self._go_on(self.shown.plan)

    def look_again(self) -> None:
        """`run_replaced` follows."""
        folder, is_free = self.run_folder, not self.run_loader.goes_on
        if self.state == "running elsewhere" and folder is not None and is_free:
            self.run_loader.start(partial(load_run, folder, started=self.shown.state.started))

    def stop(self) -> None:
        """Keep the best; results follow even if the worker does not react."""
        if self.state == "interrupted" and self.run_folder is not None:
            self._conclude()
        elif self.is_going_on:
            self._end_run(keep=True)

    def abandon_run(self) -> None:
        """Do not wait for the results; the run is interrupted."""
        if self.state == "stopping":
            self._abandons = True
            self._requests.send_control(m.AbandonRun())

    def discard_run(self) -> None:
        if self.is_going_on and self._requests.has_run:
            self._end_run(keep=False)
        else:
            self._forget_run()

    def more_trials(self, count: int) -> None:
        """Continue without a limit of minutes."""
        if self.state in ("finished", "interrupted") and self.run_folder is not None:
            # With its limit of minutes, which are spent, it would end at once.
            self._go_on(self.shown.plan.changed(minutes=None), self.shown.budget_for(count))

    def more_minutes(self) -> None:
        """Continue for as many minutes as the run had first."""
        plan, folder = self.shown.plan, self.run_folder
        if self.state in ("finished", "interrupted") and folder is not None and plan.minutes:
            spent = self.shown.state.seconds
            self._go_on(plan.with_more_minutes(plan.minutes, spent))

    def _go_on(self, plan: Plan, more: int = 0) -> None:
        """Continue, first with the entered settings not tried yet."""
        settings = tuple(self.shown.wanted)
        folder = str(self.run_folder)
        self._start_tuning(m.Tune(plan, folder=folder, more_trials=more, settings=settings))

    def try_setting(self, setting: Setting) -> None:
        """Try it next, beyond the budget; an ended run continues for it alone."""
        if self.state in ("running", "paused"):
            self.shown.wanted.append(setting)
            self._requests.send_control(m.TrySetting(setting))
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            is_finished = self.state == "finished"
            plan = self.shown.plan.changed(minutes=None) if is_finished else self.shown.plan
            more = self.shown.budget_for(0) if is_finished else 0
            self.shown.wanted.append(setting)
            self._go_on(plan, more)

    @property
    def may_widen(self) -> bool:
        """Whether the data of the shown run are open."""
        return self.plan is not None and self.plan.data.file == self.shown.plan.data.file

    def widen_ranges(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        if self.plan is None or not self.may_widen:
            return
        ran = self.shown.plan
        wider = {**ran.ranges, **{name: list(ends) for name, ends in ranges.items()}}
        of_run = {name: getattr(ran, name) for name in ("model", "strategy", "options", "fixed")}
        self._change_plan(self.plan.changed(**of_run, ranges=wider))

    def exclude_trial(self, number: int, excluded: bool = True) -> None:
        control = m.Exclude(number, excluded)
        if self.state in ("running", "paused"):
            self._requests.send_control(control)
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._conclude(control)

    def select_model(self, kind: str, number: int | None = None) -> None:
        """Best, simplest, average, default or trial; its results follow."""
        if self.state == "finished" and self.run_folder is not None:
            self._conclude(pick=ModelSelected(kind=kind, number=number))

    def select_threshold(self, value: float | None) -> None:
        """None for the run's; its results follow."""
        if self.state == "finished" and self.run_folder is not None:
            self._conclude(pick=ThresholdSelected(value=value))

    def export_model(
        self, format: str, path: str | Path, which: str = "tuned", examples: bool = True
    ) -> None:
        """`exported` follows."""
        if self.run_folder is not None:
            self.busy_changed.emit("Saving …" if which == "tuned" else "Fitting the model …")
            folder = str(self.run_folder)
            self._requests.ask(m.Export(folder, format, str(path), which, examples))

    def predict_rows(self, file: str | Path, model: str = "", trust: bool = False) -> None:
        """Predict with the shown run or a model file; `rows_predicted` follows."""
        if self._may_begin("predict") and (model or (self.run_folder and self.results)):
            folder = "" if model else str(self.run_folder)
            self.busy_changed.emit("Predicting …")
            self._requests.ask(m.PredictRows(folder, str(file), model, trust))

    def predict_pasted(self, text: str, model: str = "", trust: bool = False) -> None:
        if path := self._keep_pasted(text):
            self.predict_rows(path, model, trust)

    def sort_predictions(self, least_sure_first: bool) -> None:
        """`rows_predicted` follows."""
        if self._may_begin("sort the rows"):
            self.busy_changed.emit("Sorting …")
            self._requests.ask(m.SortPredictions(least_sure_first))

    def save_predictions(self, path: str | Path, least_sure_first: bool = False) -> None:
        """`predictions_saved` follows."""
        if self._may_begin("save the table"):
            self._requests.ask(m.SavePredictions(str(path), least_sure_first))

    def check_cluster(self) -> None:
        """`cluster_checked` follows."""
        cluster = chosen_cluster()
        if self.is_going_on:
            self.cluster_checked.emit(m.ClusterChecked("A run is in progress. Try it afterwards."))
        elif cluster is None:
            self.cluster_checked.emit(m.ClusterChecked("Trials run on this computer."))
        else:
            self._requests.ask(m.CheckCluster(cluster))

    def explain(self, question: str, column: str = "") -> None:
        if self.run_folder is not None and self.state == "finished":
            self._requests.ask(m.Explain(str(self.run_folder), question, column))

    def leave_question(self, question: str) -> None:
        self._requests.cancel(m.Explain, question)

    def evaluate(self, request: EvaluationRequest) -> None:
        """`evaluated` follows."""
        self._evaluator.ask(request)

    # The end --------------------------------------------------------------------------------

    def begin_shutdown(self) -> None:
        """Without waiting; a run that goes on can be continued later."""
        self.stop_reading()
        self._estimate_timer.stop()
        self._worker.begin_shutdown()
        self._evaluator.begin_shutdown()

    def shutdown(self) -> None:
        """End the worker, and wait for it (some seconds where it hangs)."""
        self.begin_shutdown()
        self.run_loader.shutdown()
        self.runs.shutdown()
        self._worker.shutdown()
        self._evaluator.shutdown()

    # Steps of these -----------------------------------------------------------------------

    def _start_tuning(self, request: m.Tune) -> None:
        self._keeps_best, self._concludes = True, False
        self._requests.ask(replace(request, cluster=chosen_cluster()))
        self._set_state("running")

    def _end_run(self, keep: bool) -> None:
        self._keeps_best = keep
        self._requests.send_control(m.StopRun(keep))
        self._set_state("stopping")


def chosen_cluster() -> m.Cluster | None:
    """None for this computer."""
    match preferences.execution_mode():
        case preferences.LOCAL:
            return m.Cluster("local")
        case preferences.SCHEDULER:
            return m.Cluster(*map(preferences.cluster_field, preferences.CLUSTER_FIELDS))
    return None
