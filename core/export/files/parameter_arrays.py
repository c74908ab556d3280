"""A fitted model of sequences or molecules as named numpy arrays, the form that files carry.

| array | shape | content |
| --- | --- | --- |
| format | () | version of this table: 1 for one model, 2 for an average |
| kind | () | "crf" or "rna" |
| weights, names | (n,) | every parameter and what it is called |
| groups, penalties | (k,) | regularization groups and their C, on the scale of ½ C ‖w‖² |
| shares | (T,) | of an average alone: of its members, whose weights are (T, n), penalties (T, k) |
| group_of_weight | (n,) | the place of every parameter's group; −1 for none |
| settings | () | the rest as JSON text: columns' names, how the file is written, how it decodes |
| classes | (K,) | crf: labels |
| columns | (c,) | crf: columns that give features, in the order of the parameters |
| means, deviations | (c,) | crf: what standardizes a number column; NaN for other columns |
| values_0, values_1 … | | crf: the known values of a category column; empty for a number column |

crf: n = K + K² + K F: initial, transition (from label i to j at K + iK + j), then K weights for
every feature, where a category column gives a feature for each of its values and a number column
one. rna: n = 708, in the order of core.losses.rna.parameters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.finished_run import FinishedRun

SINGLE, FORMAT = 1, 2
KINDS = {"sequence": "crf", "structure": "rna"}
Arrays = dict[str, np.ndarray]


def arrays_of(run: FinishedRun) -> Arrays:
    """The arrays of a run's fitted model, or of the members of its average."""
    model, kind = run.pipeline[-1], KINDS[run.takeaway.task]
    members = [member for _, member in getattr(model, "members_", [("model", model)])]
    first, one = members[0], not hasattr(model, "members_")
    settings = {
        "sequence": run.takeaway.feature_names[0],
        "target": run.takeaway.target,
        "reading": reading_of(run),
        "run": run.name,
        "versions": run.takeaway.versions,
    }
    weights = np.array([member.w_ for member in members], dtype=np.float64)
    penalties = np.array([list(m.penalties_.values()) for m in members], dtype=np.float64)
    arrays = {
        "format": np.array(SINGLE if one else FORMAT),
        "kind": np.array(kind),
        "weights": weights[0] if one else weights,
        "names": np.array(distinct(first.names_)),
        "groups": np.array(list(first.penalties_), dtype=str),
        "penalties": penalties[0] if one else penalties,
        "group_of_weight": np.asarray(first.groups_, dtype=np.int64),
    }
    if not one:
        arrays["shares"] = np.array(model.weights, dtype=np.float64)
    if kind == "crf":
        settings |= {"sequence": first.encoding_.sequence, "decoding": model.decoding}
        arrays |= {"classes": np.array([str(label) for label in first.classes_])}
        arrays |= encoding_arrays(first.encoding_.as_dict()["columns"])
    else:
        settings |= {"gamma": first.gamma, "shortest_hairpin": first.shortest_hairpin}
    return {**arrays, "settings": np.array(json.dumps(settings, ensure_ascii=False))}


def reading_of(run: FinishedRun) -> dict[str, Any]:
    """How the training file was written, as far as a cell's meaning depends on it."""
    how = run.takeaway.source["read_csv"]
    return {
        "quote": how.get("quotechar", '"'),
        "padded": bool(how.get("skipinitialspace", False)),
        "decimal": how.get("decimal", "."),
        "thousands": how.get("thousands", ""),
        "missing": how.get("na_values", [""]),
        "encoding": how.get("encoding", ""),
    }


def encoding_arrays(columns: list[dict[str, Any]]) -> Arrays:
    """The arrays of an encoding's columns, as `Encoding.as_dict` describes them."""
    numbers = [(c.get("mean", np.nan), c.get("deviation", np.nan)) for c in columns]
    arrays = {
        "columns": np.array([column["name"] for column in columns], dtype=str),
        "means": np.array([mean for mean, _ in numbers], dtype=np.float64),
        "deviations": np.array([deviation for _, deviation in numbers], dtype=np.float64),
    }
    for place, column in enumerate(columns):
        arrays[f"values_{place}"] = np.array(column.get("values", []), dtype=str)
    return arrays


def distinct(names: Sequence[str]) -> list[str]:
    """The names, a number behind those that stand for several parameters."""
    times = Counter(names)
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if times[name] == 1 else f"{name} ({seen[name]})")
    return found


