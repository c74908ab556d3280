"""The penalty learners as scikit-learn estimators: conventions, numbers of a run, weighted rows."""

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
from core.losses.registry import build_loss
from core.penalties.leave_one_out_loss import leave_one_out_loss
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import take_rows
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from tunescope.validation_splits import WeightedRows, merge_equal_rows

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
REGRESSORS = [kind for kind in LEARNERS if kind not in CLASSIFIERS]
# Each method once, of classes and of numbers: what the nine have of their own.
METHODS = (
    tunescope.LogisticMM,
    tunescope.RidgeEvidence,
    tunescope.LogisticLOO,
    tunescope.RidgeDirect,
    tunescope.LogisticGradient,
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([kind() for kind in METHODS])
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


def drawn(kind, rows, columns, seed=0):
    """Rows, a target, whole weights with zeros, and the rows as often as they count, shuffled."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    pull = X[:, :3] @ [2.0, -1.0, 0.5] + 0.7 * random.normal(size=rows)
    y = pull if kind in (*REGRESSORS, "linear") else np.digitize(pull, [-0.5, 1.0])
    if kind == "logistic":
        y = (pull > 0).astype(int)
    counts = random.integers(0, 4, rows)
    again = random.permutation(np.repeat(np.arange(rows), counts))
    return X, y, counts, again


def of(model):
    return {
        name: getattr(model, name)
        for name in ("penalties_", "coef_", "intercept_", "objective_", "switched_off_")
    }


@pytest.mark.parametrize(
    ("groups", "shape", "sparsely"),
    [(None, (60, 8), True), ("two", (60, 8), False), ("two", (25, 40), True)],
)
@pytest.mark.parametrize("kind", LEARNERS)
def test_whole_weights_are_repeated_rows(kind, groups, shape, sparsely):
    """Of several classes, of numbers, with groups, more columns than rows, and sparse rows."""
    X, y, counts, again = drawn(kind, *shape)
    if groups is not None:
        groups = (np.arange(shape[1]) > 3).astype(int)
    if sparsely:
        X = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
    weighted = kind(groups).fit(X, y, sample_weight=counts)
    repeated = kind(groups).fit(X[again], y[again])
    one, other = of(weighted), of(repeated)
    # With more columns than rows the minimum is flat: rows in another order move it as much.
    tall = shape[0] > shape[1]
    same, near = (1e-8, 1e-7) if tall else (1e-6, 1e-3)
    np.testing.assert_allclose(one.pop("objective_"), other.pop("objective_"), rtol=same)
    for name, value in other.items():
        np.testing.assert_allclose(one[name], value, rtol=near, atol=near, err_msg=name)


@pytest.mark.parametrize("kind", LEARNERS)
def test_weights_of_any_size_give_the_weighted_minimum(kind):
    """At the learned penalties scikit-learn's own weighted fit has the same coefficients."""
    X, y, _, _ = drawn("logistic" if kind in CLASSIFIERS else "linear", 80, 5)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 80)
    model = kind().fit(X, y, sample_weight=weights)
    if kind in CLASSIFIERS:
        other = LogisticRegression(C=1 / model.penalties_[0], tol=1e-12, max_iter=10_000)
    else:
        other = Ridge(alpha=model.alphas_[0])
    other.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-5, atol=1e-6)
    once = kind().fit(X, y)
    ones = kind().fit(X, y, sample_weight=np.ones(80))
    np.testing.assert_array_equal(once.coef_, ones.coef_)
    assert not np.allclose(once.coef_, model.coef_)


