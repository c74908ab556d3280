"""The parts of the results that only sequences and molecules have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.tuning.run_results import MoleculePairs, PairCounts, PairCurves, SequenceCounts
from core.tuning.scores.metric import Predictions, safe_ratio
from core.tuning.scores.predictions import DEFAULT, TUNED
from core.tuning.scores.structured_metrics import GAMMAS, OWN


def sequence_results(y: np.ndarray, by_model: Mapping[str, Predictions]) -> SequenceCounts:
    """Entirely right sequences of every contestant; y in codes, shape (tokens,)."""
    tokens = by_model[TUNED].whole
    assert tokens is not None
    _, sequences = np.unique(tokens[:, 1], return_inverse=True)
    right = {
        name: int((np.bincount(sequences, weights=y != predictions.labels) == 0).sum())
        for name, predictions in by_model.items()
    }
    return SequenceCounts(**right, count=int(sequences.max()) + 1)


def molecule_results(by_model: Mapping[str, Predictions]) -> tuple[MoleculePairs, PairCurves]:
    """Base pairs of all molecules together, and the curve over γ; the baseline calls none."""
    pairs, curve, molecules = {}, {}, 0
    for name in (TUNED, DEFAULT):
        pair_counts = by_model[name].pairs
        assert pair_counts is not None
        of_all, molecules = pair_counts.sum(axis=0), len(pair_counts)
        pairs[name] = PairCounts(*of_all[OWN].tolist())
        right, predicted, true = of_all[:OWN].T.astype(float)
        columns = (GAMMAS, safe_ratio(right, true), safe_ratio(right, predicted))
        curve[name] = np.stack(columns, axis=1).tolist()
    return MoleculePairs(**pairs, molecules=molecules), PairCurves(**curve)
