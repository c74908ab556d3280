"""No regression model's scores depend on the unit or the origin of the target."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from core.estimators.fitting import fit_with_remarks
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.space import default_setting, setting_at, unit_vector

REGRESSORS = [
    name
    for name, model in MODELS.items()
    if "regression" in model.tasks and (not model.extra or is_installed(model.extra))
]
UNITS = [(2.0**-10, 0.0), (1e3, 5.0), (1e-140, 0.0), (1e140, 0.0)]
# Where two splits of a tree are equally good, the rounding of the target decides between them.
TOLERANCE = {"forest": 0.05, "extra-trees": 0.05}


def scored(name, setting, y):
    X = StandardScaler().fit_transform(make_friedman1(160, 8, random_state=3)[0])
    estimator = MODELS[name].build("regression", setting, 0)
    fit_with_remarks(estimator, X[:110], y[:110])
    return r2_score(y[110:], estimator.predict(X[110:]))


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_score_is_the_same_in_every_unit_of_the_target(name):
    y = make_friedman1(160, 8, noise=0.5, random_state=3)[1]
    space = MODELS[name].space("regression")
    middle = setting_at(space, np.full(len(unit_vector(space, default_setting(space))), 0.4))
    assert scored(name, default_setting(space), y) > 0.4
    for setting in (default_setting(space), middle):
        if "n_estimators" in setting:
            setting["n_estimators"] = 20
        here = scored(name, setting, y)
        for factor, shift in UNITS:
            there = scored(name, setting, factor * y + shift)
            assert there == pytest.approx(here, abs=TOLERANCE.get(name, 2e-3)), factor


def test_a_setting_in_the_unit_of_the_target_still_gives_what_it_gave():
    y = make_friedman1(160, 8, noise=0.5, random_state=3)[1]
    old = MODELS["elastic-net"].build("regression", {"alpha": 0.3, "l1_ratio": 0.5}, 0)
    assert type(old).__name__ == "ElasticNet"
    assert old.alpha == 0.3
    now = MODELS["elastic-net"].build("regression", {"standard_alpha": 0.3, "l1_ratio": 0.5}, 0)
    X = make_friedman1(160, 8, random_state=3)[0]
    z = (y - y.mean()) / y.std()
    np.testing.assert_allclose(
        now.fit(X, y).predict(X), y.mean() + y.std() * old.fit(X, z).predict(X)
    )
