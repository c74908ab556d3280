"""Models of LightGBM, XGBoost and CatBoost, and the same as scikit-learn's, which are kept."""

from __future__ import annotations

import importlib
import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import FixedThresholdClassifier

from core.errors import UnusableError
from core.estimators.averages.table_average import average_models
from core.estimators.boosted import READERS, is_boosted, last_rounded_to
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import EXPORTED
from core.estimators.stored.plain_model import kept_model, plain_model
from core.space import default_setting, setting_at, unit_vector

LIBRARIES = ("lightgbm", "xgboost", "catboost")
TASKS = ("regression", "binary", "multiclass")
EXACT = {"lightgbm": 1e-13, "xgboost": 5e-6, "catboost": 1e-13}  # XGBoost adds up in single
CLASSES = np.array(["low", "middle", "top"], dtype=object)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    if not is_installed(request.param):
        pytest.skip(f"{request.param} is not installed (the extra {request.param})")
    return str(request.param)


def data_of(task: str, rows: int = 240) -> tuple[np.ndarray, np.ndarray]:
    if task == "regression":
        X, y = make_regression(rows, 6, noise=5.0, random_state=0)
        return X, 1e3 + 40 * y
    kinds = 2 if task == "binary" else 3
    X, y = make_classification(rows, 6, n_informative=4, n_classes=kinds, random_state=0)
    return X, CLASSES[y]


def estimator_of(name: str, task: str, **setting: Any) -> Any:
    default = default_setting(MODELS[name].space(task))
    return MODELS[name].build(task, {**default, **setting}, 3)


def said_by(model: Any, X: np.ndarray) -> np.ndarray:
    said: np.ndarray = getattr(model, "predict_proba", model.predict)(X)
    return said


def check_same(new: Any, old: Any, X: np.ndarray, exact: float) -> None:
    here, there = said_by(new, X), said_by(old, X)
    np.testing.assert_allclose(here, there, rtol=0, atol=exact * max(1.0, np.std(there)))
    if hasattr(old, "classes_"):
        assert new.classes_.tolist() == old.classes_.tolist()
        assert new.predict(X).tolist() == old.predict(X).tolist()


@pytest.mark.parametrize("task", TASKS)
def test_what_is_kept_is_scikit_learns_and_predicts_the_same(
    library: str, task: str, tmp_path: Path
) -> None:
    X, y = data_of(task)
    model = estimator_of(library, task).fit(X[:180], y[:180])
    kept = kept_model(model)
    check_same(kept, model, X, EXACT[library])
    with (tmp_path / "model.skops").open("wb") as file:
        assert archive.dump_model(kept, file) <= EXPORTED
    again = archive.load_model(tmp_path / "model.skops", EXPORTED)
    assert said_by(again, X).tolist() == said_by(kept, X).tolist()


@pytest.mark.parametrize("place", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("task", TASKS)
def test_it_is_the_same_all_over_the_space(library: str, task: str, place: float) -> None:
    X, y = data_of(task, 100)
    space = MODELS[library].space(task)
    setting = setting_at(space, np.full(len(unit_vector(space, default_setting(space))), place))
    model = estimator_of(library, task, **setting).fit(X, y)
    check_same(kept_model(model), model, X, 20 * EXACT[library])


def test_the_model_is_the_librarys_fitted_directly(library: str) -> None:
    module = importlib.import_module(library)
    X, y = data_of("multiclass")
    codes = np.unique(y, return_inverse=True)[1]
    quiet = {
        "lightgbm": {"verbosity": -1, "n_jobs": 1, "random_state": 3},
        "xgboost": {"n_jobs": 1, "random_state": 3},
        "catboost": {
            **{"verbose": False, "allow_writing_files": False, "thread_count": 1},
            **{"random_seed": 3, "iterations": 300, "learning_rate": 0.2},
        },
    }
    kind = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier"}
    own = getattr(module, kind.get(library, "CatBoostClassifier"))(**quiet[library]).fit(X, codes)
    ours = kept_model(estimator_of(library, "multiclass").fit(X, y))
    np.testing.assert_allclose(ours.predict_proba(X), own.predict_proba(X), rtol=0, atol=1e-6)


def test_values_at_the_thresholds_fall_where_the_library_lets_them(library: str) -> None:
    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(300, 3)), 1)  # zeros, and many rows of one value
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=300) > 0, "yes", "no")
    model = estimator_of(library, "binary").fit(X, y)
    kept = kept_model(model)
    nodes = np.concatenate([one.nodes for (one,) in kept._predictors])
    inner = nodes[nodes["is_leaf"] == 0]
    rows = random.normal(size=(len(inner), 3))
    at = np.arange(len(inner)), inner["feature_idx"]
    for change in (lambda x: x, lambda x: np.nextafter(x, np.inf), lambda x: -x):
        rows[at] = change(inner["num_threshold"])
        check_same(kept, model, rows, EXACT[library])


