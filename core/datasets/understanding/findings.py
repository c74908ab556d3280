"""Findings on features: unused columns, missing values, columns that leak the target.

| symbol | meaning |
| --- | --- |
| k | classes |
| q | worth of a predictor: (balanced accuracy − 1/k) / (1 − 1/k), or R² of an amount |

Leaks are the classes renamed, the amount in another unit, or q ≥ `ALONE` where all others together
have q < `OTHERS`. Without an error in n rows, a column errs in up to 3/n (95 %; the rule of three).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from core.datasets.columns import (
    ALL_DIFFER,
    HARDLY_TWICE,
    column_blocks,
    counted_rows,
    number_names,
)
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.finding import Finding, SuggestedChange, column_change, option_with_value
from core.datasets.task import Task
from core.datasets.texts.ngrams import counts_parts
from core.datasets.understanding.target import (
    MIN_CLASS_ROWS,
    PreparedTarget,
    comparison_rows,
    correlation,
    evenly_spaced,
    prepare_target,
)

ALONE = 0.995
_NEARLY_ALONE = ALONE - 0.03  # in the first rows
OTHERS = 0.9
MIN_COPY_ROWS = 50  # with fewer, an honest column may have no error
MIN_ROWS = 100  # the same for a column with more values than classes
_MIN_KNOWN_ROWS = 20
_MIN_ROWS_PER_VALUE = 10  # on average; with fewer, values merely identify rows
_FIRST_ROWS, _SAMPLE_ROWS = 1000, 5000  # of a column that may be a copy, or tell the target
_MAX_OTHER_COLUMNS, _TREES, _ROWS_OF_OTHERS = 200, 40, 2000
_RANKED_CELLS = 4_000_000  # by which very many columns are ranked
_MAX_CHANGES = 0.1  # share of rows where the class may change within the intervals of a candidate
_MAX_TEXT_SHARE = 0.2  # different texts; more merely identify rows
_FEW_VALUES, _CORRELATED = 20, 0.99


class LeakageCheck:
    """What the columns of a dataset's table tell of its target."""

    def __init__(self, dataset: Dataset, codes: Mapping[str, np.ndarray] = {}) -> None:
        """`codes`: as of `equal_items`."""
        assert dataset.table is not None
        self._dataset, self._table = dataset, dataset.table
        self._codes = {} if dataset.set_aside else codes

    @cached_property
    def _target(self) -> PreparedTarget:
        return prepare_target(self._dataset)

    @cached_property
    def candidates(self) -> list[str]:
        """The features that need a check of their own, most columns being none."""
        names = [c.name for c in self._dataset.columns if c.role == "feature"]
        return [name for name in names if self._promise.get(name, True)]

    @cached_property
    def _promise(self) -> dict[str, int]:
        """{column: 0 if it cannot leak, 1 if it may, 2 if it may tell without error}."""
        rows = self._target.first_rows
        if not len(rows):
            rows = evenly_spaced(np.arange(self._dataset.rows), _FIRST_ROWS)
        amounts, promise = self._target.values[rows], dict[str, int]()
        for block_names, matrix in column_blocks(self._table, number_names(self._table), rows):
            with np.errstate(invalid="ignore", over="ignore"):
                select = _by_class if self._target.classes else _by_amount
                promise.update(zip(block_names, select(matrix, amounts).tolist(), strict=True))
        if self._target.classes:
            for name in self._table.columns.difference([*promise], sort=False):
                is_coded, values = name in self._codes, self._table[name].array
                codes = self._codes[name][rows] if is_coded else values[rows].factorize()[0]
                promise[name] = _by_value(codes, amounts)
        return promise

    @cached_property
    def copies(self) -> list[str]:
        """The features that are the target: each value one class, each class one value."""
        if self._dataset.rows < MIN_COPY_ROWS:
            return []
        names, classes = self.candidates, self._target.classes
        names = [name for name in names if not classes or self._min_levels[name] <= classes]
        return [name for name in names if _is_copy(self._table[name], self._target)]

    @cached_property
    def _min_levels(self) -> dict[str, int]:
        """{column: a number of values that surely are in the rows with a target}."""
        return {c.name: c.distinct - self._dataset.set_aside for c in self._dataset.columns}

    def leaking_columns(self, names: Sequence[str]) -> list[str]:
        """The columns among `names`, those without a person's role, that leak the target."""
        dataset, copies = self._dataset, set(self.copies)
        suspects: set[str] = set()
        if dataset.rows >= MIN_ROWS:
            # Not dates: models see points in time, so equal rows of one day are no evidence.
            dates = {column.name for column in dataset.columns if column.kind == "date"}
            free = (name for name in self.candidates if name not in copies | dates)
            suspects = {name for name in free if _tells_target(self._table[name], self._target)}
        # Easy data have several perfect columns, which is no leak: then the others tell as much
        # together.
        if suspects.intersection(names):
            # Also without leaks that a person uses.
            others = [name for name in dataset.feature_names if name not in copies | suspects]
            if others and worth_together(dataset, others) >= OTHERS:
                suspects = set()
        return [name for name in names if name in copies | suspects]

    def telling_columns(self) -> list[str]:
        """The features that tell the target without error."""
        if self._dataset.rows < _MIN_KNOWN_ROWS:
            return []
        names = [name for name in self.candidates if self._promise.get(name, 2) == 2]
        return [name for name in names if self._determines_target(self._table[name])]

    def _determines_target(self, values: pd.Series) -> bool:
        rows, min_levels = np.arange(len(values)), self._min_levels[str(values.name)]
        is_text = values.dtype.kind not in "biufc"
        if is_text and min_levels > _MAX_TEXT_SHARE * counted_rows(len(rows)):
            return False
        # A sample clears nearly every column before all rows are looked at.
        looks = (evenly_spaced(rows, _SAMPLE_ROWS), rows)
        return all(_determines(values.iloc[look], self._target, look) for look in looks)


