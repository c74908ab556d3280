"""Training of the deep latent Gaussian model: stochastic backpropagation by jax, compiled once.

Hidden layers are padded to `PADDED` units and masked; the number of all rows, the prior and the
steps are arguments. So one compilation serves every trial on a table: only the rows a step, the
numbers of columns and classes, and the activation are compiled in. The first fit imports jax.

The paper names "the gradient ascent step size" ρ, with log ρ in [−5, −0.05], and neither the ascent
nor its length. Ours: Adam (Kingma & Ba 2015), as Li et al. 2015 take it; a step counted in units of
1/√inputs for matrices, since a step of ρ in every one of a thousand inputs at once would saturate
the layer; steps that fall to 0 in a straight line over the epochs. With the three the best ρ lies
inside the paper's range, without them below it. One draw of noise, by numpy, a row and step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.estimators.dlgm.network import (
    Weights,
    first_weights,
    layer_shapes,
    log_prior,
    row_bounds,
    weight_units,
)
from core.estimators.optional_parts import optional_module

PADDED = 200  # the most units of a hidden layer
TRACED: Counter[tuple[int, int, int, str]] = Counter()  # (rows, D, K, activation): compilations


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained.

    Attributes:
        sizes: N1 and N2.
        kappa: variance κ of the prior of the generative weights.
        rho: size ρ of the first steps; they shrink to 0 over the epochs.
        epochs: how often all rows are gone through.
        minibatch: the most rows between two steps.
        activation: of the hidden layers, see `core.estimators.dlgm.network`.
        label_weight: how often the label counts in the bound.
    """

    sizes: tuple[int, int]
    kappa: float
    rho: float
    epochs: int
    minibatch: int
    activation: str
    label_weight: float


