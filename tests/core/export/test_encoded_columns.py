"""Every exported form of the encoding gives what the model's own gives, on any later row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.reading import read_dataset
from core.export.bundle.column_preparation import prepare_columns
from core.export.bundle.column_transforms import column_transforms, transform_document
from core.export.onnx.onnx_file import OnnxModel, onnx_model
from core.export.raw_rows import ATTRIBUTE
from core.export.script.constructor import CodeWriter

CHOICES = [(c, s) for c in ("levels", "means") for s in (False, True)]
READING = {"quote": '"', "padded": False, "decimal": ".", "thousands": "", "missing": [""]}


def rows_of(rows: int, seed: int) -> pd.DataFrame:
    """Numbers, categories of few and many levels, yes/no and dates, each with holes."""
    rng = np.random.default_rng(seed)
    hours = pd.to_timedelta(rng.integers(-200_000, 400_000, rows), unit="h")
    table = pd.DataFrame(
        {
            "size": rng.normal(size=rows),
            "bit": rng.integers(0, 2, rows).astype(float),
            "full": rng.normal(size=rows),
            "shop": [f"shop {i}" for i in rng.integers(0, 40, rows)],
            "colour": rng.choice(["red", "green", "blue"], rows),
            "paid": rng.choice(["yes", "no"], rows),
            "when": (pd.Timestamp("1970-01-01") + hours).strftime("%Y-%m-%d %H:%M"),
        }
    )
    holes = rng.random(table.shape) < 0.1
    holes[:, 2] = False
    return table.mask(holes)


def made(folder: Path, task: str) -> tuple[Dataset, pd.DataFrame]:
    """A dataset, and later rows with levels that it lacks."""
    table = rows_of(400, 1)
    y = table["shop"].str[5:].astype(float).fillna(9) + table["size"].fillna(3)
    table["y"] = y + 10 * table["colour"].eq("red")
    if task != "regression":
        cuts = [20] if task == "binary" else [12, 28]
        table["y"] = np.array(["a", "b", "c"])[np.digitize(table["y"], cuts)]
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    later = rows_of(60, 2)
    later.loc[:4, ["shop", "colour", "when"]] = ["nowhere", "violet", np.nan]
    later.loc[5, "full"] = np.nan
    return read_dataset(str(path)), later


def fitted(dataset: Dataset, categories: str, scale: bool) -> Pipeline:
    prepare = preparation(dataset, scale=scale, sparse_ok=False, categories=categories)
    if dataset.task == "regression":
        model: Any = RandomForestRegressor(5, random_state=0) if categories == "means" else Ridge()
    else:
        model = RandomForestClassifier(5, random_state=0)
        model = model if categories == "means" else LogisticRegression(max_iter=2000)
    pipeline = Pipeline([("prepare", prepare), ("model", model)])
    return pipeline.fit(dataset.features, dataset.target)


@pytest.mark.parametrize(("categories", "scale"), [("levels", True), ("means", False)])
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_onnx(tmp_path: Path, task: str, categories: str, scale: bool) -> None:
    pytest.importorskip("onnxruntime")
    dataset, later = made(tmp_path, task)
    pipeline = fitted(dataset, categories, scale)
    card: dict[str, Any] = {"features": [], "text": [], "columns": [], "target": "y"}
    setattr(pipeline, ATTRIBUTE, card | {"format": "csv", "read_csv": {}, "libsvm": {}})
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_model(pipeline).SerializeToString())
    outputs = OnnxModel(path).outputs(later)
    if task == "regression":
        np.testing.assert_allclose(outputs["prediction"], pipeline.predict(later), rtol=1e-6)
    else:
        wanted = pipeline.predict_proba(later)
        np.testing.assert_allclose(outputs["probabilities"], wanted, atol=1e-6)


@pytest.mark.parametrize("categories", ["levels", "means"])
@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_the_folder_of_numpy_alone(tmp_path: Path, task: str, categories: str) -> None:
    dataset, later = made(tmp_path, task)
    prepare = fitted(dataset, categories, scale=False)[0]
    parts = [transform_document(transform) for transform in column_transforms(prepare)]
    text = later.to_csv(index=False)
    ours = prepare_columns({"parts": parts, "reading": READING}, text)
    np.testing.assert_allclose(ours, prepare.transform(later), atol=1e-9)


@pytest.mark.parametrize(("categories", "scale"), CHOICES)
def test_the_script_builds_the_same(tmp_path: Path, categories: str, scale: bool) -> None:
    dataset, later = made(tmp_path, "multiclass")
    prepare = fitted(dataset, categories, scale)[0]
    code = CodeWriter()
    expression = code.expression(prepare)
    names: dict[str, Any] = {}
    exec("\n".join([*code.import_lines(), f"prepare = {expression}"]), names)
    again = names["prepare"]
    ours = again.fit_transform(dataset.features, dataset.target)
    assert "core" not in "".join(code.imports)
    wanted = preparation(dataset, scale=scale, sparse_ok=False, categories=categories)
    np.testing.assert_array_equal(ours, wanted.fit_transform(dataset.features, dataset.target))
    np.testing.assert_array_equal(again.transform(later), prepare.transform(later))
