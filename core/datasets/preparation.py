"""Raw rows become a numeric matrix: imputation, encoding, scaling, all in one scikit-learn object.

Only scikit-learn, numpy and pandas objects are inside, so that a fitted pipeline can be loaded
where this program is not installed; documents and columns of texts alone have transformers of their
own, and those of texts say what they are in scikit-learn's terms (`plain_preparation`). Values that
were never seen, and missing ones, are taken in every column, also where the training rows had none.
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
    """An unfitted transformer from rows of ``dataset.features`` to a numeric matrix.

    Numbers: missing ones become the median (the mean in columns that have no missing value here,
    which is cheaper and matters only for later rows). Yes/no: 0 and 1. Categories: one output
    each, the rare ones together, all 0 for a new one. Dates: seconds since 1970. Texts: TF-IDF of
    words and parts of words, sparse, or 100 directions of it where the output must be dense. Tokens
    and molecules are handed on as they are: their models know words and letters. Documents become
    counts of the words that the rules keep.

    Args:
        dataset: what the rows look like.
        scale: whether outputs are standardized; sparse ones keep their zeros and are only divided
            by their standard deviation. Dates are standardized in any case, sparse TF-IDF never.
        sparse_ok: whether what follows takes CSR; otherwise the output is always dense.

    Raises:
        UnusableError: the output must be dense and would be larger than two gigabytes.
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
        # What comes out of the encoding is its own copy already.
        steps.append(("scale", StandardScaler(with_mean=not stay_sparse, copy=False)))
    return Pipeline(steps)


def _beside_texts(table: pd.DataFrame, columns: list[Column], *, scale: bool) -> Pipeline:
    """Sparse TF-IDF of texts, beside the other columns, which alone are standardized.

    Each row of TF-IDF has length 1. Under one penalty a text as a whole thus weighs beforehand what
    one standardized number weighs; divided by their deviations, the rarest words would outweigh all
    else.
    """
    steps = _column_transformers(table, columns, sparse=True)
    if scale:
        steps = [
            (step_name, _standardized(step_name, step), names) for step_name, step, names in steps
        ]
    encode = ColumnTransformer(
        steps, remainder="drop", sparse_threshold=1.0, verbose_feature_names_out=False
    )
    return Pipeline([("columns", encode)])


def _standardized(step_name: str, step: Any) -> Any:
    """A transformer with the standardization of its outputs behind it."""
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
    # A ColumnTransformer that passes everything on is scikit-learn's own way to a dense matrix.
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
    """An upper bound of how many dense outputs a column has."""
    max_outputs = {"category": min(column.distinct, MAX_CATEGORIES), "text": DIRECTIONS}
    return max_outputs.get(_encoding_of(values, column), 1)


def _encoding_of(values: pd.Series, column: Column) -> str:
    """How a column is encoded: by what pandas read, and by its kind where that is text."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return "number"
    if column.kind in ("date", "text"):
        return column.kind
    return "yes/no" if column.kind == "yes/no" else "category"


def _column_transformers(
    table: pd.DataFrame, columns: list[Column], *, sparse: bool = False
) -> list[tuple[str, Any, Any]]:
    """The transformers, each with its columns, those of one kind together; `sparse`: of texts."""
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
            strategy = {"with holes": "median", "complete": "mean", "yes/no": "most_frequent"}
            fill_strategy = strategy[encoding.removeprefix("number ")]
            steps.append(
                (encoding, SimpleImputer(strategy=fill_strategy, keep_empty_features=True), names)
            )
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
    """0 for no, 1 for yes; what is missing or neither becomes the more frequent of the two."""
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
    """Text to seconds since 1970, standardized; what is no date becomes the median one."""
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
    """A fitted preparation in scikit-learn's own classes; itself where it is.

    Documents have no counterpart there and stay.

    Args:
        prepare: fitted.
        fitted: whether it stays fitted; otherwise it learns the same from the same rows.
    """
    encode = prepare.named_steps["columns"] if isinstance(prepare, Pipeline) else None
    if not isinstance(encode, ColumnTransformer):
        return prepare
    fitted_texts = {
        step_name: step
        for step_name, step, _ in encode.transformers_
        if isinstance(step, TextTfidf)
    }
    if not fitted_texts:
        return prepare
    plain = copy.copy(encode)
    for name in ("transformers", "transformers_"):
        transformers = [
            (
                step_name,
                _plain_texts(fitted_texts[step_name], fitted)
                if step_name in fitted_texts
                else step,
                columns,
            )
            for step_name, step, columns in getattr(encode, name)
        ]
        setattr(plain, name, transformers)
    plain_pipeline = copy.copy(prepare)
    plain_pipeline.steps = [("columns", plain), *prepare.steps[1:]]
    return plain_pipeline


def _plain_texts(texts: TextTfidf, fitted: bool) -> Pipeline:
    return texts.as_plain() if fitted else texts.unfitted_pipeline()


def output_sources(fitted: Pipeline) -> list[str]:
    """The source column of every output column of a fitted preparation."""
    return [source for source, _ in _named_outputs(fitted)]


def output_names(fitted: Pipeline) -> list[str]:
    """The name of every output column: the column's own, "column=category", or a word."""
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
    """The categories of one column that have an output of their own, and "rare" for the rest."""
    rare = one_hot.infrequent_categories_[index]
    rare_categories = set() if rare is None else set(rare)
    words = [str(word) for word in one_hot.categories_[index] if word not in rare_categories]
    return [*words, "rare"] if rare_categories else words
