"""The Metric and its input: the predictions of a fitted model.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | rows: table rows, tokens, or molecules |
| K | | | classes; labels are coded 0 … K − 1 in the order of `classes`, −1 for an unknown one |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a row |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from core.evaluation import influence


@dataclass(frozen=True)
class Predictions:
    """The predictions of a fitted model for n rows."""

    labels: np.ndarray  # codes, (n,); for regression numbers
    scores: np.ndarray | None = None  # of each class, (n, K)
    probabilities: np.ndarray | None = None  # of each class, (n, K)
    losses: np.ndarray | None = None  # −log p of the truth, (n,); of sequences and molecules
    whole: np.ndarray | None = None  # of tokens: predicted code and sequence number, (n, 2)
    # of molecules: base pairs rightly called, called and true at every γ and, last, at the model's
    # own, (n, 17, 3)
    pairs: np.ndarray | None = None
    documents: np.ndarray | None = None  # log p of the predicted words and their number, (n, 2)

    def subset(self, rows: np.ndarray) -> Predictions:
        field_names = (f.name for f in fields(self) if f.name != "labels")
        arrays = {name: getattr(self, name) for name in field_names}
        present_arrays = {name: array[rows] for name, array in arrays.items() if array is not None}
        return Predictions(self.labels[rows], **present_arrays)


@dataclass(frozen=True)
class Metric:
    """One way of scoring."""

    name: str  # on the command line and in results
    title: str  # in the window
    tasks: tuple[str, ...]
    # the field of `Predictions`
    needs: Literal["labels", "scores", "probabilities", "losses", "whole", "pairs", "documents"]
    # (y, that field, weights) -> scores, (B,); NaN where undefined
    function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    maximize: bool = True
    share: bool = True  # of one; shown in percent
    # (y, that field) -> which units are right, if the score is their share
    right: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    # (y, that field) -> influence of every row, (n,) (core.evaluation.influence)
    influence: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    has_floor: bool = True  # whether a share is never below 0, as R² may be
    # (y, that field) -> numbers (n,), of which differences of scores are mean differences
    values: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether the score lies within 0 … 1."""
        return self.share and self.has_floor

    @property
    def score_limits(self) -> tuple[float, float]:
        has_floor = self.is_bounded or not self.maximize
        return 0.0 if has_floor else -math.inf, 1.0 if self.share else math.inf

    def weighted_scores(
        self, y: np.ndarray, predictions: Predictions, weights: np.ndarray
    ) -> np.ndarray:
        return self.function(y, getattr(predictions, self.needs), weights)

    def score(self, y: np.ndarray, predictions: Predictions) -> float:
        return float(self.weighted_scores(y, predictions, np.ones((1, len(y))))[0])

    def signed_gain(self, difference: float) -> float:
        return difference if self.maximize else -difference


def mean_metric(
    name: str,
    title: str,
    tasks: tuple[str, ...],
    needs: Literal["labels", "probabilities", "losses"],
    values: Callable[[np.ndarray, np.ndarray], np.ndarray],
    right: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Metric:
    """The metric that is the mean of ``values(y, that field)``, (n,): a share, or else a loss."""

    def mean(y: np.ndarray, output: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return resampled_mean(values(y, output), weights)

    def mean_influence(y: np.ndarray, output: np.ndarray) -> np.ndarray:
        return influence.mean_influence(values(y, output))

    is_share = right is not None
    return Metric(
        name, title, tasks, needs, mean, is_share, is_share, right, mean_influence, values=values
    )


def resampled_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean of values (n,) in every resample, shape (B,)."""
    return weights @ values / weights.sum(axis=1)


def safe_ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Quotients, NaN where `below` is not above 0."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
