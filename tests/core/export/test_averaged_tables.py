"""Exports of an average of models of tables: the same predictions without the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier

from core.estimators.stored.plain_model import plain_pipeline
from core.export.exporters import export_from_folder
from core.export.files import skops_file
from core.export.prediction import predict_file
from core.tuning.runs.best import best_of

CASES: dict[str, tuple[str, str, list[tuple[dict[str, Any], float]]]] = {
    "classes": ("multiclass", "logistic", [({"C": 0.1}, 0.5), ({"C": 3.0}, 0.3), ({}, 0.2)]),
    "machines": ("binary", "svm", [({"C": 0.3}, 0.6), ({"gamma": 0.03}, 0.4)]),
    "votes": (
        "binary",
        "vote7",
        [({"weight_svm": 0.2}, 0.7), ({"weight_pa": 0.0, "weight_bayes": 0.5}, 0.3)],
    ),
    "numbers": (
        "regression",
        "boosting",
        [({"learning_rate": 0.05, "max_iter": 10}, 0.75), ({"max_iter": 12}, 0.25)],
    ),
}
OUTSIDE = """
import contextlib, io, json, joblib, os, pandas as pd, runpy, skops.io, sys, warnings
said = {}
for name in sys.argv[1:]:
    os.chdir(name)
    trusted = skops.io.get_untrusted_types(file="model.skops")
    models = [skops.io.load("model.skops", trusted=trusted), joblib.load("model.joblib")]
    card = models[0].tunescope_
    rows = pd.read_csv("data.csv", **card["read_csv"])
    rows = rows[rows[card["target"]].notna()][card["features"]]
    asked = "predict_proba" if hasattr(models[0], "predict_proba") else "predict"
    said[name] = [getattr(model, asked)(rows).tolist() for model in models]
    said[name] += [model.predict(rows).tolist() for model in models]
    os.chdir("..")
for name in said:
    os.chdir(name)
    if not os.path.exists("tuned.py"):
        said[name].append("")
        os.chdir("..")
        continue
    sys.argv, out = ["tuned.py"], io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path("tuned.py", run_name="__main__")
    said[name].append(out.getvalue())
    os.chdir("..")
print(json.dumps(said))
"""


def test_models_and_scripts_do_the_same_without_the_program(
    make_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    made = {}
    for name, (task, model, members) in CASES.items():
        part = name == "numbers"  # the members learned from half of the training rows
        made[name] = make_run(task, model, members=members, part=part, folder=tmp_path / name)
        for file in ("model.skops", "model.joblib"):
            export_from_folder(made[name].folder, tmp_path / name / file)
        if model != "vote7":  # its loops would be compiled for a minute
            export_from_folder(made[name].folder, tmp_path / name / "tuned.py")
    ran = run_outside(OUTSIDE, tmp_path, *made)
    assert ran.returncode == 0, ran.stderr
    for name, (skops, joblibs, labels, also, printed) in json.loads(ran.stdout).items():
        pipeline, X = best_of(made[name].folder), made[name].dataset.features
        numbers = CASES[name][0] == "regression"
        ours = pipeline.predict(X) if numbers else pipeline.predict_proba(X)
        np.testing.assert_allclose(skops, ours, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(joblibs, ours, rtol=1e-12, atol=1e-12)
        assert labels == also
        if not numbers:
            assert labels == pipeline.predict(X).tolist()
        if printed:
            scores = [line.rpartition(" ")[2] for line in printed.splitlines()]
            assert scores == [f"{made[name].score:.6f}", f"{made[name].default_score:.6f}"]


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_predicted_here(make_run: Callable[..., Any], tmp_path: Path, name: str) -> None:
    task, model, members = CASES[name]
    made = make_run(task, model, members=members)
    path = export_from_folder(made.folder, tmp_path / "model.skops")
    table = predict_file(path, tmp_path / "data.csv")
    pipeline = best_of(made.folder)
    kept = np.delete(np.arange(len(table)), 5)  # the row without a target
    said = table["prediction"].to_numpy()[kept]
    assert said.tolist() == pipeline.predict(made.dataset.features).tolist()


def test_scores_of_a_vote_of_seven_stay_what_they_were(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    for task in ("binary", "multiclass"):
        made = make_run(task, "vote7", members=CASES["votes"][2], folder=tmp_path / task)
        pipeline, X = best_of(made.folder), made.dataset.features
        plain = plain_pipeline(pipeline)
        assert type(plain[-1]) is VotingClassifier
        np.testing.assert_allclose(plain.predict_proba(X), pipeline.predict_proba(X), atol=1e-14)


def test_the_script_says_what_it_holds(make_run: Callable[..., Any], tmp_path: Path) -> None:
    task, model, members = CASES["classes"]
    made = make_run(task, model, members=members)
    text = export_from_folder(made.folder, tmp_path / "tuned.py").read_text()
    assert text.startswith('"""Average of 3 models, logistic regression, for data')
    assert text.count('("trial ') == 3
    assert 'VotingClassifier(members, voting="soft", weights=weights)' in text


def test_numbers_name_the_members(make_run: Callable[..., Any], tmp_path: Path) -> None:
    task, model, members = CASES["classes"]
    made = make_run(task, model, members=members)
    document = json.loads(export_from_folder(made.folder, tmp_path / "run.json").read_text())
    average = document["average"]
    assert [member["weight"] for member in average["members"]] == [0.5, 0.3, 0.2]
    assert [member["parameters"]["C"] for member in average["members"]] == [0.1, 3.0, 1.0]
    assert average["members"][1]["trial"] == 1
    assert average["members"][1]["score"] == pytest.approx(0.89)
    assert average["left_out"][0]["trial"] == 9


def test_the_report_shows_the_members(make_run: Callable[..., Any], tmp_path: Path) -> None:
    task, model, members = CASES["classes"]
    made = make_run(task, model, members=members)
    page = export_from_folder(made.folder, tmp_path / "run.html").read_text()
    assert "Who is in the average?" in page
    assert "Is the average better than the single best?" in page
    assert "Trial 9 is left out of the average: it failed." in page


def test_a_single_model_says_nothing_of_averages(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    made = make_run("binary", "logistic")
    assert "average" not in json.loads(
        export_from_folder(made.folder, tmp_path / "run.json").read_text()
    )
    assert (
        "Who is in the average?"
        not in export_from_folder(made.folder, tmp_path / "run.html").read_text()
    )
    assert type(
        skops_file.load_pipeline(export_from_folder(made.folder, tmp_path / "m.skops"))[-1]
    ).__name__ == ("LogisticRegression")
