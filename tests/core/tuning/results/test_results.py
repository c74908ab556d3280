"""The results dict: gain and its direction, optimism, confusion, calibration, plain JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import confusion_matrix
from sklearn.svm import SVC

from core.records import to_plain
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.scores.metrics import METRICS, codes_of, metric_scores, predict_all
from core.tuning.scores.predictions import predictions_by

X, CODES = make_classification(600, 8, n_informative=5, flip_y=0.15, random_state=0)
Y = np.array(["no", "yes"])[CODES]
NAMES = ("no", "yes")


def classified(model, other, metric="accuracy", rows=slice(200, None), **more):
    """Both models fitted to 200 rows and tested on others, beside the class shares."""
    models = [one.fit(X[:200], Y[:200]) for one in (model, other, DummyClassifier())]
    told = predictions_by(tuple(models), X[rows], Y[rows], "binary", NAMES)
    given = {"setting": {"C": 1.0}, "default_setting": {"C": 2.0}, "metric": METRICS[metric]}
    return results_of(told, ComparisonContext("binary", NAMES, **{**given, **more}))


GOOD, BAD = LogisticRegression(), LogisticRegression(C=1e-6)


def score_all(estimator, X, y):
    return metric_scores(codes_of(y, NAMES), predict_all(estimator, X, NAMES), "binary")


def test_scores_and_counts_are_those_of_the_models():
    results = classified(GOOD, BAD)
    assert results["test"] == score_all(GOOD, X[200:], Y[200:])
    assert results["default_test"] == score_all(BAD, X[200:], Y[200:])
    expected = confusion_matrix(Y[200:], GOOD.predict(X[200:]), labels=NAMES).tolist()
    assert results["confusion"]["tuned"] == expected
    assert results["confusion"]["labels"] == ["no", "yes"]
    right = results["right"]
    assert right["rows"] == 400
    assert right["tuned"] / 400 == results["test"]["accuracy"]
    assert right["default"] / 400 == results["default_test"]["accuracy"]


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_a_gain_is_above_zero_whichever_way_the_metric_goes(metric):
    won, lost = classified(GOOD, BAD, metric), classified(BAD, GOOD, metric)
    assert won["gain"]["difference"] > 0
    assert won["gain"]["real"]
    assert 0 < won["gain"]["low"] < won["gain"]["difference"] < won["gain"]["high"]
    assert lost["gain"]["high"] < 0
    assert lost["gain"]["difference"] == -won["gain"]["difference"]
    assert any("default setting did better" in remark for remark in lost["remarks"])
    low, high = won["test_interval"]
    assert low < won["test"][metric] < high


def test_equal_models_gain_nothing():
    results = classified(GOOD, GOOD, default_setting={"C": 1.0})
    gain = results["gain"]
    assert (gain["difference"], gain["low"], gain["high"]) == (0.0, 0.0, 0.0)
    assert gain["real"] is False
    assert results["remarks"] == ["No setting that was tried was better than the default one."]


def test_optimism_is_how_much_better_validation_looked():
    results = classified(GOOD, BAD, validation={"accuracy": 0.99})
    assert results["optimism"] == pytest.approx(0.99 - results["test"]["accuracy"])
    assert any("The validation score was" in remark for remark in results["remarks"])
    loss = classified(GOOD, BAD, "log_loss", validation={"log_loss": 0.1})
    assert loss["optimism"] == pytest.approx(loss["test"]["log_loss"] - 0.1)
    assert classified(GOOD, BAD)["optimism"] is None


def test_calibration_bins_agree_with_scikit_learn():
    results = classified(GOOD, BAD)
    chance = GOOD.predict_proba(X[200:])[:, 1]
    observed, predicted = calibration_curve(CODES[200:], chance, n_bins=10)
    assert results["calibration"]["predicted"] == pytest.approx(predicted.tolist())
    assert results["calibration"]["observed"] == pytest.approx(observed.tolist())
    assert sum(results["calibration"]["counts"]) == 400
    assert classified(SVC(), BAD)["calibration"] is None


def test_few_rows_are_said():
    remarks = classified(GOOD, BAD, rows=slice(200, 220))["remarks"]
    assert "The test set has only 20 rows, so these scores are rough." in remarks


def test_regression_shows_at_most_500_predictions_and_is_plain_json():
    numbers, y = make_regression(900, 4, noise=3.0, random_state=0)
    models = [Ridge(alpha).fit(numbers[:200], y[:200]) for alpha in (1.0, 300.0)]
    models.append(DummyRegressor().fit(numbers[:200], y[:200]))
    told = predictions_by(tuple(models), numbers[200:], y[200:], "regression", ())
    settings = {"alpha": np.float64(1.0)}, {"alpha": 300.0}
    validation = {"r2": float("nan")}
    results = results_of(
        told, ComparisonContext("regression", (), METRICS["r2"], *settings, validation)
    )
    pairs = results["predictions"]
    assert len(pairs["actual"]) == len(pairs["tuned"]) == 500
    assert (
        dict(zip(y[200:], models[0].predict(numbers[200:]), strict=True)).items()
        >= dict(zip(pairs["actual"], pairs["tuned"], strict=True)).items()
    )
    assert results["validation"] == {"r2": None}
    assert json.loads(json.dumps(to_plain(results), allow_nan=False)) == to_plain(results)
    assert "confusion" not in results
