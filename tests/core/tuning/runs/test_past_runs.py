"""Past runs: their list, labels and bin, which lose nothing, and several side by side."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from app.cli import main
from app.text.rail_text import left_out_text
from core.errors import UnusableError
from core.space import Axis
from core.tuning.event_lines import to_json
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import ConfusionCounts, Gain, Results
from core.tuning.runs import past_runs
from core.tuning.runs.past_runs import (
    BIN,
    KEPT_DAYS,
    LABEL,
    MARK,
    RunLabel,
    RunSummary,
    delete_run,
    deleted_runs,
    list_runs,
    read_label,
    remove_for_good,
    restore_run,
    write_label,
)
from core.tuning.runs.run_comparison import (
    PICKED,
    are_comparable,
    best_so_far,
    cautions,
    curve_of,
    differing_names,
    refusal_text,
    settings_of,
)
from core.tuning.runs.run_folder import OWNER, RunFolder
from core.tuning.runs.state import state_from_events

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
    expected = {(name, "finished", 0.9) for name in ("many", "sound")}
    assert {(run.name, run.state, run.test) for run in runs} == expected
    assert left_out == {}


def with_results(results):
    return [START, json.dumps({"event": "RunFinished", "results": results})]


ODD = {
    "deep first line": [DEEP, END],
    "no start": [END],
    "nonsense": ["nonsense", "nonsense"],
    "negative": with_results({"fits": -1}),
}
OF_OTHER_TYPES = [
    *map(with_results, ({"test": [], "gain": []}, {"test": {"accuracy": "0.9"}}, {"trials": None})),
    *map(with_results, ({"trials": 10**400}, {"test_interval": [0, "x"]}, {"metric": ["a"]})),
    with_results({"test": {"accuracy": True}}),
    [START, '{"event": "RunFinished", "results": {"trials": 1e999}}'],
    [START, DEEP],
]


@pytest.mark.parametrize("name", ODD)
def test_an_odd_run_is_left_out_by_its_name(root, name):
    folder_of(root, name, *ODD[name])
    runs, left_out = names_in(root)
    assert runs == {"sound": "finished"}
    assert list(left_out) == [name]
    assert name in left_out[name]


def test_a_folder_of_too_many_entries_is_listed_as_far_as_it_is_read(root, monkeypatch, capsys):
    monkeypatch.setattr(past_runs, "MAX_ENTRIES", 2)
    monkeypatch.setenv("TUNESCOPE_RUNS", str(root))
    folder_of(root, "second", START, END)
    assert names_in(root) == ({"sound": "finished", "second": "finished"}, {})
    assert RunFolder.find_run("last").path.parent == root
    (root / "a note").touch()
    assert list(list_runs(root).left_out) == [past_runs.BEYOND]
    assert main(["runs"]) == 0
    printed = capsys.readouterr()
    assert f"Left out: {root}: the folder of runs has too many entries" in printed.err
    assert left_out_text([past_runs.BEYOND]) == "Left out: entries beyond 200,000"
    with pytest.raises(UnusableError, match=r"last run is not known.*give the name of the run"):
        RunFolder.find_run("last")


def test_a_last_line_that_cannot_be_read_is_that_of_an_interrupted_run(root):
    for number, lines in enumerate(OF_OTHER_TYPES):
        folder_of(root, f"r{number}", *lines)
    with (folder_of(root, "torn", START, END) / "events.jsonl").open("ab") as file:
        file.truncate(file.tell() - 5)
    runs, left_out = names_in(root)
    assert (runs.pop("sound"), left_out) == ("finished", {})
    assert len(runs) == len(OF_OTHER_TYPES) + 1
    assert set(runs.values()) == {"interrupted"}


def test_a_run_whose_process_died_is_interrupted_also_where_its_mark_was_copied(root):
    folder = folder_of(root, "dead", START)
    assert names_in(root)[0]["dead"] == "interrupted"
    (folder / OWNER).write_text("1")  # which a process that ends takes along
    assert names_in(root)[0]["dead"] == "interrupted"


def test_a_run_answers_to_the_name_that_a_person_gave(root, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(root))
    folder = folder_of(root, "r1", START)
    write_label(folder, RunLabel("Third try"))
    write_label(folder_of(root, "r2", START), RunLabel("Third try, longer"))
    assert RunFolder.find_run("Third try").path == folder
    assert RunFolder.find_run("longer").name == "r2"
    with pytest.raises(UnusableError, match="2 runs"):
        RunFolder.find_run("Third")


def test_the_last_run_is_that_of_the_last_day_whatever_its_folder_is_called(root, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(root))
    moments = {"a": "2027-01-02T00:10:00+00:00", "z": "2027-01-01T23:50:00+00:00"}
    for name, moment in moments.items():
        folder_of(root, name, to_json(replace(STARTED, started_at=moment)))
    assert [run.name for run in list_runs(root).runs] == ["a", "z", "sound"]
    assert RunFolder.find_run("last").name == "a"


ODD_FIELDS = ({"model": {}}, {"trials": "many"}, {"data": {"file": 3}})
ODD_PLANS = [b"", DEEP.encode(), b"\xff\x00", b"[]", b"3", b'{"data": 3}']
ODD_PLANS += [json.dumps(PLAN.as_dict() | field).encode() for field in ODD_FIELDS]


@pytest.mark.parametrize("plan", ODD_PLANS)
def test_an_odd_plan_leaves_its_run_out(root, plan):
    (folder_of(root, "odd", START, END) / "plan.json").write_bytes(plan)
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
    return made(tmp_path)


def test_name_and_note_come_back_and_leave_plan_and_events_alone(folder):
    before = contents(folder)
    given = RunLabel("Ärzte – third try", "first line\nsecond: 5 % better")
    assert write_label(folder, given) == given == read_label(folder)
    after = contents(folder)
    assert after.pop(LABEL)
    assert after == before
    (run,) = list_runs(folder.parent).runs
    assert (run.title, run.note, run.name) == (given.name, given.note, "r")


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
    assert (run.title, run.note) == ("", "")


def test_signs_that_steer_a_terminal_are_not_kept(folder):
    (folder / LABEL).write_text(json.dumps({"name": "a\x1b[31mb\nc", "note": "x\x07\ny\u202e"}))
    assert read_label(folder) == RunLabel("a\ufffd[31mb c", "x\ufffd\ny\ufffd")
    assert write_label(folder, RunLabel("a\x1bb", "\tc\x00")) == RunLabel("a\ufffdb", " c\ufffd")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir])
def test_nothing_waits_for_a_pipe_or_follows_into_a_folder(folder, put):
    put(folder / LABEL)
    assert read_label(folder) == RunLabel()


def test_too_long_a_text_is_refused_and_the_old_one_stays(folder):
    write_label(folder, RunLabel("old"))
    for label, why in (
        (RunLabel("x" * 121), "121 char"),
        (RunLabel("", "é" * 10_001), "10,001 char"),
    ):
        with pytest.raises(UnusableError, match=why):
            write_label(folder, label)
    assert read_label(folder) == RunLabel("old")
    longest = RunLabel(*("\N{MUSICAL SYMBOL G CLEF}" * count for count in (120, 10_000)))
    assert write_label(folder, longest) == read_label(folder) == longest


def test_a_run_that_is_gone_is_not_made_again(folder):
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(UnusableError, match="not there any more"):
        write_label(folder, RunLabel("x"))
    assert not folder.exists()


def made(root, name="r"):
    return folder_of(root, name, START)


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


@pytest.mark.parametrize("damage", ["", "nonsense"])
def test_a_deleted_run_comes_back_as_it_was_damaged_or_not(tmp_path, damage):
    folder = made(tmp_path)
    if damage:
        (folder / "plan.json").write_text(damage)
    before = contents(folder)
    binned = delete_run(folder, tmp_path)
    assert binned == tmp_path / BIN / "r"
    assert list_runs(tmp_path).runs == []
    (gone,) = deleted_runs(tmp_path)
    assert (gone.run.name, gone.run.path) == ("r", str(binned))
    assert (gone.run.state == "unreadable") == bool(damage)
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
    folder, pipe = made(tmp_path), subprocess.PIPE
    code = (
        "import sys; from pathlib import Path\n"
        "from core.tuning.runs.run_lock import hold_run_lock\n"
        "with hold_run_lock(Path(sys.argv[1])): print('there', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder / "running")]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout.readline() == b"there\n"
        with pytest.raises(UnusableError, match="running in process"):
            delete_run(folder, tmp_path)
        other.stdin.close()
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

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(past_runs, "write_whole", full)
        delete_run(folder, tmp_path)
    assert len(deleted_runs(tmp_path)) == 1


@pytest.mark.parametrize("move", [delete_run, restore_run])
def test_a_kill_at_any_moment_leaves_the_run_in_one_place(tmp_path, monkeypatch, move):
    """Every call that changes the disk is the last one, once."""
    for last in range(12):
        root = tmp_path / f"{last}"
        folder = made(root) if move is delete_run else delete_run(made(root), root)
        before = contents(folder)
        with monkeypatch.context() as patched:
            _die_after(patched, last)
            with contextlib.suppress(_KilledError):
                move(folder, root)
        (there,) = [*root.glob("r"), *root.glob(f"{BIN}/r")]
        kept = contents(there)
        assert all(kept[name] == before[name] for name in ("plan.json", "events.jsonl"))
        assert len(list_runs(root).runs) + len(deleted_runs(root)) == 1


class _KilledError(BaseException):
    pass


def _die_after(patched, last):
    done = []
    for name in ("rename", "unlink", "replace", "mkdir"):
        real = getattr(os, name)

        def call(*given, real=real, **named):
            if len(done) >= last:
                raise _KilledError
            done.append(real)
            return real(*given, **named)

        patched.setattr(os, name, call)


def test_only_a_run_in_the_bin_is_removed_for_good(tmp_path):
    folder = made(tmp_path)
    with pytest.raises(UnusableError, match="not among those"):
        remove_for_good(folder, tmp_path)
    binned = delete_run(folder, tmp_path)
    remove_for_good(binned, tmp_path)
    assert not binned.exists()
    with pytest.raises(UnusableError, match="there is no run here"):
        restore_run(binned, tmp_path)
    # What a kill left half removed is gone at the next look.
    binned = delete_run(made(tmp_path), tmp_path)
    os.rename(binned, binned.with_name(".removing-12"))
    assert deleted_runs(tmp_path) == []
    assert list((tmp_path / BIN).iterdir()) == []


def test_nothing_outside_the_folder_of_runs_is_moved(tmp_path):
    outside, root = made(tmp_path / "elsewhere", "x"), tmp_path / "runs"
    made(root)
    (root / "link").symlink_to(outside)
    (root / "mine").mkdir()
    for folder, why in (
        (outside, "not among those that can be deleted here"),
        (root / "link", "a link to a run"),
        (root / "mine", "there is no run here"),
    ):
        with pytest.raises(UnusableError, match=why):
            delete_run(folder, root)
    assert outside.is_dir()


SPACE = [Axis("C", "C", "float", 0.1, 10.0, default=1.0)]


def stream(scores, maximize=True):
    yield RunStarted(run="r", metric="accuracy", maximize=maximize, space=SPACE)
    for number, score in enumerate(scores):
        setting = {"C": float(number)}
        yield TrialFinished(number=number, setting=setting, score=score, seconds=2.0 * number + 1)


@pytest.mark.parametrize("maximize", [True, False])
def test_the_curve_is_the_running_best(maximize):
    chance = random.Random(4)
    scores = [round(chance.random(), 2) for _ in range(200)]
    trials, seconds, best = best_so_far(state_from_events(stream(scores, maximize)))
    choose = max if maximize else min
    whole = [choose(scores[: at + 1]) for at in range(200)]
    shown = sorted({0, 199, *(at for at in range(1, 200) if whole[at] != whole[at - 1])})
    assert trials == [at + 1 for at in shown]
    assert seconds == [2.0 * at + 1 for at in shown]
    assert best == [whole[at] for at in shown]


def test_failed_and_excluded_trials_are_no_best():
    events = [*stream([0.5, float("nan"), 0.9, 0.6]), TrialExcluded(number=2)]
    assert best_so_far(state_from_events(events))[2] == [0.5, 0.6]
    assert best_so_far(state_from_events(stream([float("nan")]))) == ([], [], [])


def test_a_run_is_read_from_its_folder(tmp_path):
    folder = RunFolder.create(Plan(DataPlan("a.csv"), "svm", "gp", trials=4), path=tmp_path / "r")
    for event in stream([0.5, 0.8]):
        folder.append(event)
    folder.close()
    curve = curve_of(folder.path)
    assert (curve.best, curve.problem, curve.metric) == ([0.5, 0.8], "", "accuracy")
    assert (curve.values["trials"], curve.values["best C"]) == (4, 1.0)
    assert curve_of(folder.path, wanted=lambda: False).best == []
    assert "there is no run here" in curve_of(tmp_path / "x").problem


def test_only_what_differs_is_named():
    one = settings_of(Plan(DataPlan("a.csv"), "svm", "gp", options={"kernel": "se"}), {"C": 1})
    other = settings_of(Plan(DataPlan("a.csv"), "svm", "gp", seed=3), {"C": 2.0})
    assert differing_names([one, other]) == ["option kernel", "seed", "best C"]
    assert differing_names([one, one]) == []


RUN = RunSummary(
    "p", "n", "iris", "f", "svm", "gp", "finished", "2026", "accuracy", True,
    test=0.9, interval=[0.8, 0.95], target="y", split="[0]",
)  # fmt: skip


def test_only_runs_of_one_file_target_and_measure_are_compared():
    assert are_comparable(RUN, replace(RUN, model="forest", split="[1]"))
    for change in ({"fingerprint": "g"}, {"target": "z"}, {"metric": "log_loss"}):
        other = replace(RUN, **change)
        assert not are_comparable(RUN, other)
        assert "cannot be compared" in refusal_text([RUN, RUN, other])
    both = refusal_text([RUN, replace(RUN, fingerprint="g", metric="r2")])
    assert "other data and measures," in both
    assert refusal_text([RUN, RUN]) == ""


def test_a_choice_by_test_scores_is_cautioned():
    assert cautions([RUN]) == []
    assert cautions([RUN, replace(RUN, test=None)]) == []
    far = replace(RUN, test=0.99, interval=[0.97, 1.0])
    assert cautions([RUN, far]) == [PICKED]
    assert any("overlap" in said for said in cautions([RUN, RUN]))
    assert any("same rows" in said for said in cautions([far, replace(RUN, split="[1]")]))
