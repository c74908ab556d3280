"""Intervals from errors: the quantile by hand, and how many rows they hold, by simulation."""

import numpy as np
import pytest

from core.evaluation.conformal import MIN_ERRORS, interval_of


def test_the_width_is_the_error_at_its_place_by_hand():
    errors = np.arange(1.0, 40.0)  # 39 of them: ⌈40 · 0.9⌉ = 36
    found = interval_of(errors, np.zeros(39))
    assert (found.half, found.coverage, found.rows) == (36.0, 0.9, 39)


def test_few_errors_and_undefined_ones_give_none():
    assert interval_of(np.ones(MIN_ERRORS - 1), np.zeros(MIN_ERRORS - 1)) is None
    assert interval_of(np.full(50, np.nan), np.zeros(50)) is None
    assert interval_of(np.ones(50), np.zeros(50), coverage=0.999) is None


@pytest.mark.parametrize("noise", ["normal", "heavy", "skewed"])
@pytest.mark.parametrize("rows", [20, 99])
def test_nine_of_ten_new_rows_are_held_whatever_the_noise(noise, rows):
    random = np.random.default_rng(1)
    draw = {
        "normal": lambda size: random.normal(size=size),
        "heavy": lambda size: random.standard_t(1.5, size=size),
        "skewed": lambda size: random.exponential(size=size),
    }[noise]
    held = []
    for _ in range(4000):
        errors = draw(rows)
        half = interval_of(errors, np.zeros(rows)).half
        held.append(abs(draw(1)[0]) <= half)
    # The theorem: between 0.9 and 0.9 + 1 / (n + 1); the mean of 4000 strays by some 0.005.
    assert 0.9 - 0.015 <= np.mean(held) <= 0.9 + 1 / (rows + 1) + 0.015
