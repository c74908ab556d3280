"""Which columns matter: how much worse the model becomes where a column's values are shuffled.

| symbol | code | meaning |
| --- | --- | --- |
| R | ``repeats`` | shufflings of a column |
| B | | resamples of the test rows |
| s | | the score of the test rows; s_r that with the column in the r-th other order |

The importance of a column is s − mean_r s_r, its sign turned so that above 0 the column helps
(Breiman 2001; Fisher, Rudin & Dominici 2019). Its interval is a bootstrap of the test rows, the
same rows for s and every s_r, and not the spread of the repeats: that spread shrinks to nothing
with more repeats and says nothing about how few test rows there are. In every resample R of the
shufflings are drawn with replacement too, so that their chance is in the interval as well. With
very many test rows the interval is normal, by the rows' influences on the same difference. The
model is the one fitted without the test rows, and nothing but test rows is shuffled.

As many test rows are drawn as some seconds allow. With very many columns only those are shuffled
that what the model says goes along with most (by the correlation of prepared columns and answers,
on training rows, times the weight of a linear model), as many as the seconds allow.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.evaluation.permutation import alike_groups
from core.tuning.problem import take
from core.tuning.why.dependence import dependence
from core.tuning.why.judged import Judged, Part
from core.tuning.why.shuffling import Shuffler, source_places

REPEATS = 5
FEWEST_ROWS = 2000  # test rows that are shuffled in any case, where there are so many
MOST_ROWS = 100_000
MOST_COLUMNS = 60
SECONDS = 8.0  # that the shuffling may take, roughly
SHOWN_ALONG = 3  # columns whose partial dependence comes with the answer
_TOLD_EVERY = 0.3  # seconds
_SCREENED = 2000  # training rows of the screen
_MOST_CELLS = 2e7  # of the prepared test rows


def importance(judged: Judged) -> Iterator[dict[str, Any]]:
    """What is known of the columns so far, several times, and the answer; plain data.

    Yields:
        ``metric``; ``rows`` used of ``test_rows``; ``repeats``; ``total`` columns, and ``screened``
        where not all are shuffled; ``columns`` and ``groups``, each a list of {names, mean, low,
        high} with the largest mean first, of columns also ``weight`` (of linear models, on the
        scaled column; the root of the sum of squares where it has several outputs or classes);
        ``alike``, [{names, least}] of columns that say nearly the same; ``signed``, whether
        weights have a sign; ``shuffled`` of ``asked``, how far it is; ``done``; in the last also
        ``dependence`` of the first columns.
    """
    names = [str(name) for name in judged.dataset.feature_names]
    shuffler, rows, chosen = _within_seconds(judged, len(names))
    alike = _alike(judged, chosen)
    weights = _weights(judged.parts[0])
    asked: list[tuple[int, ...]] = [(column,) for column in chosen]
    asked += [tuple(group) for group, _ in alike]
    about = {
        "metric": judged.metric.name,
        "rows": rows,
        "test_rows": len(judged.y),
        "repeats": REPEATS,
        "total": len(names),
        "screened": len(chosen) < len(names),
        "alike": [{"names": [names[c] for c in g], "least": least} for g, least in alike],
        "asked": len(asked),
    }
    found: dict[tuple[int, ...], dict[str, float]] = {}
    told = time.monotonic()
    for columns in asked:
        found[columns] = shuffler.of(columns)
        if time.monotonic() - told > _TOLD_EVERY and len(found) < len(asked):
            yield {**about, **_ordered(found, names, weights), "done": False}
            told = time.monotonic()
    ordered = _ordered(found, names, weights)
    first = [one["names"][0] for one in ordered["columns"][:SHOWN_ALONG]]
    shown = {name: dependence(judged, name) for name in first}
    yield {**about, **ordered, "dependence": shown, "done": True}


def _ordered(
    found: Mapping[tuple[int, ...], Mapping[str, float]],
    names: Sequence[str],
    weights: Mapping[int, float],
) -> dict[str, Any]:
    """Columns alone, and with those that say the same, the largest mean first."""
    alone = {columns[0]: told for columns, told in found.items() if len(columns) == 1}
    together = {columns: told for columns, told in found.items() if len(columns) > 1}
    columns: list[dict[str, Any]] = [
        {"names": [names[at]], **told, "weight": weights.get(at)} for at, told in alone.items()
    ]
    single = set(alone) - {column for group in together for column in group}
    groups: list[dict[str, Any]] = [{"names": [names[c]], **alone[c]} for c in sorted(single)]
    groups += [{"names": [names[c] for c in group], **told} for group, told in together.items()]
    columns.sort(key=lambda one: -one["mean"])
    groups.sort(key=lambda one: -one["mean"])
    return {"columns": columns, "groups": groups, "shuffled": len(found)}


def _within_seconds(judged: Judged, width: int) -> tuple[Shuffler, int, list[int]]:
    """As many test rows and columns as can be shuffled in the seconds there are.

    Columns go before rows: rows are more than the fewest only where every column is shuffled.

    Returns:
        What shuffles, how many rows it has, and the columns.
    """
    few = _limited(judged, FEWEST_ROWS)
    shuffler, rows = Shuffler(judged, few, REPEATS), sum(len(part.y) for part in few)
    each = _seconds_of_one(shuffler) if width else 0.0
    affordable = int(np.clip(SECONDS / max(each, 1e-4), 5, MOST_COLUMNS))
    if width > affordable:
        strength = screen(judged.parts[0])
        chosen = np.argsort(-strength, kind="stable")[:affordable]
        return shuffler, rows, np.sort(chosen).tolist()
    outputs = max(shuffler.width, 1)
    most = int(min(len(judged.y), MOST_ROWS, max(_MOST_CELLS / outputs, FEWEST_ROWS)))
    while rows < most and width * each < SECONDS:
        # Seconds grow at most as rows do, so that a step that fits by this does fit.
        more = int(min(most, rows * min(8.0, SECONDS / max(width * each, 1e-4))))
        if more < 1.2 * rows:
            break
        parts = _limited(judged, more)
        shuffler, rows = Shuffler(judged, parts, REPEATS), sum(len(part.y) for part in parts)
        each = _seconds_of_one(shuffler)
    return shuffler, rows, list(range(width))


def _seconds_of_one(shuffler: Shuffler) -> float:
    begun = time.monotonic()
    shuffler.of([0])
    return time.monotonic() - begun


def _limited(judged: Judged, most: int) -> list[Part]:
    """The parts with so many test rows at most, drawn at random."""
    count, parts = len(judged.y), list(judged.parts)
    if count <= most:
        return parts
    generator = np.random.default_rng(judged.problem.plan.seed)
    kept = np.sort(generator.choice(count, most, replace=False))
    ends = np.cumsum([0, *(len(part.y) for part in parts)])
    inside = [kept[(a <= kept) & (kept < b)] - a for a, b in itertools.pairwise(ends)]
    return [part.some(at) for part, at in zip(parts, inside, strict=True) if len(at)]


def screen(part: Part) -> np.ndarray:
    """How much what a model says goes along with each column, on training rows, shape (p,)."""
    names, problem = [str(n) for n in part.problem.dataset.feature_names], part.problem
    rows = problem.train_rows
    if len(rows) > _SCREENED:
        drawn = np.random.default_rng(problem.plan.seed).choice(rows, _SCREENED, replace=False)
        rows = np.sort(drawn)
    X = take(problem.dataset.features, rows)
    Z = part.pipeline[:-1].transform(X)
    said = part.say(X)
    answers = said.labels[:, None] if said.scores is None else said.scores
    answers = answers - answers.mean(axis=0)
    size = np.linalg.norm(answers, axis=0)
    answers = answers[:, size > 0] / size[size > 0]
    spread = _deviations(Z)
    along = np.abs(np.asarray(Z.T @ answers)).max(axis=1, initial=0.0)
    along = np.divide(along, spread, out=np.zeros_like(along), where=spread > 0)
    if (w := _coefficients(part.pipeline)) is not None and w.shape[1] == len(along):
        along = along * np.abs(w).max(axis=0) * spread
    strength = np.zeros(len(names))
    np.maximum.at(strength, source_places(part), along)
    return strength


def _deviations(Z: Any) -> np.ndarray:
    if hasattr(Z, "toarray"):
        mean = np.asarray(Z.mean(axis=0)).ravel()
        square = np.asarray(Z.multiply(Z).mean(axis=0)).ravel()
        return np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.asarray(Z, dtype=float).std(axis=0)


def _coefficients(pipeline: Any) -> np.ndarray | None:
    """The weights of a linear model, shape (outputs, prepared columns); None of other models."""
    model = pipeline[-1]
    model = getattr(model, "estimator_", model)  # behind a threshold
    w = getattr(model, "coef_", None)
    if w is None or hasattr(w, "toarray"):
        return None
    return np.atleast_2d(np.asarray(w, dtype=float))


def _weights(part: Part) -> dict[int, float]:
    """{column: weight on the scaled column} of a linear model; empty of others."""
    w = _coefficients(part.pipeline)
    if w is None:
        return {}
    rows = part.problem.train_rows[:_SCREENED]
    Z = part.pipeline[:-1].transform(take(part.problem.dataset.features, rows))
    if w.shape[1] != Z.shape[1]:
        return {}
    scaled, places = w * _deviations(Z), source_places(part)
    found: dict[int, float] = {}
    for column in np.unique(places):
        own = scaled[:, places == column]
        found[int(column)] = float(own[0, 0] if own.size == 1 else np.sqrt((own**2).sum()))
    return found


def _alike(judged: Judged, chosen: Sequence[int]) -> list[tuple[list[int], float]]:
    """Groups of the chosen columns that say nearly the same, on training rows."""
    dataset = judged.dataset
    rows = judged.parts[0].problem.train_rows[:_SCREENED]
    X = take(dataset.features, rows)
    kinds = {column.name: column for column in dataset.columns} if not dataset.is_sparse else {}
    values, categories, places = [], [], []
    for column in chosen:
        if dataset.is_sparse:
            numbers = np.asarray(X[:, [column]].todense(), dtype=float).ravel()
        else:
            about, given = kinds[dataset.feature_names[column]], X.iloc[:, column]
            if about.kind == "text":
                continue
            if about.kind == "date":
                read = pd.to_datetime(given, errors="coerce", format=about.date_format, utc=True)
                numbers = read.to_numpy("datetime64[s]").astype(float)
                numbers[read.isna().to_numpy()] = np.nan
            elif pd.api.types.is_numeric_dtype(given.dtype):
                numbers = given.to_numpy(float, na_value=np.nan)
            else:
                numbers = pd.factorize(given)[0].astype(float)
        numeric = dataset.is_sparse or kinds[dataset.feature_names[column]].kind == "date"
        numeric = numeric or pd.api.types.is_numeric_dtype(X.iloc[:, column].dtype)
        values.append(numbers)
        categories.append(not numeric)
        places.append(column)
    found = alike_groups(values, categories)
    return [([places[at] for at in group], least) for group, least in found]
