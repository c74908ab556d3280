"""A fitted scikit-learn model in the form that skl2onnx can convert, and its conversion."""

from __future__ import annotations

import copy
import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import ElasticNet
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

from core.errors import UnusableError
from core.estimators.optional_parts import optional_module
from core.export.onnx_rows import PREPARED

OPSETS = {"": 18, "ai.onnx.ml": 3}  # of operators; every runtime of the last years has them


def converted(model: Any, width: int) -> Any:
    """The ONNX model of a fitted model of `width` prepared columns, input `PREPARED`.

    Raises:
        UnusableError: ONNX has no counterpart of a part of it, or the optional part is missing.
    """
    skl2onnx = optional_module("onnx", "skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    _accept_trees()
    ready = convertible(model)
    options = {id(ready): {"zipmap": False}} if hasattr(ready, "predict_proba") else None
    try:
        with warnings.catch_warnings():
            # The converters look at attributes that scikit-learn is giving up.
            warnings.simplefilter("ignore", FutureWarning)
            return skl2onnx.to_onnx(
                ready,
                initial_types=[(PREPARED, FloatTensorType([None, width]))],
                options=options,
                target_opset=OPSETS,
            )
    except (MissingConverter, MissingShapeCalculator) as error:
        raise no_counterpart(model) from error


class _Whole:
    """skl2onnx's container of nodes, with whole numbers for what onnx takes no other for."""

    def __init__(self, container: Any) -> None:
        self._container = container

    def __getattr__(self, name: str) -> Any:
        return getattr(self._container, name)

    def add_node(self, *given: Any, **attributes: Any) -> None:
        """Add a node; truth values and unsigned numbers in its lists become plain ones."""
        whole = {name: _plain(value) for name, value in attributes.items()}
        self._container.add_node(*given, **whole)


def _plain(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [int(v) if isinstance(v, (bool, np.bool_, np.integer)) else v for v in value]


@cache
def _accept_trees() -> None:
    """Let skl2onnx's converters of histogram trees work with every version of onnx."""
    from skl2onnx.common import _registration

    for kind in ("Classifier", "Regressor"):
        alias = f"SklearnHistGradientBoosting{kind}"
        found = _registration.get_converter(alias)
        options = found.get_allowed_options()
        _registration.register_converter(alias, _of_whole(found), overwrite=True, options=options)


def _of_whole(converter: Any) -> Any:
    """The converter with whole numbers where there are truth values."""

    def convert(scope: Any, operator: Any, container: Any) -> None:
        converter(scope, operator, _Whole(container))

    return convert


def no_counterpart(model: Any) -> UnusableError:
    """What is said of a model that ONNX cannot hold."""
    inner = (
        model.estimators_[0] if isinstance(model, (VotingClassifier, VotingRegressor)) else model
    )
    return UnusableError(
        f"ONNX has no counterpart of this kind of model ({type(inner).__name__})",
        cure="export it as skops, or choose another model",
    )


def convertible(model: Any) -> Any:
    """The same fitted model in parts that skl2onnx knows; predictions are the same.

    Raises:
        UnusableError: it holds a vote by labels, whose ties ONNX would break in another way.
    """
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return _vote(model)
    if isinstance(model, TransformedTargetRegressor):
        return _on_own_scale(model)
    inner = getattr(model, "estimator", None)
    if "which" in getattr(inner, "named_steps", {}):  # a vote of seven, calibrated
        raise no_counterpart(model)
    return model


def _vote(vote: Any) -> Any:
    if isinstance(vote, VotingClassifier) and vote.voting == "hard":
        raise no_counterpart(vote)
    same = copy.copy(vote)
    if isinstance(vote, VotingClassifier):
        same.flatten_transform = False  # of what it gives as a transformer, which it is not here
    same.estimators_ = [convertible(member) for member in vote.estimators_]
    if vote.weights is not None:
        same.weights = np.asarray(vote.weights, dtype=float)  # a list has no sum
    return same


def _on_own_scale(model: TransformedTargetRegressor) -> Any:
    """A regressor of a standardized target as one of the target: its outputs are scaled back.

    ŷ = μ + σ f(x), and the last step of f is linear for both kinds: μ + σ (Σ a_i k_i(x) + b).

    Raises:
        UnusableError: the regressor is of another kind.
    """
    same, scaler = copy.copy(model.regressor_), model.transformer_
    mu, sigma = float(scaler.mean_[0]), float(scaler.scale_[0])
    if isinstance(same, SVR):
        for name in ("dual_coef_", "_dual_coef_"):
            setattr(same, name, sigma * getattr(model.regressor_, name))
        for name in ("intercept_", "_intercept_"):
            setattr(same, name, mu + sigma * getattr(model.regressor_, name))
    elif isinstance(same, MLPRegressor) and same.out_activation_ == "identity":
        same.coefs_ = [*same.coefs_[:-1], sigma * same.coefs_[-1]]
        same.intercepts_ = [*same.intercepts_[:-1], mu + sigma * same.intercepts_[-1]]
    elif isinstance(same, ElasticNet):
        same.coef_, same.intercept_ = sigma * same.coef_, mu + sigma * same.intercept_
    else:
        raise no_counterpart(same)
    return same
