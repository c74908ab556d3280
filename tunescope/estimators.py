"""Whole runs as estimators of scikit-learn: the best model that tuning finds for a table."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import _safe_indexing, check_array, check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_is_fitted, validate_data

from core.datasets.column_format import NOTHING
from core.datasets.columns import is_running_text
from tunescope.penalties import (
    estimator_class,
    integer_seed,
    sentences_as_value_errors,
    weighted_rows,
)
from tunescope.running import SparseTable, tune

_KINDS = {"b": "yes/no", "M": "date", "i": "number", "u": "number", "f": "number"}
TARGET = "target"
MAX_REPEATED_ROWS = 10_000_000  # of weighted rows, which are repeated
# That a file keeps as it is, and no other column has.
_PLAIN_NAME = re.compile(r"(?!target$|column )[^\W\d][\w ()/%.-]*(?<! )")


@estimator_class
class _TunedEstimator(BaseEstimator):
    """Tunes models in a run, and predicts by the best of them."""

    minutes: float | None = field(default=1.0, kw_only=False)
    trials: int | None = None
    model: str = ""
    strategy: str = ""
    metric: str = ""
    settings: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    run: str | Path | None = None
    progress: bool | None = False

    _is_numeric: ClassVar[bool]  # the target

    def _checked_data(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """The checked rows and targets, each as often as its weight says."""
        rows = self._checked_rows(X, y, reset=True)
        y = _check_y(y, y_numeric=self._is_numeric, estimator=self)
        check_consistent_length(rows, y)
        rows, y, weights = weighted_rows(rows, y, sample_weight)
        if weights is None:
            return rows, y
        if (weights % 1).any() or weights.sum() > MAX_REPEATED_ROWS:
            raise ValueError(
                "sample_weight says how often each row counts: it takes whole numbers, "
                f"{MAX_REPEATED_ROWS:,} in sum at most; scale the weights and round them"
            )
        # No split divides equal rows.
        repeated_rows = np.repeat(np.arange(len(y)), weights.astype(np.int64))
        return _safe_indexing(rows, repeated_rows), y[repeated_rows]

    def _tune_models(self, rows: Any, target: np.ndarray, task: str) -> Self:
        if self.n_jobs == 0:
            raise ValueError("n_jobs=0 is no number of processes; give 1 or more, -1, or None")
        plan: dict[str, Any] = {
            "minutes": self.minutes,
            "trials": self.trials,
            "model": self.model,
            "strategy": self.strategy,
            "metric": self.metric,
            "seed": integer_seed(self.random_state),
            "workers": max(0, self.n_jobs or 0),
            "task": task,
            "evaluation": "test",
            "leaks": True,  # who gives X has chosen its columns
        }
        if sparse.issparse(rows):
            data: Any = SparseTable(rows, target)
        else:
            data = rows.assign(**{TARGET: target})
            plan |= {"target": TARGET, **_meanings(rows, self._is_numeric)}
        scratch_folder = tempfile.TemporaryDirectory(prefix="tunescope-")
        with sentences_as_value_errors(), scratch_folder as scratch:
            self.results_ = tune(
                data,
                run=Path(scratch) / "run" if self.run is None else self.run,
                history=self.run is not None,
                progress=self.progress,
                in_process=self.n_jobs is None,
                **{**plan, **(self.settings or {})},
            ).with_content()
        self.estimator_ = self.results_.model
        return self

    def _checked_rows(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Any:
        """CSR, or a table of columns that files can name."""
        X = X.to_pandas() if hasattr(X, "to_pandas") else X
        checks: dict[str, Any] = {"ensure_all_finite": "allow-nan", "ensure_min_samples": 1 + reset}
        if not (is_table := isinstance(X, pd.DataFrame)):
            X = check_array(X, accept_sparse="csr", dtype=None, estimator=self, **checks)
        validate_data(self, X, y, reset=reset, skip_check_array=True)
        if sparse.issparse(X):
            # The constructor takes the shortest indices, which is what LIBSVM's writer takes.
            return sparse.csr_matrix((X.data, X.indices, X.indptr), X.shape, dtype=np.float64)
        # An array has the columns of the table that it was fitted on, as scikit-learn warns.
        names = None if reset else getattr(self, "feature_names_in_", None)
        table = (X if is_table else pd.DataFrame(X, columns=names)).infer_objects()
        numbers = table.select_dtypes("number", exclude="timedelta").to_numpy(
            np.float64, na_value=np.nan
        )
        check_array(numbers, ensure_min_features=not table.shape[1], estimator=self, **checks)
        return table.set_axis(_file_names(table), axis=1)

    def _predictions(self, X: Any, method: str) -> np.ndarray:
        check_is_fitted(self)
        rows, is_sparse = self._checked_rows(X, reset=False), self.results_.is_sparse
        if sparse.issparse(rows) and not is_sparse:
            rows = self._checked_rows(rows.toarray(), reset=False)
        if is_sparse:  # columns of zeros at the end are in no file
            rows = sparse.csr_matrix(rows)[:, : self.estimator_.n_features_in_]
        else:
            rows = self.results_.model_rows(rows)
        return np.asarray(getattr(self.estimator_, method)(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        inputs.sparse = inputs.allow_nan = inputs.string = inputs.categorical = True
        # Several models share the time by what their fits take.
        tags.non_deterministic = self.model in ("", "auto")
        return tags


def _file_names(table: pd.DataFrame) -> list[str]:
    """A name for each column, its own where a file can have it beside the target."""
    names = zip(table.columns, table.columns.duplicated(keep=False), strict=True)
    return [
        name
        if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) and not is_repeated
        else f"column {index}"
        for index, (name, is_repeated) in enumerate(names)
    ]


def _meanings(table: pd.DataFrame, is_numeric: bool) -> dict[str, dict[str, str]]:
    """Roles, kinds and readings of the columns and of the target, by their types."""
    kinds = {TARGET: "number"} if is_numeric else {}
    readings = {} if is_numeric else {TARGET: "text"}
    for name, values in table.items():
        is_category = isinstance(values.dtype, pd.CategoricalDtype)
        kind = "" if is_category else _KINDS.get(values.dtype.kind, "")
        if kind:
            kinds[str(name)] = kind
        elif is_category or not is_running_text(values):
            kinds[str(name)], readings[str(name)] = "category", "values"
    roles = dict.fromkeys(map(str, table), "feature")
    return {"roles": roles, "kinds": kinds, "readings": readings}


class AutoClassifier(ClassifierMixin, _TunedEstimator):
    """The best classifier that a run of `tunescope.tune` finds.

    A table's types are its columns' meaning: category and str are categories (long texts words),
    bool yes or no, datetime dates, numbers numbers; missing values may stay. Sparse X is for models
    that take it. With a model and a strategy the same random_state gives the same model; not so
    with several models, which share the time.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> classifier = tunescope.AutoClassifier(minutes=1, trials=2, model="logistic")
    >>> classifier.fit(X, y).predict(X[:2])
    array([0, 0])
    >>> classifier.results_.metric
    'accuracy'

    Args:
        minutes: maximum time of tuning; None for no limit. trials: maximum number of trials.
        model, strategy, metric: as in `tunescope tune`; "" for what the program recommends.
        settings: further arguments of `tunescope.tune`, such as {"folds": 3}.
        n_jobs: None to try settings in this process, one at a time; a number for so many processes,
            -1 for as many as there are processors. These end on time.
        random_state: seed of the run.
        run: folder that keeps the run, for one fit; None to keep nothing on disk, nor history.
        progress: as of `tunescope.tune`; False for none.

    Attributes:
        estimator_: the tuned pipeline, fitted on all rows. results_: the `TunedRun`.
        classes_: the labels, sorted, shape (K,).
        n_features_in_: number of columns p. feature_names_in_: their names, where X has them.
    """

    _is_numeric = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Tune, test, and fit on all rows.

        X: a table or matrix, also sparse, shape (m, p). y: labels, shape (m,). sample_weight: how
        many times every row counts, whole numbers, shape (m,). Raises ValueError: what scikit-learn
        refuses, or what the run cannot use, in one sentence.
        """
        rows, y = self._checked_data(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("AutoClassifier needs rows of two classes, and y has 1 class")
        names = _class_names(self.classes_, is_sparse=sparse.issparse(rows))
        self._tune_models(rows, names[codes], "binary" if len(names) == 2 else "multiclass")
        code_of_name = {str(name): code for code, name in enumerate(names)}
        labels = self.estimator_.classes_.tolist()
        # Of a class of one row the models know nothing.
        self._codes = np.array([code_of_name[str(label).removesuffix(".0")] for label in labels])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row, shape (m,)."""
        labels = self._predictions(X, "predict")
        order = np.searchsorted(self.estimator_.classes_, labels)
        return np.asarray(self.classes_[self._codes[order]])

    @available_if(lambda self: hasattr(getattr(self, "estimator_", None), "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, shape (m, K); some models tuned for accuracy have none.

        With metric="log_loss" every model has them.
        """
        probabilities = self._predictions(X, "predict_proba")
        all_probabilities = np.zeros((len(probabilities), len(self.classes_)))
        all_probabilities[:, self._codes] = probabilities
        return all_probabilities


class AutoRegressor(RegressorMixin, _TunedEstimator):
    """The best regressor that a run of `tunescope.tune` finds.

    Arguments and attributes of `AutoClassifier`, without `classes_`.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> regressor = tunescope.AutoRegressor(model="linear", strategy="evidence").fit(X, y)
    >>> regressor.score(X, y) > 0.45
    True
    """

    _is_numeric = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """As of `AutoClassifier`; y: numbers, shape (m,)."""
        rows, y = self._checked_data(X, y, sample_weight)
        return self._tune_models(rows, y, "regression")

    def predict(self, X: Any) -> np.ndarray:
        """The expected number of every row, shape (m,)."""
        return self._predictions(X, "predict")


def _class_names(classes: np.ndarray, *, is_sparse: bool) -> np.ndarray:
    """Labels as a file keeps them: texts, else numbered."""
    if is_sparse:
        return np.arange(len(classes))
    names = [str(label) for label in classes.tolist()]
    is_kept = not any(n != n.strip() or n in NOTHING or n.endswith(".0") for n in names)
    if not is_kept or len(set(names)) < len(names):
        names = [f"class {code}" for code in range(len(names))]
    return np.array(names, dtype=object)
