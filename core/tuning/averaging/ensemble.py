"""The average while it forms: its members, weights and held-out score after every trial.

Members are the T = max(1, ⌊S/10⌋) best of S trials by f (McInerney 2017, §3.2). The average is
compared with the single best by cross-fitting: for each of G folds of the held-out rows, members
and weights are chosen by the other folds and scored on it, without another fit.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| S, T | | | finished trials, members |
| G | | | folds of the held-out rows |
| f | ``scores`` | | scores of trials |
| w | ``weights`` | (T,) | of members |
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.samplers import averaging
from core.space import Setting
from core.tuning.averaging.averaged_predictions import (
    average_predictions,
    concatenate_predictions,
    is_averageable,
    log_densities,
    member_disagreement,
)
from core.tuning.averaging.corrected_score import best_trial, corrected_score, greedy_average
from core.tuning.events import (
    DisputedRow,
    EnsembleUpdated,
    Event,
    MembersDisagree,
    TrialExcluded,
    TrialFinished,
)
from core.tuning.problem import Problem
from core.tuning.run_results import OmittedTrial
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import targets_of
from core.tuning.scores.scoring import TrialResult
from core.wording import shortened_text

FOLD_COUNT = 5  # of rows that are held out once
MAX_GREEDY_ROWS = 5000  # more change nothing and cost seconds
MAX_DISPUTED_ROWS = 12  # in the event of them
_MAX_LETTERS = 90  # characters of a row's text
_MAX_VALUES = 4  # of a row, in its text


@dataclass(frozen=True)
class HoldoutFoldPredictions:
    """The predictions of one trial for each of G folds, and the metric of each."""

    folds: tuple[Predictions, ...]
    scores: np.ndarray


class SettingEnsemble:
    """Which trials make the average, by their scores and held-out predictions.

    It holds the best trials' predictions and, with one fit a trial, the models of the T best and a
    spare.
    """

    def __init__(self, problem: Problem, planned: int) -> None:
        self._problem = problem
        self._kind = problem.options.weights
        self._maximize = problem.scored_by.maximize
        self.models: averaging.TopModels[Any] = averaging.TopModels(
            maximize=self._maximize, planned=planned
        )
        self._predictions: dict[int, HoldoutFoldPredictions] = {}
        self._left_out: dict[int, str] = {}
        self._latest: EnsembleUpdated | None = None
        self._average_scores: dict[tuple[int, ...], float] = {}  # by (fold, *members)
        self._folds, self._y = holdout_folds(problem)

    def replay_events(self, past: Sequence[Event]) -> dict[int, Setting]:
        """Add the trials of an interrupted run; the settings of those that must predict again."""
        finished = {event.number: event for event in past if isinstance(event, TrialFinished)}
        for event in past:
            match event:
                case TrialFinished():
                    self.models.add_model(event.number, event.score, None)
                case EnsembleUpdated():
                    new = [trial for trial in event.left_out if trial.number not in self._left_out]
                    self._left_out |= {trial.number: trial.reason for trial in new}
                    for trial in new:
                        self.models.exclude(trial.number)
                case TrialExcluded():
                    self.exclude(event)
        return {number: finished[number].setting for number in self._lacking_trials(finished)}

    def _lacking_trials(self, finished: Mapping[int, TrialFinished]) -> list[int]:
        """The trials whose predictions `_drop_unneeded` would have kept."""
        if len(self._folds) < 2:
            return []
        max_trials, excluded = self.models.capacity, self.models.excluded
        scores = {n: event.score for n, event in finished.items() if n in self.models.scores}
        fold_scores = {n: np.array(finished[n].fold_scores) for n in scores}
        scores = {n: score for n, score in scores.items() if n not in excluded}
        score_tables = [scores]
        if all(len(values) == len(self._folds) for values in fold_scores.values()):
            score_tables += [
                {n: float(np.delete(fold_scores[n], fold).mean()) for n in scores}
                for fold in range(len(self._folds))
            ]
        else:  # held out once: fold scores are not recorded, but close to that of all rows
            max_trials *= 2
        # Each fold's members are chosen by the others, so that each has a ranking of its own.
        best_numbers = [self._ranked_trials(table)[:max_trials] for table in score_tables]
        return sorted({number for numbers in best_numbers for number in numbers})

    def _ranked_trials(self, scores: dict[int, float]) -> list[int]:
        return averaging.rank_trials(scores, maximize=self._maximize)

    def add_recorded(self, result: TrialResult) -> None:
        """Add the repeated predictions of a recorded trial; its score stays as recorded."""
        if result.predictions and all(is_averageable(fold) for fold in result.predictions):
            self.models.add_model(result.number, self.models.scores[result.number], result.fitted)
            self._predictions[result.number] = self._fold_predictions(result)
            self._drop_unneeded()

    def add(self, result: TrialResult) -> None:
        self.models.add_model(result.number, result.score, result.fitted)
        if not result.predictions:
            return
        if all(is_averageable(predictions) for predictions in result.predictions):
            self._predictions[result.number] = self._fold_predictions(result)
        else:
            self._left_out[result.number] = (
                f"Trial {result.number} is left out of the average: its predictions are not all "
                "numbers."
            )
            self.models.exclude(result.number)
        self._drop_unneeded()

    def exclude(self, event: TrialExcluded) -> None:
        # What cannot be averaged stays out, whatever a person wants.
        if event.excluded or event.number in self._left_out:
            self.models.exclude(event.number)
        else:
            self.models.include(event.number)

    def updates(self) -> Iterator[Event]:
        """The members and weights now and, if they changed, where the members disagree."""
        members = self.models.members
        if not members:
            return
        w = self._weights(members)
        average, single = self._held_out_scores()
        update = EnsembleUpdated(
            finished=len(self.models.scores),
            members=members,
            weights=[float(weight) for weight in w],
            scores=[self.models.scores[number] for number in members],
            effective=averaging.effective_members(w),
            average=average,
            single=single,
            left_out=[OmittedTrial(n, why) for n, why in self._left_out.items()],
        )
        before, self._latest = self._latest, update
        yield update
        is_new = before is None or (before.members, before.weights) != (members, update.weights)
        if is_new and len(members) > 1 and all(n in self._predictions for n in members):
            predictions = [concatenate_predictions(self._predictions[n].folds) for n in members]
            rows = np.concatenate(self._folds)
            yield members_disagree(self._problem, rows, members, w, predictions)

    def _weights(self, members: list[int]) -> np.ndarray:
        latest = self._latest
        # The same members on the same rows: greedy selection would choose the same again.
        if self._kind == "greedy" and latest is not None and latest.members == members:
            return np.array(latest.weights)
        logs = self._log_densities(members, range(len(self._folds)))
        return member_weights(self._kind, self.models.scores, members, self._maximize, logs)

    def _held_out_scores(self) -> tuple[float | None, float | None]:
        if len(self._folds) < 2 or any(n not in self._predictions for n in self.models.members):
            return None, None
        averages, singles = [], []
        for fold in range(len(self._folds)):
            scores = self._scores_without(fold)
            best_numbers = self._ranked_trials(scores)[
                : averaging.member_count(len(self.models.scores))
            ]
            averages.append(self._average_score(fold, scores, best_numbers))
            singles.append(self._predictions[best_numbers[0]].scores[fold])
        return _finite_mean(averages), _finite_mean(singles)

    def _average_score(self, fold: int, scores: dict[int, float], members: list[int]) -> float:
        key = (fold, *members)
        # Tempered weights depend on the scores of all trials, which grow.
        if self._kind != "tempered" and key in self._average_scores:
            return self._average_scores[key]
        predictions = [self._predictions[number].folds[fold] for number in members]
        logs = self._log_densities(members, [k for k in range(len(self._folds)) if k != fold])
        w = member_weights(self._kind, scores, members, self._maximize, logs)
        score = self._score_fold(fold, average_predictions(predictions, w))
        # One average of each fold is enough: members change rarely, and do not come back.
        self._average_scores = {old: f for old, f in self._average_scores.items() if old[0] != fold}
        self._average_scores[key] = score
        return score

    def _scores_without(self, fold: int) -> dict[int, float]:
        return {
            number: float(np.delete(predictions.scores, fold).mean())
            for number, predictions in self._predictions.items()
            if number not in self.models.excluded
        }

    def _log_densities(self, members: list[int], folds: Sequence[int]) -> np.ndarray | None:
        """The members' log densities of the rows of some folds, (n, T), where weights need them."""
        has_all = all(number in self._predictions for number in members)
        if self._kind != "greedy" or len(members) == 1 or not has_all:
            return None
        y = np.concatenate([self._y[fold] for fold in folds])
        of_folds = ([self._predictions[n].folds[fold] for fold in folds] for n in members)
        return log_densities(y, [concatenate_predictions(folds) for folds in of_folds])

    def _score_fold(self, fold: int, predictions: Predictions) -> float:
        metric = self._problem.fold_metric
        if getattr(predictions, metric.needs) is None:
            return math.nan  # base pairs of an average are known only once it is one model
        return metric.score(self._y[fold], predictions)

    def _fold_predictions(self, result: TrialResult) -> HoldoutFoldPredictions:
        folds = predictions_by_fold(self._problem, result, self._folds)
        if len(result.predictions) > 1:
            return HoldoutFoldPredictions(folds, np.array(result.fold_scores))
        scores = [self._score_fold(fold, predictions) for fold, predictions in enumerate(folds)]
        return HoldoutFoldPredictions(folds, np.array(scores))

    def _drop_unneeded(self) -> None:
        """Keep the predictions of trials that are, or without one fold would be, among the best."""
        max_trials = self.models.capacity
        needed = set(self.models.trials_with_models[:max_trials]) | set(self.models.members)
        for fold in range(len(self._folds)):
            needed |= set(self._ranked_trials(self._scores_without(fold))[:max_trials])
        self._predictions = {n: self._predictions[n] for n in self._predictions if n in needed}


