"""Averages of models that label sequences, and of models that fold molecules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from core.estimators.structured.crf_tagger import codes_of, share_among_tokens
from core.losses.rna.decode import maximum_expected_accuracy
from core.losses.rna.pair_scores import pair_counts

Members = Sequence[tuple[str, Any]]  # (name, estimator)


class _Average(BaseEstimator):
    """Models of one kind, and how much each counts.

    Args:
        members: (name, unfitted estimator).
        weights: shares of one, shape (T,).

    Attributes:
        members_: the same, fitted.
    """

    def __init__(self, members: Members, weights: Sequence[float]) -> None:
        self.members = members
        self.weights = weights

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Fit every member on the same rows."""
        return self.set_members([(name, clone(member).fit(X, y)) for name, member in self.members])

    def set_members(self, members: Members) -> Self:
        """Become the average of fitted members."""
        self.members_ = list(members)
        return self

    def _weighted_members(self) -> list[tuple[Any, float]]:
        pairs = zip(self.members_, self.weights, strict=True)
        return [(member, float(w)) for (_, member), w in pairs]


class AveragedTagger(ClassifierMixin, _Average):
    """The weighted mean of conditional random fields, p(labels) = Σ_t w_t p_t(labels).

    Args:
        members: (name, `CrfTagger`), all of the same labels.
        weights: shares of one, shape (T,).

    Attributes:
        classes_: the K labels, sorted.
        sequence_: the column that says which sequence a token belongs to.
        decoding: "posterior": labelings are no numbers to take a mean of, so that every token gets
            its own likeliest label.
    """

    decoding = "posterior"

    def set_members(self, members: Members) -> Self:
        """Become the average of fitted taggers."""
        super().set_members(members)
        first = self.members_[0][1]
        self.classes_, self.sequence_ = first.classes_, first.encoding_.sequence
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """The mean of the members' marginal probabilities of every label, shape (tokens, K)."""
        means = (w * tagger.predict_proba(X) for tagger, w in self._weighted_members())
        return np.sum(list(means), axis=0)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """The label of largest mean marginal for every token."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """−log Σ_t w_t p_t(all labels of the sequence), an equal part for each of its tokens.

        A sequence with a label that was never seen counts as `CrfTagger.log_losses` says.

        Returns:
            Shape (tokens,), in nats.
        """
        logs = [np.log(w) + tagger.log_likelihoods(X, y) for tagger, w in self._weighted_members()]
        sequence_logs = logsumexp(logs, axis=0)
        starts = self.members_[0][1].encoding_.encode_tokens(X).starts
        codes = codes_of(self.classes_, y)
        return share_among_tokens(sequence_logs, starts, codes, lambda: self.predict_proba(X))


class AveragedFolder(_Average):
    """The weighted mean of folding models, p(structure) = Σ_t w_t p_t(structure).

    A base pair's probability under the mean is the mean of its probabilities; structures are
    chosen from those as `RnaFolder` chooses them.

    Args:
        members: (name, `RnaFolder`), of the same γ.
        weights: shares of one, shape (T,).

    Attributes:
        gamma_: how much a base pair counts beside an unpaired base when a structure is chosen.
    """

    def set_members(self, members: Members) -> Self:
        """Become the average of fitted folders."""
        super().set_members(members)
        self.gamma_ = float(self.members_[0][1].gamma)
        return self

    def set_gamma(self, gamma: float) -> None:
        """Fold with another γ; the parameters stay."""
        self.gamma_ = gamma
        for _, folder in self.members_:
            folder.gamma = gamma

    def pair_probabilities(self, X: pd.DataFrame) -> list[np.ndarray]:
        """The mean probability that bases i < j pair, (L, L) for every molecule."""
        of_members = [folder.pair_probabilities(X) for folder, _ in self._weighted_members()]
        weights = np.asarray(self.weights)
        return [np.tensordot(weights, np.stack(Ps), axes=1) for Ps in zip(*of_members, strict=True)]

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """The structure of greatest expected accuracy of every molecule, in dot-brackets."""
        structures = [maximum_expected_accuracy(P, self.gamma_) for P in self.pair_probabilities(X)]
        return np.array(structures, dtype=object)

    def pair_counts(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """Pairs rightly called, called, and true at every γ and at the own one, (n, 17, 3)."""
        pairs = zip(self.pair_probabilities(X), list(y), strict=True)
        return np.stack([pair_counts(P, truth, self.gamma_) for P, truth in pairs])

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """−log Σ_t w_t p_t(structure) of every molecule in nats, shape (molecules,)."""
        logs = [np.log(w) - folder.log_losses(X, y) for folder, w in self._weighted_members()]
        return -logsumexp(logs, axis=0)
