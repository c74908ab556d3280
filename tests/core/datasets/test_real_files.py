"""Real files: each is told for what it is, with the counts of the list that lies beside them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from core.datasets.reading import read_dataset

TABULAR = ("regression", "binary", "multiclass")


def listed(folder: Path) -> list[dict[str, str]]:
    with (folder / "MANIFEST.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["task"] in TABULAR]


def test_every_listed_file(shared_data: Path) -> None:
    looked_at = 0
    for row in listed(shared_data):
        files = [name.strip() for name in row["files"].split(";")]
        train = files[0]
        tests = [name for name in files if ".t." in name]
        test = str(shared_data / tests[0]) if tests else ""
        dataset = read_dataset(str(shared_data / train), test_file=test)
        rows, _, test_rows = row["rows"].partition(" + ")
        assert dataset.task == row["task"], train
        assert dataset.rows == int(rows), train
        if row["name"] != "mnist":  # its pixels 779 and 780 are 0 in both parts
            assert len(dataset.feature_names) == int(row["features"]), train
        assert len(dataset.classes) == int(row["classes"] or 0), train
        if test:
            assert dataset.test.rows == int(test_rows.split()[0]), train
            assert dataset.test.matrix.shape[1] == dataset.matrix.shape[1]
        looked_at += 1
    assert looked_at >= 20


def test_tables_agree_with_their_sparse_twins(shared_data: Path) -> None:
    looked_at = 0
    for row in listed(shared_data):
        tables = [n.strip() for n in row["files"].split(";") if n.strip().endswith(".csv")]
        for name in tables:
            dataset = read_dataset(str(shared_data / name))
            assert dataset.task == row["task"], name
            assert dataset.rows == int(row["rows"]), name
            used = len(dataset.feature_names)
            constant = sum(c.kind == "constant" for c in dataset.columns)
            assert used + constant == int(row["features"]), name
            assert len(dataset.classes) == int(row["classes"] or 0), name
            plain = pd.read_csv(dataset.source.path, **dataset.source.read_csv)
            pd.testing.assert_frame_equal(plain[dataset.feature_names], dataset.table)
            looked_at += 1
    assert looked_at >= 8


@pytest.mark.parametrize(
    "name", ["20news_train_counts.libsvm.gz", "a1a.t.libsvm.gz", "glass.scale.libsvm"]
)
def test_the_same_as_scikit_learn(shared_data: Path, name: str) -> None:
    path = str(shared_data / name)
    dataset = read_dataset(path)
    matrix, target = load_svmlight_file(path)
    assert (matrix != dataset.matrix).nnz == 0
    np.testing.assert_array_equal(target, dataset.target)


def test_pictures_of_faces(shared_data: Path) -> None:
    dataset = read_dataset(str(shared_data / "lfw_people_min70_r04.csv.gz"))
    assert (dataset.rows, len(dataset.feature_names), len(dataset.classes)) == (1288, 1850, 7)
