"""Ctrl-C on the command line: the best so far within seconds, and what is kept is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from app.cli.interrupt_handler import (
    kept_run_text,
    result_seconds,
    untested_best,
    untested_best_text,
)
from core.tuning.events import (
    DatasetFacts,
    HyperGradientStep,
    PenaltyStep,
    RunFinished,
    RunStarted,
    RunStopped,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.run_results import Results
from core.tuning.runs.best import has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

ROOT = Path(__file__).parents[3]
LIMIT = 120  # seconds; a hang is what these tests look for
SPARE = 8.0  # seconds for the end of a process on a busy computer
SOON = 1.0  # seconds from an interrupt to the best so far, in place of four

# What takes minutes in compiled code that lets other threads work, as fits of models do.
LONG = "__import__('hashlib').pbkdf2_hmac('sha256', b'', b'', 10**9)"
SLOW_RESULTS = (
    "import core.tuning.results.conclude as c; s.WAITS = -1.0;"
    f" c.fit_tuned_model = lambda *given: {LONG}"
)
LATE_RESULTS = (
    "import time, core.tuning.results.conclude as c; usual = c.fit_tuned_model;"
    f" c.fit_tuned_model = lambda *given: (time.sleep({2 * SOON}), usual(*given))[-1]"
)
SLOW_TEST = (
    "import time, core.tuning.results.conclude as c; usual = c.predictions_of_test;"
    " c.predictions_of_test = lambda *given: (print('testing', flush=True), time.sleep(0.5),"
    " usual(*given))[-1]"
)
SLOW_STEP = (
    "s.WAITS = -1.0; import core.tuning.learning.learning_run as r; usual = r.step_event;"
    f" r.step_event = lambda step, *given: {LONG} if step.number > 1 else usual(step, *given)"
)
READING = (
    "import core.tuning.problem_setup as p;"
    f" p.read_data = lambda data: (print('reading', flush=True), {LONG})"
)
LAST_FIT = SLOW_RESULTS.replace("fit_tuned_model", "refit_on_all_rows")
SAVING = (
    "import core.export.exporters as x;"
    f" x.export_all = lambda *given: (print('saving', flush=True), {LONG})"
)
IN_VAIN = SLOW_RESULTS + "; s.WAITS = 1.0; s.result_seconds = lambda run: 0"

slow = pytest.mark.slow


@pytest.fixture
def program(tmp_path):
    """Starts the command line in another process, with a fault put in."""
    started = []

    def start(fault, *arguments):
        path = tmp_path / "program.py"
        path.write_text(
            'if __name__ == "__main__":\n'
            f"    import sys; import app.cli.interrupt_handler as s; s.ANSWERS = {SOON}; {fault}\n"
            "    from app.cli import main; sys.exit(main(sys.argv[1:]))\n"
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TUNESCOPE_RUNS": str(tmp_path / "runs")}
        process = subprocess.Popen(
            [sys.executable, path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=env, cwd=tmp_path,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def recorded(runs):
    (path,) = runs.iterdir()
    return RunFolder(path)


def until(process, mark, runs):
    """Wait until a word is printed, or the run's folder holds an event of that kind."""
    if mark.islower():
        assert process.stdout.readline() == f"{mark}\n"
        return
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and process.poll() is None:
        paths = runs.glob("*/events.jsonl") if runs.is_dir() else ()
        if any(f'"{mark}"' in path.read_text() for path in paths):
            return
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


def interrupted(process, mark, runs, number=signal.SIGINT, times=1):
    """Interrupt it at the mark: what it prints until its end, its remarks, and seconds."""
    until(process, mark, runs)
    for _ in range(times):
        time.sleep(0.5)  # so that it is in the middle of what comes after the mark
        process.send_signal(number)
    began = time.monotonic()
    process.wait(LIMIT)  # processes of its trials may hold its output for a moment more
    took = time.monotonic() - began
    said, noted = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    return said, noted, took


TRIALS = ("tune", "sample:groups", "--model", "logistic", "--strategy", "random", "--json")
MANY = (*TRIALS, "--trials", "100000")
FEW = (*TRIALS[:-1], "--trials", "2")


