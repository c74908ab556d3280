"""A model of sequences or molecules as its parameters: named arrays, and a part of the JSON export.

weights, names: (n,), every parameter and its name
groups, penalties: (k,), regularization groups and their C, on the scale of ½ C ‖w‖²
group_of_weight: (n,), the index of every parameter's group; −1 for none
shares: (T,), of an average's members, whose weights are (T, n), penalties (T, k)

The format is 1 for one model, 2 for an average. In JSON an average has lists in place of each C
and weight.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.bundle.carrier import (
    Arrays,
    arrays_of,
    carrier_of,
    cell_format_of_run,
    checked_arrays,
    damaged_file_error,
)
from core.export.bundle.csv_rows import CellFormat
from core.export.finished_run import FinishedRun
from core.json_reading import read_as
from core.ordinary_files import read_ordinary
from core.records import JsonObject, Record, optional, to_plain


@dataclass(frozen=True)
class ParameterSettings(Record):
    """What belongs to a model beside its arrays."""

    sequence: str  # column
    target: str  # column
    reading: CellFormat  # of the training file
    run: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    decoding: str | None = optional()  # of labels: posterior or viterbi
    gamma: float | None = optional()  # of a model of molecules, like the next
    shortest_hairpin: int | None = optional()


def settings_of_run(run: FinishedRun, sequence: str, **own_settings: Any) -> JsonObject:
    """The settings of a run's model, whose names come in the column `sequence`."""
    settings = ParameterSettings(
        sequence=sequence,
        target=run.takeaway.target,
        reading=cell_format_of_run(run),
        run=run.name,
        versions=run.takeaway.versions,
        **own_settings,
    )
    plain: JsonObject = to_plain(settings)
    return plain


def parameter_arrays(members: list[Any], weights: np.ndarray | None) -> Arrays:
    """The parameters and penalties of one fitted model, or of the members of an average."""
    first = members[0]
    w = np.array([member.w_ for member in members], dtype=np.float64)
    penalties = np.array([list(m.penalties_.values()) for m in members], dtype=np.float64)
    return {
        "weights": w[0] if weights is None else w,
        "names": np.array(number_duplicates(first.names_)),
        "groups": np.array(list(first.penalties_), dtype=str),
        "penalties": penalties[0] if weights is None else penalties,
        "group_of_weight": np.asarray(first.groups_, dtype=np.int64),
        **({} if weights is None else {"shares": weights}),
    }


