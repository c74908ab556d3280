"""Preparation of tables, against formulas worked by hand."""

from __future__ import annotations

from typing import Any

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
from core.errors import UnusableError
from core.tuning.guidance.column_encodings import encoding_sentences


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


def test_levels_are_all_there_and_merge_nothing(read):
    table = shops(1000, 80)
    table.loc[0, "shop"] = "only here"
    dataset = read(table)
    outputs = prepared(dataset, categories="levels")
    wanted = pd.get_dummies(table["shop"], prefix="shop", prefix_sep="=", dtype=float)
    assert list(outputs.columns) == [*sorted(wanted.columns), "size"]
    pd.testing.assert_frame_equal(outputs[wanted.columns], wanted)


def test_means_are_shrunken_means_of_the_other_rows(read):
    dataset = read(shops(1000, 60))
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


def test_no_target_leaks_into_its_own_mean(read):
    rng = np.random.default_rng(3)
    held = np.arange(900) % 3 == 0
    words = [f"w{number}" for number in rng.integers(0, 300, 900)]
    dataset = read(pd.DataFrame({"word": words, "y": rng.normal(size=900)}))
    target = np.where(held, 1e6, dataset.target)  # of rows that are not fitted on
    seen, y = dataset.features[~held], dataset.target[~held]
    prepare, other = (preparation(dataset, scale=False, sparse_ok=False) for _ in range(2))
    first = prepare.fit_transform(seen, y)
    np.testing.assert_array_equal(first, other.fit_transform(seen, target[~held]))
    assert abs(np.corrcoef(first[:, 0], y)[0, 1]) < 0.15
    assert np.corrcoef(prepare.transform(seen)[:, 0], y)[0, 1] > 0.4


def test_a_category_that_is_the_group_itself_says_nothing(read):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(100), 8)
    y = rng.normal(size=100)[person] * 3 + rng.normal(size=800)
    table = pd.DataFrame({"id": person, "name": [f"p{p}" for p in person], "y": y})
    table["town"] = [f"t{p % 30}" for p in person]
    dataset = read(table, roles={"id": "group"})
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


def test_shares_of_classes(read):
    table = shops(900, 40)
    table["y"] = np.where(table["y"] > 0, "yes", "no")
    assert list(prepared(read(table)).columns) == ["shop (share of yes)", "size"]
    table["y"] = np.random.default_rng(1).choice(["low", "middle", "high"], 900, p=[0.3, 0.4, 0.3])
    outputs = prepared(read(table))
    shares = outputs[[f"shop (share of {label})" for label in ("high", "low", "middle")]]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=0.2)
    assert len(outputs.columns) == 4


def test_a_class_that_a_fold_lacks_harms_no_mean(read):
    table = shops(300, 30)
    table["y"] = np.where(table["y"] > 0, "yes", "no")
    table.loc[:3, "y"] = "perhaps"
    dataset = read(table)
    assert dataset.task == "multiclass"
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    prepare.fit_transform(dataset.features[4:], dataset.target[4:])
    assert len(output_names(prepare)) == prepare.transform(dataset.features).shape[1] == 31


def test_missing_is_a_level_and_unknown_is_none(read):
    table = pd.DataFrame({"word": ["a", "b", "", "c"] * 30, "full": ["x", "y", "z", "x"] * 30})
    dataset = read(table.assign(y=np.arange(120.0) % 7))
    prepare = preparation(dataset, scale=True, sparse_ok=False, categories="levels")
    prepare.fit(dataset.features)
    names = output_names(prepare)
    assert names == [*(f"word={w}" for w in "abc"), "word (missing)", *(f"full={w}" for w in "xyz")]
    rows = pd.DataFrame({"word": ["a", np.nan, "new"], "full": [np.nan, "new", "z"]})
    wanted = np.zeros((3, 7))
    wanted[0, 0] = wanted[1, 3] = wanted[2, 6] = 1.0
    np.testing.assert_array_equal(prepare.transform(rows), wanted)


