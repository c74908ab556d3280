"""MLflow models: a loader that needs no Tunescope, by hand and by MLflow; runs on a server."""

import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from exported_files import WITHOUT_NUMBA, exported
from folder_runs import dlgm_run, topic_run
from structured_runs import crf_run, rna_run

from core.errors import UnusableError
from core.estimators import optional_parts
from core.export.exporters import check_export, export_all, export_run
from core.export.finished_run import finished_run
from core.export.mlflow import model_folder, tracked_run
from core.export.prediction import predict_file
from core.export.report import report_page
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.training_rows import training_rows_of
from core.tuning.run_results import EnsembleResults
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

# As MLflow opens a folder: it imports the loader module from the folder of code.
LOAD = """
import importlib, pathlib, pandas as pd
folder, rows = map(pathlib.Path, sys.argv[1:])
(module,) = (folder / "code").iterdir()
(data,) = folder.glob("model.*")
sys.path.insert(0, str(folder / "code"))
model = importlib.import_module(module.stem)._load_pyfunc(str(data))
model.predict(pd.read_pickle(rows)).to_pickle("said.pkl")
"""
TYPES = {
    "size": "double", "count": "any", "age": "any", "flag": "any", "paid": "string",
    "colour": "string", "code": "any", "day": "any", "price": "double",
}  # fmt: skip


