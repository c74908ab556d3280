"""`tunescope tune` as people and scripts use it: what it prints, copies, exports and keeps."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from app.cli import main
from app.cli.interrupt_handler import INTERRUPTED
from app.cli.tune_command import _EventsCopy, leaderboard_of, result_text
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.export import exporters
from core.export.finished_run import finished_run
from core.extras import install_command, own_command
from core.tuning.event_lines import from_json
from core.tuning.events import RunFinished, RunStarted, TrialFinished
from core.tuning.problem_setup import read_data
from core.tuning.results import conclude
from core.tuning.results.result_facts import result_facts
from core.tuning.runs import run_folder
from core.tuning.runs.best import best_of
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.run_folder import RunFolder, runs_root
from core.tuning.runs.state import state_from_events
from core.wording import format_number

QUICK = ["tune", "sample:iris", "--model", "logistic", "--option", "folds=3"]
MM = ["--model", "logistic", "--strategy", "mm", "--json"]
ONE_TEST = [*MM, "--evaluation", "test"]
TOPICS = ["--strategy", "random", "--trials", "1", "--option", "folds=2", "--json"]
FIELDS = """run dataset model strategy params metric validation test default_test baseline_test gain
remarks findings evaluation fits trials seconds stopped_because seed candidates exports"""
KEYS = set(FIELDS.split())


@pytest.fixture
def runs(own_settings):
    return runs_root()


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(120, 3)), columns=["blood_a", "blood_b", "other"])
    frame["ill"] = np.where(frame["blood_a"] + 0.3 * random.normal(size=120) > 0, "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


def as_json(capsys) -> dict:
    return json.loads(capsys.readouterr().out.splitlines()[-1])


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
    assert lines[0].startswith("Predicts “ill”")
    told = zip(lines[1:], result["findings"], strict=False)
    assert all(line.startswith(f"Data: {one}") for line, one in told)
    assert len(result["findings"]) >= 3
    assert result["remarks"]  # some 29 test rows are few
    assert [f"Note: {one}" for one in result["remarks"]] == lines[-len(result["remarks"]) :]


def test_json_is_the_one_object_that_others_build_on(capsys, table):
    assert main(["tune", str(table), "--strategy", "mm", "--groups", "prefix", "--json"]) == 0
    result = as_json(capsys)
    assert set(result) == KEYS | {"groups"}
    facts = {"rows": 120, "features": 3, "task": "binary", "target": "ill"}
    assert result["dataset"] == facts
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
    assert f"Saved:   {paths[2]}" in said.out
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_under_the_copy_of_the_events_is_said_once_and_the_run_goes_on(capsys, runs):
    assert main([*QUICK, "--strategy", "mm", "--events", "/dev/full", "--json"]) == 0
    said = capsys.readouterr()
    sentence = "The copy of the events in /dev/full ends here (No space left on device); the run"
    assert said.err.count(sentence) == 1
    assert json.loads(said.out)["test"]
    (events,) = runs.glob("*/events.jsonl")
    assert isinstance(from_json(events.read_text().splitlines()[-1]), RunFinished)


def test_a_copy_of_the_events_has_the_rights_of_an_exported_file(tmp_path):
    before = os.umask(0o022)
    try:
        _EventsCopy(str(tmp_path / "events")).close()
    finally:
        os.umask(before)
    assert (tmp_path / "events").stat().st_mode & 0o777 == 0o644


def test_an_interrupted_run_tells_its_best_though_the_disk_is_full(capsys, runs, monkeypatch):
    usual = RunFolder.append

    def append(folder, event):
        usual(folder, event)
        if isinstance(event, TrialFinished) and event.number == 2:
            raise KeyboardInterrupt

    def conclude_run(*_run, **_options):
        raise UnusableError("the disk is full", where="run", cure="make room")

    monkeypatch.setattr(RunFolder, "append", append)
    monkeypatch.setattr(conclude, "conclude", conclude_run)
    assert main([*QUICK, "--strategy", "random", "--trials", "5"]) == 2
    output = capsys.readouterr()
    assert re.search(r"^Best: .*not tested$", output.out, re.MULTILINE)
    assert "trials are kept in the run" in output.err
    assert "the disk is full" in output.err


def test_an_interrupt_while_a_run_waits_for_the_disk_ends_it_at_once(capsys, runs, monkeypatch):
    usual = run_folder._append_line

    def append_line(file, line):
        if b'"TrialFinished"' in line and b'"number": 2' in line:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        usual(file, line)

    def interrupt(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_folder, "_append_line", append_line)
    monkeypatch.setattr(run_folder, "time", SimpleNamespace(sleep=interrupt))
    monkeypatch.setattr(conclude, "conclude", lambda *_a, **_o: pytest.fail("nothing is kept"))
    assert main([*QUICK, "--strategy", "random", "--trials", "5"]) == INTERRUPTED
    output = capsys.readouterr()
    assert "the disk is full. The run waits" in output.err
    assert re.search(r"^Best: .*not tested$", output.out, re.MULTILINE)
    assert "trials are kept in the run" in output.err


def test_an_average_says_who_is_in_it(capsys):
    plan = [*QUICK, "--strategy", "eb-hyp", "--trials", "20"]
    assert main([*plan, "--json"]) == 0
    result = as_json(capsys)
    assert set(result) == KEYS | {"ensemble", "params_of"}
    assert len(result["ensemble"]["members"]) == 2
    assert result["params"] == result["ensemble"]["settings"][0]
    assert main(["replay", result["run"]]) == 0
    said = capsys.readouterr().out
    assert said.count("Member:") == 2
    single = result["ensemble"]["single_held_out"]["log_loss"]
    assert f"Single:  log loss {format_number(single)}" in said
    assert "2 models are averaged after 20 trials." in said


@pytest.fixture
def visits(tmp_path):
    """Rows of patients, the first ten twice, with a column that leaks the target."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(160, 3)), columns=["a", "b", "c"])
    frame.insert(0, "patient", np.arange(160) % 40)
    frame["code"] = rng.integers(1, 5, 160)
    days = pd.date_range("2024-01-01", periods=160, freq="D").strftime("%Y-%m-%d")
    frame["seen"] = rng.permutation(days.to_numpy())
    frame.loc[:9, ["a", "b", "c", "code", "seen"]] = frame.loc[
        10:19, ["a", "b", "c", "code", "seen"]
    ].to_numpy()
    frame["ill"] = np.where(frame["a"] + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    frame.insert(2, "after", np.where(frame["ill"] == "yes", 5, 1) + rng.uniform(0, 1, 160))
    frame = frame.drop(columns="a")
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def tuned(capsys, *arguments):
    """The finished run of a command, and what it wrote beside its result."""
    assert main(["tune", *map(str, arguments)]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out.splitlines()[-1])
    return finished_run(RunFolder.open(result["run"])), said.err


def test_the_rows_of_a_group_are_on_one_side(capsys, visits):
    given = ["--role", "patient=group", "--role", "b=ignore", "--kind", "code=category"]
    run, _ = tuned(capsys, visits, *given, *ONE_TEST)
    assert run.plan.data.roles == {"patient": "group", "b": "ignore"}
    assert {c["name"]: c["kind"] for c in run.takeaway.columns}["code"] == "category"
    assert "b" not in run.takeaway.feature_names
    patients = pd.read_csv(visits)["patient"].to_numpy()
    assert not set(patients[run.takeaway.train_rows]) & set(patients[run.takeaway.test_rows])
    assert "Rows with the same “patient” stay on one side" in " ".join(run.takeaway.findings)


def test_the_latest_rows_test_and_what_is_proposed_is_printed_with_its_option(capsys, visits):
    run, said = tuned(capsys, visits, "--test-latest", "seen", *MM)
    seen = pd.read_csv(visits)["seen"].to_numpy()
    assert max(seen[run.takeaway.train_rows]) < min(seen[run.takeaway.test_rows])
    lines = [line for line in said.splitlines() if line.startswith("Data: ")]
    assert any(line.endswith("(--role patient=group)") for line in lines)
    assert any("“after” is left out: it leaks the target." in line for line in lines)
    assert any(line.endswith("(--role after=feature)") for line in lines)
    findings = run.takeaway.findings
    assert any(one.startswith("“patient” has 40 different values in 160 rows") for one in findings)
    assert "after" not in run.takeaway.feature_names


def test_a_column_that_gives_the_target_away_is_used_where_it_is_asked_for(capsys, visits):
    run, said = tuned(capsys, visits, "--role", "after=feature", *ONE_TEST)
    assert "after" in run.takeaway.feature_names
    assert "left out: it leaks the target" not in said
    assert "(--role after=ignore)" in said


def test_a_run_of_before_goes_on_with_its_rows_and_columns(capsys, visits):
    """A plan that says nothing of equal rows and leaks was made when neither was looked for."""
    run, _ = tuned(capsys, visits, "--no-together", "--leaks", *ONE_TEST)
    rows = run.takeaway.test_rows
    assert any((row in rows) != (row + 10 in rows) for row in range(10))
    plain = json.loads((run.folder.path / "plan.json").read_text())
    for field in ("together", "latest", "leaks"):
        del plain["data"][field]
    (run.folder.path / "plan.json").write_text(json.dumps(plain))
    assert read_data(run.folder.plan.data).units is None
    assert main(["resume", run.folder.name, "--trials", "1", "--json"]) == 0
    resumed = finished_run(run.folder).takeaway
    assert resumed.test_rows == rows
    assert "after" in resumed.feature_names


def test_the_texts_of_a_column_and_the_words_that_count(tmp_path, capsys):
    posts = SAMPLES["texts"].table().drop(columns="id")
    posts["mark"] = ["ab"[i % 2] for i in range(len(posts))]
    posts.to_csv(tmp_path / "posts.csv", index=False)
    folder = tmp_path / "run"
    asked = ["--task", "topics", "--target", "text", "--run-dir", str(folder)]
    words = ["--option", "vocabulary=40", "--option", "stop_words=none"]
    assert main(["tune", str(tmp_path / "posts.csv"), *asked, *words, *TOPICS]) == 0
    said = capsys.readouterr()
    assert "lda on posts.csv (400 texts), strategy random" in said.err
    result = json.loads(said.out.splitlines()[-1])
    assert result["dataset"] == {"rows": 400, "features": 1, "task": "topics"}
    assert set(result["test"]) == {"completion", "perplexity"}
    run = RunFolder.open(folder)
    data = run.plan.data
    assert (run.plan.model, data.task, data.target) == ("lda", "topics", "text")
    assert (data.vocabulary, data.stop_words) == (40, "none")
    counting = best_of(run)[0].named_steps["columns"]
    assert len(counting.vocabulary_) == 40
    assert "the" in counting.vocabulary_ or "and" in counting.vocabulary_


def test_counts_become_topics_by_the_model_alone(tmp_path, capsys):
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(0.5, (300, 20)).astype(float))
    dump_svmlight_file(counts, np.arange(300) % 2, str(tmp_path / "words.libsvm"))
    assert main(["tune", str(tmp_path / "words.libsvm"), "--model", "lda", *TOPICS]) == 0
    assert as_json(capsys)["dataset"] == {"rows": 300, "features": 20, "task": "topics"}