def test_models_inside_others_are_turned_too(library: str) -> None:
    X, y = data_of("binary")
    members = [
        (f"trial {n}", estimator_of(library, "binary", learning_rate=rate).fit(X, y))
        for n, rate in enumerate((0.05, 0.2))
    ]
    vote = average_models("binary", members, (0.3, 0.7), ("low", "middle"))
    decided = FixedThresholdClassifier(vote, threshold=0.4, pos_label="middle").fit(X, y)
    plain = plain_model(decided)
    assert archive.dump_model(plain, io.BytesIO()) <= EXPORTED
    assert plain.predict(X).tolist() == decided.predict(X).tolist()
    assert type(decided.estimator_.estimators_[0]) is type(members[0][1])  # untouched


def test_a_rare_class_weighs_more_where_it_is_asked_to(library: str) -> None:
    X, y = data_of("binary", 400)
    rare = np.flatnonzero(y == "middle")[8:]
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)  # one row in 25
    few = {"n_estimators": 10, "iterations": 10, "learning_rate": 0.3}
    shares = [
        estimator_of(library, "binary", class_weight=weight, **few).fit(X, y).predict_proba(X)[:, 1]
        for weight in ("none", "balanced")
    ]
    assert shares[1].mean() > 2 * shares[0].mean()


def test_constant_columns_and_more_columns_than_rows(library: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 90))
    X[:, 5:80] = 1.0
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = estimator_of(library, "binary", min_child_samples=2).fit(X, y)
    assert model.score(X, y) > 0.9
    check_same(kept_model(model), model, X, EXACT[library])


def test_a_class_that_a_fold_lacks_is_no_class_of_its_model(library: str) -> None:
    X, y = data_of("multiclass")
    there = y != "middle"
    model = estimator_of(library, "multiclass").fit(X[there], y[there])
    assert model.classes_.tolist() == ["low", "top"]
    assert kept_model(model).classes_.tolist() == ["low", "top"]
    assert set(model.predict(X)) == {"low", "top"}


@pytest.mark.parametrize("name", ["xgboost", "catboost"])
def test_rows_of_one_class_are_refused_in_words(name: str) -> None:
    if not is_installed(name):
        pytest.skip(f"{name} is not installed (the extra {name})")
    X, _ = data_of("binary")
    with pytest.raises(ValueError, match="All rows are of one class"):
        estimator_of(name, "binary").fit(X, np.full(len(X), "low"))


def test_a_target_far_from_zero_loses_no_digits(library: str) -> None:
    X, y = data_of("regression")
    near, far = (estimator_of(library, "regression").fit(X, y + by) for by in (0.0, 1e8))
    spread = np.std(y)
    for new in (far, kept_model(far)):
        assert np.std(new.predict(X) - 1e8 - near.predict(X)) < 1e-3 * spread


def test_nothing_is_written_beside_the_program(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = data_of("binary", 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept_model(estimator_of(library, "binary").fit(X, y))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_trees_that_predict_otherwise_are_not_kept(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = READERS[library].read_trees
    shortened = replace(READERS[library], read_trees=lambda model: real(model)[:-5])
    monkeypatch.setitem(READERS, library, shortened)
    X, y = data_of("binary")
    model = estimator_of(library, "binary").fit(X, y)
    with pytest.raises(UnusableError, match=f"these trees of {library} cannot be written"):
        kept_model(model)


def test_models_of_scikit_learn_stay_as_they_are() -> None:
    X, y = data_of("binary", 60)
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
    assert kept_model(model) is model
    assert not is_boosted(model)
    assert not is_boosted(HistGradientBoostingRegressor())


def test_the_last_double_of_a_single_number() -> None:
    single = np.array([0.0, 1.0, -1.0, 0.1, 3.5e30, 1e-40, -7.25], dtype=np.float32)
    single = np.concatenate([single, np.nextafter(single, np.float32(np.inf))])
    last = last_rounded_to(single)
    assert np.all(last.astype(np.float32) <= single)
    assert np.all(np.nextafter(last, np.inf).astype(np.float32) > single)
