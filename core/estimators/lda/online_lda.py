"""Online latent Dirichlet allocation as a scikit-learn estimator: topics of counted words.

Stochastic variational inference (Hoffman, Blei & Bach 2010, algorithm 2; Hoffman et al. 2013), the
first model of McInerney 2017. The notation is that of `core.estimators.lda.inference`.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, check_scalar, gen_batches
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from core.estimators.lda.anchor_words import anchored_tokens
from core.estimators.lda.fitted_topics import completion, variational_bound
from core.estimators.lda.inference import (
    CsrCounts,
    StoppingRule,
    csr_counts,
    expected_counts,
    expected_topics,
    infer_topics,
)


class OnlineLda(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent Dirichlet allocation, learned from a minibatch of documents at a time.

    After minibatch t = 0, 1, …: λ ← (1 − ρ_t) λ + ρ_t (η + D/|minibatch| Σ_d n_dw φ_dwk) with
    ρ_t = (τ0 + t)^−κ. `fit` starts from anchor words, `partial_fit`, which does not know the
    collection, at random. Every pass takes the documents in a new random order.

    Args:
        topics: K.
        alpha: Dirichlet prior of a document's topics; None for 1/K.
        eta: Dirichlet prior of a topic's words; None for 1/K.
        kappa: how fast the steps shrink, 0 (never) to 1.
        tau0: what is added to t, so that early minibatches count less; 1 makes the first step full.
        minibatch: documents between two steps.
        passes: how often `fit` goes through all documents.
        tolerance: mean change of a document's topics with which its inner loop ends.
        iterations: most steps of that loop.
        random_state: of the start and of the order.

    Attributes:
        components_: λ with topics in rows, shape (K, V).
        alpha_, eta_: the priors as numbers.
        steps_: minibatches seen, t.
        documents_seen_: documents seen, those of later passes included.
        n_features_in_: V.
    """

    def __init__(
        self,
        topics: int = 50,
        *,
        alpha: float | None = None,
        eta: float | None = None,
        kappa: float = 0.7,
        tau0: float = 10.0,
        minibatch: int = 100,
        passes: int = 5,
        tolerance: float = 1e-3,
        iterations: int = 100,
        random_state: Any = None,
    ) -> None:
        self.topics = topics
        self.alpha = alpha
        self.eta = eta
        self.kappa = kappa
        self.tau0 = tau0
        self.minibatch = minibatch
        self.passes = passes
        self.tolerance = tolerance
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> OnlineLda:
        """Learn topics from a new start, from counts of words in documents, dense or CSR (D, V)."""
        X = self._validated_counts(X, "OnlineLda.fit", reset=True)
        rng = check_random_state(self.random_state)
        self._initialize_topics(X.shape[1], rng)
        tokens = anchored_tokens(X, self.topics)
        # Topics without an anchor keep their random start.
        self.components_[: len(tokens)] = self.eta_ + tokens
        rows = csr_counts(X)
        for _ in range(self.passes):
            self._run_pass(rows, rng.permutation(X.shape[0]), X.shape[0])
        return self

    def partial_fit(self, X: Any, y: Any = None, documents: int | None = None) -> OnlineLda:
        """Learn from further documents, once, in their order; X: their counts, shape (these, V).

        `documents` is D, how many the whole collection has; None for those given so far.
        """
        first = not hasattr(self, "components_")
        X = self._validated_counts(X, "OnlineLda.partial_fit", reset=first)
        if first:
            self._initialize_topics(X.shape[1], check_random_state(self.random_state))
        total_documents = self.documents_seen_ + X.shape[0] if documents is None else documents
        self._run_pass(csr_counts(X), np.arange(X.shape[0]), total_documents)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The expected share of every topic in every document, E[θ], shape (documents, K).

        A document without words has the prior's: equal shares.
        """
        gamma = self.posterior(X)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def posterior(self, X: Any) -> np.ndarray:
        """γ of documents, shape (documents, K): the parameters of their Dirichlet posteriors."""
        check_is_fitted(self)
        X = self._validated_counts(X, "OnlineLda.transform", reset=False)
        B = expected_topics(np.ascontiguousarray(self.components_.T))
        all_documents = np.arange(X.shape[0], dtype=np.int64)
        return infer_topics(
            csr_counts(X),
            all_documents,
            B,
            self.alpha_,
            StoppingRule(self.tolerance, self.iterations),
        )

    def score(self, X: Any, y: Any = None) -> float:
        """The variational bound on log p(X), in nats."""
        return variational_bound(self, X)

    def completion(self, X: Any) -> np.ndarray:
        """Log p(second half | first half) of documents, and words of the second half, (n, 2)."""
        # The halves are the same for every model, so that models can be compared and averaged.
        return completion(self, X)

    def perplexity(self, X: Any) -> float:
        """Exp(−bound/tokens); 1 where there are no tokens."""
        tokens = float(self._validated_counts(X, "OnlineLda.perplexity", reset=False).sum())
        return float(np.exp(-self.score(X) / tokens)) if tokens > 0 else 1.0

    def _validated_counts(self, X: Any, caller: str, *, reset: bool) -> sparse.csr_matrix:
        if reset:
            self._check_parameters()
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        check_non_negative(X, caller)
        return sparse.csr_matrix(X)

    def _check_parameters(self) -> None:
        for name in ("topics", "minibatch", "passes", "iterations"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        for name in ("alpha", "eta"):
            if getattr(self, name) is not None:
                check_scalar(
                    getattr(self, name), name, Real, min_val=0.0, include_boundaries="neither"
                )
        check_scalar(self.kappa, "kappa", Real, min_val=0.0, max_val=1.0)
        check_scalar(self.tau0, "tau0", Real, min_val=1.0)
        check_scalar(self.tolerance, "tolerance", Real, min_val=0.0)

    def _initialize_topics(self, V: int, rng: np.random.RandomState) -> None:
        self.alpha_ = 1.0 / self.topics if self.alpha is None else float(self.alpha)
        self.eta_ = 1.0 / self.topics if self.eta is None else float(self.eta)
        self.steps_ = self.documents_seen_ = 0
        # Near 1 each: topics that differ a little, as in scikit-learn.
        self.components_ = rng.gamma(100.0, 0.01, (self.topics, V))

    def _run_pass(self, rows: CsrCounts, order: np.ndarray, total_documents: int) -> None:
        lam = np.ascontiguousarray(self.components_.T)
        order = np.asarray(order, dtype=np.int64)
        for batch in gen_batches(len(order), self.minibatch):
            chosen, B = order[batch], expected_topics(lam)
            topic_counts = expected_counts(
                rows, chosen, B, self.alpha_, StoppingRule(self.tolerance, self.iterations)
            )
            rho = (self.tau0 + self.steps_) ** -self.kappa
            # The minibatch stands for the whole collection.
            topic_counts *= rho * total_documents / len(chosen)
            topic_counts += rho * self.eta_
            lam *= 1.0 - rho
            lam += topic_counts
            self.steps_ += 1
        self.documents_seen_ += len(order)
        self.components_ = np.ascontiguousarray(lam.T)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags
