"""Fitted models averaged into one (McInerney 2017, eq. 3, with any weights).

p(y | x) = Σ_t w_t p_t(y | x) for classes, Σ_t w_t f_t(x) for numbers, with Σ_t w_t = 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import Bunch

from core.datasets.task import Task
from core.errors import UnusableError

Members = Sequence[tuple[str, Any]]


def average_models(
    task: str, members: Members, weights: Sequence[float], classes: Sequence[Any]
) -> Any:
    """The weighted average of fitted `members`, (name, estimator); nothing is fitted.

    For tables a soft `VotingClassifier` or `VotingRegressor`. Of `weights` only the shares count;
    members of weight 0 are dropped. `classes`: sorted labels; empty where there are none. A
    ValueError is of unusable names or weights.
    """
    members, shares = _check_members(members, weights)
    dataset_task = Task(task)
    if not dataset_task.has_target:
        from core.estimators.averages.topics import AveragedTopics

        return AveragedTopics(members, shares)
    if dataset_task.is_structured:
        from core.estimators.averages.structured import AveragedFolder, AveragedTagger

        if dataset_task.has_pairs:
            return AveragedFolder(_unfitted(members), shares).set_members(members)
        refuse_other_classes(members, classes)
        return AveragedTagger(_unfitted(members), shares).set_members(members)
    if dataset_task.has_numbers:
        vote = VotingRegressor(_unfitted(members), weights=shares)
    else:
        vote = VotingClassifier(_unfitted(members), voting="soft", weights=shares)
        refuse_other_classes(members, classes)
        # The members' own array: a list of labels from a file need not give the same dtype.
        vote.le_ = LabelEncoder().fit(members[0][1].classes_)
        vote.classes_ = vote.le_.classes_
    # What a fit would have set; fitted again, it trains the members anew.
    vote.estimators_ = [member for _, member in members]
    vote.named_estimators_ = Bunch(**dict(members))
    if hasattr(vote.estimators_[0], "feature_names_in_"):
        vote.feature_names_in_ = vote.estimators_[0].feature_names_in_
    return vote


def refuse_other_classes(members: Members, classes: Sequence[Any]) -> None:
    """Refuse members without probabilities of exactly these classes."""
    # For a class that a member never saw, probability 0 would be a guess.
    for name, member in members:
        if not hasattr(member, "predict_proba"):
            problem = "a model that gives no probabilities cannot be averaged"
            raise UnusableError(problem, where=name, cure="choose a model that gives probabilities")
        if missing := [label for label in classes if label not in list(member.classes_)]:
            problem = f'this member of the average never saw the class "{missing[0]}" in its rows'
            cure = "leave it out, or use more rows or cross-validation"
            raise UnusableError(problem, where=name, cure=cure)
        if len(member.classes_) != len(classes):
            problem = "this member of the average knows classes that the others do not"
            raise UnusableError(problem, where=name, cure="leave it out")


def _check_members(members: Members, weights: Sequence[float]) -> tuple[Members, list[float]]:
    # scikit-learn takes a name with "__" for a parameter of a member.
    names, raw_weights = [name for name, _ in members], np.asarray(weights, dtype=float)
    if raw_weights.shape != (len(names),):
        raise ValueError("there must be as many weights as members")
    if len(set(names)) < len(names) or any(not name or "__" in name for name in names):
        raise ValueError('the members need names of their own, without "__"')
    is_usable = np.isfinite(raw_weights).all() and (raw_weights >= 0.0).all()
    if not (is_usable and raw_weights.sum() > 0.0):
        raise ValueError("the weights of an average are positive numbers, or 0 for some members")
    counted_members = [member for member, w in zip(members, raw_weights, strict=True) if w > 0.0]
    return counted_members, (raw_weights[raw_weights > 0.0] / raw_weights.sum()).tolist()


def _unfitted(members: Members) -> list[tuple[str, Any]]:
    return [(name, clone(member)) for name, member in members]
