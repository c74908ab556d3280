"""From a table of tokens to their active features.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| N | | | tokens, the rows of the table |
| U | | | different rows: tokens that have the same features are one unit |
| F | ``feature_count`` | | features: one a value of a category column, one a number column |
| | ``unit`` | (N,) | the unit of every token |
| | ``starts`` | (sequences + 1,) | where a sequence starts in the table, N last |

A category's feature is 1 where a token has that value; a number is standardized. A missing value
and a value that was not there when the encoding was made are no feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, overload

import numpy as np
import pandas as pd

INITIAL, TRANSITION = "initial", "transition"


@dataclass(frozen=True)
class Tokens:
    """Tokens with their features."""

    starts: np.ndarray  # of every sequence, and the number of tokens, shape (sequences + 1,)
    unit: np.ndarray  # of every token, shape (N,) int32
    begins: np.ndarray  # where a unit's features begin in ``features``, shape (U + 1,)
    features: np.ndarray  # the category features of one unit after another, int32
    numbers: np.ndarray  # of the number features of every unit, 0 where missing, shape (U, Q)
    number_features: np.ndarray  # which features these are, shape (Q,) int32

    @property
    def token_count(self) -> int:
        """How many tokens there are (N)."""
        return len(self.unit)


@dataclass(frozen=True)
class EncodedColumn:
    """How one column becomes features."""

    name: str
    values: tuple[str, ...] | None  # of a category column, sorted; None for a number column
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def feature_count(self) -> int:
        """How many features it gives."""
        return 1 if self.values is None else len(self.values)

    def value_codes(self, column: pd.Series) -> np.ndarray:
        """The position of every token's value among ``values``, −1 for none, shape (N,)."""
        assert self.values is not None
        code, distinct_values = pd.factorize(column)
        code_of = {value: k for k, value in enumerate(self.values)}
        distinct_codes = [code_of.get(word, -1) for word in words_of(distinct_values)]
        # factorize has −1 for a missing value, which then reads the last one.
        return np.array([*distinct_codes, -1], dtype=np.int64)[code]

    def numbers(self, column: pd.Series) -> np.ndarray:
        """Standardized numbers, 0 where missing, shape (N,)."""
        x = numbers_of(column)
        return np.where(np.isfinite(x), (x - self.mean) / self.deviation, 0.0)


@dataclass(frozen=True)
class FeatureEncoding:
    """Which features a table's columns give, in the order of the columns."""

    sequence: str  # the column that says which sequence a row's token belongs to
    columns: tuple[EncodedColumn, ...]

    @property
    def feature_count(self) -> int:
        """How many features there are (F)."""
        return sum(column.feature_count for column in self.columns)

    def encode_tokens(self, table: pd.DataFrame) -> Tokens:
        rows, first = len(table), 0
        codes: list[np.ndarray] = []
        numbers: list[np.ndarray] = []
        number_features: list[int] = []
        for column in self.columns:
            if column.values is None:
                numbers.append(column.numbers(table[column.name]))
                number_features.append(first)
            else:
                code = column.value_codes(table[column.name])
                codes.append(np.where(code < 0, -1, code + first))
            first += column.feature_count
        unit, firsts = _distinct_units(rows, codes, numbers)
        active = np.stack([code[firsts] for code in codes], axis=1) if codes else _empty(firsts)
        begins = np.concatenate(([0], np.cumsum((active >= 0).sum(axis=1))))
        values = np.stack([x[firsts] for x in numbers], axis=1) if numbers else _empty(firsts)
        starts, features = starts_of(table[self.sequence]), active[active >= 0].astype(np.int32)
        unit, begins = unit.astype(np.int32), begins.astype(np.int64)
        values = np.ascontiguousarray(values, dtype=np.float64)
        number_codes = np.array(number_features, dtype=np.int32)
        return Tokens(starts, unit, begins, features, values, number_codes)

    def names_and_columns(self) -> tuple[list[str], list[str]]:
        """What every feature is called ("word=the", "length"), and its column."""
        names, sources = [], []
        for column in self.columns:
            feature_names = [column.name] if column.values is None else []
            feature_names += [f"{column.name}={value}" for value in column.values or ()]
            names += feature_names
            sources += [column.name] * len(feature_names)
        return names, sources


