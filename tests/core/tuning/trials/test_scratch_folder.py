"""Folders beside a run: short enough for sockets, removed with their process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from core.errors import UnusableError
from core.tuning.trials import scratch_folder
from core.tuning.trials.scratch_folder import ScratchFolder, shorten_sockets

ROOT = Path(__file__).parents[4]
TRIAL = """
import os, signal, sys
import numpy as np
from core.tuning.scores.scoring import FoldData, ScoringJob
from core.tuning.trials.executors import ProcessExecutor

if __name__ == "__main__":
    X = np.arange(40.0)[:, None]
    fold = FoldData(X[:20], X[:20, 0], X[20:], X[20:, 0])
    executor = ProcessExecutor(ScoringJob("linear", "regression", "mse", 0, (), (fold, fold)))
    executor.submit(0, {"alpha": 1.0})
    (outcome,) = executor.wait_for_results(100.0) or executor.wait_for_results(100.0)
    print(outcome.failure or "fine", flush=True)
    if "killed" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    executor.close()
"""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no sockets with names there")


def tried(folder: Path, runtime: Path, *given: str) -> str:
    """What came of a trial in a program whose folder for temporary files has a long name."""
    program = folder / "program.py"
    program.write_text(TRIAL)
    long = folder.joinpath("long" * 15, "name" * 15)
    long.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(long)}
    ran = subprocess.run(
        [sys.executable, program, *given],
        env=env | {"XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (-signal.SIGKILL if given else 0, "")
    return ran.stdout.strip()


@pytest.fixture
def runtime():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


@POSIX
def test_trials_run_where_the_folder_for_temporary_files_has_a_long_name(tmp_path, runtime):
    assert tried(tmp_path, runtime) == "fine"
    assert list(runtime.iterdir()) == []


@POSIX
def test_sockets_of_a_killed_program_are_removed_by_the_next_one(tmp_path, runtime):
    assert tried(tmp_path, runtime, "killed") == "fine"
    (left,) = runtime.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert tried(tmp_path, runtime) == "fine"
    assert list(runtime.iterdir()) == []


@POSIX
def test_where_no_place_has_a_short_name_that_is_said(tmp_path, monkeypatch):
    long = tmp_path / ("long" * 20)
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr(scratch_folder, "_short_folders", list)
    with pytest.raises(UnusableError, match="too long for the sockets of trials; name a shorter"):
        shorten_sockets.__wrapped__()


def test_a_folder_that_its_owner_is_still_making_is_left_alone(tmp_path):
    young = tmp_path / "tunescope-folds-young"
    young.mkdir()
    ScratchFolder("folds", str(tmp_path)).remove_folder()
    assert [folder.name for folder in tmp_path.iterdir()] == [young.name]