def test_without_jax_a_deep_model_is_listed_and_refused_with_what_installs_it(
    capsys, monkeypatch, runs
):
    install = install_command("deep")
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["models"]) == 0
    of_dlgm = capsys.readouterr().out.partition("dlgm: ")[2].partition("\ncrf: ")[0]
    assert f"\n    Needs jax: {install}\n" in of_dlgm
    assert main(["tune", "sample:iris", "--model", "dlgm", "--strategy", "random"]) == 2
    assert capsys.readouterr().err == (
        "tunescope: deep latent Gaussian models need jax, which is missing here; "
        f"install it with: {install}.\n"
    )
    assert not list(runs.glob("*"))


@pytest.mark.parametrize(
    ("file", "more", "ending", "sentence"),
    [
        ("sample:tags", [], ".skops", "a run on sequences has no skops export"),
        ("sample:molecules", [], ".joblib", "a run on molecules has no joblib export"),
        ("sample:texts", ["--model", "lda"], ".skops", "documents has no skops export; end the"),
    ],
)
def test_an_export_that_does_not_fit_is_refused_before_the_tuning(
    tmp_path, capsys, monkeypatch, file, more, ending, sentence
):
    monkeypatch.setattr("core.tuning.tune.tune", lambda *_a, **_k: pytest.fail("it began to tune"))
    monkeypatch.setattr(exporters, "export_run", lambda *_: pytest.fail("it exported"))
    assert main(["tune", file, *more, "--export", str(tmp_path / f"model{ending}")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert sentence in line


def orders_file(folder):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"left": random.permutation(["no", "yes"] * 60)})
    table["age"], table["amount"] = random.normal(size=(2, 120))
    table.to_csv(folder / "orders.csv", index=False)
    return str(folder / "orders.csv")


