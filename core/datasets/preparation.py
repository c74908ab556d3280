"""Raw rows become a numeric matrix: imputation, encoding and scaling in one scikit-learn object.

Fitted pipelines hold scikit-learn, numpy and pandas objects only, but for documents and texts.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from core.datasets.columns import YES_NO
from core.datasets.dataset import Column, Dataset
from core.datasets.texts.ngrams import DIRECTIONS, counts_parts
from core.datasets.texts.tfidf import TextTfidf
from core.datasets.texts.word_counts import CommonCounts, TextCounts
from core.errors import UnusableError

MAX_CATEGORIES = 50  # of one column; the others share one output
LARGEST_DENSE = 2 * 10**9  # bytes
SPARSE_FROM = 2 * 10**8  # bytes of the dense matrix from which one-hot columns stay sparse
_NO_TIME = float(np.iinfo(np.int64).min)  # what a missing date becomes as a number


def preparation(dataset: Dataset, *, scale: bool, sparse_ok: bool) -> Pipeline:
    """An unfitted transformer from rows of `dataset.features` to a numeric matrix.

    Numbers: missing ones become the median (the cheaper mean in columns without missing values).
    Yes/no: 0 and 1. Categories: one-hot, rare ones together, all 0 for a new one. Dates: seconds
    since 1970. Texts: sparse TF-IDF of words and parts of words, or 100 directions of it if dense.
    Tokens and molecules pass unchanged. Documents: word counts.

    Args:
        dataset: gives the columns.
        scale: whether outputs are standardized; sparse ones are only divided by their standard
            deviation. Dates are always standardized, sparse TF-IDF never.
        sparse_ok: whether the model accepts CSR.

    Raises:
        UnusableError: the output must be dense and would exceed two gigabytes.
    """
    if not dataset.task.has_target:
        return Pipeline([("columns", _word_counts(dataset))])
    if dataset.matrix is not None:
        return _of_matrix(dataset, scale=scale, sparse_ok=sparse_ok)
    if dataset.task.is_structured:
        return Pipeline([("columns", FunctionTransformer())])
    table = dataset.table
    assert table is not None
    columns = {column.name: column for column in dataset.columns}
    described = [columns[str(name)] for name in table.columns]
    if sparse_ok and any(column.kind == "text" for column in described):
        return _beside_texts(table, described, scale=scale)
    width = sum(_max_outputs(table[column.name], column) for column in described)
    stay_sparse = sparse_ok and len(table) * width * 8 > SPARSE_FROM and width > 3 * len(described)
    if not stay_sparse:
        _refuse_too_large(len(table), width)
    encode = ColumnTransformer(
        _column_transformers(table, described),
        remainder="drop",
        sparse_threshold=0.3 if stay_sparse else 0.0,
        verbose_feature_names_out=False,
    )
    steps: list[tuple[str, Any]] = [("columns", encode)]
    if scale:
        # The encoding returns a copy already.
        steps.append(("scale", StandardScaler(with_mean=not stay_sparse, copy=False)))
    return Pipeline(steps)


def _beside_texts(table: pd.DataFrame, columns: list[Column], *, scale: bool) -> Pipeline:
    """Sparse TF-IDF of texts beside the other columns, which alone are standardized."""
    steps = _column_transformers(table, columns, sparse=True)
    if scale:
        # Each row of TF-IDF has length 1: under one penalty a text weighs as much as one
        # standardized number, where its rarest words, divided by their deviations, would dominate.
        steps = [(name, _standardized(name, step), names) for name, step, names in steps]
    encode = ColumnTransformer(
        steps, remainder="drop", sparse_threshold=1.0, verbose_feature_names_out=False
    )
    return Pipeline([("columns", encode)])


def _standardized(step_name: str, step: Any) -> Any:
    if step_name.startswith(("text ", "date ")):  # dates are standardized already
        return step
    name = "one-hot" if step_name.startswith("category") else "fill"
    inner = step.steps if isinstance(step, Pipeline) else [(name, step)]
    # One-hot columns keep their zeros.
    return Pipeline([*inner, ("scale", StandardScaler(with_mean=name != "one-hot"))])


def _word_counts(dataset: Dataset) -> Any:
    if dataset.table is None:
        return CommonCounts(dataset.name, dataset.words.size)
    where = f"{dataset.name}, column {dataset.table.columns[0]}"
    return TextCounts(where, dataset.words.size, dataset.words.language)


def _of_matrix(dataset: Dataset, *, scale: bool, sparse_ok: bool) -> Pipeline:
    assert dataset.matrix is not None
    rows, width = dataset.matrix.shape
    if not sparse_ok:
        _refuse_too_large(rows, width)
    # A ColumnTransformer of passthrough is scikit-learn's way to a dense matrix.
    encode = ColumnTransformer(
        [("numbers", "passthrough", slice(0, None))], sparse_threshold=1.0 if sparse_ok else 0.0
    )
    steps: list[tuple[str, Any]] = [
        ("columns", FunctionTransformer(accept_sparse=True) if sparse_ok else encode)
    ]
    if scale:
        steps.append(("scale", StandardScaler(with_mean=not sparse_ok)))
    return Pipeline(steps)


def _refuse_too_large(rows: int, width: int) -> None:
    if rows * width * 8 > LARGEST_DENSE:
        raise UnusableError(
            f"the full table of {rows:,} × {width:,} numbers needs {rows * width * 8e-9:.0f} GB",
            where="model",
            cure="choose a model that takes sparse data, such as logistic or linear",
        )


def _max_outputs(values: pd.Series, column: Column) -> int:
    max_outputs = {"category": min(column.distinct, MAX_CATEGORIES), "text": DIRECTIONS}
    return max_outputs.get(_encoding_of(values, column), 1)


def _encoding_of(values: pd.Series, column: Column) -> str:
    if pd.api.types.is_numeric_dtype(values.dtype):
        return "number"
    if column.kind in ("date", "text"):
        return column.kind
    return "yes/no" if column.kind == "yes/no" else "category"


def _column_transformers(
    table: pd.DataFrame, columns: list[Column], *, sparse: bool = False
) -> list[tuple[str, Any, Any]]:
    """The transformers, each with its columns of one kind; `sparse`: of texts."""
    by_encoding: dict[str, list[Column]] = {}
    for column in columns:
        encoding = _encoding_of(table[column.name], column)
        if encoding == "number":
            missing = "with holes" if table[column.name].isna().any() else "complete"
            is_yes_no = column.kind == "yes/no" and missing == "with holes"
            encoding = f"{encoding} {'yes/no' if is_yes_no else missing}"
        elif encoding == "category" and column.missing:
            encoding = "category with holes"
        by_encoding.setdefault(encoding, []).append(column)
    steps: list[tuple[str, Any, Any]] = []
    for encoding, members in by_encoding.items():
        names = [column.name for column in members]
        if encoding == "date":
            steps += [(f"date {c.name}", _date_pipeline(c.date_format), c.name) for c in members]
        elif encoding == "text":
            directions = 0 if sparse else DIRECTIONS
            steps += [
                (f"text {c.name}", _text_tfidf(table[c.name], directions), [c.name])
                for c in members
            ]
        elif encoding == "yes/no":
            steps.append(("yes/no", _yes_no(table, members), names))
        elif encoding.startswith("category"):
            steps.append((encoding, _categories(len(table), "holes" in encoding), names))
        else:
            strategies = {"with holes": "median", "complete": "mean", "yes/no": "most_frequent"}
            strategy = strategies[encoding.removeprefix("number ")]
            fill = SimpleImputer(strategy=strategy, keep_empty_features=True)
            steps.append((encoding, fill, names))
    return steps


def _text_tfidf(values: pd.Series, directions: int) -> TextTfidf:
    return TextTfidf(parts=counts_parts(values), directions=directions)


def _categories(rows: int, holes: bool) -> Any:
    """One-hot; a category in fewer than 0.5 % of the rows (3 to 20 of them) counts as rare."""
    rare = int(np.clip(0.005 * rows, 3, 20))
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=rare, max_categories=MAX_CATEGORIES
    )
    if not holes:
        return one_hot
    fill = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    return Pipeline([("fill", fill), ("one-hot", one_hot)])


def _yes_no(table: pd.DataFrame, columns: list[Column]) -> Pipeline:
    """0 for no, 1 for yes; the more frequent of the two for everything else."""
    order = [
        sorted((str(value) for value in table[column.name].dropna().unique()), key=_no_first)
        for column in columns
    ]
    encode = OrdinalEncoder(
        categories=[np.array(pair, dtype=object) for pair in order],
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
    )
    fill = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    return Pipeline([("encode", encode), ("fill", fill)])


def _no_first(text: str) -> tuple[int, str]:
    word = text.strip().lower()
    return next((pair.index(word) for pair in YES_NO if word in pair), 2), text


def _date_pipeline(form: str) -> Pipeline:
    """Text to standardized seconds since 1970; the median for what is no date."""
    reading = {"errors": "coerce", "format": form, "utc": True}
    return Pipeline(
        [
            ("read", FunctionTransformer(pd.to_datetime, kw_args=reading)),
            ("seconds", FunctionTransformer(np.asarray, kw_args={"dtype": "datetime64[s]"})),
            ("number", FunctionTransformer(np.asarray, kw_args={"dtype": "float64"})),
            ("column", FunctionTransformer(np.expand_dims, kw_args={"axis": 1})),
            (
                "fill",
                SimpleImputer(missing_values=_NO_TIME, strategy="median", keep_empty_features=True),
            ),
            ("scale", StandardScaler()),
        ]
    )


def plain_preparation(prepare: Any, *, fitted: bool = True) -> Any:
    """The preparation in scikit-learn's own classes; documents have none and stay.

    If not `fitted`, it learns the same from the same rows.
    """
    encode = prepare.named_steps["columns"] if isinstance(prepare, Pipeline) else None
    if not isinstance(encode, ColumnTransformer):
        return prepare
    texts = {name: step for name, step, _ in encode.transformers_ if isinstance(step, TextTfidf)}
    if not texts:
        return prepare
    plain = copy.copy(encode)
    for attribute in ("transformers", "transformers_"):
        transformers = [
            (name, _plain_texts(texts[name], fitted) if name in texts else step, columns)
            for name, step, columns in getattr(encode, attribute)
        ]
        setattr(plain, attribute, transformers)
    plain_pipeline = copy.copy(prepare)
    plain_pipeline.steps = [("columns", plain), *prepare.steps[1:]]
    return plain_pipeline


def _plain_texts(texts: TextTfidf, fitted: bool) -> Pipeline:
    return texts.as_plain() if fitted else texts.unfitted_pipeline()


def output_sources(fitted: Pipeline) -> list[str]:
    """The source column of every output of a fitted preparation."""
    return [source for source, _ in _named_outputs(fitted)]


def output_names(fitted: Pipeline) -> list[str]:
    """The name of every output: the column's, "column=category", or a word."""
    return [name for _, name in _named_outputs(fitted)]