def checked(arrays: Arrays, where: str) -> Arrays:
    """The arrays, if they fit together: they may come from anywhere.

    Raises:
        UnusableError: of a newer version, not of a model, or damaged.
    """
    try:
        version, kind = int(arrays["format"]), str(arrays["kind"])
    except (KeyError, TypeError, ValueError):
        raise UnusableError(
            "this file holds no model of sequences or molecules",
            where=where,
            cure="give a .npz or .json file that Tunescope exported from such a run",
        ) from None
    if version > FORMAT:
        raise UnusableError(
            "this model was exported by a newer Tunescope", where=where, cure="update Tunescope"
        )
    try:
        _check_parameters(arrays)
        (_check_crf if kind == "crf" else _check_rna)(arrays)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise UnusableError(
            f"this model file is damaged ({reason})", where=where, cure="export the model again"
        ) from None
    return arrays


def _demand(true: bool, said: str) -> None:
    if not true:
        raise ValueError(said)


def _check_parameters(arrays: Arrays) -> None:
    weights, groups = arrays["weights"], arrays["group_of_weight"]
    _demand(weights.dtype.kind == "f" and weights.ndim in (1, 2), "the weights are no numbers")
    _demand(bool(np.isfinite(weights).all()), "a weight is not finite")
    _demand(arrays["names"].shape == weights.shape[-1:], "names and weights differ in number")
    fits = groups.shape == weights.shape[-1:] and groups.dtype.kind == "i"
    _demand(fits, "the groups do not fit")
    k = len(arrays["groups"])
    _demand(
        arrays["penalties"].shape == (*weights.shape[:-1], k),
        "groups and penalties differ in number",
    )
    if weights.ndim == 2:
        _check_shares(arrays["shares"], len(weights))
    _demand(bool(np.all((groups >= -1) & (groups < k))), "a weight's group is unknown")
    settings = json.loads(str(arrays["settings"]))
    _demand(isinstance(settings, dict), "the settings are none")
    reading = settings["reading"]
    words = [settings["sequence"], settings["target"], reading["quote"], reading["decimal"]]
    _demand(all(isinstance(word, str) for word in words), "a setting is no text")
    _demand(len(reading["quote"]) == len(reading["decimal"]) == 1, "a sign is no single letter")
    _demand(isinstance(reading["thousands"], str), "the thousands are no text")
    _demand(isinstance(reading.get("encoding", ""), str), "the encoding is no text")
    missing = reading["missing"]
    lists = list(missing.values()) if isinstance(missing, dict) else [missing]
    _demand(
        all(isinstance(one, list) and all(isinstance(w, str) for w in one) for one in lists),
        "the words for missing values are no list",
    )


def _check_shares(shares: np.ndarray, members: int) -> None:
    _demand(shares.shape == (members,) and shares.dtype.kind == "f", "the shares do not fit")
    _demand(bool((shares > 0).all()) and abs(shares.sum() - 1.0) < 1e-6, "the shares are none")


def _check_crf(arrays: Arrays) -> None:
    classes, columns = arrays["classes"], arrays["columns"]
    for name in ("classes", "columns"):
        one = arrays[name]
        _demand(one.ndim == 1 and one.dtype.kind == "U", f"{name} are no words")
        _demand(len(set(one.tolist())) == len(one), f"{name} repeat themselves")
    _demand(len(classes) > 0, "there is no label")
    features = 0
    for place in range(len(columns)):
        values = arrays[f"values_{place}"]
        mean, deviation = float(arrays["means"][place]), float(arrays["deviations"][place])
        number = np.isfinite(mean) and np.isfinite(deviation) and deviation > 0
        of_text = values.dtype.kind == "U" and len(set(values.tolist())) == len(values)
        _demand(of_text and bool(number) != bool(len(values)), f"column {place + 1} is unclear")
        features += max(1, len(values))
    K = len(classes)
    expected = K + K * K + K * features
    n = arrays["weights"].shape[-1]
    _demand(n == expected, f"there are {n:,} weights, and its encoding has {expected:,}")
    decoding = json.loads(str(arrays["settings"]))["decoding"]
    _demand(decoding in ("posterior", "viterbi"), "the decoding is unknown")


def _check_rna(arrays: Arrays) -> None:
    from core.losses.rna.parameters import NAMES

    _demand(str(arrays["kind"]) == "rna", "its kind is unknown")
    _demand(arrays["names"].tolist() == NAMES, "its parameters have other names")
    settings = json.loads(str(arrays["settings"]))
    gamma, shortest = settings["gamma"], settings["shortest_hairpin"]
    _demand(isinstance(gamma, int | float) and 0 < gamma < np.inf, "gamma is out of range")
    _demand(type(shortest) is int and 0 <= shortest < 1000, "the shortest hairpin is odd")
