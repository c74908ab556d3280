"""A recorded run, read only."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.records import to_plain
from core.tuning.events import Event, TrialFinished
from core.tuning.plan import Plan
from core.tuning.run_results import Results
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events


class TunedRun:
    """A run when it was opened, read only: `run`, its folder's path; `events`, all in order."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.run: Path = folder.path
        self.events: list[Event] = folder.all_events()

    def __repr__(self) -> str:
        return f"<TunedRun {self.run.name}>"

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self._folder.plan

    @cached_property
    def model(self) -> Any:
        """The fitted scikit-learn pipeline, for raw rows: a DataFrame with the same columns.

        Opening it runs no code. Raises UnusableError: there is none, or it cannot be opened.
        """
        return best_of(self._folder)

    @cached_property
    def results(self) -> dict[str, Any]:
        """With the keys of core.tuning.run_results.Results; UnusableError: it has not ended."""
        return to_plain(self._results)

    @property
    def _results(self) -> Results:
        if self._run_state.results is None:
            raise UnusableError(
                "this run has not ended", where=str(self.run), cure="let it end, or resume it"
            )
        return self._run_state.results

    @property
    def metric(self) -> str:
        """The metric of the score. Raises UnusableError as `results`."""
        return self._results.metric

    @property
    def score(self) -> float:
        """The test score, NaN where undefined. Raises as `results`."""
        score = self._results.test.get(self.metric)
        return math.nan if score is None else float(score)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """A row for each trial that ended.

        Columns: number; state (finished, failed, or behind: ended early, the score an estimate);
        score; fold_scores; seconds; fits; reason; failure; excluded (by a person); `params_NAME`.
        """
        scores = {e.number: e.fold_scores for e in self.events if isinstance(e, TrialFinished)}
        rows = [
            {
                "number": trial.number,
                "state": "failed" if trial.failure else "behind" if trial.behind else "finished",
                "score": trial.score,
                "fold_scores": scores.get(trial.number, []),
                "seconds": trial.took,
                "fits": trial.fits,
                "reason": trial.reason,
                "failure": trial.failure,
                "excluded": trial.number in self._run_state.excluded,
                **{f"params_{name}": value for name, value in trial.setting.items()},
            }
            for trial in self._run_state.trials
        ]
        return pd.DataFrame(rows)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each step of a penalty learner.

        Columns: step; objective (what the method minimizes); `penalty_GROUP` for each group.
        """
        rows: list[dict[str, Any]] = []
        for step in self._run_state.steps:
            penalties = {f"penalty_{group}": C for group, C in step.penalties.items()}
            rows.append({"step": step.step, "objective": step.objective, **penalties})
        for line in self._run_state.gradients:
            penalties = {f"penalty_{group}": float(np.exp(d)) for group, d in line.d.items()}
            rows.append({"step": line.step, "objective": line.holdout_loss, **penalties})
        return pd.DataFrame(rows)

    @cached_property
    def _run_state(self) -> RunState:
        return state_from_events(self.events)


def export_study(run: TunedRun | str | Path, storage: str | Path) -> str:
    """Write a run as a study of Optuna, which optuna-dashboard opens; returns the study's name.

    `run`: an opened run, a folder's path, or a name. `storage`: the path of a journal (`.log`) or
    SQLite file, created if missing; or a URL, such as `sqlite:///study.db`. Raises UnusableError:
    no trials, the storage has a study of this name, or it cannot be written.
    """
    from core.export.optuna_study import export_study as write  # Optuna takes a second to import

    path = run.run if isinstance(run, TunedRun) else run
    return write(RunFolder.open(path), storage)


def open_run(run: str | Path) -> TunedRun:
    """A run by its folder's path, or its name in `tunescope runs`; UnusableError: none to read."""
    return TunedRun(RunFolder.open(run))
