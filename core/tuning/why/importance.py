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
shufflings are drawn with replacement too, so that their chance is in the interval as well. The
model is the one fitted without the test rows, and nothing but test rows is shuffled.

With very many columns only those are shuffled that what the model says goes along with most (by
the correlation of prepared columns and answers, on training rows, times the weight of a linear
model), as many as some seconds allow.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.preparation import output_sources
from core.evaluation.permutation import alike_groups, permuted
from core.tuning.problem import take
from core.tuning.scores.bootstrap import middle, resampled_scores
from core.tuning.scores.metric import Metric, Said
from core.tuning.why.dependence import dependence
from core.tuning.why.judged import Judged, Part, joined_said

REPEATS = 5
MOST_ROWS = 2000  # test rows that are shuffled
MOST_COLUMNS = 40
SECONDS = 5.0  # that the shuffling may take, roughly
SHOWN_ALONG = 3  # columns whose partial dependence comes with the answer
_SCREENED = 2000  # training rows of the screen
_CELLS = 4e6  # of one shuffled table


def importance(judged: Judged) -> dict[str, Any]:
    """The answer, plain data.

    Returns:
        ``metric``; ``rows`` used of ``test_rows``; ``repeats``; ``total`` columns, and ``screened``
        where not all were shuffled; ``columns`` and ``groups``, each a list of {names, mean, low,
        high} with the largest mean first, of columns also ``weight`` (of linear models, on the
        scaled column; the root of the sum of squares where it has several outputs or classes);
        ``alike``, [{names, least}] of columns that say nearly the same; ``signed``, whether
        weights have a sign; ``dependence`` of the first columns.
    """
    parts = _limited(judged)
    names = [str(name) for name in judged.dataset.feature_names]
    base = joined_said([part.say(part.X) for part in parts])
    shuffler = _Shuffler(judged, parts, base)
    chosen, alone = list(range(len(names))), {}
    begun = time.monotonic()
    if chosen:
        shuffler.of([chosen[0]])
    each = max(time.monotonic() - begun, 1e-4)
    affordable = int(np.clip(SECONDS / each, 5, MOST_COLUMNS))
    screened = len(names) > affordable
    if screened:
        strength = screen(judged.parts[0])
        chosen = np.sort(np.argsort(-strength, kind="stable")[:affordable]).tolist()
    alone = {column: shuffler.of([column]) for column in chosen}
    alike = _alike(judged, chosen)
    together = {tuple(group): shuffler.of(group) for group, _ in alike}
    weights = _weights(judged.parts[0])
    columns: list[dict[str, Any]] = [
        {"names": [names[column]], **alone[column], "weight": weights.get(column)}
        for column in chosen
    ]
    columns.sort(key=lambda one: -one["mean"])
    single = set(chosen) - {column for group in together for column in group}
    groups: list[dict[str, Any]]
    groups = [{"names": [names[column]], **alone[column]} for column in single]
    groups += [{"names": [names[c] for c in group], **found} for group, found in together.items()]
    groups.sort(key=lambda one: -one["mean"])
    first = [one["names"][0] for one in columns[:SHOWN_ALONG]]
    shown = {name: dependence(judged, name) for name in first}
    return {
        "metric": judged.metric.name,
        "rows": int(sum(len(part.y) for part in parts)),
        "test_rows": len(judged.y),
        "repeats": REPEATS,
        "total": len(names),
        "screened": screened,
        "columns": columns,
        "groups": groups,
        "alike": [{"names": [names[c] for c in g], "least": least} for g, least in alike],
        "dependence": shown,
    }


def _limited(judged: Judged) -> list[Part]:
    """The parts with so many test rows at most, drawn at random."""
    count, parts = len(judged.y), list(judged.parts)
    if count <= MOST_ROWS:
        return parts
    generator = np.random.default_rng(judged.problem.plan.seed)
    kept = np.sort(generator.choice(count, MOST_ROWS, replace=False))
    ends = np.cumsum([0, *(len(part.y) for part in parts)])
    inside = [kept[(a <= kept) & (kept < b)] - a for a, b in itertools.pairwise(ends)]
    return [part.some(at) for part, at in zip(parts, inside, strict=True) if len(at)]


class _Shuffler:
    """Shuffles columns of test rows and tells how much worse the score becomes."""

    def __init__(self, judged: Judged, parts: Sequence[Part], base: Said) -> None:
        self._parts, self._base = parts, base
        self._metric: Metric = judged.metric
        self._seed = judged.problem.plan.seed
        self._y = np.concatenate([part.y for part in parts])
        dataset, rows = judged.dataset, np.concatenate([part.rows for part in parts])
        self._groups = None
        if dataset.test is None and dataset.row_groups is not None:
            self._groups = dataset.row_groups[rows]
        generator = np.random.default_rng(self._seed)
        self._orders = [
            np.array([generator.permutation(len(part.y)) for _ in range(REPEATS)]) for part in parts
        ]

    def of(self, columns: Sequence[int]) -> dict[str, float]:
        """{mean, low, high} of columns that are shuffled together."""
        said = [self._base, *self._shuffled(columns)]
        sign = 1.0 if self._metric.maximize else -1.0
        scores = [sign * self._metric.score(self._y, one) for one in said]
        drawn = sign * resampled_scores(self._metric, self._y, said, self._seed, self._groups)
        generator = np.random.default_rng(self._seed + 1)
        places = 1 + generator.integers(REPEATS, size=(REPEATS, drawn.shape[1]))
        worse = drawn[0] - np.take_along_axis(drawn, places, axis=0).mean(axis=0)
        low, high = middle(worse)
        mean = scores[0] - float(np.mean(scores[1:]))
        return {"mean": mean, "low": min(low, mean), "high": max(high, mean)}

    def _shuffled(self, columns: Sequence[int]) -> Iterator[Said]:
        found: list[list[Said]] = []
        for part, orders in zip(self._parts, self._orders, strict=True):
            at_once = max(1, int(_CELLS / max(part.X.shape[0] * part.X.shape[1], 1)))
            of_part: list[Said] = []
            for first in range(0, REPEATS, at_once):
                some = orders[first : first + at_once]
                said = part.say(permuted(part.X, columns, some))
                rows = np.arange(len(part.y))
                of_part += [said.rows(rows + at * len(rows)) for at in range(len(some))]
            found.append(of_part)
        return (joined_said([of_part[r] for of_part in found]) for r in range(REPEATS))


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
    np.maximum.at(strength, _source_places(part, names), along)
    return strength


def _source_places(part: Part, names: Sequence[str]) -> np.ndarray:
    """The column of the table that every prepared column comes from."""
    sources = output_sources(part.pipeline.named_steps["prepare"])
    if part.problem.dataset.is_sparse:
        return np.arange(len(sources))
    place = {name: at for at, name in enumerate(names)}
    return np.array([place[str(source)] for source in sources], dtype=int)


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
    names = [str(name) for name in part.problem.dataset.feature_names]
    rows = part.problem.train_rows[:_SCREENED]
    Z = part.pipeline[:-1].transform(take(part.problem.dataset.features, rows))
    if w.shape[1] != Z.shape[1]:
        return {}
    scaled, places = w * _deviations(Z), _source_places(part, names)
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
