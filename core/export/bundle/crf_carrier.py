"""Conditional random fields as arrays, and their program.

classes: (K,), labels
columns: (c,), columns of features, in the order of the parameters
means, deviations: (c,), of number columns; NaN for other columns
values_0, values_1 …: the known values of a category column; empty for a number column

n = K + K² + K F parameters: initial, transition (from label i to j at K + iK + j), then K weights
for every feature, where a category column gives a feature for each of its values and a number
column one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.export.bundle.carrier import READING_MODULES, Arrays, Carrier, Content
from core.export.bundle.parameter_arrays import (
    check_parameters,
    parameter_arrays,
    raise_unless,
    settings_of_run,
)
from core.export.bundle.tag_prediction import predict_table
from core.export.finished_run import FinishedRun
from core.json_reading import read_as
from core.losses.crf.encoding import FeatureEncoding
from core.records import JsonObject, Record, optional, to_plain


@dataclass(frozen=True)
class ColumnDocument(Record):
    """The encoding of a column: mean and deviation of a number, or known values."""

    name: str
    mean: float | None = optional()
    deviation: float | None = optional()
    values: list[str] | None = optional()


@dataclass(frozen=True)
class EncodingDocument(Record):
    """What the JSON export has beside the parameters."""

    classes: list[str] | None = None
    columns: list[ColumnDocument] | None = None


def _model_arrays(run: FinishedRun, members: list[Any], weights: np.ndarray | None) -> Content:
    # All members of an average encode tokens alike.
    first, decoding = members[0], run.pipeline[-1].decoding
    arrays = parameter_arrays(members, weights)
    arrays["classes"] = np.array([str(label) for label in first.classes_])
    arrays |= encoding_arrays(column_documents(first.encoding_))
    return arrays, settings_of_run(run, first.encoding_.sequence, decoding=decoding)


def column_documents(encoding: FeatureEncoding) -> list[ColumnDocument]:
    """The columns of an encoding."""
    return [
        ColumnDocument(column.name, column.mean, column.deviation)
        if column.values is None
        else ColumnDocument(column.name, values=list(column.values))
        for column in encoding.columns
    ]


def encoding_arrays(columns: list[ColumnDocument]) -> Arrays:
    """The arrays of an encoding's columns."""
    arrays = {
        "columns": np.array([column.name for column in columns], dtype=str),
        "means": np.array([column.mean for column in columns], dtype=np.float64),
        "deviations": np.array([column.deviation for column in columns], dtype=np.float64),
    }
    for index, column in enumerate(columns):
        arrays[f"values_{index}"] = np.array(column.values or [], dtype=str)
    return arrays


def _document(arrays: Arrays) -> JsonObject:
    numbers = zip(arrays["columns"].tolist(), arrays["means"], arrays["deviations"], strict=True)
    columns = [
        ColumnDocument(name, values=arrays[f"values_{index}"].tolist())
        if np.isnan(mean)
        else ColumnDocument(name, float(mean), float(deviation))
        for index, (name, mean, deviation) in enumerate(numbers)
    ]
    plain: JsonObject = to_plain(EncodingDocument(arrays["classes"].tolist(), columns))
    return plain


def _arrays_of_document(document: JsonObject) -> Arrays:
    encoding = read_as(EncodingDocument, document)
    classes = np.array(encoding.classes or [], dtype=str)
    return {"classes": classes, **encoding_arrays(encoding.columns or [])}


def _check_arrays(arrays: Arrays) -> None:
    settings = check_parameters(arrays)
    classes, columns = arrays["classes"], arrays["columns"]
    for name in ("classes", "columns"):
        array = arrays[name]
        raise_unless(array.ndim == 1 and array.dtype.kind == "U", f"{name} are no words")
        raise_unless(len(set(array.tolist())) == len(array), f"{name} repeat themselves")
    raise_unless(len(classes) > 0, "there is no label")
    features = 0
    for index in range(len(columns)):
        values = arrays[f"values_{index}"]
        mean, deviation = float(arrays["means"][index]), float(arrays["deviations"][index])
        is_numeric = np.isfinite(mean) and np.isfinite(deviation) and deviation > 0
        is_categorical = values.dtype.kind == "U" and len(set(values.tolist())) == len(values)
        # Either mean and deviation or known values, and not both.
        is_one = is_categorical and bool(is_numeric) != bool(len(values))
        raise_unless(is_one, f"column {index + 1} is unclear")
        features += max(1, len(values))
    K = len(classes)
    expected = K + K * K + K * features
    n = arrays["weights"].shape[-1]
    raise_unless(n == expected, f"there are {n:,} weights, and its encoding has {expected:,}")
    raise_unless(settings.decoding in ("posterior", "viterbi"), "the decoding is unknown")


CARRIER = Carrier(
    version=2,
    does="Labels the tokens of new sequences with a conditional random field.",
    files="NEW.csv has the columns that the model was trained on, in any order, one row a token; "
    "the target may be absent. OUT.csv gets the sequence, the label, and the probability of every "
    "label.",
    modules=(
        "core.losses.crf.chain",
        "core.export.bundle.member_arrays",
        *READING_MODULES,
        "core.export.bundle.tag_prediction",
    ),
    predict_table=predict_table,
    arrays=_model_arrays,
    check=_check_arrays,
    program="predict_tags.py",
    document=_document,
    arrays_of_document=_arrays_of_document,
)