def table_of_all_kinds(rows=120):
    """Numbers, integers and texts, some missing, truth values, codes, dates."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"size": random.normal(size=rows), "count": random.integers(0, 90, rows)})
    table["age"] = np.where(random.random(rows) < 0.1, np.nan, random.integers(20, 80, rows))
    table["flag"] = random.random(rows) < 0.5
    table["paid"] = random.choice(["yes", "no"], rows)
    table["colour"] = random.choice(["red", "green", "blue"], rows)
    table.loc[0, "colour"] = "mauve"
    table["code"] = random.choice([100, 200, 300], rows)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, rows), unit="D")
    table["day"] = day.strftime("%d.%m.%Y")
    table["price"] = np.round(random.normal(20, 4, rows), 2)
    table["goal"] = np.where(table["size"] + table["flag"] > 0.4, "good", "bad")
    table.loc[::13, ["colour", "price"]] = np.nan
    return table


@pytest.fixture
def run(finish_run, tmp_path):
    table_of_all_kinds().to_csv(tmp_path / "all.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "all.csv"), target="goal"), "logistic", "random")
    dataset = read_data(plan.data)
    run = finished_run(finish_run(plan, dataset).folder)
    return replace(run, takeaway=replace(run.takeaway, training=training_rows_of(dataset)))


def said_outside(run_outside, folder, rows, bare=True):
    rows.to_pickle(folder.parent / "rows.pkl")
    ran = run_outside(WITHOUT_NUMBA + LOAD, folder.parent, str(folder), "rows.pkl", bare=bare)
    assert ran.returncode == 0, ran.stderr
    return pd.read_pickle(folder.parent / "said.pkl")


def test_a_table_is_predicted_alike_without_this_program(run, run_outside, tmp_path):
    folder = export_run(run, tmp_path / "all.mlflow")
    table = pd.read_csv(tmp_path / "all.csv")
    rows = pd.concat([table, table], ignore_index=True)
    # The second time as a program may have it: dates as times, categories, integers with holes.
    rows["day"] = pd.to_datetime(rows["day"], format="%d.%m.%Y")
    rows["colour"], rows["flag"] = rows["colour"].astype("category"), rows["flag"].astype(object)
    rows.loc[len(table), ["count", "flag", "code"]] = None
    said = said_outside(run_outside, folder, rows)
    dataset = read_data(run.plan.data)
    shares = best_of(run.folder).predict_proba(dataset.features)
    for start in (0, len(table) + 1):
        ours = shares[start % len(table) :]
        theirs = said.iloc[start : start + len(ours), 1:].to_numpy(float)
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12)
    assert said["prediction"].isin(["good", "bad"]).all()
    assert list(said) == ["prediction", "probability of bad", "probability of good"]
    assert [path.name for path in tmp_path.glob(".tunescope*")] == []


@pytest.mark.parametrize("make", [dlgm_run, topic_run, crf_run, rna_run])
def test_arrays_are_predicted_alike_without_this_program(make, run_outside, tmp_path):
    made = make(tmp_path)
    run = made if isinstance(made, RunFolder) else made.folder
    if made is run:
        file, cells = run.plan.data.file, {"sep": ";", "decimal": ","} if make is dlgm_run else {}
        rows = pd.read_csv(file, **cells)
    else:
        file, rows = str(tmp_path / "rows.csv"), made.table
        rows.to_csv(file, index=False)
    folder = exported(run, tmp_path / "model.mlflow")
    said = said_outside(run_outside, folder, rows, bare=False)
    ours = predict_file(exported(run, tmp_path / f"m{'.zip' if made is run else '.npz'}"), file)
    pd.testing.assert_frame_equal(said[list(ours)], ours, check_dtype=False)


def test_the_signature_and_the_example(run, tmp_path):
    yaml = pytest.importorskip("yaml", reason="PyYAML reads what MLflow reads")
    folder = export_run(run, tmp_path / "all.mlflow")
    model = yaml.safe_load((folder / "MLmodel").read_text())
    inputs, outputs = (json.loads(model["signature"][name]) for name in ("inputs", "outputs"))
    assert {column["name"]: column["type"] for column in inputs} == TYPES
    assert [column["type"] for column in outputs] == ["string", "double", "double"]
    example = json.loads((folder / "input_example.json").read_text())
    (row,) = (dict(zip(example["columns"], cells, strict=True)) for cells in example["data"])
    table = table_of_all_kinds()
    alike = table[[*row]].astype(str).eq({name: str(value) for name, value in row.items()})
    assert alike.sum(axis=1).max() < len(row)  # it is nobody's
    assert row["day"] not in table["day"].tolist() or row["colour"] != "mauve"
    environment = yaml.safe_load((folder / "python_env.yaml").read_text())
    assert environment["dependencies"] == ["-r requirements.txt"]
    pins = (folder / "requirements.txt").read_text().split()
    (conda,) = yaml.safe_load((folder / "conda.yaml").read_text())["dependencies"][2:]
    assert conda == {"pip": pins}
    assert f"scikit-learn=={run.takeaway.versions['scikit-learn']}" in pins
    assert not any("tunescope" in pin for pin in pins)
    private = replace(run, allows_examples=False)
    hidden = export_run(private, tmp_path / "hidden.mlflow")
    assert not list(hidden.glob("*example*"))


def test_what_has_the_name_stays(run, tmp_path):
    (tmp_path / "a.mlflow").mkdir()
    (tmp_path / "b.mlflow").write_text("mine")
    for name in ("a.mlflow", "b.mlflow"):
        with pytest.raises(UnusableError, match=r"a (folder|file) has this name"):
            export_run(run, tmp_path / name)
    assert (tmp_path / "b.mlflow").read_text() == "mine"


def test_a_server_needs_mlflow(tmp_path, monkeypatch):
    monkeypatch.setattr(optional_parts, "find_spec", lambda module: None)
    with pytest.raises(UnusableError, match="tracking servers need mlflow, which is missing here"):
        check_export("http://localhost:5000", format="mlflow")
    check_export(tmp_path / "folder", format="mlflow")  # a folder needs nothing


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_opens_the_folder_and_keeps_the_run(run, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    monkeypatch.chdir(tmp_path)
    address = f"sqlite:///{tmp_path}/runs.db"
    written, failed = export_all(lambda: run, [address], {address: "mlflow"})
    assert not failed, failed[address]
    run_id = written[0].removesuffix("/model").rpartition("/")[2]
    client = mlflow.MlflowClient(tracking_uri=address)
    logged = client.get_run(run_id)
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics["test accuracy"] == run.results.test["accuracy"]
    assert logged.data.params["model"] == "logistic"
    for name, value in run.results.setting.items():
        assert logged.data.params[f"tuned {name}"] == str(value)
    history = client.get_metric_history(run_id, "trial accuracy")
    trials = {t.number: t.score for t in run.state.scored_trials() if not t.behind}
    assert {point.step: point.value for point in history} == trials
    artifacts = {artifact.path for artifact in client.list_artifacts(run_id)}
    assert artifacts == {"model", "report.html", "trials.csv"}
    table = pd.read_csv(client.download_artifacts(run_id, "trials.csv", str(tmp_path)))
    assert table["trial"].tolist() == [trial.number for trial in run.state.trials]
    model = mlflow.pyfunc.load_model(client.download_artifacts(run_id, "model", str(tmp_path)))
    rows = pd.read_csv(tmp_path / "all.csv").drop(columns="goal")
    shares = best_of(run.folder).predict_proba(read_data(run.plan.data).features)
    said = model.predict(rows).iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(said, shares, rtol=0, atol=1e-12)
    assert model.predict(model.input_example)["prediction"].isin(["good", "bad"]).all()
    with pytest.raises(mlflow.exceptions.MlflowException):
        model.predict(rows.drop(columns="day"))


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_a_server_that_refuses_is_one_sentence(run, tmp_path):
    pytest.importorskip("mlflow", reason="MLflow is not installed")
    (tmp_path / "runs.db").write_text("no database " * 100)
    address = f"sqlite:///{tmp_path}/runs.db"
    _, failed = export_all(lambda: run, [address], {address: "mlflow"})
    assert "MLflow cannot log the run there" in failed[address]


def test_mlflow_prints_nothing_of_its_own(run, monkeypatch, capsys):
    # As its client of a server does at a run's end: with signs that not every terminal writes.
    def print_address(*_, **__):
        if os.environ.get("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT") != "true":
            sys.stdout.write("🏃 View run")

    monkeypatch.delenv("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", raising=False)
    client = MagicMock(set_terminated=print_address)
    fake = MagicMock(MlflowClient=lambda tracking_uri: client)
    monkeypatch.setattr(tracked_run, "optional_module", lambda *_: fake)
    address = "http://127.0.0.1:5000"
    _, failed = export_all(lambda: run, [address], {address: "mlflow"})
    assert not failed
    assert client.log_artifacts.called
    assert capsys.readouterr().out == ""


def test_parameters_of_an_average_are_those_of_its_best_member(run, monkeypatch):
    settings = [{"model": name, "C": 2.0} for name in ("svm", "logistic")]
    ensemble = EnsembleResults([5, 3], [0.5, 0.5], [0.9, 0.8], settings)
    averaged = replace(run, results=replace(run.results, ensemble=ensemble, setting=settings[0]))
    client = MagicMock()
    fake = MagicMock(MlflowClient=lambda tracking_uri: client)
    fake.entities.Param = lambda *pair: pair
    monkeypatch.setattr(tracked_run, "optional_module", lambda *_: fake)
    monkeypatch.setattr(model_folder, "write", lambda *_: None)
    monkeypatch.setattr(report_page, "write", lambda *_: None)
    tracked_run.log_run(averaged, "http://127.0.0.1:5000")
    params = dict(client.log_batch.call_args_list[0].kwargs["params"])
    assert params["exported model"].startswith("Average of 2 models")
    assert params["best member model"] == "svm"
    assert not any(name.startswith("tuned") for name in params)


def test_no_password_is_told(run, monkeypatch):
    def refuse(tracking_uri):
        raise OSError(f"no answer of {tracking_uri}")

    fake = SimpleNamespace(MlflowClient=refuse)
    monkeypatch.setattr(tracked_run, "optional_module", lambda *_: fake)
    address = "https://me:secret@host/"
    _, failed = export_all(lambda: run, [address], {address: "mlflow"})
    assert "no answer of https://host/" in failed[address]
    assert "secret" not in failed[address]
