"""Raw rows become a numeric matrix: imputation, encoding and scaling in one scikit-learn object.

Fitted pipelines hold scikit-learn, numpy and pandas objects only, but for documents and texts.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
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

from core.datasets.cell_values import YES_NO
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import FEW_LEVELS, Categories, Column
from core.datasets.fixed_folds import RANDOM_FOLDS, FixedFolds
from core.datasets.texts.ngrams import DIRECTIONS, counts_parts
from core.datasets.texts.tfidf import TextTfidf
from core.datasets.texts.word_counts import CommonCounts, TextCounts
from core.errors import UnusableError

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
    """Chooses the step of every column of a table dataset; `scale`: numbers are standardized."""

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
        return any(self._encoding(column) == MEANS for column in self.columns)

    def width(self) -> int:
        return sum(self._outputs(column) for column in self.columns)

    def steps(self) -> list[tuple[str, Any, Any]]:
        """The transformers of a ColumnTransformer, each with its columns of one encoding."""
        # Columns of one encoding share a step: scikit-learn takes long for many small ones.
        by_encoding: dict[str, list[Column]] = {}
        for column in self.columns:
            by_encoding.setdefault(self._encoding(column), []).append(column)
        # Means come first and levels last, so that each kind of model finds its own as a slice.
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
            # A model that takes no sparse matrix is given few directions of the words instead.
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
            # Complete columns are told apart from those with holes, since a mean is cheaper than a
            # median.
            if not values.isna().any():
                return "number complete"
            return "number yes/no" if column.kind == "yes/no" else "number with holes"
        if column.kind in ("date", "text"):
            return column.kind
        if column.kind == "yes/no" and not self._tells_missing(column):
            return "yes/no"
        # Many levels would be as many columns; a mean each says nearly as much in one.
        by_means = self._categories != "levels" and column.distinct > self._fewest_levels
        return MEANS if by_means else "category levels"

    def _outputs(self, column: Column) -> int:
        classes = len(self._dataset.classes)
        levels, means = column.distinct + 1, classes if classes > 2 else 1
        # Upper bounds: they decide whether a dense matrix fits before any step is fitted.
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
        # Levels are never scaled: a rare one would weigh as much as a frequent one, and no penalty
        # could shrink it.
        if self._categories == "levels":
            return OneHotEncoder(handle_unknown="ignore")
        # A column of hardly any row, which no penalty shrinks, ruins densities and distances. Named
        # levels have the same outputs in every fold, where each model finds its own columns.
        categories = [frequent_levels(self._table[name]) for name in names]
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
        # No is 0 in every column, also where yes comes first in the file or in the alphabet.
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
        # The middle date, as means of dates depend on how far the oldest one is away.
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
    """How many levels have a column each where others become means of the target."""
    few = max(_ALWAYS_FEW, min(FEW_LEVELS, dataset.rows // _LEVEL_ROWS))
    # A mean of several classes is a number a class, which pays for more levels than classes alone.
    if len(dataset.classes) <= 2:
        return few
    counts = pd.Series(dataset.target).value_counts()
    if int((counts >= MIN_CLASS_ROWS).sum()) < 3:
        return int(1e9)
    return max(few, len(dataset.classes))


def _folds_of_groups(codes: np.ndarray | None) -> BaseCrossValidator:
    groups = np.unique(np.asarray(codes), return_inverse=True)[1]
    count = min(RANDOM_FOLDS.n_splits, int(groups.max()) + 1)
    if count < 2:
        return RANDOM_FOLDS
    # Groups in the order of the file may be sorted by the target.
    shuffled = np.random.default_rng(0).permutation(int(groups.max()) + 1)[groups]
    fold = np.empty(len(groups), dtype=int)
    for number, (_, rows) in enumerate(GroupKFold(count).split(groups, groups=shuffled)):
        fold[rows] = number
    return FixedFolds("".join(map(str, fold)))


def frequent_levels(values: pd.Series) -> np.ndarray:
    """The levels of at least 0.5 % of the rows (of 3 to 20), a missing value the last."""
    # Fewer rows tell nothing of a level; more than 20 are enough in a table of any size.
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


@dataclass(frozen=True)
class OwnColumns:
    """Which prepared columns are for models that want levels, and which for the others."""

    levels: slice
    means: slice


def own_columns(fitted: Any) -> OwnColumns | None:
    """Each kind of model's own columns; None where all take all."""
    encode = fitted.named_steps["columns"] if isinstance(fitted, Pipeline) else None
    steps = getattr(encode, "transformers_", [])
    if EVERY_LEVEL not in [step_name for step_name, _, _ in steps]:
        return None
    # The outputs are counted as they are named, so that both cannot differ.
    widths = [(step[0], len(list(_outputs_of_step(*step)))) for step in listed_steps(steps)]
    means = sum(width for step_name, width in widths if step_name.startswith(MEANS))
    others = sum(width for step_name, width in widths if step_name != EVERY_LEVEL)
    return OwnColumns(levels=slice(means, None), means=slice(0, others))


