"""Raw rows become a numeric matrix: imputation, encoding and scaling in one scikit-learn object.

Fitted pipelines hold scikit-learn, numpy and pandas objects only, but for documents and texts.
"""

from __future__ import annotations

import copy
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from core.datasets.categories import Categories
from core.datasets.dataset import Dataset
from core.datasets.encoders import ColumnEncoders
from core.datasets.fixed_folds import RANDOM_FOLDS, FixedFolds
from core.datasets.prepared_columns import encoder_of
from core.datasets.texts.tfidf import TextTfidf
from core.datasets.texts.word_counts import CommonCounts, TextCounts
from core.errors import UnusableError

LARGEST_DENSE = 2 * 10**9  # bytes
SPARSE_FROM = 2 * 10**7  # bytes of the dense matrix from which columns of levels stay sparse


def preparation(
    dataset: Dataset, *, scale: bool, sparse_ok: bool, categories: Categories = "means"
) -> Pipeline:
    """An unfitted transformer of `dataset.features` to a numeric matrix, by `fit_transform(X, y)`.

    `scale`: whether numbers are standardized; `sparse_ok`: whether the model takes CSR. A dense
    output of more than two gigabytes is an UnusableError.
    """
    if not dataset.task.has_target:
        return Pipeline([("columns", _word_counts(dataset))])
    if dataset.matrix is not None:
        return _of_matrix(dataset, scale=scale, sparse_ok=sparse_ok)
    if dataset.task.is_structured:  # tokens and molecules pass unchanged
        return Pipeline([("columns", FunctionTransformer())])
    has_texts = sparse_ok and dataset.has_texts
    encoders = ColumnEncoders(dataset, categories, scale=scale, sparse_texts=has_texts)
    rows, width, columns = dataset.rows, encoders.width(), len(encoders.columns)
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
