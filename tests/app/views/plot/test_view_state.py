from __future__ import annotations

import math

import numpy as np

from app.views.plot.view_state import ViewState
from core.tuning.events import TrialExcluded, TrialFinished
from core.tuning.runs.state import state_from_events


def recorded(events):
    record = ViewState()
    for event in events:
        record.consume(event)
    return record


def test_arrays_equal_the_events_and_filters_choose_of_them(streams):
    record = recorded(streams.trials())
    assert record.run.numbers.tolist() == list(range(8))
    wanted = [math.nan if score is None else score for score in streams.scores]
    assert np.array_equal(record.run.scores, wanted, equal_nan=True)
    assert record.positions[3].tolist() == [0.0, 4.0, 1.0]  # C = 1, depth 4, rbf
    some = np.array([5, 3])
    assert np.array_equal(record.positions_of_rows(some), record.positions[some])
    assert record.positions_of_rows(some[:0]).shape == (0, 3)
    assert record.run.trials[2].failure == "the solver did not converge"
    assert record.run.trials[4].reason == "improve"
    record.best_k = 2
    assert np.flatnonzero(record.filtered()).tolist() == [4, 6]
    record.best_k = None
    assert record.filtered().sum() == 7
    record = recorded([*streams.trials(), TrialExcluded(number=6)])
    assert record.run.best_trial.number == 4
    record.consume(TrialExcluded(number=6, excluded=False))
    assert record.run.best_trial.number == 6


def test_more_rows_than_the_array_began_with(streams):
    scores = np.random.default_rng(0).random(300)
    record = recorded(streams.trials(scores.tolist()))
    assert np.array_equal(record.run.scores, scores)
    assert np.array_equal(record.run.staircase()[1], np.maximum.accumulate(scores))


def test_trials_out_of_order_told_twice_or_of_another_run(streams):
    record = recorded([streams.begun()])
    for number, score in ((2, 0.5), (0, 0.9), (1, 0.3)):
        record.consume(TrialFinished(number=number, setting=streams.setting(number), score=score))
    numbers, best = record.run.staircase()
    assert numbers.tolist() == [0, 1, 2]
    assert best.tolist() == [0.9, 0.9, 0.9]
    record = recorded(streams.trials((0.5, 0.6)))
    record.consume(TrialFinished(number=1, setting=streams.setting(1), score=0.7))
    assert record.run.scores.tolist() == [0.5, 0.7]
    record = recorded([*streams.trials(), streams.begun()])
    assert len(record.run.trials) == 0
    assert record.run.best_trial is None
    assert record.run.default_trial is None
    record = recorded(streams.trials((3.0, 1.0, 2.0), maximize=False))
    assert record.run.best_trial.number == 1
    assert record.run.staircase()[1].tolist() == [3.0, 1.0, 1.0]
    assert record.run.best_rows(2).tolist() == [1, 2]


def test_another_moment_of_the_run_keeps_what_a_person_chose(streams):
    record, events = ViewState(), list(streams.trials())
    live = state_from_events(events)
    record.show_run(live)
    record.best_k, record.selected, record.example = 3, 4, 1
    whole = record.positions.copy()
    record.show_run(state_from_events(events[:8]))
    assert (record.best_k, record.selected, record.example) == (3, 4, 1)
    assert np.array_equal(record.positions, whole[: len(record.run.trials)], equal_nan=True)
    record.show_run(live)
    assert np.array_equal(record.positions, whole, equal_nan=True)
    record.consume(TrialExcluded(number=0))  # whoever keeps the run up takes it in
    assert not record.run.excluded
    record.show_run(state_from_events(streams.trials()))  # another run
    assert (record.selected, record.example) == (None, 0)