def _pair_count(codes: np.ndarray, classes: np.ndarray) -> int:
    """The number of different pairs of a value and a class, by codes from 0."""
    return len(np.unique(codes.astype(np.int64) * (int(classes.max(initial=0)) + 1) + classes))


def _by_value(codes: np.ndarray, classes: np.ndarray) -> int:
    codes, classes = codes[codes >= 0], classes[codes >= 0]
    levels = len(np.unique(codes))
    if _pair_count(codes, classes) <= levels:
        return 2
    has_few_values = levels * _MIN_ROWS_PER_VALUE <= len(codes)
    return int(has_few_values and _predictive_worth(codes, classes) >= _NEARLY_ALONE)


def _by_class(matrix: np.ndarray, classes: np.ndarray) -> np.ndarray:
    by_class = np.argsort(classes, kind="stable")  # then equal numbers change the class least
    matrix, classes = matrix[:, by_class], classes[by_class]
    order = np.argsort(matrix, axis=1, kind="stable")
    is_change = np.diff(classes[order], axis=1) != 0
    is_other = np.diff(np.take_along_axis(matrix, order, axis=1), axis=1) != 0
    values = 1 + np.count_nonzero(is_other, axis=1)
    labels, max_changes = len(np.unique(classes)), _MAX_CHANGES * len(classes)
    is_pure = np.count_nonzero(is_change & ~is_other, axis=1) <= max_changes
    changes, has_gaps = np.count_nonzero(is_change, axis=1), np.isnan(matrix).any(axis=1)
    has_few_values = values <= max(_FEW_VALUES, labels)
    # A column leaks if rows of a class lie together as it grows, or under few values, but for a
    # tenth of them; where some are missing, only a closer look tells.
    can_leak = has_few_values & is_pure | (changes <= labels + max_changes) | has_gaps
    return can_leak.astype(int) + (can_leak & ((changes < labels) | has_gaps))


