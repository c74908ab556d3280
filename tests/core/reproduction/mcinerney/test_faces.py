"""Faces of table 3: coarser pictures, the unit of densities, and what a fit is judged by."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from core.datasets.texts.documents import divide_documents
from core.errors import UnusableError
from core.reproduction.mcinerney import faces as mcinerney_faces
from core.reproduction.mcinerney.faces import (
    BOTH,
    HEIGHT,
    LABELS,
    WIDTH,
    coarser,
    faces_problem,
    fit_faces,
    pictures,
)

pytest.importorskip("jax")
SETTING = {"n1": 10, "n2": 5, "kappa": 0.5, "rho": 0.1}


def test_coarser_pictures_are_means_of_blocks():
    X = np.random.default_rng(0).random((2, HEIGHT * WIDTH))
    small = coarser(X, 3)
    assert small.shape == (2, (HEIGHT // 3) * (WIDTH // 3))
    picture = X[1].reshape(HEIGHT, WIDTH)
    assert small[1, 12 + 5] == pytest.approx(picture[3:6, 15:18].mean())


def test_points_are_in_units_of_their_deviation():
    X, y = pictures("", 0)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    assert len(X) == len(y)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(UnusableError, match="lfw_people"):
        faces_problem(tmp_path, 0, 1)


def test_a_fit_is_judged_by_what_it_was_trained_on_or_by_validation_rows(monkeypatch):
    asked = []

    def densities(model, X, y):
        asked.append(len(X))
        return np.full(len(X), -2.0)

    monkeypatch.setattr(mcinerney_faces, "joint_log_densities", densities)
    problem = faces_problem(None, 0, 1)
    train, validation, test = divide_documents(len(pictures("", 0)[0]), 3, (0.2, 0.2))
    with_validation = fit_faces(problem, SETTING, 3, True)
    without = fit_faces(problem, SETTING, 3, False)
    both = len(train) + len(validation)
    assert asked == [len(validation), len(test), both, len(test)]
    assert with_validation.f == -2.0 * len(validation)
    assert without.f == -2.0 * both
    assert len(without["test"][BOTH]) == len(without["test"][LABELS]) == len(test)


def test_densities_are_those_of_a_density_over_pictures_and_persons():
    """Drawn from a normal with one cause: no model is better than the truth, and a fit is close."""
    problem = faces_problem(None, 0, 15)
    found = fit_faces(problem, SETTING, 0, True)
    X, y = pictures("", 0)
    train, _, test = divide_documents(len(X), 0, (0.2, 0.2))
    # One normal with the training rows' covariance for every class, and the classes' shares.
    logs = []
    for k in range(4):
        own = X[train][y[train] == k]
        mean = own.mean(axis=0)
        covariance = np.cov(own.T) + 0.3 * np.eye(X.shape[1])
        far = X[test] - mean
        distance = np.einsum("ij,jk,ik->i", far, np.linalg.inv(covariance), far)
        volume = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
        logs.append(-0.5 * (distance + volume) + np.log(len(own) / len(train)))
    joint = np.array(logs)[y[test], np.arange(len(test))]
    assert np.mean(found["test"][BOTH]) == pytest.approx(joint.mean(), rel=0.15)
    labels = joint - logsumexp(np.array(logs), axis=0)
    assert np.mean(found["test"][LABELS]) < 0.0
    assert np.mean(found["test"][LABELS]) > labels.mean() - 1.0
