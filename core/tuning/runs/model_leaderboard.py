"""Rank of the models in a run of several: by their trials, before these by a screening."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from core.estimators.multi_model import MODEL
from core.tuning.payloads import LeaderboardEntry
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial

NORMAL_QUANTILE = 1.96  # of a 95 % interval
STATES = {
    "waiting": "not tried yet",
    "tuned": "tuned",
    "behind": "clearly behind",
    "slow": "too slow",
    "failed": "failed",
}


@dataclass(frozen=True)
class LeaderboardRow(LeaderboardEntry):
    """A standing with `early` trials that were ended early, and the best `estimate` among them.

    The average's has no model.
    """

    early: int = 0
    estimate: float | None = None

    @property
    def best_known_score(self) -> float | None:
        """The best score of a whole trial, else an estimate, else the screening's."""
        scores = (self.best, self.estimate, self.look)
        return next((score for score in scores if score is not None), None)


def model_leaderboard(run: RunState) -> list[LeaderboardRow]:
    """Every model of a run of several, best first; those without a whole trial last."""
    entries = run.compared.models if run.compared is not None else []
    rows = [LeaderboardRow(**asdict(entry)) for entry in entries]
    rows = rows or [_screening_row(run, name) for name in models_of(run.started)]
    early = _early_trials(run)
    rows = [_with_seen(_with_early(row, early.get(row.model, [])), run) for row in rows]
    sign = 1.0 if run.started.maximize else -1.0

    def sort_key(row: LeaderboardRow) -> tuple[int, float]:
        scores = (row.best, row.estimate, row.look)
        certainty = next((i for i, score in enumerate(scores) if score is not None), len(scores))
        return certainty, -sign * (row.best_known_score or 0.0)

    return sorted(rows, key=sort_key)


def average_row(run: RunState) -> LeaderboardRow | None:
    """The standing of the average; None where it has no score or a single member."""
    average = run.ensemble
    if average is None or average.average is None or len(average.members) < 2:
        return None
    sign, single = 1.0 if run.started.maximize else -1.0, average.single
    state = "tuned" if single is not None and sign * (average.average - single) < 0 else "leads"
    ends = [end for end in average.average_interval or () if end is not None]
    error = (max(ends) - min(ends)) / (2 * NORMAL_QUANTILE) if ends else None
    return LeaderboardRow("", 0, average.average, error, None, 0.0, 0.0, 0.0, state)


def fit_rows(run: RunState) -> int:
    """How many training rows a fold has."""
    return round(run.started.dataset.train_rows * (1 - 1 / max(2, run.started.run_plan.folds)))


def _early_trials(run: RunState) -> dict[str, list[Trial]]:
    """{model: its trials that were ended early with an estimated score, best first}."""
    trials_by_model: dict[str, list[Trial]] = {}
    for row in np.flatnonzero(run.is_ended_early & run.scored_rows):
        trial = run.trials[row]
        trials_by_model.setdefault(str(trial.setting.get(MODEL, "")), []).append(trial)
    for trials in trials_by_model.values():
        trials.sort(key=lambda trial: trial.score, reverse=run.started.maximize)
    return trials_by_model


def _with_early(row: LeaderboardRow, trials: list[Trial]) -> LeaderboardRow:
    if not trials:
        return row
    state = "behind" if row.state == "waiting" else row.state
    folds = row.folds or max(trial.fits for trial in trials)
    return replace(row, early=len(trials), estimate=trials[0].score, state=state, folds=folds)


def _with_seen(row: LeaderboardRow, run: RunState) -> LeaderboardRow:
    """With the rows and folds seen, also where the run does not tell them."""
    if row.rows or row.best_known_score is None:
        return row
    if row.trials or row.early:
        whole = run.best_trial.fits if run.best_trial is not None and row.trials else 0
        return replace(row, rows=fit_rows(run), folds=whole or row.folds)
    look = run.looks.get(row.model)
    return row if look is None else replace(row, rows=look.rows, folds=1)


def _screening_row(run: RunState, name: str) -> LeaderboardRow:
    """A model's row before the first trial."""
    look = run.looks.get(name)
    if look is None:
        return LeaderboardRow(name, 0, None, None, None, 0.0, 0.0, 0.0, "waiting")
    why = f"Its screening failed: {look.failure}" if look.failure else ""
    return LeaderboardRow(name, 0, None, None, look.score, 0.0, 0.0, 0.0, "waiting", why)


def state_text(entry: LeaderboardEntry) -> str:
    """A model's standing in a few words; a sentence where it cannot be used."""
    return entry.why if entry.why else STATES.get(entry.state, entry.state)
