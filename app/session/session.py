"""The session: what the window knows, what a person may do, and which signals tell the pages.

The pages speak with nothing else. The session holds plain data only; reading, tuning and exporting
happen in the worker, which keeps the rows to itself.

States of the run: idle (none yet), running, paused, stopping (the best is being worked out),
interrupted (the worker was lost, or nobody waited; `resume` goes on), finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.preferences import choices, cluster
from app.session.knowledge import Known
from app.session.plan import with_model, with_strategy
from app.worker import messages as m
from core.datasets.files.addresses import on_sheet
from core.errors import UnusableError
from core.export.choices import MODEL_ENDINGS
from core.tuning.events import ModelPicked
from core.tuning.plan import DataPlan

if TYPE_CHECKING:
    from core.tuning.plan import Plan
    from core.tuning.runs.past_runs import PastRuns, RunSummary

PASTED = "pasted"  # the folder of pasted tables, among the runs


class Session(Known):
    """What a person may ask; what is known and which signals tell of it is in `Known`."""

    # Data -----------------------------------------------------------------------------------

    def open_file(self, path: str | Path) -> None:
        """Open a file; on success `data_changed` and `advice_changed` follow.

        A model is no data: `model_given` tells of it. The folder of a run is opened as such.
        """
        if (Path(path) / "plan.json").is_file():
            self.open_run(path)
            return
        if str(path).lower().endswith(MODEL_ENDINGS):
            self.model_given.emit(str(path))
            return
        self._open(DataPlan(file=str(path), test_size=choices.test_size()), given=True)

    def open_pasted(self, text: str) -> None:
        """Open a table that was copied elsewhere, as a file that the program keeps."""
        from core.datasets.files.pasted import keep_pasted

        try:
            path = keep_pasted(text, self._root() / PASTED)
        except UnusableError as error:
            self.problem.emit(error.sentence)
            return
        self.open_file(path)

    def open_sheet(self, name: str) -> None:
        """Open another sheet of the same workbook."""
        if self.data is not None:
            self.open_file(on_sheet(self.data.file, name))

    def open_sample(self, name: str) -> None:
        """Open a sample that comes with the program."""
        self._open(DataPlan(file=f"sample:{name}", test_size=choices.test_size()), given=True)

    def open_with_target(self, name: str, task: str = "") -> None:
        """Open the file that was refused because of its target once more, with another one."""
        if self._opening is not None:
            roles = {column: role for column, role in self._opening.roles.items() if column != name}
            other = replace(self._opening, target=name, task=task, roles=roles)
            self._open(other, given=self._is_given)

    def open_otherwise(self, fields: dict[str, Any]) -> None:
        """Open the file that was refused once more, with other fields of DataPlan."""
        if self._opening is not None:
            self._open(replace(self._opening, **fields), given=self._is_given)

    def change_data(self, **fields: Any) -> None:
        """Read the same file with other fields of DataPlan: target, task, roles, kinds or test."""
        if self.data is not None:
            self._open(replace(self.asked_data, **fields))

    @property
    def asked_data(self) -> DataPlan:
        """The data as they are asked for: with a change that is still being read, if there is."""
        assert self.data is not None
        reading = self.changes.reading
        return reading if reading is not None and reading.file == self.data.file else self.data

    def undo(self) -> None:
        """Take the last change of the data or the groups back; one still being read at once."""
        if self.data is None or not self._may_change():
            return
        if self.asked_data != self.data and not self.changes.travels:
            self._asked.forget(m.Open)
            self.changes.read_no_more()
            self.busy_changed.emit("")
            self.changes_changed.emit()
        else:
            self._travel(-1)

    def redo(self) -> None:
        """Make the change again that was undone last."""
        self._travel(1)

    def _travel(self, by: int) -> None:
        reading = self.changes.reading
        if self.data is None or not self._may_change():
            return
        if reading is not None and reading.file != self.data.file:
            return  # another file is on its way
        step = self.changes.go(by)
        if step is None:
            return
        if step.data != self.data:
            self._begin_reading(step.data)
            return
        self._asked.forget(m.Open)  # of a step between that is not wanted any more
        self.busy_changed.emit("")
        plan = self.changes.arrive(self.advice or {}, self.plan)
        if plan is not None:
            self._change_plan(plan)
        self.changes_changed.emit()

    def _may_change(self) -> bool:
        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then change the data.")
        return not self._is_tuning()

    def _open(self, data: DataPlan, given: bool = False) -> None:
        if self._may_change():
            self.changes.read(data)
            self._begin_reading(data, given)

    def _begin_reading(self, data: DataPlan, given: bool = False) -> None:
        self.stop_reading()
        name = data.file.removeprefix("sample:").replace("\\", "/").rsplit("/", 1)[-1]
        self.busy_changed.emit(f"Reading {name} …")
        self._opening, self._is_given = data, given
        self._asked.ask(m.Open(data))

    def return_to(self, data: DataPlan, plan: Plan | None) -> None:
        """Open data again that were open before, with the plan that there was."""
        if not self._may_change():
            return
        self._show_run([], None)
        self._plan_to_restore, self._is_given = plan, False
        self._opening = data
        self._read(data)

    @property
    def opens(self) -> str:
        """The file that was asked for last; "" before the first."""
        return self._opening.file if self._opening is not None else ""

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
            plan = self.plan.changed(**fields)
            if self.data is not None and plan.groups != self.plan.groups:
                self.changes.add(self.data, plan)
            self._change_plan(plan)

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
            self._go_on(self.shown.plan)

    def stop(self) -> None:
        """End the run and keep the best; results follow even if the worker does not react."""
        if self.state == "interrupted" and self.run_folder is not None:
            self._conclude()
        elif self._is_tuning():
            self._end(keep=True)

    def abandon(self) -> None:
        """Do not wait for the results any longer; the run is interrupted then, as it was kept."""
        if self.state == "stopping":
            self._abandons = True
            self._asked.tell(m.Abandon())

    def discard(self) -> None:
        """End the run and delete everything it found."""
        if self._is_tuning() and self._asked.waits_for(m.Tune):
            self._end(keep=False)
        else:
            self._forget_run()

    def more_trials(self, count: int) -> None:
        """Go on with a run that ended, for more trials and without a limit of minutes."""
        if self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._go_on(self.shown.plan.changed(minutes=None), self.shown.budget_for(count))

    def _go_on(self, plan: Plan, more: int = 0) -> None:
        """Go on with the run that is shown; what was entered and not tried yet comes first."""
        wanted = tuple(self.shown.wanted)
        self._tune(m.Tune(plan, folder=str(self.run_folder), more_trials=more, settings=wanted))

    def try_setting(self, setting: dict[str, Any]) -> None:
        """Try a setting next, beyond the budget; a run that ended goes on for this one alone."""
        if self.state in ("running", "paused"):
            self.shown.wanted.append(setting)
            self._asked.tell(m.TrySetting(setting))
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            ended = self.state == "finished"
            plan = self.shown.plan.changed(minutes=None) if ended else self.shown.plan
            more = self.shown.budget_for(0) if ended else 0
            self.shown.wanted.append(setting)
            self._go_on(plan, more)

    @property
    def may_widen(self) -> bool:
        """Whether the data of the run that is shown are open, so that it can be planned again."""
        plan = self.plan
        return plan is not None and plan.data.file == self.shown.plan.data.file

    def widen(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Plan the run that is shown once more, with wider ranges of some settings."""
        if self.plan is None or not self.may_widen:
            return
        ran = self.shown.plan
        self._change_plan(
            self.plan.changed(
                model=ran.model,
                strategy=ran.strategy,
                options=ran.options,
                ranges={**ran.ranges, **{name: list(ends) for name, ends in ranges.items()}},
                fixed=ran.fixed,
            )
        )

    def exclude(self, number: int, excluded: bool = True) -> None:
        """Take a trial out of the competition, or back in; the best is chosen anew."""
        control = m.Exclude(number, excluded)
        if self.state in ("running", "paused"):
            self._asked.tell(control)
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._conclude(control)

    def pick(self, kind: str, number: int | None = None) -> None:
        """Take another model away than the run did; its results follow.

        Args:
            kind: best, simplest, average, default or trial.
            number: of the trial.
        """
        if self.state == "finished" and self.run_folder is not None:
            self._conclude(pick=ModelPicked(kind=kind, number=number))

    def export(
        self, format: str, path: str | Path, which: str = "tuned", examples: bool = True
    ) -> None:
        """Save something of the run that is shown, or another of its models; `exported` tells."""
        if self.run_folder is not None:
            fitting = which != "tuned"
            self.busy_changed.emit("Fitting the model …" if fitting else "Saving …")
            wanted = m.Export(str(self.run_folder), format, str(path), which, examples)
            self._asked.ask(wanted)

    def use(self, file: str | Path, model: str = "", trust: bool = False) -> None:
        """Predict the rows of a file with the run that is shown, or a model file; `used` tells."""
        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then predict.")
        elif model or (self.run_folder is not None and self.results):
            folder = "" if model else str(self.run_folder)
            self.busy_changed.emit("Predicting …")
            self._asked.ask(m.Use(folder, str(file), model, trust))

    def use_pasted(self, text: str, model: str = "", trust: bool = False) -> None:
        """The same of rows that were copied elsewhere, with their header."""
        from core.datasets.files.pasted import keep_pasted

        try:
            self.use(keep_pasted(text, self._root() / PASTED), model, trust)
        except UnusableError as error:
            self.problem.emit(error.sentence)

    def save_used(self, path: str | Path) -> None:
        """Save all that `used` told last as CSV; `predicted` tells when it is done."""
        if not self._is_tuning():
            self._asked.ask(m.SaveUsed(str(path)))

    def predict(self, wanted: m.Predict) -> None:
        """Predict rows with a model file; `predicted` tells when it is done."""
        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then predict.")
            return
        self.busy_changed.emit("Predicting …")
        self._asked.ask(wanted)

    def try_cluster(self) -> None:
        """See whether the cluster that was chosen answers; `cluster_tried` tells."""
        cluster = chosen_cluster()
        if self._is_tuning():
            self.cluster_tried.emit(m.ClusterTried("A run is going on. Try it afterwards."))
        elif cluster is None:
            self.cluster_tried.emit(m.ClusterTried("Trials run on this computer."))
        else:
            self._asked.ask(m.TryCluster(cluster))

    def explain(self, question: str, **options: Any) -> None:
        """Ask a question about the run that is shown; `explained` brings the answer."""
        if self.run_folder is not None and self.state == "finished":
            self._asked.ask(m.Explain(str(self.run_folder), question, options))

    def leave_question(self, question: str) -> None:
        """Let a question be answered no further."""
        self._asked.leave(question)

    def warm_up(self) -> None:
        """Start the process that evaluates surrogates, before anybody waits for it."""
        self._evaluator.warm_up()

    def evaluate(self, request: dict[str, Any]) -> None:
        """Evaluate a surrogate for a view; `evaluated` brings the answer."""
        self._evaluator.ask(request)

    # Past runs ------------------------------------------------------------------------------

    def past_runs(self) -> list[RunSummary]:
        """The runs kept on this computer, newest first."""
        return self.list_runs().runs

    def list_runs(self) -> PastRuns:
        """The same, with the folders that are left out because they cannot be read."""
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

    def plan_again(self, folder: str | Path, seed: int) -> None:
        """Plan a past run once more with another seed, which divides the rows anew.

        The data are opened, and `plan_changed` tells; nothing is tuned yet.
        """
        from core.tuning.runs.run_folder import RunFolder

        if self._is_tuning():
            self.problem.emit("A run is going on. Stop it first, then plan another.")
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
        self._read(plan.data)

    def stop_reading(self) -> None:
        """Leave a past run that is being read."""
        if self.reading.goes_on:
            self.reading.stop()
            self.busy_changed.emit("")

    def leave(self) -> None:
        """Let the worker end, without waiting; a run that is going on can be continued later."""
        self.stop_reading()
        self._estimate_timer.stop()
        self._worker.leave()
        self._evaluator.leave()

    def shutdown(self) -> None:
        """End the worker and wait for that (some seconds where it hangs)."""
        self.leave()
        self.reading.shutdown()
        self.runs.shutdown()
        self._worker.close()
        self._evaluator.shutdown()

    # Steps of these -----------------------------------------------------------------------

    def _tune(self, request: m.Tune) -> None:
        self._keeps_best, self._concludes = True, False
        self._asked.ask(replace(request, cluster=chosen_cluster()))
        self._set_state("running")

    def _end(self, keep: bool) -> None:
        self._keeps_best = keep
        self._asked.tell(m.Stop(keep))
        self._set_state("stopping")


def chosen_cluster() -> m.Cluster | None:
    """The cluster that the settings name; None for this computer."""
    match cluster.where():
        case cluster.LOCAL:
            return m.Cluster("local")
        case cluster.SCHEDULER:
            return m.Cluster(*(cluster.field(name) for name in cluster.FIELDS))
    return None
