"""The session: what a person may do, with the signals of `SessionState`.

It holds plain data only; reading, tuning and exporting happen in the worker.

States of the run: idle (none yet), running, paused, stopping (results are computed), interrupted
(the worker was lost, or the results abandoned; `resume` continues), finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.preferences import cluster_preferences
from app.session.session_loading import PASTED, SessionLoading
from app.session.starting_plan import with_model, with_strategy
from app.worker import messages as m
from app.worker.messages.surrogate_evaluation import EvaluationRequest
from core.errors import UnusableError
from core.space import Setting
from core.tuning.events import ModelSelected

if TYPE_CHECKING:
    from core.tuning.plan import Plan


class Session(SessionLoading):
    """The actions on plan, run and model; those on data are in `SessionLoading`."""

    # The plan -------------------------------------------------------------------------------

    def choose_model(self, name: str) -> None:
        """Select a model; the strategy stays if it fits, else it becomes the recommended one."""
        if self.plan is not None and self.advice is not None:
            self._change_plan(with_model(self.plan, name, self.advice))

    def choose_strategy(self, name: str) -> None:
        """Select a strategy, with the options chosen for it before."""
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
                self.changes.add_change(self.data, plan)
            self._change_plan(plan)

    # Run ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start a new run of the plan."""
        if self.plan is None or self.is_going_on:
            return
        self.stop_reading()
        self._show_run([], None)
        self._start_tuning(m.Tune(self.plan, root=str(self._find_runs_root())))

    def pause(self) -> None:
        """Pause after the current trial."""
        if self.state == "running":
            self._requests.send_control(m.Pause())

    def resume(self) -> None:
        """Continue after a pause, or after the worker was lost."""
        if self.state == "paused":
            self._requests.send_control(m.Resume())
            self._set_state("running")
        elif self.state == "interrupted" and self.run_folder is not None:
            self._go_on(self.shown.plan)

    def stop(self) -> None:
        """End the run and keep the best; results follow even if the worker does not react."""
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
        """End the run and delete it."""
        if self.is_going_on and self._requests.waits_for(m.Tune):
            self._end_run(keep=False)
        else:
            self._forget_run()

    def more_trials(self, count: int) -> None:
        """Continue a run that ended, for more trials and without a limit of minutes."""
        if self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._go_on(self.shown.plan.changed(minutes=None), self.shown.budget_for(count))

    def more_minutes(self) -> None:
        """Continue a run that ended, for as many minutes as it was given first."""
        plan, folder = self.shown.plan, self.run_folder
        if self.state in ("finished", "interrupted") and folder is not None and plan.minutes:
            spent = self.shown.state.seconds
            self._go_on(plan.with_more_minutes(plan.minutes, spent))

    def _go_on(self, plan: Plan, more: int = 0) -> None:
        """Continue the shown run, first with the entered settings that were not tried yet."""
        settings = tuple(self.shown.wanted)
        folder = str(self.run_folder)
        self._start_tuning(m.Tune(plan, folder=folder, more_trials=more, settings=settings))

    def try_setting(self, setting: Setting) -> None:
        """Try a setting next, beyond the budget; a run that ended continues for it alone."""
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
        plan = self.plan
        return plan is not None and plan.data.file == self.shown.plan.data.file

    def widen_ranges(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Plan the shown run again, with wider ranges."""
        if self.plan is None or not self.may_widen:
            return
        ran = self.shown.plan
        plan = self.plan.changed(
            model=ran.model,
            strategy=ran.strategy,
            options=ran.options,
            ranges={**ran.ranges, **{name: list(ends) for name, ends in ranges.items()}},
            fixed=ran.fixed,
        )
        self._change_plan(plan)

    def exclude_trial(self, number: int, excluded: bool = True) -> None:
        """Exclude a trial or include it again; the best is selected again."""
        control = m.Exclude(number, excluded)
        if self.state in ("running", "paused"):
            self._requests.send_control(control)
        elif self.state in ("finished", "interrupted") and self.run_folder is not None:
            self._conclude(control)

    def select_model(self, kind: str, number: int | None = None) -> None:
        """Select another model (best, simplest, average, default or trial); its results follow."""
        if self.state == "finished" and self.run_folder is not None:
            self._conclude(pick=ModelSelected(kind=kind, number=number))

    def export_model(
        self, format: str, path: str | Path, which: str = "tuned", examples: bool = True
    ) -> None:
        """Export something of the shown run, or of another of its models; `exported` follows."""
        if self.run_folder is not None:
            self.busy_changed.emit("Saving …" if which == "tuned" else "Fitting the model …")
            folder = str(self.run_folder)
            self._requests.ask(m.Export(folder, format, str(path), which, examples))

    def predict_rows(self, file: str | Path, model: str = "", trust: bool = False) -> None:
        """Predict rows of a file with the shown run or a model file; `rows_predicted` follows."""
        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then predict.")
        elif model or (self.run_folder is not None and self.results):
            folder = "" if model else str(self.run_folder)
            self.busy_changed.emit("Predicting …")
            self._requests.ask(m.PredictRows(folder, str(file), model, trust))

    def predict_pasted(self, text: str, model: str = "", trust: bool = False) -> None:
        """Predict the rows of a pasted table with its header."""
        from core.datasets.files.pasted import keep_pasted

        try:
            self.predict_rows(keep_pasted(text, self._find_runs_root() / PASTED), model, trust)
        except UnusableError as error:
            self.problem.emit(error.sentence)

    def save_predictions(self, path: str | Path) -> None:
        """Save the latest table with its predictions; `predictions_saved` follows."""
        if not self.is_going_on:
            self._requests.ask(m.SavePredictions(str(path)))

    def predict(self, request: m.Predict) -> None:
        """Predict rows with a model file; `predictions_saved` follows."""
        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then predict.")
            return
        self.busy_changed.emit("Predicting …")
        self._requests.ask(request)

    def check_cluster(self) -> None:
        """Check the chosen cluster; `cluster_checked` follows."""
        cluster = chosen_cluster()
        if self.is_going_on:
            self.cluster_checked.emit(m.ClusterChecked("A run is in progress. Try it afterwards."))
        elif cluster is None:
            self.cluster_checked.emit(m.ClusterChecked("Trials run on this computer."))
        else:
            self._requests.ask(m.CheckCluster(cluster))

    def explain(self, question: str, column: str = "") -> None:
        """Ask a question about the shown run; `explained` follows."""
        if self.run_folder is not None and self.state == "finished":
            self._requests.ask(m.Explain(str(self.run_folder), question, column))

    def leave_question(self, question: str) -> None:
        """Cancel a question."""
        self._requests.cancel_questions(question)

    def warm_up(self) -> None:
        """Start the process that evaluates surrogates."""
        self._evaluator.warm_up()

    def evaluate(self, request: EvaluationRequest) -> None:
        """Evaluate a surrogate for a view; `evaluated` follows."""
        self._evaluator.ask(request)

    # The end --------------------------------------------------------------------------------

    def begin_shutdown(self) -> None:
        """End the worker without waiting; a run that goes on can be continued later."""
        self.stop_reading()
        self._estimate_timer.stop()
        self._worker.begin_shutdown()
        self._evaluator.begin_shutdown()

    def shutdown(self) -> None:
        """End the worker, and wait for it (some seconds where it hangs)."""
        self.begin_shutdown()
        self.run_loader.shutdown()
        self.runs.shutdown()
        self._worker.close()
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
    """The cluster of the settings; None for this computer."""
    match cluster_preferences.execution_mode():
        case cluster_preferences.LOCAL:
            return m.Cluster("local")
        case cluster_preferences.SCHEDULER:
            return m.Cluster(*map(cluster_preferences.stored_field, cluster_preferences.FIELDS))
    return None
