"""Linear-chain CRF as an estimator: it labels the tokens of a table, whole sequences at a time."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin

from core.estimators.structured.penalized_estimator import PenalizedEstimator
from core.losses.class_labels import label_codes
from core.losses.crf.chain import log_likelihoods, marginals, viterbi
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.crf.encoding import ParameterNames


class CrfTagger(ClassifierMixin, PenalizedEstimator):
    """Linear-chain conditional random field with an L2 penalty (Do 2008, section 2).

    Minimizes −log p(labels | tokens, w) + ½ C ‖w‖², summed over sequences.

    Args:
        C: the penalty.
        sequence: the column that says which sequence a row's token belongs to; the rows of a
            sequence stand together, in order. "" for the first column.
        decoding: posterior labels every token by its largest marginal probability, viterbi takes
            the most probable whole sequence.

    Attributes:
        classes_: the K labels, sorted.
        encoding_: what tells the active features of every token.
        w_: parameters, shape (n,).
        penalties_: {group: C}. groups_: the number of every parameter's group, shape (n,).
    """

    tolerance = 1e-10

    def __init__(self, C: float = 1.0, sequence: str = "", decoding: str = "posterior") -> None:
        self.C = C
        self.sequence = sequence
        self.decoding = decoding

    def _make_loss(self, X: pd.DataFrame, y: Any) -> CrfLoss:
        sequence = self.sequence or str(X.columns[0])
        return build_crf(X, sequence, np.asarray(y), np.unique(y).tolist())

    def set_weights(
        self, loss: CrfLoss, w: np.ndarray, penalties: dict[str, float], groups: np.ndarray
    ) -> Self:
        self.classes_ = np.asarray(loss.classes)
        self.encoding_ = loss.encoding
        return super().set_weights(loss, w, penalties, groups)

    @property
    def names_(self) -> Sequence[str]:
        return ParameterNames(self.encoding_, self.classes_.tolist())

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return marginals(self.w_, len(self.classes_), self.encoding_.encode_tokens(X))

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        if self.decoding == "viterbi":
            codes = viterbi(self.w_, len(self.classes_), self.encoding_.encode_tokens(X))
        else:
            codes = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[codes]

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """−log p(all labels of the sequence), an equal part for each token; shape (tokens,)."""
        codes = label_codes(y, self.classes_)
        starts = self.encoding_.encode_tokens(X).starts
        return share_among_tokens(
            self.log_likelihoods(X, y), starts, codes, lambda: self.predict_proba(X)
        )

    def log_likelihoods(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """Log p(all labels) of every sequence, shape (sequences,); −inf with an unknown label."""
        codes, tokens = label_codes(y, self.classes_), self.encoding_.encode_tokens(X)
        return log_likelihoods(self.w_, len(self.classes_), tokens, codes)


def share_among_tokens(
    sequence_logs: np.ndarray,
    starts: np.ndarray,
    codes: np.ndarray,
    marginals: Callable[[], np.ndarray],
) -> np.ndarray:
    """−log p of whole sequences, an equal part for each of its tokens, as `log_losses` says.

    Args:
        sequence_logs: log p of every sequence, shape (S,).
        starts: where each begins, and the end, shape (S + 1,).
        codes: of the true labels, shape (tokens,); −1 for one that the model never saw.
        marginals: the probability of every label alone, (tokens, K).
    """
    lengths = np.diff(starts)
    token_losses = np.repeat(-sequence_logs / lengths, lengths)
    # A sequence with a label that the model never saw is impossible under it; there every token
    # counts by its own marginal probability. Marginals cost another sweep, so only where needed.
    if np.isfinite(token_losses).all():
        return token_losses
    probability = np.take_along_axis(marginals(), np.maximum(codes, 0)[:, None], axis=1)[:, 0]
    single_losses = -np.log(np.maximum(np.where(codes < 0, 0.0, probability), 1e-15))
    return np.where(np.isfinite(token_losses), token_losses, single_losses)
