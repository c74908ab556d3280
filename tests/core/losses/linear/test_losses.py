"""The losses against differences, the complex step, their formulas and their sparse twins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from core.errors import UnusableError
from core.losses import LOSSES, build_loss, parameter_groups
from core.losses.linear import design
from core.losses.linear.eigenbasis_loss import EigenbasisLoss, FixedNoise
from core.optimize.loss import Loss


def table(name: str, rows: int = 60, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Random examples with a target that depends on them; the fourth column is constant."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, columns))
    X[:, 3] = 2.0
    score = X @ rng.standard_normal(columns) + rng.standard_normal(rows)
    if name == "linear":
        return X, score
    if name == "logistic":
        return X, np.where(score > 0.5, "yes", "no")
    return X, np.digitize(score, [1.0, 3.0]) * 10


def random_w(loss: Loss) -> np.ndarray:
    return loss.initial_weights() + 0.3 * np.random.default_rng(1).standard_normal(loss.size)


def central(function: Callable[[np.ndarray], np.ndarray], w: np.ndarray) -> np.ndarray:
    step = 1e-5
    rows = [(function(w + step * e) - function(w - step * e)) / (2 * step) for e in np.eye(len(w))]
    return np.array(rows)


def complex_gradient(name: str, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient by the textbook, written for complex w (Do 2008, eq. 8)."""
    A = np.column_stack((X, np.ones(len(X))))
    if name == "linear":
        r = y - A @ w
        return -len(y) * (A.T @ r) / (r @ r)
    if name == "logistic":
        return A.T @ (1.0 / (1.0 + np.exp(-(A @ w))) - (y == "yes"))
    classes = np.unique(y)
    Z = np.exp(A @ w.reshape(len(classes), -1).T)
    P = Z / Z.sum(axis=1, keepdims=True)
    return ((P - (y[:, None] == classes)).T @ A).ravel()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
class TestDerivatives:
    def test_they_are_differences_and_products_exact(self, name: str, intercept: bool) -> None:
        loss = build_loss(name, *table(name), intercept)
        w = random_w(loss)
        differences = central(lambda v: loss.value_and_gradient(v)[0], w)
        assert_allclose(loss.value_and_gradient(w)[1], differences, atol=1e-6)
        dense = loss.point_at(w).dense_hessian()
        assert_allclose(dense, central(lambda v: loss.value_and_gradient(v)[1], w), atol=1e-6)
        vectors = np.random.default_rng(2).standard_normal((3, loss.size))
        for v in vectors:
            assert_allclose(loss.point_at(w).product(v), dense @ v, atol=1e-10)
        assert_allclose(loss.point_at(w).product(vectors), vectors @ dense, atol=1e-10)

    def test_sparse_is_the_same_as_dense(self, name: str, intercept: bool) -> None:
        X, y = table(name)
        X = np.where(np.abs(X) > 0.7, X, 0.0)
        dense = build_loss(name, X, y, intercept)
        thin = build_loss(name, sparse.csr_array(X), y, intercept)
        w, v = random_w(dense), np.random.default_rng(5).standard_normal(dense.size)
        assert thin.design.is_sparse
        assert thin.value_and_gradient(w)[0] == pytest.approx(dense.value_and_gradient(w)[0])
        assert_allclose(thin.value_and_gradient(w)[1], dense.value_and_gradient(w)[1], atol=1e-9)
        assert_allclose(thin.point_at(w).product(v), dense.point_at(w).product(v), atol=1e-9)
        assert_allclose(
            thin.point_at(w).dense_hessian(), dense.point_at(w).dense_hessian(), atol=1e-9
        )
        assert_allclose(thin.point_at(w).diagonal(), dense.point_at(w).diagonal(), atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_hessian_product_agrees_with_the_complex_step(name: str) -> None:
    X, y = table(name)
    X = np.delete(X, 3, axis=1)
    loss = build_loss(name, X, y)
    w, v = random_w(loss), np.random.default_rng(7).standard_normal(loss.size)
    stepped = complex_gradient(name, X, y, w + 1e-30j * v).imag / 1e-30
    assert_allclose(loss.point_at(w).product(v), stepped, rtol=1e-10, atol=1e-10)
    assert_allclose(
        loss.value_and_gradient(w)[1], complex_gradient(name, X, y, w + 0j).real, atol=1e-9
    )


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_rough_products_and_samples_are_near_the_hessian(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 16))  # large enough for single precision
    y = (X[:, 0] + rng.standard_normal(len(X)) > 0).astype(int)
    y = y + (X[:, 1] > 1) if name == "multinomial" else y
    loss = build_loss(name, X, y)
    assert loss.design.single_precision.X.dtype == np.float32
    w, v = 0.1 * random_w(loss), rng.standard_normal(loss.size)
    exact = loss.point_at(w).product(v)
    rough = loss.point_at(w).rough_product()(v)
    assert np.linalg.norm(rough - exact) < 1e-5 * np.linalg.norm(exact)
    H = loss.point_at(w).dense_hessian()
    assert_allclose(loss.point_at(w).sampled_hessian(1), H, rtol=1e-3, atol=1e-2)
    thinned = loss.point_at(w).sampled_hessian(4)
    assert np.linalg.norm(thinned - H) < 0.1 * np.linalg.norm(H)
    curvature = loss.point_at(w).sampled_curvature(2)
    if curvature is not None:
        assert np.linalg.norm(np.kron(curvature.S, curvature.gram) - H) < 0.1 * np.linalg.norm(H)


