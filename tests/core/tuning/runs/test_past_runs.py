"""The list of runs, their labels and the bin: odd folders are left out, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from core.errors import UnusableError
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, to_json
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import ConfusionCounts, Gain, Results
from core.tuning.runs import past_runs as runs_bin
from core.tuning.runs.past_runs import (
    BIN,
    KEPT_DAYS,
    LABEL,
    MARK,
    RunLabel,
    delete_run,
    deleted_runs,
    list_runs,
    read_label,
    remove_for_good,
    restore_run,
    write_label,
)
from core.tuning.runs.run_folder import RunFolder

PLAN = Plan(DataPlan("sample:iris"), "svm", "gp")
STARTED = RunStarted(
    run="r", dataset=DatasetFacts(name="iris"), metric="accuracy", started_at="2026"
)
RESULTS = Results(metric="accuracy", test={"accuracy": 0.9}, gain=Gain(difference=0.02))
START, END = to_json(STARTED), to_json(RunFinished(results=RESULTS))
DEEP = "[" * 100_000 + "]" * 100_000


def folder_of(root, name, *lines):
    folder = RunFolder.create(PLAN, path=root / name).path
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


@pytest.fixture
def root(tmp_path):
    folder_of(tmp_path, "sound", START, END)
    return tmp_path


def names_in(root):
    runs, left_out = list_runs(root)
    return {run.name: run.state for run in runs}, left_out


@pytest.mark.parametrize("classes", [230, 700])
def test_a_finished_run_of_many_classes_is_finished(root, classes):
    confusion = ConfusionCounts(tuned=np.arange(classes**2).reshape(classes, classes).tolist())
    line = to_json(RunFinished(results=replace(RESULTS, confusion=confusion)))
    assert len(line) > 256_000
    folder_of(root, "many", START, *["{}"] * 3, line)
    runs, left_out = list_runs(root)
    assert {(run.name, run.state, run.test) for run in runs} == {
        ("many", "finished", 0.9),
        ("sound", "finished", 0.9),
    }
    assert left_out == {}


def with_results(results):
    return [START, json.dumps({"event": "RunFinished", "results": results})]


ODD = {
    "deep first line": [DEEP, END],
    "no start": [END],
    "nonsense": ["nonsense", "nonsense"],
    "negative": with_results({"fits": -1}),
}
OF_OTHER_TYPES = {
    "list of results": with_results({"test": [], "gain": []}),
    "text as score": with_results({"test": {"accuracy": "0.9"}}),
    "no number": with_results({"trials": None}),
    "endless": [START, '{"event": "RunFinished", "results": {"trials": 1e999}}'],
    "huge": with_results({"trials": 10**400}),
    "odd interval": with_results({"test_interval": [0, "x"]}),
    "odd metric": with_results({"metric": ["accuracy"]}),
    "flag as score": with_results({"test": {"accuracy": True}}),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_run_is_left_out_by_its_name(root, name):
    folder_of(root, name, *ODD[name])
    runs, left_out = names_in(root)
    assert runs == {"sound": "finished"}
    assert list(left_out) == [name]
    assert name in left_out[name]


def test_a_last_line_that_cannot_be_read_is_that_of_an_interrupted_run(root):
    for name, lines in OF_OTHER_TYPES.items():
        folder_of(root, name, *lines)
    folder_of(root, "deep", START, DEEP)
    folder_of(root, "torn", START, END)
    with (root / "torn" / "events.jsonl").open("ab") as file:
        file.truncate(file.tell() - 5)
    assert names_in(root) == (
        dict.fromkeys((*OF_OTHER_TYPES, "deep", "torn"), "interrupted") | {"sound": "finished"},
        {},
    )


ODD_FIELDS = ({"model": {}}, {"trials": "many"}, {"data": {"file": 3}})
ODD_PLANS = [b"", DEEP.encode(), b"\xff\x00", b"[]", b"3", b'{"data": 3}']
ODD_PLANS += [json.dumps(PLAN.as_dict() | field).encode() for field in ODD_FIELDS]


@pytest.mark.parametrize("plan", ODD_PLANS)
def test_an_odd_plan_leaves_its_run_out(root, plan):
    folder = folder_of(root, "odd", START, END)
    (folder / "plan.json").write_bytes(plan)
    runs, left_out = names_in(root)
    assert (runs, list(left_out)) == ({"sound": "finished"}, ["odd"])


@pytest.mark.parametrize("name", ["plan.json", "events.jsonl"])
@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo, lambda path: os.symlink(path, path)])
def test_what_is_no_file_leaves_its_run_out_at_once(root, name, put):
    """A pipe would be waited for for ever."""
    path = folder_of(root, "odd", START, END) / name
    path.unlink()
    put(path)
    runs, left_out = names_in(root)
    assert (runs, list(left_out)) == ({"sound": "finished"}, ["odd"])


def test_a_folder_named_in_bytes_that_are_no_text_can_be_printed(root):
    os.rename(root / "sound", os.fsencode(root) + b"/r\xff\x1b[2J")
    (run,) = list_runs(root).runs
    assert run.name.isprintable()
    assert RunFolder.open(run.path).all_events()


def test_a_root_that_loops_is_an_empty_list(tmp_path):
    (tmp_path / "runs").symlink_to(tmp_path / "runs")
    assert list_runs(tmp_path / "runs") == ([], {})


def test_a_plan_of_a_newer_version_opens(root):
    folder = folder_of(root, "newer", START, END)
    (folder / "plan.json").write_text(json.dumps(PLAN.as_dict() | {"of_tomorrow": 1}))
    assert RunFolder(folder).plan == PLAN.changed(data=RunFolder(folder).plan.data)
    assert names_in(root)[0] == {"newer": "finished", "sound": "finished"}


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(PLAN, path=tmp_path / "r").path


def test_name_and_note_come_back_and_leave_plan_and_events_alone(folder):
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    given = RunLabel("Ärzte – third try", "first line\nsecond: 5 % better")
    assert write_label(folder, given) == given == read_label(folder)
    after = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert after.pop(LABEL)
    assert after == before
    (run,) = list_runs(folder.parent).runs
    assert (run.title, run.note, run.name) == (given.name, given.note, "r")
    assert run.display_name == given.name


ODD_LABELS = {
    "no JSON": b"{",
    "a list": b"[1]",
    "numbers": b'{"name": 5, "note": ["x"]}',
    "bytes": b"\xff\xfe\x00",
    "deep": b"[" * 90_000,
    "long": b'{"name": "' + b"x" * 500_000 + b'"}',
}


@pytest.mark.parametrize("content", ODD_LABELS.values(), ids=ODD_LABELS)
def test_an_odd_file_counts_as_none(folder, content):
    (folder / LABEL).write_bytes(content)
    assert read_label(folder) == RunLabel()
    (run,) = list_runs(folder.parent).runs
    assert (run.title, run.note, run.display_name) == ("", "", "r")


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


def made(root, name="r"):
    folder = RunFolder.create(PLAN, path=root / name)
    folder.append(RunStarted(run=name, dataset=DatasetFacts(name="iris"), started_at="2026"))
    folder.close()
    return folder.path


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_a_deleted_run_comes_back_as_it_was(tmp_path):
    folder = made(tmp_path)
    before = contents(folder)
    binned = delete_run(folder, tmp_path)
    assert binned == tmp_path / BIN / "r"
    assert list_runs(tmp_path).runs == []
    (gone,) = deleted_runs(tmp_path)
    assert (gone.run.name, gone.run.path) == ("r", str(binned))
    assert gone.removed_at - gone.deleted_at == timedelta(days=KEPT_DAYS)
    assert abs(datetime.now(UTC) - gone.deleted_at) < timedelta(minutes=1)
    assert restore_run(binned, tmp_path) == folder
    assert contents(folder) == before
    assert deleted_runs(tmp_path) == []


def test_one_name_twice_loses_neither(tmp_path):
    first = delete_run(made(tmp_path), tmp_path)
    second = delete_run(made(tmp_path), tmp_path)
    assert {first.name, second.name} == {"r", "r_2"}
    made(tmp_path)
    assert restore_run(first, tmp_path).name == "r_2"
    assert {run.name for run in list_runs(tmp_path).runs} == {"r", "r_2"}


def test_a_run_of_another_process_cannot_be_deleted(tmp_path):
    folder = made(tmp_path)
    code = (
        "import sys; from core.tuning.runs.run_lock import hold_run_lock; from pathlib import "
        "Path\n"
        "with hold_run_lock(Path(sys.argv[1])): print('there', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder / "running")]
    root = Path(__file__).parents[4]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=root) as other:
        assert other.stdout.readline() == b"there\n"
        with pytest.raises(UnusableError, match="running in process") as refused:
            delete_run(folder, tmp_path)
        other.stdin.close()
    assert refused.value.sentence.count(".") == 1
    assert [run.name for run in list_runs(tmp_path).runs] == ["r"]
    assert deleted_runs(tmp_path) == []
    delete_run(folder, tmp_path)


def test_its_time_is_over_after_the_days_that_were_said(tmp_path):
    delete_run(made(tmp_path), tmp_path)
    (gone,) = deleted_runs(tmp_path)
    before, after = (gone.removed_at + timedelta(seconds=s) for s in (-1, 1))
    assert len(deleted_runs(tmp_path, before)) == 1
    assert deleted_runs(tmp_path, after) == []
    assert list((tmp_path / BIN).iterdir()) == []


@pytest.mark.parametrize("mark", [b"", b"{}", b"[]", b'{"deleted_at": 5}', b"\xff", b"[" * 9000])
def test_an_unreadable_mark_counts_from_now(tmp_path, mark):
    binned = delete_run(made(tmp_path), tmp_path)
    (binned / MARK).write_bytes(mark)
    (gone,) = deleted_runs(tmp_path)
    assert abs(datetime.now(UTC) - gone.deleted_at) < timedelta(minutes=1)
    assert json.loads((binned / MARK).read_text())["deleted_at"] == gone.deleted_at.isoformat()


def test_an_old_mark_does_not_shorten_the_time_where_none_can_be_written(tmp_path, monkeypatch):
    folder = made(tmp_path)
    (folder / MARK).write_text('{"deleted_at": "2001-01-01T00:00:00+00:00"}')

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(runs_bin, "write_whole", full)
        delete_run(folder, tmp_path)
    assert len(deleted_runs(tmp_path)) == 1


def test_a_kill_at_any_moment_leaves_the_run_in_one_place(tmp_path, monkeypatch):
    """Every call that changes the disk is the last one, once."""
    changing = ("rename", "unlink", "replace", "mkdir")
    for action in ("delete", "restore"):
        for last in range(12):
            root = tmp_path / f"{action} {last}"
            folder = made(root)
            if action == "restore":
                folder = delete_run(folder, root)
            before = contents(folder)
            with monkeypatch.context() as patched:
                _die_after(patched, last, changing)
                with contextlib.suppress(_KilledError):
                    (delete_run if action == "delete" else restore_run)(folder, root)
            there = [*root.glob("r"), *root.glob(f"{BIN}/r")]
            assert len(there) == 1
            kept = contents(there[0])
            assert {n: kept[n] for n in ("plan.json", "events.jsonl")} == {
                n: before[n] for n in ("plan.json", "events.jsonl")
            }
            assert len(list_runs(root).runs) + len(deleted_runs(root)) == 1


class _KilledError(BaseException):
    pass


def _die_after(patched, last, names):
    done = []
    for name in names:
        real = getattr(os, name)

        def call(*given, real=real, **named):
            if len(done) >= last:
                raise _KilledError
            done.append(real)
            return real(*given, **named)

        patched.setattr(os, name, call)


def test_what_a_kill_left_half_removed_is_gone_at_the_next_look(tmp_path):
    binned = delete_run(made(tmp_path), tmp_path)
    os.rename(binned, binned.with_name(".removing-12"))
    assert deleted_runs(tmp_path) == []
    assert list((tmp_path / BIN).iterdir()) == []


def test_only_a_run_in_the_bin_is_removed_for_good(tmp_path):
    folder = made(tmp_path)
    with pytest.raises(UnusableError, match="not among those"):
        remove_for_good(folder, tmp_path)
    binned = delete_run(folder, tmp_path)
    remove_for_good(binned, tmp_path)
    assert not binned.exists()
    with pytest.raises(UnusableError, match="there is no run here"):
        restore_run(binned, tmp_path)


def test_nothing_outside_the_folder_of_runs_is_moved(tmp_path):
    outside = made(tmp_path / "elsewhere", "x")
    root = tmp_path / "runs"
    made(root)
    with pytest.raises(UnusableError, match="not among those that can be deleted here"):
        delete_run(outside, root)
    (root / "link").symlink_to(outside)
    with pytest.raises(UnusableError, match="a link to a run"):
        delete_run(root / "link", root)
    (root / "mine").mkdir()
    with pytest.raises(UnusableError, match="there is no run here"):
        delete_run(root / "mine", root)
    assert outside.is_dir()


def test_a_damaged_run_can_be_deleted_and_restored(tmp_path):
    folder = made(tmp_path)
    (folder / "plan.json").write_text("nonsense")
    binned = delete_run(folder, tmp_path)
    (gone,) = deleted_runs(tmp_path)
    assert (gone.run.name, gone.run.state) == ("r", "unreadable")
    assert restore_run(binned, tmp_path) == folder
