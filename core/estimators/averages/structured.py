"""Weighted averages of sequence taggers, and of folding models."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from core.estimators.structured.crf_tagger import share_among_tokens
from core.losses.class_labels import label_codes
from core.losses.rna.decode import maximum_expected_accuracy
from core.losses.rna.pair_scores import pair_counts

Members = Sequence[tuple[str, Any]]  # (name, estimator)


class _Average(BaseEstimator):
    """Members (name, unfitted estimator) and weights that sum to 1; `members_` are fitted."""

    def __init__(self, members: Members, weights: Sequence[float]) -> None:
        self.members = members
        self.weights = weights

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        return self.set_members([(name, clone(member).fit(X, y)) for name, member in self.members])

    def set_members(self, members: Members) -> Self:
        self.members_ = list(members)
        return self

    def _weighted_members(self) -> list[tuple[Any, float]]:
        pairs = zip(self.members_, self.weights, strict=True)
        return [(member, float(w)) for (_, member), w in pairs]


class AveragedTagger(ClassifierMixin, _Average):
    """The mean of conditional random fields, p(labels) = Σ_t w_t p_t(labels)."""

    decoding = "posterior"

    def set_members(self, members: Members) -> Self:
        super().set_members(members)
        first = self.members_[0][1]
        # All have the same: `refuse_other_classes` has seen to that.
        self.classes_, self.sequence_ = first.classes_, first.encoding_.sequence
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        means = (w * tagger.predict_proba(X) for tagger, w in self._weighted_members())
        return np.sum(list(means), axis=0)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """−log Σ_t w_t p_t(all labels) in nats, shared among tokens, (tokens,)."""
        logs = [np.log(w) + tagger.log_likelihoods(X, y) for tagger, w in self._weighted_members()]
        sequence_logs = logsumexp(logs, axis=0)
        starts = self.members_[0][1].encoding_.encode_tokens(X).starts
        codes = label_codes(y, self.classes_)
        return share_among_tokens(sequence_logs, starts, codes, lambda: self.predict_proba(X))


class AveragedFolder(_Average):
    """The mean of folding models of the same γ, p(structure) = Σ_t w_t p_t(structure)."""

    def set_members(self, members: Members) -> Self:
        super().set_members(members)
        self.gamma_ = float(self.members_[0][1].gamma)
        return self

    def set_gamma(self, gamma: float) -> None:
        self.gamma_ = gamma
        # The members' own, for a run may take one of them alone.
        for _, folder in self.members_:
            folder.gamma = gamma

    def pair_probabilities(self, X: pd.DataFrame) -> list[np.ndarray]:
        """The mean probability that bases i < j pair, (L, L) for every molecule."""
        # Pair probabilities of the mean are the means of the members'.
        matrices = [folder.pair_probabilities(X) for folder, _ in self._weighted_members()]
        weights = np.asarray(self.weights)
        return [np.tensordot(weights, np.stack(Ps), axes=1) for Ps in zip(*matrices, strict=True)]

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        structures = [maximum_expected_accuracy(P, self.gamma_) for P in self.pair_probabilities(X)]
        return np.array(structures, dtype=object)

    def pair_counts(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """True positive, called and true pairs at every γ and at `gamma_`, (n, 17, 3)."""
        pairs = zip(self.pair_probabilities(X), list(y), strict=True)
        return np.stack([pair_counts(P, truth, self.gamma_) for P, truth in pairs])

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        logs = [np.log(w) - folder.log_losses(X, y) for folder, w in self._weighted_members()]
        return -logsumexp(logs, axis=0)
