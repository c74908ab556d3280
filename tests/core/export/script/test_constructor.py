"""Constructor expressions: evaluated, they give an equal scikit-learn object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from core.datasets.preparation import preparation
from core.datasets.reading import read_dataset
from core.export.script.constructor import CodeWriter, list_code, wrapped_list

OBJECTS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    SimpleImputer(missing_values=-9.25e18, strategy="median"),
    OrdinalEncoder(
        categories=[np.array(["no", 'ye"s'], dtype=object)],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
    ),
    FunctionTransformer(pd.to_datetime, kw_args={"errors": "coerce", "utc": True}),
    FunctionTransformer(np.log1p),
    Pipeline([("a", StandardScaler()), ("b", "passthrough")]),
    ColumnTransformer(
        [("x", OneHotEncoder(max_categories=9), ["a 'b'", 'c "d"', "e\\f"])], remainder="drop"
    ),
]


def rebuilt(thing: Any) -> Any:
    code = CodeWriter()
    expression = code.expression(thing)
    names: dict[str, Any] = {}
    exec("\n".join(code.import_lines()), names)
    return eval(expression, names)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_rebuilds_an_equal_object(thing: Any) -> None:
    again = rebuilt(thing)
    assert type(again) is type(thing)
    assert repr(again.get_params()) == repr(thing.get_params())


@pytest.mark.parametrize("sample", ["clinic", "prices"])
def test_rebuilds_the_preparation(sample: str) -> None:
    dataset = read_dataset(f"sample:{sample}")
    ours = preparation(dataset, scale=True, sparse_ok=False)
    again = rebuilt(ours)
    table = dataset.table
    np.testing.assert_array_equal(ours.fit_transform(table), again.fit_transform(table))


def test_long_lists_have_a_name() -> None:
    columns = [f"column {i}" for i in range(40)]
    code = CodeWriter(names={list_code(columns): "COLUMNS"})
    assert code.expression(("x", "drop", columns)) == '("x", "drop", COLUMNS)'
    text = wrapped_list(columns)
    assert eval(text) == columns
    assert max(len(line) for line in text.splitlines()) <= 100
