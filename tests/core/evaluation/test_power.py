"""Power by simulation; parts of the training rows: nested, with all classes, groups whole."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from core.evaluation.influence import r2_influence
from core.evaluation.paired_tests import mcnemar
from core.evaluation.power import mcnemar_power, nested_parts, smallest_gain, smallest_r2_gain
from core.tuning.why.questions import CURVE_SHARES


@pytest.mark.parametrize(
    ("rows", "gain", "discordance"), [(60, 0.13, 0.13), (300, 0.05, 0.1), (1500, 0.05, 0.3)]
)
def test_power_is_how_often_the_exact_test_shows_the_gain(rows, gain, discordance):
    generator = np.random.default_rng(0)
    shares = [(discordance + gain) / 2, (discordance - gain) / 2, 1 - discordance]
    drawn = generator.multinomial(rows, shares, size=4000)
    shown = np.mean([won > lost and mcnemar(won, lost) < 0.05 for won, lost, _ in drawn])
    assert mcnemar_power(rows, gain, discordance) == pytest.approx(shown, abs=0.025)


def test_power_summed_over_every_outcome_of_few_rows():
    total = 0.0
    for d in range(26):
        for won in range(d + 1):
            if won > d - won and stats.binomtest(won, d, 0.5).pvalue < 0.05:
                total += stats.binom.pmf(d, 25, 0.4) * stats.binom.pmf(won, d, 0.75)
    assert mcnemar_power(25, 0.2, 0.4) == pytest.approx(total)
    assert mcnemar_power(5, 0.2, 0.2) == pytest.approx(0.0)  # five won rows are p = 1/16


def test_the_smallest_gain_has_the_power_that_was_asked_for():
    for rows in (60, 400, 20_000):
        gain = smallest_gain(rows)
        assert mcnemar_power(rows, gain) == pytest.approx(0.8, abs=0.005)
    assert smallest_gain(60) == pytest.approx(0.13, abs=0.01)
    assert smallest_gain(5) == 1.0
    assert smallest_gain(400) < smallest_gain(100)


def test_the_smallest_gain_of_r2_is_shown_as_often_as_asked_for():
    rows = 300
    gain = smallest_r2_gain(rows)
    generator = np.random.default_rng(1)
    shown = 0
    for _ in range(1000):
        known, more, error = generator.normal(size=(3, rows))
        known *= math.sqrt(0.5)
        more *= math.sqrt(gain)
        y = known + more + math.sqrt(0.5 - gain) * error
        phi = r2_influence(y, known + more) - r2_influence(y, known)
        spread = np.var(y)
        difference = (np.mean((y - known) ** 2) - np.mean((y - known - more) ** 2)) / spread
        shown += difference > 1.96 * np.linalg.norm(phi)
    assert shown / 1000 == pytest.approx(0.8, abs=0.05)


def test_folds_show_nearly_the_gain_that_every_row_shows():
    for rows in (100, 200, 1000):
        assert 1.0 < smallest_gain(rows, folds=5) / smallest_gain(rows) <= 1.2
        assert smallest_gain(rows, folds=5) < smallest_gain(round(0.3 * rows))
        assert 1.0 < smallest_r2_gain(rows, folds=5) / smallest_r2_gain(rows) <= 1.2


def test_every_part_holds_the_smaller_ones_and_the_last_is_all():
    parts = nested_parts(None, None, 100, CURVE_SHARES, 0)
    assert [len(part) for part in parts] == [10, 25, 50, 75, 100]
    for small, large in itertools.pairwise(parts):
        assert set(small) < set(large)


def test_a_rare_class_is_in_every_part():
    labels = np.zeros(500, dtype=int)
    labels[:10] = 1
    for part in nested_parts(labels, None, 500, CURVE_SHARES, 1):
        assert (labels[part] == 1).sum() >= 2
    shares = [np.mean(labels[part]) for part in nested_parts(labels, None, 500, CURVE_SHARES, 1)]
    assert max(shares) < 0.05


def test_groups_come_in_one_piece():
    groups = np.repeat(np.arange(50), 4)
    half = nested_parts(None, groups, 200, (0.5, 1.0), 2)[0]
    assert len(np.unique(groups[half])) == 25