def output_sources(fitted: Pipeline) -> list[str]:
    """The source column of every output of a fitted preparation."""
    return [source for source, _ in _named_outputs(fitted)]


def output_names(fitted: Pipeline) -> list[str]:
    """The name of every output, each once: the column's, a word, "column=level" and the like."""
    seen, unique = Counter[str](), list[str]()
    for _, name in _named_outputs(fitted):
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def encoder_of(step: Any, *kinds: type) -> Any:
    """The step, or the one inside a pipeline, that is of one of these kinds; None for none."""
    inner = [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]
    return next((part for part in inner if isinstance(part, kinds)), None)


def merged_levels(one_hot: OneHotEncoder, index: int) -> set[Any]:
    """The levels that share one output, as in files of earlier versions."""
    merged = getattr(one_hot, "infrequent_categories_", None)
    return set() if merged is None or merged[index] is None else set(merged[index])


def date_parts(step: Pipeline) -> list[tuple[str, Any]]:
    """The parts of a date by name, each with its pipeline behind the reading."""
    if "parts" in step.named_steps:
        return list(step.named_steps["parts"].transformer_list)
    return [("seconds", step)]  # in files of earlier versions


def _named_outputs(fitted: Pipeline) -> list[tuple[str, str]]:
    encode = fitted.named_steps["columns"]
    if isinstance(encode, (TextCounts, CommonCounts)):
        return [(word, word) for word in encode.vocabulary_]
    names = getattr(encode, "feature_names_in_", None)
    if names is None:
        names = [f"feature {i + 1}" for i in range(encode.n_features_in_)]
    elif not isinstance(encode, FunctionTransformer):
        steps = listed_steps(encode.transformers_)
        return [output for step in steps for output in _outputs_of_step(*step)]
    return [(str(name), str(name)) for name in names]


def listed_steps(steps: Sequence[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, list[str]]]:
    """The steps that give outputs, each with its columns as a list."""
    for step_name, step, names in steps:
        if step_name != "remainder":
            yield step_name, step, [names] if isinstance(names, str) else [str(n) for n in names]


def _outputs_of_step(step_name: str, step: Any, sources: list[str]) -> Iterator[tuple[str, str]]:
    encoder = encoder_of(step, OneHotEncoder, TargetEncoder)
    for index, source in enumerate(sources):
        if isinstance(step, TextTfidf):
            endings = [f": {name}" for name in step.output_names()]
        elif step_name.startswith("date "):
            endings = [end for part in date_parts(step) for end in _date_endings(*part)]
        elif isinstance(step, MissingIndicator):
            endings = [" (missing)"]
        elif isinstance(encoder, OneHotEncoder):
            endings = _level_endings(encoder, index)
        else:
            endings = [""] if encoder is None else _mean_endings(encoder)
        yield from ((source, source + ending) for ending in endings)


def _level_endings(one_hot: OneHotEncoder, index: int) -> list[str]:
    rare = merged_levels(one_hot, index)
    levels = [level for level in one_hot.categories_[index] if level not in rare]
    texts = [f"={_level_text(n)}" if is_known_level(n) else " (missing)" for n in levels]
    return [*texts, "=rare"] if rare else texts


def _mean_endings(encoder: TargetEncoder) -> list[str]:
    if encoder.target_type_ == "continuous":
        return [" (mean of target)"]
    classes = encoder.classes_ if encoder.target_type_ == "multiclass" else encoder.classes_[1:]
    return [f" (share of {label})" for label in classes]


def _date_endings(part: str, step: Any) -> list[str]:
    one_hot = encoder_of(step, OneHotEncoder)
    if one_hot is None:
        return [{"seconds": "", "missing": " (missing)"}.get(part, f": {part}")]
    return [f": {part}={_level_text(level)}" for level in one_hot.categories_[0]]


def is_known_level(level: Any) -> bool:
    """Whether a level is a value, not that of missing ones."""
    return isinstance(level, str) or not (level is None or level != level)


