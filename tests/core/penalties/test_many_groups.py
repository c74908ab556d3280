"""The evidence with more parameters than examples in many groups does not run away."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.losses import build_loss, parameter_groups
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES

ROWS, COLUMNS, ENTRIES = 200, 5000, 30


@pytest.mark.parametrize("groups", [50, 250])
def test_the_evidence_ends_near_the_best_that_it_saw(groups):
    # With 250 groups of 20 columns γ is uncertain by as much as it is: an update that frees a group
    # separates the classes, after which −log evidence grows from 150 to thousands.
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.choice(COLUMNS, ENTRIES, replace=False) for _ in range(ROWS)])
    starts = np.arange(0, ROWS * ENTRIES + 1, ENTRIES)
    X = sparse.csr_matrix((rng.standard_normal(len(places)), places, starts), shape=(ROWS, COLUMNS))
    scores = X @ rng.standard_normal(COLUMNS)
    y = (scores + rng.logistic(size=ROWS) > 0).astype(int)
    loss = build_loss("logistic", X, y)
    of = parameter_groups(loss)
    of = np.where(of >= 0, np.arange(len(of)) * groups // len(of), of)
    steps = list(STRATEGIES["evidence"].make(PenaltyProblem(loss, of)))
    objectives = [step.objective for step in steps]
    assert objectives[-1] < objectives[0]
    assert objectives[-1] <= 1.03 * min(objectives)
    assert np.isfinite(steps[-1].C).all()
