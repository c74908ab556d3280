"""The bound of deep latent Gaussian models against plain sums, exact likelihoods, differences."""

from __future__ import annotations

import importlib
import itertools
import os
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from core.estimators.dlgm.dlgm_classifier import (
    PADDED,
    _unit_masks,
    crop_weights,
    minibatch_objective,
    pad_weights,
    rows_a_step,
)
from core.estimators.dlgm.network import (
    GENERATIVE_WEIGHTS,
    first_weights,
    joint_log_densities,
    layer_shapes,
    row_bounds,
)
from core.estimators.optional_parts import is_installed

# Compiling takes longer than these sums: read when jax starts.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
needs_jax = pytest.mark.skipif(
    not is_installed("deep"), reason="jax is not installed (the extra deep)"
)
LEAST_VARIANCE, LEAST_DEVIATION = 1e-3, 1e-4


def model(D=5, K=3, N1=4, N2=3, seed=0, spread=0.3):
    """Weights in general position: none of them at its start."""
    rng = np.random.default_rng(seed)
    w = first_weights(D, K, N1, N2, rng)
    return {name: value + spread * rng.normal(size=value.shape) for name, value in w.items()}


def rows(D=5, K=3, n=7, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)), np.eye(K)[rng.integers(K, size=n)]


def noise(N1=4, N2=3, n=7, seed=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, N1)), rng.normal(size=(n, N2))


def plain_bound(w, x, classes, eps1, eps2, act, label_weight):
    """The bound of one row as log p(x | ξ) + weight log p(y | ξ) + KL's two sums, by scipy."""
    r = act(w["A"].T @ x + w["a0"])
    total, xi = 0.0, []
    for layer, eps in (("1", eps1), ("2", eps2)):
        mean = w["M" + layer].T @ r + w["m" + layer]
        raw = w["S" + layer].T @ r + w["t" + layer]
        deviation = np.log(1 + np.exp(raw)) + LEAST_DEVIATION
        xi.append(mean + deviation * eps)
        for m, s in zip(mean, deviation, strict=True):
            total -= -np.log(s) + (s**2 + m**2) / 2 - 0.5  # KL of N(m, s²) from N(0, 1)
    h1 = w["b1"] + w["g1"] * xi[0]
    if len(xi[1]):
        h1 = h1 + w["B1"].T @ act(w["g2"] * xi[1])
    mean = w["B0"].T @ act(h1) + w["b0"]
    total += norm.logpdf(x, mean, np.sqrt(np.exp(w["v"]) + LEAST_VARIANCE)).sum()
    scores = w["U"].T @ act(h1) + w["u"]
    return total + label_weight * (scores[classes.argmax()] - logsumexp(scores))


ACTS = {"tanh": np.tanh, "relu": lambda h: h * (h > 0), "linear": lambda h: h}


@pytest.mark.parametrize("activation", ACTS)
@pytest.mark.parametrize("N2", [0, 1, 3])
def test_the_bound_is_the_plain_sum(activation, N2):
    w, (x, classes), (eps1, eps2) = model(N2=N2), rows(), noise(N2=N2)
    found = row_bounds(np, w, (x, classes), (eps1, eps2), activation, 2.5)
    plain = [
        plain_bound(w, *row, ACTS[activation], 2.5)
        for row in zip(x, classes, eps1, eps2, strict=True)
    ]
    np.testing.assert_allclose(found, plain, rtol=1e-10)


@cache
def rising():
    """(weights, rows, noise, setting, masks) -> what is maximized and its gradient, compiled."""
    jax = importlib.import_module("jax")

    def objective(w, data, eps, setting, masks):
        return minibatch_objective(jax.numpy, w, data, eps, "tanh", setting, masks)

    return jax.jit(jax.value_and_grad(objective))


