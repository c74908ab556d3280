"""The CRF's loss and derivatives: against enumeration, differences, and its own other ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import core.losses.crf.expected as expected
from core.errors import UnusableError
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.crf.sweep import MANY
from core.optimize.loss import Loss
from core.optimize.newton import is_dense


def check(loss: CrfLoss, w: np.ndarray, truth: Any, exact: float = 1e-10, dense: bool = True):
    """Value, gradient, products and Hessian are those of the enumeration."""
    value, gradient = loss.value_and_gradient(w)
    v = np.random.default_rng(5).normal(size=loss.size)
    assert value == pytest.approx(truth.loss, rel=1e-12, abs=1e-10)
    np.testing.assert_allclose(gradient, truth.gradient, atol=exact)
    np.testing.assert_allclose(loss.point_at(w).product(v), truth.hessian @ v, atol=10 * exact)
    if dense:
        np.testing.assert_allclose(loss.point_at(w).dense_hessian(), truth.hessian, atol=exact)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_value_gradient_and_curvature_equal_enumeration(tiny, K, seed, enumerate_all) -> None:
    loss, w = tiny(K, seed)
    check(loss, w, enumerate_all(loss, w))


@pytest.mark.parametrize("labels", ["abcdefghijklmnop", "abcdefghijklmnopqrs"])
def test_with_many_labels_too(labels, mixed_table, enumerate_all) -> None:
    table, y = mixed_table([3, 1, 2, 3, 2], 0, labels)
    loss = build_crf(table, "id", y, list(labels))
    w = np.random.default_rng(0).normal(size=loss.size)
    assert loss.state_count >= MANY
    check(loss, w, enumerate_all(loss, w), dense=False)


@pytest.mark.parametrize("K", [2, 3])
def test_in_logarithms_it_is_the_same(tiny, K, monkeypatch, enumerate_all) -> None:
    loss, w = tiny(K, 0)
    truth = enumerate_all(loss, w)
    monkeypatch.setattr(expected, "WIDEST", -1e9)
    assert loss.cached_sweeps(w).wide.all()
    check(loss, w, truth)


@pytest.mark.parametrize("size", [30.0, 100.0, 1000.0])
def test_extreme_weights(tiny, size, enumerate_all) -> None:
    loss, w = tiny(3, 3)
    check(loss, size * w, enumerate_all(loss, size * w), 1e-9, dense=False)


def test_only_the_sequences_that_need_it_are_worked_on_in_logarithms(
    enumerate_all, mixed_table
) -> None:
    table, y = mixed_table([3] * 40, 0, "uvw")
    table["rare"] = np.where(np.arange(120) == 60, "yes", "no")
    loss = build_crf(table, "id", y, list("uvw"))
    w = np.random.default_rng(0).normal(size=loss.size)
    w[loss.names.index("rare=yes → u")] = 900.0
    wide = loss.cached_sweeps(w).wide
    assert wide.any()
    assert not wide.all()
    check(loss, w, enumerate_all(loss, w), 1e-9, dense=False)


@pytest.fixture
def large(mixed_table):
    rng = np.random.default_rng(0)
    table, y = mixed_table(rng.integers(1, 60, 300).tolist(), 0, "uvwxy")
    table["many"] = rng.integers(3000, size=len(table)).astype(str)
    table["x"] = rng.normal(size=len(table))
    loss = build_crf(table, "id", y, list("uvwxy"))
    return loss, 0.5 * rng.normal(size=loss.size), rng.normal(size=loss.size), (table, y)


def test_derivatives_equal_central_differences(large) -> None:
    loss, w, v, _ = large
    h = 1e-5
    slope = loss.value_and_gradient(w)[1] @ v
    up, down = loss.value_and_gradient(w + h * v), loss.value_and_gradient(w - h * v)
    assert slope == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-6)
    differences = (up[1] - down[1]) / (2 * h)
    np.testing.assert_allclose(loss.point_at(w).product(v), differences, atol=1e-4, rtol=1e-5)


def test_threads_change_no_bit(large) -> None:
    loss, w, v, _ = large
    # So many parts that threads have something to share.
    chains = loss._chains
    for name in ("_groups", "_units", "_gathered"):
        bounds = getattr(chains, name)
        setattr(chains, name, np.unique(np.linspace(0, bounds[-1], 8).astype(np.int64)))
    features = chains.features
    for name in ("_units", "_features"):
        bounds = getattr(features, name)
        setattr(features, name, np.unique(np.linspace(0, bounds[-1], 8).astype(np.int64)))
    results = []
    for threads in (1, 2, 3):
        loss.threads, loss._last, loss._cache = threads, None, None
        value, gradient = loss.value_and_gradient(w)
        results.append((value, gradient, loss.point_at(w).product(v)))
    for other in results[1:]:
        assert other[0] == results[0][0]
        np.testing.assert_array_equal(other[1], results[0][1])
        np.testing.assert_array_equal(other[2], results[0][2])


def test_results_do_not_change_when_another_point_is_asked(large) -> None:
    loss, w, v, _ = large
    value, gradient = loss.value_and_gradient(w)
    product = loss.point_at(w).product(v)
    kept = gradient.copy(), product.copy()
    at = loss.point_at(w)
    loss.point_at(2 * w).product(-v)
    np.testing.assert_array_equal(at.product(v), kept[1])
    np.testing.assert_array_equal(gradient, kept[0])
    np.testing.assert_array_equal(product, kept[1])
    assert loss.value_and_gradient(w)[0] == value


def test_the_diagonal_is_near_the_hessian_s(tiny, enumerate_all) -> None:
    loss, w = tiny(3, 1)
    estimate, truth = loss.point_at(w).diagonal(), np.diag(enumerate_all(loss, w).hessian)
    assert (estimate > 0).all()
    assert np.median(np.abs(np.log(estimate / truth))) < 0.3
    # Without transitions the tokens are independent, and what is left out is nothing.
    w[3:12] = 0.0
    truth = np.diag(enumerate_all(loss, w).hessian)
    np.testing.assert_allclose(loss.point_at(w).diagonal()[12:], truth[12:], rtol=1e-9)


def test_other_rows_with_the_same_parameters(large) -> None:
    loss, w, _, (table, y) = large
    first = table["id"].isin([f"s{k}" for k in range(100)]).to_numpy()
    parts = [loss.for_data(table[rows], y[rows]) for rows in (first, ~first)]
    together = sum(part.value_and_gradient(w)[0] for part in parts)
    assert together == pytest.approx(loss.value_and_gradient(w)[0], rel=1e-12)
    assert [part.examples for part in parts] == [100, 200]


def test_parameters_are_named_and_ordered() -> None:
    table = pd.DataFrame({"id": [1, 1, 2], "word": ["b", "a", "a"], "size": [1.0, 2.0, 3.0]})
    loss = build_crf(table, "id", np.array(["N", "V", "N"]), ["N", "V"])
    assert list(loss.names) == [
        *("initial → N", "initial → V", "N → N", "N → V", "V → N", "V → V"),
        *("word=a → N", "word=a → V", "word=b → N", "word=b → V", "size → N", "size → V"),
    ]
    written = list(loss.names)
    assert [loss.names[k] for k in range(loss.size)] == written
    assert (loss.names[-1], loss.names[3:8:2]) == (written[-1], written[3:8:2])
    with pytest.raises(IndexError):
        loss.names[loss.size]
    assert loss.sources == ["initial"] * 2 + ["transition"] * 4 + ["word"] * 4 + ["size"] * 2
    assert (loss.size, loss.state_count, loss.examples) == (12, 2, 2)
    assert isinstance(loss, Loss)
    np.testing.assert_array_equal(loss.initial_weights(), np.zeros(12))


def test_do_s_simulation_has_166_parameters_and_a_dense_hessian() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.repeat(np.arange(10), 10)})
    for j in range(40):
        table[f"x{j}"] = rng.integers(2, size=100).astype(str)
    loss = build_crf(table, "id", rng.choice(["0", "1"], 100), ["0", "1"])
    assert loss.size == 166
    assert is_dense(loss)
    w = rng.normal(size=166)
    H = np.stack([loss.point_at(w).product(row) for row in np.eye(166)])
    np.testing.assert_allclose(loss.point_at(w).dense_hessian(), H, atol=1e-11)


def test_what_cannot_be_learned_is_refused() -> None:
    table = pd.DataFrame({"id": [1, 1], "word": ["a", "b"]})
    with pytest.raises(UnusableError, match="same label"):
        build_crf(table, "id", np.array(["N", "N"]), ["N"])
    with pytest.raises(UnusableError, match="no column"):
        build_crf(table[["id"]], "id", np.array(["N", "V"]), ["N", "V"])
    loss = build_crf(table, "id", np.array(["N", "V"]), ["N", "V"])
    with pytest.raises(UnusableError, match="“X”"):
        loss.for_data(table, np.array(["N", "X"]))
