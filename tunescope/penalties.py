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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
from scipy.special import expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from core.datasets.groups import penalty_groups
from core.datasets.understanding.target import guess_task
from core.errors import UnusableError
from core.losses.linear.linear_loss import LinearLoss
from core.losses.registry import TableLoss, build_loss, parameter_groups
from core.optimize.descent import final_fit
from core.options import StrategyOptions
from core.penalties import evidence, implicit_gradient, leave_one_out, mm
from core.penalties.penalty_problem import (
    DirectOptions,
    EvidenceOptions,
    GradientOptions,
    LearnerStep,
    LooOptions,
    MmOptions,
    Pairs,
    PenaltyProblem,
)
from core.penalties.recommendation import recommend_update

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 2}
T = TypeVar("T")
Weights = np.ndarray | None
SPREAD = 10.0  # standard deviation of a target while penalties are learned
Groups = str | Mapping[str, Sequence[str]] | Sequence[Any] | np.ndarray | None


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator_class(cls: type[T]) -> type[T]:
    """A class whose fields are its arguments; scikit-learn brings repr and equality."""
    return dataclass(eq=False, repr=False, kw_only=True)(cls)


@estimator_class
class PenaltyLearner(BaseEstimator):
    """A linear model that learns its L2 penalties, one for each group of columns.

    A subclass names its method, `_steps` with the `_options` that its arguments make.
    """

    groups: Groups = field(default=None, kw_only=False)
    max_iter: int = 100
    fit_intercept: bool = True

    _steps: ClassVar[Callable[..., Iterator[LearnerStep]]]

    def _options(self) -> StrategyOptions:
        raise NotImplementedError

    def _holdout_pairs(
        self, loss: TableLoss, X: Any, y: np.ndarray, weights: Weights, k: int
    ) -> Pairs | None:
        return None

    def _learn_penalties(
        self, loss: TableLoss, X: Any, y: np.ndarray, weights: Weights
    ) -> np.ndarray:
        names, of_column = groups_of(self.groups, _column_names(self))
        groups = parameter_groups(loss, of_column)
        pairs = self._holdout_pairs(loss, X, y, weights, len(np.unique(groups[groups >= 0])))
        seed = integer_seed(getattr(self, "random_state", 0))
        problem = PenaltyProblem(loss, groups, len(names), holdout=pairs, seed=seed)
        # Only the last step counts here; nobody watches.
        (last,) = deque(type(self)._steps(problem, self._options()), maxlen=1)
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
        # A learner ends where its penalties settle, some digits before the weights do.
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
        X, y, weights = weighted_rows(X, y, sample_weight)
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
        # Both by expit: 1 − p of a sure row would be 0 or rounding.
        if scores.ndim == 1:
            return np.column_stack((expit(-scores), expit(scores)))
        return np.exp(log_softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`, without underflow."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack((np.zeros_like(scores), scores))
        return np.asarray(log_softmax(scores, axis=1))


@estimator_class
class RidgeLearner(RegressorMixin, PenaltyLearner):
    """Linear regression with learned penalties and noise variance."""

    target_spread: float | None = SPREAD

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn penalties, noise variance and weights; y: numbers, shape (m,).

        X, sample_weight: as for `LogisticLearner`. Raises ValueError: what scikit-learn refuses,
        groups that do not fit X.
        """
        X, y = validate_data(self, X, y, y_numeric=True, **_CHECKS)
        X, y, weights = weighted_rows(X, np.asarray(y, dtype=np.float64), sample_weight)
        unit = 1.0
        if self.target_spread is not None:
            mean = np.average(y, weights=weights)
            spread = float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))
            # A constant target has no spread.
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
    # scikit-learn's own checks and searches expect ValueError.
    try:
        yield
    except UnusableError as error:
        raise ValueError(error.sentence) from error


def weighted_rows(X: Any, y: np.ndarray, sample_weight: Any) -> tuple[Any, np.ndarray, Weights]:
    """The rows with a weight above 0, and the weights; None where all are 1."""
    if sample_weight is None:
        return X, y, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    some = weights > 0
    # Rows of weight 0 are no rows: their classes and values must not count either.
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


def integer_seed(random_state: Any) -> int:
    """A seed from whatever scikit-learn takes as one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@estimator_class
class _Mm(PenaltyLearner):
    """Steps of MM (Foo, Do and Ng 2009, algorithm 2)."""

    alpha: float = 0.0
    beta: float = 1.0
    tol: float = 1e-3
    _steps = staticmethod(mm.mm_steps)

    def _options(self) -> MmOptions:
        return MmOptions(self.alpha, self.beta, max_steps=self.max_iter, tolerance=self.tol)


@estimator_class
class _Direct(PenaltyLearner):
    """Steps of direct minimization (Foo, Do and Ng 2009, section 4)."""

    alpha: float = 0.0
    beta: float = 1.0
    max_iter: int = 500
    _steps = staticmethod(mm.direct_steps)

    def _options(self) -> DirectOptions:
        return DirectOptions(self.alpha, self.beta, max_steps=self.max_iter)


@estimator_class
class _Evidence(PenaltyLearner):
    """Steps of the evidence update (MacKay 1992)."""

    tol: float = 1e-3
    random_state: Any = 0
    _steps = staticmethod(evidence.evidence_steps)

    def _options(self) -> EvidenceOptions:
        return EvidenceOptions(self.max_iter, self.tol)


@estimator_class
class _Gradient(PenaltyLearner):
    """Line searches of the validation gradient (Do, Foo and Ng 2008, algorithm 1)."""

    validation: str = "automatic"
    folds: int = 5
    max_iter: int = 30
    random_state: Any = 0
    _steps = staticmethod(implicit_gradient.gradient_steps)

    def _options(self) -> GradientOptions:
        return GradientOptions(steps=self.max_iter)

    def _holdout_pairs(
        self, loss: TableLoss, X: Any, y: np.ndarray, weights: Weights, k: int
    ) -> Pairs:
        # Imports much of a run, which no other learner needs.
        from tunescope.validation_splits import WeightedRows, held_out_pairs

        rows = WeightedRows(X, y, weights)
        return held_out_pairs(loss, rows, k, self.validation, self.folds, self.random_state)


@estimator_class
class LogisticMM(_Mm, LogisticLearner):
    """Logistic regression whose penalties are learned by majorization-minimization.

    Minimizes −log p(y | X, w) + Σ_j (p_j/2 + α) log(½‖w_j‖² + β) over the weights w, p_j of them in
    group j; the penalties are C_j = (p_j/2 + α)/(½‖w_j‖² + β) (Foo, Do and Ng 2009). Takes about
    the time of one fit; no rows are held out.

    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> learner = tunescope.LogisticMM(groups=["signal", "noise", "noise"]).fit(X, X[:, 0] > 0)
    >>> learner.group_names_, bool(learner.penalties_[0] < learner.penalties_[1])
    (['signal', 'noise'], True)

    Args:
        groups: which columns share a penalty: None or "single" for one penalty; "each" for one a
            column; "prefix" for columns whose names begin alike; {group: [columns]}; or a label
            for every column.
        alpha, beta: of the prior C_j ~ Gamma(α, β). A small β lets groups be switched off.
        max_iter: maximum number of steps.
        tol: it ends when no log penalty moves by more.
        fit_intercept: whether there are intercepts, which are never penalized.

    Attributes:
        penalties_: C of every group, shape (k,); scikit-learn's C is 1/penalties_.
        group_names_: the groups' names. groups_: the number of every column's group, shape (p,).
        switched_off_: groups at the end of their range, boolean, shape (k,).
        coef_: shape (1, p) of two classes, (K, p) of K. intercept_: shape (1,) or (K,).
        classes_: the labels, sorted.
        n_iter_: number of steps. objective_: its value at the end.
        remarks_: sentences about the result.
        n_features_in_: p. feature_names_in_: the columns' names, where X has them.
    """


@estimator_class
class LogisticDirect(_Direct, LogisticLearner):
    """Logistic regression, the objective of `LogisticMM` minimized by L-BFGS.

    For comparison: often stuck in poorer solutions. Arguments and attributes of `LogisticMM`.
    """


@estimator_class
class LogisticEvidence(_Evidence, LogisticLearner):
    """Logistic regression whose penalties maximize the Laplace evidence (MacKay 1992).

    Arguments and attributes of `LogisticMM`, and `random_state`: of the random signs that estimate
    traces where the Hessian is not formed.
    """


@estimator_class
class LogisticLOO(LogisticLearner):
    """Logistic regression whose penalties minimize the approximate leave-one-out loss.

    Rad and Maleki 2020; ratios of several groups are those of the evidence. The time of two to ten
    fits, up to forty with as many columns as rows. Arguments and attributes of `LogisticMM`,
    `random_state` as for `LogisticEvidence`. A row that counts twice is left out once at a time,
    one that counts for less than one as a whole; on tables too large for this, whole rows are held
    out in five folds.
    """

    max_iter: int = 130
    random_state: Any = 0
    _steps = staticmethod(leave_one_out.leave_one_out_steps)

    def _options(self) -> LooOptions:
        return LooOptions(self.max_iter)


@estimator_class
class LogisticGradient(_Gradient, LogisticLearner):
    """Logistic regression whose penalties follow the gradient of the held-out log loss.

    Do, Foo and Ng 2008, algorithm 1. Arguments and attributes of `LogisticMM`. Equal rows are held
    out together, and a row with its whole weight.

    Args:
        validation: holdout, a quarter of the rows is held out; folds, every row once, in turns;
            automatic, folds up to 30 million values, or where a quarter would be fewer than five
            rows a penalty.
        folds: number of parts that take turns.
        max_iter: maximum number of line searches.
        random_state: of the division.
    """


@estimator_class
class RidgeMM(_Mm, RidgeLearner):
    """Ridge regression whose penalties are learned by majorization-minimization.

    For numbers: the loss is (m/2) log ½‖y − Xw‖² (Foo, Do and Ng 2009). Arguments and attributes of
    `LogisticMM` without `classes_`, and these:

    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> tunescope.RidgeMM().fit(X, 2 * X[:, 0] + 1).coef_.round(1).tolist()
    [2.0, 0.0, 0.0]

    Args:
        target_spread: the standard deviation that y is scaled to while penalties are learned, the
            unit of α and β; None leaves it as it is. Predictions are in y's unit.

    Attributes:
        alphas_: σ² C, scikit-learn's alpha of each group. coef_: shape (p,). intercept_: a number.
        noise_variance_: σ², in the square of y's unit.
    """


@estimator_class
class RidgeDirect(_Direct, RidgeLearner):
    """Ridge regression, the objective of `RidgeMM` minimized by L-BFGS; arguments of `RidgeMM`."""


@estimator_class
class RidgeEvidence(_Evidence, RidgeLearner):
    """Ridge regression whose penalties and noise maximize the evidence (MacKay 1992).

    With one group the global maximum, in about the time of one decomposition. Arguments and
    attributes of `RidgeMM`, and `random_state` as for `LogisticEvidence`.
    """


@estimator_class
class RidgeGradient(_Gradient, RidgeLearner):
    """Ridge regression whose penalties follow the gradient of the held-out loss.

    Arguments of `LogisticGradient` and `RidgeMM`, attributes of `RidgeMM`.
    """


Kind = Literal["regression", "classification"]


def learn_penalties(
    X: Any, y: Any, groups: Groups = None, *, task: Kind | None = None, sample_weight: Any = None
) -> LogisticLearner | RidgeLearner:
    """A fitted linear model whose penalties were learned by the recommended method.

    X: dense or sparse, shape (m, p); standardized columns suit the penalties best. y: numbers, or
    labels of two or more classes, shape (m,). groups: as for `LogisticMM`. task: None to infer it
    from y, words and few whole numbers are classes. sample_weight: how many times every row counts.
    Raises ValueError: another task, or what the estimator's `fit` refuses.

    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> tunescope.learn_penalties(X, X[:, 0] > 0, groups="each").penalties_.shape
    (3,)
    """
    return recommended_learner(X, y, groups, task=task).fit(X, y, sample_weight)


def recommended_learner(
    X: Any, y: Any, groups: Groups = None, *, task: Kind | None = None
) -> LogisticLearner | RidgeLearner:
    """The learner of `learn_penalties`, not fitted; from the shape of the data.

    Raises ValueError: another task, or groups that do not fit X.

    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> tunescope.recommended_learner(X, X[:, 0])
    RidgeEvidence()
    """
    if task not in (None, "regression", "classification"):
        raise ValueError(f"there is no task “{task}”; give regression, classification or None")
    names = [str(name) for name in getattr(X, "columns", ())]
    X, y = check_X_y(X, y, accept_sparse=True, dtype=None, ensure_min_samples=2)
    with sentences_as_value_errors():
        k = len(groups_of(groups, names or [f"x{k}" for k in range(X.shape[1])])[0])
    # For numbers the evidence is recommended whatever the shape.
    if (task or guess_task(y)) == "regression":
        return RidgeEvidence(groups)
    classes = len(np.unique(y))
    weights = X.shape[1] * (classes if classes > 2 else 1)
    advice = recommend_update(weights, X.shape[0], classes, groups=k)
    return LogisticLOO(groups) if advice.strategy == "loo" else LogisticEvidence(groups)
