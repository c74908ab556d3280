"""Name and note of a run: kept whole beside its plan, and harmless whoever wrote them."""

import json
import os

import pytest

from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.run_labels import LABEL, RunLabel, read_label, write_label


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(Plan(DataPlan("sample:iris"), "svm", "gp"), path=tmp_path / "r").path


def test_name_and_note_come_back_and_leave_plan_and_events_alone(folder):
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    given = RunLabel("Ärzte – third try", "first line\nsecond: 5 % better")
    assert write_label(folder, given) == given == read_label(folder)
    after = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert after.pop(LABEL)
    assert after == before
    (run,) = list_runs(folder.parent).runs
    assert (run.title, run.note, run.display_name, run.name) == (
        *vars(given).values(),
        given.name,
        "r",
    )


def test_without_a_name_a_run_is_called_as_its_folder(folder):
    (run,) = list_runs(folder.parent).runs
    assert (run.title, run.note, run.display_name) == ("", "", "r")


ODD = {
    "no JSON": b"{",
    "a list": b"[1]",
    "numbers": b'{"name": 5, "note": ["x"]}',
    "bytes": b"\xff\xfe\x00",
    "deep": b"[" * 90_000,
    "long": b'{"name": "' + b"x" * 500_000 + b'"}',
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_an_odd_file_counts_as_none(folder, content):
    (folder / LABEL).write_bytes(content)
    assert read_label(folder) == RunLabel()
    assert len(list_runs(folder.parent).runs) == 1


def test_signs_that_steer_a_terminal_are_not_kept(folder):
    (folder / LABEL).write_text(json.dumps({"name": "a\x1b[31mb\nc", "note": "x\x07\ny\u202e"}))
    assert read_label(folder) == RunLabel("a\ufffd[31mb c", "x\ufffd\ny\ufffd")
    assert write_label(folder, RunLabel("a\x1bb", "\tc\x00")) == RunLabel("a\ufffdb", " c\ufffd")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_nothing_waits_for_a_pipe_or_follows_into_a_folder(folder):
    os.mkfifo(folder / LABEL)
    assert read_label(folder) == RunLabel()
    (folder / LABEL).unlink()
    (folder / LABEL).mkdir()
    assert read_label(folder) == RunLabel()


def test_too_long_a_text_is_refused_and_the_old_one_stays(folder):
    write_label(folder, RunLabel("old"))
    with pytest.raises(UnusableError, match="the name has 121 characters; write at most 120"):
        write_label(folder, RunLabel("x" * 121))
    with pytest.raises(UnusableError, match="the note has 10,001 characters"):
        write_label(folder, RunLabel("", "é" * 10_001))
    assert read_label(folder) == RunLabel("old")
    longest = RunLabel("\N{MUSICAL SYMBOL G CLEF}" * 120, "\N{MUSICAL SYMBOL G CLEF}" * 10_000)
    assert write_label(folder, longest) == read_label(folder) == longest


def test_a_run_that_is_gone_is_not_made_again(folder):
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(UnusableError, match="not there any more"):
        write_label(folder, RunLabel("x"))
    assert not folder.exists()
