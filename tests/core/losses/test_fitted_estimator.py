"""Estimators made from parameters predict the loss's probabilities and survive refitting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from core.losses import build_loss, parameter_groups
from core.losses.registry import as_estimator
from core.penalties import mm
from core.penalties.penalty_problem import PenaltyProblem


def data(classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    X[:, 2] = 1.0
    score = X @ rng.standard_normal((5, max(classes, 1))) + rng.gumbel(size=(200, max(classes, 1)))
    return (X, score[:, 0]) if classes == 0 else (X, np.array(list("abcd"))[score.argmax(axis=1)])


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_the_loss(classes: int) -> None:
    X, y = data(classes)
    loss = build_loss("logistic" if classes == 2 else "multinomial", X, y)
    w = loss.initial_weights() + np.random.default_rng(1).standard_normal(loss.size)
    model = as_estimator(loss, w)
    own = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    assert -np.log(own).sum() == pytest.approx(loss.value_and_gradient(w)[0])
    assert model.n_features_in_ == 5
    assert model.coef_.shape == ((1 if classes == 2 else classes), 5)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_fitting_again_at_the_learned_penalty_gives_the_same_model(classes: int) -> None:
    X, y = data(classes)
    name = {0: "linear", 2: "logistic", 3: "multinomial"}[classes]
    loss = build_loss(name, X, y)
    problem = PenaltyProblem(loss, parameter_groups(loss))
    *_, last = mm.mm_steps(problem, mm.MmOptions(tolerance=1e-6))
    model = as_estimator(loss, last.w, C=last.C[0])
    again = clone(model)
    if classes:
        again.set_params(tol=1e-9, max_iter=5000)
    again.fit(X, y)
    np.testing.assert_allclose(np.squeeze(model.coef_), np.squeeze(again.coef_), atol=1e-4)
    if classes:
        np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-4)
    else:
        np.testing.assert_allclose(model.predict(X), again.predict(X), atol=1e-4)


def test_labels_can_be_given_for_codes() -> None:
    X, y = data(2)
    codes = (y == "b").astype(int)
    loss = build_loss("logistic", X, codes)
    model = as_estimator(loss, loss.initial_weights(), classes=np.array(["a", "b"]))
    assert set(model.predict(X)) <= {"a", "b"}
