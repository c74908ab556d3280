"""The deep latent Gaussian model in formulas, for numpy and jax alike, and what a fitted one says.

Rezende, Mohamed & Wierstra 2014, section 3, with the label of Li, Zhu, Shi & Zhang 2015, as in
McInerney 2017, section 4.2. One row x of D standardized columns has a class y of K, and latent
layers ξ_1 of N1 and ξ_2 of N2 units (N2 = 0: one layer). a is the activation.

    generative   ξ_l ~ N(0, I)
                 h_2 = g_2 ξ_2,  h_1 = a(h_2) B1 + b1 + g_1 ξ_1          (Rezende eq. 2–3)
                 x ~ N(a(h_1) B0 + b0, σ²),  y ~ softmax(a(h_1) U + u)
    recognition  r = a(x A + a0), N1 units
                 q(ξ_l | x) = N(μ_l, diag s_l²),  μ_l = r M_l + m_l,  s_l = softplus(r S_l + t_l)

The paper gives the sizes: N1 units in the first layer of both models, N2 in the second layer of
the generative one only, one layer in the recognition model. Ours are: the matrices G_l of Rezende
eq. 2 diagonal (g_l); T_1 and T_0 single layers; σ_j² = exp(v_j) + 0.001, one for each column, so
that constant columns keep a density; the label read off a(h_1), on which both layers act; a least
deviation of 0.0001.

Parameters are a dict of arrays under the letters above: A (D, N1), a0 (N1), M1, S1 (N1, N1), M2, S2
(N1, N2), B1 (N2, N1), B0 (N1, D), U (N1, K), g1 (N1), g2 (N2), and a bias or v for each. Hidden
layers may be padded with zeros beyond N1 and N2 and masked: a mask is 1 for the first units, 0 for
the padding, which then neither acts on the bound nor has a gradient.


What a fitted model says of rows is computed by numpy in double precision, without jax; a `model` is
a fitted `DlgmClassifier`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Weights = dict[str, Any]

GENERATIVE_WEIGHTS = ("B0", "B1", "U", "g1", "g2")  # those that have the prior N(0, κ)
ACTIVATIONS = ("tanh", "relu", "linear")
_MIN_VARIANCE = 1e-3
_MIN_DEVIATION = 1e-4


@dataclass(frozen=True)
class Latents:
    """q(ξ | x) of rows: means and deviations of both layers, (n, N1) and (n, N2)."""

    mean1: Any
    deviation1: Any
    mean2: Any
    deviation2: Any


def layer_shapes(D: int, K: int, N1: int, N2: int) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter."""
    return {
        "A": (D, N1),
        "a0": (N1,),
        "M1": (N1, N1),
        "m1": (N1,),
        "S1": (N1, N1),
        "t1": (N1,),
        "M2": (N1, N2),
        "m2": (N2,),
        "S2": (N1, N2),
        "t2": (N2,),
        "g2": (N2,),
        "B1": (N2, N1),
        "b1": (N1,),
        "g1": (N1,),
        "B0": (N1, D),
        "b0": (D,),
        "v": (D,),
        "U": (N1, K),
        "u": (K,),
    }


def weight_units(D: int, K: int, N1: int, N2: int) -> dict[str, float]:
    """What a step of size 1 is for every parameter: 1/√inputs for matrices, 1 for the others."""
    shapes = layer_shapes(D, K, N1, N2)
    return {
        name: 1.0 / math.sqrt(max(1, shape[0])) if len(shape) == 2 else 1.0
        for name, shape in shapes.items()
    }


def first_weights(D: int, K: int, N1: int, N2: int, rng: np.random.Generator) -> Weights:
    """Where training starts: matrices N(0, 1/inputs), g = 1, biases 0, deviations about 0.3."""
    units = weight_units(D, K, N1, N2)
    weights: Weights = {}
    for name, shape in layer_shapes(D, K, N1, N2).items():
        matrix = len(shape) == 2
        weights[name] = units[name] * rng.standard_normal(shape) if matrix else np.zeros(shape)
    for name in ("g1", "g2"):
        weights[name] += 1.0
    for name in ("t1", "t2"):
        weights[name] -= 1.0
    return weights


