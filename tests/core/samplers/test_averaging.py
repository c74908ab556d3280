"""Averages over models by hand, brute force and an optimum, and which models stay in memory."""

from __future__ import annotations

import math
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import entropy

from core.samplers.averaging import (
    TopModels,
    average_log_densities,
    average_probabilities,
    bagged_weights,
    best_tenth,
    density_gap,
    disagreement,
    effective_members,
    greedy_weights,
    member_count,
    tempered_weights,
)

NAN = math.nan


def log_predictive(log_p, weights):
    """In nats, of all rows."""
    return average_log_densities(log_p, weights).sum()


def densities(rows=40, T=6, seed=0):
    return np.random.default_rng(seed).normal(-4.0, 1.5, (rows, T))


@pytest.mark.parametrize(
    ("finished", "T"), [(0, 0), (1, 1), (9, 1), (10, 1), (19, 1), (20, 2), (115, 11)]
)
def test_one_in_ten_but_at_least_one(finished, T):
    assert member_count(finished) == T


def test_members_by_hand():
    scores = {0: 1.0, 1: 3.0, 2: NAN, 3: 3.0, 4: 2.0, 5: -math.inf}
    assert best_tenth(scores, maximize=True) == [1]
    assert best_tenth({}, maximize=True) == best_tenth({0: NAN}, maximize=True) == []
    assert best_tenth({7: 1.0, 2: 1.0}, maximize=True) == [2]  # whatever order they finished in
    many = scores | dict.fromkeys(range(6, 36), 2.5)
    assert best_tenth(many, maximize=True) == [1, 3, 6]
    assert best_tenth(many, maximize=False) == [0, 4, 6]
    assert best_tenth(many, maximize=True, excluded={3}) == [1, 6, 7]


def test_tempered_weights_by_hand_and_in_any_unit():
    # Standard deviation of 0 and 2: 1. z differs by 2.
    scores, share = {4: 2.0, 9: 0.0, 11: NAN}, 1 / (1 + math.exp(-2))
    tempered = tempered_weights(scores, [4, 9], maximize=True)
    np.testing.assert_allclose(tempered, [share, 1 - share])
    np.testing.assert_allclose(tempered, tempered_weights(scores, [9, 4], maximize=False))
    shifted = {n: (score - 3e5) / 7 for n, score in scores.items()}
    np.testing.assert_allclose(tempered, tempered_weights(shifted, [4, 9], maximize=True))


def test_greedy_by_hand():
    # Each member is right about one row: alone log(.9 × .1), together log(.5 × .5).
    log_p = np.log([[0.9, 0.1, 0.2], [0.1, 0.9, 0.2]])
    np.testing.assert_allclose(greedy_weights(log_p), [0.5, 0.5, 0.0])


def test_a_member_that_is_better_everywhere_has_all_the_weight():
    log_p = densities() - 3.0
    log_p[:, 2] = log_p.max(axis=1) + 0.1
    np.testing.assert_array_equal(greedy_weights(log_p), np.eye(6)[2])


def test_greedy_comes_close_to_the_best_weights_there_are():
    # The best mixture weights by expectation-maximization, which finds the global maximum.
    log_p = densities(rows=200)
    p, w = np.exp(log_p), np.full(6, 1 / 6)
    for _ in range(5000):
        shares = p * w
        w = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    best = log_predictive(log_p, w)
    greedy = log_predictive(log_p, greedy_weights(log_p))
    uniform = log_predictive(log_p, np.full(6, 1 / 6))
    assert best >= greedy > best - 0.05
    assert greedy > uniform + 1.0


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(0, 12))
@settings(deadline=None)
def test_greedy_is_never_worse_than_the_best_single_member(seed, T, rounds):
    log_p = densities(rows=5, T=T, seed=seed)
    w = greedy_weights(log_p, rounds=rounds)
    assert w.sum() == pytest.approx(1.0)
    assert w.min() >= 0
    assert log_predictive(log_p, w) >= log_p.sum(axis=0).max() - 1e-9


def bagged(logs):
    return bagged_weights(
        lambda members: greedy_weights(logs[:, members]),
        lambda weights: -average_log_densities(logs, weights),
        logs.shape[1],
    )