@slow
def test_the_best_so_far_comes_in_seconds_where_its_test_takes_minutes(program, runs):
    process = program(SLOW_RESULTS, *MANY, "--export", "model.skops")
    said, noted, took = interrupted(process, "TrialFinished", runs)
    assert SOON - 0.5 < took < SOON + SPARE
    found, folder = json.loads(said), recorded(runs)
    state = state_from_events(folder.all_events())
    assert found["params"] == state.best_trial.setting
    assert found["validation"] == {"accuracy": state.best_trial.score}
    assert found["test"] == {}
    assert found["stopped_because"] == "it was interrupted"
    assert list(found["failed_exports"]) == ["model.skops"]
    assert f"tunescope resume {folder.name}" in noted
    assert "nothing to keep" not in noted
    assert state.results is None


@slow
def test_a_second_interrupt_leaves_at_once_and_what_is_kept_is_tested_later(
    program, runs, tmp_path, capsys
):
    fault = f"{SLOW_RESULTS}; s.ANSWERS = {LIMIT}"
    process = program(fault, *TRIALS[:-1], "--trials", "100000")
    said, noted, took = interrupted(process, "TrialFinished", runs, times=2)
    assert took < SPARE
    assert said.startswith("Best:    accuracy ")
    folder, model = recorded(runs), tmp_path / "model.json"
    assert f"kept in the run {folder.name}. tunescope resume" in noted
    trials = state_from_events(folder.all_events()).done_count
    assert main(["resume", folder.name, "--stop", "--json", "--export", str(model)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["trials"] == trials
    assert result["test"]["accuracy"] > 0.5
    assert result["exports"] == [str(model)]


@slow
def test_after_a_kill_the_run_is_listed_and_can_be_resumed(program, runs, capsys):
    process = program("pass", *MANY)
    until(process, "TrialFinished", runs)
    process.kill()
    process.communicate()
    assert main(["runs"]) == 0
    assert "interrupted" in capsys.readouterr().out
    assert main(["resume", recorded(runs).name, "--stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"] >= 1


@slow
def test_results_that_come_soon_are_waited_for_with_the_best_so_far(program, runs):
    process = program(LATE_RESULTS, *MANY, "--export", "model.json")
    said, noted, _ = interrupted(process, "TrialFinished", runs)
    result = json.loads(said)
    assert result["test"]["accuracy"] > 0.5
    assert result["exports"] == ["model.json"]
    assert result["stopped_because"] == "it was interrupted"
    assert has_best(recorded(runs))
    assert "Best:    accuracy " in noted
    assert noted.index("Best:") > noted.index("Interrupted; working out the best so far.")
    assert isinstance(recorded(runs).all_events()[-1], RunStopped)


@slow
def test_results_that_are_waited_for_in_vain_are_left_for_later(program, runs):
    process = program(IN_VAIN, *MANY)
    said, noted, took = interrupted(process, "TrialFinished", runs, signal.SIGTERM)
    assert took < SOON + 1.0 + SPARE
    assert json.loads(said)["test"] == {}
    assert "for 1 seconds at most" in noted


@slow
def test_an_interrupt_is_heard_in_the_middle_of_a_long_step(program, runs):
    process = program(SLOW_STEP, "tune", "sample:groups", "--strategy", "mm", "--json")
    said, _, _ = interrupted(process, "PenaltyStep", runs)
    steps = [event for event in recorded(runs).all_events() if isinstance(event, PenaltyStep)]
    assert json.loads(said)["groups"] == steps[-1].penalties


@slow
def test_an_interrupt_while_the_winner_is_tested_keeps_the_test(program, runs):
    process = program(SLOW_TEST, *TRIALS, "--trials", "3")
    until(process, "testing", runs)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    found = json.loads(said.splitlines()[-1])
    assert found["stopped_because"] == "the budget of 3 trials was spent"
    assert found["test"]["accuracy"] > 0.5
    kinds = [type(event) for event in recorded(runs).all_events()]
    assert kinds[-1] is RunFinished
    assert RunStopped not in kinds


@pytest.fixture
def large(tmp_path):
    """A table on which every model takes seconds, and a forest minutes."""
    X = np.random.default_rng(0).normal(size=(20_000, 12)).round(3)
    y = np.where(X[:, 0] + X[:, 1] > 0, "y", "n")
    pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(tmp_path / "large.csv", index=False)
    return str(tmp_path / "large.csv")


HUNG_FOREST = ("--model", "forest", "--fix", "n_estimators=2000", "--strategy", "random")


@slow
@pytest.mark.parametrize(
    ("fault", "options", "mark", "words", "number"),
    [
        (READING, (), "reading", "interrupted before there was anything to keep.", signal.SIGTERM),
        ("s.WAITS = -1.0", ("--minutes", "5"), "RunStarted", "tunescope resume", signal.SIGTERM),
        ("s.WAITS = -1.0", HUNG_FOREST, "TrialStarted", "tunescope resume", signal.SIGINT),
    ],
    ids=["reading", "screening", "trials"],
)
def test_the_first_signal_is_heard_before_anything_is_tried(
    program, runs, large, fault, options, mark, words, number
):
    process = program(fault, "tune", large, *options)
    _, noted, took = interrupted(process, mark, runs, number)
    assert took < SOON + SPARE
    assert words in noted
    assert runs.exists() is (mark != "reading")
    if runs.exists():
        with recorded(runs).hold_lock():  # whoever resumes it gets it
            assert recorded(runs).plan.data.file == large


@slow
@pytest.mark.parametrize("fault", [SLOW_RESULTS, LAST_FIT], ids=["ending", "last fit"])
def test_the_first_signal_is_heard_while_a_run_ends(program, runs, fault):
    _, noted, took = interrupted(program(fault, *FEW), "TuningEnded", runs, signal.SIGTERM)
    assert took < SOON + SPARE
    assert "2 trials are kept in the run" in noted
    assert main(["resume", recorded(runs).name, "--stop"]) == 0
    last = recorded(runs).all_events()[-1]
    assert isinstance(last, RunFinished)
    assert last.results.trials == 2


@slow
def test_a_signal_while_results_are_saved_leaves_at_once_with_a_whole_run(program, runs):
    process = program(f"{SAVING}; s.ANSWERS = {LIMIT}", *FEW, "--export", "model.json")
    _, noted, took = interrupted(process, "saving", runs, signal.SIGTERM)
    assert took < SPARE
    assert "is complete; tunescope export" in noted
    assert isinstance(recorded(runs).all_events()[-1], RunFinished)


def trial(number, score):
    setting = {"C": 1.0 + number}
    return [
        TrialStarted(number=number, setting=setting),
        TrialFinished(number=number, setting=setting, score=score, took=10.0, fits=5),
    ]


def test_how_long_the_results_take():
    state = state_from_events([RunStarted(), *trial(0, 0.5), *trial(1, 0.75)])
    assert result_seconds(state) == 4 * 2.0
    nested = state_from_events([RunStarted(dataset=DatasetFacts(outer_folds=5)), *trial(0, 0.5)])
    assert result_seconds(nested) == 6 * 4 * 2.0
    learner = state_from_events([RunStarted(kind="penalties"), PenaltyStep(seconds=60.0)])
    assert result_seconds(learner) == 60.0


def test_what_is_kept_in_words():
    state = state_from_events([RunStarted(metric="f1")])
    assert "before the first trial ended" in kept_run_text(state, "a")
    assert untested_best_text(state) == ""
    state = state_from_events([RunStarted(metric="f1"), *trial(0, 0.5)])
    assert kept_run_text(state, "a").startswith("1 trial is kept in the run a.")
    state = state_from_events([RunStarted(metric="f1"), *trial(0, 0.5), *trial(1, 0.75)])
    assert kept_run_text(state, "a").startswith("2 trials are kept in the run a.")
    assert untested_best_text(state) == (
        "Best:    F1, averaged over classes 75.0\N{NO-BREAK SPACE}% in validation, not tested\n"
        "Setting: C = 2"
    )
    step = HyperGradientStep(step=1, holdout_loss=0.5, d={"a": 0.0})
    state = state_from_events([RunStarted(kind="penalties", metric="f1"), step])
    assert untested_best(state)["groups"] == {"a": 1.0}
    assert untested_best(state)["validation"] == {"holdout_loss": 0.5}
    state.consume(TuningEnded())
    state.consume(RunFinished(results=Results()))
    assert "is complete; tunescope export a PATH" in kept_run_text(state, "a")