def _level_text(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


LARGEST_DENSE = 2 * 10**9  # bytes
SPARSE_FROM = 2 * 10**7  # bytes of the dense matrix from which columns of levels stay sparse


def preparation(
    dataset: Dataset, *, scale: bool, sparse_ok: bool, categories: Categories = "means"
) -> Pipeline:
    """An unfitted transformer of `dataset.features` to a numeric matrix, by `fit_transform(X, y)`.

    `scale`: whether numbers are standardized; `sparse_ok`: whether the model takes CSR.
    """
    if not dataset.task.has_target:
        return Pipeline([("columns", _word_counts(dataset))])
    if dataset.matrix is not None:
        return _of_matrix(dataset, scale=scale, sparse_ok=sparse_ok)
    if dataset.task.is_structured:  # tokens and molecules pass unchanged
        return Pipeline([("columns", FunctionTransformer())])
    # Words are thousands of columns that are nearly all 0, so with texts the whole matrix is
    # sparse.
    has_texts = sparse_ok and dataset.has_texts
    encoders = ColumnEncoders(dataset, categories, scale=scale, sparse_texts=has_texts)
    rows, width, columns = dataset.rows, encoders.width(), len(encoders.columns)
    # Sparse costs time in every fit, so it must save a lot: a large matrix, mostly of levels.
    pays_sparse = rows * width * 8 > SPARSE_FROM and width > 3 * columns
    stay_sparse = has_texts or (sparse_ok and pays_sparse)
    if not stay_sparse:
        _refuse_too_large(rows, width)
    encode = ColumnTransformer(
        encoders.steps(),
        remainder="drop",
        sparse_threshold=1.0 if stay_sparse else 0.0,
        verbose_feature_names_out=False,
    )
    return Pipeline([("columns", encode)])


def _word_counts(dataset: Dataset) -> Any:
    if dataset.table is None:
        return CommonCounts(dataset.name, dataset.words.size)
    where = f"{dataset.name}, column {dataset.table.columns[0]}"
    return TextCounts(where, dataset.words.size, dataset.words.language)


def _of_matrix(dataset: Dataset, *, scale: bool, sparse_ok: bool) -> Pipeline:
    assert dataset.matrix is not None
    rows, width = dataset.matrix.shape
    encode: Any = FunctionTransformer(accept_sparse=True)
    if not sparse_ok:
        _refuse_too_large(rows, width)
        # A ColumnTransformer of passthrough is scikit-learn's way to a dense matrix.
        passing = [("numbers", "passthrough", slice(0, None))]
        encode = ColumnTransformer(passing, sparse_threshold=0.0)
    center = not sparse_ok  # a sparse matrix is only divided by the standard deviations
    scaling = [("scale", StandardScaler(with_mean=center))] if scale else []
    return Pipeline([("columns", encode), *scaling])


def _refuse_too_large(rows: int, width: int) -> None:
    if rows * width * 8 > LARGEST_DENSE:
        raise UnusableError(
            f"the full table of {rows:,} × {width:,} numbers needs {rows * width * 8e-9:.0f} GB",
            where="model",
            cure="choose a model that takes sparse data, such as logistic or linear",
        )


def stays_sparse(fitted: Any) -> bool:
    """Whether a fitted preparation of a table gives CSR."""
    encode = fitted.named_steps["columns"] if isinstance(fitted, Pipeline) else None
    return bool(getattr(encode, "sparse_output_", False))


def plain_preparation(prepare: Any, *, fitted: bool = True) -> Any:
    """The preparation in scikit-learn's own classes, fitted or to be; documents have none."""
    encode = prepare.named_steps["columns"] if isinstance(prepare, Pipeline) else None
    if not isinstance(encode, ColumnTransformer):
        return prepare
    fitted_steps = {name: step for name, step, _ in encode.transformers_}
    # Copies, since the run goes on with the preparation that it was given.
    plain, plain_pipeline = copy.copy(encode), copy.copy(prepare)
    for attribute in ("transformers", "transformers_"):
        transformers = [
            (name, _plain_step(step, fitted_steps.get(name), fitted), columns)
            for name, step, columns in getattr(encode, attribute)
        ]
        setattr(plain, attribute, transformers)
    plain_pipeline.steps = [("columns", plain), *prepare.steps[1:]]
    return plain_pipeline


def _plain_step(step: Any, fitted_step: Any, fitted: bool) -> Any:
    if isinstance(fitted_step, TextTfidf):
        return fitted_step.as_plain() if fitted else fitted_step.unfitted_pipeline()
    means = encoder_of(step, TargetEncoder)
    if not fitted or means is None or not isinstance(means.cv, FixedFolds):
        return step
    plain = copy.deepcopy(step)
    encoder_of(plain, TargetEncoder).cv = RANDOM_FOLDS  # whoever fits it again has other rows
    return plain