@needs_jax
@pytest.mark.parametrize(("N1", "N2"), [(4, 3), (9, 0), (1, 2), (200, 200)])
def test_padded_and_masked_it_is_the_unpadded_one(N1, N2):
    w, (x, classes) = model(N1=N1, N2=N2, spread=0.1), rows()
    everywhere = np.random.default_rng(5).normal(size=(2, 7, PADDED)).astype(np.float32)
    used = (everywhere[0, :, :N1], everywhere[1, :, :N2])
    setting = (0.2, 50.0, 2.0)
    plain = np.mean(
        [plain_bound(w, *row, np.tanh, 2.0) for row in zip(x, classes, *used, strict=True)]
    )
    plain -= sum((w[name] ** 2).sum() for name in GENERATIVE_WEIGHTS) / (2 * 0.2 * 50)
    data = (x.astype("f4"), classes.astype("f4"))
    found, _ = rising()(pad_weights(w, 5, 3), data, everywhere, setting, _unit_masks(N1, N2))
    assert float(found) == pytest.approx(plain, rel=1e-5)


@needs_jax
def test_padding_has_no_gradient():
    x, classes = (part.astype("f4") for part in rows())
    eps = np.random.default_rng(5).normal(size=(2, 7, PADDED)).astype("f4")
    start = pad_weights(model(), 5, 3)
    _, slope = rising()(start, (x, classes), eps, (0.2, 50.0, 2.0), _unit_masks(4, 3))
    inside = crop_weights({name: np.asarray(value) for name, value in slope.items()}, 4, 3)
    for name, value in inside.items():
        assert np.abs(value).sum() == pytest.approx(float(np.abs(slope[name]).sum()), rel=1e-5)
        assert (value != 0).any(), name


@needs_jax
@pytest.mark.parametrize("activation", ["tanh", "linear"])
def test_the_gradient_is_that_of_central_differences(activation):
    jax = importlib.import_module("jax")
    w, data, eps, setting = model(), rows(), noise(), (0.3, 20, 1.7)
    single = jax.tree.map(lambda a: np.asarray(a, dtype=np.float32), (w, data, eps))

    def objective(w):
        return minibatch_objective(jax.numpy, w, *single[1:], activation, setting)

    slope = jax.jit(jax.grad(objective))(single[0])
    rng = np.random.default_rng(0)
    for name, value in w.items():
        at = tuple(rng.integers(size) for size in value.shape)
        ends = []
        for step in (1e-5, -1e-5):
            moved = {**w, name: value.copy()}
            moved[name][at] += step
            ends.append(minibatch_objective(np, moved, data, eps, activation, setting))
        expected = (ends[0] - ends[1]) / 2e-5
        assert float(slope[name][at]) == pytest.approx(expected, rel=1e-3, abs=1e-4), name


def linear_gaussian(D=4, N1=2, K=3):
    """Weights of a linear model of one layer whose label does not depend on x."""
    w = model(D, K, N1, 0, seed=3)
    w["U"][:], w["u"][:] = 0.0, [0.5, -0.2, 0.1]
    return w


def exact_logs(w, x, classes):
    """log p(x, y) of the linear model: x is Gaussian."""
    variance = np.diag(np.exp(w["v"]) + LEAST_VARIANCE)
    loading = np.diag(w["g1"]) @ w["B0"]
    mean = w["b1"] @ w["B0"] + w["b0"]
    columns = multivariate_normal(mean, loading.T @ loading + variance).logpdf(x)
    return columns + classes @ (w["u"] - logsumexp(w["u"]))


