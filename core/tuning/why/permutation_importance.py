"""The loss of score when columns of test rows are shuffled.

Preparation works column by column, so shuffled prepared columns are the prepared shuffled columns:
test rows are prepared once.

| symbol | code | meaning |
| --- | --- | --- |
| R | ``orders`` | orders of the rows, shape (R, n) of each fold |
| φ | | influence of a row on a score (core.evaluation.influence) |
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.datasets.prepared_columns import output_sources
from core.evaluation.influence import mean_influence, normal_interval, standard_error
from core.evaluation.permutation import permuted
from core.tuning.scores.bootstrap import percentile_interval, resampled_scores
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import predict_all
from core.tuning.why.answer_types import ScoreLoss
from core.tuning.why.tested_model import TestedFold, TestedModel, merge_fold_predictions

# Test rows from which on intervals are normal, where the metric has influences. Those of areas
# under the ROC curve always are, by DeLong's pairs: every resample would cost a sort.
MIN_NORMAL_ROWS = 5000
_CELLS = 4e6  # of a prepared table that is held several times


class ColumnPermuter:
    """Shuffles columns of the folds' test rows R = `repeats` times, and scores the predictions."""

    def __init__(
        self, tested_model: TestedModel, folds: Sequence[TestedFold], repeats: int
    ) -> None:
        self._metric: Metric = tested_model.metric
        self._names = [str(name) for name in tested_model.dataset.feature_names]
        self._sign = 1.0 if self._metric.maximize else -1.0
        self._seed, self._repeats = tested_model.problem.plan.seed, repeats
        self._y = np.concatenate([fold.y for fold in folds])
        self._groups = None
        if tested_model.dataset.test is None and tested_model.dataset.row_groups is not None:
            rows = np.concatenate([fold.rows for fold in folds])
            named = tested_model.dataset.row_groups[rows].astype(str)
            self._groups = np.unique(named, return_inverse=True)[1]
        generator = np.random.default_rng(self._seed)
        self._folds = [
            _Prepared(fold, np.array([generator.permutation(len(fold.y)) for _ in range(repeats)]))
            for fold in folds
        ]
        self._base = merge_fold_predictions([fold.predict_unshuffled() for fold in self._folds])
        normal = len(self._y) >= MIN_NORMAL_ROWS or self._metric.bounded
        self._base_influence = self._influence(self._base) if normal else None

    @property
    def width(self) -> int:
        """How many prepared columns there are."""
        return max((fold.width for fold in self._folds), default=0)

    def importance_of(self, columns: Sequence[int]) -> ScoreLoss:
        """The loss of score when these columns are shuffled together."""
        fold_predictions = [fold.predict_shuffled(columns) for fold in self._folds]
        all_predictions = [
            merge_fold_predictions([fold[r] for fold in fold_predictions])
            for r in range(self._repeats)
        ]
        scores = [self._metric.score(self._y, predictions) for predictions in all_predictions]
        mean = self._sign * (self._metric.score(self._y, self._base) - float(np.mean(scores)))
        low, high = self._interval(mean, all_predictions, scores)
        names = [self._names[column] for column in columns]
        return ScoreLoss(names, mean, min(low, mean), max(high, mean))

    def _interval(
        self, mean: float, all_predictions: Sequence[Predictions], scores: Sequence[float]
    ) -> tuple[float, float]:
        if self._base_influence is None:
            return self._resampled_interval(all_predictions)
        influences = [self._influence(predictions) for predictions in all_predictions]
        phi = [influence for influence in influences if influence is not None]
        loss = self._base_influence - np.mean(phi, axis=0)
        error = standard_error(loss, self._groups)
        chance = float(np.var(scores, ddof=1)) / len(scores) if len(scores) > 1 else 0.0
        return normal_interval(mean, math.sqrt(error**2 + chance))

    def _resampled_interval(self, all_predictions: Sequence[Predictions]) -> tuple[float, float]:
        compared, groups, R = [self._base, *all_predictions], self._groups, len(all_predictions)
        drawn = resampled_scores(self._metric, self._y, compared, self._seed, groups)
        drawn = self._sign * drawn
        generator = np.random.default_rng(self._seed + 1)
        draws = 1 + generator.integers(R, size=(R, drawn.shape[1]))
        return percentile_interval(drawn[0] - np.take_along_axis(drawn, draws, axis=0).mean(axis=0))

    def _influence(self, predictions: Predictions) -> np.ndarray | None:
        """φ of every row, shape (n,); None where the metric has none."""
        output = getattr(predictions, self._metric.needs)
        if self._metric.influence is not None:
            phi = self._metric.influence(self._y, output)
        elif self._metric.right is not None:
            phi = mean_influence(self._metric.right(self._y, output).astype(float))
        else:
            return None
        return phi if np.isfinite(phi).all() else None


class _Prepared:
    """A fold's prepared test rows, stacked for as many orders as are predicted at once."""

    def __init__(self, fold: TestedFold, orders: np.ndarray) -> None:
        self._fold, self._orders = fold, orders
        self._X: Any = fold.pipeline[:1].transform(fold.X)
        self._model, self._sources = fold.pipeline[1:], source_columns(fold)
        n, self.width = self._X.shape
        self._at_once = int(np.clip(_CELLS / max(n * self.width, 1), 1, len(orders)))
        self._dense = None
        if isinstance(self._X, np.ndarray):
            self._dense = np.tile(self._X, (self._at_once, 1))

    def predict_unshuffled(self) -> Predictions:
        return self._predict_rows(self._X)

    def predict_shuffled(self, columns: Sequence[int]) -> list[Predictions]:
        prepared_columns = np.flatnonzero(np.isin(self._sources, columns))
        chunks = range(0, len(self._orders), self._at_once)
        orders = (self._orders[first : first + self._at_once] for first in chunks)
        nested = [self._predict_orders(prepared_columns, chunk) for chunk in orders]
        return list(itertools.chain.from_iterable(nested))

    def _predict_orders(self, columns: np.ndarray, orders: np.ndarray) -> list[Predictions]:
        n = self._X.shape[0]
        if self._dense is None:
            predictions = self._predict_rows(permuted(self._X, columns, orders))
        else:
            buffer = self._dense[: len(orders) * n]
            buffer[:, columns] = self._X[np.ix_(orders.ravel(), columns)]
            try:
                predictions = self._predict_rows(buffer)
            finally:
                buffer[:, columns] = np.tile(self._X[:, columns], (len(orders), 1))
        rows = np.arange(n)
        return [predictions.subset(rows + index * n) for index in range(len(orders))]

    def _predict_rows(self, X: Any) -> Predictions:
        dataset = self._fold.problem.dataset
        return predict_all(self._model, X, dataset.classes, task=dataset.task)


def source_columns(fold: TestedFold) -> np.ndarray:
    """The column of the table that every prepared column comes from, shape (outputs,)."""
    sources, dataset = output_sources(fold.pipeline.named_steps["prepare"]), fold.problem.dataset
    if dataset.is_sparse:
        return np.arange(len(sources))
    column_index = {str(name): index for index, name in enumerate(dataset.feature_names)}
    return np.array([column_index[str(source)] for source in sources], dtype=int)
