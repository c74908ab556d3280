"""Linear models that learn their L2 penalties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_X_y

from core.datasets.understanding.target import guess_task
from core.penalties import direct, evidence, implicit_gradient, leave_one_out, mm
from core.penalties.learner_options import (
    DirectOptions,
    EvidenceOptions,
    GradientOptions,
    LooOptions,
    MmOptions,
)
from core.penalties.penalty_problem import Pairs, PenaltyProblem
from core.penalties.recommendation import recommend_update
from core.penalties.step import LearnerStep
from tunescope.learner import (
    Groups,
    LogisticLearner,
    PenaltyLearner,
    RidgeLearner,
    Weights,
    groups_of,
    sentences_as_value_errors,
)

SPREAD = 10.0  # standard deviation of a target while penalties are learned


class _Mm(PenaltyLearner):
    """Steps of MM (Foo, Do and Ng 2009, algorithm 2)."""

    alpha: float
    beta: float
    tol: float

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        options = MmOptions(self.alpha, self.beta, max_steps=self.max_iter, tolerance=self.tol)
        return mm.mm_steps(problem, options)


class _Direct(PenaltyLearner):
    """Steps of direct minimization (Foo, Do and Ng 2009, section 4)."""

    alpha: float
    beta: float

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        options = DirectOptions(self.alpha, self.beta, max_steps=self.max_iter)
        return direct.direct_steps(problem, options)


class _Evidence(PenaltyLearner):
    """Steps of the evidence update (MacKay 1992)."""

    tol: float

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        return evidence.evidence_steps(problem, EvidenceOptions(self.max_iter, self.tol))


class _Gradient(PenaltyLearner):
    """Line searches of the validation gradient (Do, Foo and Ng 2008, algorithm 1)."""

    validation: str
    folds: int
    random_state: Any

    def _holdout_pairs(self, loss: Any, X: Any, y: np.ndarray, weights: Weights, k: int) -> Pairs:
        # Imports much of a run.
        from tunescope.validation_splits import WeightedRows, held_out_pairs

        rows = WeightedRows(X, y, weights)
        return held_out_pairs(loss, rows, k, self.validation, self.folds, self.random_state)

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        return implicit_gradient.gradient_steps(problem, GradientOptions(steps=self.max_iter))


class LogisticMM(_Mm, LogisticLearner):
    """Logistic regression whose penalties are learned by majorization-minimization.

    Minimizes −log p(y | X, w) + Σ_j (p_j/2 + α) log(½‖w_j‖² + β) over the weights w, p_j of them in
    group j; the penalties are C_j = (p_j/2 + α)/(½‖w_j‖² + β) (Foo, Do and Ng 2009). Takes about
    the time of one fit; no rows are held out.

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

    def __init__(
        self,
        groups: Groups = None,
        *,
        alpha: float = 0.0,
        beta: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        fit_intercept: bool = True,
    ) -> None:
        self.groups, self.alpha, self.beta, self.max_iter = groups, alpha, beta, max_iter
        self.tol, self.fit_intercept = tol, fit_intercept


class LogisticDirect(_Direct, LogisticLearner):
    """Logistic regression, the objective of `LogisticMM` minimized by L-BFGS.

    For comparison: often stuck in poorer solutions. Arguments and attributes of `LogisticMM`.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        alpha: float = 0.0,
        beta: float = 1.0,
        max_iter: int = 500,
        fit_intercept: bool = True,
    ) -> None:
        self.groups, self.alpha, self.beta, self.max_iter = groups, alpha, beta, max_iter
        self.fit_intercept = fit_intercept


class LogisticEvidence(_Evidence, LogisticLearner):
    """Logistic regression whose penalties maximize the Laplace evidence (MacKay 1992).

    Arguments and attributes of `LogisticMM`, and `random_state`: of the random signs that estimate
    traces where the Hessian is not formed.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        max_iter: int = 100,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.groups, self.max_iter, self.tol = groups, max_iter, tol
        self.fit_intercept, self.random_state = fit_intercept, random_state


class LogisticLOO(LogisticLearner):
    """Logistic regression whose penalties minimize the approximate leave-one-out loss.

    Rad and Maleki 2020; ratios of several groups are those of the evidence. About the time of five
    fits. Arguments and attributes of `LogisticMM`, `random_state` as for `LogisticEvidence`. A row
    that counts twice is left out once at a time, one that counts for less than one as a whole; on
    tables too large for this, whole rows are held out in five folds.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        max_iter: int = 130,
        fit_intercept: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.groups, self.max_iter, self.fit_intercept = groups, max_iter, fit_intercept
        self.random_state = random_state

    def _method_steps(self, problem: PenaltyProblem) -> Iterator[LearnerStep]:
        return leave_one_out.leave_one_out_steps(problem, LooOptions(self.max_iter))


class LogisticGradient(_Gradient, LogisticLearner):
    """Logistic regression whose penalties follow the gradient of the held-out log loss.

    Do, Foo and Ng 2008, algorithm 1. Arguments and attributes of `LogisticMM`. Equal rows are held
    out together, and a row with its whole weight.

    Args:
        validation: holdout, a quarter of the rows is held out; folds, every row once, in turns;
            automatic, folds where a quarter would be fewer than five rows a penalty.
        folds: number of parts that take turns.
        max_iter: maximum number of line searches.
        random_state: of the division.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        validation: str = "automatic",
        folds: int = 5,
        max_iter: int = 30,
        fit_intercept: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.groups, self.validation, self.folds = groups, validation, folds
        self.max_iter, self.fit_intercept, self.random_state = max_iter, fit_intercept, random_state


