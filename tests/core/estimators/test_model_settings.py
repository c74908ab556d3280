"""Settings of several models: whose they are, and under which words they stand."""

from core.estimators.model_settings import (
    compare_settings,
    labels_of,
    model_and_values,
    noun_of,
    title_of,
)
from core.estimators.registry import MODELS

LABELS = {"svm": {"C": "Cost", "gamma": "Detail"}, "logistic": {"C": "Trust"}}


def side(model, tuned, default):
    rows = compare_settings(model, tuned, default, LABELS.__getitem__)
    return [(one.label, one.name, one.tuned, one.default) for one in rows]


def test_a_setting_of_several_names_its_model():
    assert model_and_values("auto", {"model": "svm", "C": 2.0}) == ("svm", {"C": 2.0})
    assert model_and_values("svm", {"C": 2.0}) == ("svm", {"C": 2.0})
    assert model_and_values("auto", {}) == ("auto", {})


def test_a_model_that_is_not_installed_keeps_its_name():
    assert (title_of("gone"), noun_of("gone"), labels_of("gone", "binary")) == ("gone", "gone", {})
    assert title_of("svm") == "Support vector machine"
    assert noun_of("svm") == "a support vector machine"
    assert labels_of("svm", "topics") == {}
    assert list(labels_of("forest", "binary"))[-1] == "class_weight"
    assert set(labels_of("forest", "regression")) < {
        a.name for a in MODELS["forest"].space("binary")
    } | {"class_weight"}


def test_settings_of_one_model_stand_axis_beside_axis():
    assert side("svm", {"C": 2.0, "gamma": 0.1}, {"C": 1.0, "gamma": 0.2}) == [
        ("Cost", "C", 2.0, 1.0),
        ("Detail", "gamma", 0.1, 0.2),
    ]
    several = side("auto", {"model": "svm", "C": 2.0, "gamma": 0.1}, {"model": "svm", "C": 1.0})
    assert several[0] == ("Model", "", "Support vector machine", "Support vector machine")
    assert several[1:] == [("Cost", "C", 2.0, 1.0), ("Detail", "gamma", 0.1, None)]


def test_settings_of_two_models_keep_their_own_words():
    found = side("auto", {"model": "svm", "C": 2.0, "odd": 3}, {"model": "logistic", "C": 1.0})
    assert found == [
        ("Model", "", "Support vector machine", "Logistic regression"),
        ("Cost", "C", 2.0, None),
        ("odd", "odd", 3, None),
        ("Trust", "C", None, 1.0),
    ]
