"""A model of sequences or molecules inside the JSON export, every parameter by its name.

An average has lists in place of each C and weight, and "shares", the members' weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.files.npz_file import damaged_npz_error
from core.export.files.parameter_arrays import (
    Arrays,
    ColumnDocument,
    arrays_of,
    check_arrays,
    column_documents,
    encoding_arrays,
)
from core.export.finished_run import FinishedRun
from core.json_reading import read_as
from core.records import Record, optional, to_plain

MAX_FILE_BYTES = 2**31  # of a JSON file


@dataclass(frozen=True, kw_only=True)
class PenaltyGroup(Record):
    """A group of parameters with their penalty, and the norm ‖w‖ of their weights."""

    C: float | list[float]
    switched_off: bool = False
    size_of_weights: float | list[float] = 0.0
    parameters: list[str] | str  # or "all"


@dataclass(frozen=True)
class Penalties(Record):
    """All groups, by their names."""

    groups: dict[str, PenaltyGroup]


@dataclass(frozen=True, kw_only=True)
class FittedModel(Record):
    """The content of core.export.files.parameter_arrays, without the penalties."""

    format: int
    kind: str
    settings: dict[str, Any]  # ParameterSettings of this version
    classes: list[str] | None = optional()
    columns: list[ColumnDocument] | None = optional()
    shares: list[float] | None = optional()
    weights: dict[str, float | list[float]]


def model_document(run: FinishedRun) -> dict[str, Any]:
    """The penalties by group and the fitted model of a run, as plain data."""
    arrays, switched_off = arrays_of(run), set(run.results.switched_off)
    names, group_of_weight = arrays["names"].tolist(), arrays["group_of_weight"]
    weights, penalties = arrays["weights"].T, arrays["penalties"].T.tolist()
    groups = {
        group: PenaltyGroup(
            C=C,
            switched_off=group in switched_off,
            size_of_weights=np.linalg.norm(weights[group_of_weight == k], axis=0).tolist(),
            parameters="all"
            if len(arrays["groups"]) == 1
            else [names[i] for i in np.flatnonzero(group_of_weight == k)],
        )
        for k, (group, C) in enumerate(zip(arrays["groups"].tolist(), penalties, strict=True))
    }
    is_crf = str(arrays["kind"]) == "crf"
    fitted = FittedModel(
        format=int(arrays["format"]),
        kind=str(arrays["kind"]),
        settings=json.loads(str(arrays["settings"])),
        classes=arrays["classes"].tolist() if is_crf else None,
        columns=column_documents(_first_member(run.pipeline[-1]).encoding_) if is_crf else None,
        shares=arrays["shares"].tolist() if "shares" in arrays else None,
        weights=dict(zip(names, weights.tolist(), strict=True)),
    )
    scale = "the penalty is C/2 times the squared weights, beside the summed loss"
    document = {"scale": scale, **to_plain(Penalties(groups))}
    return {"penalties": document, "fitted": to_plain(fitted)}


def _first_member(model: Any) -> Any:
    # All members of an average encode tokens alike.
    return model.members_[0][1] if hasattr(model, "members_") else model


def load_arrays(path: Path) -> Arrays:
    """The arrays in an exported JSON file; UnusableError: damaged, too large, or no model."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            fault = f"the file has {size / 2**30:.0f} gigabytes, more than any model"
            raise UnusableError(fault, where=str(path), cure="give a file that Tunescope exported")
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise damaged_npz_error(path) from error
    return check_arrays(_document_arrays(document, path), str(path))


def _document_arrays(document: Any, path: Path) -> Arrays:
    plain = document if isinstance(document, dict) else {}
    if not isinstance(plain.get("fitted"), dict):
        fault = "these numbers hold no model of sequences or molecules"
        cure = "give the .npz or .json file of such a run, or the .skops file of another"
        raise UnusableError(fault, where=str(path), cure=cure)
    try:
        fitted = read_as(FittedModel, plain["fitted"])
        groups = read_as(Penalties, plain.get("penalties")).groups
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
        if fitted.kind == "crf":
            arrays |= {"classes": np.array(fitted.classes or [], dtype=str)}
            arrays |= encoding_arrays(fitted.columns or [])
    except (KeyError, ValueError, OverflowError) as error:
        raise damaged_npz_error(path) from error
    return arrays