def number_duplicates(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those of several parameters."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    numbered_names = []
    for name in names:
        seen[name] += 1
        numbered_names.append(name if counts[name] == 1 else f"{name} ({seen[name]})")
    return numbered_names


def raise_unless(condition: bool, message: str) -> None:
    """Raise ValueError for arrays that do not fit together."""
    if not condition:
        raise ValueError(message)


def check_parameters(arrays: Arrays) -> ParameterSettings:
    """The settings of arrays from anywhere; ValueError or KeyError where parts do not fit."""
    weights, groups = arrays["weights"], arrays["group_of_weight"]
    are_numbers = weights.dtype.kind == "f" and weights.ndim in (1, 2)
    raise_unless(are_numbers, "the weights are no numbers")
    raise_unless(bool(np.isfinite(weights).all()), "a weight is not finite")
    raise_unless(arrays["names"].shape == weights.shape[-1:], "names and weights differ in number")
    fits = groups.shape == weights.shape[-1:] and groups.dtype.kind == "i"
    raise_unless(fits, "the groups do not fit")
    k = len(arrays["groups"])
    fits = arrays["penalties"].shape == (*weights.shape[:-1], k)
    raise_unless(fits, "groups and penalties differ in number")
    if weights.ndim == 2:
        shares = arrays["shares"]
        fits = shares.shape == (len(weights),) and shares.dtype.kind == "f"
        raise_unless(fits, "the shares do not fit")
        fits = bool((shares > 0).all()) and abs(shares.sum() - 1.0) < 1e-6
        raise_unless(fits, "the shares are none")
    raise_unless(bool(np.all((groups >= -1) & (groups < k))), "a weight's group is unknown")
    settings = read_as(ParameterSettings, json.loads(str(arrays["settings"])))
    reading = settings.reading
    raise_unless(len(reading.quote) == len(reading.decimal) == 1, "a sign is no single letter")
    return settings


# JSON -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PenaltyGroup(Record):
    """A group of parameters with their penalty, and the norm ‖w‖ of their weights."""

    C: float | list[float]
    switched_off: bool = False
    size_of_weights: float | list[float] = 0.0
    parameters: list[str] | str  # or "all"


@dataclass(frozen=True, kw_only=True)
class FittedModel(Record):
    """The arrays without the penalties, as they are read; carriers read what they add."""

    format: int
    kind: str
    settings: JsonObject  # ParameterSettings of this version
    shares: list[float] | None = optional()
    weights: dict[str, float | list[float]]


def model_document(run: FinishedRun) -> JsonObject:
    """The penalties by group and the fitted model of a run, as plain data."""
    arrays, switched_off = arrays_of(run), set(run.results.switched_off)
    names, group_of_weight = arrays["names"].tolist(), arrays["group_of_weight"]
    weights, penalties = arrays["weights"].T, arrays["penalties"].T.tolist()
    groups = {
        group: PenaltyGroup(
            C=C,
            switched_off=group in switched_off,
            size_of_weights=np.linalg.norm(weights[group_of_weight == k], axis=0).tolist(),
            # One group holds every parameter: their names would only fill the file.
            parameters="all"
            if len(arrays["groups"]) == 1
            else [names[i] for i in np.flatnonzero(group_of_weight == k)],
        )
        for k, (group, C) in enumerate(zip(arrays["groups"].tolist(), penalties, strict=True))
    }
    kind = str(arrays["kind"])
    carrier = carrier_of(kind)
    fitted = {
        "format": int(arrays["format"]),
        "kind": kind,
        "settings": json.loads(str(arrays["settings"])),
        **(carrier.document(arrays) if carrier else {}),
        **({"shares": arrays["shares"].tolist()} if "shares" in arrays else {}),
        "weights": dict(zip(names, weights.tolist(), strict=True)),
    }
    scale = "the penalty is C/2 times the squared weights, beside the summed loss"
    return {"penalties": {"scale": scale, "groups": to_plain(groups)}, "fitted": fitted}


def load_document_arrays(path: Path) -> Arrays:
    """The arrays in an exported JSON file; UnusableError: damaged, too large, or no model."""
    try:
        # The whole text is in memory before any of it can be judged.
        document = json.loads(read_ordinary(path))
        plain = document if isinstance(document, dict) else {}
        if not isinstance(plain.get("fitted"), dict):
            fault = "these numbers hold no model of sequences or molecules"
            cure = "give the .npz or .json file of such a run, or the .skops file of another"
            raise UnusableError(fault, where=str(path), cure=cure)
        arrays = _arrays_of_document(plain)
    except UnusableError:
        raise
    except Exception as error:
        raise damaged_file_error(path) from error
    return checked_arrays(arrays, path)


def _arrays_of_document(document: JsonObject) -> Arrays:
    fitted = read_as(FittedModel, document["fitted"])
    plain_groups = document["penalties"]["groups"].items()
    groups = {name: read_as(PenaltyGroup, plain) for name, plain in plain_groups}
    weights = fitted.weights
    index_of = {name: k for k, name in enumerate(weights)}
    group_of_weight = np.full(len(weights), -1, dtype=np.int64)
    for k, group in enumerate(groups.values()):
        members = weights if group.parameters == "all" else group.parameters
        group_of_weight[[index_of[name] for name in members]] = k
    arrays = {
        "format": np.array(fitted.format),
        "kind": np.array(fitted.kind),
        "weights": np.array(list(weights.values()), dtype=np.float64).T,
        "names": np.array(list(weights), dtype=str),
        "groups": np.array(list(groups), dtype=str),
        "penalties": np.array([group.C for group in groups.values()], dtype=np.float64).T,
        "group_of_weight": group_of_weight,
        "settings": np.array(json.dumps(fitted.settings)),
    }
    if fitted.shares is not None:
        arrays["shares"] = np.array(fitted.shares, dtype=np.float64)
    carrier = carrier_of(fitted.kind)
    return arrays | (carrier.arrays_of_document(document["fitted"]) if carrier else {})
