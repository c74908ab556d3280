"""The models of a run of several: the state of each as if it was tuned alone, and their rank.

The space of such a state is the model's, its settings lack the key that names the model, and trials
keep their numbers. Models rank by their trials, before these by a screening.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgspec
import numpy as np

from core.estimators.multi_model import MODEL, split_model_setting
from core.estimators.recipe import CLASS_WEIGHT
from core.estimators.registry import MODELS
from core.tuning.events import LeaderboardEntry, RunStarted
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.strategies.race_strategy import RaceOptions
from core.tuning.strategies.registry import STRATEGIES


def models_of(started: RunStarted) -> tuple[str, ...]:
    """In the order of the run's axis; none before it began."""
    return tuple(str(name) for axis in started.space[:1] for name in axis.choices)


def single_model_start(
    started: RunStarted, name: str, *, rare: bool = False, modelled: bool = False
) -> RunStarted:
    """The first event, as if one of several models were tuned alone."""
    # Weights of rare classes join its space; only a search that models scores shows a surface.
    plan = {**started.plan, "model": name}
    search = RaceOptions.from_values(started.run_plan.options).search
    if modelled and search in STRATEGIES and STRATEGIES[search].surrogate == "scores":
        plan["strategy"] = search
    task, model = started.dataset.task, MODELS.get(name)
    fits = model is not None and task in model.tasks
    space = model.space_of(task, rare=rare) if model is not None and fits else ()
    return replace(started, plan=plan, space=list(space), total=0, averages=False)


class ModelRunState:
    """One model's trials, brought up to date as the run goes on."""

    def __init__(self, name: str, run_state: RunState) -> None:
        self.name = name
        self._started: RunStarted | None = None  # of the whole run
        self._last_facts: tuple[bool, bool] | None = None
        self._start_over(run_state)
        self._update(run_state)

    def follow_run(self, run_state: RunState) -> bool:
        """Add new trials; whether the state was rebuilt instead."""
        is_new = (
            # Rebuilt where what was read may have changed: another run, an exclusion, a screening.
            run_state is not self._run_state
            or run_state.started is not self._started
            or run_state.changes != self._changes
            or len(run_state.trials) < self._read_count
            or self._plan_facts(run_state) != self._last_facts
        )
        if is_new:
            self._start_over(run_state)
        self._update(run_state)
        return is_new

    def _start_over(self, run_state: RunState) -> None:
        facts = self._plan_facts(run_state)
        if run_state.started is not self._started or facts != self._last_facts:
            rare, modelled = facts
            started = run_state.started
            self._start = single_model_start(started, self.name, rare=rare, modelled=modelled)
        self._run_state, self._started, self._last_facts = run_state, run_state.started, facts
        self._changes, self._read_count = run_state.changes, 0
        self.state = RunState()  # a new object whenever it was rebuilt from the first trial
        self.state.consume(self._start)

    def _plan_facts(self, run_state: RunState) -> tuple[bool, bool]:
        """Whether its settings weigh classes (its screening says so), and scores are modelled."""
        look = run_state.looks.get(self.name)
        rare = look is not None and CLASS_WEIGHT.name in look.setting
        return rare, self.name in run_state.surrogates

    def _update(self, run_state: RunState) -> None:
        state = self.state
        state.excluded = set(run_state.excluded)
        for trial in run_state.trials[self._read_count :]:
            if self._is_own(trial.setting):
                setting = split_model_setting(trial.setting)[1]
                state.adopt_trial(msgspec.structs.replace(trial, setting=setting))
        self._read_count = len(run_state.trials)
        state.pending = {
            number: begun.with_fields(setting=split_model_setting(begun.setting)[1])
            for number, begun in run_state.pending.items()
            if self._is_own(begun.setting)
        }
        state.surrogate = run_state.surrogates.get(self.name)
        state.seconds, state.seconds_left = run_state.seconds, run_state.seconds_left
        state.ended, state.results = run_state.ended, run_state.results
        state.resumed = run_state.resumed

    def _is_own(self, setting: Mapping[str, Any]) -> bool:
        return setting.get(MODEL) == self.name


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
    """`early` trials were ended early, the best of them at `estimate`; an average has no model."""

    early: int = 0
    estimate: float | None = None

    @property
    def best_known_score(self) -> float | None:
        scores = (self.best, self.estimate, self.look)
        return next((score for score in scores if score is not None), None)


