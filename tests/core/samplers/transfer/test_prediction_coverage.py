"""Predictions of trials 3 to 10 hold their outcomes as often as they say."""

import numpy as np
import pytest

from tests.benchmarks.simulations.prediction_coverage import METHODS, is_covered

SETS = 24


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_nineteen_of_twenty_outcomes_lie_in_the_outer_band(method):
    covered = [is_covered(method, seed) for seed in range(SETS)]
    # By a deviation of this dataset's own scores alone a half of the third trials did.
    assert np.mean([trials[3] for trials in covered if 3 in trials]) > 0.8
    share = np.mean([is_held for trials in covered for is_held in trials.values()])
    assert share > 0.87
