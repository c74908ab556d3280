"""The unfitted scikit-learn step of each column of a table: levels, means of the target, dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import BaseCrossValidator, GroupKFold
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

from core.datasets.categories import FEW_LEVELS, Categories
from core.datasets.cell_values import YES_NO
from core.datasets.dataset import Column, Dataset
from core.datasets.fixed_folds import RANDOM_FOLDS, FixedFolds
from core.datasets.texts.ngrams import DIRECTIONS, counts_parts
from core.datasets.texts.tfidf import TextTfidf

MEANS = "category means"  # the name of the first step begins so, of the second perhaps
EVERY_LEVEL = "category every level"  # the step of the levels beside means, the last one

SHARE_TO_TELL = 0.01  # of missing values, from which a column says where they are
MIN_CLASS_ROWS = 10  # of at least three classes, for shares by level: no fold lacks one
# A level of fewer rows is lost on trees whose leaves have some; so few levels are columns anyway.
_LEVEL_ROWS, _ALWAYS_FEW = 25, 3
_FILLS = {  # the mean is the cheaper one
    "number with holes": "median",
    "number complete": "mean",
    "number yes/no": "most_frequent",
}
NO_TIME = float(np.iinfo(np.int64).min)  # what a missing date becomes as a number
# {part: (numpy's unit, its period in units, its value at 0, 1 … units since 1970)}
DATE_PARTS: dict[str, tuple[str, int, list[int]]] = {
    "month": ("M", 12, list(range(1, 13))),
    "weekday": ("D", 7, [4, 5, 6, 7, 1, 2, 3]),  # Monday is 1; 1970 began on a Thursday
    "hour": ("h", 24, list(range(24))),
}


class ColumnEncoders:
    """Chooses the step of every column of a table dataset.

    `scale`: whether numbers are standardized. Dates always are, levels never: a rare one would
    weigh as much as a frequent one, and no penalty could shrink it.
    """

    def __init__(
        self, dataset: Dataset, categories: Categories, *, scale: bool, sparse_texts: bool
    ) -> None:
        assert dataset.table is not None
        self._table, self._dataset = dataset.table, dataset
        self._categories, self._scale, self._sparse_texts = categories, scale, sparse_texts
        described = {column.name: column for column in dataset.columns}
        self.columns = [described[str(name)] for name in self._table.columns]
        self._fewest_levels = _levels_for_means(dataset)

    @property
    def has_means(self) -> bool:
        """Whether a column becomes means of the target."""
        return any(self._encoding(column) == MEANS for column in self.columns)

    def width(self) -> int:
        """At most so many outputs."""
        return sum(self._outputs(column) for column in self.columns)

    def steps(self) -> list[tuple[str, Any, Any]]:
        """The transformers of a ColumnTransformer, each with its columns of one encoding."""
        by_encoding: dict[str, list[Column]] = {}
        for column in self.columns:
            by_encoding.setdefault(self._encoding(column), []).append(column)
        many = [column.name for column in by_encoding.pop(MEANS, [])]
        of_groups = [name for name in many if self._tells_group(name)]
        steps: list[tuple[str, Any, Any]] = []
        if others := [name for name in many if name not in of_groups]:
            steps.append((MEANS, self._means(RANDOM_FOLDS), others))
        if of_groups:
            folds = _folds_of_groups(self._dataset.kept_together)
            steps.append((f"{MEANS} of groups", self._means(folds), of_groups))
        for encoding, members in by_encoding.items():
            steps += self._steps_of(encoding, members)
        numbers = [column for name in _FILLS for column in by_encoding.get(name, [])]
        if telling := [column.name for column in numbers if self._tells_missing(column)]:
            steps.append(("missing", MissingIndicator(features="all"), telling))
        if many and self._categories == "both":
            steps.append((EVERY_LEVEL, OneHotEncoder(handle_unknown="ignore"), many))
        return steps

    def _steps_of(self, encoding: str, members: list[Column]) -> list[tuple[str, Any, Any]]:
        names = [column.name for column in members]
        if encoding == "date":
            return [(f"date {column.name}", self._date(column), column.name) for column in members]
        if encoding == "text":
            size = 0 if self._sparse_texts else DIRECTIONS
            parts = [counts_parts(self._table[name]) for name in names]
            steps = [TextTfidf(each, directions=size) for each in parts]
            return [(f"text {n}", step, [n]) for n, step in zip(names, steps, strict=True)]
        if encoding in _FILLS:
            step = self._scaled("fill", _fill(_FILLS[encoding]))
        else:
            step = self._yes_no(names) if encoding == "yes/no" else self._few_levels(names)
        return [(encoding, step, names)]

    def _encoding(self, column: Column) -> str:
        values = self._table[column.name]
        if pd.api.types.is_numeric_dtype(values.dtype):
            if not values.isna().any():
                return "number complete"
            return "number yes/no" if column.kind == "yes/no" else "number with holes"
        if column.kind in ("date", "text"):
            return column.kind
        if column.kind == "yes/no" and not self._tells_missing(column):
            return "yes/no"
        by_means = self._categories != "levels" and column.distinct > self._fewest_levels
        return MEANS if by_means else "category levels"

    def _outputs(self, column: Column) -> int:
        classes = len(self._dataset.classes)
        levels, means = column.distinct + 1, classes if classes > 2 else 1
        widths = {
            "category levels": levels,
            MEANS: means + levels if self._categories == "both" else means,
            "text": DIRECTIONS,
            "date": 50 if self._categories == "levels" else 6,
        }
        return widths.get(self._encoding(column), 2)

    def _tells_missing(self, column: Column) -> bool:
        share = self._table[column.name].isna().mean() if len(self._table) else 0.0
        return bool(SHARE_TO_TELL <= share < 1.0)

    def _scaled(self, name: str, step: Any) -> Any:
        if not self._scale:
            return step
        inner = step.steps if isinstance(step, Pipeline) else [(name, step)]
        return Pipeline([*inner, ("scale", StandardScaler(copy=False))])  # of a copy already

    def _few_levels(self, names: Sequence[str]) -> OneHotEncoder:
        if self._categories == "levels":
            return OneHotEncoder(handle_unknown="ignore")
        # A column of hardly any row, which no penalty shrinks, ruins densities and distances. Named
        # levels have the same outputs in every fold, where each model finds its own columns.
        categories = [_frequent_levels(self._table[name]) for name in names]
        return OneHotEncoder(categories=categories, handle_unknown="ignore")

    def _tells_group(self, name: str) -> bool:
        """Whether a level's rows are mostly of one group, whose target its mean would give away."""
        # Where a level is in several groups, whole groups cost more than they save: without one of
        # five, the mean of the others moves against it (tests/benchmarks/bench_encodings.py).
        if (groups := self._dataset.kept_together) is None:
            return False
        pairs = pd.Series(groups).groupby([pd.factorize(self._table[name])[0], groups]).size()
        in_level = pairs.groupby(level=0).transform("sum")
        return bool((pairs**2 / in_level).sum() > 0.5 * len(groups))

    def _means(self, folds: BaseCrossValidator) -> Any:
        target_type = str(self._dataset.task) if self._dataset.classes else "continuous"
        return self._scaled("means", TargetEncoder(target_type=target_type, cv=folds))

    def _yes_no(self, names: Sequence[str]) -> Any:
        """0 for no, 1 for yes; the more frequent of the two for everything else."""
        words = (map(str, self._table[name].dropna().unique()) for name in names)
        order = [sorted(pair, key=_no_first) for pair in words]
        encode = OrdinalEncoder(
            categories=[np.array(pair, dtype=object) for pair in order],
            handle_unknown="use_encoded_value",
            unknown_value=np.nan,
            encoded_missing_value=np.nan,
        )
        return self._scaled("", Pipeline([("encode", encode), ("fill", _fill("most_frequent"))]))

    def _date(self, column: Column) -> Pipeline:
        """Text to seconds since 1970 and the parts that vary; what is no date is filled."""
        reading: dict[str, Any] = {"errors": "coerce", "format": column.date_format, "utc": True}
        dates = pd.to_datetime(self._table[column.name], **reading)
        fill = _fill("median", missing_values=NO_TIME)
        parts = [("seconds", Pipeline([*_units("s"), ("fill", fill), ("scale", StandardScaler())]))]
        numbers = {"year": dates.dt.year, "month": dates.dt.month}
        numbers |= {"weekday": dates.dt.day_of_week, "hour": dates.dt.hour}
        parts += [(part, self._date_part(part)) for part in numbers if numbers[part].nunique() > 1]
        if SHARE_TO_TELL <= dates.isna().mean() < 1.0:
            no_date = MissingIndicator(missing_values=NO_TIME, features="all")
            parts.append(("missing", Pipeline([*_units("s"), ("missing", no_date)])))
        read = FunctionTransformer(pd.to_datetime, kw_args=reading)
        return Pipeline([("read", read), ("parts", FeatureUnion(parts))])

    def _date_part(self, part: str) -> Pipeline:
        last: tuple[str, Any] = ("scale", StandardScaler())
        no_date = ("no date", _fill("constant", missing_values=NO_TIME, fill_value=np.nan))
        fill = ("fill", _fill("most_frequent"))
        if part == "year":  # since 1970
            return Pipeline([*_units("Y"), no_date, fill, last])
        unit, period, values = DATE_PARTS[part]
        # numpy.interp with a period is the remainder, looked up: exact at whole numbers.
        lookup = {"xp": list(range(period)), "fp": values, "period": period}
        number = ("part", FunctionTransformer(np.interp, kw_args=lookup))
        if self._categories == "levels":
            last = "levels", OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        return Pipeline([*_units(unit), no_date, number, fill, last])


