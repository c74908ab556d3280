"""Runs from Python: the command line's numbers, tables in memory, callbacks, folders read only."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import tunescope
from app.__main__ import main
from core.errors import UnusableError
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data
from core.tuning.results import model_metadata
from tunescope.running import with_file


@pytest.fixture(autouse=True)
def _places(tmp_path, monkeypatch):
    for name in ("RUNS", "HISTORY", "KEY"):
        monkeypatch.setenv(f"TUNESCOPE_{name}", str(tmp_path / name.lower()))


@pytest.fixture
def iris():
    return load_iris(as_frame=True).frame.rename(columns=lambda name: name.replace(" (cm)", ""))


GIVEN = {"model": "logistic", "strategy": "random", "trials": 3, "folds": 2, "seed": 4}


@pytest.fixture(scope="module")
def iris_run(tmp_path_factory):
    """A run of three trials that nothing changes, and the events that its callback was told."""
    told = []
    folder = tmp_path_factory.mktemp("iris") / "python"
    with pytest.MonkeyPatch.context() as places:
        for name in ("RUNS", "HISTORY", "KEY"):
            places.setenv(f"TUNESCOPE_{name}", str(folder.parent / name.lower()))
        return tunescope.tune("sample:iris", **GIVEN, run=folder, callback=told.append), told


def test_every_event_is_told_and_recorded(iris_run):
    found, told = iris_run
    assert [type(event).__name__ for event in (told[0], told[-1])] == ["RunStarted", "RunFinished"]
    recorded = [type(event).__name__ for event in found.events]
    assert recorded.count("TrialFinished") == 3
    assert {type(event).__name__ for event in told} == set(recorded)


def test_trials_as_a_table(iris_run):
    found, _ = iris_run
    assert found.trials["number"].tolist() == [0, 1, 2]
    assert found.trials["state"].tolist() == ["finished"] * 3
    assert found.trials.loc[0, "params_C"] == 1.0  # the default is tried first
    means = [np.mean(scores) for scores in found.trials["fold_scores"]]
    np.testing.assert_allclose(found.trials["score"], means)
    best = found.trials["score"].idxmax()
    assert found.results["setting"] == {"C": found.trials.loc[best, "params_C"]}


def test_the_model_is_taken_away_with_its_card(iris_run, tmp_path):
    done, rows = iris_run[0], _iris_rows()
    path = done.export(tmp_path / "iris.joblib")
    np.testing.assert_array_equal(joblib.load(path).predict(rows), done.model.predict(rows))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "iris.joblib",
        "iris.joblib.card.md",
    ]
    with pytest.raises(UnusableError, match=r"iris\.doc"):
        done.export(tmp_path / "iris.doc")


def test_a_run_that_has_not_ended_says_so(iris_run, tmp_path):
    folder = shutil.copytree(iris_run[0].run, tmp_path / "run")
    events = folder / "events.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if '"TrialFinished"' in line)
    events.write_text("".join(lines[: at + 1]))
    opened = tunescope.open_run(folder)
    assert len(opened.trials) == 1
    assert math.isfinite(opened.trials["score"][0])
    with pytest.raises(tunescope.UnusableError, match="has not ended"):
        _ = opened.results


def test_a_run_has_the_numbers_of_the_command_line(iris_run, tmp_path, capfd):
    from_python, _ = iris_run
    command = ["tune", "sample:iris", "--model", "logistic", "--strategy", "random"]
    command += ["--trials", "3", "--option", "folds=2", "--seed", "4", "--json"]
    assert main([*command, "--run-dir", str(tmp_path / "command")]) == 0
    said = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert from_python.results["test"] == said["test"]
    assert from_python.results["setting"] == said["params"]
    assert from_python.score == said["test"][said["metric"]]
    assert from_python.metric == said["metric"]
    assert from_python.run.name == "python"


def test_a_table_in_memory_is_tuned_and_its_model_predicts_it(iris, tmp_path):
    found = tunescope.tune(iris, "target", **GIVEN, run=tmp_path / "run")
    assert found.score > 0.8
    rows = iris.drop(columns="target")
    assert np.mean(found.model.predict(rows) == iris["target"]) > 0.9
    # The same run as of a file with these rows.
    iris.to_csv(tmp_path / "iris.csv", index=False)
    of_file = tunescope.tune(tmp_path / "iris.csv", "target", **GIVEN)
    assert of_file.results["test"] == found.results["test"]
    # It can be gone on with: the rows lie in its folder.
    assert main(["resume", str(found.run), "--trials", "1"]) == 0


def test_a_callback_that_returns_true_stops_and_keeps_the_best(tmp_path):
    def enough(event):
        return type(event).__name__ == "TrialFinished" and event.number == 1

    found = tunescope.tune(
        "sample:iris", **{**GIVEN, "trials": 40}, run=tmp_path / "run", callback=enough
    )
    assert type(found.events[-1]).__name__ == "RunStopped"
    assert len(found.trials) < 40
    assert found.score > 0.7
    assert found.model.predict(_iris_rows()).size == 150


def _iris_rows():
    from core.datasets.reading import read_dataset

    return read_dataset("sample:iris").table


def test_steps_of_a_penalty_learner_as_a_table(tmp_path):
    found = tunescope.tune(
        "sample:groups", model="logistic", strategy="mm", groups="prefix", run=tmp_path / "run"
    )
    assert found.trials.empty
    assert found.steps["step"].tolist() == list(range(len(found.steps)))
    for group in found.results["groups"]:
        assert f"penalty_{group}" in found.steps
    assert (found.steps["objective"].diff().dropna()[1:] <= 1e-6).all()


def test_a_run_is_opened_by_path_or_name_and_stays_as_it_is(tmp_path):
    made = tunescope.tune("sample:iris", **GIVEN)
    before = {p: p.stat().st_mtime_ns for p in made.run.iterdir()}
    for place in (made.run, str(made.run), made.run.name):
        opened = tunescope.open_run(place)
        assert opened.results == made.results
        assert opened.score == made.score
        pd.testing.assert_frame_equal(opened.trials, made.trials)
        assert opened.model.predict(_iris_rows()).shape == (150,)
    assert {p: p.stat().st_mtime_ns for p in made.run.iterdir()} == before
    metadata = made.run / model_metadata.FILE_NAME
    plain = json.loads(metadata.read_text(encoding="utf-8"))
    plain["versions"]["scikit-learn"] = "0.24.2"
    metadata.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"scikit-learn 0\.24\.2"):
        assert tunescope.open_run(made.run).model.predict(_iris_rows()).shape == (150,)
    with pytest.raises(tunescope.UnusableError, match="there is no run here"):
        tunescope.open_run(tmp_path)


def test_what_cannot_be_is_refused_before_a_folder_is_made(iris, tmp_path):
    folder = tmp_path / "runs"
    with pytest.raises(TypeError, match="“trails” is no argument; did you mean “trials”"):
        tunescope.tune("sample:iris", trails=3)
    with pytest.raises(tunescope.UnusableError, match="there is no model"):
        tunescope.tune(iris, "target", model="logistik", strategy="random")
    with pytest.raises(tunescope.UnusableError, match="target"):
        tunescope.tune(iris, "tarket")
    with pytest.raises(tunescope.UnusableError, match="tuen"):
        tunescope.tune(tmp_path / "tuen.csv")
    assert not folder.exists() or not list(folder.iterdir())


def test_a_failed_run_raises_its_sentence(iris, tmp_path):
    with pytest.raises(RuntimeError, match="No setting could be scored"):
        tunescope.tune(
            iris, "target", **{**GIVEN, "trials": 1, "time_limit": 1e-9}, run=tmp_path / "run"
        )


def test_a_table_keeps_its_kinds(tmp_path):
    """Words that look like numbers stay words by `kinds`; dates and missing values survive."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "code": random.choice(["01", "02", "10"], 80),
            "when": pd.Timestamp("2024-01-31") + pd.to_timedelta(np.arange(80), "D"),
            "size": np.where(np.arange(80) % 7, random.normal(size=80), np.nan),
            "y": random.choice(["a", "b"], 80),
        }
    )
    found = tunescope.tune(
        table, "y", kinds={"code": "category"}, **GIVEN, run=Path(tmp_path / "run")
    )
    assert found.model.predict(table.drop(columns="y")).shape == (80,)