def test_logistic_value_is_the_formula() -> None:
    X, y = table("logistic")
    loss = build_loss("logistic", X, y, fit_intercept=False)
    w = random_w(loss)
    z = np.where(y == "yes", 1.0, -1.0) * (X[:, loss.design.kept_columns] @ w)
    assert loss.value_and_gradient(w)[0] == pytest.approx(np.log1p(np.exp(-z)).sum())


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_extreme_scores_stay_finite(name: str) -> None:
    loss = build_loss(name, *table(name))
    value, gradient = loss.value_and_gradient(np.linspace(-1e4, 1e4, loss.size))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_linear_value_is_the_formula() -> None:
    X, y = table("linear")
    loss = build_loss("linear", X, y)
    w = random_w(loss)
    r = y - X[:, loss.design.kept_columns] @ w[:-1] - w[-1]
    assert loss.value_and_gradient(w)[0] == pytest.approx(0.5 * len(y) * np.log(0.5 * r @ r))
    assert loss.noise_variance(w) == pytest.approx(r @ r / len(y))


def test_linear_majorizer_lies_above_the_loss_and_touches_it() -> None:
    loss = build_loss("linear", *table("linear"))
    w = random_w(loss)
    value, gradient = loss.value_and_gradient(w)
    H = loss.point_at(w).majorizer_dense()
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0, 10.0):
        s = size * rng.standard_normal(loss.size)
        above = value + gradient @ s + 0.5 * s @ H @ s
        assert loss.value_and_gradient(w + s)[0] <= above + 1e-9
    correction = loss.point_at(w).correction()
    excess = (correction.U * correction.D) @ correction.U.T
    assert_allclose(loss.point_at(w).dense_hessian(), H - excess)


@pytest.mark.parametrize("rows", [60, 5])
def test_the_eigenbasis_changes_neither_value_nor_length(rows: int) -> None:
    X, y = table("linear", rows=rows, columns=9)
    loss = build_loss("linear", X, y)
    inner = EigenbasisLoss(loss)
    v = np.random.default_rng(0).standard_normal(inner.size)
    w = inner.coefficients_of(v)
    assert inner.value_and_gradient(v)[0] == pytest.approx(loss.value_and_gradient(w)[0])
    assert np.linalg.norm(w[:-1]) == pytest.approx(np.linalg.norm(v))
    differences = central(lambda u: inner.value_and_gradient(u)[0], v)
    assert_allclose(inner.value_and_gradient(v)[1], differences, atol=1e-5, rtol=1e-5)
    assert_allclose(inner.point_at(v).dense_hessian() @ v, inner.point_at(v).product(v), atol=1e-8)


def test_many_columns_are_multiplied_not_squared() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2100)), rng.standard_normal(30)
    loss = build_loss("linear", X, y)
    assert not loss.has_gram
    assert loss.point_at(loss.initial_weights()).dense_hessian() is None
    w, v = 0.01 * random_w(loss), rng.standard_normal(loss.size)
    ahead, behind = (loss.value_and_gradient(w + s * v)[1] for s in (1e-6, -1e-6))
    assert_allclose(loss.point_at(w).product(v), (ahead - behind) / 2e-6, rtol=1e-4)


def test_fixed_noise_is_the_gaussian() -> None:
    X, y = table("linear")
    loss = build_loss("linear", X, y)
    gaussian = FixedNoise(loss, 0.7)
    w = random_w(loss)
    r = y - X[:, loss.design.kept_columns] @ w[:-1] - w[-1]
    assert gaussian.value_and_gradient(w)[0] == pytest.approx(
        0.5 * r @ r / 0.7 + 0.5 * len(y) * np.log(0.7)
    )
    assert_allclose(
        gaussian.point_at(w).dense_hessian(),
        central(lambda u: gaussian.value_and_gradient(u)[1], w),
        atol=1e-6,
    )


def test_noise_floor_bounds_a_model_that_explains_everything() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 8)), rng.standard_normal(5)
    loss = build_loss("linear", X, y)
    coef = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    w = np.append(coef, y.mean() - X.mean(axis=0) @ coef)
    assert loss.is_at_floor(w)
    assert loss.noise_variance(w) == pytest.approx(1e-3 * y.var())
    assert np.isfinite(loss.value_and_gradient(w)[0])


