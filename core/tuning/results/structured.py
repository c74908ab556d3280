"""What the results say of sequences and molecules beyond any table.

| key | meaning |
| --- | --- |
| sequences | {tuned, default, baseline: sequences with every token right, count} |
| pairs | {tuned, default: {right, called, true} base pairs at the model's own γ, molecules} |
| curve | {tuned, default: [[γ, sensitivity, specificity] for every γ]} |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.tuning.scores.metric import Said, ratio
from core.tuning.scores.structured_metrics import GAMMAS, OWN


def of_sequences(y: np.ndarray, said: Mapping[str, Said]) -> dict[str, Any]:
    """Whole sequences right, of every contestant; y in codes, shape (tokens,)."""
    whole = said["tuned"].whole
    assert whole is not None
    _, sequences = np.unique(whole[:, 1], return_inverse=True)
    right = {
        name: int((np.bincount(sequences, weights=y != one.labels) == 0).sum())
        for name, one in said.items()
    }
    return {"sequences": {**right, "count": int(sequences.max()) + 1}}


def of_molecules(said: Mapping[str, Said]) -> dict[str, Any]:
    """Base pairs of all molecules together, and the curve over γ; the baseline calls none."""
    pairs: dict[str, Any] = {}
    curve = {}
    for name in ("tuned", "default"):
        counted = said[name].pairs
        assert counted is not None
        of_all = counted.sum(axis=0)
        counts = of_all[OWN].tolist()
        pairs[name] = dict(zip(("right", "called", "true"), counts, strict=True))
        right, called, true = of_all[:OWN].T.astype(float)
        curve[name] = np.stack([GAMMAS, ratio(right, true), ratio(right, called)], axis=1).tolist()
        pairs["molecules"] = len(counted)
    return {"pairs": pairs, "curve": curve}