def activate(xp: Any, h: Any, activation: str) -> Any:
    """a(h); `xp` is numpy or jax.numpy, here and below."""
    if activation == "tanh":
        return xp.tanh(h)
    return xp.maximum(h, 0.0) if activation == "relu" else h


def recognize(
    xp: Any, w: Weights, x: Any, activation: str, mask1: Any = 1.0, mask2: Any = 1.0
) -> Latents:
    """q(ξ | x) for standardized rows x, shape (n, D)."""
    r = mask1 * activate(xp, x @ w["A"] + w["a0"], activation)
    raw1, raw2 = r @ w["S1"] + w["t1"], r @ w["S2"] + w["t2"]
    return Latents(
        mask1 * (r @ w["M1"] + w["m1"]),
        xp.logaddexp(raw1, 0.0) + _MIN_DEVIATION,
        mask2 * (r @ w["M2"] + w["m2"]),
        xp.logaddexp(raw2, 0.0) + _MIN_DEVIATION,
    )


def represent(
    xp: Any, w: Weights, xi1: Any, xi2: Any, activation: str, mask1: Any = 1.0, mask2: Any = 1.0
) -> Any:
    """a(h_1) of latent values ξ_1 (n, N1) and ξ_2 (n, N2), shape (n, N1)."""
    second = mask2 * activate(xp, w["g2"] * xi2, activation)
    return mask1 * activate(xp, second @ w["B1"] + w["b1"] + w["g1"] * xi1, activation)


def column_means(w: Weights, represented: Any) -> Any:
    """E[x | ξ] of standardized columns, shape (n, D)."""
    return represented @ w["B0"] + w["b0"]


def class_logs(xp: Any, w: Weights, represented: Any) -> Any:
    """The log of p(y | ξ) of every class, shape (n, K)."""
    scores = represented @ w["U"] + w["u"]
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - xp.log(xp.exp(scores).sum(axis=1, keepdims=True))


def column_logs(xp: Any, w: Weights, represented: Any, x: Any) -> Any:
    """The log of p(x | ξ) for standardized rows, in nats, shape (n,)."""
    variance = xp.exp(w["v"]) + _MIN_VARIANCE
    residuals = x - column_means(w, represented)
    return -0.5 * (residuals**2 / variance + xp.log(2.0 * math.pi * variance)).sum(axis=1)


def divergence(xp: Any, q: Latents, mask1: Any = 1.0, mask2: Any = 1.0) -> Any:
    """KL(q(ξ | x) ‖ N(0, I)), both layers (Rezende eq. 8), in nats, shape (n,)."""

    def of_layer(mean: Any, deviation: Any, mask: Any) -> Any:
        inner = 0.5 * (mean**2 + deviation**2 - 1.0) - xp.log(deviation)
        return (mask * inner).sum(axis=1)

    first = of_layer(q.mean1, q.deviation1, mask1)
    return first + of_layer(q.mean2, q.deviation2, mask2)


def row_bounds(
    xp: Any,
    w: Weights,
    rows: tuple[Any, Any],
    noise: tuple[Any, Any],
    activation: str,
    label_weight: Any = 1.0,
    masks: tuple[Any, Any] = (1.0, 1.0),
) -> Any:
    """One-sample estimates of the evidence lower bound of rows (Rezende eq. 6, 8), shape (n,).

    E_q[log p(x | ξ) + weight · log p(y | ξ)] − KL(q(ξ | x) ‖ p(ξ)), with ξ = μ + s · noise.

    Args:
        xp, w, activation, masks: see the module.
        rows: standardized columns x (n, D), and classes one-hot (n, K).
        noise: standard normal, (n, N1) and (n, N2).
        label_weight: how often the label counts; 1 gives the bound on log p(x, y).
    """
    x, classes = rows
    q = recognize(xp, w, x, activation, *masks)
    xi1, xi2 = q.mean1 + q.deviation1 * noise[0], q.mean2 + q.deviation2 * noise[1]
    represented = represent(xp, w, xi1, xi2, activation, *masks)
    labels = (classes * class_logs(xp, w, represented)).sum(axis=1)
    columns = column_logs(xp, w, represented, x)
    return columns + label_weight * labels - divergence(xp, q, *masks)


