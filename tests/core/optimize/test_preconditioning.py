"""When the blocks of a Hessian are worth forming as a preconditioner: counted, not timed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.losses import build_loss
from core.optimize.descent import solve_penalized
from core.optimize.newton import Newton


def scattered(rows, columns, each=20):
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.choice(columns, each, replace=False) for _ in range(rows)])
    starts = np.arange(0, rows * each + 1, each)
    X = sparse.csr_matrix((rng.standard_normal(len(places)), places, starts), shape=(rows, columns))
    scores = X @ rng.standard_normal(columns)
    return X, (scores + rng.logistic(size=rows) > 0).astype(int)


@pytest.fixture
def formed(monkeypatch):
    """How often blocks were formed."""
    from core.losses.linear import logistic_loss

    times, own = [], logistic_loss.LogisticAt.sampled_blocks
    monkeypatch.setattr(
        logistic_loss.LogisticAt,
        "sampled_blocks",
        lambda at, step: (times.append(step), own(at, step))[1],
    )
    return times


def test_blocks_are_not_formed_where_products_do(formed):
    X, y = scattered(1500, 900)
    loss = build_loss("logistic", X, y)
    found = solve_penalized(loss, np.full(loss.size, 5.0), loss.initial_weights(), tolerance=1e-9)
    assert not formed  # a block costs as much as hundreds of products
    assert np.abs(found.point.gradient + 5.0 * found.point.w)[:-1].max() < 1e-3


def test_blocks_are_formed_at_once_where_they_are_cheap(formed, monkeypatch):
    monkeypatch.setattr("core.optimize.newton.is_dense", lambda loss, traces: False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 60))
    loss = build_loss("logistic", X, (X @ rng.standard_normal(60) > 0).astype(int))
    Newton(loss).preconditioner(loss.point_at(loss.initial_weights()), np.ones(loss.size))
    assert formed


def test_blocks_are_formed_once_products_have_cost_as_much(formed):
    X, y = scattered(1500, 900)
    loss = build_loss("logistic", X, y)
    newton, point = Newton(loss), loss.point_at(loss.initial_weights())
    newton.preconditioner(point, np.ones(loss.size))
    assert not formed
    newton.products = 10**6
    newton._hessian_at = np.inf
    newton.preconditioner(point, np.ones(loss.size))
    assert len(formed) == 1
