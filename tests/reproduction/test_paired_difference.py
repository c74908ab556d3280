"""The paired difference by hand and against scipy."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from tests.reproduction.paired_difference import paired_difference


def test_by_hand():
    # Differences 1, 2, 3: mean 2, s = 1, standard error 1/√3.
    assert paired_difference([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx((2, 3**-0.5))


def test_pairs_make_it_sharper_than_the_seeds_spread():
    seeds = np.random.default_rng(0).normal(0, 100, 20)
    one, other = seeds + np.random.default_rng(1).normal(1, 0.1, 20), seeds
    mean, error = paired_difference(one, other)
    assert mean / error == pytest.approx(ttest_rel(one, other).statistic)
    assert error < 0.05


def test_too_few_and_unequal():
    mean, error = paired_difference([3.0, math.nan], [1.0, 2.0])
    assert mean == 2.0
    assert math.isnan(error)
    assert math.isnan(paired_difference([], [])[0])
    with pytest.raises(ValueError, match="different seeds"):
        paired_difference([1.0], [1.0, 2.0])
