"""Which files count, how they are split, and what perturbed copies lack."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from core.errors import UnusableError
from tests.reproduction.yogatama_datasets import (
    StreamedDataset,
    available_datasets,
    perturb_dataset,
    perturbation,
    read_source,
    split_dataset,
)


def written(path, rows, columns=3, classes=2):
    values = np.random.default_rng(0).standard_normal((rows, columns)).round(3)
    table = pd.DataFrame(values).add_prefix("x")
    table.assign(**{"class": [f"c{row % classes}" for row in range(rows)]}).to_csv(
        path, index=False
    )


def libsvm(path, rows, shift=0.0, width=4):
    X = shift + np.arange(rows)[:, None] + np.arange(width) / 10
    dump_svmlight_file(X, np.arange(rows) % 2, str(path), zero_based=False)


def test_files_that_do_not_count_are_left_out_with_a_sentence(tmp_path):
    written(tmp_path / "good.csv", 40)
    written(tmp_path / "wide.csv", 20, columns=300)
    (tmp_path / "broken.csv").write_bytes(b"")
    numbers = "x,y\n" + "\n".join(f"{k},{k / 7:.4f}" for k in range(50))
    (tmp_path / "numbers.csv").write_text(numbers + "\n", encoding="utf-8")
    here = available_datasets(tmp_path)
    assert [source.name for source in here.sources] == ["good"]
    assert here.sizes == (40,)
    said = "\n".join(here.remarks)
    assert "broken" in said
    assert "wide is left out: 20 rows and 300 features" in said
    assert len(here.remarks) == 2  # a table of numbers is no fault


def test_a_manifest_decides_where_there_is_one(tmp_path):
    written(tmp_path / "one.csv", 40)
    written(tmp_path / "two.csv", 40)
    (tmp_path / "MANIFEST.csv").write_text(
        "name,files,task\nfirst,one.csv,binary\nother,two.csv,regression\nlost,no.csv,binary\n"
    )
    here = available_datasets(tmp_path)
    assert [source.name for source in here.sources] == ["first"]
    assert [remark.split()[0] for remark in here.remarks] == ["lost"]


def test_an_official_test_part_is_the_test_part(tmp_path):
    libsvm(tmp_path / "flags.scale.libsvm", 40)
    libsvm(tmp_path / "flags.scale.t.libsvm", 10, shift=1000.0)
    (source,) = available_datasets(tmp_path).sources
    data = split_dataset(StreamedDataset(source))
    assert [len(part.y) for part in (data.train, data.development, data.test)] == [30, 10, 10]
    assert data.test.X.min() > data.train.X.max()
    np.testing.assert_allclose(data.train.X.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(data.train.X.std(axis=0), 1.0)
    assert data.statistics == (math.log(30), math.log(4), 2.0)


@pytest.mark.parametrize("name", ["nothing there", "empty"])
def test_a_folder_without_a_table_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnusableError):
        available_datasets(tmp_path / name)


def test_a_copy_lacks_what_is_said_and_always_the_same(tmp_path):
    written(tmp_path / "some.csv", 200, columns=20)
    source = available_datasets(tmp_path).sources[0]
    whole = read_source(source)
    kinds = set()
    for number in range(1, 9):
        arrival = StreamedDataset(source, number)
        said, copy = perturbation(arrival, 20), perturb_dataset(whole, arrival)
        rows, columns = copy.features.shape
        kinds.add(said.kind)
        assert 0.1 <= said.share <= 0.5
        if said.kind == "features":
            assert (rows, columns) == (200, 20 - round(20 * said.share))
        else:
            assert (rows, columns) == (200 - round(200 * said.share), 20)
            original = whole.table.to_numpy()
            assert all((original == row).all(axis=1).any() for row in copy.table.to_numpy())
        again = perturb_dataset(whole, arrival)
        np.testing.assert_array_equal(copy.table.to_numpy(), again.table.to_numpy())
        np.testing.assert_array_equal(copy.target, again.target)
    assert kinds == {"features", "instances"}


def test_a_copy_lacks_features_in_its_test_part_too(tmp_path):
    libsvm(tmp_path / "wide.libsvm", 40, width=10)
    libsvm(tmp_path / "wide.t.libsvm", 12, width=10)
    (source,) = available_datasets(tmp_path).sources
    numbers = [
        k for k in range(1, 20) if perturbation(StreamedDataset(source, k)).kind == "features"
    ]
    data = split_dataset(StreamedDataset(source, numbers[0]))
    lacking = round(10 * perturbation(StreamedDataset(source, numbers[0])).share)
    assert data.train.X.shape[1] == data.test.X.shape[1] == 10 - lacking
    assert len(data.test.y) == 12