def expected_bounds(w, x, classes, N1):
    """The bound with its expectation exact: Gauss-Hermite sums over every latent value."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)  # exact: squares of ξ at most
    weights = weights / weights.sum()
    total = 0.0
    for chosen in itertools.product(range(3), repeat=N1):
        eps = np.tile(nodes[list(chosen)], (len(x), 1))
        share = np.prod(weights[list(chosen)])
        total += share * row_bounds(np, w, (x, classes), (eps, eps[:, :0]), "linear")
    return total


def test_no_bound_is_above_the_exact_likelihood_of_a_linear_model():
    w, (x, classes) = linear_gaussian(), rows(4, 3, 30)
    gaps = exact_logs(w, x, classes) - expected_bounds(w, x, classes, 2)
    assert gaps.min() > 0


def exact_recognition(w):
    """Make the loadings orthogonal under the noise and q the posterior, which is then diagonal."""
    precision = 1 / (np.exp(w["v"]) + LEAST_VARIANCE)
    first, second = w["B0"]
    second = second - first * (first * precision @ second) / (first * precision @ first)
    w["B0"] = np.stack([first, second])
    loading = w["g1"][:, None] * w["B0"]
    variance = 1 / (1 + (loading**2 * precision).sum(axis=1))
    offset = w["b1"] @ w["B0"] + w["b0"]
    # r = x A + a0 = (x − offset) Σ⁻¹ loadingᵀ, and the posterior's mean is r times its variance.
    w["A"] = precision[:, None] * loading.T
    w["a0"] = -offset @ w["A"]
    w["M1"], w["m1"] = np.diag(variance), np.zeros(2)
    w["S1"], w["t1"] = np.zeros((2, 2)), np.log(np.expm1(np.sqrt(variance) - LEAST_DEVIATION))
    return w


def test_the_bound_is_tight_where_q_is_the_posterior():
    w, (x, classes) = exact_recognition(linear_gaussian()), rows(4, 3, 30)
    found = expected_bounds(w, x, classes, 2)
    np.testing.assert_allclose(found, exact_logs(w, x, classes), rtol=1e-9)


def stored(w, draws, scale=1.0, seed=0):
    """What `joint_log_densities` needs of a fitted model."""
    noise = np.random.default_rng(seed).standard_normal((draws, w["g1"].size + w["g2"].size))
    return SimpleNamespace(
        weights_=w,
        noise_=noise,
        activation="linear",
        classes_=np.arange(3),
        scale_=np.full(4, scale),
        standardized=lambda X: X / scale,
    )


def test_joint_densities_are_exact_where_q_is_the_posterior():
    w, (x, classes) = exact_recognition(linear_gaussian()), rows(4, 3, 30)
    found = joint_log_densities(stored(w, 3, scale=2.0), 2.0 * x, classes.argmax(axis=1))
    # A density per unit of columns twice as wide is half as high, four times.
    np.testing.assert_allclose(found, exact_logs(w, x, classes) - 4 * np.log(2), rtol=1e-9)


def test_joint_densities_near_the_exact_ones_from_below_with_more_draws():
    w, (x, classes) = linear_gaussian(), rows(4, 3, 30)
    w["M1"], w["m1"] = 0.1 * w["M1"], np.zeros(2)
    w["t1"] = np.full(2, 1.5)  # wide enough to meet every posterior
    y, exact = classes.argmax(axis=1), exact_logs(w, x, classes).mean()
    few, more, many = (
        [joint_log_densities(stored(w, n, seed=seed), x, y).mean() for seed in range(times)]
        for n, times in ((1, 1000), (10, 100), (20000, 1))
    )
    bound, error = expected_bounds(w, x, classes, 2).mean(), np.std(few) / np.sqrt(1000)
    assert error < 0.5
    assert np.mean(few) == pytest.approx(bound, abs=3 * error)
    assert np.mean(few) < np.mean(more) < many[0]
    assert many[0] == pytest.approx(exact, abs=0.03)


def test_padding_and_cropping_are_inverse():
    w = model(N1=6, N2=0)
    whole = pad_weights(w, 5, 3)
    assert {name: value.shape for name, value in whole.items()} == layer_shapes(
        5, 3, PADDED, PADDED
    )
    for name, value in crop_weights(whole, 6, 0).items():
        np.testing.assert_allclose(value, w[name], rtol=1e-6)
        assert np.count_nonzero(whole[name]) == np.count_nonzero(value)


@pytest.mark.parametrize(
    ("n", "most", "expected"),
    [(1, 64, 1), (7, 64, 7), (8, 64, 8), (100, 64, 8), (150, 64, 16), (1030, 64, 64), (99, 5, 5)],
)
def test_small_tables_take_small_steps(n, most, expected):
    assert rows_a_step(n, most) == expected
