"""Another model than the tuned one is taken away: fitted as a person would, the run untouched."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.estimators.optional_parts import is_installed
from core.export.exportable_models import exportable_models
from core.export.exporters import export_run
from core.export.finished_run import FinishedRun, finished_run
from core.export.prediction import load_model, predict_file
from core.export.selected_run import with_selected_model
from core.tuning.events import TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.metrics import score_estimator
from core.tuning.tune import tune

MODELS = {"binary": "logistic", "multiclass": "svm", "regression": "linear"}


def table(path: Path, task: str) -> Path:
    random = np.random.default_rng(2)
    rows = pd.DataFrame(random.normal(size=(90, 3)), columns=["a", "b", "c"])
    rows["kind"] = random.choice(["x", "y"], 90)
    pull = rows["a"] + 0.5 * random.normal(size=90)
    cuts = [-0.5, 0.7] if task == "multiclass" else [0.3]
    words = np.array(["low", "mid", "top"], dtype=object)
    rows["goal"] = 100 + 7 * pull if task == "regression" else words[np.digitize(pull, cuts)]
    rows.to_csv(path, index=False)
    return path


def run_of(folder: Path, task: str, strategy: str = "random") -> tuple[FinishedRun, Dataset]:
    file = table(folder / f"{task}.csv", task)
    data = DataPlan(str(file), target="goal")
    how: dict[str, Any] = {"trials": 3} if strategy == "random" else {}
    plan = Plan(data, MODELS[task], strategy, folds=2, seed=1, **how)
    run, dataset = RunFolder.create(plan, path=folder / f"{task}-run"), read_data(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in tune(plan, dataset, folder=run):
            pass
    return finished_run(run), dataset


def fingerprints(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("task", list(MODELS))
def test_the_chosen_model_is_the_one_a_person_would_fit(tmp_path: Path, task: str) -> None:
    run, dataset = run_of(tmp_path, task)
    before = fingerprints(run.folder.path)
    trial = next(event for event in run.events if isinstance(event, TrialFinished) and event.number)
    settings = {"default": run.results["default_setting"], str(trial.number): trial.setting}
    problem = build_problem(run.plan, dataset)
    rows = problem.fitted_rows
    assert len(rows) == dataset.rows  # as the tuned model
    X, y = dataset.features.iloc[rows], dataset.target[rows]
    for which, setting in settings.items():
        chosen = with_selected_model(run, which, dataset)
        alone = clone(problem.preparation())
        model = problem.estimator(setting).fit(alone.fit_transform(X, y), y)
        expected = model.predict(alone.transform(dataset.features))
        assert chosen.pipeline.predict(dataset.features).tolist() == expected.tolist()
        assert chosen.results["setting"] == setting
    known = with_selected_model(run, "default")
    assert known.results["test"] == run.results["default_test"]
    assert fingerprints(run.folder.path) == before


@pytest.mark.parametrize("task", list(MODELS))
def test_the_baseline_knows_shares_or_the_mean(tmp_path: Path, task: str) -> None:
    run, dataset = run_of(tmp_path, task)
    chosen = with_selected_model(run, "baseline", dataset)
    y = dataset.target[build_problem(run.plan, dataset).fitted_rows]
    for ending in (".skops", ".joblib", ".onnx"):
        if ending == ".onnx" and not is_installed("onnx"):
            continue
        path = export_run(chosen, tmp_path / f"baseline{ending}")
        said = predict_file(path, run.plan.data.file, trust=True)
        if task == "regression":
            assert said["prediction"].tolist() == pytest.approx([y.mean()] * dataset.rows)
            continue
        for label in dataset.classes:
            share = said[f"probability of {label}"].to_numpy()
            np.testing.assert_allclose(share, np.mean(y == label), atol=1e-12)
        labels, counts = np.unique(y, return_counts=True)
        assert set(said["prediction"]) == {labels[counts.argmax()]}


def test_a_trial_has_its_validation_score_and_no_test_score(tmp_path: Path) -> None:
    run, dataset = run_of(tmp_path, "binary")
    found = {choice.name: choice for choice in exportable_models(run.state)}
    assert list(found)[:3] == ["tuned", "default", "baseline"]
    scores = [choice.validation for choice in found.values() if choice.name.isdigit()]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    chosen = with_selected_model(run, "2", dataset)
    assert chosen.results["test"] == {}
    assert chosen.results["validation"] == {"accuracy": found["2"].validation}
    path = export_run(chosen, tmp_path / "trial.skops")
    card = load_model(path)[1]
    assert (card["exported"], card["test"]) == ("2", {})
    document = json.loads(export_run(chosen, tmp_path / "trial.json").read_text())
    assert document["exported"] == "2"
    assert "gain" not in document["scores"]
    assert any("test set has not judged it" in sentence for sentence in document["remarks"])


def test_a_penalty_learner_offers_what_it_is_compared_with(tmp_path: Path) -> None:
    run, dataset = run_of(tmp_path, "regression", "mm")
    assert [choice.name for choice in exportable_models(run.state)] == [
        "tuned",
        "default",
        "baseline",
    ]
    chosen = with_selected_model(run, "default", dataset)
    assert not chosen.has_learned_penalties
    export_run(chosen, tmp_path / "default.json")
    assert with_selected_model(run, "tuned") is run


def test_what_cannot_be_taken_away_is_one_sentence(tmp_path: Path) -> None:
    run, dataset = run_of(tmp_path, "binary")
    for which in ("7", "best", ""):
        with pytest.raises(UnusableError, match="choose tuned, default, baseline, or the number"):
            with_selected_model(run, which, dataset)
    with pytest.raises(UnusableError, match="a report tells of the whole run"):
        export_run(with_selected_model(run, "default", dataset), tmp_path / "report.html")
    file = Path(run.plan.data.file)
    file.write_text(file.read_text().replace("low", "top", 1))
    with pytest.raises(UnusableError, match="the data has changed since this run"):
        with_selected_model(run, "default")


def test_the_script_trains_the_chosen_model(tmp_path: Path, run_outside: Any) -> None:
    code = "import runpy\npaths, sys.argv[1:] = sys.argv[1:], []\n"
    code += "for path in paths: runpy.run_path(path, run_name='__main__')"
    scripts, expected = [], []
    for task in MODELS:
        run, dataset = run_of(tmp_path, task)
        problem, metric = build_problem(run.plan, dataset), run.results["metric"]
        for which in ("default", "baseline", "1"):
            chosen = with_selected_model(run, which, dataset)
            name = f"{task}_{which}.py"
            text = export_run(chosen, tmp_path / name).read_text()
            compile(text, name, "exec")
            assert "tuned = " not in text
            scripts.append(name)
            X, y = problem.test_data
            fresh = clone(chosen.pipeline).fit(*problem.training_data)
            score = score_estimator(problem.metric, fresh, X, y, dataset.classes)
            expected.append(f"{score:.6f}")
            if which != "1":
                known = run.results[f"{which}_test"][metric]
                assert f"{known:.6f}" == expected[-1]
                assert f"{known:.6f}" in text.partition('"""')[2]
    ran = run_outside(code, tmp_path, *scripts)
    assert ran.returncode == 0, ran.stderr
    assert [line.rpartition(" ")[2] for line in ran.stdout.splitlines()] == expected
