"""A threshold by what mistakes cost is part of every export: each calls rows as the run does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import tuned_run

from core.estimators.optional_parts import is_installed
from core.export.exporters import export_from_folder
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

OPEN_OUTSIDE = """
import json, sys, joblib, pandas as pd, skops.io
path, data = sys.argv[1:]
trusted = skops.io.get_untrusted_types(file=path)
model = skops.io.load(path, trusted=trusted)
print(json.dumps(model.predict(pd.read_csv(data)).tolist()))
"""


def table(path: Path, labels: tuple[Any, Any] = ("healthy", "sick")) -> Path:
    random = np.random.default_rng(4)
    sick = np.arange(240) % 8 == 0
    frame = pd.DataFrame(random.normal(size=(240, 3)), columns=["a", "b", "c"]).round(3)
    frame["a"] += 1.5 * sick
    frame["ward"] = random.choice(["x", "y"], 240)
    frame["state"] = np.where(sick, labels[1], labels[0])
    frame.to_csv(path, index=False)
    return path


def tuned(
    folder: Path, data: Path, model: str, strategy: str, costs: dict[str, float]
) -> RunFolder:
    trials = {"evidence": None, "eb-hyp": 20}.get(strategy, 1)
    plan = Plan(
        DataPlan(str(data), target="state"), model, strategy, trials=trials, folds=2, costs=costs,
        evaluation="test", refit=False,
    )  # fmt: skip
    return tuned_run(folder, plan)


ONNX = (("logistic", "evidence"), ("svm", "random"))


@pytest.mark.parametrize(
    ("model", "strategy"),
    [
        ("logistic", "evidence"),
        ("logistic-l1l2", "random"),
        ("svm", "random"),
        ("vote7", "random"),
        ("logistic", "eb-hyp"),
    ],
)
def test_every_file_calls_rows_as_the_run_does(
    tmp_path: Path, run_outside: Any, model: str, strategy: str
) -> None:
    data = table(tmp_path / "data.csv")
    run = tuned(tmp_path / "run", data, model, strategy, {"sick": 6.0})
    results = run.all_events()[-1].results
    pipeline, rows = best_of(run), pd.read_csv(data)
    ours = pipeline.predict(rows)
    threshold = results["costs"]["threshold"]
    shares = pipeline.predict_proba(rows)[:, 1]
    assert (ours == np.where(shares >= threshold, "sick", "healthy")).all()
    assert (ours != np.where(shares > 0.5, "sick", "healthy")).any()
    for ending in (".skops", ".joblib"):
        path = export_from_folder(run, tmp_path / f"model{ending}")
        said = predict_file(path, data, trust=True)["prediction"]
        assert said.tolist() == ours.tolist()
    done = run_outside(OPEN_OUTSIDE, tmp_path, str(tmp_path / "model.skops"), str(data))
    assert json.loads(done.stdout) == ours.tolist(), done.stderr
    if (model, strategy) in ONNX and is_installed("onnx"):
        said = predict_file(export_from_folder(run, tmp_path / "model.onnx"), data)["prediction"]
        clear = np.abs(shares - threshold) > 1e-6
        assert (said.to_numpy() == ours)[clear].all()
    numbers = json.loads(export_from_folder(run, tmp_path / "numbers.json").read_text())
    if strategy == "evidence":  # the coefficients are those behind the threshold
        weights = np.array(list(numbers["coefficients"]["weights"].values()))
        sums = numbers["coefficients"]["intercept"] + pipeline[0].transform(rows) @ weights
        np.testing.assert_allclose(1 / (1 + np.exp(-sums)), shares)
    assert numbers["threshold"]["threshold"] == threshold
    assert numbers["threshold"]["costs"] == {"healthy": 1.0, "sick": 6.0}
    page = export_from_folder(run, tmp_path / "report.html").read_text()
    assert "What do its mistakes cost?" in page
    assert f"threshold {threshold:.2g}" in page


@pytest.mark.parametrize(("labels", "costs"), [((0, 1), {"1": 6.0}), (("no", "yes"), {"no": 0.1})])
def test_the_script_calls_rows_as_the_run_does(
    tmp_path: Path, run_outside: Any, labels: tuple[Any, Any], costs: dict[str, float]
) -> None:
    data = table(tmp_path / "data.csv", labels)
    run = tuned(tmp_path / "run", data, "logistic", "evidence", costs)
    script = export_from_folder(run, tmp_path / "model.py").read_text()
    done = run_outside(
        script + "\nimport json\nprint(json.dumps(tuned.predict(X_test).tolist()))",
        tmp_path,
        str(data),
    )
    *scores, said = done.stdout.strip().splitlines()
    results, plan = run.all_events()[-1].results, run.plan
    problem = build_problem(plan, read_data(plan.data))
    pipeline = best_of(run)
    assert json.loads(said) == pipeline.predict(problem.test_data[0]).tolist(), done.stderr
    assert scores[0].endswith(f"tuned: {results['test']['log_loss']:.6f}")
