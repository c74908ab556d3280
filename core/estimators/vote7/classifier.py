"""The vote of seven classifiers as one scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from core.estimators.vote7.members import (
    MemberTrainingData,
    codes_of,
    fit_bayes,
    fit_intersection,
    fit_logistic,
    fit_passive_aggressive,
    fit_perceptron,
    fit_svm,
    fit_winnow,
    shares_of_votes,
)

_AT_ONCE = 4096  # rows that predict together: the pieces of columns take room


class Vote7Classifier(ClassifierMixin, BaseEstimator):
    """Weighted majority vote of seven classifiers (Yogatama and Mann 2014, section 5 and table 4).

    Every member votes for one class with its share of the weights; the class with most votes wins,
    the first of equals. Columns should be standardized. With more than two classes each member has
    a score for every class. A member of weight zero is not fitted.

    Args:
        winnow_epochs, winnow_tol, winnow_bias_tol, winnow_margin: rounds over the rows; shares
            of the weights and of the threshold below which a round's change ends it; the margin
            up to which a row is learned.
        perceptron_average, perceptron_epochs: whether its weights are averaged; rounds.
        logistic_l1, logistic_l2, logistic_max_iter, logistic_tol: as in L1L2Classifier.
        bayes_floor: the least probability of a bin.
        svm_degree, svm_bias: of the polynomial kernel.
        svm_lambda: its steps are 1 / (λ t) long.
        svm_max_iter, svm_batch, svm_l2: steps; rows in each; penalty.
        pa_sensitivity, pa_relaxation, pa_epochs: the margin to reach, the longest step, rounds.
        ikpa_bins, ikpa_rate, ikpa_epochs: pieces of a column's function, share of a full step,
            rounds.
        weight_winnow, weight_perceptron, weight_logistic, weight_bayes, weight_svm, weight_pa,
            weight_ikpa: at least 0; only their shares of the sum count. All zero is all equal.
        random_state: of the orders of the rows and of what the support vector machine draws.

    Attributes:
        classes_: sorted labels, shape (K,).
        members_: {name: fitted scikit-learn classifier of the codes 0 … K − 1}.
        shares_: {name: its share of the votes}; only of members that vote.
        n_features_in_: columns.
    """

    def __init__(
        self,
        winnow_epochs: int = 5,
        winnow_tol: float = 1e-3,
        winnow_bias_tol: float = 1e-3,
        winnow_margin: float = 0.1,
        perceptron_average: bool = True,
        perceptron_epochs: int = 5,
        logistic_l1: float = 1e-3,
        logistic_l2: float = 1e-3,
        logistic_max_iter: int = 100,
        logistic_tol: float = 1e-5,
        bayes_floor: float = 1e-3,
        svm_degree: int = 3,
        svm_bias: float = 1.0,
        svm_lambda: float = 1e-3,
        svm_max_iter: int = 2000,
        svm_batch: int = 1,
        svm_l2: float = 1e-3,
        pa_sensitivity: float = 1.0,
        pa_relaxation: float = 0.01,
        pa_epochs: int = 5,
        ikpa_bins: int = 5,
        ikpa_rate: float = 0.1,
        ikpa_epochs: int = 4,
        weight_winnow: float = 1.0,
        weight_perceptron: float = 1.0,
        weight_logistic: float = 1.0,
        weight_bayes: float = 1.0,
        weight_svm: float = 1.0,
        weight_pa: float = 1.0,
        weight_ikpa: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.winnow_epochs = winnow_epochs
        self.winnow_tol = winnow_tol
        self.winnow_bias_tol = winnow_bias_tol
        self.winnow_margin = winnow_margin
        self.perceptron_average = perceptron_average
        self.perceptron_epochs = perceptron_epochs
        self.logistic_l1 = logistic_l1
        self.logistic_l2 = logistic_l2
        self.logistic_max_iter = logistic_max_iter
        self.logistic_tol = logistic_tol
        self.bayes_floor = bayes_floor
        self.svm_degree = svm_degree
        self.svm_bias = svm_bias
        self.svm_lambda = svm_lambda
        self.svm_max_iter = svm_max_iter
        self.svm_batch = svm_batch
        self.svm_l2 = svm_l2
        self.pa_sensitivity = pa_sensitivity
        self.pa_relaxation = pa_relaxation
        self.pa_epochs = pa_epochs
        self.ikpa_bins = ikpa_bins
        self.ikpa_rate = ikpa_rate
        self.ikpa_epochs = ikpa_epochs
        self.weight_winnow = weight_winnow
        self.weight_perceptron = weight_perceptron
        self.weight_logistic = weight_logistic
        self.weight_bayes = weight_bayes
        self.weight_svm = weight_svm
        self.weight_pa = weight_pa
        self.weight_ikpa = weight_ikpa
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Vote7Classifier:
        """Fit every member that votes on rows X (n, p), dense, of two or more classes y (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        X = np.require(X, requirements="W")  # loops are compiled once more for frozen arrays
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("two or more classes are needed, and the rows are all of one class")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rows = MemberTrainingData(X, codes.astype(np.int64), len(self.classes_), seed)
        self.shares_ = self._vote_shares()
        self.members_ = {name: self._fit_member(name, rows) for name in self.shares_}
        return self

    def _vote_shares(self) -> dict[str, float]:
        weights = {name: float(getattr(self, f"weight_{name}")) for name in _FITS}
        if min(weights.values()) < 0:
            raise ValueError("the weights of the members must be at least 0")
        if not any(weights.values()):
            weights = dict.fromkeys(weights, 1.0)
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items() if weight > 0}

    def _fit_member(self, name: str, rows: MemberTrainingData) -> Any:
        prefix, parameters = f"{name}_", self.get_params(deep=False)
        member_parameters = {
            key.removeprefix(prefix): parameters[key]
            for key in parameters
            if key.startswith(prefix)
        }
        if "lambda" in member_parameters:  # Python keeps that word for itself
            member_parameters["decay"] = member_parameters.pop("lambda")
        return _FITS[name](rows, **member_parameters)

    def predict(self, X: Any) -> np.ndarray:
        votes = self._weighted_votes(X)
        return self.classes_[np.argmax(votes, axis=1)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Shares of the votes, shape (n, K); for two classes the second's less the first's."""
        votes = self._weighted_votes(X)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes

    def _weighted_votes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        votes = np.zeros((len(X), len(self.classes_)))
        for start in range(0, len(X), _AT_ONCE):
            chunk = X[start : start + _AT_ONCE]
            numbers = np.arange(start, start + len(chunk))
            for name, member in self.members_.items():
                votes[numbers, codes_of(member, chunk)] += self.shares_[name]
        return votes

    def as_plain(self) -> VotingClassifier:
        """The same fitted vote in scikit-learn's own classes, which needs nothing of Tunescope."""
        plain = VotingClassifier(list(self.members_.items()), weights=list(self.shares_.values()))
        plain.estimators_ = list(self.members_.values())
        plain.classes_, plain.le_ = self.classes_, LabelEncoder().fit(self.classes_)
        return plain

    def as_plain_scores(self) -> Pipeline:
        """A classifier of scikit-learn's with the same `decision_function`, the shares of votes."""
        return shares_of_votes(self.as_plain(), list(self.shares_.values()), self.classes_)


_FITS: dict[str, Any] = {
    "winnow": fit_winnow,
    "perceptron": fit_perceptron,
    "logistic": fit_logistic,
    "bayes": fit_bayes,
    "svm": fit_svm,
    "pa": fit_passive_aggressive,
    "ikpa": fit_intersection,
}