def test_a_target_that_is_not_clear_is_asked_for_or_refused(tmp_path, capsys, monkeypatch):
    file = orders_file(tmp_path)
    assert main(["tune", file, *ONE_TEST]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--target 'left'" in line
    assert "--target 'amount'" in line
    table = pd.read_csv(file)
    table["class"], table["label"] = table["age"] > 0, table["amount"] > 0
    table.to_csv(twice := str(tmp_path / "twice.csv"), index=False)
    assert main(["tune", twice, *ONE_TEST]) == 2
    assert "“label” and “class” may both be what is predicted" in capsys.readouterr().err
    # By its name it is y, by its place the last.
    middle = table[["age", "amount"]].rename(columns={"amount": "y"})
    middle.assign(z=table["age"] ** 2, fault=np.where(middle["y"] > 0, "yes", "no")).to_csv(
        places := str(tmp_path / "places.csv"), index=False
    )
    assert main(["tune", places, *ONE_TEST]) == 2
    assert "“y” and “fault” may both be what is predicted" in capsys.readouterr().err
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdin, "readline", lambda: "1\n", raising=False)
    assert main(["tune", file, *ONE_TEST]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dataset"]["target"] == "left"
    assert "Which column" in err
    assert main(["tune", file, *MM, "--model", "linear", "--target", "amount"]) == 0
    assert json.loads(capsys.readouterr().out)["dataset"]["target"] == "amount"


def test_a_run_beside_an_empty_folder_of_runs_names_itself(capsys, table, runs, monkeypatch):
    monkeypatch.chdir(table.parent)
    options = ["--model", "naive-bayes", "--strategy", "random", "--trials", "2"]
    assert main(["tune", str(table), *options, "--target", "ill", "--run-dir", "mine"]) == 0
    assert " predict mine NEW_ROWS" in capsys.readouterr().out


def test_a_result_is_twelve_lines_and_its_last_one_runs(tmp_path, capsys, table, runs, monkeypatch):
    assert main(["tune", str(table), *ONE_TEST[:-3], "--evaluation", "test"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) <= 12
    assert "“ill”: Right for" in lines[0]
    assert re.match(r"Predicts “ill” \((about|under) .*\); --target NAME names another", err)
    name, command = (line[9:] for line in lines if line.startswith(("Run:", "Next:")))
    answers = str(tmp_path / "answers.csv")
    # The words run as they are printed, also where no tunescope is on the path.
    assert command.startswith(f"{own_command()} predict last ")
    command = command.removeprefix(own_command()).replace("NEW_ROWS", str(table))
    words = ["", *command.replace("answers.csv", answers).split()]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    leftovers = tmp_path / "tunescope-predict-killed"  # the model of a killed command
    leftovers.mkdir()
    (leftovers / "owner").touch()
    for which in ("last", name, name[5:20]):
        assert main(["predict", which, *words[3:]]) == 0
    assert len(pd.read_csv(answers)) == 120
    assert not list(tmp_path.glob("tunescope-predict-*"))
    assert main(["predict", "nowhere", *words[3:]]) == 2
    assert main(["tune", str(table), *ONE_TEST[:-3], "--verbose"]) == 0
    assert "Tested:" in capsys.readouterr().out
    assert main(["report", "patients", "--out", answers]) == 2
    assert "2 runs have this" in capsys.readouterr().err


def result_lines(race, events, **changes):
    return result_text(race.results(**changes), state_from_events(events)).splitlines()


def test_the_leaderboard_is_what_the_trials_say(race):
    svm, logistic, forest = leaderboard_of(state_from_events(race.run()))
    assert [one["model"] for one in (svm, logistic, forest)] == ["svm", "logistic", "forest"]
    assert svm["validation"] == {"accuracy": 0.8}
    assert (forest["validation"], logistic["estimate"]) == ({}, {})
    assert forest["estimate"] == {"accuracy": 0.66}  # the better of 0.61 and 0.66
    assert forest["ended_early"] == 2
    assert leaderboard_of(state_from_events([RunStarted(plan={"model": "svm"})])) == []


def test_the_result_lists_the_models_that_were_tried(race):
    said = result_lines(race, race.run())
    assert "Model:   svm, 80.0\u00a0% in validation (3 s)" in said
    assert "Model:   forest, about 66.0\u00a0% in validation, ended early (0 s)" in said
    assert "Setting: svm: C = 10, gamma = 0.01" in said
    said = result_lines(race, race.run(), untried={"forest": 180.0})
    assert "Untried: 2 of 3 models tried; a random forest would have needed 3 min more." in said
    assert not any(line.startswith("Model:   forest") for line in said)
    started = [race.begun(), race.compared([])]
    assert sum("no score" in line for line in result_lines(race, started)) == 3
    row = replace(model_leaderboard(state_from_events(started))[0], best=0.0)
    facts = result_facts(race.results(), race.begun(), [row])
    assert any("0.0\u00a0% in validation" in fact.value for fact in facts)
