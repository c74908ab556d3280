"""The supervised deep latent Gaussian model as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from core.estimators.dlgm.dlgm_training import PADDED, TrainingOptions, train_dlgm
from core.estimators.dlgm.network import ACTIVATIONS
from core.estimators.dlgm.predictive import mean_class_logs


class DlgmClassifier(ClassifierMixin, BaseEstimator):
    """A deep generative model of rows and their classes, which predicts the class of new rows.

    The second model of McInerney 2017 (section 4.2): rows come about from one or two layers of
    Gaussian latent values, a recognition network finds those of a row, and both are trained
    together by stochastic backpropagation (Rezende, Mohamed & Wierstra 2014). The class is read
    off the latent values (Li, Zhu, Shi & Zhang 2015), by a softmax in place of their margin, since
    the paper scores log probabilities. The formulas stand in `core.estimators.dlgm.network`.

    Columns are standardized inside, so that reconstructions are on the scale that was given.
    Fitting needs jax; predicting needs numpy only.

    Args:
        n1: units N1 of the first layer and of the recognition network, 1 to 200.
        n2: units N2 of the second layer, 0 to 200; 0 for one layer.
        kappa: variance κ of the prior of the generative weights.
        rho: size ρ of the first steps, in units of 1/√inputs for matrices (ours, so that the
            paper's range fits tables of any width); they shrink to 0 over the epochs (ours).
        epochs: how often training goes through the rows (ours).
        minibatch: the most rows between two steps (ours); small tables take fewer.
        label_weight: how often the label counts in the bound beside the D columns (ours; the C of
            Li et al.); None for √D, or else a row of a thousand columns hardly says its class. 1
            gives the bound on log p(x, y).
        draws: posterior draws that a prediction is averaged over (ours).
        activation: of the hidden layers: "tanh", "relu" or "linear" (ours).
        random_state: of the start, the order of the rows, the noise, and of the draws.

    Attributes:
        classes_: sorted labels, shape (K,).
        weights_: {letter: array} as `core.estimators.dlgm.network` names them, single precision.
        mean_, scale_: of the columns, shape (D,).
        bounds_: the objective in nats a row after every epoch, shape (epochs,).
        noise_: standard normal draws that predictions use, (draws, N1 + N2); the same for every
            row, so that a row's prediction does not depend on the others.
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
        """Fit on rows.

        Args:
            X: numbers, shape (n, D).
            y: class labels, shape (n,).

        Raises:
            UnusableError: jax is not installed, or training overflowed.
            ValueError: a parameter is out of its range, or there is only one class.
        """
        self._check_ranges()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("two or more classes are needed, and the rows are all of one class")
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0)
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
        """p(y | x) of every class, shape (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every row, shape (n,)."""
        likeliest = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[likeliest]

    def standardized(self, X: Any) -> np.ndarray:
        """Rows with the columns' training mean 0 and deviation 1, shape (n, D)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) / self.scale_
