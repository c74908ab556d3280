"""Trials of deep latent Gaussian models in one process: what is compiled, judged and shown."""

from __future__ import annotations

import os

import numpy as np
import pytest

from core.estimators.dlgm import dlgm_classifier
from core.estimators.dlgm.dlgm_model import DLGM, training_score
from core.estimators.dlgm.network import joint_log_densities
from core.estimators.optional_parts import is_installed
from core.tuning.events import ImagesDrawn
from core.tuning.scores.scoring import FoldData, ScoringJob, fit_estimator, score_setting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed("deep"), reason="jax is not installed (the extra deep)"),
]
# Compiling takes longer than these small fits: read when jax starts.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

SETTINGS = (
    {"n1": 100, "n2": 50, "kappa": 0.5, "rho": 0.1},
    {"n1": 17, "n2": 0, "kappa": 0.1, "rho": 0.3},
    {"n1": 200, "n2": 200, "kappa": 0.01, "rho": 0.02},
)
PIXELS = tuple(f"p{number}" for number in range(36))  # 6 × 6


@pytest.fixture
def work():
    """Three folds of nearly one size; the class is where a picture is bright."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 36)), np.arange(100) % 3
    for row, label in zip(X, y, strict=True):
        row[12 * label : 12 * label + 12] += 2.0
    parts = []
    for fold in range(3):
        held = np.arange(100) // 34 == fold
        parts.append(FoldData(X[~held], y[~held], X[held], y[held], names=PIXELS))
    fixed = {"epochs": 4}
    return ScoringJob("dlgm", "multiclass", "log_loss", 0, (0, 1, 2), parts, fixed)


def test_one_compilation_serves_every_trial_and_fold_and_each_shows_pictures(work):
    before = dict(dlgm_classifier.TRACED)
    outcomes = [score_setting(work, at, setting) for at, setting in enumerate(SETTINGS)]
    assert {outcome.failure for outcome in outcomes} == {""}
    assert len({outcome.score for outcome in outcomes}) == 3
    new = {key: n for key, n in dlgm_classifier.TRACED.items() if n != before.get(key)}
    assert new == {(8, 36, 3, "tanh"): 1}
    event = outcomes[1].display_event
    assert isinstance(event, ImagesDrawn)
    assert (event.number, event.height, event.width) == (1, 6, 6)
    assert set(event.labels) == {"0", "1", "2"}


def test_it_is_judged_by_what_it_says_of_the_rows_it_was_fitted_to(work):
    fold = work.folds[0]
    model = fit_estimator(work, SETTINGS[0], fold)
    value = training_score(model, fold.fit_X, fold.fit_y)
    assert DLGM.training_score is training_score
    assert value == pytest.approx(joint_log_densities(model, fold.fit_X, fold.fit_y).mean())
    # Labels that are wrong are explained worse, and so are rows of noise.
    rng = np.random.default_rng(1)
    assert value > training_score(model, fold.fit_X, rng.permutation(fold.fit_y)) + 0.1
    assert value > training_score(model, rng.permuted(fold.fit_X, axis=0), fold.fit_y) + 0.1
