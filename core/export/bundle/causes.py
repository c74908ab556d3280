"""Classes of new rows from the named arrays of deep latent Gaussian models, by numpy alone.

An exported folder holds this file's source, and the program itself predicts through it
too. The arrays are described in core.export.bundle.folder_arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.estimators.dlgm.predictive import mean_class_logs
from core.export.bundle.columns import prepared

AT_ONCE = 1000  # rows that are predicted together


def predicted(
    arrays: Mapping[str, np.ndarray], text: str, tell: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """The likeliest class of every row, and the probability of each, averaged over the members.

    Args:
        arrays: the members.
        text: CSV with the columns that they were trained on, or LIBSVM lines.
        tell: (rows done, rows) from time to time.

    Returns:
        A header, and one row a row.

    Raises:
        UnreadableError: a column is missing, or a cell is no number.
    """
    settings, classes = json.loads(str(arrays["settings"])), arrays["classes"].tolist()
    X = prepared(settings, text)
    members = [_member(arrays, settings, t) for t in range(len(arrays["weights"]))]
    rows: list[list[Any]] = []
    for start in range(0, len(X), AT_ONCE):
        part = X[start : start + AT_ONCE]
        shares = np.zeros((len(part), len(classes)))
        for weight, member in zip(arrays["weights"].tolist(), members, strict=True):
            x = (part - member.mean_) / member.scale_
            shares += weight * np.exp(mean_class_logs(member, x))
        labels = (classes[code] for code in np.argmax(shares, axis=1))
        rows += [[label, *own] for label, own in zip(labels, shares.tolist(), strict=True)]
        tell(len(rows), len(X))
    return ["prediction", *(f"probability of {label}" for label in classes)], rows


def _member(arrays: Mapping[str, np.ndarray], settings: dict[str, Any], t: int) -> Any:
    """One member as the model's formulas take it."""
    start = f"weights_{t}_"
    letters = {n.removeprefix(start): arrays[n] for n in arrays if n.startswith(start)}
    return SimpleNamespace(
        weights_=letters,
        mean_=arrays[f"mean_{t}"],
        scale_=arrays[f"scale_{t}"],
        noise_=arrays[f"noise_{t}"],
        activation=settings["activations"][t],
    )