def test_the_rarest_of_few_levels_have_no_column_but_of_linear_models(read):
    table = pd.DataFrame({"word": ["a", "b"] * 100, "y": np.arange(200.0) % 7})
    table.loc[:1, "word"], table.loc[2:3, "word"] = "rare", ""
    dataset = read(table)
    assert list(prepared(dataset).columns) == ["word=a", "word=b"]
    linear = prepared(dataset, categories="levels").columns
    assert list(linear) == ["word=a", "word=b", "word=rare", "word (missing)"]
    prepare = preparation(dataset, scale=False, sparse_ok=False).fit(dataset.features)
    assert encoding_sentences(prepare, dataset.columns, dataset.rows) == {
        "word": "“word”: 2 of 3 values have a column each, the others none; 1 % missing"
    }


@pytest.mark.parametrize(("rows", "means"), [(200, True), (400, False)])
def test_ten_levels_are_few_where_each_has_rows(read, rows, means):
    outputs = prepared(read(shops(rows, 10)))
    assert ("shop (mean of target)" in outputs) == means
    assert outputs.shape[1] == (2 if means else 11)


def test_few_missing_numbers_have_no_column(read):
    x = np.arange(1000.0) % 97
    few, many = x.copy(), x.copy()
    few[:9], many[:10] = np.nan, np.nan
    dataset = read(pd.DataFrame({"few": few, "many": many, "y": x % 7}))
    outputs = prepared(dataset)
    assert list(outputs.columns) == ["few", "many", "many (missing)"]
    assert outputs["many (missing)"].sum() == 10


def test_parts_of_dates(read):
    rng = np.random.default_rng(0)
    hours = pd.to_timedelta(rng.integers(0, 10**6, 400), "h")
    times = pd.Series(pd.Timestamp("1961-11-05") + hours).dt
    table = pd.DataFrame({"time": times.strftime("%Y-%m-%d %H:%M"), "y": rng.normal(size=400)})
    dataset = read(table)
    parts = {"year": times.year, "month": times.month, "weekday": times.day_of_week}
    outputs = prepared(dataset)
    for part, values in {**parts, "hour": times.hour}.items():
        scaled = (values - values.mean()) / values.std(ddof=0)
        np.testing.assert_allclose(outputs[f"time: {part}"], scaled, atol=1e-9)
    levels = prepared(dataset, categories="levels")
    np.testing.assert_array_equal(levels["time: month=2"], times.month == 2)
    np.testing.assert_array_equal(levels["time: weekday=7"], times.day_of_week == 6)
    np.testing.assert_array_equal(levels["time: hour=0"], times.hour == 0)
    assert len(levels.columns) == 2 + 12 + 7 + 24


def test_many_levels_are_sparse_where_it_pays(read):
    for rows, levels, is_sparse in ((2000, 400, False), (8000, 900, True)):
        dataset = read(shops(rows, levels))
        prepare = preparation(dataset, scale=True, sparse_ok=True, categories="levels")
        out = prepare.fit_transform(dataset.features, dataset.target)
        assert sparse.issparse(out) == stays_sparse(prepare) == is_sparse
        assert out.shape[1] == dataset.table["shop"].nunique() + 1


def test_a_sentence_for_each_column_that_changed(read):
    table = shops(1000, 50)
    table["rating"] = np.where(np.arange(1000) % 8 == 0, np.nan, 3.5)
    table.loc[1, "rating"] = 9.0
    table["kind"] = np.array(["a", "b", ""])[np.arange(1000) % 3]
    table["day"] = pd.date_range("2024-03-01", periods=31).strftime("%Y-%m-%d")[
        np.arange(1000) % 31
    ]
    dataset = read(table)
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


def test_names_are_unique(read):
    table = pd.DataFrame({"a": ["x", "y"] * 30, "a=x": np.arange(60.0), "y": np.arange(60.0) % 7})
    prepare = preparation(read(table), scale=True, sparse_ok=False, categories="levels")
    prepare.fit(table)
    assert output_names(prepare) == ["a=x", "a=y", "a=x (2)"]
    assert output_sources(prepare) == ["a", "a", "a=x"]


