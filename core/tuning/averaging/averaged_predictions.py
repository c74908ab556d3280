"""What the average of several models predicts, from the predictions of each.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| T | | | members |
| n | | | rows: table rows, documents, tokens, molecules |
| w | ``weights`` | (T,) | of the members, not negative, sum 1 |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array, Indices
from core.samplers import averaging
from core.tuning.scores.metric import Predictions

MAX_WEIGHT_ROWS = 2000  # that weights are chosen by
_MIN_DENSITY = 1e-12  # one impossible row must not decide about a member by itself


@dataclass(frozen=True)
class RowPredictions:
    """Of rows by models that were not fitted to them, shape (n, T): numbers, else log p(y)."""

    values: Array
    y: Array | None  # of numbers

    @classmethod
    def of_members(cls, members: Sequence[Array], y: Array | None = None) -> RowPredictions:
        """Log densities, or predictions of the numbers y, (n,) each; `MAX_WEIGHT_ROWS` are kept."""
        step = math.ceil(len(members[0]) / MAX_WEIGHT_ROWS)
        return cls(np.stack(members, axis=1)[::step], None if y is None else y[::step])

    def bagged_weights(self) -> Array:
        """The mean of greedy selections among bags of the members, the best first; shape (T,)."""

        def choose(members: Indices) -> Array:
            values = self.values[:, members]
            return averaging.greedy_weights(values, self.y, rounds=averaging.BAG_ROUNDS)

        return averaging.bagged_weights(choose, self._losses, self.values.shape[1])

    def _losses(self, weights: Array) -> Array:
        """Squared errors, else minus log densities, of the weighted average, shape (n,)."""
        if self.y is None:
            return -averaging.average_log_densities(self.values, weights)
        return np.square(self.values @ weights - self.y)


def average_predictions(members: Sequence[Predictions], weights: np.ndarray) -> Predictions:
    """The average of densities, row by row (McInerney 2017, eq. 4).

    Classes by the largest mean probability; numbers by the weighted mean; documents and molecules
    by the log of the mean density.
    """
    first = members[0]
    if first.documents is not None:
        logs = np.stack([_documents(member)[:, 0] for member in members], axis=1)
        mean = averaging.average_log_densities(logs, weights)
        return Predictions(first.labels, documents=np.stack([mean, first.documents[:, 1]], axis=1))
    # Base pairs cannot be averaged once called: molecules get densities only.
    if first.pairs is not None:
        logs = np.stack([-m.losses for m in members if m.losses is not None], axis=1)
        return Predictions(first.labels, losses=-averaging.average_log_densities(logs, weights))
    if first.probabilities is None:
        return Predictions(
            averaging.average_probabilities([member.labels for member in members], weights)
        )
    mean = averaging.average_probabilities([_probabilities(member) for member in members], weights)
    labels = np.argmax(mean, axis=1)
    if first.whole is None:
        return Predictions(labels, mean, mean)
    tokens = np.stack([labels, first.whole[:, 1]], axis=1)
    return Predictions(labels, mean, mean, losses=_token_losses(members, weights), whole=tokens)


def log_densities(y: np.ndarray, members: Sequence[Predictions]) -> np.ndarray:
    """Log p of the true targets y, (n,), under every member, shape (n, T), finite."""
    return np.stack([_log_density(y, member) for member in members], axis=1)


def member_disagreement(members: Sequence[Predictions], weights: np.ndarray) -> np.ndarray:
    """How much the members disagree about every row, shape (n,).

    Classes: the Jensen–Shannon divergence in nats; numbers: the standard deviation; documents and
    molecules: what averaging their densities gains, in nats.
    """
    first = members[0]
    if first.probabilities is not None:
        return averaging.disagreement(np.stack([_probabilities(m) for m in members]), weights)
    if first.documents is None and first.losses is None:
        numbers = np.stack([member.labels for member in members])
        mean = averaging.average_probabilities(numbers, weights)
        return np.sqrt(averaging.average_probabilities((numbers - mean) ** 2, weights))
    return averaging.density_gap(log_densities(np.zeros(len(first.labels)), members), weights)


def is_averageable(predictions: Predictions) -> bool:
    """Whether everything that is averaged is finite."""
    optional_arrays = (predictions.probabilities, predictions.losses, predictions.documents)
    arrays = [array for array in optional_arrays if array is not None] or [predictions.labels]
    return all(bool(np.isfinite(array).all()) for array in arrays)


def concatenate_predictions(fold_predictions: Sequence[Predictions]) -> Predictions:
    """The predictions of several folds as of one; sequences stay apart."""
    if len(fold_predictions) == 1:
        return fold_predictions[0]
    columns: dict[str, np.ndarray] = {}
    for name in ("scores", "probabilities", "losses", "pairs", "documents"):
        if getattr(fold_predictions[0], name) is not None:
            columns[name] = np.concatenate([getattr(fold, name) for fold in fold_predictions])
    if fold_predictions[0].whole is not None:
        tokens = [fold.whole for fold in fold_predictions if fold.whole is not None]
        columns["whole"] = _renumber_sequences(tokens)
    return Predictions(np.concatenate([fold.labels for fold in fold_predictions]), **columns)


def _renumber_sequences(fold_tokens: Sequence[np.ndarray]) -> np.ndarray:
    shifted, sequence_count = [], 0
    for tokens in fold_tokens:
        shifted.append(tokens + np.array([0, sequence_count]))
        sequence_count += int(tokens[:, 1].max()) + 1
    return np.concatenate(shifted)


def _documents(member: Predictions) -> np.ndarray:
    assert member.documents is not None
    return member.documents


def _probabilities(member: Predictions) -> np.ndarray:
    assert member.probabilities is not None
    return member.probabilities


def _log_density(y: np.ndarray, member: Predictions) -> np.ndarray:
    if member.documents is not None:
        return np.asarray(_documents(member)[:, 0])
    # Tokens and molecules: their parts of the joint density.
    if member.losses is not None:
        return -member.losses
    if member.probabilities is None:
        # A number counts as normal around its prediction, with the mean squared error here.
        errors = (y - member.labels) ** 2
        variance = max(float(errors.mean()), _MIN_DENSITY)
        return -0.5 * (math.log(2 * math.pi * variance) + errors / variance)
    codes = y[:, None].astype(int)
    true_probability = np.take_along_axis(member.probabilities, codes, axis=1)[:, 0]
    # −1 is a class of the test rows that training never saw.
    return np.log(np.maximum(np.where(y < 0, 0.0, true_probability), _MIN_DENSITY))


def _token_losses(members: Sequence[Predictions], weights: np.ndarray) -> np.ndarray:
    """The joint loss of a sequence under the average, in equal parts for its tokens."""
    tokens = members[0].whole
    assert tokens is not None
    sequences = tokens[:, 1].astype(int)
    lengths = np.bincount(sequences)
    losses = [np.bincount(sequences, m.losses) for m in members if m.losses is not None]
    joint = -averaging.average_log_densities(-np.stack(losses, axis=1).astype(float), weights)
    return (joint / np.maximum(lengths, 1))[sequences]
