"""Averages against the single best on tables: which trials predict, differences, going on again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

from tests.reproduction import averages_on_tables as mcinerney_tabular
from tests.reproduction.averages_on_tables import (
    GREEDY,
    GREEDY_OF_ALL,
    OURS,
    SINGLE,
    TEMPERED,
    UNIFORM,
    SplitFitCache,
    TabularSize,
    difference_rows,
    error_over,
    measure_losses,
    smallest_tables,
    split_of,
    tabular_rows,
    weighted_trials,
)

pytestmark = pytest.mark.slow  # searches of models

SMALL = TabularSize(trials=5, seeds=1, tables=1, models=("svm",))
FIRST, SECOND = {"C": 1.0, "gamma": 0.1}, {"C": 3.0, "gamma": 0.3}


@pytest.fixture(scope="module")
def source():
    return smallest_tables(None, 1)[0]


def test_which_trials_predict_and_with_what_weights():
    f = {k: -float(k) for k in range(20)} | {3: math.nan}  # 19 finished: T = 1
    f |= {20: -30.0}  # 20 finished: T = 2
    rows = {k: np.array([-1.0 - k, -9.0]) for k in f}
    rows[19] = np.array([-9.0, -0.5])  # a poor trial that knows the second row
    assert weighted_trials(SINGLE, f, rows.get)[0] == [0]
    assert weighted_trials(UNIFORM, f, rows.get)[0] == [0, 1]
    assert weighted_trials(UNIFORM, f, rows.get)[1].tolist() == [0.5, 0.5]
    tempered = weighted_trials(TEMPERED, f, rows.get)[1]
    scale = np.std([value for value in f.values() if math.isfinite(value)])
    assert tempered[0] / tempered[1] == pytest.approx(math.exp(1.0 / scale))
    assert weighted_trials(GREEDY, f, rows.get)[0] == [0]  # 1 is worse on every row
    chosen, weights = weighted_trials(GREEDY_OF_ALL, f, rows.get)
    assert set(chosen) == {0, 19}
    assert weights.sum() == pytest.approx(1.0)


def test_log_probabilities_are_those_of_scikit_learns_log_loss(source):
    split = split_of(source, "svm", 0)
    fits = SplitFitCache("svm", split)
    machine = fits.model.build(split.task, FIRST, 0).fit(split.train.X, split.train.y)
    theirs = log_loss(split.test.y, machine.predict_proba(split.test.X))
    assert -fits.test_log_probabilities(FIRST).mean() == pytest.approx(theirs)


def test_a_setting_is_fitted_once(source, monkeypatch):
    fits = SplitFitCache("svm", split_of(source, "svm", 0))
    asked = []
    monkeypatch.setattr(
        fits, "_log_probabilities", lambda setting, *_: asked.append(setting) or np.array([-0.5])
    )
    for setting in (FIRST, SECOND, FIRST):
        fits.held_out_log_probabilities(setting)
        fits.test_log_probabilities(setting)
    assert len(asked) == 2 * (3 + 1)


def test_what_was_measured_is_not_measured_again(ended, source, monkeypatch):
    said, losses = ended(measure_losses([source], SMALL, 0))
    assert len(said) == 1
    monkeypatch.setattr(mcinerney_tabular, "run_step", None)  # whoever calls it fails
    said, again = ended(measure_losses([source], SMALL, 0))
    assert not said
    assert again == losses
    rows = [row for row in tabular_rows(None, True, 0, SMALL) if not isinstance(row, str)]
    assert [row["model"] for row in rows[:-1]] == ["svm"] * 9 + ["all"] * 9
    assert rows[-1]["in words"].startswith(source.name)


def test_differences_are_paired_and_have_an_error_over_tables():
    differences = np.array([1.0, 3.0, 5.0, 7.0])
    # Tables' means 2 and 6: deviation √8, over √2 tables.
    assert error_over(["a", "a", "b", "b"], differences) == pytest.approx(2.0)
    assert math.isnan(error_over(["a", "a"], differences[:2]))
    other = ("gp", SINGLE)
    losses = {
        ("a", "svm", 0): {OURS: 0.4, other: 0.5},
        ("b", "svm", 0): {OURS: 0.5, other: 0.8},
        ("b", "mlp", 0): {OURS: 9.0, other: 0.0},
    }
    (row,) = difference_rows(losses, "svm")
    assert row["difference"] == "-0.2000"
    assert row["± pairs"] == "0.1000"
    assert row["lower in"] == "100 %"
    (every,) = difference_rows(losses, "")
    assert every["lower in"] == "67 %"
