"""Where the members of an average disagree: the held-out rows with the largest spread, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.samplers.averaging import most_disputed
from core.tuning.averaging.averaged_said import log_densities, spread
from core.tuning.events import MembersDisagree
from core.tuning.payloads import DisputedRow
from core.tuning.problem import Problem
from core.tuning.scores.metric import Said
from core.tuning.scores.metrics import targets_of

ROWS = 12  # shown
_LONGEST = 90  # characters of a row's words
_VALUES = 4  # of a row that are named


def members_disagree(
    problem: Problem,
    rows: np.ndarray,
    members: Sequence[int],
    weights: np.ndarray,
    said: Sequence[Said],
) -> MembersDisagree:
    """The rows about which the members say the most different things.

    Args:
        problem: the run's problem.
        rows: the dataset's rows that are held out, shape (n,).
        members: trial numbers, T of them.
        weights: theirs, shape (T,).
        said: what each says about the n rows.
    """
    dataset = problem.dataset
    apart = spread(said, weights)
    targets = targets_of(dataset.target[rows], dataset.task, dataset.classes)
    chosen = most_disputed(apart, ROWS)
    parts = [one.rows(chosen) for one in said]
    given = _given(targets[chosen], parts)
    return MembersDisagree(
        members=list(members),
        weights=[float(weight) for weight in weights],
        classes=[str(name) for name in dataset.classes],
        rows=[
            DisputedRow(
                row=int(rows[at]),
                about=about(dataset, int(rows[at])),
                truth=_truth(dataset, int(rows[at])),
                spread=float(apart[at]),
                said=[of_member[place] for of_member in given],
            )
            for place, at in enumerate(chosen)
        ],
        spread=float(apart.mean()),
    )


def about(dataset: Dataset, row: int) -> str:
    """A row in a few words: its name or text, or its first values."""
    if dataset.row_names is not None:
        return _short(str(dataset.row_names[row]))
    if dataset.matrix is not None:
        stored = dataset.matrix[row]
        pairs = list(zip(stored.indices, stored.data, strict=True))[:_VALUES]
        return _short(", ".join(f"feature {at + 1} {_plain(value)}" for at, value in pairs))
    assert dataset.table is not None
    values = dataset.table.iloc[row]
    if len(values) == 1:
        return _short(_plain(values.iloc[0]))
    named = [f"{name} {_plain(value)}" for name, value in values.iloc[:_VALUES].items()]
    return _short(", ".join(named) + (", …" if len(values) > _VALUES else ""))


def _given(targets: np.ndarray, said: Sequence[Said]) -> list[list[Any]]:
    """What every member gives for every row: probabilities, a number, or a log density."""
    first = said[0]
    if first.probabilities is not None:
        return [[row.tolist() for row in _probabilities(member)] for member in said]
    if first.documents is None and first.losses is None:
        return [[float(number) for number in member.labels] for member in said]
    return log_densities(targets, said).T.tolist()


def _probabilities(member: Said) -> np.ndarray:
    assert member.probabilities is not None
    return member.probabilities


def _truth(dataset: Dataset, row: int) -> str:
    return "" if dataset.task in ("topics", "structure") else _plain(dataset.target[row])


def _plain(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "missing" if pd.isna(value) else f"{value:.4g}"
    return " ".join(str(value).split())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
