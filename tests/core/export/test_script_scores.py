"""The score lines of exported scripts say what the program's own metrics say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.export.constructor import Code
from core.export.finished_run import finished_run
from core.export.script_scores import scorer
from core.tuning.metrics import METRICS, codes_of, say

MODELS = {"binary": ("logistic", "svm"), "multiclass": ("forest", "svm"), "regression": ("linear",)}


@pytest.mark.parametrize("task", list(MODELS))
def test_every_metric(make_run: Callable[..., Any], tmp_path: Any, task: str) -> None:
    for model in MODELS[task]:
        made = make_run(task, model, folder=tmp_path / model)
        run, classes = finished_run(made.folder), made.dataset.classes
        X, y = made.dataset.table.iloc[made.test_rows], made.dataset.target[made.test_rows]
        said = say(run.pipeline, X, classes)
        for metric in METRICS.values():
            if task not in metric.tasks or getattr(said, metric.needs) is None:
                continue
            code = Code()
            one = replace(run, results={**run.results, "metric": metric.name})
            line = scorer(one, code)
            names = {"model": run.pipeline, "X_test": X, "y_test": y, "np": np}
            exec("\n".join(code.import_lines()), names)
            ours = metric.score(codes_of(y, classes), said)
            assert eval(line, names) == pytest.approx(ours, rel=1e-12), (model, metric.name)
