"""RNA folding as an estimator: it predicts which bases of a molecule pair with each other."""

from typing import Any, Self

import numpy as np
import pandas as pd

from core.estimators.structured.penalized_estimator import PenalizedEstimator
from core.losses.rna.decode import maximum_expected_accuracy
from core.losses.rna.fold import pair_probabilities
from core.losses.rna.pair_scores import pair_counts
from core.losses.rna.rna_loss import RnaLoss, build_rna


class RnaFolder(PenalizedEstimator):
    """Conditional log-linear model of secondary structure with an L2 penalty (Do 2008, section 5).

    Minimizes −log p(structure | letters, w) + ½ C ‖w‖², summed over molecules.

    Args:
        C: the penalty.
        gamma: how much a base pair counts beside an unpaired base when a structure is chosen;
            larger values call more pairs.
        shortest_hairpin: unpaired bases in the smallest hairpin; 0 as in the published grammar.

    Attributes:
        w_: parameters, shape (708,). names_: theirs.
        penalties_: {group: C}. groups_: the number of every parameter's group, shape (708,).
    """

    tolerance = 1e-8

    def __init__(self, C: float = 1.0, gamma: float = 4.0, shortest_hairpin: int = 0) -> None:
        self.C = C
        self.gamma = gamma
        self.shortest_hairpin = shortest_hairpin

    def _make_loss(self, X: pd.DataFrame, y: Any) -> RnaLoss:
        return build_rna(letters_of(X), list(y), self.shortest_hairpin)

    def set_weights(
        self, loss: RnaLoss, w: np.ndarray, penalties: dict[str, float], groups: np.ndarray
    ) -> Self:
        self.names_ = list(loss.names)
        return super().set_weights(loss, w, penalties, groups)

    def set_gamma(self, gamma: float) -> None:
        self.gamma = gamma

    def pair_probabilities(self, X: pd.DataFrame) -> list[np.ndarray]:
        """The probability that bases i < j pair, an upper triangle (L, L) for every molecule."""
        return [
            pair_probabilities(self.w_, letters, self.shortest_hairpin) for letters in letters_of(X)
        ]

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        structures = [maximum_expected_accuracy(P, self.gamma) for P in self.pair_probabilities(X)]
        return np.array(structures, dtype=object)

    def pair_counts(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        """Pairs rightly called, called, and true at every γ and at the own one, (n, 17, 3)."""
        pairs = zip(self.pair_probabilities(X), list(y), strict=True)
        return np.stack([pair_counts(P, truth, self.gamma) for P, truth in pairs])

    def log_losses(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        return self._make_loss(X, y).log_losses(self.w_)


def letters_of(X: Any) -> list[str]:
    """The letters in the only column of a table."""
    return [str(letters) for letters in X.iloc[:, 0]]
