"""The ranker: sums over pairs against enumeration, its solution against scipy on all pairs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from core.samplers.transfer.ranking import RankingLoss, pair_sums, ranked_trials, solve_ranking


def data_of(seed, sizes=(5, 1, 9, 3), q=3, levels=6):
    random = np.random.default_rng(seed)
    n = sum(sizes)
    y = random.integers(0, levels, n).astype(float)
    return random.standard_normal((n, q)), y, np.cumsum([0, *sizes])


def pairs_of(y, starts):
    """All (better, worse) pairs within datasets."""
    return [
        (i, j)
        for a, b in itertools.pairwise(starts)
        for i in range(a, b)
        for j in range(a, b)
        if y[i] > y[j]
    ]


@given(
    y=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    s=st.lists(st.integers(-12, 12), min_size=12, max_size=12),
    cut=st.integers(0, 12),
)
@settings(max_examples=150, deadline=None)
def test_sums_are_those_of_all_pairs(y, s, cut):
    n = len(y)
    y, s = np.array(y, dtype=float), np.array(s[:n]) / 4.0
    starts = np.array([0, min(cut, n), n])
    V = np.arange(2.0 * n).reshape(n, 2) ** 1.5
    found = pair_sums(s, ranked_trials(V, y, starts).ranks, starts, V)
    expected = [np.zeros(n), np.zeros((n, 2)), np.zeros(n), np.zeros((n, 2))]
    for i, j in pairs_of(y, starts):
        if s[j] > s[i] - 1.0:
            expected[0][i] += 1
            expected[1][i] += V[j]
            expected[2][j] += 1
            expected[3][j] += V[i]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def brute(w, X, pairs, C):
    margins = [1.0 - (X[i] - X[j]) @ w for i, j in pairs]
    return 0.5 * w @ w + C * sum(max(0.0, margin) ** 2 for margin in margins)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_solution_is_that_of_all_pairs(C):
    X, y, starts = data_of(3)
    pairs = pairs_of(y, starts)
    w = solve_ranking(ranked_trials(X, y, starts), C=C, tolerance=1e-10)
    peer = minimize(brute, np.zeros(3), (X, pairs, C), method="BFGS", options={"gtol": 1e-9})
    assert brute(w, X, pairs, C) <= brute(peer.x, X, pairs, C) * (1 + 1e-9)
    assert w == pytest.approx(peer.x, abs=1e-6)


def test_value_gradient_and_hessian_are_those_of_all_pairs():
    X, y, starts = data_of(7)
    w, data, pairs = np.array([0.3, -0.2, 0.5]), ranked_trials(X, y, starts), pairs_of(y, starts)
    at = RankingLoss(data, 2.0).point_at(w)
    assert at.value + 0.5 * w @ w == pytest.approx(brute(w, X, pairs, 2.0))
    steps = 1e-6 * np.eye(3)
    slope = [(brute(w + e, X, pairs, 2.0) - brute(w - e, X, pairs, 2.0)) / 2e-6 for e in steps]
    assert at.gradient + w == pytest.approx(slope, rel=1e-6)
    D = np.array([X[i] - X[j] for i, j in pairs if (X[i] - X[j]) @ w < 1.0])
    assert at.dense_hessian() == pytest.approx(4.0 * D.T @ D)


def test_what_all_trials_of_a_dataset_share_gets_no_weight():
    X, y, starts = data_of(1)
    X[:, 2] = np.repeat([4.0, -1.0, 2.0, 7.0], np.diff(starts))
    assert solve_ranking(ranked_trials(X, y, starts))[2] == pytest.approx(0.0, abs=1e-9)


def test_without_pairs_there_is_nothing_to_learn():
    X, _, starts = data_of(1)
    assert not solve_ranking(ranked_trials(X, np.ones(len(X)), starts)).any()


def test_a_start_close_by_leads_to_the_same_place():
    X, y, starts = data_of(5)
    data = ranked_trials(X, y, starts)
    w = solve_ranking(data, tolerance=1e-10)
    assert solve_ranking(data, tolerance=1e-10, start=w + 0.5) == pytest.approx(w, abs=1e-7)
