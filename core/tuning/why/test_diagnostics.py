"""The tested model's predictions of test rows: curves, calibration, residuals, worst rows."""

import numpy as np
import pandas as pd

from core.datasets.reading import rows_in_file
from core.datasets.units import Units
from core.evaluation import curves
from core.evaluation.unit_intervals import joined_units, mean_left_out, spread_of
from core.records import strict_json
from core.tuning.why import answer_types
from core.tuning.why.tested_model import TestedModel

MAX_CLASSES = 20
MAX_THRESHOLDS = 200
MAX_POINTS = 500
MAX_COLUMNS = 40
MAX_WRONG_ROWS = 20
HALF = 0.5
_BINS = 8


def test_diagnostics(tested_model: TestedModel) -> answer_types.RowDiagnostics:
    """Diagnostics of the test rows."""
    if tested_model.dataset.task.has_numbers:
        residuals = _residuals(tested_model)
        return answer_types.RegressionDiagnostics(
            len(tested_model.y), _wrong_rows(tested_model), residuals
        )
    return _class_diagnostics(tested_model)


def _class_diagnostics(tested_model: TestedModel) -> answer_types.ClassDiagnostics:
    labels = [str(label) for label in tested_model.dataset.classes]
    predictions = tested_model.predictions
    scores = predictions.scores if predictions.probabilities is None else predictions.probabilities
    assert scores is not None
    is_known = tested_model.y >= 0
    y, scores = tested_model.y[is_known].astype(int), scores[is_known]
    units = tested_model.units.take_rows(is_known)
    counts = np.bincount(y, minlength=len(labels))
    order = np.argsort(-counts, kind="stable")[:MAX_CLASSES]
    codes = [1, 0] if len(labels) == 2 else [int(code) for code in order if counts[code]]
    has_probabilities = predictions.probabilities is not None
    tallies = {}
    for code in codes:
        positive, score = y == code, scores[:, code]
        full_curve = curves.threshold_counts(positive, score)
        shown_curve = curves.thin_curve(full_curve, MAX_THRESHOLDS)
        area = curves.area_with_interval(positive, score, units)
        average = curves.average_precision_with_interval(positive, score, units)
        tallies[labels[code]] = answer_types.ThresholdTally(
            positives=full_curve.positives,
            negatives=full_curve.negatives,
            thresholds=shown_curve.thresholds.tolist(),
            true=shown_curve.true.tolist(),
            false=shown_curve.false.tolist(),
            area=strict_json(np.array(area).tolist()),
            precision=strict_json(np.array(average).tolist()),
            calibration=curves.calibration(positive, score, units) if has_probabilities else [],
        )
    costs, chosen = tested_model.results.costs, tested_model.results.threshold
    if chosen is None and has_probabilities and len(labels) == 2:
        chosen = HALF if costs is None else costs.threshold
    return answer_types.ClassDiagnostics(
        rows=len(tested_model.y),
        wrong=_wrong_rows(tested_model),
        labels=[labels[code] for code in codes],
        second=labels[1] if len(labels) == 2 else "",
        scale="probability" if has_probabilities else "score",
        chosen=chosen,
        of=tallies,
    )


def _wrong_rows(tested_model: TestedModel) -> answer_types.WrongRows:
    y, predictions = tested_model.y, tested_model.predictions
    if tested_model.dataset.task.has_numbers:
        badness = np.abs(y - predictions.labels)
        is_wrong = badness > 0
    elif predictions.probabilities is not None:
        # A class that training never saw counts as the worst.
        badness = np.where(y < 0, 0.0, -_of_true_class(predictions.probabilities, y))
        is_wrong = predictions.labels != y
    else:
        assert predictions.scores is not None
        badness = predictions.scores.max(axis=1) - _of_true_class(predictions.scores, y)
        is_wrong = predictions.labels != y
    # A target that nobody knows (NaN) is no mistake.
    badness = np.where(is_wrong, np.where(y == y, badness, -np.inf), -np.inf)
    order = np.argsort(-badness, kind="stable")[: min(MAX_WRONG_ROWS, int(is_wrong.sum()))]
    dataset = tested_model.dataset
    source = dataset.test if dataset.test is not None else dataset
    file_rows = rows_in_file(source, tested_model.row_indices[order])
    return answer_types.WrongRows(
        headers=file_rows.headers,
        rows=file_rows.cells,
        lines=file_rows.lines,
        counted=file_rows.counted,
        left_out=file_rows.left_out,
        actual=[_label_or_number(tested_model, tested_model.y[row]) for row in order],
        said=[_label_or_number(tested_model, predictions.labels[row]) for row in order],
        sure=[_confidence(tested_model, row) for row in order],
        wrong=int(is_wrong.sum()),
    )


