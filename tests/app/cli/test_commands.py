"""The command line as people and scripts use it: outputs, exit statuses, one-line complaints."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from core.errors import UnusableError
from core.export import exporters
from core.tuning.event_lines import from_json
from core.tuning.events import RunFinished, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.best import has_best
from core.tuning.runs.run_folder import RunFolder

ROOT = Path(__file__).parents[3]
QUICK = ["tune", "sample:iris", "--model", "logistic", "--option", "folds=3"]
KEYS = {
    "run",
    "dataset",
    "model",
    "strategy",
    "params",
    "metric",
    "validation",
    "test",
    "default_test",
    "baseline_test",
    "gain",
    "remarks",
    "findings",
    "evaluation",
    "fits",
    "trials",
    "seconds",
    "stopped_because",
    "seed",
    "exports",
}


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path / "runs"
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(120, 3)), columns=["blood_a", "blood_b", "other"])
    frame["ill"] = np.where(frame["blood_a"] + 0.3 * random.normal(size=120) > 0, "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


def test_findings_and_remarks_are_told_and_in_the_object(capsys, table):
    frame = pd.read_csv(table)
    frame.loc[::5, "ill"] = None
    frame["always"] = 1
    frame["twin"] = frame["ill"].map({"yes": "ja", "no": "nein"})
    frame[[*frame.columns.drop("ill"), "ill"]].to_csv(table, index=False)
    asked = ["--strategy", "mm", "--evaluation", "test", "--json"]
    assert main(["tune", str(table), *asked]) == 0
    told = capsys.readouterr()
    result = json.loads(told.out.splitlines()[-1])
    lines = told.err.splitlines()
    assert "Data: 24 of 120 rows have no value in the target “ill” and are left out." in lines
    assert "Data: “always” is left out: the same value in every row." in lines
    [twin] = [line for line in lines if line.startswith("Data: “twin” is left out: it leaks the")]
    assert twin.endswith("(--role twin=feature)")
    told = zip(lines, result["findings"], strict=False)
    assert all(line.startswith(f"Data: {one}") for line, one in told)
    assert len(result["findings"]) >= 3
    assert result["remarks"]  # some 29 test rows are few
    assert [f"Note: {one}" for one in result["remarks"]] == lines[-len(result["remarks"]) :]


def as_json(capsys) -> dict:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def complaint(capsys) -> str:
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    return lines[-1]


def test_json_is_the_one_object_that_others_build_on(capsys, table):
    assert main(["tune", str(table), "--strategy", "mm", "--groups", "prefix", "--json"]) == 0
    result = as_json(capsys)
    assert set(result) == KEYS | {"groups"}
    assert result["dataset"] == {"rows": 120, "features": 3, "task": "binary"}
    assert (result["model"], result["strategy"], result["seed"]) == ("logistic", "mm", 0)
    assert set(result["groups"]) >= {"blood"}
    assert 0.5 < result["test"]["accuracy"] <= 1
    assert 0.4 < result["baseline_test"]["accuracy"] < 0.7
    gain = result["gain"]
    assert set(gain) == {"metric", "value", "low", "high", "likely_real"}
    better = result["test"]["accuracy"] - result["default_test"]["accuracy"]
    assert gain["value"] == pytest.approx(better)
    assert gain["low"] <= gain["value"] <= gain["high"]


def test_trials_are_counted_and_the_seed_repeats_them(capsys):
    commands = [*QUICK, "--strategy", "gp", "--trials", "6", "--seed", "4", "--json"]
    first, second = [main(commands) or as_json(capsys) for _ in range(2)]
    assert first["trials"] == 6
    assert first["fits"] == 18
    assert set(first) == KEYS
    same = ("params", "validation", "test", "default_test", "stopped_because")
    assert {k: first[k] for k in same} == {k: second[k] for k in same}


def test_without_a_choice_the_guidance_decides_and_words_come_out(capsys, table):
    assert main(["tune", str(table), "--trials", "9"]) == 0
    said = capsys.readouterr().out
    assert "of the test set" in said
    assert "Gain:" in said


def test_the_target_and_a_second_file(capsys, table, tmp_path):
    frame = pd.read_csv(table)
    frame.iloc[:80].to_csv(tmp_path / "a.csv", index=False)
    frame.iloc[80:].to_csv(tmp_path / "b.csv", index=False)
    given = ["tune", str(tmp_path / "a.csv"), "--test", str(tmp_path / "b.csv"), "--json"]
    assert main([*given, "--target", "ill", "--strategy", "mm"]) == 0
    assert as_json(capsys)["dataset"]["rows"] == 80


@pytest.mark.parametrize("defect", [ValueError("2 is not 1"), UnusableError("no counterpart")])
def test_a_failing_export_takes_nothing_else_with_it(capsys, table, tmp_path, monkeypatch, defect):
    def fail(*_):
        raise defect

    working = exporters.EXPORTERS["joblib"]
    broken = {form: replace(held, write=fail) for form, held in working.forms.items()}
    monkeypatch.setitem(exporters.EXPORTERS.own_entries, "joblib", replace(working, forms=broken))
    paths = [str(tmp_path / name) for name in ("a.json", "b.joblib", "c.skops")]
    exports = [part for path in paths for part in ("--export", path)]
    assert main(["tune", str(table), "--strategy", "mm", "--json", *exports]) == 1
    said = capsys.readouterr()
    result = json.loads(said.out.splitlines()[-1])
    assert result["exports"] == [paths[0], paths[2]]
    assert all(Path(path).stat().st_size for path in result["exports"])
    assert list(result["failed_exports"]) == [paths[1]]
    assert result["test"]["accuracy"] > 0.5
    complaints = [line for line in said.err.splitlines() if line.startswith("tunescope:")]
    assert complaints == [f"tunescope: {result['failed_exports'][paths[1]]}"]
    assert ("2 is not 1" if isinstance(defect, ValueError) else "no counterpart") in complaints[0]
    # In words, and from a finished run, it is the same.
    assert main(["resume", result["run"], "--export", paths[1], "--export", paths[2]]) == 1
    said = capsys.readouterr()
    assert f"Saved:  {paths[2]}" in said.out
    assert paths[1] not in said.out


def test_exports_are_written_and_predict_agrees_with_the_test_score(capsys, table, tmp_path):
    paths = [tmp_path / f"out.{ending}" for ending in ("skops", "joblib", "json", "py", "html")]
    exports = [part for path in paths for part in ("--export", str(path))]
    assert main(["tune", str(table), "--strategy", "mm", "--json", *exports]) == 0
    assert as_json(capsys)["exports"] == [str(path) for path in paths]
    assert all(path.stat().st_size > 100 for path in paths)
    outputs = []
    for model in paths[:2]:
        out = tmp_path / f"{model.suffix[1:]}.csv"
        trust = ["--trust"] if model.suffix == ".joblib" else []
        assert main(["predict", str(model), str(table), "--out", str(out), *trust]) == 0
        outputs.append(out.read_text())
    assert outputs[0] == outputs[1]
    predicted = pd.read_csv(tmp_path / "skops.csv")
    assert (predicted["prediction"] == pd.read_csv(table)["ill"]).mean() > 0.8


def test_events_are_copied_and_the_run_is_listed_replayed_and_reported(capsys, runs, tmp_path):
    events = tmp_path / "events.jsonl"
    assert main([*QUICK, "--strategy", "random", "--trials", "3", "--events", str(events)]) == 0
    assert isinstance(from_json(events.read_text().splitlines()[-1]), RunFinished)
    (folder,) = runs.iterdir()
    capsys.readouterr()
    assert main(["runs"]) == 0
    assert f"{folder.name}  finished" in capsys.readouterr().out
    assert main(["runs", "--json"]) == 0
    assert as_json(capsys)[0]["trials"] == 3
    assert main(["replay", folder.name]) == 0
    assert "Trial 0: accuracy" in capsys.readouterr().out
    assert main(["replay", folder.name, "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == (folder / "events.jsonl").read_text().splitlines()
    assert main(["report", folder.name, "--out", str(tmp_path / "r.html")]) == 0
    assert "<svg" in (tmp_path / "r.html").read_text()


def test_resume_goes_on_with_more_trials(capsys, tmp_path):
    folder = tmp_path / "mine"
    where = ["--run-dir", str(folder)]
    assert main([*QUICK, "--strategy", "gp", "--trials", "3", *where]) == 0
    capsys.readouterr()
    assert main(["resume", str(folder), "--trials", "2", "--json"]) == 0
    assert as_json(capsys)["trials"] == 5
    assert main(["resume", str(folder), "--json"]) == 0
    assert as_json(capsys)["trials"] == 5
    assert main(["resume", str(folder), "--trials", "-1"]) == 2
    assert "trials: “-1” is out of range" in complaint(capsys)


def test_resume_finds_the_file_from_another_folder(capsys, table, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(table.parent)
    run = ["--run-dir", str(tmp_path / "mine")]
    options = ["--model", "logistic", "--strategy", "random", "--trials", "1"]
    assert main(["tune", table.name, "--test", table.name, *options, *run]) == 0
    monkeypatch.chdir(elsewhere)
    assert main(["resume", run[1], "--trials", "1"]) == 0


@pytest.mark.parametrize("command", ["models", "strategies", "samples"])
def test_lists_speak_to_people_and_to_programs(capsys, command):
    assert main([command]) == 0
    words = capsys.readouterr().out
    assert main([command, "--json"]) == 0
    entries = as_json(capsys)
    assert len(entries) >= 5
    assert all(entry["name"] in words and entry["title"] in words for entry in entries)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tune", "nowhere.csv"], "nowhere.csv"),
        (["tune", "sample:irsi"], "iris"),
        (["tune", "sample:iris", "--model", "tree"], "there is no model “tree”"),
        (["tune", "sample:iris", "--strategy", "sgd"], "there is no strategy “sgd”"),
        (["tune", "sample:iris", "--model", "svm", "--strategy", "mm"], "mm learns the penalties"),
        ([*QUICK, "--strategy", "mm", "--option", "beta=0"], "option beta: “0” is out of range"),
        ([*QUICK, "--strategy", "hybrid", "--option", "tau=2"], "option tau: “2” is out of range"),
        ([*QUICK, "--strategy", "gp", "--option", "tau"], "“tau” is not KEY=VALUE"),
        ([*QUICK, "--option", "folds=x"], "option folds: “x” is not a number"),
        ([*QUICK, "--trials", "0", "--strategy", "gp"], "trials: “0” is out of range"),
        ([*QUICK, "--trials", "many"], "invalid int value"),
        ([*QUICK, "--export", "model.xyz"], "model.xyz"),
        ([*QUICK, "--groups", "missing.json"], "missing.json"),
        ([*QUICK, "--target", "colour"], "colour"),
        ([*QUICK, "--seed", "99999999999"], "give 0 to 4,294,967,295"),
        ([*QUICK, "--minutes", "nan"], "minutes: “nan” is out of range"),
        ([*QUICK, "--minutes", "inf"], "minutes: “inf” is out of range"),
        ([*QUICK, "--memory", "much"], "memory: “much” is no size of memory"),
        ([*QUICK, "--workers", "100000"], "workers: “100000” is out of range"),
        ([*QUICK, "--option", "time_limit=nan"], "time limit: “nan” is out of range"),
        ([*QUICK, "--option", "standardize=maybe"], "give yes or no"),
        ([*QUICK, "--strategy", "mm", "--option", "beta=inf"], "option beta: “inf”"),
        (["tune", "sample:iris", "--strategy", "gp", "--option", "folds=99"], "99 folds"),
        ([*QUICK, "--export", "nowhere/model.skops"], "there is no such folder"),
        ([*QUICK, "--events", "nowhere/events.jsonl"], "the events cannot be written"),
        (["resume", "no-such-run"], "there is no run here"),
        (["reproduce", "foo-table9"], "there is no reproduction “foo-table9”"),
        (["reproduce", "foo-table2", "--data", "nowhere"], "--data nowhere"),
        (["predict", "nothing.skops", "x.csv"], "nothing.skops"),
        (["tuen", "x.csv"], "invalid choice"),
    ],
)
def test_what_is_unusable_gets_one_line_and_status_2(capsys, arguments, sentence):
    try:
        status = main(arguments)
    except SystemExit as left:
        status = left.code
    assert status == 2
    line = complaint(capsys)
    assert line.startswith("tunescope")
    assert sentence in line


@pytest.mark.parametrize(
    "wrong",
    [
        ["--strategy", "hybrid", "--option", "tau=2"],
        ["--strategy", "mm", "--option", "alpha=-99"],
        ["--events", "nowhere/events.jsonl"],
    ],
)
def test_a_bad_plan_leaves_no_folder(capsys, runs, wrong):
    assert main([*QUICK, *wrong]) == 2
    assert not runs.exists() or not list(runs.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_under_the_copy_of_the_events_is_said_once_and_the_run_goes_on(capsys, runs):
    assert main([*QUICK, "--strategy", "mm", "--events", "/dev/full", "--json"]) == 0
    said = capsys.readouterr()
    sentence = "The copy of the events in /dev/full ends here (No space left on device); the run"
    assert said.err.count(sentence) == 1
    assert json.loads(said.out)["test"]
    (events,) = runs.glob("*/events.jsonl")
    assert isinstance(from_json(events.read_text().splitlines()[-1]), RunFinished)


CHILDREN: list[subprocess.Popen] = []


@pytest.fixture(autouse=True)
def no_child_outlives_its_test():
    """A run of hundreds of trials would go on for hours where a test fails before it ends it."""
    yield
    for child in CHILDREN:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    CHILDREN.clear()


def started(arguments, runs) -> tuple[subprocess.Popen, Path]:
    """The command in a process of its own, once two of its trials have ended."""
    child = subprocess.Popen(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env=os.environ | {"TUNESCOPE_RUNS": str(runs)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    CHILDREN.append(child)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        for folder in runs.glob("*/events.jsonl"):
            if folder.read_text().count('"TrialFinished"') >= 2:
                return child, folder.parent
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    raise AssertionError(child.communicate()[1])


LONG = ["tune", "sample:digits", "--model", "forest", "--strategy", "random", "--trials", "500"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_best_so_far(runs, how):
    child, folder = started([*LONG, "--json"], runs)
    os.killpg(child.pid, how)
    out, err = child.communicate(timeout=90)
    assert child.returncode == 130, err
    result = json.loads(out.splitlines()[-1])
    assert result["stopped_because"] == "it was interrupted"
    assert result["trials"] >= 2
    assert has_best(RunFolder(folder))
    assert "Traceback" not in err


def test_after_a_kill_the_run_can_be_resumed(capsys, runs):
    child, folder = started([*LONG[:-1], "4"], runs)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    capsys.readouterr()
    assert main(["runs"]) == 0
    assert "interrupted" in capsys.readouterr().out
    assert main(["resume", folder.name, "--json"]) == 0
    assert as_json(capsys)["trials"] == 4


def test_an_average_says_who_is_in_it(capsys):
    plan = [*QUICK, "--strategy", "eb-hyp", "--trials", "20"]
    assert main([*plan, "--json"]) == 0
    result = as_json(capsys)
    assert set(result) == KEYS | {"ensemble"}
    assert len(result["ensemble"]["members"]) == 2
    assert result["params"] == result["ensemble"]["settings"][0]
    assert main(plan) == 0
    said = capsys.readouterr()
    assert said.out.count("Member:") == 2
    single = result["ensemble"]["single_held_out"]["log_loss"]
    assert f"Single:  log_loss {single:.4g}" in said.out
    assert "2 models are averaged after 20 trials." in said.err


def test_another_model_than_the_tuned_one_is_exported(capsys, tmp_path):
    assert main([*QUICK, "--strategy", "random", "--trials", "2", "--json"]) == 0
    result = as_json(capsys)
    assert main(["export", result["run"], "--json"]) == 0
    offered = as_json(capsys)
    assert [one["which"] for one in offered][:3] == ["tuned", "default", "baseline"]
    assert main(["export", result["run"]]) == 0
    assert "The baseline" in capsys.readouterr().out
    for which in ("default", "1", "baseline"):
        path = str(tmp_path / f"{which}.skops")
        assert main(["export", result["run"], path, "--which", which, "--json"]) == 0
        said = as_json(capsys)
        assert said["exports"] == [path]
        assert said == {**said, **next(one for one in offered if one["which"] == which)}
    assert main(["export", result["run"], str(tmp_path / "x.skops"), "--which", "best"]) == 2
    assert "choose tuned, default, baseline" in capsys.readouterr().err
    assert not (tmp_path / "x.skops").exists()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", (4.0, "hand", 0.8)),
        ("7.5", (7.5, "hand", 0.8)),
        ("best", (4.0, "f1", 0.8)),
        ("sensitivity=0.9", (4.0, "sensitivity", 0.9)),
    ],
)
def test_the_trade_off_of_base_pairs_is_given_or_chosen(given, expected):
    from app.cli.plan_from_arguments import _gamma_fields

    plan = Plan(DataPlan("sample:molecules"), "rna", "mm", **_gamma_fields(given))
    assert (plan.gamma, plan.gamma_by, plan.sensitivity) == expected


@pytest.mark.parametrize("given", ["much", "sensitivity=", "share=0.9"])
def test_what_is_no_trade_off_is_refused(given):
    from app.cli.plan_from_arguments import _gamma_fields

    with pytest.raises(UnusableError, match="is no γ"):
        _gamma_fields(given)


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_a_model_that_can_run_code_asks_first(capsys, monkeypatch, tmp_path, table):
    model = tmp_path / "model.joblib"
    quick = ["--model", "logistic", "--strategy", "random", "--trials", "1"]
    assert main(["tune", str(table), *quick, "--export", str(model)]) == 0
    predict = ["predict", str(model), str(table)]
    capsys.readouterr()
    assert main(predict) == 2  # nobody is there to be asked
    assert "--trust" in complaint(capsys)
    assert main([*predict, "--trust"]) == 0
    said = capsys.readouterr().out
    assert "prediction" in said.splitlines()[0].split(",")
    for answer, status in (("no\n", 2), ("\n", 2), ("", 2), ("yes\n", 0)):
        asked = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", Terminal(answer))
            patch.setattr(sys, "stderr", asked)
            assert main(predict) == status
        assert "can run any code that is in it" in asked.getvalue()
    assert capsys.readouterr().out == said


def test_resume_goes_on_for_more_minutes(capsys, tmp_path):
    run = tmp_path / "run"
    line = ["tune", "sample:iris", "--minutes", "0.05", "--run-dir", str(run)]
    assert main(line) == 0
    before = len(RunFolder.open(run).all_events())
    assert main(["resume", str(run), "--minutes", "0.15"]) == 0
    events = RunFolder.open(run).all_events()
    assert sum(isinstance(event, TrialFinished) for event in events[before:]) > 0
    capsys.readouterr()
    assert main(["resume", str(run), "--minutes", "-1"]) == 2
    assert "minutes: “-1” is out of range" in complaint(capsys)