def _named_outputs(fitted: Pipeline) -> list[tuple[str, str]]:
    encode = fitted.named_steps["columns"]
    if isinstance(encode, (TextCounts, CommonCounts)):
        return [(word, word) for word in encode.vocabulary_]
    names = getattr(encode, "feature_names_in_", None)
    if names is None:
        count = encode.n_features_in_
        return [(f"feature {i + 1}", f"feature {i + 1}") for i in range(count)]
    if isinstance(encode, FunctionTransformer):
        return [(str(name), str(name)) for name in names]
    outputs: list[tuple[str, str]] = []
    for step_name, step, columns in encode.transformers_:
        if step_name == "remainder":
            continue
        sources = [columns] if isinstance(columns, str) else list(columns)
        if isinstance(step, TextTfidf):
            outputs += [(sources[0], f"{sources[0]}: {name}") for name in step.output_names()]
            continue
        if not step_name.startswith("category"):
            outputs += [(source, source) for source in sources]
            continue
        one_hot = step.named_steps["one-hot"] if isinstance(step, Pipeline) else step
        for i, source in enumerate(sources):
            outputs += [(source, f"{source}={word}") for word in _output_words(one_hot, i)]
    return outputs


def _output_words(one_hot: OneHotEncoder, index: int) -> list[str]:
    rare = one_hot.infrequent_categories_[index]
    rare_categories = set() if rare is None else set(rare)
    words = [str(word) for word in one_hot.categories_[index] if word not in rare_categories]
    return [*words, "rare"] if rare_categories else words