def _by_amount(matrix: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    scale = np.abs(matrix).max(axis=1, keepdims=True)
    X = matrix / scale - (matrix / scale).mean(axis=1, keepdims=True)
    y = amounts / np.abs(amounts).max()
    y = y - y.mean()
    size = np.sqrt(np.einsum("ij,ij->i", X, X) * (y @ y))
    is_far = np.abs(X @ y) / size < _CORRELATED  # NaN is a candidate
    return 2 * ~(is_far & ~_is_monotone(matrix, amounts))


def _is_monotone(matrix: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Which rows of a matrix (columns, rows) are a curve of the amounts that turns nowhere."""
    by_amount = np.argsort(amounts, kind="stable")
    steps = np.sign(np.diff(amounts[by_amount]))
    signs = np.sign(np.diff(matrix[:, by_amount], axis=1))
    return np.asarray((signs == steps).all(axis=1) | (signs == -steps).all(axis=1))


def _determines(values: pd.Series, target: PreparedTarget, rows: np.ndarray) -> bool:
    is_known = values.notna().to_numpy()
    if is_known.sum() < max(_MIN_KNOWN_ROWS, 0.9 * len(values)):
        return False
    values, labels = values[is_known], target.values[rows][is_known]
    if not target.classes:
        if _is_linear(values, labels, 1 - 1e-6):
            return True
        # A logarithm of the target, say. It is told and not left out: time may rise as it does.
        is_number = pd.api.types.is_numeric_dtype(values.dtype)
        return is_number and bool(_is_monotone(values.to_numpy(dtype=float)[None], labels)[0])
    codes, uniques = pd.factorize(values)
    is_number = pd.api.types.is_numeric_dtype(values.dtype)
    if not is_number and len(uniques) > _MAX_TEXT_SHARE * len(values):
        return False
    present = len(np.unique(labels))
    if present < 2 or _pair_count(codes, labels) > len(uniques):
        return False
    return not is_number or _changes(values.to_numpy(dtype=float), labels) == present - 1


def _is_copy(values: pd.Series, target: PreparedTarget) -> bool:
    if not target.classes:
        spread = slice(None, None, max(1, len(values) // _FIRST_ROWS))
        is_near = _is_linear(values.iloc[spread], target.values[spread], 0.99)
        return is_near and _is_linear(values, target.values, 1 - 1e-6)
    head = values.iloc[:_FIRST_ROWS]  # excludes nearly every column
    return _pairs_off(head, target) and _pairs_off(values, target)


def _pairs_off(values: pd.Series, target: PreparedTarget) -> bool:
    codes, uniques = pd.factorize(values)
    if len(uniques) > target.classes or codes.min() < 0:
        return False
    classes = target.values[: len(codes)]
    return len(uniques) == len(np.unique(classes)) == _pair_count(codes, classes)


def _tells_target(values: pd.Series, target: PreparedTarget) -> bool:
    looks = ((target.first_rows, _NEARLY_ALONE), (target.compared_rows, ALONE))
    for row_indices, min_worth in looks:
        sample = values.iloc[row_indices]
        is_known = sample.notna().to_numpy()
        if is_known.sum() < max(_MIN_KNOWN_ROWS, 0.9 * len(row_indices)):
            return False
        values_of_target = target.values[row_indices][is_known]
        if not _worth_alone(sample[is_known], values_of_target, target.classes, min_worth):
            return False
    return True


def _worth_alone(values: pd.Series, target: np.ndarray, classes: int, min_worth: float) -> bool:
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if not classes:
        return numeric and _is_linear(values, target, float(np.sqrt(max(min_worth, 0.999))))
    labels, target = np.unique(target, return_inverse=True)
    numbers = values.to_numpy(dtype=float) if numeric else None
    max_values = min(20, len(values) / _MIN_ROWS_PER_VALUE)  # beyond, numbers are cut by a tree
    if numbers is not None and len(np.unique(numbers)) > max_values:
        if _changes(numbers, target) > len(labels) + 2 * (1 - min_worth) * len(numbers):
            return False
        codes = _stretch_codes(numbers, target)
    else:
        codes, uniques = pd.factorize(values)
        if len(uniques) * _MIN_ROWS_PER_VALUE > len(values):
            return False
    return _predictive_worth(codes, target) >= min_worth


def _changes(numbers: np.ndarray, classes: np.ndarray) -> int:
    """The number of class changes as the numbers grow, at most twice that of misplaced rows."""
    return int(np.count_nonzero(np.diff(classes[np.lexsort((classes, numbers))])))


def _stretch_codes(numbers: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Codes of intervals of numbers, by a tree with one leaf per class, as more would overfit."""
    from sklearn.tree import DecisionTreeClassifier  # takes a second to import

    leaves = max(2, int(classes.max()) + 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=0)
    finite = np.where(np.isfinite(numbers), numbers, np.sign(numbers) * 1e30)
    column = np.clip(finite, -1e30, 1e30)[:, None]
    return np.asarray(tree.fit(column, classes).apply(column), dtype=np.int64)


def _predictive_worth(codes: np.ndarray, classes: np.ndarray) -> float:
    """The q of predicting, by a value, the class whose share of its own rows is largest there."""
    labels, classes, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    count = len(labels)
    if count < 2 or sizes.min() < MIN_CLASS_ROWS // 2:
        return 0.0
    cells = codes.astype(np.int64) * count + classes
    shares = np.bincount(cells, minlength=(int(codes.max()) + 1) * count).reshape(-1, count) / sizes
    right = float(shares.max(axis=1).sum()) / count  # the balanced accuracy
    return (right - 1 / count) / (1 - 1 / count)


def _is_linear(values: pd.Series, target: np.ndarray, min_correlation: float) -> bool:
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    numbers = values.to_numpy(dtype=float)
    is_finite = np.isfinite(numbers)
    if is_finite.sum() < max(_MIN_KNOWN_ROWS, 0.9 * len(numbers)):
        return False
    return correlation(numbers[is_finite], target[is_finite]) >= min_correlation


def worth_together(dataset: Dataset, names: Sequence[str]) -> float:
    """The q of randomized trees on some columns, by three-fold cross-validation."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.metrics import r2_score
    from sklearn.model_selection import KFold, StratifiedKFold

    assert dataset.table is not None
    rows = _rows_of_others(dataset)
    target, regression = dataset.target[rows], dataset.task.has_numbers
    if not regression:
        target = pd.factorize(target)[0]
    splits = (KFold if regression else StratifiedKFold)(3, shuffle=True, random_state=0)
    predictions = np.empty(len(rows))
    for train, test in splits.split(rows, target):
        best = _best_columns(dataset.table, names, rows[train], target[train], regression)
        rows_of_best = dataset.table[best].iloc[rows]
        matrix = np.column_stack([_as_numbers(rows_of_best[name]) for name in rows_of_best])
        trees = (
            ExtraTreesRegressor(_TREES, random_state=0)
            if regression
            else ExtraTreesClassifier(_TREES, class_weight="balanced", random_state=0)
        )
        predictions[test] = trees.fit(matrix[train], target[train]).predict(matrix[test])
    if regression:
        return float(r2_score(target, predictions))
    return _predictions_worth(target, predictions.astype(np.int64))


def _predictions_worth(classes: np.ndarray, predictions: np.ndarray) -> float:
    counts = np.bincount(classes)
    right = np.bincount(classes[classes == predictions], minlength=len(counts))
    balanced, guess = float((right / counts).mean()), 1 / len(counts)
    return (balanced - guess) / (1 - guess)


def _best_columns(
    table: pd.DataFrame, names: Sequence[str], rows: np.ndarray, target: np.ndarray, linear: bool
) -> list[str]:
    if len(names) <= _MAX_OTHER_COLUMNS:
        return list(names)
    positions = evenly_spaced(np.arange(len(rows)), max(60, _RANKED_CELLS // len(names)))
    labels = target[positions]
    y = labels.astype(float)[:, None] if linear else np.eye(int(target.max()) + 1)[labels]
    y = y - y.mean(axis=0)
    sample = table[list(names)].iloc[rows[positions]]
    shares = np.empty(len(names))
    for index, name in enumerate(sample):
        values = _as_numbers(sample[name])
        values = values - values.mean()
        size = float(np.abs(values).max())
        if size == 0:
            shares[index] = 0.0
            continue
        values = values / size
        # Of the means of classes, which are orthogonal but for their common mean; r² of an amount.
        explained = (y.T @ values) ** 2 / np.maximum((y**2).sum(axis=0), 1e-300)
        shares[index] = explained.max() / (values @ values)
    best = np.argsort(-shares, kind="stable")[:_MAX_OTHER_COLUMNS]
    return [names[index] for index in np.sort(best)]


def _rows_of_others(dataset: Dataset) -> np.ndarray:
    """Rows to score all other columns on; classes have at most thrice the rows of the rarest."""
    values, count = dataset.target, 0
    if not dataset.task.has_numbers:
        values, classes = pd.factorize(values)
        count = len(classes)
    rows = comparison_rows(values, count, _ROWS_OF_OTHERS)
    if not count:
        return rows
    counts = np.bincount(values[rows])
    max_rows = max(50, 3 * int(counts[counts > 0].min()))
    labels = np.flatnonzero(counts)
    class_rows = [evenly_spaced(rows[values[rows] == label], max_rows) for label in labels]
    return np.sort(np.concatenate(class_rows))


def _as_numbers(values: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(values.dtype):
        codes, uniques = pd.factorize(values)
        order = np.argsort(-np.bincount(codes[codes >= 0], minlength=max(1, len(uniques))))
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order))
        return np.where(codes >= 0, ranks[codes], -1.0)
    numbers = np.clip(values.to_numpy(dtype=float), -1e30, 1e30)
    is_missing = np.isnan(numbers)
    median = 0.0 if is_missing.all() else np.median(numbers[~is_missing])
    return np.where(is_missing, median, numbers)


GIVES_AWAY = "it leaks the target"
_ONLY_IF = "Use {} only if {} really known before the target is."
MANY = 6  # findings of columns that are merged into one sentence
_NAMED = 3


def table_findings(dataset: Dataset, telling: Sequence[str]) -> list[Finding]:
    """Findings on a table's columns, the serious ones first; `telling`: those that tell all."""
    table = dataset.table
    assert table is not None
    findings = _merged_findings(
        [
            Finding(
                f"“{name}” alone tells the target without error; leave it out unless it is really"
                " known before the target is.",
                name,
                serious=True,
                proposal=column_change("Leave it out", "--role", name, "ignore"),
            )
            for name in dataset.feature_names
            if name in telling
        ],
        "{columns} tell the target without error, each alone; leave them out unless they are"
        " really known before the target is.",
        "Leave them out",
        "",
    )
    findings += _omission_findings(dataset)
    texts = [
        _texts_finding(column.name, table[column.name])
        for column in dataset.columns
        if (column.role, column.kind) == ("feature", "text")
    ]
    findings += _merged_findings(texts, "{columns} hold texts: their words become columns.", "", "")
    findings += _gap_findings(dataset)
    return sorted(findings, key=lambda finding: not finding.serious)


def _omission_findings(dataset: Dataset) -> list[Finding]:
    # Very many columns are left out for one reason, and one sentence says it of all.
    by_note: dict[str, list[Finding]] = {}
    for column in dataset.columns:
        if column.role == "ignore" and column.note:
            gives_away = column.note == GIVES_AWAY
            end = f" {_ONLY_IF.format('it', 'it is')}" if gives_away else ""
            sentence = f"“{column.name}” is left out: {column.note}.{end}"
            finding = Finding(sentence, column.name, gives_away, _use_of(dataset, column))
            by_note.setdefault(column.note, []).append(finding)
    findings = []
    for note, omissions in by_note.items():
        sentence = f"{{columns}} are left out: of each, {note}."
        offers = [omission.proposal for omission in omissions if omission.proposal]
        words = "Read as texts" if offers and offers[0].kinds else "Use them after all"
        option = ""
        if note == GIVES_AWAY:
            option = "--leaks"
            sentence = f"{{columns}} are left out: each {note.removeprefix('it ')}."
            sentence += f" {_ONLY_IF.format('them', 'they are')}"
        findings += _merged_findings(omissions, sentence, words, option)
    return findings


def _use_of(dataset: Dataset, column: Column) -> SuggestedChange | None:
    name = column.name
    if column.note in (ALL_DIFFER, HARDLY_TWICE) and _has_words(dataset, name):
        return column_change("Read as text", "--kind", name, "text")
    if column.note == GIVES_AWAY or (column.kind == "identifier" and column.note != ALL_DIFFER):
        return column_change("Use it after all", "--role", name, "feature")
    return None


def _has_words(dataset: Dataset, name: str) -> bool:
    assert dataset.left_out is not None
    cells = dataset.left_out[name].array.dropna().tolist()
    counts = [len(str(value).split()) for value in cells]
    return bool(counts) and sum(counts) >= 2 * len(counts)


def _texts_finding(name: str, values: pd.Series) -> Finding:
    become = "words and parts of words" if counts_parts(values) else "words"
    offer = SuggestedChange(
        "Find topics instead",
        f"{option_with_value('--target', name)} --task topics",
        fields={"target": name, "task": Task.TOPICS},
    )
    return Finding(f"“{name}” holds texts: {become} become columns.", name, proposal=offer)


def _gap_findings(dataset: Dataset) -> list[Finding]:
    total = dataset.rows + dataset.set_aside
    gaps = [
        Finding(
            f"“{column.name}” is missing in {column.missing:,} of {total:,} rows.",
            column.name,
            proposal=column_change("Leave it out", "--role", column.name, "ignore"),
        )
        for column in dataset.columns
        if column.role == "feature" and column.missing > 0.5 * total
    ]
    sentence = f"{{columns}} are each missing in more than half of the {total:,} rows."
    return _merged_findings(gaps, sentence, "Leave them out", "")


def _merged_findings(
    findings: Sequence[Finding], sentence: str, words: str, option: str
) -> list[Finding]:
    if len(findings) < MANY:
        return list(findings)
    named = ", ".join(f"“{finding.column}”" for finding in findings[:_NAMED])
    columns = f"{named} and {len(findings) - _NAMED:,} other columns"
    offers = [finding.proposal for finding in findings if finding.proposal is not None]
    offer = None
    if words and len(offers) == len(findings):
        roles = {name: role for suggestion in offers for name, role in suggestion.roles.items()}
        kinds = {name: kind for suggestion in offers for name, kind in suggestion.kinds.items()}
        offer = SuggestedChange(words, option, roles, kinds=kinds)
    merged_sentence = sentence.format(columns=columns)
    return [Finding(merged_sentence, serious=findings[0].serious, proposal=offer)]
