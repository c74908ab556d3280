"""What a fitted latent Dirichlet allocation says of documents, and what its topics are about.

Two figures of every document, so that they can be averaged over models document by document:

- the variational bound on log p(document), E_q[log p(w, z, θ)] − E_q[log q(z, θ)] (Hoffman, Blei
  & Bach 2010, eq. 4), which with the topics' own part bounds the log marginal likelihood;
- document completion: the log probability of one half of its tokens, given the other half.

The paper's f without validation data, the likelihood of the training documents under their own
approximate posterior (McInerney 2017, section 4), rewards topics that fit these documents alone
(table 2). Settings are judged by the training documents' completion instead.

All are in nats. θ and β are independent under q, so that Σ_k E[θ_k] E[β_kw] is q's probability of
one more token.
"""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.special import gammaln, psi

from core.estimators.lda.inference import CsrCounts, csr_counts
from core.losses.compiled import compiled

HALVING_SEED = 0  # seed with which documents are halved wherever models are compared


class FittedTopics(Protocol):
    """A fitted topic model over V words with K topics (core.estimators.lda.online_lda)."""

    components_: np.ndarray  # λ, shape (K, V)
    alpha_: float  # the prior of proportions
    eta_: float  # the prior of topics

    def transform(self, X: Any) -> np.ndarray:
        """E[θ] of every document, shape (documents, K)."""

    def posterior(self, X: Any) -> np.ndarray:
        """γ of every document, shape (documents, K)."""


def topic_words(
    model: FittedTopics, vocabulary: Sequence[str], count: int = 10
) -> tuple[tuple[str, ...], ...]:
    """The most probable words of every topic, the likeliest first; equals in vocabulary's order."""
    order = np.argsort(-model.components_, axis=1, kind="stable")[:, :count]
    return tuple(tuple(vocabulary[w] for w in row) for row in order.tolist())


def word_probabilities(model: FittedTopics) -> np.ndarray:
    """E[β], every topic's probabilities of words, shape (K, V)."""
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


def topic_sizes(model: FittedTopics) -> np.ndarray:
    """The share of the collection's tokens that every topic has, shape (K,), summing to 1.

    Σ_w (λ_kw − η) are the tokens that λ gives to topic k.
    """
    tokens = np.maximum(0.0, (model.components_ - model.eta_).sum(axis=1))
    total = tokens.sum()
    return tokens / total if total > 0 else np.full(len(tokens), 1.0 / len(tokens))


def completion_log_densities(
    model: FittedTopics, X: Any, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Log p(second half | first half) of every document, and the tokens of the second half.

    Both (D,) for whole numbers of tokens X (D, V); 0 and 0 for a document of one token or none. The
    same seed halves the same X alike, whatever the model.
    """
    return predictive_log_densities(model, *split_halves(X, seed))


def completion(model: FittedTopics, X: Any) -> np.ndarray:
    """Log densities and tokens of the second halves as one array (D, 2), halved as always."""
    return np.stack(completion_log_densities(model, X, HALVING_SEED), axis=1)


def predictive_log_densities(
    model: FittedTopics, observed: Any, held: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Log probabilities of held tokens, with every document's topics inferred from observed ones.

    Σ_w n_dw log Σ_k E[θ_dk] E[β_kw] over the held tokens (D,), and how many they are (D,); both
    are counts (D, V) of the same documents.
    """
    theta = model.transform(observed)
    rows = csr_counts(sparse.csr_matrix(held))
    logs = np.empty(len(theta))
    _log_mixtures(*rows, theta, np.ascontiguousarray(word_probabilities(model).T), logs)
    return logs, _token_counts(rows)


def split_halves(X: Any, seed: int) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Every document's whole tokens in two random halves, the first larger by at most one."""
    X = sparse.csr_matrix(X)
    times = X.data.astype(np.int64)
    if np.any(times != X.data) or np.any(times < 0):
        raise ValueError("only whole numbers of tokens can be halved")
    documents = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), times)
    words = np.repeat(X.indices, times)
    sizes = np.bincount(documents, minlength=X.shape[0])
    # A random order within every document; documents keep theirs.
    order = np.lexsort((np.random.default_rng(seed).random(len(words)), documents))
    rank = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    early = rank < np.repeat((sizes + 1) // 2, sizes)
    documents, words = documents[order], words[order]
    first, second = (
        sparse.csr_matrix(
            (np.ones(is_in_half.sum()), (documents[is_in_half], words[is_in_half])), shape=X.shape
        )
        for is_in_half in (early, ~early)
    )
    return first, second


def variational_bound(model: FittedTopics, X: Any) -> float:
    """The variational bound on log p(X): all documents and the topics, in nats."""
    return float(document_bounds(model, X).sum()) + topic_bound(model)


def document_bounds(model: FittedTopics, X: Any) -> np.ndarray:
    """Every document's part of the bound, shape (D,), with the best φ for its γ.

    Σ_w n_dw log Σ_k exp(E[log θ_dk] + E[log β_kw]) + E[log p(θ_d | α)] − E[log q(θ_d | γ_d)].
    """
    gamma = model.posterior(X)
    log_theta = _log_expectation(gamma)
    log_beta = np.ascontiguousarray(_log_expectation(model.components_).T)
    # As in inference itself, exponentials are multiplied: every word of a document has a topic
    # that both its document and the vocabulary know, so that the sum does not vanish.
    max_log_theta = log_theta.max(axis=1, keepdims=True)
    max_log_beta = log_beta.max(axis=1, keepdims=True)
    words, rows = np.empty(len(gamma)), csr_counts(sparse.csr_matrix(X))
    _log_mixtures(*rows, np.exp(log_theta - max_log_theta), np.exp(log_beta - max_log_beta), words)
    words += _token_counts(rows) * max_log_theta[:, 0] + sparse.csr_matrix(X) @ max_log_beta[:, 0]
    return words - _divergences(gamma, log_theta, model.alpha_)


def topic_bound(model: FittedTopics) -> float:
    """The topics' part of the bound, E[log p(β | η)] − E[log q(β | λ)] ≤ 0."""
    lam = model.components_
    return -float(_divergences(lam, _log_expectation(lam), model.eta_).sum())


def _log_expectation(concentrations: np.ndarray) -> np.ndarray:
    """E[log p] of Dirichlet distributions, one a row."""
    return psi(concentrations) - psi(concentrations.sum(axis=1, keepdims=True))


def _divergences(concentrations: np.ndarray, log_p: np.ndarray, prior: float) -> np.ndarray:
    """KL(Dirichlet(row) ‖ Dirichlet(prior, …, prior)) of every row."""
    size = concentrations.shape[1]
    return (
        gammaln(concentrations.sum(axis=1))
        - gammaln(concentrations).sum(axis=1)
        - gammaln(prior * size)
        + size * gammaln(prior)
        + np.sum((concentrations - prior) * log_p, axis=1)
    )


def _token_counts(rows: CsrCounts) -> np.ndarray:
    """How many tokens every document has, shape (D,)."""
    ends = np.concatenate([[0.0], np.cumsum(rows.counts)])[rows.begins]
    return np.diff(ends)


@compiled
def _log_mixtures(begins, words, counts, theta, beta, out):  # type: ignore[no-untyped-def]
    """Fills out with Σ_w n_dw log Σ_k θ_dk β_wk."""
    for d in range(len(out)):
        total = 0.0
        for j in range(begins[d], begins[d + 1]):
            p = 0.0
            for k in range(theta.shape[1]):
                p += theta[d, k] * beta[words[j], k]
            total += counts[j] * math.log(p)
        out[d] = total
