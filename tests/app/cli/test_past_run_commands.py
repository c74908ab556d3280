"""`tunescope runs`, `replay`, `report`, `resume`, `pick` and `export`: past runs."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import replace

import pytest

from app.cli import main
from core.datasets.samples import SAMPLES
from core.tuning.cluster import shared_folder
from core.tuning.cluster.shared_folder import Beat, SharedFolder
from core.tuning.event_lines import from_json
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder, runs_root

QUICK = ["tune", "sample:iris", "--model", "logistic", "--option", "folds=3"]
RANDOM = ["--strategy", "random", "--trials", "4", "--seed", "1"]


@pytest.fixture
def runs(own_settings):
    return runs_root()


@pytest.fixture
def idle(runs):
    """Two runs that began and did no more."""
    for name in ("first", "second"):
        folder = RunFolder.create(Plan(DataPlan("sample:iris"), "svm", "gp"), path=runs / name)
        folder.append(RunStarted(run=name, dataset=DatasetFacts(name="iris"), started_at="2026"))
        folder.close()


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A finished run of four trials with a copy of its events; tests only add to it."""
    folder = tmp_path_factory.mktemp("ended")
    asked = [*QUICK, *RANDOM, "--run-dir", str(folder / "run"), "--events", str(folder / "copy")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TUNESCOPE_HISTORY", str(folder / "history.sqlite3"))
        assert main(asked) == 0
    return folder / "run"


def as_json(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def listed(capsys, *more):
    capsys.readouterr()
    assert main(["runs", *more, "--json"]) == 0
    return {run["name"]: run for run in json.loads(capsys.readouterr().out)}


def test_a_run_gets_a_name_and_a_note(capsys, idle):
    assert main(["runs", "rename", "first", "The good one"]) == 0
    assert "first is called “The good one” now" in capsys.readouterr().err
    assert main(["runs", "note", "first", "two\nlines"]) == 0
    run = listed(capsys)["first"]
    assert (run["title"], run["note"]) == ("The good one", "two\nlines")
    main(["runs", "note", "first"])
    assert capsys.readouterr().out == "two\nlines\n"
    main(["runs"])
    out = capsys.readouterr().out
    assert "The good one" in out
    assert "| lines" in out
    main(["runs", "rename", "first", ""])
    assert listed(capsys)["first"]["title"] == ""
    assert listed(capsys)["first"]["note"] == "two\nlines"


def test_the_workers_of_a_run_are_listed(capsys, idle, runs, monkeypatch):
    monkeypatch.setattr(shared_folder, "BEAT_SECONDS", 0.02)
    monkeypatch.setattr(shared_folder, "LOOK_SECONDS", 0.3)
    folder = SharedFolder(runs / "second")
    beat = Beat(name="process 7", host="\x1bnode", threads=2, trials=[4])
    with contextlib.closing(folder.join_run(beat)):
        folder.write("worker-dead", replace(beat, count=3, name="process 8"))
        main(["runs"])
        out = capsys.readouterr().out
        workers = listed(capsys)["second"]["workers"]
    assert "    1 worker on 1 computer, 1 at work, 2 trials at a time.\n" in out
    assert "    - process 7 on \N{REPLACEMENT CHARACTER}node: trial 4 (1 of 2)\n" in out
    assert "    - process 8 on \N{REPLACEMENT CHARACTER}node: no sign of life\n" in out
    facts = {(worker["name"], worker["usable"]) for worker in workers}
    assert facts == {("process 7", True), ("process 8", False)}
    assert listed(capsys)["first"]["workers"] == []


def test_a_deleted_run_is_in_the_bin_and_comes_back(capsys, idle):
    assert main(["runs", "delete", "first"]) == 0
    said = capsys.readouterr().err
    assert "in 30 days" in said
    assert "tunescope runs restore first" in said
    assert set(listed(capsys)) == {"second"}
    assert set(listed(capsys, "bin")) == {"first"}
    main(["runs", "bin"])
    assert "kept until" in capsys.readouterr().out
    assert main(["runs", "restore", "first"]) == 0
    assert set(listed(capsys)) == {"first", "second"}
    assert main(["runs", "bin"]) == 0
    assert "The bin is empty" in capsys.readouterr().err


def test_emptying_the_bin_removes_only_what_is_in_it(capsys, idle, runs):
    main(["runs", "delete", "second"])
    assert main(["runs", "bin", "--empty"]) == 0
    assert "Removed for good: 1 run." in capsys.readouterr().err
    assert set(listed(capsys)) == {"first"}
    assert not list((runs / "bin").iterdir())


def test_what_is_not_there_is_refused_in_one_line(capsys):
    for words in (["rename", "x", "y"], ["delete", "x"], ["restore", "x"], ["note", "x"]):
        assert main(["runs", *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "there is no run here" in line


def test_a_run_that_is_under_way_is_not_deleted(capsys, idle, runs):
    with RunFolder(runs / "first").hold_lock():
        assert main(["runs", "delete", "first"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "running" in line
    assert set(listed(capsys)) == {"first", "second"}


def test_a_run_is_listed_replayed_and_reported(capsys, ended, runs, tmp_path):
    last = (ended.parent / "copy").read_text().splitlines()[-1]
    assert isinstance(from_json(last), RunFinished)
    shutil.copytree(ended, runs / "mine")
    assert main(["runs"]) == 0
    assert "mine  finished" in capsys.readouterr().out
    assert main(["runs", "--json"]) == 0
    assert as_json(capsys)[0]["trials"] == 4
    assert main(["replay", "mine"]) == 0
    assert "Trial 0: accuracy" in capsys.readouterr().out
    assert main(["replay", "mine", "--json"]) == 0
    assert capsys.readouterr().out == (ended / "events.jsonl").read_text()
    assert main(["report", "mine", "--out", str(tmp_path / "r.html")]) == 0
    assert "<svg" in (tmp_path / "r.html").read_text()


def test_resume_goes_on_with_more_trials(capsys, ended, tmp_path):
    folder = str(shutil.copytree(ended, tmp_path / "mine"))
    for more in (["--trials", "2"], []):
        assert main(["resume", folder, *more, "--json"]) == 0
        assert as_json(capsys)["trials"] == 6
    for name in ("trials", "minutes"):
        assert main(["resume", folder, f"--{name}", "-1"]) == 2
        assert f"{name}: “-1” is out of range" in capsys.readouterr().err
    assert main(["resume", folder, "--stop", "--trials", "3"]) == 2
    assert "do not go together" in capsys.readouterr().err


@pytest.mark.slow
def test_resume_goes_on_for_more_minutes(tmp_path):
    run = tmp_path / "run"
    bound = ["--strategy", "random", "--minutes", "0.02", "--run-dir", str(run)]
    assert main([*QUICK, *bound]) == 0
    before = len(RunFolder.open(run).all_events())
    assert main(["resume", str(run), "--minutes", "0.04"]) == 0
    events = RunFolder.open(run).all_events()
    assert sum(isinstance(event, TrialFinished) for event in events[before:]) > 0


def test_resume_finds_both_files_from_another_folder(capsys, tmp_path, monkeypatch):
    table = SAMPLES["iris"].table()
    table.iloc[::2].to_csv(tmp_path / "a.csv", index=False)
    table.iloc[1::2].to_csv(tmp_path / "b.csv", index=False)
    monkeypatch.chdir(tmp_path)
    options = ["--model", "logistic", "--strategy", "random", "--trials", "1", "--json"]
    target = str(table.columns[-1])
    assert main(["tune", "a.csv", "--test", "b.csv", "--target", target, *options]) == 0
    result = as_json(capsys)
    assert result["dataset"]["rows"] == 75
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["resume", result["run"], "--trials", "1"]) == 0


def test_any_trial_and_the_default_can_be_taken_away(capsys, ended, tmp_path):
    run, path = shutil.copytree(ended, tmp_path / "run"), tmp_path / "model.json"
    assert main(["pick", str(run), "2", "--json", "--export", str(path)]) == 0
    picked = as_json(capsys)
    events = [from_json(line) for line in (run / "events.jsonl").read_text().splitlines()]
    second = next(e for e in events if isinstance(e, TrialFinished) and e.number == 2)
    assert picked["params"] == second.setting
    assert json.loads(path.read_text())["parameters"] == second.setting
    assert any("picked by hand" in remark for remark in picked["remarks"])
    assert main(["pick", str(run), "default", "--json"]) == 0
    assert as_json(capsys)["params"] == {"C": 1.0}
    best = max((e for e in events if isinstance(e, TrialFinished)), key=lambda e: e.score)
    taken = tmp_path / "best.json"
    assert main(["export", str(run), str(taken), "--which", "best"]) == 0
    assert json.loads(taken.read_text())["parameters"] == best.setting
    kept = (run / "events.jsonl").read_text().splitlines()[-1]
    assert from_json(kept).results.setting == best.setting  # from now on the run's own


@pytest.mark.parametrize("which", ["fastest", "99", "average", "-1"])
def test_a_pick_that_is_not_there_is_refused_in_a_sentence_and_changes_nothing(
    ended, capsys, which
):
    before = (ended / "events.jsonl").read_text()
    try:
        status = main(["pick", str(ended), which])
    except SystemExit as end:  # “-1” looks like an option
        status = end.code
    assert status == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert said.startswith("tunescope")
    assert (ended / "events.jsonl").read_text() == before


def test_another_model_than_the_tuned_one_is_exported(capsys, ended, tmp_path):
    run = str(ended)
    assert main(["export", run, "--json"]) == 0
    offered = as_json(capsys)
    assert [one["which"] for one in offered][:3] == ["tuned", "default", "baseline"]
    assert main(["export", run]) == 0
    assert "The baseline" in capsys.readouterr().out
    for which in ("default", "1", "baseline"):
        path = str(tmp_path / f"{which}.skops")
        assert main(["export", run, path, "--which", which, "--json"]) == 0
        said = as_json(capsys)
        assert said["exports"] == [path]
        assert said == {**said, **next(one for one in offered if one["which"] == which)}
    assert main(["export", run, str(tmp_path / "x.skops"), "--which", "fastest"]) == 2
    assert "choose tuned, default, baseline" in capsys.readouterr().err
    assert not (tmp_path / "x.skops").exists()
