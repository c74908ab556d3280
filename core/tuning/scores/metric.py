"""The Metric and what it looks at: everything a fitted model says about rows.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | rows: table rows, tokens, or molecules |
| K | | | classes; labels are coded 0 … K − 1 in the order of `classes`, −1 for an unknown one |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a row |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Predictions:
    """What a fitted model says about n rows.

    Attributes:
        labels: the predicted codes, (n,); for regression the predicted numbers.
        scores: how much a row looks like each class, (n, K); None for regression.
        probabilities: of each class, (n, K); None where the model gives none.
        losses: −log p of what is true, (n,); only models of sequences and molecules say it.
        whole: for tokens, the predicted code and the sequence's number, (n, 2).
        pairs: for molecules, base pairs rightly called, called, and true at every γ and, last,
            at the model's own, (n, 17, 3).
        documents: for documents, log p of the words asked for and how many they are, (n, 2).
    """

    labels: np.ndarray
    scores: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    losses: np.ndarray | None = None
    whole: np.ndarray | None = None
    pairs: np.ndarray | None = None
    documents: np.ndarray | None = None

    def subset(self, rows: np.ndarray) -> Predictions:
        """The same for some of the rows."""
        field_names = (f.name for f in fields(self) if f.name != "labels")
        arrays = {name: getattr(self, name) for name in field_names}
        present_arrays = {name: array[rows] for name, array in arrays.items() if array is not None}
        return Predictions(self.labels[rows], **present_arrays)


@dataclass(frozen=True)
class Metric:
    """One way of scoring.

    Attributes:
        name: on the command line and in results.
        title: in the window.
        tasks: which tasks it measures.
        maximize: whether more is better.
        share: whether it is a share of one, shown in percent and its differences in points.
        needs: the part of `Predictions` that it looks at.
        function: (y, that part, weights) -> scores, shape (B,); NaN where a resample has none.
        right: (y, that part) -> which units are right, where the score is the share of those.
        influence: (y, that part) -> every row's influence on the score, (n,), where it is known
            (core.evaluation.influence).
        bounded: whether the interval of the score is to stay within 0 … 1.
    """

    name: str
    title: str
    tasks: tuple[str, ...]
    maximize: bool
    share: bool
    needs: Literal["labels", "scores", "probabilities", "losses", "whole", "pairs", "documents"]
    function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    right: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    influence: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    bounded: bool = False

    def weighted_scores(
        self, y: np.ndarray, predictions: Predictions, weights: np.ndarray
    ) -> np.ndarray:
        """The scores of B resamples, shape (B,)."""
        return self.function(y, getattr(predictions, self.needs), weights)

    def score(self, y: np.ndarray, predictions: Predictions) -> float:
        """The score of the rows as they are."""
        return float(self.weighted_scores(y, predictions, np.ones((1, len(y))))[0])

    def signed_gain(self, difference: float) -> float:
        """A difference of two scores with its sign turned so that more is better."""
        return difference if self.maximize else -difference


def resampled_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean of values (n,) in every resample, shape (B,)."""
    return weights @ values / weights.sum(axis=1)


def safe_ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Quotients, NaN where what is below is not above 0."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
