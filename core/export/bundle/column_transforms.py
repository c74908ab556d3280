"""The output of a fitted preparation as plain data: for numpy alone, for ONNX."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder

from core.datasets.preparation import date_parts, encoder_of, merged_levels
from core.export.bundle.column_preparation import ColumnTransform

UNKNOWN = "\0 a text that no column has \0"


def to_dense(matrix: Any) -> np.ndarray:
    """An array of what may be a sparse matrix."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def text_table(step: Any, names: list[str], index: int) -> tuple[list[str], np.ndarray]:
    """The C known texts of a column, "" for missing values last, and the fitted step's outputs.

    The outputs, (C + 1, outputs), end with those of an unknown text; the step is for the columns
    `names`.
    """
    encoder = encoder_of(step, OneHotEncoder, OrdinalEncoder, TargetEncoder)
    words_by_column = [
        [str(word) for word in words if isinstance(word, str)] for words in encoder.categories_
    ]
    keys = list(filter(None, words_by_column[index]))
    # The fitted step itself is asked, so that merged levels and means need no second telling.
    probe = [*keys, np.nan, UNKNOWN]
    # What stands in the other columns does not change the outputs of this one.
    columns = {
        name: np.full(len(probe), words[0] if words else UNKNOWN, dtype=object)
        for name, words in zip(names, words_by_column, strict=True)
    }
    rows = pd.DataFrame({**columns, names[index]: np.array(probe, dtype=object)})
    dense, widths = to_dense(step.transform(rows)).astype(np.float64), _output_widths(encoder)
    start = sum(widths[:index])
    return [*keys, ""], dense[:, start : start + widths[index]]


def level_keys(step: Any, index: int) -> list[str] | None:
    """The texts of a column with an output of 0 or 1 each, "" for missing values, in order.

    None where a step does not give exactly that.
    """
    if not isinstance(step, OneHotEncoder) or merged_levels(step, index):
        return None
    return [level if isinstance(level, str) else "" for level in step.categories_[index]]


def _output_widths(encoder: OneHotEncoder | OrdinalEncoder | TargetEncoder) -> list[int]:
    if isinstance(encoder, TargetEncoder):
        is_many = encoder.target_type_ == "multiclass"
        return [len(encoder.classes_) if is_many else 1] * len(encoder.categories_)
    if isinstance(encoder, OrdinalEncoder):
        return [1] * len(encoder.categories_)
    merged_counts = [len(merged_levels(encoder, i)) for i in range(len(encoder.categories_))]
    pairs = zip(encoder.categories_, merged_counts, strict=True)
    return [len(levels) - max(0, merged - 1) for levels, merged in pairs]


def column_transforms(prepare: Pipeline) -> list[ColumnTransform]:
    """The transforms in the order of their outputs; ValueError: a final scaling, or a matrix."""
    encode = prepare.named_steps["columns"]
    if len(prepare.steps) > 1 or not isinstance(encode, ColumnTransformer):
        raise ValueError("only unscaled columns of tables are written down so")
    return [transform for step in encode.transformers_ for transform in _transforms_of_step(*step)]


def transform_document(transform: ColumnTransform) -> dict[str, Any]:
    """Its fields without those at their defaults, for JSON."""
    plain, facts = vars(ColumnTransform("", "")), vars(transform)
    return {name: value for name, value in facts.items() if value != plain[name]}


def _transforms_of_step(step_name: str, step: Any, names: Any) -> list[ColumnTransform]:
    if step_name == "remainder":
        return []
    if step_name.startswith("date "):
        date_format = str(step.named_steps["read"].kw_args["format"])
        parts = date_parts(step)
        return [_date_transform(str(names), date_format, part, inner) for part, inner in parts]
    if step_name.startswith(("yes/no", "category")):
        transforms = []
        for position, name in enumerate(names):
            keys, table = text_table(step, [str(n) for n in names], position)
            transforms.append(ColumnTransform(str(name), "text", keys=keys, table=table.tolist()))
        return transforms
    if isinstance(step, MissingIndicator):
        return [ColumnTransform(str(name), "missing") for name in names]
    if encoder_of(step, StandardScaler) is not None:
        raise ValueError("only unscaled columns of tables are written down so")
    fills = np.nan_to_num(np.asarray(step.statistics_, dtype=float)).tolist()
    pairs = zip(names, fills, strict=True)
    return [ColumnTransform(str(name), "number", fill=fill) for name, fill in pairs]


def _date_transform(column: str, date_format: str, part: str, step: Pipeline) -> ColumnTransform:
    transform = ColumnTransform(column, "date", date_format, part=part)
    if part == "missing":
        return transform
    transform = replace(transform, fill=float(step.named_steps["fill"].statistics_[0]))
    if (one_hot := encoder_of(step, OneHotEncoder)) is not None:
        return replace(transform, levels=one_hot.categories_[0].tolist())
    scaler = step.named_steps["scale"]
    return replace(transform, mean=float(scaler.mean_[0]), scale=float(scaler.scale_[0]))
