"""What all views share: positions of trials, and what a person chose of the run."""

from __future__ import annotations

import numpy as np

from app.views.plot.view_state import ViewState
from core.tuning.events import TrialExcluded, TrialFinished
from core.tuning.runs.state import state_from_events


def recorded(events):
    record = ViewState()
    for event in events:
        record.consume(event)
    return record


def test_positions_equal_the_events_and_filters_choose_of_them(streams):
    record = recorded(streams.trials())
    assert record.positions[3].tolist() == [0.0, 4.0, 1.0]  # C = 1, depth 4, rbf
    some = np.array([5, 3])
    assert np.array_equal(record.positions_of_rows(some), record.positions[some])
    assert record.positions_of_rows(some[:0]).shape == (0, 3)
    for best_k, rows in ((2, [4, 6]), (None, [0, 1, 3, 4, 5, 6, 7])):
        record.best_k = best_k
        assert np.flatnonzero(record.filtered()).tolist() == rows
    record.consume(streams.begun())
    assert record.positions.shape == (0, 3)


def test_the_staircase_of_trials_out_of_order(streams):
    record = recorded([streams.begun()])
    for number, score in ((2, 0.5), (0, 0.9), (1, 0.3)):
        record.consume(TrialFinished(number=number, setting=streams.setting(number), score=score))
    numbers, best = record.run.staircase()
    assert (numbers.tolist(), best.tolist()) == ([0, 1, 2], [0.9, 0.9, 0.9])


def test_another_moment_of_the_run_keeps_what_a_person_chose(streams):
    record, events = ViewState(), list(streams.trials())
    live = state_from_events(events)
    record.show_run(live)
    record.best_k, record.selected, record.example = 3, 4, 1
    whole = record.positions.copy()
    for state in (state_from_events(events[:8]), live):
        record.show_run(state)
        assert (record.best_k, record.selected, record.example) == (3, 4, 1)
        assert np.array_equal(record.positions, whole[: len(state.trials)], equal_nan=True)
    record.consume(TrialExcluded(number=0))  # whoever keeps the run up takes it in
    assert not record.run.excluded
    record.show_run(state_from_events(streams.trials()))  # another run
    assert (record.selected, record.example) == (None, 0)