def test_unusable_weights_are_refused_in_a_sentence():
    X, y, _, _ = drawn("linear", 10, 3)
    for weights, sentence in (
        (np.zeros(10), "weight"),
        (-np.ones(10), "[Nn]egative"),
        (np.ones(9), "inconsistent|shape"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tunescope.RidgeMM().fit(X, y, sample_weight=weights)
    labels = np.repeat([0, 1], 5)
    with pytest.raises(ValueError, match="one class only"):
        tunescope.LogisticMM().fit(X, labels, sample_weight=labels)


def test_learning_by_the_recommended_method_takes_weights():
    X, y, counts, again = drawn("logistic", 50, 4)
    one = tunescope.learn_penalties(X, y, sample_weight=counts)
    other = tunescope.learn_penalties(X[again], y[again])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7)


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("shape", [(30, 4), (9, 14)])
@pytest.mark.parametrize("name", ["linear", "logistic", "multinomial"])
def test_a_weighted_loss_is_that_of_repeated_rows(name, shape, sparsely):
    X, y, counts, again = drawn(name, *shape)
    some = counts > 0
    X = sparse.csr_matrix(X) if sparsely else X
    one = build_loss(name, X[some], y[some], weights=counts[some].astype(float))
    other = build_loss(name, X[again], y[again])
    random = np.random.default_rng(2)
    w, v = random.normal(size=(2, one.size))
    a, b = one.point_at(w), other.point_at(w)
    assert one.examples == other.examples
    np.testing.assert_allclose(a.value, b.value)
    for left, right in (
        (one.initial_weights(), other.initial_weights()),
        (a.gradient, b.gradient), (a.product(v), b.product(v)),
        (a.dense_hessian(), b.dense_hessian()), (a.diagonal(), b.diagonal()),
        (a.majorizer_product(v), b.majorizer_product(v)),
        (a.rough_product()(v), b.rough_product()(v)),
    ):  # fmt: skip
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)
    if name != "linear":
        samples = a.sampled_hessian(1), b.sampled_hessian(1)
        np.testing.assert_allclose(*samples, rtol=1e-9, atol=1e-9)
    if name == "multinomial":
        curvatures = a.sampled_curvature(1), b.sampled_curvature(1)
        np.testing.assert_allclose(*(c.gram for c in curvatures), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(*(c.S for c in curvatures), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 3), (12, 30)])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_rows_that_count_for_less_than_one_are_left_out_whole(name, shape):
    """Against a fit without each of them; a row that counts twice leaves one of its copies."""
    X, y, _, _ = drawn(name, *shape)
    counts = np.random.default_rng(3).choice([0.25, 0.8, 1.0, 2.5], shape[0])
    loss = build_loss(name, X, y, weights=counts)
    penalties = np.full(loss.size, 4.0)
    penalties[loss.design.column_count :: loss.design.width] = 0.0

    def minimum(weights):
        from core.optimize.descent import solve_penalized

        part = build_loss(name, X, y, weights=weights)
        return solve_penalized(
            part, penalties, part.initial_weights(), tolerance=1e-13, max_steps=200
        ).point.w

    expected = 0.0
    for row, count in enumerate(counts):
        less = counts.copy()
        less[row] = max(count - 1.0, 1e-12)
        expected += count * loss.for_data(X[[row]], y[[row]]).point_at(minimum(less)).value
    found = leave_one_out_loss(loss, minimum(counts), penalties).value
    assert found == pytest.approx(expected, rel=0.02)  # one Newton step is taken, not the whole way


def test_equal_rows_are_one_that_counts_as_often():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, -0.0], [1.0, 0.0]])
    y = np.array([1, 1, 1, 0])
    for rows in (X, sparse.csr_matrix(X)):
        one = merge_equal_rows(WeightedRows(rows, y))
        dense = one.X.toarray() if sparse.issparse(one.X) else one.X
        found = {(*x, t): s for x, t, s in zip(dense.tolist(), one.y, one.weights, strict=True)}
        assert found == {(1.0, 0.0, 1): 2.0, (2.0, 1.0, 1): 1.0, (1.0, 0.0, 0): 1.0}
        assert merge_equal_rows(WeightedRows(rows[[0, 1, 3]], y[[0, 1, 3]])).weights is None
