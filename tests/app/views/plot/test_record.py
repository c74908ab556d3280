from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from app.views.plot.record import Record
from core.tuning.events import (
    CommonSurfaceFitted,
    RunStarted,
    TrialExcluded,
    TrialFinished,
    TrialStarted,
)


def recorded(events):
    record = Record()
    for event in events:
        record.consume(event)
    return record


def test_arrays_equal_the_events(streams):
    record = recorded(streams.trials())
    assert record.numbers.tolist() == list(range(8))
    wanted = [math.nan if score is None else score for score in streams.scores]
    assert np.array_equal(record.scores, wanted, equal_nan=True)
    assert record.places[3].tolist() == [0.0, 4.0, 1.0]  # C = 1, depth 4, rbf
    assert record.trials[2].failure == "the solver did not converge"
    assert record.trials[4].reason == "improve"


def test_more_rows_than_the_array_began_with(streams):
    scores = np.random.default_rng(0).random(300)
    record = recorded(streams.trials(scores.tolist()))
    assert np.array_equal(record.scores, scores)
    assert np.array_equal(record.staircase()[1], np.maximum.accumulate(scores))


def test_staircase_follows_the_numbers_when_trials_end_out_of_order(streams):
    record = recorded([streams.begun()])
    for number, score in ((2, 0.5), (0, 0.9), (1, 0.3)):
        record.consume(TrialFinished(number=number, setting=streams.setting(number), score=score))
    numbers, best = record.staircase()
    assert numbers.tolist() == [0, 1, 2]
    assert best.tolist() == [0.9, 0.9, 0.9]


def test_minimizing_takes_the_least(streams):
    record = recorded(streams.trials((3.0, 1.0, 2.0), maximize=False))
    assert record.best().number == 1
    assert record.staircase()[1].tolist() == [3.0, 1.0, 1.0]
    assert record.best_rows(2).tolist() == [1, 2]


def test_excluded_trials_do_not_compete(streams):
    record = recorded([*streams.trials(), TrialExcluded(number=6)])
    assert record.best().number == 4
    record.consume(TrialExcluded(number=6, excluded=False))
    assert record.best().number == 6


def test_best_k(streams):
    record = recorded(streams.trials())
    record.best_k = 2
    assert np.flatnonzero(record.filtered()).tolist() == [4, 6]
    record.best_k = None
    assert record.filtered().sum() == 7


def test_a_trial_told_twice_is_one_trial(streams):
    record = recorded(streams.trials((0.5, 0.6)))
    record.consume(TrialFinished(number=1, setting=streams.setting(1), score=0.7))
    assert record.scores.tolist() == [0.5, 0.7]


def test_another_run_forgets_everything(streams):
    record = recorded([*streams.trials(), streams.begun()])
    assert len(record.trials) == 0
    assert record.best() is None
    assert record.default_score is None


def test_what_was_foretold_before_this_dataset_had_two_scores_becomes_a_score_later():
    record = Record()
    record.consume(RunStarted(kind="trials"))
    record.consume(CommonSurfaceFitted(trials=0, expected=1.5, deviation=0.5))
    record.consume(TrialStarted(number=0, reason="past"))
    record.consume(TrialFinished(number=0, score=0.9))
    assert record.trials[0].expected is None
    settled = CommonSurfaceFitted(trials=2, mean=0.8, scale=0.1, settled=True, expected=0.0)
    record.consume(settled)
    assert record.trials[0].expected == pytest.approx(0.8 + 0.1 * 1.5)
    assert record.trials[0].uncertainty == pytest.approx(0.05)
    record.consume(replace(settled, mean=0.3, scale=0.2, maximize=False))  # smaller is better
    assert record.trials[0].expected == pytest.approx(0.3 - 0.2 * 1.5)
