"""Classes of new rows from `core.export.bundle.dlgm_carrier`; carried into folders."""

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from core.estimators.dlgm.network import mean_class_logs
from core.export.bundle.column_preparation import prepare_columns

CHUNK_ROWS = 1000  # rows that are predicted together


def predict_table(
    arrays: Mapping[str, np.ndarray], text: str, report: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """Header and rows: the likeliest class and the probability of each, averaged over the members.

    The text is CSV with the columns that they were trained on, or LIBSVM lines; an UnreadableError
    says that a column is missing, or a cell is no number.
    """
    settings, classes = json.loads(str(arrays["settings"])), arrays["classes"].tolist()
    X = prepare_columns(settings, text)
    members = [_member_model(arrays, settings, t) for t in range(len(arrays["weights"]))]
    rows: list[list[Any]] = []
    for start in range(0, len(X), CHUNK_ROWS):
        chunk = X[start : start + CHUNK_ROWS]
        probabilities = np.zeros((len(chunk), len(classes)))
        for weight, member in zip(arrays["weights"].tolist(), members, strict=True):
            x = (chunk - member.mean_) / member.scale_
            probabilities += weight * np.exp(mean_class_logs(member, x))
        labels = (classes[code] for code in np.argmax(probabilities, axis=1))
        rows += [
            [label, *row_probabilities]
            for label, row_probabilities in zip(labels, probabilities.tolist(), strict=True)
        ]
        report(len(rows), len(X))
    return ["prediction", *(f"probability of {label}" for label in classes)], rows


def _member_model(arrays: Mapping[str, np.ndarray], settings: dict[str, Any], t: int) -> Any:
    start = f"weights_{t}_"
    letters = {n.removeprefix(start): arrays[n] for n in arrays if n.startswith(start)}
    return SimpleNamespace(
        weights_=letters,
        mean_=arrays[f"mean_{t}"],
        scale_=arrays[f"scale_{t}"],
        noise_=arrays[f"noise_{t}"],
        activation=settings["activations"][t],
    )
