"""The penalty learners as scikit-learn estimators: the conventions, and the numbers of a run."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import tunescope
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data, take_rows
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

LEARNERS = (
    tunescope.LogisticMM,
    tunescope.LogisticEvidence,
    tunescope.LogisticLOO,
    tunescope.LogisticDirect,
    tunescope.LogisticGradient,
    tunescope.RidgeMM,
    tunescope.RidgeEvidence,
    tunescope.RidgeDirect,
    tunescope.RidgeGradient,
)
CLASSIFIERS = [kind for kind in LEARNERS if kind.__name__.startswith("Logistic")]
REGRESSORS = [kind for kind in LEARNERS if kind.__name__.startswith("Ridge")]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([kind() for kind in LEARNERS])
def test_conventions_of_estimators(estimator, check):
    check(estimator)


def rows_of(kind, count=150):
    X, y = (
        load_breast_cancer(return_X_y=True)
        if kind in CLASSIFIERS
        else load_diabetes(return_X_y=True)
    )
    return StandardScaler().fit_transform(X[:count]), y[:count]


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_weights_minimize_the_penalized_loss(kind):
    """Of scikit-learn's own program at the learned penalties, and by the gradient's zero."""
    X, y = rows_of(kind)
    model = kind().fit(X, y)
    if kind in CLASSIFIERS:
        other = LogisticRegression(C=1 / model.penalties_[0], tol=1e-10, max_iter=10_000)
        np.testing.assert_allclose(other.fit(X, y).coef_, model.coef_, atol=1e-4, rtol=1e-4)
        residual = expit(X @ model.coef_[0] + model.intercept_) - y
        at_zero = X.T @ residual + model.penalties_[0] * model.coef_[0]
        np.testing.assert_allclose(at_zero, 0.0, atol=1e-4)
    else:
        other = Ridge(alpha=model.alphas_[0]).fit(X, y)
        np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(other.intercept_, model.intercept_)


@pytest.mark.parametrize("kind", LEARNERS)
def test_sparse_rows_give_the_same_numbers(kind):
    X, y = rows_of(kind)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, csr = kind().fit(X, y), kind().fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(dense.coef_, csr.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dense.penalties_, csr.penalties_, rtol=1e-4)
    np.testing.assert_allclose(dense.predict(X), csr.predict(sparse.csr_matrix(X)), rtol=1e-5)


def test_groups_by_number_by_name_and_by_column():
    X, y = rows_of(tunescope.LogisticMM)
    of_column = np.repeat([0, 1, 2], 10)
    by_number = tunescope.LogisticMM(of_column).fit(X, y)
    assert by_number.penalties_.shape == (3,)
    assert by_number.group_names_ == ["0", "1", "2"]
    names = [f"{'abc'[g]}_{k}" for k, g in enumerate(of_column)]
    table = pd.DataFrame(X, columns=names)
    by_prefix = tunescope.LogisticMM("prefix").fit(table, y)
    assert by_prefix.group_names_ == ["a", "b", "c"]
    assert by_prefix.feature_names_in_.tolist() == names
    mapping = {"first": names[:10], "second": names[10:20]}
    by_mapping = tunescope.LogisticMM(mapping).fit(table, y)
    assert by_mapping.group_names_ == ["first", "second", "other"]
    for other in (by_prefix, by_mapping):
        np.testing.assert_allclose(other.penalties_, by_number.penalties_)
    each = tunescope.LogisticMM("each").fit(table, y)
    assert each.penalties_.shape == (30,)
    np.testing.assert_array_equal(each.groups_, np.arange(30))


def test_groups_that_do_not_fit_are_refused_in_one_sentence():
    X, y = rows_of(tunescope.LogisticMM)
    with pytest.raises(ValueError, match=r"groups: 2 groups were given for 30 columns"):
        tunescope.LogisticMM([0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="did you mean prefix"):
        tunescope.LogisticMM("prefx").fit(X, y)
    with pytest.raises(ValueError, match="above 0"):
        tunescope.LogisticMM(beta=0).fit(X, y)


def test_a_step_limit_that_is_reached_warns():
    X, y = rows_of(tunescope.LogisticMM)
    with pytest.warns(UserWarning, match="max_iter"):
        tunescope.LogisticMM(max_iter=1).fit(X, y)


def test_in_pipelines_cross_validation_and_pickles():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), tunescope.LogisticLOO())
    assert cross_val_score(model, X, y).mean() > 0.9
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model[-1]).get_params() == model[-1].get_params()


def test_what_is_recommended_is_learned():
    X, y = rows_of(tunescope.LogisticMM)
    assert type(tunescope.learn_penalties(X, y)) is tunescope.LogisticLOO
    X, y = rows_of(tunescope.RidgeMM)
    learned = tunescope.learn_penalties(X, y, groups=np.arange(10) // 5)
    assert type(learned) is tunescope.RidgeEvidence
    assert learned.penalties_.shape == (2,)
    # Beyond what leaves one row out, with several groups: the evidence.
    wide = np.random.default_rng(0).normal(size=(2100, 700))
    labels = np.arange(2100) % 3
    kind = tunescope.recommended_learner(wide, labels, groups=np.arange(700) % 2)
    assert type(kind) is tunescope.LogisticEvidence
    assert type(tunescope.recommended_learner(wide, labels)) is tunescope.LogisticLOO
    with pytest.raises(ValueError, match="task"):
        tunescope.learn_penalties(X, y, task="clustering")


def test_words_are_classes_and_numbers_are_told_by_the_usual_guess():
    X, y = rows_of(tunescope.LogisticMM, 60)
    words = np.where(y == 1, "yes", "no")
    assert tunescope.learn_penalties(X, words).classes_.tolist() == ["no", "yes"]
    counts = np.random.default_rng(0).poisson(500, 60)
    assert type(tunescope.learn_penalties(X, counts)) is tunescope.RidgeEvidence


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Files with two blocks of columns, one of them noise; a category beside them for classes."""
    folder, random = tmp_path_factory.mktemp("tables"), np.random.default_rng(3)
    X = random.normal(size=(240, 8))
    names = [f"good_{k}" for k in range(4)] + [f"noise_{k}" for k in range(4)]
    table = pd.DataFrame(X, columns=names)
    signal = X[:, :4] @ [1.5, -1.0, 0.5, 2.0]
    table["y"] = np.round(10 * signal + 20 * random.normal(size=240), 4) + 100
    table.to_csv(folder / "numbers.csv", index=False)
    table["y"] = np.where(signal + random.normal(size=240) > 0, "up", "down")
    table["good_word"] = np.array(["red", "green", "blue"])[np.arange(240) % 3]
    table[[*names, "good_word", "y"]].to_csv(folder / "two.csv", index=False)
    table["y"] = np.array(["a", "b", "c"])[np.digitize(signal, [-1.5, 1.5])]
    table[[*names, "y"]].to_csv(folder / "three.csv", index=False)
    return folder


