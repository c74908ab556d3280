"""What the results say of sequences and molecules beyond any table.

| key | meaning |
| --- | --- |
| sequences | {tuned, default: sequences with every token right, count} |
| pairs | {tuned, default: {right, called, true} base pairs at γ = 4, molecules} |
| curve | {tuned, default: [[γ, sensitivity, specificity] for every γ]} |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.tuning.metric import Said, ratio
from core.tuning.structured_metrics import GAMMAS, USUAL


def of_sequences(y: np.ndarray, tuned: Said, default: Said) -> dict[str, Any]:
    """Whole sequences right; y in codes, shape (tokens,)."""
    assert tuned.whole is not None
    sequences = tuned.whole[:, 1]
    of_both = {
        name: int((np.bincount(sequences, weights=y != said.labels) == 0).sum())
        for name, said in (("tuned", tuned), ("default", default))
    }
    return {"sequences": {**of_both, "count": int(sequences.max()) + 1}}


def of_molecules(tuned: Said, default: Said) -> dict[str, Any]:
    """Base pairs of all molecules together, and the curve over γ."""
    pairs, curve = {}, {}
    for name, said in (("tuned", tuned), ("default", default)):
        assert said.pairs is not None
        of_all = said.pairs.sum(axis=0)
        counts = of_all[USUAL].tolist()
        pairs[name] = dict(zip(("right", "called", "true"), counts, strict=True))
        right, called, true = of_all.T.astype(float)
        curve[name] = np.stack([GAMMAS, ratio(right, true), ratio(right, called)], axis=1).tolist()
    assert tuned.pairs is not None
    return {"pairs": {**pairs, "molecules": len(tuned.pairs)}, "curve": curve}