@pytest.mark.parametrize("count", [1, 2, 9, 80])
def test_bagged_weights_are_the_mean_over_the_halves(count):
    sizes = set()

    def choose(members):  # equal weights, whatever they predict
        sizes.add(len(members))
        return np.full(len(members), 1 / len(members))

    w = bagged_weights(choose, lambda weights: np.zeros(7), count)
    assert sizes == {math.ceil(count / 2)}
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1)
    assert count != 9 or w.max() < 3 * w.min()  # each is in about half of the bags


def test_a_half_without_the_one_good_member_has_no_say():
    dominant = densities(T=9)
    dominant[:, 4] = dominant.max(axis=1) + 1.0
    np.testing.assert_array_equal(bagged(dominant), np.eye(9)[4])
    np.testing.assert_array_equal(bagged(dominant[:, [4]]), [1.0])


def test_bagged_weights_of_alike_members_predict_unseen_rows_better():
    gains = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        truth = random.normal(size=(400, 1))
        logs = -0.5 * (truth * 0.3 + random.normal(scale=0.8, size=(400, 12))) ** 2
        seen, unseen = logs[:40], logs[40:]
        single = greedy_weights(seen)
        gains.append(log_predictive(unseen, bagged(seen)) - log_predictive(unseen, single))
    assert np.mean(gains) > 2 * np.std(gains) / math.sqrt(len(gains))


def test_greedy_where_densities_are_thousands_of_nats_apart_or_nothing():
    log_p = densities(rows=30, T=4) - np.array([0.0, 4000.0, 0.0, 1.0])
    log_p[3, 0] = -np.inf
    w = greedy_weights(log_p)
    assert w[1] == 0
    assert np.isfinite(log_predictive(log_p, w))
    hopeless = np.full((2, 3), -np.inf)
    assert greedy_weights(hopeless).sum() == 1.0


def test_greedy_mean_weights_against_brute_force():
    random = np.random.default_rng(4)
    y = random.normal(size=60)
    predictions = y[:, None] + random.normal(size=(60, 3)) * [0.5, 0.6, 0.9]
    w = greedy_weights(predictions, y)
    grid = [np.array([a, b, 20 - a - b]) / 20 for a in range(21) for b in range(21 - a)]
    errors = [np.mean((predictions @ weights - y) ** 2) for weights in (w, *grid, *np.eye(3))]
    assert errors[0] <= min(errors[1:-3]) * 1.01
    assert errors[0] <= min(errors[-3:])
    assert w.sum() == pytest.approx(1)


def test_the_average_is_taken_row_by_row():
    # Rows: mean densities (.2 + .6)/2 = .4 and (.5 + .1)/2 = .3.
    log_p = np.log([[0.2, 0.6], [0.5, 0.1]])
    half = np.array([0.5, 0.5])
    np.testing.assert_allclose(np.exp(average_log_densities(log_p, half)), [0.4, 0.3])
    assert log_predictive(log_p, half) == pytest.approx(math.log(0.12))
    # Over the whole set it would be (.2 × .5 + .6 × .1)/2 = .08.
    assert log_predictive(log_p, half) != pytest.approx(math.log(0.08))
    assert log_predictive(log_p, np.array([1.0, 0.0])) == pytest.approx(math.log(0.1))


def test_densities_of_any_size():
    log_p = densities() * 1000
    log_p[0] = -np.inf
    log_p[1, :3] = -np.inf
    w = np.array([0.1, 0.2, 0.0, 0.3, 0.25, 0.15])
    ours = average_log_densities(log_p, w)
    np.testing.assert_allclose(ours, logsumexp(log_p, b=w, axis=1))
    assert ours[0] == -np.inf


def test_the_effective_number_of_members():
    assert effective_members(np.full(5, 0.2)) == pytest.approx(5)
    assert effective_members(np.array([1.0, 0.0])) == 1
    assert effective_members(np.array([0.5, 0.25, 0.25])) == pytest.approx(8 / 3)


