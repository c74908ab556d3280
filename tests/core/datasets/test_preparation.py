"""Raw rows become the right numbers, also later ones with surprises, and without this program."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.prepared_columns import output_names, output_sources
from core.datasets.reading import read_dataset
from core.datasets.samples.registry import SAMPLES
from core.errors import UnusableError


@pytest.fixture
def mixed(tmp_path: Path) -> Dataset:
    """Every kind of column, with holes, read from a file."""
    lines = ["number,whole,full,word,flag,bit,day,y"]
    for i in range(120):
        number = "" if i % 10 == 3 else f"{i * 0.5}"
        word = "" if i % 20 == 7 else ("red", "green", "blue")[i % 3]
        flag = "?" if i == 5 else ("yes", "no")[i // 2 % 2]
        day = "NA" if i % 15 == 4 else f"2024-03-{i % 28 + 1:02d}"
        word = "violet" if i == 60 else word
        lines.append(
            f"{number},{i % 7},{i * 3 % 11},{word},{flag},{i // 3 % 2},{day},{'ab'[i % 2]}"
        )
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_dataset(str(path))


def matrix_of(dataset: Dataset, *, scale: bool = False) -> pd.DataFrame:
    fitted = preparation(dataset, scale=scale, sparse_ok=False).fit(dataset.features)
    return pd.DataFrame(fitted.transform(dataset.features), columns=output_names(fitted))


def test_outputs_against_hand_made_ones(mixed: Dataset) -> None:
    outputs = matrix_of(mixed)
    raw = mixed.table
    known = raw["number"].dropna()
    np.testing.assert_array_equal(outputs["number"], raw["number"].fillna(known.median()))
    np.testing.assert_array_equal(outputs["full"], raw["full"])
    np.testing.assert_array_equal(outputs["number (missing)"], raw["number"].isna())
    assert "word=violet" not in outputs  # of one row
    for word in ("red", "green", "blue"):
        np.testing.assert_array_equal(outputs[f"word={word}"], raw["word"] == word)
    np.testing.assert_array_equal(outputs["word (missing)"], raw["word"].isna())
    flags = raw["flag"].fillna(raw["flag"].mode()[0])
    np.testing.assert_array_equal(outputs["flag"], (flags == "yes").astype(float))
    np.testing.assert_array_equal(outputs["bit"], raw["bit"])
    dates = pd.to_datetime(raw["day"])
    seconds = (dates - pd.Timestamp(0)).dt.total_seconds()
    weekdays = dates.dt.day_of_week + 1.0
    for name, values, filling in (
        ("day", seconds, seconds.median()),
        ("day: weekday", weekdays, weekdays.mode()[0]),
    ):
        filled = values.fillna(filling)
        wanted = (filled - filled.mean()) / filled.std(ddof=0)
        np.testing.assert_allclose(outputs[name], wanted, atol=1e-12)
    np.testing.assert_array_equal(outputs["day (missing)"], raw["day"].isna())
    assert not [name for name in outputs if name in ("day: year", "day: month", "day: hour")]


def test_every_output_knows_its_source(mixed: Dataset) -> None:
    fitted = preparation(mixed, scale=True, sparse_ok=True).fit(mixed.features)
    names, sources = output_names(fitted), output_sources(fitted)
    assert len(names) == len(sources) == fitted.transform(mixed.features).shape[1]
    assert set(sources) == set(mixed.feature_names)
    assert all(n.startswith(s) for n, s in zip(names, sources, strict=True))
    assert len(set(names)) == len(names)


def test_scaling(mixed: Dataset) -> None:
    outputs = matrix_of(mixed, scale=True)
    of_levels = [name for name in outputs if "=" in name or "(missing)" in name]
    assert set(np.unique(outputs[of_levels])) == {0.0, 1.0}
    numbers = outputs.drop(columns=of_levels).to_numpy()
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(numbers.std(axis=0), 1, atol=1e-9)


def surprises(mixed: Dataset) -> pd.DataFrame:
    """Rows with what was never seen, in another order and with other columns besides."""
    later = mixed.table.head(4).copy()
    later.loc[0] = np.nan
    later["word"] = ["crimson", "red", None, ""]
    later["flag"] = ["perhaps", "yes", None, "no"]
    later["day"] = ["soon", "2031-01-01", None, "31.12.2024"]
    later["extra"] = 3
    return later[later.columns[::-1]]


def test_later_rows_may_hold_anything(mixed: Dataset) -> None:
    model = make_pipeline(preparation(mixed, scale=True, sparse_ok=True), LogisticRegression())
    model.fit(mixed.features, mixed.target)
    assert set(model.predict(surprises(mixed))) <= {"a", "b"}
    assert set(model.predict(mixed.table.assign(full=np.nan))) <= {"a", "b"}


WITHOUT_US = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("core", "app", "resources"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import pickle, pandas
with open(sys.argv[1], "rb") as file:
    model, rows = pickle.load(file)
print(repr(model.predict_proba(rows).tolist()))
"""