@pytest.mark.parametrize("name", LOSSES)
def test_constant_columns_leave_the_model(name: str) -> None:
    X, y = table(name)
    loss = build_loss(name, X, y)
    assert list(loss.design.kept_columns) == [0, 1, 2, 4, 5]
    groups = parameter_groups(loss, np.array([0, 0, 1, 9, 1, 2]))
    once = [0, 0, 1, 1, 2, -1]
    assert list(groups) == once * (loss.size // 6)
    coef, _ = loss.coefficients(random_w(loss))
    assert (coef[..., 3] == 0.0).all()
    assert coef.shape[-1] == 6


def test_without_an_intercept_a_constant_column_stays() -> None:
    X, y = table("linear")
    X[:, 4] = 0.0
    design = build_loss("linear", X, y, fit_intercept=False).design
    assert list(design.kept_columns) == [0, 1, 2, 3, 5]


@pytest.mark.parametrize("name", LOSSES)
def test_other_rows_keep_columns_and_classes(name: str) -> None:
    X, y = table(name)
    whole = build_loss(name, X, y)
    part = whole.for_data(X[:20], y[:20])
    rest = whole.for_data(X[20:], y[20:])
    w = random_w(whole)
    assert part.size == whole.size
    if name != "linear":  # a logarithm of a sum is no sum
        total = part.value_and_gradient(w)[0] + rest.value_and_gradient(w)[0]
        assert total == pytest.approx(whole.value_and_gradient(w)[0])


def test_labels_that_do_not_fit_are_refused() -> None:
    X, _ = table("linear")
    with pytest.raises(UnusableError, match="one class only"):
        build_loss("logistic", X, np.ones(60))
    with pytest.raises(UnusableError, match="3 classes where two"):
        build_loss("logistic", X, np.arange(60) % 3)
    with pytest.raises(UnusableError, match="does not occur"):
        build_loss("logistic", X, np.arange(60) % 2).for_data(X, np.arange(60) % 3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_rows_block_by_block_are_the_rows_at_once(monkeypatch, name: str, weighted: bool) -> None:
    X, y = table(name, rows=230)
    s = np.random.default_rng(5).uniform(0.5, 2.0, 230) if weighted else None
    at_once = build_loss(name, X, y, weights=s)
    w = random_w(at_once)
    V = np.random.default_rng(6).standard_normal((3, at_once.size))
    H, gradient = at_once.point_at(w).dense_hessian(), at_once.point_at(w).gradient
    monkeypatch.setattr(design, "_BLOCK_ENTRIES", 64 * 5)
    blocks = build_loss(name, X, y, weights=s)
    assert len(list(blocks.design._row_blocks())) == 4
    assert blocks.point_at(w).value == pytest.approx(at_once.point_at(w).value, rel=1e-13)
    assert_allclose(blocks.point_at(w).gradient, gradient, atol=1e-11)
    assert_allclose(blocks.point_at(w).product(V), V @ H, atol=1e-10)
    assert_allclose(blocks.point_at(w).rough_product()(V[0]), H @ V[0], atol=1e-10)
    assert_allclose(blocks.point_at(w).diagonal(), np.diagonal(H), atol=1e-11)


def test_the_whole_of_some_rows_is_near_the_hessian() -> None:
    X, y = table("multinomial", rows=4000)
    loss = build_loss("multinomial", X, y)
    w = 0.1 * random_w(loss)
    H = loss.point_at(w).dense_hessian()
    assert_allclose(loss.point_at(w).sampled_hessian(1), H, rtol=1e-5, atol=1e-3)
    assert np.linalg.norm(loss.point_at(w).sampled_hessian(4) - H) < 0.1 * np.linalg.norm(H)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_sparse_columns_vary_as_dense_ones(intercept: bool) -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(-1, 2, (5, 40)).astype(float)
    X[:, 0], X[:, 1], X[:, 2] = 2.0, 0.0, [3.0, 3.0, 0.0, 3.0, 3.0]
    stored = sparse.csr_array(np.where(X == 0.0, 9.0, X))
    stored.data[stored.data == 9.0] = 0.0  # zeros that are stored
    y = np.arange(5) % 2
    kept = build_loss("logistic", X, y, intercept).design.kept_columns
    for thin in (sparse.csr_array(X), stored):
        assert_array_equal(build_loss("logistic", thin, y, intercept).design.kept_columns, kept)


def test_a_linear_loss_has_the_diagonal_of_its_square_with_and_without_a_gram_matrix() -> None:
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((30, 6)) + 2.0, rng.standard_normal(30)
    A = np.column_stack((X, np.ones(30)))
    loss = build_loss("linear", X, y)
    for has_gram in (True, False):
        loss.has_gram = has_gram
        assert_allclose(loss.square_diagonal(), np.diagonal(A.T @ A), rtol=1e-12)
