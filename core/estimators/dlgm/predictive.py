"""What a fitted deep latent Gaussian model says: densities of labels, reconstructions, samples.

Everything is computed by numpy in double precision; jax is not needed. A `model` is a fitted
`DlgmClassifier`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.estimators.dlgm.network import (
    Weights,
    class_logs,
    column_logs,
    column_means,
    recognize,
    represent,
)


def log_densities(model: Any, X: Any, y: Any) -> np.ndarray:
    """The log of p(y | x) of every row's label in nats, shape (n,); −∞ for a class not trained on.

    The expectation over q(ξ | x) of McInerney 2017 eq. 4, the mean over the model's draws.
    """
    return _label_logs(model, model.predict_log_proba(X), y)


def log_likelihood(model: Any, X: Any, y: Any) -> float:
    """The sum of `log_densities`, in nats.

    Of the training rows it is the proxy of the marginal likelihood that tuning without validation
    maximizes: their log likelihood under the approximate posterior.
    """
    return float(log_densities(model, X, y).sum())


def joint_log_densities(model: Any, X: Any, y: Any) -> np.ndarray:
    """The log of p(x, y) of every row in nats, on the columns' own scale, shape (n,).

    log mean_s p(x, y, ξ_s) / q(ξ_s | x) over the model's draws (Burda et al. 2016, eq. 8): on
    average a lower bound, above that of training, exact where q is the posterior. It weighs a row's
    picture as well as its label, in the paper's words the marginal likelihood.
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
    """Rows as the model sees them: E[x | ξ], the mean over draws from q(ξ | x).

    Args:
        model: fitted.
        rows: on the scale that it was fitted on, shape (n, D).

    Returns:
        Shape (n, D), on that scale.
    """
    x = model.standardized(rows)
    w = _double_precision(model)
    total = sum(column_means(w, represented) for represented in _representations(model, w, x))
    return total / len(model.noise_) * model.scale_ + model.mean_


def samples(model: Any, count: int, seed: int) -> np.ndarray:
    """Rows that the model makes up: E[x | ξ] with ξ ~ N(0, I), without the columns' noise.

    Args:
        model: fitted.
        count: how many.
        seed: the same gives the same rows.

    Returns:
        Shape (count, D), on the scale that it was fitted on.
    """
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
