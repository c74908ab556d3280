"""What the tested model says as one column changes: partial dependence and single test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.evaluation.dependence import curves, frequent, mean_with_band, number_grid
from core.tuning.why.judged import Judged, Part

MOST_ROWS = 400  # test rows of the mean
SHOWN_ROWS = 30  # whose own curves are shown
BINS = 24


def dependence(judged: Judged, name: str, of: str = "") -> dict[str, Any]:
    """The partial dependence of a column, plain data.

    Args:
        judged: the tested model.
        name: the column.
        of: the class whose probability (or score) is followed; "" for the second of two, or the
            most frequent.

    Returns:
        ``name``; ``answer``, what is followed; ``grid``, numbers or words; ``numbers``, whether
        they are; ``mean``, ``low``, ``high`` of every value; ``rows``, the curves of single rows;
        ``counts`` and ``edges`` of a histogram of the test rows, or counts of every word;
        ``used``, how many rows. Of texts only a ``problem``, a sentence.

    Raises:
        UnusableError: there is no such column.
    """
    names = [str(one) for one in judged.dataset.feature_names]
    if name not in names:
        raise UnusableError("there is no such column", where=name)
    column = names.index(name)
    about = None
    if not judged.dataset.is_sparse:
        about = next(c for c in judged.dataset.columns if c.name == name)
        if about.kind == "text":
            return {"name": name, "problem": "A column of texts has no order to follow."}
    values = _values(judged, column)
    numbers = pd.api.types.is_numeric_dtype(values.dtype)
    grid, places, words = _grid(values, numbers, about)
    if not len(grid):
        return {"name": name, "problem": "The column has no value in the test rows."}
    place, answer = _followed(judged, of)
    found = np.concatenate(
        [curves(_answering(part, place), part.X, column, grid) for part in _limited(judged)]
    )
    mean, low, high = mean_with_band(found)
    generator = np.random.default_rng(judged.problem.plan.seed)
    shown = generator.permutation(len(found))[:SHOWN_ROWS]
    return {
        "name": name,
        "answer": answer,
        "numbers": bool(numbers),
        "grid": places,
        "words": words,
        "mean": mean.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "rows": np.round(found[np.sort(shown)], 6).tolist(),
        "used": len(found),
        **_counts(values, numbers, grid),
    }


def _values(judged: Judged, column: int) -> pd.Series:
    """The column's values in all test rows."""
    if judged.dataset.is_sparse:
        parts = [part.X[:, [column]].toarray().ravel() for part in judged.parts]
        return pd.Series(np.concatenate(parts).astype(float))
    return pd.concat([part.X.iloc[:, column] for part in judged.parts], ignore_index=True)


def _grid(values: pd.Series, numbers: bool, about: Any) -> tuple[list[Any], list[Any], list[str]]:
    """Values to ask about, their places on the axis, and their words where they are no numbers."""
    if numbers and not pd.api.types.is_bool_dtype(values.dtype):
        grid = number_grid(values.to_numpy(float, na_value=np.nan)).tolist()
        return grid, grid, []
    if about is not None and about.kind == "date":
        read = pd.to_datetime(values, errors="coerce", format=about.date_format, utc=True)
        order = np.argsort(read.to_numpy())[: int(read.notna().sum())]
        at = np.unique(np.linspace(0, len(order) - 1, min(12, len(order))).astype(int))
        words = [str(values.iloc[place]) for place in dict.fromkeys(order[at].tolist())]
        words = list(dict.fromkeys(words))
        return words, list(range(len(words))), words
    grid = frequent(values)
    return grid, list(range(len(grid))), [str(value) for value in grid]


def _counts(values: pd.Series, numbers: bool, grid: list[Any]) -> dict[str, Any]:
    if not numbers or pd.api.types.is_bool_dtype(values.dtype):
        of = values.astype(str).value_counts()
        return {"counts": [int(of.get(str(value), 0)) for value in grid], "edges": []}
    known = values.to_numpy(float, na_value=np.nan)
    known = known[np.isfinite(known)]
    counts, edges = np.histogram(known, bins=BINS)
    return {"counts": counts.tolist(), "edges": edges.tolist()}


def _followed(judged: Judged, of: str) -> tuple[int | None, str]:
    """The place of the class that is followed (None for numbers), and what is followed in words."""
    labels = [str(label) for label in judged.dataset.classes]
    if not labels:
        return None, f"predicted {judged.dataset.target_name}"
    known = judged.y[judged.y >= 0].astype(int)
    usual = 1 if len(labels) == 2 else int(np.bincount(known, minlength=len(labels)).argmax())
    place = labels.index(of) if of in labels else usual
    sure = judged.said.probabilities is not None
    return place, f"{'probability' if sure else 'score'} of “{labels[place]}”"


def _answering(part: Part, place: int | None) -> Any:
    def answer(X: Any) -> np.ndarray:
        said = part.say(X)
        if place is None:
            return said.labels
        given = said.scores if said.probabilities is None else said.probabilities
        assert given is not None
        return given[:, place]

    return answer


def _limited(judged: Judged) -> list[Part]:
    each = max(1, MOST_ROWS // len(judged.parts))
    generator = np.random.default_rng(judged.problem.plan.seed)
    found = []
    for part in judged.parts:
        rows = np.arange(len(part.y))
        if len(rows) > each:
            rows = np.sort(generator.choice(rows, each, replace=False))
        found.append(part.some(rows))
    return found
