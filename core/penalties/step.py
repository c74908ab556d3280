"""What a penalty learner reports at each step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class LearnerStep:
    """The state after a step; arrays are the learner's own copies and never change later."""

    number: int  # 0 for the start at C = 1
    w: np.ndarray  # parameters, shape (n,)
    C: np.ndarray  # shape (k,), on the scale of ½ Σ_j C_j ‖w_j‖² beside the loss
    objective: float  # minimized: f of Foo 2009, −log evidence or the holdout loss
    loss: float  # −log p(data | w) alone
    norms: np.ndarray  # ‖w_j‖, shape (k,)
    switched_off: np.ndarray  # groups at their cap, boolean, shape (k,)
    iterations: int = 0  # inner solver iterations of this step
    fits: int = 0  # penalized problems (or Newton steps on them) solved so far
    gradient_norm: float = float("nan")  # of the outer problem, for gradient learners
    at_bound: np.ndarray | None = None  # groups on a bound of d, (k,); gradient learners only
    parameters: np.ndarray | None = None  # γ_j, (k,), where known
    remarks: tuple[str, ...] = field(default_factory=tuple)  # sentences the result must carry


Step = LearnerStep  # the name of earlier versions
