"""What the average of several models says about rows, from what each of them says.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| T | | | members |
| n | | | rows: table rows, documents, tokens, molecules |
| w | ``weights`` | (T,) | of the members, not negative, sum 1 |
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.samplers.averaging import (
    average_log_densities,
    average_probabilities,
    density_gap,
    disagreement,
)
from core.tuning.scores.metric import Said

_FLOOR = 1e-12  # of a density: one impossible row must not decide about a member by itself


def averaged_said(members: Sequence[Said], weights: np.ndarray) -> Said:
    """The average of densities, row by row (McInerney 2017, eq. 4).

    Classes by the largest mean probability; numbers by the weighted mean; documents and molecules
    by the log of the mean density. Base pairs cannot be averaged after they were called: of
    molecules only the densities are given.
    """
    first = members[0]
    if first.documents is not None:
        logs = np.stack([_documents(member)[:, 0] for member in members], axis=1)
        mean = average_log_densities(logs, weights)
        return Said(first.labels, documents=np.stack([mean, first.documents[:, 1]], axis=1))
    if first.pairs is not None:
        return Said(first.labels, losses=_mean_loss(members, weights))
    if first.probabilities is None:
        return Said(average_probabilities([member.labels for member in members], weights))
    mean = average_probabilities([_probabilities(member) for member in members], weights)
    labels = np.argmax(mean, axis=1)
    if first.whole is None:
        return Said(labels, mean, mean)
    whole = np.stack([labels, first.whole[:, 1]], axis=1)
    return Said(labels, mean, mean, losses=_token_losses(members, weights), whole=whole)


def log_densities(y: np.ndarray, members: Sequence[Said]) -> np.ndarray:
    """Log p of what is true, every row under every member, shape (n, T), finite.

    Numbers count as normally distributed around the prediction with the member's own mean squared
    error on these rows; tokens and molecules by their parts of the joint density.

    Args:
        y: codes or numbers, shape (n,).
        members: what each says about the n rows.
    """
    return np.stack([_log_density(y, member) for member in members], axis=1)


def spread(members: Sequence[Said], weights: np.ndarray) -> np.ndarray:
    """How much the members say different things about every row, shape (n,).

    Classes: the Jensen–Shannon divergence in nats; numbers: the standard deviation; documents and
    molecules: what averaging their densities gains, in nats.
    """
    first = members[0]
    if first.probabilities is not None:
        return disagreement(np.stack([_probabilities(m) for m in members]), weights)
    if first.documents is None and first.losses is None:
        numbers = np.stack([member.labels for member in members])
        mean = average_probabilities(numbers, weights)
        return np.sqrt(average_probabilities((numbers - mean) ** 2, weights))
    return density_gap(log_densities(np.zeros(len(first.labels)), members), weights)


def can_be_averaged(said: Said) -> bool:
    """Whether everything that is averaged is a number."""
    parts = (said.probabilities, said.losses, said.documents)
    given = [part for part in parts if part is not None] or [said.labels]
    return all(bool(np.isfinite(part).all()) for part in given)


def joined(parts: Sequence[Said]) -> Said:
    """What was said about several lots of rows, as of one lot; sequences stay apart."""
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, np.ndarray] = {}
    for name in ("scores", "probabilities", "losses", "pairs", "documents"):
        if getattr(parts[0], name) is not None:
            columns[name] = np.concatenate([getattr(part, name) for part in parts])
    if parts[0].whole is not None:
        columns["whole"] = _numbered_on([part.whole for part in parts if part.whole is not None])
    return Said(np.concatenate([part.labels for part in parts]), **columns)


def _numbered_on(wholes: Sequence[np.ndarray]) -> np.ndarray:
    shifted, before = [], 0
    for whole in wholes:
        shifted.append(whole + np.array([0, before]))
        before += int(whole[:, 1].max()) + 1
    return np.concatenate(shifted)


def _documents(member: Said) -> np.ndarray:
    assert member.documents is not None
    return member.documents


def _probabilities(member: Said) -> np.ndarray:
    assert member.probabilities is not None
    return member.probabilities


def _log_density(y: np.ndarray, member: Said) -> np.ndarray:
    if member.documents is not None:
        return np.asarray(_documents(member)[:, 0])
    if member.losses is not None:
        return -member.losses
    if member.probabilities is None:
        errors = (y - member.labels) ** 2
        variance = max(float(errors.mean()), _FLOOR)
        return -0.5 * (math.log(2 * math.pi * variance) + errors / variance)
    own = np.take_along_axis(member.probabilities, y[:, None].astype(int), axis=1)[:, 0]
    return np.log(np.maximum(np.where(y < 0, 0.0, own), _FLOOR))


def _mean_loss(members: Sequence[Said], weights: np.ndarray) -> np.ndarray:
    logs = np.stack([-m.losses for m in members if m.losses is not None], axis=1)
    return -average_log_densities(logs, weights)


def _token_losses(members: Sequence[Said], weights: np.ndarray) -> np.ndarray:
    """The joint loss of a sequence under the average, in equal parts for its tokens."""
    whole = members[0].whole
    assert whole is not None
    sequences = whole[:, 1].astype(int)
    lengths = np.bincount(sequences)
    each = [np.bincount(sequences, m.losses).astype(float) for m in members if m.losses is not None]
    joint = -average_log_densities(-np.stack(each, axis=1), weights)
    return (joint / np.maximum(lengths, 1))[sequences]
