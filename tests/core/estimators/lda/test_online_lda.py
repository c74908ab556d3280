"""Online LDA does what plain numpy, scikit-learn and planted topics say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import psi
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.estimators.lda.fitted_topics import topic_sizes, topic_words, word_probabilities
from core.estimators.lda.inference import (
    StoppingRule,
    csr_counts,
    exp_digamma,
    expected_counts,
    expected_topics,
    infer_topics,
)
from core.estimators.lda.lda_model import LDA
from core.estimators.lda.online_lda import OnlineLda
from core.space import default_setting, setting_at

SETTLED = {"tolerance": 1e-12, "iterations": 5000}


@parametrize_with_checks([OnlineLda(5, passes=1)])
def test_it_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


def corpus(documents=60, words=31, topics=4, length=40, seed=0):
    """Documents of planted topics, and the topics, shape (topics, words)."""
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(words, 0.1), topics)
    theta = rng.dirichlet(np.full(topics, 0.2), documents)
    counts = np.stack([rng.multinomial(rng.poisson(length), p @ beta) for p in theta])
    return sparse.csr_matrix(counts.astype(float)), beta


def plain_gamma(n, lam, alpha, steps):
    """γ of one document by the update as printed, φ formed and all, in logarithms."""
    log_beta = psi(lam) - psi(lam.sum(axis=1, keepdims=True))
    gamma = np.ones(len(lam))
    for _ in range(steps):
        phi = np.exp(psi(gamma) - psi(gamma.sum()))[:, None] * np.exp(log_beta)
        phi /= phi.sum(axis=0)
        last, gamma = gamma, alpha + phi @ n
        if abs(gamma - last).mean() < 1e-12:
            break
    return gamma, phi * n


def test_the_exponential_of_digamma_agrees_with_scipy():
    x = np.concatenate([np.logspace(np.log10(0.002), 12, 20001), np.linspace(0.005, 40, 20001)])
    np.testing.assert_allclose(exp_digamma(x), np.exp(psi(x)), rtol=1e-10)
    np.testing.assert_allclose(exp_digamma(x[x > 0.02]), np.exp(psi(x[x > 0.02])), rtol=3e-12)
    assert exp_digamma(np.array([1e-300, 1e-4])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("alpha", "K"), [(0.0068, 7), (0.3, 4), (1.0, 1)])
def test_a_document_settles_where_the_printed_update_does(alpha, K):
    X, _ = corpus(documents=12)
    lam = np.random.default_rng(1).gamma(0.5, 4.0, (K, X.shape[1])) + 0.01
    B = expected_topics(np.ascontiguousarray(lam.T))
    rows, chosen = csr_counts(X), np.array([7, 2, 11])
    gamma = infer_topics(rows, chosen, B, alpha, StoppingRule(0.0, 300))
    shares = expected_counts(rows, chosen, B, alpha, StoppingRule(0.0, 300))
    plain = [plain_gamma(X[d].toarray()[0], lam, alpha, 300) for d in chosen]
    np.testing.assert_allclose(gamma, [g for g, _ in plain], rtol=1e-8)
    # The shares use φ at the last γ, the plain ones the φ that led to it: at rest the same.
    np.testing.assert_allclose(shares.T, sum(p for _, p in plain), rtol=1e-6, atol=1e-9)


def test_a_full_step_is_the_batch_step_of_scikit_learn():
    X, _ = corpus()
    K, alpha, eta = 4, 0.3, 0.05
    ours = OnlineLda(
        K, alpha=alpha, eta=eta, tau0=1.0, minibatch=1000, random_state=5, **SETTLED
    ).partial_fit(X)
    # The same random state draws the same start in both; scikit-learn's documents start elsewhere.
    peer = LatentDirichletAllocation(
        K,
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        learning_method="batch",
        max_iter=1,
        max_doc_update_iter=5000,
        mean_change_tol=1e-12,
        random_state=5,
    ).fit(X)
    np.testing.assert_allclose(ours.components_, peer.components_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-6)
    fitted = clone(ours).set_params(passes=3).fit(X)
    assert (fitted.steps_, fitted.documents_seen_) == (3, 180)


def test_online_steps_are_those_of_the_paper():
    X, _ = corpus(documents=25)
    model = OnlineLda(3, kappa=0.6, tau0=4.0, minibatch=10, random_state=0, **SETTLED)
    start = np.random.RandomState(0).gamma(100.0, 0.01, (3, X.shape[1]))
    model.partial_fit(X, documents=500)
    lam = start.copy()
    for t, part in enumerate((slice(0, 10), slice(10, 20), slice(20, 25))):
        batch = X[part].toarray()
        tokens = sum(plain_gamma(n, lam, 1 / 3, 5000)[1] for n in batch)
        rho = (4.0 + t) ** -0.6
        lam = (1 - rho) * lam + rho * (1 / 3 + 500 / len(batch) * tokens)
    np.testing.assert_allclose(model.components_, lam, rtol=1e-6)


def test_documents_given_piece_by_piece_count_as_the_collection_so_far():
    X, _ = corpus(documents=40)
    model = OnlineLda(3, tau0=1.0, kappa=0.0, minibatch=100, random_state=0)
    model.partial_fit(X[:10]).partial_fit(X[10:])
    # With ρ = 1 the second step leaves its own tokens only, scaled up to all 40 documents.
    tokens = model.components_.sum() - model.components_.size * model.eta_
    assert tokens == pytest.approx(X[10:].sum() * 40 / 30)
    assert model.documents_seen_ == 40


def test_planted_topics_are_found():
    X, beta = corpus(documents=2000, words=40, topics=3, length=60, seed=3)
    model = OnlineLda(3, alpha=0.2, eta=0.1, minibatch=50, passes=3, random_state=0).fit(X)
    found = word_probabilities(model)
    apart = abs(found[:, None] - beta[None]).sum(axis=2) / 2
    assert sorted(apart.argmin(axis=1)) == [0, 1, 2]
    assert apart.min(axis=1).max() < 0.05
    words = [f"w{j}" for j in range(40)]
    likeliest = beta[apart[0].argmin()].argmax()
    assert topic_words(model, words, 4)[0][0] == words[likeliest]
    assert [len(row) for row in topic_words(model, words, 4)] == [4, 4, 4]


def test_sizes_are_the_shares_of_tokens():
    X = sparse.csr_matrix(np.repeat([[5.0, 5, 0, 0], [0, 0, 5, 5]], [30, 10], axis=0))
    model = OnlineLda(2, alpha=0.1, eta=0.1, tau0=1.0, kappa=0.0, minibatch=40, passes=30,
                      random_state=1).fit(X)  # fmt: skip
    np.testing.assert_allclose(np.sort(topic_sizes(model)), [0.25, 0.75], atol=0.01)


def test_equal_words_stand_in_the_order_of_the_vocabulary():
    model = OnlineLda(1)
    model.components_ = np.array([[1.0, 3.0, 1.0, 3.0]])
    assert topic_words(model, "abcd", 3) == (("b", "d", "a"),)


def test_documents_without_words_change_nothing_but_their_number():
    X, _ = corpus(documents=20)
    gaps = sparse.vstack([X[:10], sparse.csr_matrix((5, X.shape[1])), X[10:]], format="csr")
    model = OnlineLda(4, random_state=0, minibatch=100, **SETTLED)
    full = clone(model).partial_fit(X, documents=20).components_
    with_gaps = model.partial_fit(gaps, documents=25).components_
    np.testing.assert_allclose(with_gaps, full, rtol=1e-9)
    np.testing.assert_allclose(model.transform(gaps[10:15]), 0.25)


def test_dense_and_unsorted_counts_are_the_same_documents():
    X, _ = corpus(documents=15)
    backward = sparse.csr_matrix(
        (
            np.concatenate([X[d].data[::-1] for d in range(15)]),
            np.concatenate([X[d].indices[::-1] for d in range(15)]),
            X.indptr,
        ),
        shape=X.shape,
    )
    model = OnlineLda(3, random_state=0, **SETTLED).fit(X)
    again = clone(model).fit(X.toarray())
    assert np.array_equal(model.components_, again.components_)
    np.testing.assert_allclose(model.transform(backward), model.transform(X), rtol=1e-9)


def test_negative_counts_and_other_widths_are_refused():
    X, _ = corpus(documents=20)
    model = OnlineLda(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        model.transform(-X)
    with pytest.raises(ValueError, match="31 features"):
        model.transform(X[:, :5])


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("kappa", 1.5, ValueError),
        ("alpha", 0.0, ValueError),
        ("eta", -1.0, ValueError),
        ("tau0", 0.5, ValueError),
        ("topics", 2.5, TypeError),
        ("passes", 0, ValueError),
    ],
)
def test_parameters_out_of_range_are_named(name, value, error):
    with pytest.raises(error, match=name):
        OnlineLda().set_params(**{name: value}).fit(np.eye(3))


def test_its_priors_are_those_of_the_paper_and_few_texts_get_few_topics():
    space = LDA.space("topics")
    low, high = (setting_at(space, np.full(4, end)) for end in (0.0, 1.0))
    assert (low["topics"], high["topics"]) == (2, 200)
    assert [LDA.most(rows)["topics"] for rows in (3, 400, 11_314)] == [2, 20, 106]
    for prior in ("alpha", "eta"):
        assert np.log([low[prior], high[prior]]) == pytest.approx([-5.0, 0.0])
    assert (low["kappa"], high["kappa"]) == (0.5, 0.9)
    model = LDA.build("topics", default_setting(space), 3)
    assert isinstance(model, OnlineLda)
    assert (model.topics, model.tau0, model.minibatch, model.random_state) == (10, 10.0, 100, 3)
    lines, expression = LDA.script("topics", default_setting(space), 3)
    scope: dict = {}
    exec(lines, scope)
    assert eval(expression, scope).get_params() == model.get_params()
