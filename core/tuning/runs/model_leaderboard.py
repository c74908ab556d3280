"""Rank of the models in a run of several: by their trials, before these by a screening."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from core.estimators.multi_model import MODEL
from core.tuning.payloads import LeaderboardEntry
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.state import RunState

STATES = {
    "waiting": "not tried yet",
    "tuned": "tuned",
    "behind": "clearly behind",
    "slow": "too slow",
    "failed": "failed",
}


@dataclass(frozen=True)
class LeaderboardRow(LeaderboardEntry):
    """A standing with `early` trials that were ended early, and the best `estimate` among them."""

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
    early = _early_scores(run)
    rows = [_with_early(row, early.get(row.model, [])) for row in rows]
    sign = 1.0 if run.started.maximize else -1.0

    def sort_key(row: LeaderboardRow) -> tuple[int, float]:
        scores = (row.best, row.estimate, row.look)
        certainty = next((i for i, score in enumerate(scores) if score is not None), len(scores))
        return certainty, -sign * (row.best_known_score or 0.0)

    return sorted(rows, key=sort_key)


def _early_scores(run: RunState) -> dict[str, list[float]]:
    """{model: the estimated scores of its trials that were ended early, best first}."""
    scores_by_model: dict[str, list[float]] = {}
    for row in np.flatnonzero(run.is_ended_early & run.scored_rows):
        trial = run.trials[row]
        scores_by_model.setdefault(str(trial.setting.get(MODEL, "")), []).append(trial.score)
    return {name: sorted(s, reverse=run.started.maximize) for name, s in scores_by_model.items()}


def _with_early(row: LeaderboardRow, scores: list[float]) -> LeaderboardRow:
    if not scores:
        return row
    state = "behind" if row.state == "waiting" else row.state
    return replace(row, early=len(scores), estimate=scores[0], state=state)


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
