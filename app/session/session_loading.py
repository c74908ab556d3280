"""Opening files, samples and past runs, and changing the open data."""

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

PASTED = "pasted"  # the folder of pasted tables below the runs


class SessionLoading(SessionState):
    """The actions that open data and past runs, and that undo changes."""

    # Data -----------------------------------------------------------------------------------

    def open_file(self, path: str | Path) -> None:
        """Open a file, the folder of a run, or a model (`model_given`)."""
        from core.export.exportable_models import MODEL_ENDINGS  # not needed for the first paint

        if (Path(path) / "plan.json").is_file():
            self.open_run(path)
            return
        if str(path).lower().endswith(MODEL_ENDINGS):
            self.model_given.emit(str(path))
            return
        self._open_given(str(path))

    def open_pasted(self, text: str) -> None:
        """Open a pasted table, as a file that the program keeps."""
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
        """Open a sample."""
        self._open_given(f"sample:{name}")

    def _open_given(self, file: str) -> None:
        data = DataPlan(file=file, test_size=remembered_choices.test_size())
        self._open_data(data, is_given=True)

    def open_with_target(self, name: str, task: str = "") -> None:
        """Open the file that was refused for its target again, with another one."""
        if self._opening is not None:
            roles = {column: role for column, role in self._opening.roles.items() if column != name}
            new_data = replace(self._opening, target=name, task=task, roles=roles)
            self._open_data(new_data, is_given=self._is_given)

    def open_otherwise(self, change: SuggestedChange) -> None:
        """Open the refused file again, with a changed plan."""
        if self._opening is not None:
            self._open_data(replace(self._opening, **change.fields), is_given=self._is_given)

    def change_data(self, **fields: Any) -> None:
        """Read the file again with other fields of DataPlan."""
        if self.data is not None:
            self._open_data(replace(self.requested_data, **fields))

    @property
    def requested_data(self) -> DataPlan:
        """The requested data: with a change that is still being read."""
        assert self.data is not None
        reading = self.changes.reading
        return reading if reading is not None and reading.file == self.data.file else self.data

    def undo_change(self) -> None:
        """Undo the last change of data or groups; one that is being read is cancelled."""
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
        """Redo the change that was undone last."""
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
        self._requests.forget_kind(m.OpenData)  # of a step that was skipped
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
        """Open earlier data again, with their plan."""
        if not self._may_change():
            return
        self._show_run([], None)
        self._plan_to_restore, self._is_given = plan, False
        self._opening = data
        self._read_data(data)

    @property
    def requested_file(self) -> str:
        """The file that was requested last; "" before the first."""
        return self._opening.file if self._opening is not None else ""

    # Past runs ------------------------------------------------------------------------------

    def past_runs(self) -> list[RunSummary]:
        """The runs on this computer, newest first."""
        return self.list_runs().runs

    def list_runs(self) -> PastRuns:
        """The same, with the folders that cannot be read."""
        from core.tuning.runs.past_runs import list_runs  # not needed for the first paint

        return list_runs(self._find_runs_root())

    def open_run(self, folder: str | Path) -> None:
        """Open a past run and its data; `run_opened` follows."""
        if self.is_going_on:
            self.problem.emit("A run is in progress. Stop it first, then open another.")
            return
        self.busy_changed.emit("Reading the run …")
        self.run_loader.start(Path(folder))

    def plan_again(self, folder: str | Path, seed: int) -> None:
        """Plan a past run again with another seed, which splits the rows again."""
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
        """Stop reading a past run."""
        if self.run_loader.goes_on:
            self.run_loader.stop_reader()
            self.busy_changed.emit("")
