"""The tested model's predictions as one column changes: partial dependence and single test rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import moments
from core.datasets.dataset_summary import Column
from core.errors import UnusableError
from core.evaluation import column_effects
from core.tuning.why.answer_types import Dependence
from core.tuning.why.tested_model import TestedFold, TestedModel
from core.wording import quoted

MAX_ROWS = 400  # test rows of the mean
SHOWN_ROWS = 30  # whose own curves are shown
BINS = 24


def dependence(tested_model: TestedModel, name: str) -> Dependence:
    """A column's partial dependence, for the second of two classes or else the most frequent."""
    names = [str(feature) for feature in tested_model.dataset.feature_names]
    if name not in names:
        raise UnusableError("there is no such column", where=name)
    column = names.index(name)
    column_facts: Column | None = None
    if not tested_model.dataset.is_sparse:
        column_facts = next(c for c in tested_model.dataset.columns if c.name == name)
        if column_facts.kind == "text":
            return Dependence(name, "A column of texts has no order to follow.")
    values = tested_model.column_values(column)
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    grid, axis_values, words = _value_grid(values, is_numeric, column_facts)
    if not len(grid):
        return Dependence(name, "The column has no value in the test rows.")
    class_code, answer = _followed_class(tested_model)
    seed, rows_per_fold = tested_model.problem.plan.seed, MAX_ROWS // len(tested_model.folds)
    generator = np.random.default_rng(seed)
    folds = [fold.sample_rows(max(1, rows_per_fold), generator) for fold in tested_model.folds]
    curves = [
        column_effects.individual_curves(_class_scorer(fold, class_code), fold.X, column, grid)
        for fold in folds
    ]
    row_curves = np.concatenate(curves)
    mean, low, high = column_effects.mean_with_band(row_curves)
    shown = np.random.default_rng(seed).permutation(len(row_curves))[:SHOWN_ROWS]
    counts, edges = _value_counts(values, is_numeric, grid)
    return Dependence(
        name=name,
        answer=answer,
        numbers=bool(is_numeric),
        grid=axis_values,
        words=words,
        mean=mean.tolist(),
        low=low.tolist(),
        high=high.tolist(),
        rows=np.round(row_curves[np.sort(shown)], 6).tolist(),
        used=len(row_curves),
        counts=counts,
        edges=edges,
        unit=(column_facts.unit or None) if column_facts else None,
    )


def _value_grid(
    values: pd.Series, is_numeric: bool, column_facts: Column | None
) -> tuple[list[Any], list[float], list[str]]:
    if is_numeric and not pd.api.types.is_bool_dtype(values.dtype):
        grid = column_effects.number_grid(values.to_numpy(float, na_value=np.nan)).tolist()
        return grid, grid, []
    if column_facts is not None and column_facts.kind == "date":
        times = moments(values, column_facts.date_format)
        order = np.argsort(times.to_numpy())[: int(times.notna().sum())]
        picks = np.unique(np.linspace(0, len(order) - 1, min(12, len(order))).astype(int))
        words = [str(values.iloc[row]) for row in dict.fromkeys(order[picks].tolist())]
        words = list(dict.fromkeys(words))
        return words, list(range(len(words))), words
    grid = column_effects.frequent_values(values)
    return grid, list(range(len(grid))), [str(value) for value in grid]


def _value_counts(
    values: pd.Series, is_numeric: bool, grid: list[Any]
) -> tuple[list[int], list[float]]:
    """A histogram and its edges; counts without edges for words."""
    if not is_numeric or pd.api.types.is_bool_dtype(values.dtype):
        text_counts = values.astype(str).value_counts()
        return [int(text_counts.get(str(value), 0)) for value in grid], []
    numeric_values = values.to_numpy(float, na_value=np.nan)
    numeric_values = numeric_values[np.isfinite(numeric_values)]
    counts, edges = np.histogram(numeric_values, bins=BINS)
    return counts.tolist(), edges.tolist()


def _followed_class(tested_model: TestedModel) -> tuple[int | None, str]:
    labels = [str(label) for label in tested_model.dataset.classes]
    if not labels:
        dataset = tested_model.dataset
        targets = [column.title for column in dataset.columns if column.role == "target"]
        return None, f"predicted {dataset.target_name if dataset.is_sparse else targets[0]}"
    codes = tested_model.y[tested_model.y >= 0].astype(int)
    most_frequent = int(np.bincount(codes, minlength=len(labels)).argmax())
    class_code = 1 if len(labels) == 2 else most_frequent
    scale = "score" if tested_model.predictions.probabilities is None else "probability"
    return class_code, f"{scale} of {quoted([labels[class_code]])[0]}"


def _class_scorer(fold: TestedFold, class_code: int | None) -> Callable[[Any], np.ndarray]:
    def class_scores(X: Any) -> np.ndarray:
        predictions = fold.predict(X)
        if class_code is None:
            return predictions.labels
        scores = predictions.probabilities
        scores = predictions.scores if scores is None else scores
        assert scores is not None
        return scores[:, class_code]

    return class_scores
