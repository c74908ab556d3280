"""The held-out rows about which the members of an average disagree most, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.samplers.averaging import most_disputed
from core.tuning.averaging.averaged_predictions import log_densities, member_disagreement
from core.tuning.events import DisputedRow, MembersDisagree
from core.tuning.problem import Problem
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import targets_of

MAX_ROWS = 12  # in the event
_MAX_LETTERS = 90  # characters of a row's text
_MAX_VALUES = 4  # of a row, in its text


def members_disagree(
    problem: Problem,
    rows: np.ndarray,
    members: Sequence[int],
    weights: np.ndarray,
    all_predictions: Sequence[Predictions],
) -> MembersDisagree:
    """The event with those of the held-out `rows` about which the members disagree most."""
    dataset = problem.dataset
    disagreements = member_disagreement(all_predictions, weights)
    targets = targets_of(dataset.target[rows], dataset.task, dataset.classes)
    disputed = most_disputed(disagreements, MAX_ROWS)
    disputed_predictions = [predictions.subset(disputed) for predictions in all_predictions]
    outputs = _member_outputs(targets[disputed], disputed_predictions)
    return MembersDisagree(
        members=list(members),
        weights=[float(weight) for weight in weights],
        classes=[str(name) for name in dataset.classes],
        rows=[
            DisputedRow(
                row=int(rows[index]),
                about=row_text(dataset, int(rows[index])),
                truth=_target_text(dataset, int(rows[index])),
                spread=float(disagreements[index]),
                said=[member_outputs[position] for member_outputs in outputs],
            )
            for position, index in enumerate(disputed)
        ],
        spread=float(disagreements.mean()),
    )


def row_text(dataset: Dataset, row: int) -> str:
    """A row in a few words: its name or text, or its first values."""
    if dataset.row_names is not None:
        return _shortened_text(str(dataset.row_names[row]))
    if dataset.matrix is not None:
        stored = dataset.matrix[row]
        pairs = list(zip(stored.indices, stored.data, strict=True))[:_MAX_VALUES]
        named = [f"feature {column + 1} {_value_text(value)}" for column, value in pairs]
        return _shortened_text(", ".join(named))
    assert dataset.table is not None
    values = dataset.table.iloc[row]
    if len(values) == 1:
        return _shortened_text(_value_text(values.iloc[0]))
    named = [f"{name} {_value_text(value)}" for name, value in values.iloc[:_MAX_VALUES].items()]
    return _shortened_text(", ".join(named) + (", …" if len(values) > _MAX_VALUES else ""))


def _member_outputs(targets: np.ndarray, all_predictions: Sequence[Predictions]) -> list[list[Any]]:
    """Every member's output for every row: probabilities, a number, or a log density."""
    first = all_predictions[0]
    if first.probabilities is not None:
        return [np.asarray(member.probabilities).tolist() for member in all_predictions]
    if first.documents is None and first.losses is None:
        return [[float(number) for number in member.labels] for member in all_predictions]
    return log_densities(targets, all_predictions).T.tolist()


def _target_text(dataset: Dataset, row: int) -> str:
    has_value = dataset.task.has_classes or dataset.task.has_numbers
    return _value_text(dataset.target[row]) if has_value else ""


def _value_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "missing" if pd.isna(value) else f"{value:.4g}"
    return " ".join(str(value).split())


def _shortened_text(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else text[: _MAX_LETTERS - 1].rstrip() + "…"
