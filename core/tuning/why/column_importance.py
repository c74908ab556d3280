"""Which columns matter: how much worse the score becomes when a column is shuffled.

| symbol | code | meaning |
| --- | --- | --- |
| R | ``repeats`` | shufflings of a column |
| s | | the score of the test rows; s_r that with the column in the r-th other order |

The importance of a column is s − mean_r s_r, its sign turned so that above 0 the column helps
(Breiman 2001; Fisher, Rudin & Dominici 2019). Its interval is that of the loss without each unit of
the test rows (core.evaluation.unit_intervals), widened by the chance of the R shufflings. The model
knows no test row.

Preparation works column by column: test rows are prepared once.
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import moments
from core.datasets.column_format import seconds_since_1970
from core.datasets.preparation import output_names, output_sources
from core.estimators.multi_model import without_own_columns
from core.estimators.stored.plain_model import on_own_scale
from core.evaluation.column_effects import alike_groups, permuted
from core.tuning.averaging.averaged_predictions import concatenate_predictions
from core.tuning.problem import take_rows
from core.tuning.scores.metric import Metric, Predictions
from core.tuning.scores.metrics import predict_all
from core.tuning.scores.unit_scores import mean_difference
from core.tuning.why.answer_types import AlikeColumns, ColumnImportance, ColumnLoss, ScoreLoss
from core.tuning.why.column_dependence import dependence
from core.tuning.why.tested_model import TestedFold, TestedModel, units_of_rows

REPEATS = 5
MIN_ROWS = 2000  # test rows that are shuffled in any case, where there are so many
MAX_ROWS = 100_000
# Of more columns the strongest, by the correlation of prepared columns and predictions on training
# rows, times the weight of a linear model.
MAX_COLUMNS = 60
SECONDS = 8.0  # that the shuffling may take, roughly
SHOWN_ALONG = 3  # columns whose partial dependence comes with the answer
_REPORT_SECONDS = 0.3  # seconds
_SCREENING_ROWS = 2000  # training rows of the screen
_MAX_CELLS = 2e7  # of the prepared test rows


def importance(tested_model: TestedModel) -> Iterator[ColumnImportance]:
    """Partial answers, then the answer."""
    names = [str(name) for name in tested_model.dataset.feature_names]
    permuter, rows, chosen_columns = _affordable_shuffling(tested_model, len(names))
    alike = _similar_columns(tested_model, chosen_columns)
    weights = _weight_by_column(tested_model.folds[0])
    column_groups: list[tuple[int, ...]] = [(column,) for column in chosen_columns]
    column_groups += [tuple(group) for group, _ in alike]
    nothing_shuffled = ColumnImportance(
        metric=tested_model.metric.name,
        rows=rows,
        test_rows=len(tested_model.y),
        repeats=REPEATS,
        total=len(names),
        screened=len(chosen_columns) < len(names),
        alike=[AlikeColumns([names[c] for c in group], least) for group, least in alike],
        asked=len(column_groups),
        units=tested_model.dataset.units_of_columns or None,
        done=False,
    )
    losses: dict[tuple[int, ...], ScoreLoss] = {}
    last_report_seconds = time.monotonic()
    for columns in column_groups:
        losses[columns] = permuter.importance_of(columns)
        waited = time.monotonic() - last_report_seconds > _REPORT_SECONDS
        if waited and len(losses) < len(column_groups):
            yield _with_losses(nothing_shuffled, losses, weights)
            last_report_seconds = time.monotonic()
    shuffled = _with_losses(nothing_shuffled, losses, weights)
    first = [column.names[0] for column in shuffled.columns[:SHOWN_ALONG]]
    shown = {name: dependence(tested_model, name) for name in first}
    yield replace(shuffled, dependence=shown, done=True)


def _with_losses(
    nothing_shuffled: ColumnImportance,
    losses: Mapping[tuple[int, ...], ScoreLoss],
    weights: Mapping[int, float],
) -> ColumnImportance:
    grouped = {column for group in losses if len(group) > 1 for column in group}
    falling = sorted(losses.items(), key=lambda entry: -entry[1].mean)
    columns = [
        ColumnLoss(loss.names, loss.mean, loss.low, loss.high, weights.get(shuffled[0]))
        for shuffled, loss in falling
        if len(shuffled) == 1
    ]
    groups = [loss for group, loss in falling if len(group) > 1 or group[0] not in grouped]
    return replace(nothing_shuffled, columns=columns, groups=groups, shuffled=len(losses))


def _affordable_shuffling(
    tested_model: TestedModel, width: int
) -> tuple["ColumnPermuter", int, list[int]]:
    folds = _limited_folds(tested_model, MIN_ROWS)
    permuter, rows = ColumnPermuter(tested_model, folds, REPEATS), sum(len(f.y) for f in folds)
    seconds_per_column = _seconds_of_one(permuter) if width else 0.0
    max_columns = int(np.clip(SECONDS / max(seconds_per_column, 1e-4), 5, MAX_COLUMNS))
    if width > max_columns:
        strength = column_strengths(tested_model.folds[0])
        chosen_columns = np.argsort(-strength, kind="stable")[:max_columns]
        return permuter, rows, np.sort(chosen_columns).tolist()
    outputs = max(permuter.width, 1)
    max_rows = int(min(len(tested_model.y), MAX_ROWS, max(_MAX_CELLS / outputs, MIN_ROWS)))
    while rows < max_rows and width * seconds_per_column < SECONDS:
        # Seconds grow at most as rows do, so that a step that fits by this does fit.
        growth = min(8.0, SECONDS / max(width * seconds_per_column, 1e-4))
        row_count = int(min(max_rows, rows * growth))
        if row_count < 1.2 * rows:
            break
        folds = _limited_folds(tested_model, row_count)
        permuter, rows = ColumnPermuter(tested_model, folds, REPEATS), sum(len(f.y) for f in folds)
        seconds_per_column = _seconds_of_one(permuter)
    return permuter, rows, list(range(width))


def _seconds_of_one(permuter: "ColumnPermuter") -> float:
    start_time = time.monotonic()
    permuter.importance_of([0])
    return time.monotonic() - start_time


def _limited_folds(tested_model: TestedModel, max_rows: int) -> list[TestedFold]:
    count, folds = len(tested_model.y), list(tested_model.folds)
    if count <= max_rows:
        return folds
    generator = np.random.default_rng(tested_model.problem.plan.seed)
    chosen = np.sort(generator.choice(count, max_rows, replace=False))
    ends = np.cumsum([0, *(len(fold.y) for fold in folds)])
    rows_by_fold = [chosen[(a <= chosen) & (chosen < b)] - a for a, b in itertools.pairwise(ends)]
    return [fold.subset(rows) for fold, rows in zip(folds, rows_by_fold, strict=True) if len(rows)]


def column_strengths(fold: TestedFold) -> np.ndarray:
    """How strongly predictions correlate with each column, on training rows, shape (p,)."""
    names, problem = [str(n) for n in fold.problem.dataset.feature_names], fold.problem
    rows = problem.train_rows
    if len(rows) > _SCREENING_ROWS:
        generator = np.random.default_rng(problem.plan.seed)
        rows = np.sort(generator.choice(rows, _SCREENING_ROWS, replace=False))
    X = take_rows(problem.dataset.features, rows)
    Z = fold.pipeline[:-1].transform(X)
    predictions = fold.predict(X)
    answers = predictions.labels[:, None] if predictions.scores is None else predictions.scores
    answers = answers - answers.mean(axis=0)
    size = np.linalg.norm(answers, axis=0)
    answers = answers[:, size > 0] / size[size > 0]
    spread = _deviations(Z)
    products = np.abs(np.asarray(Z.T @ answers)).max(axis=1, initial=0.0)
    correlations = np.divide(products, spread, out=np.zeros_like(products), where=spread > 0)
    if (w := _coefficients(fold.pipeline)) is not None and w.shape[1] == len(correlations):
        correlations = correlations * np.abs(w).max(axis=0) * spread
    strength = np.zeros(len(names))
    np.maximum.at(strength, source_columns(fold), correlations)
    return strength


def _deviations(Z: Any) -> np.ndarray:
    if hasattr(Z, "toarray"):
        mean = np.asarray(Z.mean(axis=0)).ravel()
        square = np.asarray(Z.multiply(Z).mean(axis=0)).ravel()
        return np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.asarray(Z, dtype=float).std(axis=0)


def _coefficients(pipeline: Any) -> np.ndarray | None:
    """The weights of a linear model, shape (outputs, prepared columns); None for other models."""
    model = pipeline[-1]
    model = getattr(model, "estimator_", model)  # behind a threshold
    model, columns = without_own_columns(model)
    model, _, unit = on_own_scale(model)
    w = getattr(model, "coef_", None)
    if w is None or hasattr(w, "toarray"):
        return None
    weights = unit * np.atleast_2d(np.asarray(w, dtype=float))
    if columns == slice(None):
        return weights
    all_weights = np.zeros((len(weights), len(output_names(pipeline[0]))))
    all_weights[:, columns] = weights
    return all_weights


def _weight_by_column(fold: TestedFold) -> dict[int, float]:
    """{column: weight on the scaled column} of a linear model; empty for others."""
    w = _coefficients(fold.pipeline)
    if w is None:
        return {}
    rows = fold.problem.train_rows[:_SCREENING_ROWS]
    Z = fold.pipeline[:-1].transform(take_rows(fold.problem.dataset.features, rows))
    if w.shape[1] != Z.shape[1]:
        return {}
    scaled, sources = w * _deviations(Z), source_columns(fold)
    by_column = {int(column): scaled[:, sources == column] for column in np.unique(sources)}
    return {
        column: float(v[0, 0] if v.size == 1 else np.sqrt((v**2).sum()))
        for column, v in by_column.items()
    }


def _similar_columns(
    tested_model: TestedModel, chosen_columns: Sequence[int]
) -> list[tuple[list[int], float]]:
    dataset = tested_model.dataset
    rows = tested_model.folds[0].problem.train_rows[:_SCREENING_ROWS]
    X = take_rows(dataset.features, rows)
    by_name = {column.name: column for column in dataset.columns} if not dataset.is_sparse else {}
    values, categories, columns = [], [], []
    for column in chosen_columns:
        is_category = False
        if dataset.is_sparse:
            numbers = np.asarray(X[:, [column]].todense(), dtype=float).ravel()
        else:
            facts, cells = by_name[dataset.feature_names[column]], X.iloc[:, column]
            if facts.kind == "text":
                continue
            if facts.kind == "date":
                numbers = seconds_since_1970(moments(cells, facts.date_format))
            elif pd.api.types.is_numeric_dtype(cells.dtype):
                numbers = cells.to_numpy(float, na_value=np.nan)
            else:
                numbers, is_category = pd.factorize(cells)[0].astype(float), True
        values.append(numbers)
        categories.append(is_category)
        columns.append(column)
    groups = alike_groups(values, categories)
    return [([columns[index] for index in group], least) for group, least in groups]


_WEIGHED = 1e5  # rows × units of a score; beyond it first order is enough, and takes no time
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
        rows = np.concatenate([fold.rows for fold in folds])
        self._units = units_of_rows(tested_model.problem, rows)
        generator = np.random.default_rng(self._seed)
        self._folds = [
            _Prepared(fold, np.array([generator.permutation(len(fold.y)) for _ in range(repeats)]))
            for fold in folds
        ]
        self._base = concatenate_predictions([fold.predict_unshuffled() for fold in self._folds])

    @property
    def width(self) -> int:
        return max((fold.width for fold in self._folds), default=0)

    def importance_of(self, columns: Sequence[int]) -> ScoreLoss:
        fold_predictions = [fold.predict_shuffled(columns) for fold in self._folds]
        all_predictions = [
            concatenate_predictions([fold[r] for fold in fold_predictions])
            for r in range(self._repeats)
        ]
        mean, *ends = mean_difference(
            self._metric, self._y, [self._base], all_predictions, self._units, _WEIGHED
        )
        low, high = sorted(self._sign * end for end in ends)
        return ScoreLoss([self._names[c] for c in columns], self._sign * mean, low, high)


class _Prepared:
    """A fold's prepared test rows, stacked for as many orders as are predicted at once."""

    def __init__(self, fold: TestedFold, orders: np.ndarray) -> None:
        self._fold, self._orders = fold, orders
        self._X: Any = fold.pipeline[:1].transform(fold.X)
        self._model, self._sources = fold.pipeline[1:], source_columns(fold)
        n, self.width = self._X.shape
        # Several orders in one call of the model: of few rows the call costs more than its work.
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
                # The buffer serves the next columns, which expect these in their own order.
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
