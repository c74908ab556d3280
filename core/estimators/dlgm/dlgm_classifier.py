"""The supervised deep latent Gaussian model as a scikit-learn classifier, trained by jax.

The paper names "the gradient ascent step size" ρ, with log ρ in [−5, −0.05], and neither the ascent
nor its length. Ours: Adam (Kingma & Ba 2015), as Li et al. 2015 take it; steps in units of
1/√inputs for matrices, since ρ in a thousand inputs at once saturates the layer; steps that fall to
0 linearly over the epochs. Without these the best ρ lies below the paper's range. One draw of
noise, by numpy, a row and step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from core.errors import UnusableError
from core.estimators.dlgm.network import (
    ACTIVATIONS,
    Weights,
    first_weights,
    layer_shapes,
    log_prior,
    mean_class_logs,
    row_bounds,
    weight_units,
)
from core.estimators.optional_parts import optional_module

# The most units of a hidden layer. All layers are padded to it and masked; the number of rows, the
# prior and the steps are arguments: so one compilation serves every trial on a table, for only the
# rows a step, the numbers of columns and classes, and the activation are compiled in.
PADDED = 200
TRACED: Counter[tuple[int, int, int, str]] = Counter()  # (rows, D, K, activation): compilations


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained."""

    sizes: tuple[int, int]  # N1 and N2
    kappa: float  # variance κ of the prior of the generative weights
    rho: float  # size ρ of the first steps; they shrink to 0 over the epochs
    epochs: int  # how often all rows are gone through
    minibatch: int  # the most rows between two steps
    activation: str  # of the hidden layers, see `core.estimators.dlgm.network`
    label_weight: float  # how often the label counts in the bound


def rows_a_step(rows: int, minibatch: int) -> int:
    """The rows between two steps: a power of two, at least eight steps an epoch where possible."""
    # So the folds of one table, which have nearly one size, share a compilation.
    eighth = 2 ** max(3, (rows // 8).bit_length() - 1) if rows >= 8 else rows
    return min(rows, minibatch, eighth)


def train_dlgm(
    x: np.ndarray, codes: np.ndarray, K: int, options: TrainingOptions, rng: np.random.Generator
) -> tuple[Weights, np.ndarray]:
    """Maximize the bound of all rows plus the log prior of the weights (Rezende algorithm 1).

    Args:
        x: standardized columns, shape (n, D).
        codes: numbers of K classes, shape (n,).
        rng: of the start, the order of the rows and the noise.

    Returns:
        The weights, single precision; and the objective in nats a row, shape (epochs,), each the
        mean over its epoch's steps.
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

    Arguments as of `row_bounds`; `setting` is κ, the number n of all rows, the label's weight.
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


class DlgmClassifier(ClassifierMixin, BaseEstimator):
    """A deep generative model of rows and their classes, which predicts the class of new rows.

    The second model of McInerney 2017 (section 4.2): rows arise from one or two layers of Gaussian
    latent values, which a recognition network infers; both are trained by stochastic
    backpropagation (Rezende, Mohamed & Wierstra 2014). The class is read off the latent values (Li,
    Zhu, Shi & Zhang 2015), by a softmax for log probabilities. Formulas: in
    `core.estimators.dlgm.network`.

    Columns are standardized inside. Fitting needs jax; predicting needs numpy only.

    Args:
        n1: units N1 of the first layer and of the recognition network, 1 to 200.
        n2: units N2 of the second layer, 0 to 200; 0 for one layer.
        kappa: variance κ of the prior of the generative weights.
        rho: size ρ of the first steps, in units of 1/√inputs for matrices (ours, so that the
            paper's range fits tables of any width); they shrink to 0 over the epochs (ours).
        epochs: how often training goes through the rows (ours).
        minibatch: the most rows between two steps (ours); small tables take fewer.
        label_weight: how often the label counts in the bound beside the D columns (ours; the C of
            Li et al.); None for √D; 1 gives the bound on log p(x, y).
        draws: posterior draws that a prediction is averaged over (ours).
        activation: of the hidden layers: "tanh", "relu" or "linear" (ours).
        random_state: of the start, the order of the rows, the noise, and of the draws.

    Attributes:
        classes_: sorted labels, shape (K,).
        weights_: {letter: array} as `core.estimators.dlgm.network` names them, single precision.
        mean_, scale_: of the columns, shape (D,).
        bounds_: the objective in nats a row after every epoch, shape (epochs,).
        noise_: standard normal draws of predictions, (draws, N1 + N2), the same for every row.
        n_features_in_: D.
    """

    def __init__(
        self,
        n1: int = 100,
        n2: int = 50,
        *,
        kappa: float = 0.5,
        rho: float = 0.1,
        epochs: int = 50,
        minibatch: int = 64,
        label_weight: float | None = None,
        draws: int = 20,
        activation: str = "tanh",
        random_state: Any = None,
    ) -> None:
        self.n1 = n1
        self.n2 = n2
        self.kappa = kappa
        self.rho = rho
        self.epochs = epochs
        self.minibatch = minibatch
        self.label_weight = label_weight
        self.draws = draws
        self.activation = activation
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DlgmClassifier:
        """Fit on rows X (n, D) of two or more classes y (n,)."""
        self._check_ranges()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("two or more classes are needed, and the rows are all of one class")
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0)
        # A constant column, whose deviation is rounding.
        self.scale_[self.scale_ <= 1e-10 * np.abs(self.mean_)] = 1.0
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        x = (X - self.mean_) / self.scale_
        K, options = len(self.classes_), self._training_options(X.shape[1])
        self.weights_, self.bounds_ = train_dlgm(x, codes, K, options, rng)
        self.noise_ = rng.standard_normal((int(self.draws), sum(options.sizes)))
        return self

    def _check_ranges(self) -> None:
        integer_ranges: dict[str, tuple[int, int | None]] = {"n1": (1, PADDED), "n2": (0, PADDED)}
        integer_ranges |= dict.fromkeys(("epochs", "minibatch", "draws"), (1, None))
        for name, (low, high) in integer_ranges.items():
            check_scalar(getattr(self, name), name, Integral, min_val=low, max_val=high)
        positive_names = (
            ["kappa", "rho"] if self.label_weight is None else ["kappa", "rho", "label_weight"]
        )
        for name in positive_names:
            check_scalar(getattr(self, name), name, Real, min_val=0.0, include_boundaries="neither")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}")

    def _training_options(self, D: int) -> TrainingOptions:
        return TrainingOptions(
            sizes=(int(self.n1), int(self.n2)),
            kappa=float(self.kappa),
            rho=float(self.rho),
            epochs=int(self.epochs),
            minibatch=int(self.minibatch),
            activation=self.activation,
            label_weight=D**0.5 if self.label_weight is None else float(self.label_weight),
        )

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The log of p(y | x) of every class, averaged over draws from q(ξ | x), shape (n, K)."""
        return mean_class_logs(self, self.standardized(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        likeliest = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[likeliest]

    def standardized(self, X: Any) -> np.ndarray:
        """Rows with the columns' training mean 0 and deviation 1, shape (n, D)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) / self.scale_