def test_disagreement_is_the_mean_divergence_from_the_average():
    random = np.random.default_rng(2)
    p = random.dirichlet(np.ones(4), size=(3, 6))
    p[0, 0] = [0.5, 0.5, 0.0, 0.0]
    w = np.array([0.5, 0.3, 0.2])
    average = average_probabilities(p, w)
    by_force = [sum(w[t] * entropy(p[t, row], average[row]) for t in range(3)) for row in range(6)]
    np.testing.assert_allclose(disagreement(p, w), by_force)
    opposite = np.array([[[1.0, 0.0], [0.3, 0.7]], [[0.0, 1.0], [0.3, 0.7]]])
    found = disagreement(opposite, np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, [math.log(2), 0.0], atol=1e-15)


def test_what_averaging_gains_on_a_row_by_hand():
    log_p = np.log([[0.2, 0.6, 0.0001], [0.3, 0.3, 0.0001]])
    gap = density_gap(log_p, np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(gap, [math.log(0.4 / math.sqrt(0.12)), 0.0], atol=1e-15)


SCORES = st.one_of(st.just(math.nan), st.integers(-6, 6).map(float), st.floats(-1e6, 1e6))


class Fitted:
    """A model whose end can be watched."""


class Watched:
    """Kept models beside weak references to all that were ever made."""

    def __init__(self, *, maximize, planned=0):
        self.kept = TopModels(maximize=maximize, planned=planned)
        self.made = {}

    def add(self, number, score):
        model = Fitted()
        self.made[number] = weakref.ref(model)
        self.kept.add_model(number, score, model)

    @property
    def alive(self):
        return {number for number, made in self.made.items() if made() is not None}


def best(scores, maximize, excluded=()):
    """All finite trials, the best first, by brute force."""
    finite = [n for n, score in scores.items() if math.isfinite(score) and n not in excluded]
    return sorted(finite, key=lambda n: (-scores[n] if maximize else scores[n], n))


@given(st.lists(SCORES, max_size=60), st.booleans(), st.integers(0, 30), st.randoms())
@settings(max_examples=60, deadline=None)
def test_with_a_plan_no_member_is_ever_missing(values, maximize, more, random):
    order = list(range(len(values)))
    random.shuffle(order)  # several workers finish in any order
    watched = Watched(maximize=maximize, planned=len(values) + more)
    scores = {}
    for number in order:
        watched.add(number, values[number])
        scores[number] = values[number]
        ranked = best(scores, maximize)
        members = ranked[: member_count(len(ranked))]
        assert watched.kept.members == list(watched.kept.member_models()) == members
        assert watched.alive == set(ranked[: member_count(len(values) + more) + 1])


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "exclude", "include"]), SCORES, st.integers()),
    max_size=70,
)


@given(CHANGES, st.sampled_from([0, 40]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_excluding_and_including_again(changes, planned, maximize):
    watched = Watched(maximize=maximize, planned=planned)
    kept, scores, excluded = watched.kept, {}, set()
    for change, value, which in changes:
        if change == "add":
            scores[len(scores)] = value
            watched.add(len(scores) - 1, value)
        elif scores:
            number = which % len(scores)
            (excluded.add if change == "exclude" else excluded.discard)(number)
            (kept.exclude if change == "exclude" else kept.include)(number)
        finite, ranked = len(best(scores, maximize)), best(scores, maximize, excluded)
        assert kept.members == ranked[: member_count(finite)]
        assert list(kept.member_models()) == [n for n in kept.members if n in watched.alive]
        assert kept.trials_with_models == [n for n in ranked if n in watched.alive]
        assert not watched.alive & excluded
        assert len(watched.alive) <= member_count(max(finite, planned)) + 1


def test_a_model_is_let_go_of_the_moment_it_leaves_the_top():
    watched = Watched(maximize=False)
    assert watched.kept.members == watched.kept.trials_with_models == []
    for number, score in enumerate([5.0, 4.0, 6.0, 3.0, math.nan, math.inf]):
        watched.add(number, score)
    assert watched.alive == {3, 1}
    watched.kept.exclude(3)
    assert (watched.alive, watched.kept.members) == ({1}, [1])
    watched.kept.include(3)
    assert (watched.kept.members, watched.kept.member_models()) == ([3], {})
