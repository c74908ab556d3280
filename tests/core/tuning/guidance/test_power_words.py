"""The sentence on what can be shown: rows, metric, folds, and what is assumed."""

from __future__ import annotations

import re

import pytest

from core.evaluation.power import smallest_gain
from core.tuning.guidance.power_words import power_text


def points(sentence):
    return float(re.search(r"some ([\d.]+) point", sentence)[1])


def test_few_rows_show_large_gains_only():
    said = power_text("accuracy", 60)
    assert said.startswith("With 60 test rows, only gains above some 13 points can be shown")
    assert "80 % power" in said
    assert "loses no row" in said


def test_many_rows_show_small_ones_and_say_what_is_assumed():
    said = power_text("accuracy", 10_000)
    assert points(said) == pytest.approx(100 * smallest_gain(10_000), abs=0.1)
    assert "disagree on one row in 10" in said


def test_nested_cross_validation_counts_all_rows_and_its_own_interval():
    said = power_text("accuracy", 300, folds=5)
    assert "300 rows tested by 5-fold cross-validation" in said
    assert points(said) > points(power_text("accuracy", 300))


def test_numbers_have_their_own_and_other_metrics_none():
    assert "points of R²" in power_text("r2", 200)
    assert power_text("log_loss", 200) == ""
    assert power_text("f1", 200) == ""


@pytest.mark.parametrize("rows", [1, 4, 8])
def test_very_few_rows_show_hardly_anything(rows):
    assert "hardly any gain" in power_text("r2", rows, folds=0) or rows == 8
    assert "hardly any gain" in power_text("accuracy", min(rows, 4))