def _levels_for_means(dataset: Dataset) -> int:
    """How many levels have a column each where others become means of the target.

    A mean of several classes is a number a class, which pays for more levels than classes alone.
    """
    few = max(_ALWAYS_FEW, min(FEW_LEVELS, dataset.rows // _LEVEL_ROWS))
    if len(dataset.classes) <= 2:
        return few
    counts = pd.Series(dataset.target).value_counts()
    if int((counts >= MIN_CLASS_ROWS).sum()) < 3:
        return int(1e9)
    return max(few, len(dataset.classes))


def _folds_of_groups(codes: np.ndarray | None) -> BaseCrossValidator:
    """Folds that keep rows of equal codes together."""
    groups = np.unique(np.asarray(codes), return_inverse=True)[1]
    count = min(RANDOM_FOLDS.n_splits, int(groups.max()) + 1)
    if count < 2:
        return RANDOM_FOLDS
    shuffled = np.random.default_rng(0).permutation(int(groups.max()) + 1)[groups]
    fold = np.empty(len(groups), dtype=int)
    for number, (_, rows) in enumerate(GroupKFold(count).split(groups, groups=shuffled)):
        fold[rows] = number
    return FixedFolds("".join(map(str, fold)))


def _frequent_levels(values: pd.Series) -> np.ndarray:
    """The levels of at least 0.5 % of the rows (of 3 to 20), a missing value the last."""
    fewest = int(np.clip(0.005 * len(values), 3, 20))
    counts = values.value_counts()
    levels: list[Any] = sorted(counts.index[counts >= fewest]) or list(counts.index[:1])
    if values.isna().sum() >= fewest:
        levels.append(np.nan)
    return np.array(levels, dtype=object)


def _no_first(text: str) -> tuple[int, str]:
    word = text.strip().lower()
    return next((pair.index(word) for pair in YES_NO if word in pair), 2), text


def _units(unit: str) -> list[tuple[str, Any]]:
    """Dates to a column of whole units since 1970, `NO_TIME` for none."""
    return [
        (f"unit {unit}", FunctionTransformer(np.asarray, kw_args={"dtype": f"datetime64[{unit}]"})),
        ("number", FunctionTransformer(np.asarray, kw_args={"dtype": "float64"})),
        ("column", FunctionTransformer(np.expand_dims, kw_args={"axis": 1})),
    ]


def _fill(strategy: str, **values: float) -> SimpleImputer:
    return SimpleImputer(strategy=strategy, keep_empty_features=True, **values)
