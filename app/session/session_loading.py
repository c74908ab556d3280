"""What a person opens: files, samples and past runs; and how the data that are open change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.preferences import remembered_choices
from app.session.session_state import SessionState
from app.worker import messages as m
from core.datasets.files.addresses import with_sheet
from core.datasets.finding import SuggestedChange
from core.errors import UnusableError
from core.tuning.guidance.guidance_records import Advice
from core.tuning.plan import DataPlan

if TYPE_CHECKING:
    from core.tuning.plan import Plan
    from core.tuning.runs.past_runs import PastRuns, RunSummary

PASTED = "pasted"  # the folder of pasted tables, among the runs


class SessionLoading(SessionState):
    """The part of the session that brings data and past runs, and takes changes back."""

    # Data -----------------------------------------------------------------------------------

    def open_file(self, path: str | Path) -> None:
        """Open a file; on success `data_changed` and `advice_changed` follow.

        A model is no data: `model_given` tells of it. The folder of a run is opened as such.
        """
        from core.export.exportable_models import MODEL_ENDINGS  # not needed for the first paint

        if (Path(path) / "plan.json").is_file():
            self.open_run(path)
            return
        if str(path).lower().endswith(MODEL_ENDINGS):
            self.model_given.emit(str(path))
            return
        self._open_data(
            DataPlan(file=str(path), test_size=remembered_choices.test_size()), is_given=True
        )

    def open_pasted(self, text: str) -> None:
        """Open a table that was copied elsewhere, as a file that the program keeps."""
        from core.datasets.files.pasted import keep_pasted

        try:
            path = keep_pasted(text, self._find_runs_root() / PASTED)
        except UnusableError as error:
            self.problem.emit(error.sentence)
            return
        self.open_file(path)

    def open_sheet(self, name: str) -> None:
        """Open another sheet of the same workbook."""
        if self.data is not None:
            self.open_file(with_sheet(self.data.file, name))

    def open_sample(self, name: str) -> None:
        """Open a sample that comes with the program."""
        self._open_data(
            DataPlan(file=f"sample:{name}", test_size=remembered_choices.test_size()), is_given=True
        )

    def open_with_target(self, name: str, task: str = "") -> None:
        """Open the file that was refused because of its target once more, with another one."""
        if self._opening is not None:
            roles = {column: role for column, role in self._opening.roles.items() if column != name}
            new_data = replace(self._opening, target=name, task=task, roles=roles)
            self._open_data(new_data, is_given=self._is_given)

    def open_otherwise(self, change: SuggestedChange) -> None:
        """Open the file that was refused once more, with a changed plan."""
        if self._opening is not None:
            self._open_data(replace(self._opening, **change.fields), is_given=self._is_given)

    def change_data(self, **fields: Any) -> None:
        """Read the same file with other fields of DataPlan: target, task, roles, kinds or test."""
        if self.data is not None:
            self._open_data(replace(self.requested_data, **fields))

    @property
    def requested_data(self) -> DataPlan:
        """The data as they are asked for: with a change that is still being read, if there is."""
        assert self.data is not None
        reading = self.changes.reading
        return reading if reading is not None and reading.file == self.data.file else self.data

    def undo_change(self) -> None:
        """Take the last change of the data or the groups back; one still being read at once."""
        if self.data is None or not self._may_change():
            return
        if self.requested_data != self.data and not self.changes.is_travelling:
            self._requests.forget_kind(m.OpenData)
            self.changes.read_no_more()
            self.busy_changed.emit("")
            self.changes_changed.emit()
        else:
            self._travel_by(-1)

    def redo_change(self) -> None:
        """Make the change again that was undone last."""
        self._travel_by(1)

    def _travel_by(self, offset: int) -> None:
        reading = self.changes.reading
        if self.data is None or not self._may_change():
            return
        if reading is not None and reading.file != self.data.file:
            return  # another file is on its way
        step = self.changes.begin_travel(offset)
        if step is None:
            return
        if step.data != self.data:
            self._begin_reading(step.data)
            return
        self._requests.forget_kind(m.OpenData)  # of a step between that is not wanted any more
        self.busy_changed.emit("")
        plan = self.changes.end_travel(self.advice or Advice(), self.plan)
        if plan is not None:
            self._change_plan(plan)
        self.changes_changed.emit()

    def _may_change(self) -> bool:
        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then change the data.")
        return not self.is_going_on

    def _open_data(self, data: DataPlan, is_given: bool = False) -> None:
        if self._may_change():
            self.changes.begin_reading(data)
            self._begin_reading(data, is_given)

    def _begin_reading(self, data: DataPlan, is_given: bool = False) -> None:
        self.stop_reading()
        name = data.file.removeprefix("sample:").replace("\\", "/").rsplit("/", 1)[-1]
        self.busy_changed.emit(f"Reading {name} …")
        self._opening, self._is_given = data, is_given
        self._requests.ask(m.OpenData(data))

    def return_to(self, data: DataPlan, plan: Plan | None) -> None:
        """Open data again that were open before, with the plan that there was."""
        if not self._may_change():
            return
        self._show_run([], None)
        self._plan_to_restore, self._is_given = plan, False
        self._opening = data
        self._read_data(data)

    @property
    def requested_file(self) -> str:
        """The file that was asked for last; "" before the first."""
        return self._opening.file if self._opening is not None else ""

    # Past runs ------------------------------------------------------------------------------

    def past_runs(self) -> list[RunSummary]:
        """The runs kept on this computer, newest first."""
        return self.list_runs().runs

    def list_runs(self) -> PastRuns:
        """The same, with the folders that are left out because they cannot be read."""
        from core.tuning.runs.past_runs import list_runs  # not needed for the first paint

        return list_runs(self._find_runs_root())

    def open_run(self, folder: str | Path) -> None:
        """Show a past run in the same views, and open its data so that it can go on.

        A thread of its own reads it; `run_opened` tells when it is there.
        """
        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then open another.")
            return
        self.busy_changed.emit("Reading the run …")
        self.run_loader.start(Path(folder))

    def plan_again(self, folder: str | Path, seed: int) -> None:
        """Plan a past run once more with another seed, which divides the rows anew.

        The data are opened, and `plan_changed` tells; nothing is tuned yet.
        """
        from core.tuning.runs.run_folder import RunFolder

        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then plan another.")
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
        """Leave a past run that is being read."""
        if self.run_loader.goes_on:
            self.run_loader.stop_reader()
            self.busy_changed.emit("")
