"""A fitted model of sequences or molecules as named numpy arrays, the form that files carry.

format: (), version of this list: 1 for one model, 2 for an average
kind: (), "crf" or "rna"
weights, names: (n,), every parameter and its name
groups, penalties: (k,), regularization groups and their C, on the scale of ½ C ‖w‖²
shares: (T,), of an average's members, whose weights are (T, n), penalties (T, k)
group_of_weight: (n,), the index of every parameter's group; −1 for none
settings: (), JSON text of `ParameterSettings`

classes: (K,), crf: labels
columns: (c,), crf: columns of features, in the order of the parameters
means, deviations: (c,), crf: of number columns; NaN for other columns
values_0, values_1 …: crf: the known values of a category column; empty for a number column

crf: n = K + K² + K F: initial, transition (from label i to j at K + iK + j), then K weights for
every feature, where a category column gives a feature for each of its values and a number column
one. rna: n = 708, in the order of core.losses.rna.parameters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.datasets.files.quotes import DOUBLED, quote_reading
from core.datasets.task import Task
from core.errors import UnusableError
from core.export.cell_format import CellFormat
from core.export.finished_run import FinishedRun
from core.json_reading import read_as
from core.losses.crf.encoding import FeatureEncoding
from core.records import Record, optional, to_plain

SINGLE, FORMAT = 1, 2
KINDS = {Task.SEQUENCE: "crf", Task.STRUCTURE: "rna"}
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class ParameterSettings(Record):
    """What belongs to a model beside its arrays."""

    sequence: str  # column
    target: str  # column
    reading: CellFormat  # of the training file
    run: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    decoding: str | None = optional()  # of a crf: posterior or viterbi
    gamma: float | None = optional()  # of a model of molecules, like the next
    shortest_hairpin: int | None = optional()


def arrays_of(run: FinishedRun) -> Arrays:
    """The arrays of a run's fitted model, or of the members of its average."""
    model, kind = run.pipeline[-1], KINDS[run.takeaway.task]
    members = [member for _, member in getattr(model, "members_", [("model", model)])]
    first, is_single = members[0], not hasattr(model, "members_")
    settings = ParameterSettings(
        sequence=run.takeaway.feature_names[0],
        target=run.takeaway.target,
        reading=cell_format_of_run(run),
        run=run.name,
        versions=run.takeaway.versions,
    )
    weights = np.array([member.w_ for member in members], dtype=np.float64)
    penalties = np.array([list(m.penalties_.values()) for m in members], dtype=np.float64)
    arrays = {
        "format": np.array(SINGLE if is_single else FORMAT),
        "kind": np.array(kind),
        "weights": weights[0] if is_single else weights,
        "names": np.array(number_duplicates(first.names_)),
        "groups": np.array(list(first.penalties_), dtype=str),
        "penalties": penalties[0] if is_single else penalties,
        "group_of_weight": np.asarray(first.groups_, dtype=np.int64),
    }
    if not is_single:
        arrays["shares"] = np.array(model.weights, dtype=np.float64)
    if kind == "crf":
        encoding = first.encoding_
        settings = replace(settings, sequence=encoding.sequence, decoding=model.decoding)
        arrays |= {"classes": np.array([str(label) for label in first.classes_])}
        arrays |= encoding_arrays(column_documents(encoding))
    else:
        shortest = first.shortest_hairpin
        settings = replace(settings, gamma=first.gamma, shortest_hairpin=shortest)
    text = json.dumps(to_plain(settings), ensure_ascii=False)
    return {**arrays, "settings": np.array(text)}


def cell_format_of_run(run: FinishedRun) -> CellFormat:
    """The format of cells in the training file."""
    source = run.takeaway.source
    read_options = source.read_csv
    reading = quote_reading(read_options, source.quotes)
    return CellFormat(
        quote=read_options.get("quotechar", '"'),
        padded=bool(read_options.get("skipinitialspace", False)),
        decimal=read_options.get("decimal", "."),
        thousands=read_options.get("thousands", ""),
        missing=read_options.get("na_values", [""]),
        encoding=read_options.get("encoding", ""),
        reading=None if reading == DOUBLED else reading,
    )


@dataclass(frozen=True)
class ColumnDocument(Record):
    """The encoding of a column: mean and deviation of a number, or known values."""

    name: str
    mean: float | None = optional()
    deviation: float | None = optional()
    values: list[str] | None = optional()


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


