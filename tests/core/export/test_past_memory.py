"""Exports and predictions where a file is larger than memory."""

import json

import numpy as np
import pandas as pd
import pytest
from exported_files import exported, script_output, tuned_run

from app.__main__ import main
from core.datasets.memory_limit import VARIABLE
from core.errors import UnusableError
from core.export.prediction import load_model, predict_file
from core.export.using.file_prediction import predict_into
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

pytestmark = pytest.mark.slow
NAMES = ("rows.csv", "rows.libsvm")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, random = tmp_path_factory.mktemp("past"), np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(3000, 3)).round(3), columns=["a", "b", "c"])
    table["words"] = random.choice(["one", 'two, "three"', "four\nfive"], 3000)
    table["label"] = np.where(table["a"] > 0.2 * table["b"], "yes", "no")
    table.to_csv(folder / "rows.csv", index=False)
    with (folder / "rows.libsvm").open("w") as file:
        for k, row in enumerate(table[["a", "b", "c"]].to_numpy()):
            first = "0:1.5 " if k >= 2600 else ""  # it counts from 0, which its first part hides
            pairs = " ".join(f"{j}:{x}" for j, x in enumerate(row, 1))
            file.write(f"{int(row[0] > 0)} {first}{pairs}\n")
    return folder


@pytest.fixture(scope="module")
def runs(files):
    # A run on 300 drawn rows of each.
    data = [DataPlan(str(files / name), rows=300, rows_seed=4) for name in NAMES]
    plans = {
        name: Plan(d, "logistic", "random", trials=1) for name, d in zip(NAMES, data, strict=True)
    }
    return {name: tuned_run(files / f"{name}-run", plan) for name, plan in plans.items()}


@pytest.mark.parametrize("name", NAMES)
def test_predictions_in_parts_are_those_of_the_whole(runs, files, name, tmp_path, monkeypatch):
    model = exported(runs[name], tmp_path / "model.skops")
    whole = predict_file(model, files / name)
    assert len(whole) == 3000
    monkeypatch.setenv(VARIABLE, "1")  # parts of 1,000 rows, the fewest
    pd.testing.assert_frame_equal(predict_file(model, files / name), whole)
    assert predict_into(model, files / name, tmp_path / "out.csv").count == 3000
    read = pd.read_csv(tmp_path / "out.csv", dtype={"prediction": whole["prediction"].dtype})
    pd.testing.assert_frame_equal(read[list(whole)], whole, check_dtype=False)


def test_an_unusable_row_is_named_as_in_the_file_and_nothing_is_written(
    runs, files, tmp_path, monkeypatch
):
    model = exported(runs["rows.libsvm"], tmp_path / "model.skops")
    lines = (files / "rows.libsvm").read_text().splitlines()
    lines[2500] = "1 2:x"
    bad = tmp_path / "bad.libsvm"
    bad.write_text("\n".join(lines))
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(UnusableError, match=r"bad\.libsvm, row 2,501"):
        predict_into(model, bad, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_exported_tells_of_the_drawn_rows(runs, files, name, tmp_path, run_outside):
    run = runs[name]
    _, card = load_model(exported(run, tmp_path / "model.skops"))
    assert (card["sampled"]["rows"], card["sampled"]["of"], card["fitted_rows"]) == (300, 3000, 300)
    assert "300 of the 3,000 rows" in exported(run, tmp_path / "report.html").read_text()
    script = exported(run, tmp_path / "script.py")
    assert "300 of the" in " ".join(script.read_text().split())
    out = script_output(run_outside, script, tmp_path, str(files / name))
    results = json.loads(exported(run, tmp_path / "numbers.json").read_text())["scores"]["test"]
    (metric,) = {line.split(" on ")[0] for line in out.splitlines() if " on test" in line}
    assert f"tuned: {results[metric]:.6f}" in out


def test_a_run_on_drawn_rows_from_the_command_line(files, tmp_path, capsys):
    file = str(files / "rows.csv")
    command = ["tune", file, "--rows", "250", "--seed", "3", "--model", "knn", "--trials", "1"]
    assert main([*command, "--run-dir", str(tmp_path / "run"), "--json"]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out.splitlines()[-1])
    assert result["dataset"]["rows"] == 250
    assert "250 of the 3,000 rows of rows.csv were drawn at random (seed 3" in result["findings"][0]
    assert "Data: 250 of the 3,000 rows" in said.err
    plan = RunFolder.open(tmp_path / "run").plan
    assert (plan.data.rows, plan.data.rows_seed) == (250, 3)
    for wrong in ("0", "-4", "many"):
        with pytest.raises(SystemExit):
            main(["tune", file, f"--rows={wrong}"])
    capsys.readouterr()