class RidgeMM(_Mm, RidgeLearner):
    """Ridge regression whose penalties are learned by majorization-minimization.

    For numbers: the loss is (m/2) log ½‖y − Xw‖² (Foo, Do and Ng 2009). Arguments and attributes of
    `LogisticMM` without `classes_`, and these:

    Args:
        target_spread: the standard deviation that y is scaled to while penalties are learned, the
            unit of α and β; None leaves it as it is. Predictions are in y's unit.

    Attributes:
        alphas_: σ² C, scikit-learn's alpha of each group. coef_: shape (p,). intercept_: a number.
        noise_variance_: σ², in the square of y's unit.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        alpha: float = 0.0,
        beta: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        target_spread: float | None = SPREAD,
    ) -> None:
        self.groups, self.alpha, self.beta, self.max_iter = groups, alpha, beta, max_iter
        self.tol, self.fit_intercept, self.target_spread = tol, fit_intercept, target_spread


class RidgeDirect(_Direct, RidgeLearner):
    """Ridge regression, the objective of `RidgeMM` minimized by L-BFGS; arguments of `RidgeMM`."""

    def __init__(
        self,
        groups: Groups = None,
        *,
        alpha: float = 0.0,
        beta: float = 1.0,
        max_iter: int = 500,
        fit_intercept: bool = True,
        target_spread: float | None = SPREAD,
    ) -> None:
        self.groups, self.alpha, self.beta, self.max_iter = groups, alpha, beta, max_iter
        self.fit_intercept, self.target_spread = fit_intercept, target_spread


class RidgeEvidence(_Evidence, RidgeLearner):
    """Ridge regression whose penalties and noise maximize the evidence (MacKay 1992).

    With one group the global maximum, in about the time of one decomposition. Arguments and
    attributes of `RidgeMM`, and `random_state` as for `LogisticEvidence`.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        max_iter: int = 100,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        target_spread: float | None = SPREAD,
        random_state: Any = 0,
    ) -> None:
        self.groups, self.max_iter, self.tol = groups, max_iter, tol
        self.fit_intercept, self.target_spread = fit_intercept, target_spread
        self.random_state = random_state


class RidgeGradient(_Gradient, RidgeLearner):
    """Ridge regression whose penalties follow the gradient of the held-out loss.

    Arguments of `LogisticGradient` and `RidgeMM`, attributes of `RidgeMM`.
    """

    def __init__(
        self,
        groups: Groups = None,
        *,
        validation: str = "automatic",
        folds: int = 5,
        max_iter: int = 30,
        fit_intercept: bool = True,
        target_spread: float | None = SPREAD,
        random_state: Any = 0,
    ) -> None:
        self.groups, self.validation, self.folds = groups, validation, folds
        self.max_iter, self.fit_intercept = max_iter, fit_intercept
        self.target_spread, self.random_state = target_spread, random_state


Kind = Literal["regression", "classification"]


def learn_penalties(
    X: Any, y: Any, groups: Groups = None, *, task: Kind | None = None, sample_weight: Any = None
) -> LogisticLearner | RidgeLearner:
    """A fitted linear model whose penalties were learned by the recommended method.

    X: dense or sparse, shape (m, p); standardized columns suit the penalties best. y: numbers, or
    labels of two or more classes, shape (m,). groups: as for `LogisticMM`. task: None to infer it
    from y, words and few whole numbers are classes. sample_weight: how many times every row counts.
    Raises ValueError: another task, or what the estimator's `fit` refuses.
    """
    return recommended_learner(X, y, groups, task=task).fit(X, y, sample_weight)


def recommended_learner(
    X: Any, y: Any, groups: Groups = None, *, task: Kind | None = None
) -> LogisticLearner | RidgeLearner:
    """The learner of `learn_penalties`, not fitted; from the shape of the data.

    Raises ValueError: another task, or groups that do not fit X.
    """
    if task not in (None, "regression", "classification"):
        raise ValueError(f"there is no task “{task}”; give regression, classification or None")
    names = [str(name) for name in getattr(X, "columns", ())]
    X, y = check_X_y(X, y, accept_sparse=True, dtype=None, ensure_min_samples=2)
    task_kind = guess_task(y) if task is None else task
    classes = 0 if task_kind == "regression" else len(np.unique(y))
    with sentences_as_value_errors():
        k = len(groups_of(groups, names or [f"x{k}" for k in range(X.shape[1])])[0])
    weights = X.shape[1] * (classes if classes > 2 else 1)
    advice = recommend_update(weights, X.shape[0], classes, groups=k)
    if classes == 0:
        return RidgeEvidence(groups)
    return LogisticLOO(groups) if advice.strategy == "loo" else LogisticEvidence(groups)