def number_duplicates(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those of several parameters."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    numbered_names = []
    for name in names:
        seen[name] += 1
        numbered_names.append(name if counts[name] == 1 else f"{name} ({seen[name]})")
    return numbered_names


def check_arrays(arrays: Arrays, location: str) -> Arrays:
    """The arrays, which may come from anywhere; UnusableError: newer, no model's, or damaged."""
    try:
        version, kind = int(arrays["format"]), str(arrays["kind"])
    except (KeyError, TypeError, ValueError):
        fault = "this file holds no model of sequences or molecules"
        cure = "give a .npz or .json file that Tunescope exported from such a run"
        raise UnusableError(fault, where=location, cure=cure) from None
    if version > FORMAT:
        fault = "this model was exported by a newer Tunescope"
        raise UnusableError(fault, where=location, cure="update Tunescope")
    try:
        _check_parameters(arrays)
        (_check_crf if kind == "crf" else _check_rna)(arrays)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        fault = f"this model file is damaged ({reason})"
        raise UnusableError(fault, where=location, cure="export the model again") from None
    return arrays


def _raise_unless(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_parameters(arrays: Arrays) -> None:
    weights, groups = arrays["weights"], arrays["group_of_weight"]
    are_numbers = weights.dtype.kind == "f" and weights.ndim in (1, 2)
    _raise_unless(are_numbers, "the weights are no numbers")
    _raise_unless(bool(np.isfinite(weights).all()), "a weight is not finite")
    _raise_unless(arrays["names"].shape == weights.shape[-1:], "names and weights differ in number")
    fits = groups.shape == weights.shape[-1:] and groups.dtype.kind == "i"
    _raise_unless(fits, "the groups do not fit")
    k = len(arrays["groups"])
    fits = arrays["penalties"].shape == (*weights.shape[:-1], k)
    _raise_unless(fits, "groups and penalties differ in number")
    if weights.ndim == 2:
        _check_shares(arrays["shares"], len(weights))
    _raise_unless(bool(np.all((groups >= -1) & (groups < k))), "a weight's group is unknown")
    reading = _read_settings(arrays).reading
    _raise_unless(len(reading.quote) == len(reading.decimal) == 1, "a sign is no single letter")


def _read_settings(arrays: Arrays) -> ParameterSettings:
    return read_as(ParameterSettings, json.loads(str(arrays["settings"])))


def _check_shares(shares: np.ndarray, members: int) -> None:
    _raise_unless(shares.shape == (members,) and shares.dtype.kind == "f", "the shares do not fit")
    fits = bool((shares > 0).all()) and abs(shares.sum() - 1.0) < 1e-6
    _raise_unless(fits, "the shares are none")


def _check_crf(arrays: Arrays) -> None:
    classes, columns = arrays["classes"], arrays["columns"]
    for name in ("classes", "columns"):
        array = arrays[name]
        _raise_unless(array.ndim == 1 and array.dtype.kind == "U", f"{name} are no words")
        _raise_unless(len(set(array.tolist())) == len(array), f"{name} repeat themselves")
    _raise_unless(len(classes) > 0, "there is no label")
    features = 0
    for index in range(len(columns)):
        values = arrays[f"values_{index}"]
        mean, deviation = float(arrays["means"][index]), float(arrays["deviations"][index])
        is_numeric = np.isfinite(mean) and np.isfinite(deviation) and deviation > 0
        is_categorical = values.dtype.kind == "U" and len(set(values.tolist())) == len(values)
        is_one = is_categorical and bool(is_numeric) != bool(len(values))
        _raise_unless(is_one, f"column {index + 1} is unclear")
        features += max(1, len(values))
    K = len(classes)
    expected = K + K * K + K * features
    n = arrays["weights"].shape[-1]
    _raise_unless(n == expected, f"there are {n:,} weights, and its encoding has {expected:,}")
    decoding = _read_settings(arrays).decoding
    _raise_unless(decoding in ("posterior", "viterbi"), "the decoding is unknown")


def _check_rna(arrays: Arrays) -> None:
    from core.losses.rna.parameters import NAMES

    _raise_unless(str(arrays["kind"]) == "rna", "its kind is unknown")
    _raise_unless(arrays["names"].tolist() == NAMES, "its parameters have other names")
    settings = _read_settings(arrays)
    gamma, shortest = settings.gamma, settings.shortest_hairpin
    _raise_unless(gamma is not None and 0 < gamma < np.inf, "gamma is out of range")
    _raise_unless(shortest is not None and 0 <= shortest < 1000, "the shortest hairpin is odd")
