"""Models of our own leave the house: what is exported predicts the same where we are not known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.estimators.stored.plain_model import plain_pipeline
from core.export.exporters import export_from_folder
from core.tuning.runs.best import best_of

CASES = [
    ("binary", "vote7", {}),
    ("multiclass", "vote7", {"weight_svm": 0.0, "weight_bayes": 0.3, "winnow_epochs": 2}),
    ("binary", "logistic-l1l2", {"l1": 0.01}),
    ("multiclass", "logistic-l1l2", {"l2": 0.1}),
]
# numba is kept away: the scripts must do without, and compiling them anew would take long.
PREDICT = """
sys.modules["numba"] = None
import contextlib, io, json, os, runpy, warnings
import joblib, pandas as pd, skops.io
warnings.simplefilter("error")
said = {}
for folder in sys.argv[1:]:
    os.chdir(folder)
    models = [joblib.load("model.joblib")]
    trusted = skops.io.get_untrusted_types(file="model.skops")
    models.append(skops.io.load("model.skops", trusted=trusted))
    card = models[0].tunescope_
    rows = pd.read_csv("data.csv", **card["read_csv"])
    rows = rows[rows[card["target"]].notna()][card["features"]]
    labels = [model.predict(rows).tolist() for model in models]
    kinds = sorted({type(model[-1]).__module__.split(".")[0] for model in models})
    sys.argv, out = ["tuned.py"], io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        runpy.run_path("tuned.py", run_name="__main__")
    said[folder] = [labels, kinds, out.getvalue()]
    os.chdir("..")
print(json.dumps(said))
"""


def test_they_predict_and_train_the_same_without_the_program(
    make_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    expected = {}
    for number, (task, model, setting) in enumerate(CASES):
        folder = tmp_path / str(number)
        made = make_run(task, model, setting, folder=folder)
        for name in ("model.skops", "model.joblib", "tuned.py"):
            export_from_folder(made.folder, folder / name)
        ours = best_of(made.folder).predict(made.dataset.features).tolist()
        scores = (f"{made.score:.6f}", f"{made.default_score:.6f}")
        expected[str(number)] = ([ours, ours], ["sklearn"], scores)
    ran = run_outside(PREDICT, tmp_path, *expected)
    assert ran.returncode == 0, ran.stderr
    said = {
        folder: (labels, kinds, tuple(re.findall(r": (-?\d+\.\d+)$", text, re.MULTILINE)))
        for folder, (labels, kinds, text) in json.loads(ran.stdout).items()
    }
    assert said == expected


@pytest.mark.parametrize(("model", "holds"), [("vote7", True), ("logistic", False)])
def test_a_script_holds_sources_only_where_scikit_learn_has_no_such_class(
    make_run: Callable[..., Any], tmp_path: Path, model: str, holds: bool
) -> None:
    text = export_from_folder(make_run("binary", model).folder, tmp_path / "tuned.py").read_text()
    assert ("class Vote7Classifier" in text) == holds
    assert ("def compiled(" in text) == holds
    assert not re.search(r"^\s*(from|import) (core|app|resources)\b", text, re.MULTILINE)


def test_the_run_keeps_its_own_class(make_run: Callable[..., Any]) -> None:
    pipeline = best_of(make_run("binary", "vote7").folder)
    assert type(plain_pipeline(pipeline)[-1]).__name__ == "VotingClassifier"
    assert type(pipeline[-1]).__name__ == "Vote7Classifier"
