"""The average of fitted topic models (McInerney 2017, eq. 4).

log p(second half | first half) = log Σ_t w_t p_t(second half | first half), by document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from core.estimators.lda import fitted_topics
from core.samplers.averaging import average_log_densities

Members = Sequence[tuple[str, fitted_topics.FittedTopics]]


class AveragedTopics(TransformerMixin, BaseEstimator):
    """Fitted topic models over the same words, (name, model), and their weights, (T,)."""

    def __init__(self, members: Members, weights: Sequence[float]) -> None:
        self.members = members
        self.weights = weights

    @property
    def best_member(self) -> fitted_topics.FittedTopics:
        """The first member of largest weight, whose topics are shown."""
        # Topics of different members do not correspond: they have no mean.
        return self.members[int(np.argmax(self.weights))][1]

    def fit(self, X: Any, y: Any = None) -> AveragedTopics:
        # Nothing to do: the members are fitted.
        return self

    def completion(self, X: Any) -> np.ndarray:
        """Log p(second half | first half) of documents, and its words, (D, 2)."""
        observed, held = fitted_topics.split_halves(X, fitted_topics.HALVING_SEED)
        logs, tokens = [], np.zeros(0)
        for _, member in self.members:
            log_densities, tokens = fitted_topics.predictive_log_densities(member, observed, held)
            logs.append(log_densities)
        average = average_log_densities(np.stack(logs, axis=1), np.asarray(self.weights, float))
        return np.stack([average, tokens], axis=1)

    def transform(self, X: Any) -> np.ndarray:
        return self.best_member.transform(X)

    def posterior(self, X: Any) -> np.ndarray:
        return self.best_member.posterior(X)

    @property
    def components_(self) -> np.ndarray:
        return self.best_member.components_

    @property
    def alpha_(self) -> float:
        return self.best_member.alpha_

    @property
    def eta_(self) -> float:
        return self.best_member.eta_

    def __sklearn_is_fitted__(self) -> bool:
        return True