def log_prior(w: Weights, kappa: Any) -> Any:
    """The log of N(generative weights | 0, κ) less its constant, in nats (Rezende section 3)."""
    return -0.5 / kappa * sum((w[name] ** 2).sum() for name in GENERATIVE_WEIGHTS)


def log_densities(model: Any, X: Any, y: Any) -> np.ndarray:
    """The log of p(y | x) of every row's label in nats, shape (n,); −∞ for a class not trained on.

    The expectation over q(ξ | x) of McInerney 2017 eq. 4, the mean over the model's draws.
    """
    return _label_logs(model, model.predict_log_proba(X), y)


def log_likelihood(model: Any, X: Any, y: Any) -> float:
    """The sum of `log_densities`, in nats.

    Of training rows: the proxy of the marginal likelihood that tuning without validation maximizes.
    """
    return float(log_densities(model, X, y).sum())


def joint_log_densities(model: Any, X: Any, y: Any) -> np.ndarray:
    """The log of p(x, y) of every row in nats, on the columns' own scale, shape (n,).

    log mean_s p(x, y, ξ_s) / q(ξ_s | x) over the model's draws (Burda et al. 2016, eq. 8): on
    average a lower bound, above that of training, exact where q is the posterior.
    """
    x, w = model.standardized(X), _double_precision(model)
    q = recognize(np, w, x, model.activation)
    mean = np.hstack([q.mean1, q.mean2])
    deviation = np.hstack([q.deviation1, q.deviation2])
    total: Any = -np.inf
    for draw, represented in zip(model.noise_, _representations(model, w, x), strict=True):
        labels = _label_logs(model, class_logs(np, w, represented), y)
        # log p(ξ)/q(ξ | x), whose constants cancel.
        latents = 0.5 * (draw**2 - (mean + deviation * draw) ** 2) + np.log(deviation)
        logs = column_logs(np, w, represented, x) + labels + latents.sum(axis=1)
        total = np.logaddexp(total, logs)
    return total - np.log(len(model.noise_)) - np.log(model.scale_).sum()


def reconstructions(model: Any, rows: Any) -> np.ndarray:
    """Rows (n, D) as the model sees them: E[x | ξ], the mean over draws from q(ξ | x), (n, D)."""
    x = model.standardized(rows)
    w = _double_precision(model)
    total = sum(column_means(w, represented) for represented in _representations(model, w, x))
    return total / len(model.noise_) * model.scale_ + model.mean_


def samples(model: Any, count: int, seed: int) -> np.ndarray:
    """Rows (count, D) that the model makes up: E[x | ξ] with ξ ~ N(0, I), free of column noise."""
    w, activation = _double_precision(model), model.activation
    noise = np.random.default_rng(seed).standard_normal((count, model.noise_.shape[1]))
    N1 = w["g1"].size
    represented = represent(np, w, noise[:, :N1], noise[:, N1:], activation)
    return column_means(w, represented) * model.scale_ + model.mean_


def mean_class_logs(model: Any, x: np.ndarray) -> np.ndarray:
    """The log of the mean over draws of p(y | ξ) for standardized rows x (n, D), shape (n, K)."""
    w = _double_precision(model)
    total: Any = -np.inf
    for represented in _representations(model, w, x):
        total = np.logaddexp(total, class_logs(np, w, represented))
    return total - np.log(len(model.noise_))


def _label_logs(model: Any, logs: np.ndarray, y: Any) -> np.ndarray:
    """The entry of its own class in every row of (n, K), −∞ for a class not trained on."""
    y = np.asarray(y)
    code = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    return np.where(model.classes_[code] == y, logs[np.arange(len(y)), code], -np.inf)


def _representations(model: Any, w: Weights, x: np.ndarray) -> Iterator[np.ndarray]:
    """a(h_1) of rows for every draw of the model, shape (n, N1)."""
    q = recognize(np, w, x, model.activation)
    N1 = w["g1"].size
    for draw in model.noise_:
        xi1, xi2 = q.mean1 + q.deviation1 * draw[:N1], q.mean2 + q.deviation2 * draw[N1:]
        yield represent(np, w, xi1, xi2, model.activation)


def _double_precision(model: Any) -> Weights:
    return {name: value.astype(np.float64) for name, value in model.weights_.items()}
