"""The penalty learners as scikit-learn estimators.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| m, p, k | | | rows, columns, groups of columns |
| π | `groups_` | (p,) | the group of every column |
| C | `penalties_` | (k,) | penalties, on the scale of ½ Σ_j C_j ‖w_j‖² beside −log p(y | X, w) |

The loss is the log loss summed over rows, or (m/2) log ½‖y − Xw‖² for numbers, whose ridge
penalties, scikit-learn's alpha, are σ² C_j. A row with weight s counts as s equal rows.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from core.datasets.groups import penalty_groups
from core.errors import UnusableError
from core.losses.linear.linear_loss import LinearLoss
from core.losses.registry import TableLoss, build_loss, parameter_groups
from core.penalties.final_fit import final_fit
from core.penalties.penalty_problem import Pairs, PenaltyProblem
from core.penalties.step import LearnerStep

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 2}
Weights = np.ndarray | None
Groups = str | Mapping[str, Sequence[str]] | Sequence[Any] | np.ndarray | None


class PenaltyLearner(BaseEstimator):
    """A linear model that learns its L2 penalties, one for each group of columns."""

    groups: Groups
    max_iter: int
    fit_intercept: bool

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        raise NotImplementedError

    def _holdout_pairs(
        self, loss: TableLoss, X: Any, y: np.ndarray, weights: Weights, k: int
    ) -> Pairs | None:
        return None

    def _learn_penalties(
        self, loss: TableLoss, X: Any, y: np.ndarray, weights: Weights
    ) -> np.ndarray:
        """Learn penalties, set the attributes, and give the weights, shape (n,)."""
        names, of_column = groups_of(self.groups, _column_names(self))
        groups = parameter_groups(loss, of_column)
        pairs = self._holdout_pairs(loss, X, y, weights, len(np.unique(groups[groups >= 0])))
        seed = _integer_seed(getattr(self, "random_state", 0))
        problem = PenaltyProblem(loss, groups, len(names), holdout=pairs, seed=seed)
        (last,) = deque(self._method_steps(problem), maxlen=1)
        if last.number >= self.max_iter:
            warnings.warn(
                f"{type(self).__name__} took all of its max_iter={self.max_iter} steps; its "
                "penalties may not have settled",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.group_names_, self.groups_ = names, of_column
        self.penalties_, self.switched_off_ = last.C, np.asarray(last.switched_off)
        self.n_iter_, self.objective_ = max(1, int(last.number)), float(last.objective)
        self.remarks_ = list(last.remarks)
        return final_fit(loss, groups, last.C, last.w)

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LogisticLearner(ClassifierMixin, PenaltyLearner):
    """Logistic regression of two classes, multinomial of more, with learned penalties."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn penalties and weights.

        X: dense or sparse, shape (m, p); standardized columns suit the penalties best. y: labels of
        two or more classes, shape (m,). sample_weight: how many times every row counts, shape (m,).
        Raises ValueError: what scikit-learn refuses, one class only, groups that do not fit X.
        """
        X, y = validate_data(self, X, y, **_CHECKS)
        check_classification_targets(y)
        X, y, weights = _weighted_rows(X, y, sample_weight)
        kind = "logistic" if len(np.unique(y)) == 2 else "multinomial"
        with sentences_as_value_errors():
            loss = build_loss(kind, X, y, self.fit_intercept, weights)
            w = self._learn_penalties(loss, X, y, weights)
        self.classes_ = np.asarray(loss.classes)
        self.coef_, self.intercept_ = loss.coefficients(w)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the second class, shape (m,); for K classes scores (m, K)."""
        Z = self._checked_rows(X) @ self.coef_.T + self.intercept_
        return Z[:, 0] if len(self.classes_) == 2 else Z

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row, shape (m,)."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, shape (m, K)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack((expit(-scores), expit(scores)))
        return np.exp(log_softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`, without underflow."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack((np.zeros_like(scores), scores))
        return np.asarray(log_softmax(scores, axis=1))


class RidgeLearner(RegressorMixin, PenaltyLearner):
    """Linear regression with learned penalties and noise variance."""

    target_spread: float | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn penalties, noise variance and weights; y: numbers, shape (m,).

        X, sample_weight: as for `LogisticLearner`. Raises ValueError: what scikit-learn refuses,
        groups that do not fit X.
        """
        X, y = validate_data(self, X, y, y_numeric=True, **_CHECKS)
        X, y, weights = _weighted_rows(X, np.asarray(y, dtype=np.float64), sample_weight)
        unit = 1.0
        if self.target_spread is not None:
            mean = np.average(y, weights=weights)
            spread = float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))
            unit = spread / self.target_spread or 1.0
        y = y if unit == 1.0 else y / unit
        with sentences_as_value_errors():
            loss = build_loss("linear", X, y, self.fit_intercept, weights)
            assert isinstance(loss, LinearLoss)
            w = self._learn_penalties(loss, X, y, weights)
        coef, intercept = loss.coefficients(w)
        self.coef_, self.intercept_ = unit * coef, unit * float(intercept)
        variance = float(loss.noise_variance(w))
        self.alphas_, self.noise_variance_ = variance * self.penalties_, unit**2 * variance
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The expected number of every row, shape (m,)."""
        return np.asarray(self._checked_rows(X) @ self.coef_ + self.intercept_)


def groups_of(groups: Groups, names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The groups' names, and the number of every column's group, shape (p,).

    Raises UnusableError: an unknown word or column, or not as many labels as columns.
    """
    if groups is None or isinstance(groups, str | Mapping):
        return penalty_groups(groups or "single", names, names)
    labels = [str(label) for label in groups]
    if len(labels) != len(names):
        raise UnusableError(
            f"{len(labels):,} groups were given for {len(names):,} columns",
            where="groups",
            cure="give a label for every column",
        )
    group_names = list(dict.fromkeys(labels))
    code_of_group = {name: code for code, name in enumerate(group_names)}
    return group_names, np.array([code_of_group[label] for label in labels], dtype=np.int64)


@contextlib.contextmanager
def sentences_as_value_errors() -> Iterator[None]:
    """Turn UnusableError into ValueError."""
    try:
        yield
    except UnusableError as error:
        raise ValueError(error.sentence) from error


def _weighted_rows(X: Any, y: np.ndarray, sample_weight: Any) -> tuple[Any, np.ndarray, Weights]:
    """The rows with a weight above 0, and the weights; None where all are 1."""
    if sample_weight is None:
        return X, y, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    some = weights > 0
    if not some.any():
        raise ValueError("every row has the weight 0; give some of them a weight above 0")
    if not some.all():
        X, y, weights = X[some], y[some], weights[some]
    return X, y, None if (weights == 1.0).all() else weights


def _column_names(model: Any) -> list[str]:
    feature_names = getattr(model, "feature_names_in_", None)
    if feature_names is None:
        return [f"x{k}" for k in range(model.n_features_in_)]
    return [str(name) for name in feature_names]


def _integer_seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
