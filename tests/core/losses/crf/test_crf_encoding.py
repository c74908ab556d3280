"""Columns of every kind become features, the same ones each time, and on new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.export.bundle.crf_carrier import column_documents
from core.losses.crf.encoding import FeatureEncoding, encoding_of
from core.records import to_plain


def active(encoding: FeatureEncoding, table: pd.DataFrame) -> list[list[str]]:
    tokens, names = encoding.encode_tokens(table), encoding.names_and_columns()[0]
    begins = tokens.begins
    return [[names[f] for f in tokens.features[begins[u] : begins[u + 1]]] for u in tokens.unit]


def test_every_kind_of_column() -> None:
    table = pd.DataFrame(
        {
            "id": ["s", "s", "t"],
            "object": np.array(["b", None, "a"], dtype=object),
            "text": pd.Series(["x", "y", "x"], dtype="str"),
            "category": pd.Categorical(["p", "q", None], categories=["z", "q", "p"]),
            "flag": [True, False, True],
            "gap": np.array([True, None, False], dtype=object),
            "number": [1.0, 3.0, np.nan],
            "whole": pd.array([2, None, 4], dtype="Int64"),
            "constant": [7, 7, 7],
            "empty": np.array([None, None, None], dtype=object),
        }
    )
    encoding = encoding_of(table, "id")
    names, sources = encoding.names_and_columns()
    assert names == [
        *("object=a", "object=b", "text=x", "text=y", "category=p", "category=q"),
        *("flag=False", "flag=True", "gap=False", "gap=True", "number", "whole"),
    ]
    assert sources[-3:] == ["gap", "number", "whole"]
    assert active(encoding, table) == [
        ["object=b", "text=x", "category=p", "flag=True", "gap=True"],
        ["text=y", "category=q", "flag=False"],
        ["object=a", "text=x", "flag=True", "gap=False"],
    ]
    tokens = encoding.encode_tokens(table)
    np.testing.assert_array_equal(tokens.number_features, [10, 11])
    np.testing.assert_allclose(tokens.numbers[tokens.unit], [[-1, -1], [1, 0], [0, 1]])


def test_new_rows() -> None:
    table = pd.DataFrame({"id": [1, 1, 1], "word": ["a", "b", "3"], "x": [0.0, 2.0, 4.0]})
    encoding = encoding_of(table, "id")
    new = pd.DataFrame({"id": [9, 9, 8], "word": ["b", "new", None], "x": [2.0, np.nan, 4.0]})
    assert active(encoding, new) == [["word=b"], [], []]
    numbers = encoding.encode_tokens(new)
    np.testing.assert_allclose(numbers.numbers[numbers.unit, 0], [0, 0, np.sqrt(1.5)])
    # Words that are all numbers in the new file are read as numbers, with gaps as floats.
    assert active(encoding, new.assign(word=[3, 4, 3])) == [["word=3"], [], ["word=3"]]
    assert active(encoding, new.assign(word=[3.0, np.nan, 3.5])) == [["word=3"], [], []]
    assert encoding.encode_tokens(new.assign(x=["2", "?", "4"])).numbers[0, 0] == pytest.approx(0.0)


def test_sequences_are_runs_of_one_id() -> None:
    table = pd.DataFrame({"id": ["b", "b", "a", "c", "c", "c"], "word": list("aabbab")})
    encoding = encoding_of(table, "id")
    np.testing.assert_array_equal(encoding.encode_tokens(table).starts, [0, 2, 3, 6])
    np.testing.assert_array_equal(encoding.encode_tokens(table.iloc[:0]).starts, [0])


def test_tokens_with_the_same_features_are_one_unit() -> None:
    table = pd.DataFrame({"id": [1] * 6, "word": [*"abab", None, None], "x": [1.0, 1, 1, 2, 1, 1]})
    tokens = encoding_of(table, "id").encode_tokens(table)
    np.testing.assert_array_equal(tokens.unit, [0, 1, 0, 2, 3, 3])
    assert len(tokens.begins) == 5


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(200), "word": rng.choice(list("xyzw"), 200)})
    assert encoding_of(table, "id") == encoding_of(table.sample(frac=1.0, random_state=1), "id")


def test_it_is_written_down_as_plain_data() -> None:
    table = pd.DataFrame({"id": [1, 2], "word": ["a", None], "x": [0.0, 2.0], "f": [True, False]})
    assert to_plain(column_documents(encoding_of(table, "id"))) == [
        {"name": "word", "values": ["a"]},
        {"name": "x", "mean": 1.0, "deviation": 1.0},
        {"name": "f", "values": ["False", "True"]},
    ]
