"""Fitted models averaged into one: scikit-learn's soft voting for tables, own classes otherwise.

For rows of tables and classes the average is p(y | x) = Σ_t w_t p_t(y | x), for numbers
Σ_t w_t f_t(x), with Σ_t w_t = 1 (McInerney 2017, equation 3, whose weights are all equal).
"""

from __future__ import annotations

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
    """One fitted estimator that predicts the weighted mean of what its members predict.

    Nothing is fitted. For tables it is what `VotingClassifier` (soft voting) or `VotingRegressor`
    would be after a fit that gave the members as they are here, so it opens wherever scikit-learn
    does; fitted again, it trains the same members anew.

    Args:
        task: of the dataset (core.datasets.task).
        members: (name, fitted estimator); names are distinct, neither empty nor with "__".
        weights: one a member; only their shares count. Members of weight 0 are left out.
        classes: the sorted labels; empty for numbers, documents and molecules.

    Raises:
        UnusableError: a member gives no probabilities, or knows other classes than `classes`.
        ValueError: no members, two of one name, or weights that are none.
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
        _give_classes(vote, members, classes)
    vote.estimators_ = [member for _, member in members]
    vote.named_estimators_ = Bunch(**dict(members))
    if hasattr(vote.estimators_[0], "feature_names_in_"):
        vote.feature_names_in_ = vote.estimators_[0].feature_names_in_
    return vote


def refuse_other_classes(members: Members, classes: Sequence[Any]) -> None:
    """Refuse a member that gives no probability to a class, or that knows further ones.

    A class that a member never saw in its rows has no probability under it; zero would be a guess,
    and infinite log loss wherever that member stands alone.

    Raises:
        UnusableError: the first such member.
    """
    for name, member in members:
        if not hasattr(member, "predict_proba"):
            raise UnusableError(
                "a model that gives no probabilities cannot be averaged",
                where=name,
                cure="choose a model that gives probabilities",
            )
        if missing := [label for label in classes if label not in list(member.classes_)]:
            raise UnusableError(
                f'this member of the average never saw the class "{missing[0]}" in its rows',
                where=name,
                cure="leave it out, or use more rows or cross-validation",
            )
        if len(member.classes_) != len(classes):
            raise UnusableError(
                "this member of the average knows classes that the others do not",
                where=name,
                cure="leave it out",
            )


def _check_members(members: Members, weights: Sequence[float]) -> tuple[Members, list[float]]:
    names, raw_weights = [name for name, _ in members], np.asarray(weights, dtype=float)
    if raw_weights.shape != (len(names),):
        raise ValueError("there must be as many weights as members")
    if len(set(names)) < len(names) or any(not name or "__" in name for name in names):
        raise ValueError('the members need names of their own, without "__"')
    if (
        not np.isfinite(raw_weights).all()
        or (raw_weights < 0.0).any()
        or not raw_weights.sum() > 0.0
    ):
        raise ValueError("the weights of an average are positive numbers, or 0 for some members")
    counted_members = [member for member, w in zip(members, raw_weights, strict=True) if w > 0.0]
    return counted_members, (raw_weights[raw_weights > 0.0] / raw_weights.sum()).tolist()


def _unfitted(members: Members) -> list[tuple[str, Any]]:
    return [(name, clone(member)) for name, member in members]


def _give_classes(vote: VotingClassifier, members: Members, classes: Sequence[Any]) -> None:
    refuse_other_classes(members, classes)
    # The members' own array: a list of labels from a file need not give the same dtype.
    vote.le_ = LabelEncoder().fit(members[0][1].classes_)
    vote.classes_ = vote.le_.classes_
