"""What the functions about fitted topics ask of a fitted model."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class FittedTopics(Protocol):
    """A fitted topic model over V words with K topics (core.estimators.lda.online_lda).

    Attributes:
        components_: λ, shape (K, V).
        alpha_, eta_: the priors of proportions and of topics.
    """

    components_: np.ndarray
    alpha_: float
    eta_: float

    def transform(self, X: Any) -> np.ndarray:
        """E[θ] of every document, shape (documents, K)."""

    def posterior(self, X: Any) -> np.ndarray:
        """γ of every document, shape (documents, K)."""
