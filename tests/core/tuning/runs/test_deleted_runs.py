"""The bin: a deleted run lies there whole, comes back as it was, and goes when its time is over."""

import contextlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.errors import UnusableError
from core.tuning.events import RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs import deleted_runs as runs_bin
from core.tuning.runs.deleted_runs import (
    BIN,
    KEPT_DAYS,
    MARK,
    delete_run,
    deleted_runs,
    remove_for_good,
    restore_run,
)
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder

PLAN = Plan(DataPlan("sample:iris"), "svm", "gp")


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
