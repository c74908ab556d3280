"""Every model builds, fits its tasks, starts at scikit-learn's defaults, and scripts itself."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR

from core.estimators.facts import uncapitalized
from core.estimators.fitting import fit_with_remarks
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, is_installed
from core.estimators.registry import MODELS
from core.estimators.tables.curved_models import scale_gamma
from core.estimators.tables.library_wrappers import CodedClassifier, DoubleRegressor
from core.space import default_setting, setting_at, unit_vector

LIBRARIES = ("lightgbm", "xgboost", "catboost")  # other than scikit-learn
ELSEWHERE = ("sequence", "structure", "topics")  # what takes no tables of numbers
CASES = [
    (name, task) for name, model in MODELS.items() for task in model.tasks if task not in ELSEWHERE
]
cases = pytest.mark.parametrize(("name", "task"), CASES)


def installed(name):
    """Skips the test where the model needs packages that are not there."""
    part = OPTIONAL_DEPENDENCIES.get(MODELS[name].extra)
    if part is not None and not is_installed(part.extra):
        pytest.skip(f"{' and '.join(part.modules)} not installed (the extra {part.extra})")


def data_for(task):
    if task == "regression":
        return make_regression(90, 6, noise=5.0, random_state=0)
    classes = 2 if task == "binary" else 3
    return make_classification(
        90, 6, n_informative=4, n_classes=classes, class_sep=2.0, random_state=0
    )


def inner(estimator):
    estimator = getattr(estimator, "regressor", estimator)
    return (
        estimator.estimator
        if isinstance(estimator, (CodedClassifier, DoubleRegressor))
        else estimator
    )


def test_the_registry_has_the_models_under_their_own_names():
    linear = ["linear", "logistic", "logistic-l1l2", "elastic-net"]
    trees = ["svm", "forest", "extra-trees", "boosting", "lightgbm", "xgboost", "catboost"]
    tables = [*linear, *trees, "mlp", "knn", "naive-bayes", "vote7", "dlgm"]
    assert [name for name in MODELS if name not in ("crf", "rna", "lda", "auto")] == tables
    assert all(model.name == name for name, model in MODELS.items())


@cases
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_fits_and_predicts_better_than_a_constant(name, task, form):
    model = MODELS[name]
    if form == "sparse" and name in LIBRARIES:
        pytest.skip("the preparation gives it dense columns")
    if form == "sparse" and not model.takes_sparse:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            model.build(task, default_setting(model.space(task)), 0).fit(
                sparse.csr_matrix(np.eye(9)), np.arange(9) % 2
            )
        return
    installed(name)
    X, y = data_for(task)
    X = sparse.csr_matrix(X) if form == "sparse" else X
    estimator, again = (model.build(task, default_setting(model.space(task)), 3) for _ in range(2))
    fit_with_remarks(estimator, X, y)
    chance = 0.0 if task == "regression" else np.bincount(y).max() / len(y)
    assert estimator.score(X, y) > chance + 0.1
    if form == "dense":
        fit_with_remarks(again, X, y)  # the same seed gives the same model
        np.testing.assert_array_equal(estimator.predict(X), again.predict(X))


@cases
def test_default_setting_is_scikit_learns(name, task):
    if name in LIBRARIES:
        pytest.skip("another library's (tests/core/estimators/test_boosted.py)")
    model = MODELS[name]
    space = model.space(task)
    built = inner(model.build(task, default_setting(space), 0))
    own = {
        key: parameter.default
        for key, parameter in inspect.signature(type(built)).parameters.items()
    }
    for key, value in built.get_params().items():
        if key in ("random_state", "n_jobs", "solver", "tol", "max_iter", "gamma"):
            continue
        if (name, key) == ("elastic-net", "alpha"):  # in the unit of the target here
            continue
        assert value == own[key], key
    if name in ("boosting",):
        assert built.max_iter == own["max_iter"]


@cases
def test_defaults_lie_inside_their_ranges(name, task):
    for axis in MODELS[name].space(task):
        if axis.kind == "choice":
            assert axis.default in axis.choices
        else:
            assert axis.low <= axis.default <= axis.high
        assert axis.label


@cases
def test_the_script_gives_an_equal_estimator(name, task):
    if name in LIBRARIES:
        installed(name)
    model = MODELS[name]
    space = model.space(task)
    width = sum(axis.width for axis in space)
    for unit in (unit_vector(space, default_setting(space)), np.full(width, 0.73)):
        setting = setting_at(space, unit)
        imports, expression = model.script(task, setting, 11)
        names: dict = {}
        exec(imports, names)
        rebuilt = eval(expression, names)
        built = model.build(task, setting, 11)
        assert type(rebuilt) is type(built)
        objects = ("regressor", "transformer", "estimator")
        plain = {k: v for k, v in built.get_params().items() if k not in objects}
        again = rebuilt.get_params()
        # A missing value that is NaN equals itself nowhere but in its text.
        assert repr(plain) == repr({key: again[key] for key in plain})


@cases
def test_the_corners_of_the_space_can_be_built_and_fitted(name, task):
    installed(name)
    model = MODELS[name]
    space = model.space(task)
    X, y = data_for(task)
    width = sum(axis.width for axis in space)
    for corner in (np.zeros(width), np.ones(width)):
        setting = setting_at(space, corner)
        if "n_estimators" in setting:
            setting["n_estimators"] = min(setting["n_estimators"], 30)
        estimator = model.build(task, setting, 0)
        fit_with_remarks(estimator, X, y)
        assert np.isfinite(estimator.score(X, y))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("machine", [SVC, SVR])
def test_scale_gamma_is_what_scikit_learn_computes(form, machine):
    generator = np.random.default_rng(0)
    X = form(generator.normal(1.0, 3.0, (40, 7)) * (generator.random((40, 7)) < 0.4))
    y = np.arange(40) % 2
    assert scale_gamma(X) == pytest.approx(machine(gamma="scale").fit(X, y)._gamma, rel=1e-12)


def test_scale_gamma_of_constant_columns_stays_in_range():
    assert scale_gamma(np.ones((5, 3))) == 1.0
    assert MODELS["svm"].defaults("binary", np.full((4, 2), 1e9) * np.arange(4)[:, None]) == {
        "gamma": 1e-6
    }


def test_a_solver_that_does_not_settle_is_a_remark_and_no_failure():
    X, y = data_for("binary")
    remarks = fit_with_remarks(LogisticRegression(max_iter=1), X, y)
    assert len(remarks) == 1
    assert "limit of iterations" in remarks[0]
    assert fit_with_remarks(LogisticRegression(), X, y) == ()


def test_other_warnings_are_passed_on():
    class Noisy:
        def fit(self, X, y):
            warnings.warn("unsettled", ConvergenceWarning, stacklevel=1)
            warnings.warn("look here", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="look here"):
        fit_with_remarks(Noisy(), None, None)


def test_titles_inside_a_sentence_keep_their_names():
    said = {"Random forest": "random forest", "LightGBM": "LightGBM", "XGBoost": "XGBoost"}
    said |= {"k nearest neighbours": "k nearest neighbours"}
    said |= {"Deep latent Gaussian model": "deep latent Gaussian model"}
    assert {title: uncapitalized(title) for title in said} == said
