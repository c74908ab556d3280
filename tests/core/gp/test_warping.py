"""Scores become responses and come back: by hand, in order, whatever their unit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.gp.regression import Surrogate
from core.gp.warping import ScoreWarp, compressed, predicted_scores, scale_of, t_widening, warp_of

SCORES = [0.1, 0.7, 0.8, 0.9, 1.0]  # median 0.8, best 1.0: r = −3.5, −0.5, 0, 0.5, 1


def by_hand(scores=SCORES, median=0.8, best=1.0):
    r = [(score - median) / (best - median) for score in scores]
    u = np.array([-math.log(1 - x) if x < 0 else x for x in r])
    return (u - u.mean()) / u.std()


def test_the_worse_half_is_compressed_by_hand():
    assert compressed(np.array([-3.5, -0.5, 0.0, 0.5, 1.0])) == pytest.approx(
        [-math.log(4.5), -math.log(1.5), 0.0, 0.5, 1.0]
    )
    assert warp_of(SCORES, True).to_responses(SCORES) == pytest.approx(by_hand())


def test_where_less_is_better_the_high_scores_are_compressed():
    mirrored = [-score for score in SCORES]
    warp = warp_of(mirrored, False)
    assert warp.to_responses(mirrored) == pytest.approx(by_hand())
    assert warp.to_scores(warp.to_responses(mirrored)) == pytest.approx(mirrored)


@pytest.mark.parametrize("maximize", [True, False])
def test_responses_keep_the_order_and_come_back(maximize):
    scores = np.random.default_rng(0).standard_t(1.5, size=40)
    warp = warp_of(scores, maximize)
    anywhere = np.linspace(scores.min() - 5, scores.max() + 5, 301)
    z = warp.to_responses(anywhere)
    assert (np.diff(z) * (1 if maximize else -1) > 0).all()
    assert warp.to_scores(z) == pytest.approx(anywhere)


def test_slopes_agree_at_the_median():
    warp, step = warp_of(SCORES, True), 1e-6
    below, at, above = warp.to_responses([0.8 - step, 0.8, 0.8 + step])
    assert above - at == pytest.approx(at - below, rel=1e-4)
    assert (above - at) / step == pytest.approx(1 / warp.scale, rel=1e-4)


def test_the_unit_of_the_scores_does_not_matter():
    scores = np.array(SCORES)
    z = warp_of(scores, True).to_responses(scores)
    for scale, shift in ((1000.0, -3.0), (1e-9, 0.0), (1e300, 0.0), (2.0, 1e6)):
        other = scale * scores + shift
        assert warp_of(other, True).to_responses(other) == pytest.approx(z, rel=1e-6)


@pytest.mark.parametrize("scores", [[0.7], [0.7, 0.7, 0.7], [0.0], [-1e300, -1e300]])
def test_equal_scores_have_the_response_zero(scores):
    warp = warp_of(scores, True)
    assert warp.to_responses(scores).tolist() == [0.0] * len(scores)
    assert warp.to_scores(np.zeros(1)) == pytest.approx(scores[:1])


def test_where_most_scores_are_the_best_the_others_give_the_scale():
    # Distances from the best: 0.2, 0.4, 4; r = −0.5, −1, −10.
    scores = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, -3.0]
    warp = warp_of(scores, True)
    u = np.array([0, 0, 0, 0, -math.log(1.5), -math.log(2), -math.log(11)])
    assert warp.to_responses(scores) == pytest.approx((u - u.mean()) / u.std())
    assert warp.spread == pytest.approx(0.4)


def test_a_disaster_does_not_set_the_scale():
    good = np.linspace(0.90, 0.97, 10)
    scores = np.append(good, [-40.0, -60.0])
    z = warp_of(scores, True).to_responses(scores)
    plain = (scores - scores.mean()) / scores.std()
    assert np.ptp(plain[:10]) < 0.01
    assert np.ptp(z[:10]) > 0.3


@pytest.mark.parametrize("maximize", [True, False])
def test_intervals_are_quantiles_of_the_score(maximize):
    scores = [0.1, 0.7, 0.8, 0.9, 1.0]
    warp = warp_of(scores, maximize)
    mean, sd = np.array([-0.6]), np.array([0.5])
    drawn = warp.to_scores(mean + sd * np.random.default_rng(0).standard_normal(200_000))
    predicted = predicted_scores(warp, mean, sd)
    low, high = predicted.band
    assert low < high
    assert low[0] == pytest.approx(np.quantile(drawn, 0.158655), abs=0.01)
    assert high[0] == pytest.approx(np.quantile(drawn, 0.841345), abs=0.01)
    assert predicted.median[0] == pytest.approx(np.median(drawn), abs=0.01)
    assert predicted.deviation[0] == pytest.approx((high - low)[0] / 2)
    lowest, highest = predicted.wide_band
    assert lowest[0] == pytest.approx(np.quantile(drawn, 0.02275), abs=0.02)
    assert highest[0] == pytest.approx(np.quantile(drawn, 0.97725), abs=0.02)


@pytest.mark.parametrize("maximize", [True, False])
def test_no_score_beyond_the_limits_is_predicted(maximize):
    warp, z = ScoreWarp(0.9, 0.2, maximize), np.linspace(-6, 6, 25)
    predicted = predicted_scores(warp, z, np.full(25, 0.7), (0.0, 1.0))
    ends = [*predicted.wide_band[:1], predicted.band[0], predicted.median, *predicted.band[1:]]
    ends.append(predicted.wide_band[1])
    assert (np.diff(ends, axis=0) >= 0).all()
    assert (np.min(ends), np.max(ends)) == (0.0, 1.0)
    free = predicted_scores(warp, z, np.full(25, 0.7))
    assert predicted.band[1] == pytest.approx(np.clip(free.band[1], 0, 1))
    assert predicted.deviation.max() <= 0.5


def test_a_deviation_that_few_scores_tell_is_wider():
    for freedom in (1.0, 2.4, 9.0, 1e6):
        expected = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
        assert t_widening(freedom) == pytest.approx(expected, rel=1e-6)
    assert (t_widening(0.0), t_widening(0.3)) == (1.0, t_widening(1.0))


def test_without_a_spread_it_is_a_standardization():
    warp = ScoreWarp(10.0, 2.0, False)
    assert warp.to_responses([8.0, 12.0]).tolist() == [1.0, -1.0]
    assert warp.to_scores(np.array([1.0, -1.0])).tolist() == [8.0, 12.0]
    assert predicted_scores(warp, np.array([3.0]), np.array([0.5])).deviation.tolist() == [1.0]


def test_what_is_far_below_stays_finite():
    assert np.isfinite(warp_of(SCORES, True).to_scores(np.array([-1e4, 1e4]))).all()


def test_a_surrogate_of_an_older_run_is_not_compressed():
    points = [[0.0], [1.0]]
    older = Surrogate(
        points=points, responses=[1.0, 3.0], mean=2.0, scale=1.0, lengths=[0.5], noise=1e-6
    )
    assert older.regression().z.tolist() == [-1.0, 1.0]


def test_population_mean_and_deviation():
    scale = scale_of([1.0, 2.0, 6.0], True)
    assert scale.mean == pytest.approx(3.0)
    assert scale.scale == pytest.approx(np.sqrt((4 + 1 + 9) / 3))
    z = scale.to_responses([1.0, 2.0, 6.0])
    assert z == pytest.approx(np.array([-2.0, -1.0, 3.0]) / np.sqrt(14 / 3))
    assert scale.to_scores(z[2:]) == pytest.approx([6.0])


def test_where_less_is_better_signs_turn():
    scale = scale_of([1.0, 3.0], False)
    assert scale.to_responses([1.0, 3.0]).tolist() == [1.0, -1.0]
    assert scale.to_scores(np.ones(1)) == pytest.approx([1.0])


@pytest.mark.parametrize("scores", [[], [0.7], [0.7, 0.7, 0.7], [1e200, 1e200]])
def test_without_a_deviation_of_its_own_the_historys_stands_in(scores):
    scale = scale_of(scores, True, usual=0.3)
    assert not scale.settled
    assert scale.scale == 0.3
    assert scale.mean == pytest.approx(scores[0] if scores else 0.0)
    assert not scale.to_responses(scores).any()


def test_very_large_scores_do_not_overflow():
    scale = scale_of([1e200, -1e200], True)
    assert scale.to_responses([1e200, -1e200]) == pytest.approx([1.0, -1.0])