def model_leaderboard(run: RunState) -> list[LeaderboardRow]:
    """Every model, best first; those without a whole trial last."""
    entries = run.compared.models if run.compared is not None else []
    rows = [LeaderboardRow(**asdict(entry)) for entry in entries]
    rows = rows or [_screening_row(run, name) for name in models_of(run.started)]
    early = _early_trials(run)
    rows = [_with_seen(_with_early(row, early.get(row.model, [])), run) for row in rows]
    sign = 1.0 if run.started.maximize else -1.0

    def sort_key(row: LeaderboardRow) -> tuple[int, float]:
        scores = (row.best, row.estimate, row.look)
        # Scores on all rows before estimates, and these before screenings: they do not compare.
        certainty = next((i for i, score in enumerate(scores) if score is not None), len(scores))
        return certainty, -sign * (row.best_known_score or 0.0)

    return sorted(rows, key=sort_key)


def average_row(run: RunState) -> LeaderboardRow | None:
    """The standing of the average; None where it has no score or a single member.

    Its score is the best trial's plus its lead over it on rows that chose neither, where scores are
    lower.
    """
    update, lead = run.ensemble, average_lead(run)
    if update is None or lead is None or run.best_trial is None:
        return None
    state = "leads" if lead == 0 or (lead > 0) == run.started.maximize else "tuned"
    ends = [end for end in update.average_interval or () if end is not None]
    # An interval reaches 1.96 standard errors to either side.
    error = (max(ends) - min(ends)) / (2 * NORMAL_QUANTILE) if ends else None
    return LeaderboardRow("", 0, run.best_trial.score + lead, error, None, 0.0, 0.0, 0.0, state)


def average_lead(run: RunState) -> float | None:
    """Over the single best, on rows that chose neither."""
    update = run.ensemble
    if update is None or len(update.members) < 2:
        return None
    if update.average is None or update.single is None:
        return None
    return update.average - update.single


def fit_rows(run: RunState) -> int:
    """How many training rows a fold has."""
    return round(run.started.dataset.train_rows * (1 - 1 / max(2, run.started.run_plan.folds)))


def _early_trials(run: RunState) -> dict[str, list[Trial]]:
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
    # It was tried, though no trial of it was worth an end.
    state = "behind" if row.state == "waiting" else row.state
    folds = row.folds or max(trial.fits for trial in trials)
    return replace(row, early=len(trials), estimate=trials[0].score, state=state, folds=folds)


def _with_seen(row: LeaderboardRow, run: RunState) -> LeaderboardRow:
    if row.rows or row.best_known_score is None:
        return row
    if row.trials or row.early:
        fold_count = run.best_trial.fits if run.best_trial is not None and row.trials else 0
        return replace(row, rows=fit_rows(run), folds=fold_count or row.folds)
    look = run.looks.get(row.model)
    return row if look is None else replace(row, rows=look.rows, folds=1)


def _screening_row(run: RunState, name: str) -> LeaderboardRow:
    look = run.looks.get(name)
    if look is None:
        return LeaderboardRow(name, 0, None, None, None, 0.0, 0.0, 0.0, "waiting")
    why = f"Its screening failed: {look.failure}" if look.failure else ""
    return LeaderboardRow(name, 0, None, None, look.score, 0.0, 0.0, 0.0, "waiting", why)


def state_text(entry: LeaderboardEntry) -> str:
    """A few words; a sentence where the model cannot be used."""
    return entry.why if entry.why else STATES.get(entry.state, entry.state)
