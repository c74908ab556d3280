"""`tunescope runs`: names, notes and the bin from the command line."""

import json

import pytest

from app.cli import main
from core.tuning.events import RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    for name in ("first", "second"):
        plan = Plan(DataPlan("sample:iris"), "svm", "gp")
        folder = RunFolder.create(plan, path=tmp_path / "runs" / name)
        folder.append(RunStarted(run=name, dataset=DatasetFacts(name="iris"), started_at="2026"))
        folder.close()
    return tmp_path / "runs"


def listed(capsys, *more):
    capsys.readouterr()
    assert main(["runs", *more, "--json"]) == 0
    return {run["name"]: run for run in json.loads(capsys.readouterr().out)}


def test_a_run_gets_a_name_and_a_note(capsys):
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


def test_a_deleted_run_is_in_the_bin_and_comes_back(capsys, root):
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


def test_emptying_the_bin_removes_only_what_is_in_it(capsys, root):
    main(["runs", "delete", "second"])
    assert main(["runs", "bin", "--empty"]) == 0
    assert "Removed for good: 1 run." in capsys.readouterr().err
    assert set(listed(capsys)) == {"first"}
    assert not list((root / "bin").iterdir())


def test_what_is_not_there_is_refused_in_one_line(capsys):
    for words in (["rename", "x", "y"], ["delete", "x"], ["restore", "x"], ["note", "x"]):
        assert main(["runs", *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "there is no run here" in line


def test_a_run_that_is_under_way_is_not_deleted(capsys, root):
    with RunFolder(root / "first").hold_lock():
        assert main(["runs", "delete", "first"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "running" in line
    assert set(listed(capsys)) == {"first", "second"}