def member_weights(
    kind: str,
    scores: dict[int, float],
    members: Sequence[int],
    maximize: bool,
    logs: np.ndarray | None,
) -> np.ndarray:
    """The weights of members, the best first, shape (T,): uniform, tempered or greedy.

    The last needs `logs`, the members' log densities of held-out rows, (n, T), or is uniform.
    """
    if kind == "tempered":
        return averaging.tempered_weights(scores, members, maximize=maximize)
    if kind == "uniform" or logs is None:
        return np.full(len(members), 1.0 / len(members))
    return averaging.greedy_weights(logs[:: math.ceil(len(logs) / MAX_GREEDY_ROWS)])


def holdout_folds(problem: Problem) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The dataset's rows of every holdout fold, and their targets as metrics take them.

    After several divisions they are those of the first, a row in its fold once for every division.
    """
    if problem.validation_scheme == "training":
        return [], []
    repeats = problem.fold_repeats
    folds = [np.tile(rows, repeats) for _, rows in problem.splits[: len(problem.splits) // repeats]]
    # Held out once: parts of these rows stand for folds, what is kept together in one of them.
    if len(folds) == 1:
        (rows,) = folds
        units = problem.units.take_rows(rows).index
        folds = [rows[units % FOLD_COUNT == fold] for fold in range(FOLD_COUNT)]
        folds = [fold_rows for fold_rows in folds if len(fold_rows)]
    task, classes, target = problem.dataset.task, problem.dataset.classes, problem.dataset.target
    return folds, [targets_of(target[rows], task, classes) for rows in folds]


def with_corrected_scores(
    problem: Problem, update: EnsembleUpdated, folds_by_trial: Mapping[int, Sequence[Predictions]]
) -> EnsembleUpdated:
    """An update whose scores are those expected on new rows, with their intervals.

    The update is that of the end, with the scores of the average and of the single best;
    `folds_by_trial` has all trials' predictions for the folds of `holdout_folds`.
    """
    folds, targets = holdout_folds(problem)
    units = problem.units.codes[np.concatenate(folds)]  # a row may be held out repeatedly
    y, metric, seed = np.concatenate(targets), problem.fold_metric, problem.plan.seed
    predictions = {n: concatenate_predictions(folds) for n, folds in folds_by_trial.items()}
    single, average = (
        corrected_score(y, predictions, rule, metric, seed, units)
        for rule in (best_trial(y, predictions, metric), greedy_average(y, predictions))
    )
    if single is None or average is None:
        return update
    return replace(
        update,
        average=average.estimate,
        single=single.estimate,
        average_interval=[average.low, average.high],
        single_interval=[single.low, single.high],
    )


def predictions_by_fold(
    problem: Problem, result: TrialResult, folds: Sequence[np.ndarray]
) -> tuple[Predictions, ...]:
    """A trial's predictions for every holdout fold of `holdout_folds`."""
    if problem.fold_repeats > 1:
        repeat_count, held_out_rows = problem.fold_repeats, [rows for _, rows in problem.splits]
        count = len(held_out_rows) // repeat_count
        folds_of_repeat = [fold[: len(fold) // repeat_count] for fold in folds]
        fold_predictions: list[list[Predictions]] = [[] for _ in folds]
        for start in range(0, len(held_out_rows), count):
            repeat_predictions = concatenate_predictions(result.predictions[start : start + count])
            rows = np.concatenate(held_out_rows[start : start + count])
            fold_positions = _fold_positions(rows, folds_of_repeat)
            for predictions, positions in zip(fold_predictions, fold_positions, strict=True):
                predictions.append(repeat_predictions.subset(positions))
        return tuple(concatenate_predictions(predictions) for predictions in fold_predictions)
    if len(result.predictions) > 1:
        return result.predictions
    fold_positions = _fold_positions(problem.splits[0][1], folds)
    return tuple(_take_predictions(result.predictions[0], rows) for rows in fold_positions)


def _fold_positions(rows: np.ndarray, folds: Sequence[np.ndarray]) -> list[np.ndarray]:
    order = np.argsort(rows)
    positions = order[np.searchsorted(rows, np.concatenate(folds), sorter=order)]
    return np.split(positions, np.cumsum([len(fold) for fold in folds])[:-1])


def _take_predictions(predictions: Predictions, rows: np.ndarray) -> Predictions:
    subset = predictions.subset(rows)
    if subset.whole is None:
        return subset
    numbers = np.unique(subset.whole[:, 1], return_inverse=True)[1]
    return replace(subset, whole=np.stack([subset.whole[:, 0], numbers], axis=1))


def _finite_mean(values: list[float]) -> float | None:
    value = float(np.mean(values))
    return value if math.isfinite(value) else None


def members_disagree(
    problem: Problem,
    rows: np.ndarray,
    members: Sequence[int],
    weights: np.ndarray,
    all_predictions: Sequence[Predictions],
) -> MembersDisagree:
    """The event with those of the held-out `rows` about which the members disagree most."""
    dataset = problem.dataset
    disagreements = member_disagreement(all_predictions, weights)
    targets = targets_of(dataset.target[rows], dataset.task, dataset.classes)
    disputed = np.argsort(-disagreements, kind="stable")[:MAX_DISPUTED_ROWS]
    disputed_predictions = [predictions.subset(disputed) for predictions in all_predictions]
    outputs = _member_outputs(targets[disputed], disputed_predictions)
    return MembersDisagree(
        members=list(members),
        weights=[float(weight) for weight in weights],
        classes=[str(name) for name in dataset.classes],
        rows=[
            DisputedRow(
                row=int(rows[index]),
                about=row_text(dataset, int(rows[index])),
                truth=_target_text(dataset, int(rows[index])),
                spread=float(disagreements[index]),
                said=[member_outputs[position] for member_outputs in outputs],
            )
            for position, index in enumerate(disputed)
        ],
        spread=float(disagreements.mean()),
    )


def row_text(dataset: Dataset, row: int) -> str:
    """A row in a few words: its name or text, or its first values."""
    # A name or a text says more of a row than its values.
    if dataset.row_names is not None:
        return shortened_text(dataset.row_names[row], _MAX_LETTERS)
    if dataset.matrix is not None:
        stored = dataset.matrix[row]
        pairs = list(zip(stored.indices, stored.data, strict=True))[:_MAX_VALUES]
        named = [f"feature {column + 1} {_value_text(value)}" for column, value in pairs]
        return shortened_text(", ".join(named), _MAX_LETTERS)
    assert dataset.table is not None
    values = dataset.table.iloc[row]
    if len(values) == 1:
        return shortened_text(_value_text(values.iloc[0]), _MAX_LETTERS)
    named = [f"{name} {_value_text(value)}" for name, value in values.iloc[:_MAX_VALUES].items()]
    more = ", …" if len(values) > _MAX_VALUES else ""
    return shortened_text(", ".join(named) + more, _MAX_LETTERS)


def _member_outputs(targets: np.ndarray, all_predictions: Sequence[Predictions]) -> list[list[Any]]:
    """Every member's output for every row: probabilities, a number, or a log density."""
    first = all_predictions[0]
    if first.probabilities is not None:
        return [np.asarray(member.probabilities).tolist() for member in all_predictions]
    if first.documents is None and first.losses is None:
        return [[float(number) for number in member.labels] for member in all_predictions]
    return log_densities(targets, all_predictions).T.tolist()


def _target_text(dataset: Dataset, row: int) -> str:
    has_value = dataset.task.has_classes or dataset.task.has_numbers
    return _value_text(dataset.target[row]) if has_value else ""


def _value_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "missing" if pd.isna(value) else f"{value:.4g}"
    return " ".join(str(value).split())