def rows_a_step(rows: int, minibatch: int) -> int:
    """The rows between two steps: a power of two with at least eight steps an epoch, if it can be.

    A power of two, so that tables of nearly one size (the folds of one table) share a compilation.
    """
    eighth = 2 ** max(3, (rows // 8).bit_length() - 1) if rows >= 8 else rows
    return min(rows, minibatch, eighth)


def train_dlgm(
    x: np.ndarray, codes: np.ndarray, K: int, options: TrainingOptions, rng: np.random.Generator
) -> tuple[Weights, np.ndarray]:
    """Maximize the bound of all rows plus the log prior of the weights (Rezende algorithm 1).

    Args:
        x: standardized columns, shape (n, D).
        codes: class numbers, shape (n,).
        K: classes.
        options: sizes, prior, steps.
        rng: of the start, the order of the rows and the noise.

    Returns:
        The weights, single precision; and the objective in nats a row, shape (epochs,), each the
        mean over its epoch's steps.

    Raises:
        UnusableError: jax is not installed, or the steps were so large that numbers overflowed.
    """
    jax = optional_module("deep", "jax")
    step = compiled_step(options.activation)
    (n, D), (N1, N2) = x.shape, options.sizes
    x, classes = x.astype(np.float32), np.eye(K, dtype=np.float32)[codes]
    b = rows_a_step(n, options.minibatch)
    w = pad_weights(first_weights(D, K, N1, N2, rng), D, K)
    state = jax.device_put((w, *(_zeros_like(w) for _ in range(2)), np.float32(0.0)))
    units = {name: np.float32(unit) for name, unit in weight_units(D, K, N1, N2).items()}
    masks, units = jax.device_put((_unit_masks(N1, N2), units))
    bounds = np.empty(options.epochs)
    for epoch in range(options.epochs):
        order, rho = rng.permutation(n), options.rho * (1.0 - epoch / options.epochs)
        setting = np.array([options.kappa, n, options.label_weight, rho], dtype=np.float32)
        step_bounds = []
        for start in range(0, n - b + 1, b):
            chosen = order[start : start + b]
            noise = rng.standard_normal((2, b, PADDED), dtype=np.float32)
            state, bound = step(state, (x[chosen], classes[chosen]), noise, (masks, units), setting)
            step_bounds.append(bound)
        bounds[epoch] = np.mean([float(bound) for bound in step_bounds])
        if not np.isfinite(bounds[epoch]):
            raise UnusableError(
                f"training with steps of {options.rho:g} left the range of numbers in pass "
                f"{epoch + 1}",
                cure="take smaller steps",
            )
    return crop_weights(
        {name: np.asarray(value) for name, value in state[0].items()}, N1, N2
    ), bounds


@cache
def compiled_step(activation: str) -> Callable[..., Any]:
    """One step of Adam on a minibatch, compiled when it first meets rows of a shape.

    (state, rows, noise, (masks, units), setting) -> (new state, objective in nats a row before it);
    state is (weights, their first moments, their second moments, steps made), setting (κ, n, label
    weight, ρ), units what a step of 1 is for every parameter. The state given is used up.
    """
    jax = optional_module("deep", "jax")

    def train_step(state: Any, rows: Any, noise: Any, sizes: Any, setting: Any) -> Any:
        TRACED[(*rows[0].shape, rows[1].shape[1], activation)] += 1  # only while it is traced
        w, (masks, units) = state[0], sizes

        def objective(w: Weights) -> Any:
            return minibatch_objective(jax.numpy, w, rows, noise, activation, setting[:3], masks)

        bound, slope = jax.value_and_grad(objective)(w)
        return _adam_step(jax, state, slope, setting[3], units), bound

    return jax.jit(train_step, donate_argnums=0)


def minibatch_objective(
    xp: Any,
    w: Weights,
    rows: tuple[Any, Any],
    noise: Any,
    activation: str,
    setting: tuple[Any, Any, Any],
    masks: tuple[Any, Any] = (1.0, 1.0),
) -> Any:
    """What is maximized: the mean bound of the rows, plus log prior / n, in nats a row.

    Args:
        xp, w, rows, noise, activation, masks: see `row_bounds`.
        setting: κ, the number n of all rows, the weight of the label.
    """
    kappa, n, label_weight = setting
    bounds = row_bounds(xp, w, rows, (noise[0], noise[1]), activation, label_weight, masks)
    return bounds.mean() + log_prior(w, kappa) / n


def _adam_step(jax: Any, state: Any, slope: Weights, rho: Any, units: Weights) -> Any:
    """The state after a step uphill (Kingma and Ba 2015, algorithm 1, with its constants)."""
    w, first, second, step_count = state
    step_count = step_count + 1.0
    first = {name: 0.9 * first[name] + 0.1 * slope[name] for name in w}
    second = {name: 0.999 * second[name] + 0.001 * slope[name] ** 2 for name in w}
    size = rho * jax.numpy.sqrt(1.0 - 0.999**step_count) / (1.0 - 0.9**step_count)
    w = {
        name: w[name] + size * units[name] * first[name] / (jax.numpy.sqrt(second[name]) + 1e-8)
        for name in w
    }
    return w, first, second, step_count


def pad_weights(w: Weights, D: int, K: int) -> Weights:
    """The weights with hidden layers of `PADDED` units, zeros beyond their own."""
    padded = {}
    for name, shape in layer_shapes(D, K, PADDED, PADDED).items():
        padded[name] = np.zeros(shape, dtype=np.float32)
        padded[name][tuple(slice(0, size) for size in np.shape(w[name]))] = w[name]
    return padded


def crop_weights(w: Weights, N1: int, N2: int) -> Weights:
    """The weights without the padding of `pad_weights`."""
    D, K = w["b0"].size, w["u"].size
    return {
        name: w[name][tuple(slice(0, size) for size in shape)].copy()
        for name, shape in layer_shapes(D, K, N1, N2).items()
    }


def _unit_masks(N1: int, N2: int) -> tuple[np.ndarray, np.ndarray]:
    units = np.arange(PADDED)
    return (units < N1).astype(np.float32), (units < N2).astype(np.float32)


def _zeros_like(w: Weights) -> Weights:
    return {name: np.zeros_like(value) for name, value in w.items()}
