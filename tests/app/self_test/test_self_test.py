"""The self-test: its steps are taken and told, and it refuses what is not as it should be."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import app.__main__ as program
from app.self_test import run_self_test, sample_files
from app.self_test.run_self_test import StepFailedError
from app.self_test.tuning_self_test import ProgramUnderTest, TuningSelfTest, compare
from core.datasets.reading import read_dataset

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    for name in ("QT_QPA_PLATFORM", "TUNESCOPE_RUNS", "TUNESCOPE_HISTORY", "TUNESCOPE_KEY"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


def test_the_option_starts_it(monkeypatch):
    monkeypatch.setattr(run_self_test, "run_self_test", lambda: 1)
    assert program.main(["--self-test"]) == 1


@pytest.mark.slow
def test_a_sample_is_tuned_exported_and_predicted(tmp_path):
    # Three of the formats, one of them a folder: tests of the exporters write each.
    code = """
import sys
from app.self_test.run_self_test import run_self_test
from core.export import exporters
taken = ("skops", "script", "mlflow")
exporters.EXPORTERS = {name: exporters.EXPORTERS[name] for name in taken}
sys.exit(run_self_test(["mm"], ["csv"]))
"""
    environment = {**os.environ, "TUNESCOPE_RUNS": str(tmp_path / "kept")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert said[-1] == "All is well."
    taken = [line.removeprefix("ok").strip().rpartition(" (")[0] for line in said[1:-1]]
    steps = ("the window opens", "tunes with mm", "predicts as the run does, by skops")
    for step in (*steps, "exports mlflow"):
        assert step in taken
    assert not (tmp_path / "kept").exists()  # nothing of the person's


def test_what_fails_is_said_and_the_rest_goes_on(monkeypatch, tmp_path, capsys):
    class Nothing:
        def __init__(self, folder):
            pass

        def close(self):
            pass

    def break_down(self, parts, formats):
        self._steps.run_step("first", lambda: 1 / 0)
        self._steps.run_step("second", lambda: None)

    # The look for a display copies this process, which has a window already.
    monkeypatch.setattr("app.diagnostics.displays.obstacle", lambda: None)
    monkeypatch.setattr("app.self_test.tuning_self_test.ProgramUnderTest", Nothing)
    monkeypatch.setattr(TuningSelfTest, "run_all", break_down)
    assert run_self_test.run_self_test() == 1
    said = capsys.readouterr().out
    assert "FAILED  first: Traceback" in said
    assert "ok      second" in said
    assert said.endswith("1 of 5 steps failed.\n")


def test_a_problem_that_the_window_tells_fails_a_step(qapp, look, tmp_path, monkeypatch):
    opened = ProgramUnderTest(tmp_path)
    try:
        with pytest.raises(StepFailedError, match="no such file"):
            opened.open_data(tmp_path / "absent.csv")
    finally:
        opened.close()


PEOPLE = pd.DataFrame({"prediction": ["a", "b"], "probability of a": [0.75, 0.25]})


@pytest.mark.parametrize(
    ("change", "within", "why"),
    [
        ({}, 0.0, ""),
        ({"probability of a": [0.75, 0.26]}, 0.02, ""),
        ({"prediction": ["a", "a"]}, 0.2, "1 of 2 predictions differ"),
        ({"probability of a": [0.75, 0.5]}, 0.2, "differs from the run's by 0.25"),
    ],
)
def test_equal_predictions_are_taken_and_others_refused(change, within, why):
    with pytest.raises(StepFailedError, match=why) if why else contextlib.nullcontext():
        compare(PEOPLE, PEOPLE.assign(**change), within)
    with pytest.raises(StepFailedError, match="2 rows were predicted, not 1"):
        compare(PEOPLE, PEOPLE.head(1), within)


@pytest.mark.parametrize("ending", sample_files.readable())
def test_the_files_are_read_alike(ending, tmp_path):
    table = sample_files.sample_table().head(30)
    sample_files.write_table(table, tmp_path / f"people.{ending}")
    read = read_dataset(str(tmp_path / f"people.{ending}"))
    numbers = table.drop(columns=read.target_name).to_numpy(dtype=float)
    assert abs(read.table.to_numpy(dtype=float) - numbers).max() < 1e-12
