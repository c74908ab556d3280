"""Preparation of tables, against formulas worked by hand."""

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
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import (
    output_names,
    output_sources,
    plain_preparation,
    preparation,
    stays_sparse,
)
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.tuning.guidance.column_encodings import encoding_sentences


def read_table(tmp_path: Path, table: pd.DataFrame) -> Dataset:
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    return read_dataset(str(path))


def shops(rows: int, levels: int, seed: int = 0) -> pd.DataFrame:
    """A number that follows the level of "shop"."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, levels, rows)
    y = rng.normal(size=levels)[code] * 5 + rng.normal(size=rows) * 0.5
    names = np.array([f"shop {i}" for i in range(levels)])
    return pd.DataFrame({"shop": names[code], "size": rng.normal(size=rows), "y": y})


def prepared(dataset: Dataset, **choices: object) -> pd.DataFrame:
    prepare = preparation(dataset, **{"scale": False, "sparse_ok": False, **choices})
    out = prepare.fit(dataset.features, dataset.target).transform(dataset.features)
    return pd.DataFrame(out, columns=output_names(prepare))


def test_levels_are_all_there_and_merge_nothing(tmp_path: Path) -> None:
    table = shops(1000, 80)
    table.loc[0, "shop"] = "only here"
    dataset = read_table(tmp_path, table)
    outputs = prepared(dataset, categories="levels")
    wanted = pd.get_dummies(table["shop"], prefix="shop", prefix_sep="=", dtype=float)
    assert list(outputs.columns) == [*sorted(wanted.columns), "size"]
    pd.testing.assert_frame_equal(outputs[wanted.columns], wanted)


def test_means_are_shrunken_means_of_the_other_rows(tmp_path: Path) -> None:
    dataset = read_table(tmp_path, shops(1000, 60))
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    fitted = prepare.fit_transform(dataset.features, dataset.target)[:, 0]
    assert output_names(prepare) == ["shop (mean of target)", "size"]
    assert output_sources(prepare) == ["shop", "size"]
    codes, y = pd.factorize(dataset.table["shop"])[0], dataset.target
    wanted = np.empty(len(y))
    for others, held in KFold(5, shuffle=True, random_state=0).split(y):
        wanted[held] = shrunken_means(codes[others], y[others], codes.max() + 1)[codes[held]]
    np.testing.assert_allclose(fitted, wanted)
    later = prepare.transform(dataset.features)[:, 0]
    np.testing.assert_allclose(later, shrunken_means(codes, y, codes.max() + 1)[codes])
    unknown = dataset.features.head(1).assign(shop="never seen")
    assert prepare.transform(unknown)[0, 0] == pytest.approx(y.mean())


def shrunken_means(codes: np.ndarray, y: np.ndarray, levels: int) -> np.ndarray:
    """Empirical Bayes: λ mean of a level + (1 − λ) mean of all, λ = n τ² / (n τ² + σ²)."""
    means = np.full(levels, y.mean())
    for level in np.unique(codes):
        own = y[codes == level]
        share = len(own) * y.var() / (len(own) * y.var() + own.var())
        means[level] = share * own.mean() + (1 - share) * y.mean()
    return means


def test_no_target_leaks_into_its_own_mean(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = 900
    table = pd.DataFrame(
        {"word": rng.integers(0, 300, rows).astype(str), "y": rng.normal(size=rows)}
    )
    table["word"] = "w" + table["word"]
    dataset = read_table(tmp_path, table)
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    held = np.arange(rows) % 3 == 0
    target = dataset.target.copy()
    target[held] = 1e6  # of rows that are not fitted on
    other = preparation(dataset, scale=False, sparse_ok=False)
    first = prepare.fit_transform(dataset.features[~held], dataset.target[~held])
    second = other.fit_transform(dataset.features[~held], target[~held])
    np.testing.assert_array_equal(first, second)
    assert abs(np.corrcoef(first[:, 0], dataset.target[~held])[0, 1]) < 0.15
    in_sight = prepare.transform(dataset.features[~held])[:, 0]
    assert np.corrcoef(in_sight, dataset.target[~held])[0, 1] > 0.4


def test_a_category_that_is_the_group_itself_says_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(100), 8)
    y = rng.normal(size=100)[person] * 3 + rng.normal(size=800)
    table = pd.DataFrame({"id": person, "name": [f"p{p}" for p in person], "y": y})
    table["town"] = [f"t{p % 30}" for p in person]
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path), DataOptions(roles={"id": "group"}))
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    rows = np.flatnonzero(person % 7 > 0)  # a part of them, as in a fold
    fitted = prepare.fit_transform(dataset.features.iloc[rows], y[rows])[:, :2]
    assert output_names(prepare)[:2] == ["town (mean of target)", "name (mean of target)"]
    of_town, of_person = fitted.T  # each person has one value, of five
    same_mean = [np.unique(of_person[person[rows] == p]).size for p in np.unique(person[rows])]
    assert set(same_mean) == {1}
    assert np.unique(of_person).size <= 5
    assert np.corrcoef(of_person, y[rows])[0, 1] < 0.1 < np.corrcoef(of_town, y[rows])[0, 1]
    steps = plain_preparation(prepare).named_steps["columns"].named_transformers_
    assert {type(steps[f"category means{end}"].cv) for end in ("", " of groups")} == {KFold}


def test_shares_of_classes(tmp_path: Path) -> None:
    table = shops(900, 40)
    table["y"] = np.where(table["y"] > 0, "yes", "no")
    dataset = read_table(tmp_path, table)
    outputs = prepared(dataset)
    assert list(outputs.columns) == ["shop (share of yes)", "size"]
    table["y"] = np.digitize(np.random.default_rng(1).normal(size=900), [-0.5, 0.5])
    table["y"] = table["y"].map({0: "low", 1: "middle", 2: "high"})
    dataset = read_table(tmp_path, table)
    outputs = prepared(dataset)
    shares = outputs[[f"shop (share of {label})" for label in ("high", "low", "middle")]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=0.2)
    assert len(outputs.columns) == 4


def test_a_class_that_a_fold_lacks_harms_no_mean(tmp_path: Path) -> None:
    table = shops(300, 30)
    table["y"] = np.where(table["y"] > 0, "yes", "no")
    table.loc[:3, "y"] = "perhaps"
    dataset = read_table(tmp_path, table)
    assert dataset.task == "multiclass"
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    prepare.fit_transform(dataset.features[4:], dataset.target[4:])
    assert len(output_names(prepare)) == prepare.transform(dataset.features).shape[1] == 31


def test_missing_is_a_level_and_unknown_is_none(tmp_path: Path) -> None:
    table = pd.DataFrame({"word": ["a", "b", "", "c"] * 30, "full": ["x", "y", "z", "x"] * 30})
    dataset = read_table(tmp_path, table.assign(y=np.arange(120.0) % 7))
    prepare = preparation(dataset, scale=True, sparse_ok=False, categories="levels")
    prepare.fit(dataset.features)
    names = output_names(prepare)
    assert names == [*(f"word={w}" for w in "abc"), "word (missing)", *(f"full={w}" for w in "xyz")]
    rows = pd.DataFrame({"word": ["a", np.nan, "new"], "full": [np.nan, "new", "z"]})
    wanted = np.zeros((3, 7))
    wanted[0, 0] = wanted[1, 3] = wanted[2, 6] = 1.0
    np.testing.assert_array_equal(prepare.transform(rows), wanted)


def test_the_rarest_of_few_levels_have_no_column_but_of_linear_models(tmp_path: Path) -> None:
    table = pd.DataFrame({"word": ["a", "b"] * 100, "y": np.arange(200.0) % 7})
    table.loc[:1, "word"], table.loc[2:3, "word"] = "rare", ""
    dataset = read_table(tmp_path, table)
    assert list(prepared(dataset).columns) == ["word=a", "word=b"]
    linear = prepared(dataset, categories="levels").columns
    assert list(linear) == ["word=a", "word=b", "word=rare", "word (missing)"]
    prepare = preparation(dataset, scale=False, sparse_ok=False).fit(dataset.features)
    assert encoding_sentences(prepare, dataset.columns, dataset.rows) == {
        "word": "“word”: 2 of 3 values have a column each, the others none; 1 % missing"
    }


@pytest.mark.parametrize(("rows", "means"), [(200, True), (400, False)])
def test_ten_levels_are_few_where_each_has_rows(tmp_path: Path, rows: int, means: bool) -> None:
    outputs = prepared(read_table(tmp_path, shops(rows, 10)))
    assert ("shop (mean of target)" in outputs) == means
    assert outputs.shape[1] == (2 if means else 11)


def test_few_missing_numbers_have_no_column(tmp_path: Path) -> None:
    x = np.arange(1000.0) % 97
    few, many = x.copy(), x.copy()
    few[:9], many[:10] = np.nan, np.nan
    dataset = read_table(tmp_path, pd.DataFrame({"few": few, "many": many, "y": x % 7}))
    outputs = prepared(dataset)
    assert list(outputs.columns) == ["few", "many", "many (missing)"]
    assert outputs["many (missing)"].sum() == 10


def test_parts_of_dates(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    times = pd.Series(
        pd.Timestamp("1961-11-05") + pd.to_timedelta(rng.integers(0, 10**6, 400), "h")
    )
    table = pd.DataFrame({"time": times.dt.strftime("%Y-%m-%d %H:%M"), "y": rng.normal(size=400)})
    dataset = read_table(tmp_path, table)
    outputs = prepared(dataset)
    for part, values in (
        ("year", times.dt.year),
        ("month", times.dt.month),
        ("weekday", times.dt.day_of_week),
        ("hour", times.dt.hour),
    ):
        np.testing.assert_allclose(
            outputs[f"time: {part}"], (values - values.mean()) / values.std(ddof=0), atol=1e-9
        )
    levels = prepared(dataset, categories="levels")
    np.testing.assert_array_equal(levels["time: month=2"], times.dt.month == 2)
    np.testing.assert_array_equal(levels["time: weekday=7"], times.dt.day_of_week == 6)
    np.testing.assert_array_equal(levels["time: hour=0"], times.dt.hour == 0)
    assert len(levels.columns) == 2 + 12 + 7 + 24


def test_many_levels_are_sparse_where_it_pays(tmp_path: Path) -> None:
    for rows, levels, is_sparse in ((2000, 400, False), (8000, 900, True)):
        dataset = read_table(tmp_path, shops(rows, levels))
        prepare = preparation(dataset, scale=True, sparse_ok=True, categories="levels")
        out = prepare.fit_transform(dataset.features, dataset.target)
        assert sparse.issparse(out) == stays_sparse(prepare) == is_sparse
        assert out.shape[1] == dataset.table["shop"].nunique() + 1


def test_a_sentence_for_each_column_that_changed(tmp_path: Path) -> None:
    table = shops(1000, 50)
    table["rating"] = np.where(np.arange(1000) % 8 == 0, np.nan, 3.5)
    table.loc[1, "rating"] = 9.0
    table["kind"] = np.array(["a", "b", ""])[np.arange(1000) % 3]
    table["day"] = pd.date_range("2024-03-01", periods=31).strftime("%Y-%m-%d")[
        np.arange(1000) % 31
    ]
    dataset = read_table(tmp_path, table)
    prepare = preparation(dataset, scale=True, sparse_ok=False)
    prepare.fit(dataset.features, dataset.target)
    assert encoding_sentences(prepare, dataset.columns, dataset.rows) == {
        "shop": "“shop”: 50 values, each by the mean of the target among its rows",
        "rating": "“rating”: 12 % missing: the median 3.5 and a column that says so",
        "kind": "“kind”: both values have a column each; 33 % missing, a value of their own",
        "day": "“day”: as a number and weekday",
    }
    prepare = preparation(dataset, scale=True, sparse_ok=False, categories="levels")
    prepare.fit(dataset.features)
    sentences = encoding_sentences(prepare, dataset.columns, dataset.rows)
    assert sentences["shop"] == "“shop”: all 50 values have a column each"


def test_names_are_unique(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": ["x", "y"] * 30, "a=x": np.arange(60.0), "y": np.arange(60.0) % 7})
    dataset = read_table(tmp_path, table)
    prepare = preparation(dataset, scale=True, sparse_ok=False, categories="levels")
    prepare.fit(dataset.features)
    assert output_names(prepare) == ["a=x", "a=y", "a=x (2)"]
    assert output_sources(prepare) == ["a", "a", "a=x"]


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


def test_a_fitted_pipeline_works_without_this_program(mixed: Dataset, tmp_path: Path) -> None:
    model = make_pipeline(preparation(mixed, scale=True, sparse_ok=True), LogisticRegression())
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


TABLES = [name for name, s in SAMPLES.items() if s.task in ("regression", "binary", "multiclass")]


@pytest.mark.parametrize("name", TABLES)
def test_samples_are_prepared(name: str) -> None:
    dataset = SAMPLES[name].read()
    fitted = preparation(dataset, scale=True, sparse_ok=False)
    fitted.fit(dataset.features, dataset.target)
    out = fitted.transform(dataset.features)
    assert np.isfinite(out).all()
    assert out.shape == (dataset.rows, len(output_names(fitted)))