@pytest.fixture
def mixed(read) -> Dataset:
    """Every kind of column, with holes, read from a file."""
    at = np.arange(120)
    days = [f"2024-03-{i % 28 + 1:02d}" for i in at]
    columns = {
        "number": np.where(at % 10 == 3, "", (at * 0.5).astype(str)),
        "whole": at % 7,
        "full": at * 3 % 11,
        "word": np.where(at % 20 == 7, "", np.array(["red", "green", "blue"])[at % 3]),
        "flag": np.where(at == 5, "?", np.array(["yes", "no"])[at // 2 % 2]),
        "bit": at // 3 % 2,
        "day": np.where(at % 15 == 4, "NA", days),
        "y": np.array(["a", "b"])[at % 2],
    }
    table = pd.DataFrame(columns)
    table.loc[60, "word"] = "violet"
    return read(table)


def test_outputs_against_hand_made_ones(mixed):
    outputs = prepared(mixed)
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


def test_every_output_knows_its_source(mixed):
    fitted = preparation(mixed, scale=True, sparse_ok=True).fit(mixed.features)
    names, sources = output_names(fitted), output_sources(fitted)
    assert len(names) == len(sources) == fitted.transform(mixed.features).shape[1]
    assert set(sources) == set(mixed.feature_names)
    assert all(n.startswith(s) for n, s in zip(names, sources, strict=True))
    assert len(set(names)) == len(names)


def test_scaling(mixed):
    outputs = prepared(mixed, scale=True)
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


# All that a prepared pipeline may ask to be trusted with; the functions read dates. None is of
# this program, without which it predicts.
HARMLESS = {
    *(f"numpy.{name}" for name in ("asarray", "dtype", "expand_dims", "interp")),
    *("pandas.to_datetime", "builtins.slice"),
}


def kept(fitted: Any) -> Any:
    """What skops stores and reads again."""
    data = skops.io.dumps(fitted)
    asked = skops.io.get_untrusted_types(data=data)
    assert set(asked) <= HARMLESS
    return skops.io.loads(data, trusted=asked)


def test_later_rows_may_hold_anything_and_skops_keeps_the_fitted_pipeline(mixed):
    model = make_pipeline(preparation(mixed, scale=True, sparse_ok=True), LogisticRegression())
    model.fit(mixed.features, mixed.target)
    for rows in (surprises(mixed), mixed.table.assign(full=np.nan)):
        assert set(model.predict(rows)) <= {"a", "b"}
        np.testing.assert_array_equal(kept(model).predict_proba(rows), model.predict_proba(rows))


def test_a_sparse_matrix_stays_sparse(read):
    rng = np.random.default_rng(0)
    columns = [sorted(rng.choice(900, 9, False) + 1) for _ in range(200)]
    lines = [" ".join(f"{j}:{rng.normal():.3f}" for j in own) for own in columns]
    dataset = read("\n".join(f"{i % 2} {line}" for i, line in enumerate(lines)), "wide.libsvm")
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.matrix)
    out = fitted.transform(dataset.matrix)
    assert sparse.issparse(out)
    assert out.nnz == dataset.matrix.nnz
    dense = dataset.matrix.toarray()
    spread = dense.std(axis=0)
    np.testing.assert_allclose(out.toarray(), dense / np.where(spread == 0, 1, spread))
    assert output_names(fitted) == dataset.feature_names == output_sources(fitted)
    plain = preparation(dataset, scale=False, sparse_ok=False).fit(dataset.matrix)
    assert output_names(plain) == dataset.feature_names
    for same in (plain, kept(plain)):
        np.testing.assert_array_equal(same.transform(dataset.matrix), dense)


def test_what_would_not_fit_in_memory_is_refused(read):
    dataset = read("".join(f"{i % 2} {i + 1}:1 60000:1\n" for i in range(5000)), "wide.libsvm")
    with pytest.raises(UnusableError, match="needs 2 GB"):
        preparation(dataset, scale=True, sparse_ok=False)
    out = preparation(dataset, scale=True, sparse_ok=True).fit_transform(dataset.matrix)
    assert out.nnz == 10_000