SAME = [
    ("two", "mm", tunescope.LogisticMM),
    ("two", "evidence", tunescope.LogisticEvidence),
    ("two", "loo", tunescope.LogisticLOO),
    ("two", "direct", tunescope.LogisticDirect),
    ("three", "mm", tunescope.LogisticMM),
    ("three", "loo", tunescope.LogisticLOO),
    ("numbers", "mm", tunescope.RidgeMM),
    ("numbers", "evidence", tunescope.RidgeEvidence),
    ("numbers", "direct", tunescope.RidgeDirect),
]


def run_on(file, strategy, folder, **changes):
    """The pipeline of a run by prefix groups, its training rows prepared, their target, results."""
    data = DataPlan(str(file))
    dataset = read_data(data)
    model = "linear" if dataset.task == "regression" else "logistic"
    plan = Plan(data, model, strategy, groups="prefix", evaluation="test", refit=False, **changes)
    run = RunFolder.create(plan, path=folder)
    *_, last = tune(plan, dataset, folder=run)
    pipeline, rows = best_of(run), build_problem(plan, dataset).train_rows
    prepared = pipeline[:-1].transform(take_rows(dataset.features, rows))
    return pipeline[-1], prepared, dataset.target[rows], last.results["groups"]


@pytest.mark.parametrize(("name", "strategy", "kind"), SAME)
def test_the_same_numbers_as_a_run(tables, tmp_path, name, strategy, kind):
    fitted, X, y, learned = run_on(tables / f"{name}.csv", strategy, tmp_path / "run")
    own = kind((np.arange(X.shape[1]) // 4).clip(max=1) if name != "two" else of_two(X)).fit(X, y)
    np.testing.assert_allclose(own.coef_, fitted.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(own.intercept_, fitted.intercept_, rtol=1e-9)
    np.testing.assert_allclose(own.penalties_, list(learned.values()), rtol=1e-9)


def of_two(X):
    """good, noise, and the one-hot outputs of the word, which is good, at the end."""
    return np.array([0] * 4 + [1] * 4 + [0] * (X.shape[1] - 8))


@pytest.mark.parametrize("validation", ["holdout", "folds"])
@pytest.mark.parametrize(
    ("name", "kind"), [("three", tunescope.LogisticGradient), ("numbers", tunescope.RidgeGradient)]
)
def test_the_validation_gradient_on_the_same_parts(tables, tmp_path, validation, name, kind):
    """Without standardizing: a run standardizes anew on each part, which nobody else can know."""
    fitted, X, y, learned = run_on(
        tables / f"{name}.csv",
        "gradient",
        tmp_path / "run",
        standardize=False,
        options={"validation": validation},
    )
    own = kind(np.arange(8) // 4, validation=validation)
    if name == "numbers":
        own.set_params(target_spread=None)
    own.fit(X, y)
    np.testing.assert_allclose(own.coef_, fitted.coef_, rtol=1e-7)
    np.testing.assert_allclose(own.penalties_, list(learned.values()), rtol=1e-7)