def test_a_second_table_tests(iris, tmp_path):
    rows = iris.sample(frac=1.0, random_state=0)
    found = tunescope.tune(rows[:100], "target", test=rows[100:], **GIVEN, run=tmp_path / "run")
    assert found.results["second_file"]
    right = np.mean(found.model.predict(rows[100:].drop(columns="target")) == rows["target"][100:])
    assert right > 0.9


SCRIPT = """
import sys, tunescope
# Not below if __name__ == "__main__": no other process runs it.
found = tunescope.tune(
    "sample:iris", model="svm", strategy="random", trials=3, folds=2, workers=2, run=sys.argv[1]
)
print(len(found.trials), set(found.trials["state"]), __file__.endswith("use.py"))
"""


@pytest.mark.slow
def test_several_workers_in_a_script_of_somebody(tmp_path):
    (tmp_path / "use.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "use.py", "run"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert ran.stdout == "3 {'finished'} True\n", ran.stderr


def test_a_run_ends_where_every_setting_was_tried(tmp_path):
    """Studies of others go on there; runs do not."""
    found = tunescope.tune(
        "sample:iris",
        model="logistic",
        strategy="grid",
        options={"points": 3},
        trials=50,
        folds=2,
        run=tmp_path / "run",
    )
    assert len(found.trials) <= 4
    assert "every setting of the grid" in found.results["stopped_because"]


def test_a_cluster_that_cannot_be_is_refused_before_a_folder_is_made(tmp_path):
    for cluster in ("nowhere", {"address": "tls://a:1", "ca": str(tmp_path / "none.pem")}):
        with pytest.raises(UnusableError, match=r"option (cluster|tls-ca): "):
            tunescope.tune("sample:iris", model="svm", strategy="random", trials=2,
                           run=tmp_path / "run", cluster=cluster)  # fmt: skip
        assert not (tmp_path / "run").exists()


def test_ranges_and_patience_are_those_of_the_command_line(tmp_path):
    ranges = {"C": (np.float64(0.5), 2)}
    found = tunescope.tune(
        "sample:iris", **{**GIVEN, "trials": 9}, ranges=ranges, patience=2, run=tmp_path / "run"
    )
    tried = [e.setting["C"] for e in found.events if type(e).__name__ == "TrialFinished"]
    assert all(0.5 <= value <= 2 for value in tried)
    assert len(tried) < 9
    assert found.results["stopped_because"] == "2 trials in a row improved nothing"
    assert main(["resume", str(found.run), "--trials", "1"]) == 0
    after = tunescope.open_run(found.run)
    tried = [e.setting["C"] for e in after.events if type(e).__name__ == "TrialFinished"]
    assert 0.5 <= tried[-1] <= 2


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ranges": {"C": (3, 1)}}, "range of C: it begins at 3, above its end at 1"),
        ({"ranges": "C=1:2"}, "ranges: “C=1:2” names no settings"),
        ({"fixed": {"D": 1}}, "no setting “D” that is searched"),
        ({"fixed": {"C": [1, 2]}}, "fixed value of C: “.1, 2.” is not a number"),
        ({"patience": -1}, "patience: “-1” is out of range"),
    ],
)
def test_ranges_that_cannot_be_leave_no_run(tmp_path, given, says):
    with pytest.raises(UnusableError, match=says):
        tunescope.tune("sample:iris", **GIVEN, **given, run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


ROWS = 60


@pytest.fixture
def table():
    steps = np.arange(ROWS)
    return pd.DataFrame(
        {
            "code": pd.Series([f"{step % 4 + 5:03d}" for step in steps], dtype="str"),
            "digits": pd.Series([str(10 + step % 5) for step in steps], dtype=object),
            "level": pd.Categorical(steps % 3 + 1),
            "ok": steps % 2 == 0,
            "when": pd.date_range("2024-01-01", periods=ROWS, tz="Europe/Berlin"),
            "zip": 10000 + steps % 7 * 111 + 1,  # a code by its name, a number by its type
            "word": np.array(["null", "a", "N/A", "b"], dtype=object)[steps % 4],
            "y": np.random.default_rng(0).normal(size=ROWS),
        }
    )


KINDS = {
    "code": "category",
    "digits": "category",
    "level": "category",
    "ok": "yes/no",
    "when": "date",
    "zip": "number",
    "word": "category",
    "y": "number",
}


def dataset_of(table, tmp_path, **options):
    return read_data(with_file(DataPlan("", **options), table, tmp_path / "rows.csv"))


def test_types_are_kinds(table):
    report = tunescope.read(table, "y")
    assert {column.name: column.kind for column in report.columns} == KINDS
    assert all(column.missing == 0 for column in report.columns)


def test_values_stay_what_they_are(table, tmp_path):
    read = dataset_of(table, tmp_path, target="y").table
    for name in ("code", "digits", "level", "ok", "word"):
        assert read[name].tolist() == table[name].astype(str).tolist()
    assert (pd.to_datetime(read["when"], utc=True) == table["when"].dt.tz_convert("UTC")).all()
    assert read["zip"].tolist() == table["zip"].tolist()


def test_what_a_person_says_goes_before_types(table, tmp_path):
    plan = DataPlan("", "y", kinds={"digits": "number"}, readings={"word": "missing"})
    columns = {c.name: c for c in read_data(with_file(plan, table, tmp_path / "t.csv")).columns}
    assert columns["digits"].kind == "number"
    assert (columns["word"].missing, columns["word"].distinct) == (30, 2)


def test_missing_values_and_types_with_them(tmp_path):
    table = pd.DataFrame(
        {
            "ok": pd.array([True, None, False] * 20, dtype="boolean"),
            "code": pd.Series(["01", None, "2"] * 20, dtype="str"),
            "count": pd.array([40001, None, 40007] * 20, dtype="Int64"),
            "y": np.arange(60) % 7 / 2,
        }
    )
    columns = {c.name: c for c in dataset_of(table, tmp_path, target="y").columns}
    assert {c.name: c.kind for c in columns.values()} == {
        "ok": "yes/no", "code": "category", "count": "number", "y": "number",
    }  # fmt: skip
    assert {columns[name].missing for name in ("ok", "code", "count")} == {20}


def test_texts_with_units_are_numbers_as_in_every_file():
    table = pd.DataFrame({"weight": [f"{i % 9 + 1}.5 kg" for i in range(60)], "y": range(60)})
    [weight, _] = tunescope.read(table, "y").columns
    assert (weight.kind, weight.unit) == ("number", "kg")


def test_a_target_of_digits_may_be_a_number():
    table = pd.DataFrame({"a": range(60), "y": [f"{i / 7:.3f}" for i in range(60)]})
    assert tunescope.read(table, "y").task == "regression"


def test_a_run_keeps_the_types(table, tmp_path):
    given = {"model": "linear", "strategy": "random", "trials": 1, "evaluation": "test"}
    done = tunescope.tune(table, "y", **given, run=tmp_path / "run")
    assert done.plan.data.readings == {"digits": "text", "zip": "number", "word": "values"}
    assert done.plan.data.kinds == {"level": "category"}
    again = read_data(done.plan.data)  # of the run's own file
    assert {column.name: column.kind for column in again.columns} == KINDS


def test_tokens_in_memory_are_read_as_they_are():
    steps = np.arange(120)
    table = pd.DataFrame(
        {
            "sequence": [f"s{step // 6}" for step in steps],
            "word": np.array(["null", "rain", "?", "falls", "12", "."], dtype=object)[steps % 6],
            "place": 10001 + steps % 6,
            "tag": np.array(["N", "N", "P", "V", "N", "P"])[steps % 6],
        }
    )
    report = tunescope.read(table, "tag")
    assert report.task == "sequence"
    assert {column.name: column.missing for column in report.columns} == dict.fromkeys(table, 0)
