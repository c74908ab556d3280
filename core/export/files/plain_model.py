"""The fitted pipeline in scikit-learn's own classes, so that it opens where Tunescope is not."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.utils import Bunch


def plain_pipeline(pipeline: Any) -> Any:
    """A copy of a pipeline whose last step, where it is a class of ours, is scikit-learn's.

    It predicts the very same. Other steps are shared with the pipeline given.
    """
    plain = copy.copy(pipeline)
    name, model = pipeline.steps[-1]
    plain.steps = [*pipeline.steps[:-1], (name, plain_model(model))]
    return plain


def plain_model(model: Any) -> Any:
    """A fitted model in scikit-learn's own classes; the model itself where it is of these already.

    Our classes for tables say by ``as_plain()`` what they are in scikit-learn's terms; votes and
    calibrated classifiers may have them inside.
    """
    if isinstance(model, FixedThresholdClassifier):
        plain = copy.copy(model)
        plain.estimator = plain.estimator_ = plain_model(model.estimator_)
        return plain
    if hasattr(model, "as_plain"):
        return model.as_plain()
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return _plain_vote(model)
    if isinstance(model, CalibratedClassifierCV):
        return _plain_calibrated(model)
    return model


def undecided(model: Any) -> Any:
    """The fitted classifier inside one that decides by a threshold; any other model itself."""
    return model.estimator_ if isinstance(model, FixedThresholdClassifier) else model


def _plain_vote(vote: Any) -> Any:
    fitted = [plain_model(member) for member in vote.estimators_]
    if all(new is old for new, old in zip(fitted, vote.estimators_, strict=True)):
        return vote
    plain = copy.copy(vote)
    members = [(name, new) for (name, _), new in zip(vote.estimators, fitted, strict=True)]
    plain.estimators, plain.estimators_ = members, fitted
    plain.named_estimators_ = Bunch(**dict(members))
    return plain


def _plain_calibrated(model: Any) -> Any:
    """The same for a classifier whose scores become probabilities: the scores must stay."""
    if not hasattr(model.estimator, "as_plain_scores"):
        return model
    plain = copy.copy(model)
    plain.calibrated_classifiers_ = [copy.copy(one) for one in model.calibrated_classifiers_]
    for one in plain.calibrated_classifiers_:
        one.estimator = one.estimator.as_plain_scores()
    plain.estimator = plain.calibrated_classifiers_[0].estimator
    return plain
