"""Exported models: the same predictions where the program is not installed, and safe opening."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from core.errors import UnusableError
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.export.card_record import card_of
from core.export.exportable_models import export_variants_of
from core.export.exporters import export_from_folder
from core.export.files import skops_file
from core.tuning.runs.best import best_of

# One Python opens them all: starting it costs more than they do.
PREDICT = """
import json, joblib, pandas as pd, skops.io, sys
said = {}
for path in sys.argv[1:]:
    if path.endswith('.joblib'):
        model = joblib.load(path)
    else:
        model = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    card = model.tunescope_
    rows = pd.read_csv(path.rpartition('/')[0] + '/data.csv', **card['read_csv'])
    rows = rows[rows[card['target']].notna()][card['features']]
    shares = model.predict_proba(rows).tolist() if hasattr(model, 'predict_proba') else None
    said[path] = [model.predict(rows).tolist(), shares]
print(json.dumps(said))
"""


def test_models_predict_the_same_without_the_program(
    make_run: Callable[..., Any], run_outside: Any, tmp_path: Path
) -> None:
    cases = [("binary", name, False) for name in ("logistic", "forest", "boosting", "svm")]
    cases += [("regression", "linear", True), ("multiclass", "logistic", True)]
    made = {}
    for number, (task, model, learned) in enumerate(cases):
        folder = tmp_path / str(number)
        run = make_run(task, model, learned=learned, folder=folder)
        for ending in (".skops", ".joblib"):
            export_from_folder(run.folder, folder / f"model{ending}")
            made[f"{number}/model{ending}"] = run
    ran = run_outside(PREDICT, tmp_path, *made)
    assert ran.returncode == 0, ran.stderr
    for path, (said, shares) in json.loads(ran.stdout).items():
        pipeline, dataset = best_of(made[path].folder), made[path].dataset
        ours = pipeline.predict(dataset.features)
        if dataset.task == "regression":
            np.testing.assert_allclose(said, ours, rtol=1e-12)
        else:
            assert said == ours.tolist()
            assert set(said) <= set(dataset.classes)
        if shares is not None:
            probabilities = pipeline.predict_proba(dataset.features)
            np.testing.assert_allclose(shares, probabilities, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, m in MODELS.items()
        if "table" in export_variants_of(m.tasks[-1], n) and (not m.extra or is_installed(m.extra))
    ],
)
def test_every_model_survives_skops(
    make_run: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    task = "multiclass" if "multiclass" in MODELS[name].tasks else "regression"
    made = make_run(task, name)
    export_from_folder(made.folder, tmp_path / "model.skops")
    loaded = skops_file.load_pipeline(tmp_path / "model.skops")
    again = loaded.predict(made.dataset.features)[made.test_rows]
    assert again.tolist() == made.said.tolist()


def test_the_card_says_what_the_model_takes(make_run: Callable[..., Any], tmp_path: Path) -> None:
    made = make_run()
    export_from_folder(made.folder, tmp_path / "model.skops")
    card = card_of(skops_file.load_pipeline(tmp_path / "model.skops"))
    assert card["features"] == made.dataset.feature_names
    assert card["text"] == ["colour", "shop"]
    assert card["target"] == "y"
    assert card["read_csv"]["sep"] == ";"
    # The run's own pipeline carries no card: it was copied before.
    assert not hasattr(best_of(made.folder), "tunescope_")


def test_a_file_with_strange_functions_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "evil.skops"
    skops.io.dump(Pipeline([("run", FunctionTransformer(pickle.loads))]), path)
    with pytest.raises(UnusableError, match=r"pickle\.loads"):
        skops_file.load_pipeline(path)
