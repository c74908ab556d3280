"""Scores as deviations from their dataset's mean, by hand."""

import numpy as np
import pytest

from core.samplers.responses import pooled_deviation, scale_of


def test_population_mean_and_deviation():
    scale = scale_of([1.0, 2.0, 6.0], True)
    assert scale.mean == pytest.approx(3.0)
    assert scale.deviation == pytest.approx(np.sqrt((4 + 1 + 9) / 3))
    z = scale.to_response(np.array([1.0, 2.0, 6.0]))
    assert z == pytest.approx(np.array([-2.0, -1.0, 3.0]) / np.sqrt(14 / 3))
    assert scale.to_score(float(z[2])) == pytest.approx(6.0)


def test_where_less_is_better_signs_turn():
    scale = scale_of([1.0, 3.0], False)
    assert scale.to_response(np.array([1.0, 3.0])).tolist() == [1.0, -1.0]
    assert scale.to_score(1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("scores", [[], [0.7], [0.7, 0.7, 0.7], [1e200, 1e200]])
def test_without_a_deviation_of_its_own_the_historys_stands_in(scores):
    scale = scale_of(scores, True, pooled=0.3)
    assert not scale.settled
    assert scale.deviation == 0.3
    assert scale.mean == pytest.approx(scores[0] if scores else 0.0)
    assert not scale.to_response(np.array(scores)).any()


def test_very_large_scores_do_not_overflow():
    scale = scale_of([1e200, -1e200], True)
    assert scale.to_response(np.array([1e200, -1e200])) == pytest.approx([1.0, -1.0])


def test_the_pooled_deviation_weighs_datasets_by_their_trials():
    scales = [scale_of([0.0, 2.0], True), scale_of([0.0, 0.0, 6.0], True), scale_of([5.0], True)]
    assert pooled_deviation(scales, [2, 3, 1]) == pytest.approx(np.sqrt((2 * 1 + 3 * 8) / 5))
    assert pooled_deviation([], []) == 1.0
