"""A model of sequences or molecules inside the JSON export, every parameter by its name.

"penalties" holds the groups with their C and what belongs to them; "fitted" holds the encoding and
the weights, in the order of the parameters. For an average there is a list in place of each C and
each weight, with a number for every member, and "shares" says how much each member counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.files.npz_file import damaged
from core.export.files.parameter_arrays import Arrays, arrays_of, checked, encoding_arrays
from core.export.finished_run import FinishedRun

MOST_BYTES = 2**31  # of a JSON file


def model_document(run: FinishedRun) -> dict[str, Any]:
    """The penalties by group and the fitted model of a run, as plain data."""
    arrays, off = arrays_of(run), set(run.results.get("switched_off", []))
    names, places = arrays["names"].tolist(), arrays["group_of_weight"]
    weights = arrays["weights"].T
    groups = {
        group: {
            "C": C,
            "switched_off": group in off,
            "size_of_weights": np.linalg.norm(weights[places == k], axis=0).tolist(),
            "parameters": [names[i] for i in np.flatnonzero(places == k)],
        }
        for k, (group, C) in enumerate(
            zip(arrays["groups"].tolist(), arrays["penalties"].T.tolist(), strict=True)
        )
    }
    if len(groups) == 1:
        next(iter(groups.values()))["parameters"] = "all"
    scale = "the penalty is C/2 times the squared weights, beside the summed loss"
    fitted = {
        "format": int(arrays["format"]),
        "kind": str(arrays["kind"]),
        "settings": json.loads(str(arrays["settings"])),
    }
    if fitted["kind"] == "crf":
        fitted["classes"] = arrays["classes"].tolist()
        fitted["columns"] = _first(run.pipeline[-1]).encoding_.as_dict()["columns"]
    if "shares" in arrays:
        fitted["shares"] = arrays["shares"].tolist()
    fitted["weights"] = dict(zip(names, weights.tolist(), strict=True))
    return {"penalties": {"scale": scale, "groups": groups}, "fitted": fitted}


def _first(model: Any) -> Any:
    """The model, or the first member of an average: all encode tokens alike."""
    return model.members_[0][1] if hasattr(model, "members_") else model


def load(path: Path) -> Arrays:
    """The arrays of the model in an exported JSON file, which may come from anywhere.

    Raises:
        UnusableError: it is no JSON, is damaged, too large, or holds no model.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UnusableError(
                f"the file has {size / 2**30:.0f} gigabytes, more than any model",
                where=str(path),
                cure="give a file that Tunescope exported",
            )
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise damaged(path) from error
    return checked(_arrays(document, path), str(path))


def _arrays(document: Any, path: Path) -> Arrays:
    """The document's arrays, as far as it has them; what is missing or odd is found later."""
    fitted = document.get("fitted") if isinstance(document, dict) else None
    if not isinstance(fitted, dict):
        raise UnusableError(
            "these numbers hold no model of sequences or molecules",
            where=str(path),
            cure="give the .npz or .json file of such a run, or the .skops file of another",
        )
    try:
        weights, groups = fitted["weights"], document["penalties"]["groups"]
        place = {name: k for k, name in enumerate(weights)}
        group_of_weight = np.full(len(weights), -1, dtype=np.int64)
        for k, group in enumerate(groups.values()):
            members = group["parameters"]
            own = [place[name] for name in (weights if members == "all" else members)]
            group_of_weight[own] = k
        arrays = {
            "format": np.array(fitted["format"]),
            "kind": np.array(fitted["kind"]),
            "weights": np.array(list(weights.values()), dtype=np.float64).T,
            "names": np.array(list(weights), dtype=str),
            "groups": np.array(list(groups), dtype=str),
            "penalties": np.array([group["C"] for group in groups.values()], dtype=np.float64).T,
            "group_of_weight": group_of_weight,
            "settings": np.array(json.dumps(fitted["settings"])),
        }
        if "shares" in fitted:
            arrays["shares"] = np.array(fitted["shares"], dtype=np.float64)
        if fitted["kind"] == "crf":
            arrays |= {"classes": np.array(fitted["classes"], dtype=str)}
            arrays |= encoding_arrays(fitted["columns"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise damaged(path) from error
    return arrays
