"""What a penalty learner reports at each step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class LearnerStep:
    """The state after a step; arrays are the learner's own copies and never change later.

    Attributes:
        number: 0 for the start at C = 1.
        w: parameters, shape (n,).
        C: penalties, shape (k,), on the scale of ½ Σ_j C_j ‖w_j‖² beside the loss.
        objective: what the learner minimizes (f of Foo 2009, −log evidence, the holdout loss).
        loss: −log p(data | w) alone.
        norms: ‖w_j‖, shape (k,).
        switched_off: groups at their cap, boolean, shape (k,).
        iterations: inner solver iterations of this step.
        fits: penalized problems (or Newton steps on them) solved so far.
        gradient_norm: of the outer problem, for gradient learners; NaN otherwise.
        at_bound: groups on a bound of d, boolean, shape (k,); gradient learners only.
        parameters: γ_j, the effective number of parameters a group, shape (k,), where known.
        remarks: sentences the result must carry ("the noise floor was active").
    """

    number: int
    w: np.ndarray
    C: np.ndarray
    objective: float
    loss: float
    norms: np.ndarray
    switched_off: np.ndarray
    iterations: int = 0
    fits: int = 0
    gradient_norm: float = float("nan")
    at_bound: np.ndarray | None = None
    parameters: np.ndarray | None = None
    remarks: tuple[str, ...] = field(default_factory=tuple)


Step = LearnerStep  # the name of earlier versions
