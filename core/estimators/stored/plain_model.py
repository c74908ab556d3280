"""Fitted models converted to scikit-learn's own classes, which open without other packages."""

import copy
from collections.abc import Callable
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from core.datasets.preparation import plain_preparation
from core.estimators.boosted import is_boosted, to_scikit_learn
from core.estimators.multi_model import without_own_columns
from core.estimators.tables.library_wrappers import CodedClassifier, DoubleRegressor


def plain_pipeline(pipeline: Any) -> Any:
    """A copy of a pipeline in scikit-learn's classes; documents keep their preparation."""
    plain = _convert_last_step(pipeline, plain_model)
    if hasattr(plain, "steps"):
        plain.steps = [(name, plain_preparation(step)) for name, step in plain.steps]
    return plain


def kept_pipeline(pipeline: Any) -> Any:
    """A copy without models of other libraries, for run folders; ValueError if one has no form."""
    return _convert_last_step(pipeline, kept_model)


def _convert_last_step(pipeline: Any, convert: Callable[[Any], Any]) -> Any:
    if not hasattr(pipeline, "steps"):
        return convert(pipeline)
    plain = copy.copy(pipeline)
    name, model = pipeline.steps[-1]
    plain.steps = [*pipeline.steps[:-1], (name, convert(model))]
    return plain


def plain_model(model: Any) -> Any:
    """A fitted model in scikit-learn's classes, also inside votes."""
    if hasattr(model, "as_plain"):
        return model.as_plain()
    if isinstance(model, CalibratedClassifierCV):
        return _plain_calibrated(model)
    return _convert_contained(model, plain_model)


def kept_model(model: Any) -> Any:
    """A fitted model without those of other libraries; classes of ours stay."""
    return _convert_contained(model, kept_model)


def without_threshold(model: Any) -> Any:
    """The classifier inside one with a decision threshold; any other model itself."""
    return model.estimator_ if isinstance(model, FixedThresholdClassifier) else model


def on_own_scale(model: Any) -> tuple[Any, float, float]:
    """The regressor of a scaled target, and the mean and unit of that; 0 and 1 of any other."""
    mean, unit = 0.0, 1.0
    while isinstance(model, TransformedTargetRegressor):
        scaler = model.transformer_
        if isinstance(scaler, StandardScaler):  # to the last digit
            start, step = scaler.mean_[0], scaler.scale_[0]
        else:
            # Two points tell any linear scale.
            start, end = scaler.inverse_transform([[0.0], [1.0]]).ravel()
            step = end - start
        mean, unit = mean + unit * float(start), unit * float(step)
        model = model.regressor_
    return model, mean, unit


def _convert_contained(model: Any, convert: Callable[[Any], Any]) -> Any:
    if is_boosted(model):
        return to_scikit_learn(model)
    if isinstance(model, CodedClassifier):
        return to_scikit_learn(model.estimator_, model.classes_)
    if isinstance(model, DoubleRegressor):
        return to_scikit_learn(model.estimator_)
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return _convert_vote(model, convert)
    if without_own_columns(model)[0] is not model:
        return _convert_last_step(model, convert)
    field_names = {FixedThresholdClassifier: "estimator", TransformedTargetRegressor: "regressor"}
    name = field_names.get(type(model))
    if name is None:
        return model
    fitted = getattr(model, f"{name}_")
    new = convert(fitted)
    if new is fitted:
        return model
    plain = copy.copy(model)
    setattr(plain, name, new)
    setattr(plain, f"{name}_", new)
    return plain


def _convert_vote(vote: Any, convert: Callable[[Any], Any]) -> Any:
    fitted = [convert(member) for member in vote.estimators_]
    if all(new is old for new, old in zip(fitted, vote.estimators_, strict=True)):
        return vote
    plain = copy.copy(vote)
    members = [(name, new) for (name, _), new in zip(vote.estimators, fitted, strict=True)]
    plain.estimators, plain.estimators_ = members, fitted
    plain.named_estimators_ = Bunch(**dict(members))
    return plain


def _plain_calibrated(model: Any) -> Any:
    if not hasattr(model.estimator, "as_plain_scores"):  # calibration is of scores, which must stay
        return model
    plain = copy.copy(model)
    plain.calibrated_classifiers_ = [copy.copy(member) for member in model.calibrated_classifiers_]
    for classifier in plain.calibrated_classifiers_:
        classifier.estimator = classifier.estimator.as_plain_scores()
    plain.estimator = plain.calibrated_classifiers_[0].estimator
    return plain