def encoding_of(table: pd.DataFrame, sequence: str) -> FeatureEncoding:
    """The encoding of a table; a constant number gives no feature, nor does an empty column."""
    columns = []
    for name in table.columns:
        if name == sequence:
            continue
        column = table[name]
        if is_number(column):
            x = numbers_of(column)
            x = x[np.isfinite(x)]
            # A constant has no deviation to divide by, and tells nothing apart.
            if len(x) and x.max() > x.min():
                columns.append(EncodedColumn(name, None, float(x.mean()), float(x.std())))
            continue
        values = tuple(sorted(set(words_of(pd.unique(column.dropna())))))
        if values:
            columns.append(EncodedColumn(name, values))
    return FeatureEncoding(sequence, tuple(columns))


def is_number(column: pd.Series) -> bool:
    """Whether a column gives one feature that is a number."""
    kind = column.dtype
    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)


def numbers_of(column: pd.Series) -> np.ndarray:
    """A column as float64; what is no number is missing."""
    return pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)


def words_of(values: Any) -> list[str]:
    """Values as words: 3.0 is "3" as it is in a column of whole numbers without gaps."""
    return [
        str(int(v)) if isinstance(v, float | np.floating) and float(v).is_integer() else str(v)
        for v in values
    ]


def starts_of(sequence: pd.Series) -> np.ndarray:
    """Where another sequence starts, and the number of rows, shape (sequences + 1,)."""
    code = pd.factorize(sequence)[0]
    if not len(code):
        return np.zeros(1, dtype=np.int64)
    changes = np.flatnonzero(code[1:] != code[:-1]) + 1
    return np.concatenate(([0], changes, [len(code)])).astype(np.int64)


def _distinct_units(
    rows: int, codes: list[np.ndarray], numbers: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The unit of every token, numbered as they first come, and the first token of every unit."""
    unit = np.zeros(rows, dtype=np.int64)
    for values in (*codes, *numbers):
        # Column by column, numbered anew each time: the product of all counts would overflow.
        code = pd.factorize(values)[0]
        unit = pd.factorize(unit * (int(code.max(initial=0)) + 1) + code)[0]
    return unit, np.unique(unit, return_index=True)[1]


def _empty(firsts: np.ndarray) -> np.ndarray:
    return np.empty((len(firsts), 0), dtype=np.int64)


# The names of earlier versions.
Coded = EncodedColumn
Encoding = FeatureEncoding


class ParameterNames(Sequence[str]):
    """The names of all n parameters, each made when it is asked for."""

    # Ten million of them, as text, take gigabytes.
    def __init__(self, encoding: FeatureEncoding, classes: Sequence[Any]) -> None:
        self._encoding = encoding
        self._labels = [str(label) for label in classes]

    @cached_property
    def _origins(self) -> list[str]:
        # The words before the arrow, each of K parameters.
        return [INITIAL, *self._labels, *self._encoding.names_and_columns()[0]]

    def __len__(self) -> int:
        K = len(self._labels)
        return K * (1 + K + self._encoding.feature_count)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        before, label = divmod(position, len(self._labels))
        return f"{self._origins[before]} → {self._labels[label]}"

    def __iter__(self) -> Iterator[str]:
        return (f"{before} → {label}" for before, label in product(self._origins, self._labels))


def sources_of(encoding: FeatureEncoding, classes: Sequence[Any]) -> list[str]:
    """Where every parameter comes from: initial, transition, or its column."""
    K, columns = len(classes), encoding.names_and_columns()[1]
    return [INITIAL] * K + [TRANSITION] * (K * K) + [name for name in columns for _ in range(K)]
