"""What the history's changes and knowledge are said to be, and how the session carries them."""

from __future__ import annotations

import pytest

from app.session.session_history import SessionHistory
from app.text.history_text import import_text, matching_counts_text
from app.worker.messages import ImportHistory
from core.tuning.events import RemarkMade
from core.tuning.history.dataset_records import HistoryCounts, ImportCounts


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            HistoryCounts(34, 6, 20),
            "The history holds 34 datasets for this model, 6 of them similar to yours; 20 shipped "
            "with Tunescope.",
        ),
        (
            HistoryCounts(34, 6),
            "The history holds 34 datasets for this model, 6 of them similar to yours.",
        ),
        (
            HistoryCounts(5, 0, 5),
            "The history holds 5 datasets for this model, none of them similar to yours; all "
            "shipped with Tunescope.",
        ),
        (HistoryCounts(1, 1), "The history holds 1 dataset for this model, similar to yours."),
        (
            HistoryCounts(),
            "The history holds nothing for this model yet: it starts like a Gaussian process.",
        ),
        (
            HistoryCounts(34, 6, 20, enabled=False),
            "The history is off: it starts like a Gaussian process.",
        ),
    ],
)
def test_what_is_known_is_said(found, sentence):
    assert matching_counts_text(found) == sentence


def test_long_lists_of_what_was_left_out_are_cut():
    said = import_text(ImportCounts(2, 1, 3, tuple(f"Study {n}." for n in range(8))))
    assert said == (
        "Imported: 2 datasets with 1 trial. In the history already: 3 datasets. "
        "Left out: Study 0. Study 1. Study 2. Study 3. Study 4. And 3 more."
    )


def test_what_is_known_comes_with_the_plan(opened, qtbot):
    qtbot.waitUntil(lambda: opened.history_summary is not None, timeout=60_000)
    assert opened.history_summary.counts.datasets == 34
    opened.choose_model("svm")
    assert opened.history_summary is None  # it was about another model
    qtbot.waitUntil(lambda: opened.history_summary is not None, timeout=60_000)


def test_studies_come_in_through_the_worker(opened, qtbot):
    said = []
    opened.history.change_reported.connect(lambda *words: said.append(words))
    opened.history.import_optuna(ImportHistory("studies.db", "svm", 100, 5, 2))
    qtbot.waitUntil(lambda: len(said) == 1, timeout=60_000)
    assert said[0] == (
        "Imported: 1 dataset with 9 trials. Left out: Study “b” has other parameters.", True,
    )  # fmt: skip
    problems = []
    opened.problem.connect(problems.append)
    opened.history.import_optuna(ImportHistory("missing.db", "svm", 100, 5, 2))
    qtbot.waitUntil(lambda: len(said) == 2, timeout=60_000)
    assert said[1] == ("missing.db: there is no such storage; look.", False)
    assert problems == []
    opened.history.import_optuna(ImportHistory("deadly.db", "svm", 100, 5, 2))
    qtbot.waitUntil(lambda: len(said) == 3, timeout=60_000)
    assert said[2][1] is False
    assert problems == [said[2][0]]


def test_what_a_run_notices_is_a_notice(still):
    problems = []
    still.problem.connect(problems.append)
    still._emit_events(
        [RemarkMade(sentence="The history is damaged. This run continues without it.")]
    )
    assert problems == ["The history is damaged. This run continues without it."]


@pytest.fixture
def history(qapp):
    """The session's history on the test's own file, and what it says."""
    made, said = SessionHistory(), []
    made.change_reported.connect(lambda *words: said.append(words))
    return made, said


def test_every_change_is_carried_out_and_said(history, tmp_path):
    made, said = history
    changes = []
    made.changed.connect(lambda: changes.append(made.read_contents()))
    shipped = len(made.read_contents().entries)
    assert shipped > 0
    made.set_enabled(False)
    assert not made.read_contents().enabled
    made.set_enabled(True)
    assert made.read_contents().enabled
    made.forget_datasets([made.read_contents().entries[0].id])
    assert len(made.read_contents().entries) == shipped - 1
    made.restore_starter()
    assert len(made.read_contents().entries) == shipped
    made.forget_starter()
    assert made.read_contents().entries == []
    made.export_to(str(tmp_path / "history.json"))
    made.import_from(str(tmp_path / "history.json"))
    made.forget_all()
    assert len(said) == len(changes) == 8
    assert all(sentence and well for sentence, well in said)


def test_a_history_that_cannot_be_used_is_a_sentence(history, own_history):
    made, said = history
    own_history.mkdir()
    found = made.read_contents()
    assert not found.readable
    assert "folder where the history should be" in found.problem
    made.set_enabled(False)
    assert said == [(found.problem, False)]