@pytest.mark.parametrize("sparse_ok", [True, False])
def test_a_fitted_pipeline_works_without_this_program(
    mixed: Dataset, tmp_path: Path, sparse_ok: bool
) -> None:
    model = make_pipeline(preparation(mixed, scale=True, sparse_ok=sparse_ok), LogisticRegression())
    model.fit(mixed.features, mixed.target)
    rows = surprises(mixed)
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps((model, rows)))
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_US, str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    np.testing.assert_array_equal(eval(run.stdout), model.predict_proba(rows))


# All that a prepared pipeline may ask to be trusted with; the functions read dates.
HARMLESS = {
    "numpy.asarray",
    "numpy.dtype",
    "numpy.expand_dims",
    "numpy.interp",
    "pandas.to_datetime",
    "builtins.slice",
}


def test_skops_keeps_the_fitted_pipeline(mixed: Dataset) -> None:
    model = make_pipeline(preparation(mixed, scale=True, sparse_ok=True), LogisticRegression())
    model.fit(mixed.features, mixed.target)
    data = skops.io.dumps(model)
    asked = skops.io.get_untrusted_types(data=data)
    assert set(asked) <= HARMLESS
    again = skops.io.loads(data, trusted=asked)
    rows = surprises(mixed)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_a_sparse_matrix_stays_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.libsvm"
    lines = (
        f"{i % 2} "
        + " ".join(f"{j}:{rng.normal():.3f}" for j in sorted(rng.choice(900, 9, False) + 1))
        for i in range(200)
    )
    path.write_text("\n".join(lines))
    dataset = read_dataset(str(path))
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.matrix)
    out = fitted.transform(dataset.matrix)
    assert sparse.issparse(out)
    assert out.nnz == dataset.matrix.nnz
    dense = dataset.matrix.toarray()
    spread = dense.std(axis=0)
    np.testing.assert_allclose(out.toarray(), dense / np.where(spread == 0, 1, spread))
    assert output_names(fitted) == dataset.feature_names == output_sources(fitted)
    plain = preparation(dataset, scale=False, sparse_ok=False).fit(dataset.matrix)
    np.testing.assert_array_equal(plain.transform(dataset.matrix), dense)
    assert output_names(plain) == dataset.feature_names
    again = skops.io.loads(
        skops.io.dumps(plain), trusted=skops.io.get_untrusted_types(data=skops.io.dumps(plain))
    )
    np.testing.assert_array_equal(again.transform(dataset.matrix), dense)


def test_what_would_not_fit_in_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wide.libsvm"
    path.write_text("".join(f"{i % 2} {i + 1}:1 60000:1\n" for i in range(5000)))
    dataset = read_dataset(str(path))
    with pytest.raises(UnusableError, match="needs 2 GB"):
        preparation(dataset, scale=True, sparse_ok=False)
    assert (
        preparation(dataset, scale=True, sparse_ok=True).fit_transform(dataset.matrix).nnz == 10_000
    )


def test_many_categories_of_a_long_table_stay_sparse(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "long.csv"
    table = pd.DataFrame({f"c{i}": rng.integers(0, 60, 30_000) for i in range(20)})
    table = "w" + table.astype(str)
    table["number"] = rng.normal(size=30_000)
    table["y"] = rng.integers(0, 2, 30_000)
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    fitted = preparation(dataset, scale=True, sparse_ok=True, categories="levels")
    out = fitted.fit(dataset.features).transform(dataset.features)
    assert sparse.issparse(out)
    assert out.shape[1] == len(output_names(fitted)) == 20 * 60 + 1
    means = preparation(dataset, scale=True, sparse_ok=True)
    assert means.fit_transform(dataset.features, dataset.target).shape == (30_000, 21)


TABLES = [name for name, s in SAMPLES.items() if s.task in ("regression", "binary", "multiclass")]


@pytest.mark.parametrize("name", TABLES)
def test_samples_are_prepared(name: str) -> None:
    dataset = SAMPLES[name].read()
    for scale in (False, True):
        fitted = preparation(dataset, scale=scale, sparse_ok=False)
        fitted.fit(dataset.features, dataset.target)
        out = fitted.transform(dataset.features)
        assert np.isfinite(out).all()
        assert out.shape == (dataset.rows, len(output_names(fitted)))
