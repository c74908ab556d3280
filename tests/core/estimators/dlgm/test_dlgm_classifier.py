"""The deep latent Gaussian model as a classifier: what it learns, predicts and makes up."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.errors import UnusableError
from core.estimators.dlgm import dlgm_classifier
from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.dlgm_model import DLGM
from core.estimators.dlgm.network import (
    class_logs,
    joint_log_densities,
    log_densities,
    log_likelihood,
    recognize,
    reconstructions,
    represent,
    samples,
)
from core.estimators.optional_parts import is_installed
from core.space import default_setting, setting_at

pytestmark = pytest.mark.skipif(
    not is_installed("deep"), reason="jax is not installed (the extra deep)"
)


# Every shape is compiled once, which takes longer than these small fits: read when jax starts.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


@parametrize_with_checks([DlgmClassifier(10, 4, minibatch=8, epochs=20)])
def test_it_is_a_scikit_learn_classifier(estimator, check, monkeypatch):
    monkeypatch.setattr(dlgm_classifier, "PADDED", 16)
    check(estimator)


def planted(n=240, seed=1):
    """Two classes of two clusters each in six columns on odd scales."""
    X, y = make_classification(n, 6, n_informative=4, class_sep=1.5, random_state=seed)
    return X * [1, 10, 100, 1, 0.1, 5] + [0, 50, -300, 0, 0, 7], np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    X, y = planted()
    return DlgmClassifier(12, 5, epochs=20, random_state=0).fit(X, y), X, y


def test_a_planted_problem_is_learned(fitted):
    model, _, _ = fitted
    X, y = planted()
    model = clone(model).fit(X[:160], y[:160])
    plain = LogisticRegression().fit(model.standardized(X[:160]), y[:160])
    assert model.score(X[160:], y[160:]) > plain.score(model.standardized(X[160:]), y[160:]) - 0.05
    assert model.score(X[160:], y[160:]) > 0.8
    assert model.bounds_[-1] > model.bounds_[0] + 1
    errors = ((reconstructions(model, X) - X) / X.std(axis=0)) ** 2
    assert errors.mean() < 0.5  # nearer than the mean
    one = reconstructions(model, X[3:4])
    np.testing.assert_allclose(one, reconstructions(model, X)[3:4])


def test_other_sizes_are_not_compiled_again(fitted):
    _, X, y = fitted
    for n1, n2, kappa, rows in ((10, 0, 0.1, 240), (200, 200, 0.9, 240), (31, 7, 0.01, 239)):
        DlgmClassifier(n1, n2, kappa=kappa, rho=kappa, epochs=1).fit(X[:rows], y[:rows])
    assert dlgm_classifier.TRACED[16, 6, 2, "tanh"] == 1


def test_the_trained_network_is_the_same_by_jax(fitted):
    model, X, _ = fitted
    jnp = importlib.import_module("jax.numpy")
    q = recognize(jnp, model.weights_, model.standardized(X).astype("f4"), "tanh")
    logs = []
    for draw in model.noise_.astype("f4"):
        xi = (q.mean1 + q.deviation1 * draw[:12], q.mean2 + q.deviation2 * draw[12:])
        logs.append(class_logs(jnp, model.weights_, represent(jnp, model.weights_, *xi, "tanh")))
    expected = logsumexp(np.array(logs), axis=0) - np.log(len(logs))
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=2e-5)


def test_the_densities_are_those_of_the_labels(fitted):
    model, X, y = fitted
    logs = log_densities(model, X, y)
    wrong = log_densities(model, X, np.where(y == "yes", "no", "yes"))
    np.testing.assert_allclose(np.exp(logs) + np.exp(wrong), 1.0)
    assert log_likelihood(model, X, y) == pytest.approx(logs.sum())
    assert np.exp(logs.mean()) > 0.7
    np.testing.assert_array_equal(log_densities(model, X[:2], ["maybe", "zzz"]), -np.inf)
    np.testing.assert_array_equal(joint_log_densities(model, X[:2], ["maybe", "zzz"]), -np.inf)


def test_many_draws_come_to_the_integral_over_the_posterior(fitted):
    model, X, _ = fitted
    many = pickle.loads(pickle.dumps(model))
    many.noise_ = np.random.default_rng(9).standard_normal((4000, 17))
    again = pickle.loads(pickle.dumps(model))
    again.noise_ = np.random.default_rng(10).standard_normal((4000, 17))
    p, other = many.predict_proba(X[:20]), again.predict_proba(X[:20])
    np.testing.assert_allclose(p, other, atol=0.03)
    # The model's own twenty draws are a sample of the same integral.
    assert abs(model.predict_proba(X[:20]) - p).mean() < 0.03


def test_what_it_makes_up_has_the_columns_scale(fitted):
    model, X, _ = fitted
    made = samples(model, 2000, 4)
    assert made.shape == (2000, 6)
    np.testing.assert_array_equal(made, samples(model, 2000, 4))
    assert not np.array_equal(made, samples(model, 2000, 5))
    assert abs((made.mean(axis=0) - X.mean(axis=0)) / X.std(axis=0)).max() < 0.4
    assert (made.std(axis=0) / X.std(axis=0)).max() < 1.3


def test_a_stored_model_predicts_without_jax_and_its_formulas_with_numpy_alone(fitted, tmp_path):
    model, X, _ = fitted
    assert all(type(value) is np.ndarray for value in model.weights_.values())
    place, rows, said = (tmp_path / name for name in ("model.pkl", "rows.npz", "said"))
    place.write_bytes(pickle.dumps(model))
    np.savez(rows, x=X, standard=model.standardized(X), noise=model.noise_, **model.weights_)
    formulas = (
        "import sys; sys.modules |= dict.fromkeys(['jax', 'scipy', 'sklearn', 'pandas']); "
        "from types import SimpleNamespace; import numpy as np; "
        "from core.estimators.dlgm.network import mean_class_logs; "
        f"w = dict(np.load({str(rows)!r})); "
        "model = SimpleNamespace(weights_=w, noise_=w['noise'], activation='tanh'); "
        f"np.save({str(said)!r}, mean_class_logs(model, w['standard']))"
    )
    stored = (
        "import pickle, sys; sys.modules['jax'] = None; import numpy as np; "
        f"model = pickle.load(open({str(place)!r}, 'rb')); "
        f"np.save({str(said)!r}, model.predict_log_proba(np.load({str(rows)!r})['x']))"
    )
    for code in (formulas, stored):
        subprocess.run([sys.executable, "-c", code], check=True)
        found = np.load(said.with_suffix(".npy"))
        np.testing.assert_allclose(found, model.predict_log_proba(X), rtol=1e-12)


def test_the_same_seed_gives_the_same_model(fitted):
    model, X, y = fitted
    short = clone(model).set_params(epochs=2)
    one, same, other = (
        clone(short).set_params(random_state=seed).fit(X, y).predict_log_proba(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_constant_columns_and_huge_means_are_no_trouble(fitted):
    _, X, y = fitted
    X = np.column_stack([X[:, :4], np.full(len(X), 0.1), X[:, 0] + 1e7])
    model = DlgmClassifier(10, epochs=5, random_state=0).fit(X, y)
    assert model.scale_[4] == 1.0
    assert np.isfinite(model.predict_log_proba(X)).all()
    np.testing.assert_allclose(reconstructions(model, X)[:, 4], 0.1, atol=0.5)


def test_steps_that_overflow_are_refused_in_words(fitted):
    _, X, y = fitted
    model = DlgmClassifier(10, 10, rho=1e20, epochs=3)
    with pytest.raises(UnusableError, match=r"steps of 1e\+20 .*; take smaller steps"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n1", 0), ("n1", 201), ("n2", -1), ("kappa", 0.0), ("rho", -1.0), ("draws", 0),
     ("label_weight", 0.0), ("activation", "sine")],
)  # fmt: skip
def test_parameters_out_of_range_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        DlgmClassifier().set_params(**{name: value}).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="all of one class"):
        DlgmClassifier().fit(np.eye(3), [1, 1, 1])


def test_its_space_is_that_of_the_paper_and_its_corners_train(fitted):
    _, X, y = fitted
    space = DLGM.space("binary")
    low, high = (setting_at(space, np.full(4, end)) for end in (0.0, 1.0))
    assert [(low[name], high[name]) for name in ("n1", "n2")] == [(10, 200), (0, 200)]
    for name in ("kappa", "rho"):
        assert np.log([low[name], high[name]]) == pytest.approx([-5.0, -0.05])
    for setting in (low, high):
        model = DLGM.build("binary", setting, 3).set_params(epochs=3).fit(X, y)
        assert np.isfinite(log_likelihood(model, X, y))
    own, standard = DlgmClassifier().get_params(), default_setting(space)
    assert {name: own[name] for name in standard} == standard
