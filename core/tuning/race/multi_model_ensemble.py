"""The average over models and settings while it forms, compared with the single best.

Members and weights are those of greedy selection with replacement over the first and the best
trials of every model, the mean of several selections (Caruana and others 2004, §2.1, §2.3). The
scores are cross-fitted: what the other folds choose is scored on each fold, without another fit.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| S, T | | | finished trials, members |
| G | | | folds of the held-out rows, or parts of the one that is held out |
| w | ``weights`` | (T,) | of members |
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.awake_timer import AWAKE
from core.estimators.multi_model import split_model_setting
from core.samplers.averaging import effective_members
from core.space import Setting
from core.tuning.averaging.averaged_predictions import (
    RowPredictions,
    average_predictions,
    is_averageable,
    log_densities,
)
from core.tuning.averaging.ensemble import holdout_folds, predictions_by_fold, with_corrected_scores
from core.tuning.events import EnsembleUpdated, Event, TrialExcluded, TrialFinished
from core.tuning.problem import Problem
from core.tuning.race.allocation import MIN_TRIALS
from core.tuning.race.ledger import MAX_ENDING_SHARE, refit_seconds
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult

# Equal weights of the best tenth would be those of one model's neighbours: on a medical table log
# loss was .446, and is .39 with the first and the best trials of every model.
MAX_OF_MODEL = 3  # of a model's trials beside its first ones, the best, may be members
# Of log densities, the mean difference below which two trials of a model say the same: their
# average gains some Δ²/8 = 1e-5 nats over them.
SAME_LOGS = 0.01
MAX_REPEATED = 10  # trials that predict again where an interrupted run had no average
MAX_KEPT_BYTES = 64e6  # of predictions; of more only those of possible members are kept
PAUSE_FACTOR = 30.0  # between updates, of the last one's seconds: they take 3 % of the time


@dataclass(frozen=True)
class _TrialPredictions:
    """A trial on all folds; larger scores are better."""

    model: str
    score: float
    folds: tuple[Predictions, ...]
    logs: tuple[np.ndarray, ...]  # log densities of the folds' rows
    refit_seconds: float = 0.0  # to fit it again at the end


class _NoModels:
    """The members are fitted at the end; no fitted model is kept."""

    def member_models(self) -> dict[int, Any]:
        return {}


class MultiModelEnsemble:
    """Which trials make the average, by their scores and held-out predictions."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sign = 1.0 if problem.scored_by.maximize else -1.0
        self._folds, self._y = holdout_folds(problem)
        self._trials: dict[int, _TrialPredictions] = {}
        self._excluded: set[int] = set()
        self._holds_all = True  # the predictions of all trials on all folds
        self._finished = 0
        self._due, self._new = 0.0, False
        self._is_uncorrected = False  # whether the last update was none of the end
        self.models = _NoModels()

    def replay_events(self, past: Sequence[Event]) -> dict[int, Setting]:
        """Add the trials of an interrupted run, whose predictions are not recorded.

        {trial: setting} of those that `add_recorded` asks for: the last members, else the best.
        """
        finished_events = [event for event in past if isinstance(event, TrialFinished)]
        self._finished = len(finished_events)
        self._holds_all = not finished_events
        trials = {event.number: event for event in finished_events if not event.behind}
        for event in past:
            if isinstance(event, TrialExcluded):
                self.exclude(event)
        latest = next((e for e in reversed(past) if isinstance(e, EnsembleUpdated)), None)
        ranked = sorted(trials, key=lambda n: -self._sign * trials[n].score)
        members = latest.members if latest is not None else ranked[:MAX_REPEATED]
        return {n: trials[n].setting for n in (*members, *ranked[:MAX_OF_MODEL]) if n in trials}

    def add_recorded(self, outcome: TrialResult) -> None:
        self._finished -= 1
        self.add(outcome)

    def add(self, outcome: TrialResult) -> None:
        self._finished += 1
        # Trials that were ended early have no predictions for the other folds.
        if outcome.estimate is not None or not outcome.predictions:
            return
        if not all(is_averageable(predictions) for predictions in outcome.predictions):
            return
        name, _ = split_model_setting(outcome.setting)
        folds = predictions_by_fold(self._problem, outcome, self._folds)
        pairs = zip(self._y, folds, strict=True)
        logs = tuple(log_densities(y, [predictions])[:, 0] for y, predictions in pairs)
        fits = len(outcome.fold_scores)
        trial = Trial(outcome.number, outcome.setting, took=outcome.took, fits=fits)
        self._trials[outcome.number] = _TrialPredictions(
            name, self._sign * outcome.score, folds, logs, refit_seconds(self._problem, trial)
        )
        self._drop_trials()
        if outcome.number in self._trials:
            self._new = self._is_uncorrected = True

    def exclude(self, event: TrialExcluded) -> None:
        (self._excluded.add if event.excluded else self._excluded.discard)(event.number)
        self._due, self._new, self._is_uncorrected = 0.0, True, True

    def updates(self, *, last: bool = False) -> Iterator[Event]:
        """The members and weights now, if they are due or `last`."""
        start_time = AWAKE.seconds
        is_due = self._is_uncorrected if last else self._new and start_time >= self._due
        if not is_due:
            return
        self._new, self._is_uncorrected = False, not last
        candidates = self._candidates()
        if len(candidates) < 2 or len(self._folds) < 2:
            return
        average, single = self._cross_fitted_scores(candidates)
        w = self._weights(candidates, range(len(self._folds)))
        members = sorted(w, key=lambda n: (-w[n], -self._trials[n].score))
        weights = np.array([w[n] for n in members])
        # By what the last one took: with many trials and rows, updates would hold up the run.
        self._due = AWAKE.seconds + PAUSE_FACTOR * (AWAKE.seconds - start_time)
        update = EnsembleUpdated(
            finished=self._finished,
            members=members,
            weights=weights.tolist(),
            scores=[self._sign * self._trials[n].score for n in members],
            effective=effective_members(weights),
            average=average,
            single=single,
            kind="greedy",
        )
        if last and self._holds_all:  # of some trials alone the correction would be too small
            numbers = [n for n in self._trials if n not in self._excluded]
            folds = {n: self._trials[n].folds for n in numbers}
            update = with_corrected_scores(self._problem, update, folds)
        yield update

    # Members and weights -------------------------------------------------------------------------

    def _candidates(self) -> list[int]:
        return _candidates_of(self._trials, [n for n in self._trials if n not in self._excluded])

    def _drop_trials(self) -> None:
        """Those that cannot be members, where all would take too much memory."""
        rows = sum(len(y) for y in self._y)
        values = rows * (2 + len(self._problem.dataset.classes)) * len(self._trials)
        if self._holds_all and 8 * values <= MAX_KEPT_BYTES:
            return
        self._holds_all = False
        member_numbers = set(self._candidates()) | self._excluded
        self._trials = {n: trial for n, trial in self._trials.items() if n in member_numbers}

    def _weights(self, candidates: Sequence[int], folds: Sequence[int] | range) -> dict[int, float]:
        score_by_trial = {n: self._score_on(n, folds) for n in candidates}
        ranked = sorted(candidates, key=lambda n: -score_by_trial[n])
        weights = zip(ranked, self._row_predictions(ranked, folds).bagged_weights(), strict=True)
        return self._affordable({n: float(w) for n, w in weights if w > 0})

    def _row_predictions(
        self, ranked: Sequence[int], folds: Sequence[int] | range
    ) -> RowPredictions:
        trials = [self._trials[number] for number in ranked]
        if self._problem.dataset.task.has_numbers:
            numbers = [np.concatenate([t.folds[fold].labels for fold in folds]) for t in trials]
            return RowPredictions.of_members(numbers, np.concatenate([self._y[i] for i in folds]))
        logs = [np.concatenate([trial.logs[fold] for fold in folds]) for trial in trials]
        return RowPredictions.of_members(logs)

    def _affordable(self, weights: dict[int, float]) -> dict[int, float]:
        """The same without the members that cost most for their weight, until the rest fits."""
        minutes = self._problem.minutes or math.inf
        limit = MAX_ENDING_SHARE / 2 * 60 * minutes * self._problem.refits_at_once
        seconds = {n: self._trials[n].refit_seconds for n in weights}
        while len(weights) > 1 and sum(seconds[n] for n in weights) > limit:
            dearest = max(weights, key=lambda n: seconds[n] / weights[n])
            weights = {n: weight for n, weight in weights.items() if n != dearest}
        total = sum(weights.values())
        return {n: weight / total for n, weight in weights.items()}

    def _cross_fitted_scores(self, candidates: Sequence[int]) -> tuple[float, float]:
        averages, singles = [], []
        for fold in range(len(self._folds)):
            other_folds = [index for index in range(len(self._folds)) if index != fold]
            best = max(candidates, key=lambda n: self._score_on(n, other_folds))
            singles.append(self._fold_score(fold, self._trials[best].folds[fold]))
            w = self._weights(candidates, other_folds)
            predictions = [self._trials[n].folds[fold] for n in w]
            mean = average_predictions(predictions, np.array(list(w.values())))
            averages.append(self._fold_score(fold, mean))
        return float(np.mean(averages)), float(np.mean(singles))

    def _score_on(self, number: int, folds: Sequence[int] | range) -> float:
        predictions = self._trials[number].folds
        scores = [self._sign * self._fold_score(fold, predictions[fold]) for fold in folds]
        return float(np.mean(scores))

    def _fold_score(self, fold: int, predictions: Predictions) -> float:
        return float(self._problem.fold_metric.score(self._y[fold], predictions))


def _candidates_of(trials: Mapping[int, _TrialPredictions], numbers: Sequence[int]) -> list[int]:
    """Every model's first trials, which no score has chosen, and its best ones, the best first.

    Of trials that predict the same, as those of one model do at its optimum, the best one counts.
    """
    numbers_by_model: dict[str, list[int]] = {}
    for number in sorted(numbers):
        numbers_by_model.setdefault(trials[number].model, []).append(number)
    candidates = set()
    for model_numbers in numbers_by_model.values():
        best: list[int] = []
        for number in sorted(model_numbers, key=lambda n: (-trials[n].score, n)):
            if len(best) < MAX_OF_MODEL and not any(_is_same(trials, number, n) for n in best):
                best.append(number)
        first_numbers = model_numbers[:MIN_TRIALS]
        first_numbers = [n for n in first_numbers if not any(_is_same(trials, n, m) for m in best)]
        candidates |= {*first_numbers, *best}
    return sorted(candidates, key=lambda n: (-trials[n].score, n))


def _is_same(trials: Mapping[int, _TrialPredictions], first: int, second: int) -> bool:
    pairs = zip(trials[first].logs, trials[second].logs, strict=True)
    return all(float(np.abs(a - b).mean()) < SAME_LOGS for a, b in pairs)
