"""Bounds and predictive likelihoods of LDA, against scikit-learn, brute force and worked sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, psi
from sklearn.decomposition import LatentDirichletAllocation

from core.estimators.lda.fitted_topics import (
    completion_log_densities,
    document_bounds,
    predictive_log_densities,
    split_halves,
    topic_bound,
    variational_bound,
)
from core.estimators.lda.online_lda import OnlineLda

SETTLED = {"tolerance": 1e-12, "iterations": 5000}


def counts(documents=40, words=25, seed=0):
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(words, 0.2), 4)
    theta = rng.dirichlet(np.full(4, 0.3), documents)
    rows = [rng.multinomial(30, p @ beta) for p in theta]
    return sparse.csr_matrix(np.stack(rows).astype(float))


def twins(X, K=4, alpha=0.3, eta=0.05):
    """Our model and scikit-learn's with the same topics."""
    ours = OnlineLda(K, alpha=alpha, eta=eta, random_state=0, minibatch=10, **SETTLED).fit(X)
    peer = LatentDirichletAllocation(
        K,
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        max_iter=1,
        max_doc_update_iter=5000,
        mean_change_tol=1e-12,
        random_state=0,
    ).fit(X)
    peer.components_ = ours.components_
    log_beta = psi(ours.components_) - psi(ours.components_.sum(axis=1, keepdims=True))
    peer.exp_dirichlet_component_ = np.exp(log_beta)
    return ours, peer


def test_bound_and_perplexity_are_those_of_scikit_learn():
    X = counts()
    ours, peer = twins(X)
    assert ours.score(X) == pytest.approx(peer.score(X), rel=1e-9)
    assert ours.perplexity(X) == pytest.approx(peer.perplexity(X), rel=1e-9)
    each = document_bounds(ours, X)
    assert each.shape == (40,)
    assert each.sum() + topic_bound(ours) == pytest.approx(variational_bound(ours, X))
    np.testing.assert_allclose(document_bounds(ours, X[5:9]), each[5:9])


def test_the_bound_lies_below_the_marginal_likelihood_and_near_it():
    # One document of known topics (λ so large that β is fixed): p(w) is a sum over all z.
    beta = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    model = OnlineLda(2, alpha=0.4, **SETTLED).fit(np.eye(3))
    model.components_ = beta * 1e9
    tokens = [0, 0, 2, 1, 2]
    logs = []
    for z in itertools.product(range(2), repeat=len(tokens)):
        n = np.bincount(z, minlength=2)
        prior = gammaln(0.8) - gammaln(0.8 + 5) + np.sum(gammaln(0.4 + n) - gammaln(0.4))
        logs.append(prior + sum(math.log(beta[k, w]) for k, w in zip(z, tokens, strict=True)))
    exact = np.logaddexp.reduce(logs)
    found = document_bounds(model, [np.bincount(tokens)])[0]
    assert exact - 0.1 * len(tokens) - 0.1 < found < exact  # independence costs some


def test_the_bound_rises_in_every_full_step():
    X = counts(seed=2)
    model = OnlineLda(
        4, alpha=0.2, eta=0.1, tau0=1.0, kappa=0.0, minibatch=1000, random_state=0, **SETTLED
    )
    bounds = [model.partial_fit(X, documents=40).score(X) for _ in range(25)]
    assert np.all(np.diff(bounds) > -1e-8 * abs(bounds[0]))
    assert bounds[-1] > bounds[0] + 10


def test_empty_documents_have_bound_and_density_zero():
    X = counts()
    model = OnlineLda(3, random_state=0).fit(X)
    none = sparse.csr_matrix((2, X.shape[1]))
    np.testing.assert_allclose(document_bounds(model, none), 0.0, atol=1e-9)
    logs, tokens = completion_log_densities(model, none, 0)
    assert logs.tolist() == tokens.tolist() == [0.0, 0.0]
    assert model.perplexity(none) == 1.0


def test_halves_make_the_whole_and_differ_by_seed():
    X = counts()
    one = sparse.csr_matrix((np.ones(1), ([0], [3])), shape=(1, X.shape[1]))
    X = sparse.vstack([X, one], format="csr")
    first, second = split_halves(X, 7)
    assert abs(first + second - X).nnz == 0
    early, late = first.sum(axis=1), second.sum(axis=1)
    assert np.all((early - late == 0) | (early - late == 1))
    again, _ = split_halves(X, 7)
    other, _ = split_halves(X, 8)
    assert abs(again - first).nnz == 0
    assert abs(other - first).nnz > 0
    with pytest.raises(ValueError, match="whole numbers"):
        split_halves(X * 0.5, 7)


def test_every_token_is_as_likely_to_be_held_out():
    X = sparse.csr_matrix(np.tile([[1.0, 3.0, 0.0, 4.0]], (4000, 1)))
    _, held = split_halves(X, 0)
    share = np.asarray(held.mean(axis=0)).ravel()
    # Hypergeometric with deviation below 1: 4,000 means are within 0.07 of theirs.
    np.testing.assert_allclose(share, [0.5, 1.5, 0.0, 2.0], atol=0.07)


def test_completion_is_the_mixture_that_the_first_half_gives():
    X = counts()
    model = OnlineLda(3, random_state=0, **SETTLED).fit(X)
    logs, tokens = completion_log_densities(model, X, 11)
    first, second = split_halves(X, 11)
    theta = model.transform(first)
    beta = model.components_ / model.components_.sum(axis=1, keepdims=True)
    expected = (second.toarray() * np.log(theta @ beta)).sum(axis=1)
    np.testing.assert_allclose(logs, expected, rtol=1e-10)
    assert tokens.tolist() == [15.0] * 40


def test_one_topic_predicts_the_frequencies_of_words():
    X = counts()
    model = OnlineLda(1, alpha=1.0, eta=0.5, tau0=1.0, minibatch=100, passes=1).fit(X)
    total = np.asarray(X.sum(axis=0)).ravel()
    p = (total + 0.5) / (total.sum() + 0.5 * 25)
    logs, _ = predictive_log_densities(model, X[:3], X[10:13])
    np.testing.assert_allclose(logs, X[10:13].toarray() @ np.log(p), rtol=1e-10)
