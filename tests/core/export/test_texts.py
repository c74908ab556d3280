"""Models of texts leave the program: what each file says is what the run's own model says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import script_output
from sklearn.compose import ColumnTransformer

from core.datasets.preparation import preparation
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.estimators.stored.allowed_types import EXPORTED
from core.export.exporters import export_from_folder, export_run
from core.export.finished_run import finished_run, without_examples
from core.export.onnx.rows import rows_graph
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.best import best_of

OPEN_OUTSIDE = """
import joblib, json, pandas as pd, skops.io
trusted = json.loads(sys.argv[1])
assert set(skops.io.get_untrusted_types(file="model.skops")) <= set(trusted)
X = pd.read_csv("new.csv", dtype={"review": "str", "bought": "str"})
for model in (skops.io.load("model.skops", trusted=trusted), joblib.load("model.joblib")):
    print(json.dumps(model.predict_proba(X)[:, 1].tolist()))
"""
NEW = [
    "",
    "=1+1 never ugly",
    "😀 今天天气很好 <b>splendid</b>",
    "A word that nobody knows: zyzzyva",
]


@pytest.fixture
def made(finish_run: Callable[..., Any], tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    table = SAMPLES["reviews"].table().head(160)
    table.loc[[3, 50], "review"] = None
    table.to_csv(tmp_path / "data.csv", index=False)
    new = table.head(20).drop(columns="buys_again")
    new.loc[: len(NEW) - 1, "review"] = NEW
    new.to_csv(tmp_path / "new.csv", index=False)
    data = DataPlan(str(tmp_path / "data.csv"))
    plan = Plan(data, getattr(request, "param", "logistic"), "random", seed=4)
    return finish_run(plan, read_dataset(data.file))


@pytest.mark.parametrize("made", ["logistic", "boosting"], indirect=True)
def test_files_predict_the_same_and_open_without_the_program(
    made: Any, tmp_path: Path, run_outside: Callable[..., Any]
) -> None:
    new = read_dataset(str(tmp_path / "data.csv")).table
    rows = pd.read_csv(tmp_path / "new.csv", dtype={"review": "str", "bought": "str"})[list(new)]
    said = best_of(made.folder).predict_proba(rows)[:, 1]
    for ending in ("skops", "joblib"):
        path = export_from_folder(made.folder, tmp_path / f"model.{ending}")
        table = predict_file(path, tmp_path / "new.csv", trust=True)
        np.testing.assert_allclose(table["probability of yes"], said, atol=1e-9)
    ran = run_outside(OPEN_OUTSIDE, tmp_path, json.dumps(sorted(EXPORTED)))
    assert ran.returncode == 0, ran.stderr
    for line in ran.stdout.splitlines():
        np.testing.assert_allclose(json.loads(line), said, atol=1e-9)


def test_the_script_trains_the_same_model(
    made: Any, tmp_path: Path, run_outside: Callable[..., Any]
) -> None:
    script = export_from_folder(made.folder, tmp_path / "tuned.py")
    assert 'analyzer="char_wb"' in script.read_text()
    assert f"tuned: {made.score:.6f}" in script_output(run_outside, script, tmp_path)


def test_numbers_name_words_and_a_report_lists_no_words(made: Any, tmp_path: Path) -> None:
    document = json.loads(export_from_folder(made.folder, tmp_path / "run.json").read_text())
    weights = document["coefficients"]["weights"]
    assert "review: word “sturdy”" in weights
    page = export_from_folder(made.folder, tmp_path / "run.html").read_text()
    assert "review: word" not in page
    quiet = export_run(
        without_examples(finished_run(made.folder)), tmp_path / "quiet.json"
    ).read_text()
    assert "sturdy" not in quiet
    assert "review: word 1" in quiet
    assert len(json.loads(quiet)["coefficients"]["weights"]) == len(weights)


def test_onnx_says_in_a_sentence_that_it_has_no_texts(made: Any) -> None:
    dataset = made.dataset
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.features)
    assert isinstance(fitted[0], ColumnTransformer)
    with pytest.raises(UnusableError) as caught:
        rows_graph(fitted)
    assert caught.value.sentence == (
        "ONNX has no counterpart of texts as words and parts of words (“review”); export it as"
        " skops."
    )
