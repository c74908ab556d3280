"""The score lines of exported scripts say what the program's own metrics say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.finished_run import finished_run
from core.export.script.constructor import CodeWriter
from core.export.script.python_script import script_source
from core.export.script.score_code import score_expression, score_functions
from core.tuning.plan import DataPlan, Plan
from core.tuning.scores.metrics import METRICS, codes_of, metric_scores, predict_all

MODELS = {"binary": ("logistic", "svm"), "multiclass": ("forest", "svm"), "regression": ("linear",)}


@pytest.mark.parametrize("task", list(MODELS))
def test_every_metric(make_run: Callable[..., Any], tmp_path: Any, task: str) -> None:
    for model in MODELS[task]:
        made = make_run(task, model, folder=tmp_path / model)
        run, classes = finished_run(made.folder), made.dataset.classes
        X, y = made.dataset.table.iloc[made.test_rows], made.dataset.target[made.test_rows]
        said = predict_all(run.pipeline, X, classes)
        for metric in METRICS.values():
            if task not in metric.tasks or getattr(said, metric.needs) is None:
                continue
            one = replace(run, results=replace(run.results, metric=metric.name))
            ours = metric.score(codes_of(y, classes), said)
            assert measured(one, X, y) == pytest.approx(ours, rel=1e-12), (model, metric.name)


def measured(run: Any, X: Any, y: np.ndarray) -> float:
    """What the lines of the script give."""
    code = CodeWriter()
    line, functions = score_expression(run, code), score_functions(run)
    names = {"model": run.pipeline, "X_test": X, "y_test": y, "np": np}
    exec("\n".join([*code.import_lines(), *functions]), names)
    return float(eval(line, names))


@pytest.mark.parametrize(("task", "model"), [("binary", "logistic"), ("multiclass", "svm")])
def test_classes_that_training_never_saw(
    finish_run: Callable[..., Any], tmp_path: Any, task: str, model: str
) -> None:
    """Two further classes in the second file: the script's every score is the program's."""
    random = np.random.default_rng(1)
    files = [str(tmp_path / name) for name in ("train.csv", "test.csv")]
    for file in files:
        table = pd.DataFrame(random.normal(size=(120, 3)), columns=["a", "b", "c"])
        cuts = [0.0] if task == "binary" else [-0.5, 0.5]
        table["y"] = np.array(["no", "yes", "zero"], dtype=object)[np.digitize(table["a"], cuts)]
        if file == files[1]:
            table.loc[::4, "y"], table.loc[1::9, "y"] = "maybe", "aaa"
        table.to_csv(file, index=False)
    dataset = read_dataset(files[0], DataOptions(target="y"), test_file=files[1])
    made = finish_run(Plan(DataPlan(files[0], "y", test_file=files[1]), model, "random"), dataset)
    run, test, classes = finished_run(made.folder), dataset.test, dataset.classes
    assert test is not None
    said, codes = predict_all(run.pipeline, test.features, classes), codes_of(test.target, classes)
    assert (codes < 0).sum() > 35
    for name, score in metric_scores(codes, said, task).items():
        one = replace(run, results=replace(run.results, metric=name))
        ours = pytest.approx(score, rel=1e-12)
        assert measured(one, test.features, test.target.astype(str)) == ours, name


def test_an_undefined_score_is_no_reason_for_no_script(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    nothing = {"auc": None}
    scores = {"metric": "auc", "test": nothing, "default_test": nothing}
    one = replace(run, results=replace(run.results, **scores))
    assert "test rows: undefined tuned, undefined with the default" in " ".join(
        script_source(one).split()
    )
