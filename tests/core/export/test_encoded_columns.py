"""Every exported form of the encoding gives what the model's own gives, on any later row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.datasets.preparation import preparation
from core.datasets.reading import read_dataset
from core.export.bundle.column_preparation import prepare_columns
from core.export.bundle.column_transforms import column_transforms, transform_document
from core.export.script.constructor import CodeWriter

READING = {"quote": '"', "padded": False, "decimal": ".", "thousands": "", "missing": [""]}


def rows_of(rows, seed):
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


def made(folder, task):
    """A dataset, and later rows with levels that it lacks."""
    table = rows_of(400, 1)
    y = table["shop"].str[5:].astype(float).fillna(9) + table["size"].fillna(3)
    table["y"] = y + 10 * table["colour"].eq("red")
    if task != "regression":
        table["y"] = np.array(["a", "b", "c"])[np.digitize(table["y"], [12, 28])]
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    later = rows_of(60, 2)
    later.loc[:4, ["shop", "colour", "when"]] = ["nowhere", "violet", np.nan]
    later.loc[5, "full"] = np.nan
    return read_dataset(str(path)), later


def preparation_of(dataset, categories, scale=False):
    return preparation(dataset, scale=scale, sparse_ok=False, categories=categories)


@pytest.mark.parametrize("categories", ["levels", "means"])
@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_the_folder_of_numpy_alone(tmp_path, task, categories):
    dataset, later = made(tmp_path, task)
    prepare = preparation_of(dataset, categories).fit(dataset.features, dataset.target)
    parts = [transform_document(transform) for transform in column_transforms(prepare)]
    text = later.to_csv(index=False)
    ours = prepare_columns({"parts": parts, "reading": READING}, text)
    np.testing.assert_allclose(ours, prepare.transform(later), atol=1e-9)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("categories", ["levels", "means"])
def test_the_script_builds_the_same(tmp_path, categories, scale):
    dataset, later = made(tmp_path, "multiclass")
    prepare = preparation_of(dataset, categories, scale).fit(dataset.features, dataset.target)
    code = CodeWriter()
    expression = code.expression(prepare)
    names = {}
    exec("\n".join([code.imports.text(), f"prepare = {expression}"]), names)
    again = names["prepare"]
    ours = again.fit_transform(dataset.features, dataset.target)
    assert "core" not in code.imports.text()
    wanted = preparation_of(dataset, categories, scale)
    np.testing.assert_array_equal(ours, wanted.fit_transform(dataset.features, dataset.target))
    np.testing.assert_array_equal(again.transform(later), prepare.transform(later))
