"""Roles, kinds and the way rows are divided, given on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from core.export.finished_run import finished_run
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder

MM = ["--model", "logistic", "--strategy", "mm", "--json"]
ONE_TEST = [*MM, "--evaluation", "test"]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
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
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_rows_of_a_group_are_on_one_side(capsys, table):
    given = ["--role", "patient=group", "--role", "b=ignore", "--kind", "code=category"]
    assert main(["tune", str(table), *given, *ONE_TEST]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    run = finished_run(RunFolder.open(result["run"]))
    assert run.plan.data.roles == {"patient": "group", "b": "ignore"}
    assert {c["name"]: c["kind"] for c in run.takeaway.columns}["code"] == "category"
    assert "b" not in run.takeaway.feature_names
    patients = pd.read_csv(table)["patient"].to_numpy()
    assert not set(patients[run.takeaway.train_rows]) & set(patients[run.takeaway.test_rows])
    assert "Rows with the same “patient” stay on one side" in " ".join(run.takeaway.findings)


def test_the_latest_rows_test(capsys, table):
    assert main(["tune", str(table), "--test-latest", "seen", *MM]) == 0
    run = finished_run(RunFolder.open(json.loads(capsys.readouterr().out)["run"]))
    seen = pd.read_csv(table)["seen"].to_numpy()
    assert max(seen[run.takeaway.train_rows]) < min(seen[run.takeaway.test_rows])


def test_what_is_proposed_is_printed_with_its_option(capsys, table):
    assert main(["tune", str(table), *MM]) == 0
    said = capsys.readouterr()
    lines = [line for line in said.err.splitlines() if line.startswith("Data: ")]
    assert any(line.endswith("(--role patient=group)") for line in lines)
    assert any(line.endswith("(--test-latest seen)") for line in lines)
    found = json.loads(said.out)["findings"]
    assert any(one.startswith("“patient” has 40 different values in 160 rows") for one in found)


def test_equal_rows_can_be_divided_all_the_same(capsys, table):
    found = {}
    for option in ("--together", "--no-together"):
        assert main(["tune", str(table), "--role", "patient=ignore", option, *ONE_TEST]) == 0
        run = finished_run(RunFolder.open(json.loads(capsys.readouterr().out)["run"]))
        test = set(run.takeaway.test_rows)
        found[option] = sum((k in test) != (k + 10 in test) for k in range(10))
    assert found["--together"] == 0
    assert found["--no-together"] > 0


def test_a_run_of_before_goes_on_with_its_rows(capsys, table):
    """A plan that does not say whether equal rows stay together was made when they did not."""
    assert main(["tune", str(table), "--no-together", *ONE_TEST]) == 0
    folder = RunFolder.open(json.loads(capsys.readouterr().out)["run"])
    rows = finished_run(folder).takeaway.test_rows
    plain = json.loads((folder.path / "plan.json").read_text())
    for field in ("together", "latest", "leaks"):
        del plain["data"][field]
    (folder.path / "plan.json").write_text(json.dumps(plain))
    assert read_data(folder.plan.data).units is None
    assert main(["resume", folder.name, "--trials", "1", "--json"]) == 0
    assert finished_run(folder).takeaway.test_rows == rows


@pytest.fixture
def telling(table):
    """The same table with a column that leaks the target."""
    frame = pd.read_csv(table)
    noise = np.random.default_rng(5).uniform(0, 1, len(frame))
    frame.insert(2, "after", np.where(frame["ill"] == "yes", 5, 1) + noise)
    frame = frame.drop(columns="a")
    frame.to_csv(table, index=False)
    return table


def test_a_column_that_gives_the_target_away_is_left_out_unless_it_is_asked_for(capsys, telling):
    used = {}
    for given in ((), ("--role", "after=feature"), ("--leaks",)):
        assert main(["tune", str(telling), *given, *ONE_TEST]) == 0
        said = capsys.readouterr()
        run = finished_run(RunFolder.open(json.loads(said.out.splitlines()[-1])["run"]))
        used[given] = "after" in run.takeaway.feature_names
        lines = " ".join(line for line in said.err.splitlines() if line.startswith("Data: "))
        assert ("“after” is left out: it leaks the target." in lines) != used[given]
        option = "--role after=ignore" if used[given] else "--role after=feature"
        assert f"({option})" in lines
        assert any("target" in one and "after" in one for one in run.takeaway.findings)
    assert list(used.values()) == [False, True, True]


def test_a_run_of_before_goes_on_with_a_column_that_gives_the_target_away(capsys, telling):
    assert main(["tune", str(telling), "--leaks", *ONE_TEST]) == 0
    folder = RunFolder.open(json.loads(capsys.readouterr().out)["run"])
    plain = json.loads((folder.path / "plan.json").read_text())
    assert plain["data"].pop("leaks") is True
    (folder.path / "plan.json").write_text(json.dumps(plain))
    assert main(["resume", folder.name, "--trials", "1", "--json"]) == 0
    assert "after" in finished_run(folder).takeaway.feature_names


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--role", "patint=group"], "there is no column “patint”; did you mean “patient”"),
        (["--role", "patient=grp"], "column patient: “grp” is no role; use target, feature, group"),
        (["--role", "patient"], "--role: “patient” is not COLUMN=ROLE; write for example"),
        (["--role", "patient=group", "--role", "patient=ignore"], "is there as group and as"),
        (["--role", "ill=ignore"], "“ill” is what is predicted"),
        (["--role", "a=group", "--role", "b=group"], "2 columns have the role group"),
        (["--kind", "code=words"], "column code: “words” is no kind"),
        (["--kind", "cod=category"], "there is no column “cod”; did you mean “code”"),
        (["--kind", "=category"], "--kind: “=category” is not COLUMN=KIND"),
        (["--test-latest", "when"], "there is no column “when”"),
        (["--test-latest", "ill"], "the column is what is predicted"),
        (["--test-latest", "seen", "--test", "b.csv"], "the latest rows cannot test where"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(capsys, table, arguments, sentence):
    assert main(["tune", str(table), *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert sentence in said.err.splitlines()[-1]


def test_roles_of_molecules(capsys, tmp_path):
    path = tmp_path / "rna.csv"
    lines = [
        f"GGG{'ACGU'[k % 4] * (4 + k // 4)}CCC,(((....{'.' * (k // 4)}))),f{k % 9}"
        for k in range(36)
    ]
    path.write_text("sequence,structure,source\n" + "\n".join(lines) + "\n")
    assert main(["tune", str(path), "--role", "source=feature"]) == 2
    assert "folded by their letters alone" in capsys.readouterr().err
    fast = ["--strategy", "mm", "--option", "max_steps=1", "--json"]
    assert main(["tune", str(path), "--role", "source=group", *fast]) == 0
    takeaway = finished_run(RunFolder.open(json.loads(capsys.readouterr().out)["run"])).takeaway
    assert not {k % 9 for k in takeaway.train_rows} & {k % 9 for k in takeaway.test_rows}
