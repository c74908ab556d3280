"""Regressors among several models: their predictions stay near the targets seen, in every form."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_regression

from core.estimators.averages.table_average import average_models
from core.estimators.bounded_regressor import MARGIN
from core.estimators.registry import MODELS, model_named
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import EXPORTED
from core.estimators.stored.plain_model import on_own_scale
from core.space import default_setting

NAMES = ("mlp", "linear", "elastic-net", "forest")


@pytest.fixture(scope="module")
def table():
    """Rows, a target around 40,000, and the rows with a width mistyped by 100 times."""
    X, y = make_regression(80, 4, noise=5.0, random_state=3)
    mistyped = X.copy()
    mistyped[:, 0] *= 100.0
    return X, 40_000.0 + 100.0 * y, mistyped


@pytest.fixture(scope="module")
def models(table):
    X, y, _ = table
    build = model_named("auto", probabilities=True).build  # as averages take it
    return {name: build("regression", {"model": name}, 0).fit(X, y) for name in NAMES}


def model_alone(name, X, y):
    setting = default_setting(MODELS[name].space("regression"))
    return MODELS[name].build("regression", setting, 0).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_a_mistyped_row_stays_within_the_margin(name, table, models):
    X, y, mistyped = table
    alone, span = model_alone(name, X, y), np.ptp(y)
    low, high = y.min() - MARGIN * span, y.max() + MARGIN * span
    for rows in (X, mistyped):
        expected = alone.predict(rows).clip(low, high)
        # Equally good splits of trees are decided by the last digits of the scaled target.
        exact = 0.05 if name == "forest" else 1e-3
        np.testing.assert_allclose(models[name].predict(rows), expected, atol=exact * span)
    if name != "forest":
        assert np.ptp(alone.predict(mistyped)) > 5 * (high - low)


def test_an_average_with_a_network_stays_within_the_margin(table, models, tmp_path):
    _, y, mistyped = table
    members = [(f"trial {n}", model) for n, model in enumerate(models.values())]
    average = average_models("regression", members, [0.4, 0.2, 0.2, 0.2], [])
    predictions, span = average.predict(mistyped), np.ptp(y)
    assert predictions.min() >= y.min() - MARGIN * span - 1e-6
    assert predictions.max() <= y.max() + MARGIN * span + 1e-6
    with (tmp_path / "average.skops").open("wb") as file:
        archive.dump_model(average, file)
    opened = archive.load_model(tmp_path / "average.skops", EXPORTED)
    np.testing.assert_array_equal(opened.predict(mistyped), predictions)


def test_the_script_makes_the_same_model(table, models):
    X, y, mistyped = table
    script = model_named("auto", probabilities=True).script
    imports, expression = script("regression", {"model": "mlp"}, 0)
    names: dict = {}
    exec(imports, names)  # the program's own lines
    model = eval(expression, names).fit(X, y)
    np.testing.assert_array_equal(model.predict(mistyped), models["mlp"].predict(mistyped))


@pytest.mark.parametrize("name", ["linear", "elastic-net"])
def test_weights_on_the_targets_own_scale(name, table, models):
    X = table[0]
    model, mean, unit = on_own_scale(models[name])
    by_weights = mean + unit * (X @ np.ravel(model.coef_) + model.intercept_)
    np.testing.assert_allclose(by_weights, models[name].predict(X), rtol=1e-9)