def _of_true_class(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.take_along_axis(scores, np.maximum(y, 0).astype(int)[:, None], 1)[:, 0]


def _label_or_number(tested_model: TestedModel, value: float) -> str | float:
    if tested_model.dataset.task.has_numbers:
        return float(value)
    return str(tested_model.dataset.classes[int(value)]) if value >= 0 else "a class not trained on"


def _confidence(tested_model: TestedModel, row: int) -> float | None:
    """The probability of the predicted class; of numbers predicted − actual."""
    predictions = tested_model.predictions
    if tested_model.dataset.task.has_numbers:
        return float(predictions.labels[row] - tested_model.y[row])
    if predictions.probabilities is None:
        return None
    return float(predictions.probabilities[row, int(predictions.labels[row])])


def _residuals(tested_model: TestedModel) -> answer_types.Residuals:
    y, predicted = tested_model.y, tested_model.predictions.labels
    rows = np.arange(len(y))
    if len(rows) > MAX_POINTS:
        generator = np.random.default_rng(tested_model.problem.plan.seed)
        rows = np.sort(generator.choice(len(y), MAX_POINTS, replace=False))
    residual = predicted - y
    values_by_column = {"": predicted, **_column_values(tested_model)}
    bins = {
        name: _residual_bins(values, residual, tested_model.units)
        for name, values in values_by_column.items()
    }
    return answer_types.Residuals(
        predicted=predicted[rows].tolist(),
        residual=residual[rows].tolist(),
        rows=len(y),
        left_out=max(0, len(tested_model.dataset.feature_names) - MAX_COLUMNS),
        along={n: strict_json(v[rows].tolist()) for n, v in values_by_column.items() if n},
        bins=bins,
        units=tested_model.dataset.units_of_columns or None,
    )


def _column_values(tested_model: TestedModel) -> dict[str, np.ndarray]:
    values_by_column: dict[str, np.ndarray] = {}
    for column, name in enumerate(tested_model.dataset.feature_names[:MAX_COLUMNS]):
        values = tested_model.column_values(column)
        if pd.api.types.is_numeric_dtype(values.dtype):
            values_by_column[str(name)] = values.to_numpy(float, na_value=np.nan)
        elif values.nunique() <= 20:
            words = values.astype(object).where(values.notna(), "")
            values_by_column[str(name)] = words.to_numpy(str)
    return values_by_column


def _residual_bins(
    values: np.ndarray, residual: np.ndarray, units: Units
) -> list[answer_types.ResidualBin]:
    if values.dtype.kind != "f":
        words = sorted(set(values.tolist()))
        return [_residual_bin(word, residual, units, values == word) for word in words]
    is_finite = np.isfinite(values)
    if not is_finite.any():
        return []
    edges = np.unique(np.quantile(values[is_finite], np.linspace(0, 1, _BINS + 1)))
    bin_of_row = np.searchsorted(edges, values, side="right") - 1
    bin_of_row = np.clip(bin_of_row, 0, max(len(edges) - 2, 0))
    masks = (is_finite & (bin_of_row == index) for index in np.unique(bin_of_row[is_finite]))
    return [_residual_bin(float(values[mask].mean()), residual, units, mask) for mask in masks]


def _residual_bin(
    position: str | float, residual: np.ndarray, units: Units, is_inside: np.ndarray
) -> answer_types.ResidualBin:
    values, units = residual[is_inside], joined_units(units.take_rows(is_inside))
    mean, rows = float(values.mean()), len(values)
    spread = spread_of(mean_left_out(values, units), units)
    low, high = (None, None) if np.isnan(spread.error) else spread.interval_around(mean)
    return answer_types.ResidualBin(position, mean, low, high, rows)
