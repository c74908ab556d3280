"""The curve of RNA molecules by their length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.losses.rna.rna_loss import build_rna
from scale.curve import Curve, Line


def gradient(bases: int) -> Callable[[], object]:
    """A value and gradient of a random molecule, at weights as large as learned ones."""
    letters = "".join(np.random.default_rng(bases).choice(list("ACGU"), bases))
    loss = build_rna([letters], ["." * bases], threads=1)
    rng = np.random.default_rng(0)
    loss.value_and_gradient(np.zeros(loss.size))
    # Never twice at the same point: the loss remembers the last one.
    return lambda: loss.value_and_gradient(0.2 * rng.standard_normal(loss.size))


CURVES = (
    Curve(
        "molecules",
        "A value and gradient of the RNA model: one molecule",
        "bases",
        (25, 50, 100, 200, 400, 800, 1_600),
        (Line("Tunescope", gradient, 3.0),),
        "Multi-branch loops are cubic in the length, bounded inner loops quadratic: the slope "
        "comes near 3 only beyond the lengths that are common.",
    ),
)
