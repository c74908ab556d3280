"""What a model says of test rows while columns of theirs lie in another order.

Preparation works column by column, so that what it makes of a shuffled column is what it made of
the column, shuffled: test rows are prepared once, and the model alone is asked again and again.

| symbol | code | meaning |
| --- | --- | --- |
| R | ``orders`` | orders of the rows, shape (R, n) of each part |
| φ | | influence of a row on a score (core.evaluation.influence) |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.datasets.preparation import output_sources
from core.evaluation.influence import normal_interval, of_mean, standard_error
from core.evaluation.permutation import permuted
from core.tuning.scores.bootstrap import middle, resampled_scores
from core.tuning.scores.metric import Metric, Said
from core.tuning.scores.metrics import say
from core.tuning.why.judged import Judged, Part, joined_said

MANY = 5000  # test rows from which on intervals are normal, where the metric tells influences;
# areas under the ROC curve always, by DeLong's pairs: resampling them costs a sort each
_CELLS = 4e6  # of a prepared table that is held several times


class Shuffler:
    """Shuffles columns of test rows and tells how much worse the score becomes.

    Args:
        judged: the tested model.
        parts: its parts with the test rows that are shuffled.
        repeats: R.
    """

    def __init__(self, judged: Judged, parts: Sequence[Part], repeats: int) -> None:
        self._metric: Metric = judged.metric
        self._sign = 1.0 if self._metric.maximize else -1.0
        self._seed, self._repeats = judged.problem.plan.seed, repeats
        self._y = np.concatenate([part.y for part in parts])
        self._groups = None
        if judged.dataset.test is None and judged.dataset.row_groups is not None:
            rows = np.concatenate([part.rows for part in parts])
            named = judged.dataset.row_groups[rows].astype(str)
            self._groups = np.unique(named, return_inverse=True)[1]
        generator = np.random.default_rng(self._seed)
        self._parts = [
            _Prepared(part, np.array([generator.permutation(len(part.y)) for _ in range(repeats)]))
            for part in parts
        ]
        self._base = joined_said([part.as_it_is() for part in self._parts])
        normal = len(self._y) >= MANY or self._metric.bounded
        self._told = self._influence(self._base) if normal else None

    @property
    def width(self) -> int:
        """How many prepared columns there are."""
        return max((part.width for part in self._parts), default=0)

    def of(self, columns: Sequence[int]) -> dict[str, float]:
        """{mean, low, high} of columns that are shuffled together."""
        each = [part.shuffled(columns) for part in self._parts]
        said = [joined_said([part[r] for part in each]) for r in range(self._repeats)]
        scores = [self._metric.score(self._y, one) for one in said]
        mean = self._sign * (self._metric.score(self._y, self._base) - float(np.mean(scores)))
        low, high = self._interval(mean, said, scores)
        return {"mean": mean, "low": min(low, mean), "high": max(high, mean)}

    def _interval(
        self, mean: float, said: Sequence[Said], scores: Sequence[float]
    ) -> tuple[float, float]:
        if self._told is None:
            return self._resampled(said)
        others = [self._influence(one) for one in said]
        worse = self._told - np.mean([phi for phi in others if phi is not None], axis=0)
        error = standard_error(worse, self._groups)
        chance = float(np.var(scores, ddof=1)) / len(scores) if len(scores) > 1 else 0.0
        return normal_interval(mean, math.sqrt(error**2 + chance))

    def _resampled(self, said: Sequence[Said]) -> tuple[float, float]:
        every = [self._base, *said]
        groups = self._groups
        drawn = resampled_scores(self._metric, self._y, every, self._seed, groups)
        drawn = self._sign * drawn
        generator = np.random.default_rng(self._seed + 1)
        places = 1 + generator.integers(len(said), size=(len(said), drawn.shape[1]))
        return middle(drawn[0] - np.take_along_axis(drawn, places, axis=0).mean(axis=0))

    def _influence(self, said: Said) -> np.ndarray | None:
        """φ of every row, shape (n,); None where the metric does not tell it."""
        part = getattr(said, self._metric.needs)
        if self._metric.influence is not None:
            phi = self._metric.influence(self._y, part)
        elif self._metric.right is not None:
            phi = of_mean(self._metric.right(self._y, part).astype(float))
        else:
            return None
        return phi if np.isfinite(phi).all() else None


class _Prepared:
    """A part's test rows behind the preparation, as often below each other as is done at once."""

    def __init__(self, part: Part, orders: np.ndarray) -> None:
        self._part, self._orders = part, orders
        self._X: Any = part.pipeline[:1].transform(part.X)
        self._model, self._sources = part.pipeline[1:], source_places(part)
        n, self.width = self._X.shape
        self._at_once = int(np.clip(_CELLS / max(n * self.width, 1), 1, len(orders)))
        self._dense = None
        if isinstance(self._X, np.ndarray):
            self._dense = np.tile(self._X, (self._at_once, 1))

    def as_it_is(self) -> Said:
        """What the model says of the rows unshuffled."""
        return self._say(self._X)

    def shuffled(self, columns: Sequence[int]) -> list[Said]:
        """What it says of each of the R orders."""
        places = np.flatnonzero(np.isin(self._sources, columns))
        found: list[Said] = []
        for first in range(0, len(self._orders), self._at_once):
            found += self._of(places, self._orders[first : first + self._at_once])
        return found

    def _of(self, places: np.ndarray, orders: np.ndarray) -> list[Said]:
        n = self._X.shape[0]
        if self._dense is None:
            said = self._say(permuted(self._X, places, orders))
        else:
            buffer = self._dense[: len(orders) * n]
            buffer[:, places] = self._X[np.ix_(orders.ravel(), places)]
            try:
                said = self._say(buffer)
            finally:
                buffer[:, places] = np.tile(self._X[:, places], (len(orders), 1))
        rows = np.arange(n)
        return [said.rows(rows + at * n) for at in range(len(orders))]

    def _say(self, X: Any) -> Said:
        dataset = self._part.problem.dataset
        return say(self._model, X, dataset.classes, task=dataset.task)


def source_places(part: Part) -> np.ndarray:
    """The column of the table that every prepared column comes from, shape (outputs,)."""
    sources = output_sources(part.pipeline.named_steps["prepare"])
    if part.problem.dataset.is_sparse:
        return np.arange(len(sources))
    place = {str(name): at for at, name in enumerate(part.problem.dataset.feature_names)}
    return np.array([place[str(source)] for source in sources], dtype=int)
