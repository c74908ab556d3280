"""Every change of the data and the groups goes back and forth, one by one and in a hurry."""

from __future__ import annotations

from dataclasses import replace

from app.preferences import remembered_choices
from app.session.data_undo_stack import MAX_STEPS, DataUndoStack
from app.worker import messages as m
from core.tuning.plan import DataPlan, Plan


def answer(session):
    """What was asked last is read."""
    session.worker.answer(m.Opened(session.worker.data_wanted, session.summary, session.advice))
    return session.data


CHANGES = [
    {"target": "age", "task": ""},
    {"task": "multiclass"},
    {"roles": {"ward": "ignore"}},
    {"kinds": {"age": "category"}},
    {"test_size": 0.2},
    {"test_file": "/data/other.csv"},
    {"latest": "visit_date"},
    {"together": False},
    {"leaks": True},
    {"vocabulary": 50},
    {"stop_words": "en"},
]


def test_every_change_of_the_data_is_undone_and_done_again(with_data):
    for fields in CHANGES:
        before = with_data.data
        with_data.change_data(**fields)
        after = answer(with_data)
        assert after == replace(before, **fields)
        with_data.undo_change()
        assert answer(with_data) == before
        assert with_data.data == before
        assert with_data.changes.shown_and_neighbour(-1) is None
        with_data.redo_change()
        assert answer(with_data) == after
        assert with_data.changes.shown_and_neighbour(1) is None
        with_data.undo_change()  # the next one begins where this one did
        answer(with_data)


def test_groups_go_back_without_reading_and_other_choices_stay(with_data):
    asked = len(with_data.worker.asked)
    with_data.set_plan(groups="column")
    with_data.set_plan(groups={"mine": ["age"]})
    for groups in ("column", "single", "single"):  # in the end nothing is left to undo
        with_data.undo_change()
        assert with_data.plan.groups == groups
    with_data.redo_change()
    with_data.redo_change()
    assert with_data.plan.groups == {"mine": ["age"]}
    with_data.set_plan(folds=7)
    with_data.undo_change()
    assert (with_data.plan.groups, with_data.plan.folds) == ("column", 7)
    with_data.set_plan(groups="prefix")  # a new change forgets what was undone
    assert with_data.changes.shown_and_neighbour(1) is None
    with_data.undo_change()
    assert with_data.plan.groups == "column"
    assert len(with_data.worker.asked) == asked


def test_a_choice_of_another_page_stays_through_two_steps_back(with_data):
    for groups in ("prefix", "column"):
        with_data.set_plan(groups=groups)
    with_data.set_plan(folds=7)
    with_data.undo_change()
    with_data.undo_change()
    assert (with_data.plan.groups, with_data.plan.folds) == ("single", 7)


def test_costs_that_another_target_took_away_come_back(with_data):
    with_data.set_plan(costs={"yes": {"no": 5.0}})
    with_data.change_data(target="age", task="")
    answer(with_data)
    assert not with_data.plan.costs
    with_data.undo_change()
    answer(with_data)
    assert with_data.plan.costs == {"yes": {"no": 5.0}}


def test_several_changes_in_a_hurry_all_count(with_data):
    """The second is made while the first is still being read."""
    with_data.change_data(roles={**with_data.requested_data.roles, "age": "ignore"})
    with_data.change_data(roles={**with_data.requested_data.roles, "ward": "ignore"})
    assert answer(with_data).roles == {"age": "ignore", "ward": "ignore"}


def test_undo_takes_back_what_is_still_being_read(with_data):
    before = with_data.data
    with_data.change_data(task="multiclass")
    with_data.undo_change()
    late = m.Opened(replace(before, task="multiclass"), with_data.summary, with_data.advice)
    with_data.worker.answer(late)
    assert with_data.data == with_data.requested_data == before


def test_undo_twice_in_a_hurry_goes_back_twice(with_data):
    first = with_data.data
    for task in ("multiclass", "regression"):
        with_data.change_data(task=task)
        answer(with_data)
    with_data.undo_change()
    with_data.undo_change()
    assert answer(with_data) == first
    with_data.redo_change()
    with_data.undo_change()  # before the other was read
    assert with_data.data == first
    assert with_data.requested_data == first


def test_what_cannot_be_read_again_changes_nothing(with_data):
    with_data.change_data(task="multiclass")
    after = answer(with_data)
    with_data.undo_change()
    with_data.worker.answer(m.InputRefused("The file is gone."))
    assert with_data.data == with_data.requested_data == after
    assert with_data.changes.shown_and_neighbour(-1) is not None


def test_another_file_begins_anew(with_data):
    with_data.set_plan(groups="column")
    with_data.open_file("/data/other.csv")
    with_data.undo_change()  # not while it is being read
    assert with_data.worker.data_wanted.file == "/data/other.csv"
    answer(with_data)
    assert with_data.changes.shown_and_neighbour(-1) is None
    with_data.undo_change()
    assert with_data.data.file == "/data/other.csv"


def test_nothing_is_undone_while_a_run_goes_on(with_data, qtbot):
    with_data.set_plan(groups="column")
    with_data.start()
    with qtbot.waitSignal(with_data.problem) as problem:
        with_data.undo_change()
    assert "Stop it first" in problem.args[0]
    assert with_data.plan.groups == "column"


def test_the_share_of_test_rows_that_is_offered_next_time_goes_back_too(with_data):
    remembered_choices.remember_test_size(0.2)
    with_data.change_data(test_size=0.2)
    answer(with_data)
    with_data.undo_change()
    answer(with_data)
    assert remembered_choices.test_size() is None


def test_so_many_steps_are_kept_and_no_change_is_no_step():
    changes, data = DataUndoStack(), DataPlan("x.csv")
    plans = [Plan(data, "svm", "gp", groups={str(at): ["a"]}) for at in range(MAX_STEPS + 20)]
    changes.reset_to(data, plans[0])
    changes.add_change(data, plans[0].changed(folds=3))
    assert changes.shown_and_neighbour(-1) is None
    for plan in plans[1:]:
        changes.add_change(data, plan)
    back = 0
    while changes.begin_travel(-1):
        changes.end_travel({}, None)
        back += 1
    assert back == MAX_STEPS - 1
