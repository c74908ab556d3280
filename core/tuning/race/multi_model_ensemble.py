"""The average over models and settings while it forms, and whether it beats the single best.

Two averages are compared: greedy selection with replacement over the best trials of every model
(Caruana and others 2004), and equal weights of the best tenth of all trials (McInerney 2017, §3.2).
Both are judged by rows that chose neither: for each fold members and weights are chosen by the
other folds alone, and what they say about the fold is scored. No model is fitted for that.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| S, T | | | finished trials, members |
| G | | | folds of the held-out rows, or parts of the one that is held out |
| w | ``weights`` | (T,) | of members |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.multi_model import split_model_setting
from core.samplers.averaging import effective_members, greedy_mean_weights, member_count
from core.space import Setting
from core.tuning.averaging.averaged_predictions import (
    average_predictions,
    is_averageable,
    log_densities,
)
from core.tuning.averaging.ensemble import holdout_folds, member_weights, predictions_by_fold
from core.tuning.events import EnsembleUpdated, Event, TrialExcluded, TrialFinished
from core.tuning.problem import Problem
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialResult

OF_EACH, OF_ALL = 3, 20  # the best trials that may be members: of each model, and of all
RARELY = 100.0  # an update comes after so many times the seconds that the last one took: 1 %


@dataclass(frozen=True)
class _TrialPredictions:
    """A whole trial: its model, its score (larger is better), its predictions of every fold."""

    model: str
    score: float
    folds: tuple[Predictions, ...]
    logs: tuple[np.ndarray, ...]  # log densities of the folds' rows


class _NoModels:
    """The members are fitted at the end; no fitted model is kept."""

    def member_models(self) -> dict[int, Any]:
        """No model."""
        return {}


class MultiModelEnsemble:
    """Which trials make the average, by what they scored and said about held-out rows."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sign = 1.0 if problem.scored_by.maximize else -1.0
        self._folds, self._y = holdout_folds(problem)
        self._trials: dict[int, _TrialPredictions] = {}
        self._excluded: set[int] = set()
        self._finished = 0
        self._due, self._new = 0.0, False
        self.models = _NoModels()

    def replay_events(self, past: Sequence[Event]) -> dict[int, Setting]:
        """Trials of this run that ended before it was interrupted, without what they said.

        Returns:
            {trial: setting} of those that must predict again (`add_recorded`): the members of the
            last average, and without one the best trials.
        """
        finished_trials = {
            e.number: e for e in past if isinstance(e, TrialFinished) and not e.behind
        }
        self._finished = sum(isinstance(event, TrialFinished) for event in past)
        for event in past:
            if isinstance(event, TrialExcluded):
                self.exclude(event)
        latest = next((e for e in reversed(past) if isinstance(e, EnsembleUpdated)), None)
        ranked = sorted(finished_trials, key=lambda n: -self._sign * finished_trials[n].score)
        chosen = latest.members if latest is not None else ranked[: OF_ALL // 2]
        return {
            n: finished_trials[n].setting
            for n in (*chosen, *ranked[:OF_EACH])
            if n in finished_trials
        }

    def add_recorded(self, outcome: TrialResult) -> None:
        """A remembered trial says again what it said."""
        self._finished -= 1
        self.add(outcome)

    def add(self, outcome: TrialResult) -> None:
        """A trial that ended with a score."""
        self._finished += 1
        if outcome.estimate is not None or not outcome.predictions:
            return
        if not all(is_averageable(predictions) for predictions in outcome.predictions):
            return
        name, _ = split_model_setting(outcome.setting)
        folds = predictions_by_fold(self._problem, outcome, self._folds)
        logs = tuple(
            log_densities(y, [predictions])[:, 0]
            for y, predictions in zip(self._y, folds, strict=True)
        )
        self._trials[outcome.number] = _TrialPredictions(
            name, self._sign * outcome.score, folds, logs
        )
        self._drop_trials()
        self._new = self._new or outcome.number in self._trials

    def exclude(self, event: TrialExcluded) -> None:
        """A person takes a trial out, or back in."""
        (self._excluded.add if event.excluded else self._excluded.discard)(event.number)
        self._due, self._new = 0.0, True

    def updates(self, *, last: bool = False) -> Iterator[Event]:
        """The members and weights now, where it is time for them; at the end in any case."""
        begun = time.monotonic()
        if not self._new or (begun < self._due and not last):
            return
        self._new = False
        candidates = self._candidates()
        if len(candidates) < 2 or len(self._folds) < 2:
            return
        kind, average, single = self._compare_averages(candidates)
        chosen = self._weights(kind, candidates, range(len(self._folds)))
        members = sorted(chosen, key=lambda n: (-chosen[n], -self._trials[n].score))
        weights = np.array([chosen[n] for n in members])
        self._due = time.monotonic() + RARELY * (time.monotonic() - begun)
        yield EnsembleUpdated(
            finished=self._finished,
            members=members,
            weights=weights.tolist(),
            scores=[self._sign * self._trials[n].score for n in members],
            effective=effective_members(weights),
            average=average,
            single=single,
            kind=kind,
        )

    # Members and weights -------------------------------------------------------------------------

    def _candidates(self) -> list[int]:
        """The best trials of every model and of all, the best first."""
        included = [n for n in self._trials if n not in self._excluded]
        return _best_of(self._trials, included)

    def _drop_trials(self) -> None:
        member_numbers = set(self._candidates()) | self._excluded
        self._trials = {n: trial for n, trial in self._trials.items() if n in member_numbers}

    def _weights(
        self, kind: str, candidates: Sequence[int], folds: Sequence[int] | range
    ) -> dict[int, float]:
        """{trial: weight above 0}, chosen by some folds alone."""
        score_by_trial = {n: self._score_on(n, folds) for n in candidates}
        ranked = sorted(candidates, key=lambda n: -score_by_trial[n])
        if kind == "uniform":
            ranked = ranked[: member_count(self._finished)]
            return dict.fromkeys(ranked, 1.0 / len(ranked))
        if self._problem.dataset.task.has_numbers:
            labels = [
                np.concatenate([self._trials[n].folds[a].labels for a in folds]) for n in ranked
            ]
            y = np.concatenate([self._y[fold] for fold in folds])
            weights = greedy_mean_weights(np.stack(labels, axis=1), y)
        else:
            logs = [np.concatenate([self._trials[n].logs[fold] for fold in folds]) for n in ranked]
            weights = member_weights("greedy", score_by_trial, ranked, True, np.stack(logs, axis=1))
        return {n: float(w) for n, w in zip(ranked, weights, strict=True) if w > 0}

    def _compare_averages(self, candidates: Sequence[int]) -> tuple[str, float, float]:
        """The better kind of average, its score, and that of the single best; fold by fold."""
        scores_by_kind: dict[str, list[float]] = {"greedy": [], "uniform": [], "single": []}
        for fold in range(len(self._folds)):
            other_folds = [
                other_fold for other_fold in range(len(self._folds)) if other_fold != fold
            ]
            best = max(candidates, key=lambda n: self._score_on(n, other_folds))
            scores_by_kind["single"].append(self._fold_score(fold, self._trials[best].folds[fold]))
            for kind in ("greedy", "uniform"):
                chosen = self._weights(kind, candidates, other_folds)
                predictions = [self._trials[n].folds[fold] for n in chosen]
                mean = average_predictions(predictions, np.array(list(chosen.values())))
                scores_by_kind[kind].append(self._fold_score(fold, mean))
        means = {kind: float(np.mean(scores)) for kind, scores in scores_by_kind.items()}
        kinds = ("greedy", "uniform")
        better = max(kinds, key=lambda kind: (self._sign * means[kind], kind == "greedy"))
        return better, means[better], means["single"]

    def _score_on(self, number: int, folds: Sequence[int] | range) -> float:
        """The mean score of a trial on some folds; larger is better."""
        trial = self._trials[number]
        return float(
            np.mean([self._sign * self._fold_score(fold, trial.folds[fold]) for fold in folds])
        )

    def _fold_score(self, fold: int, predictions: Predictions) -> float:
        return float(self._problem.metric.score(self._y[fold], predictions))


def _best_of(trials: Mapping[int, _TrialPredictions], numbers: Sequence[int]) -> list[int]:
    ranked = sorted(numbers, key=lambda n: (-trials[n].score, n))
    of_model: dict[str, int] = {}
    members = []
    for position, number in enumerate(ranked):
        name = trials[number].model
        of_model[name] = of_model.get(name, 0) + 1
        if position < OF_ALL or of_model[name] <= OF_EACH:
            members.append(number)
    return members
