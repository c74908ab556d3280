"""Whole runs as estimators: scikit-learn's contract, types of tables, nothing left on disk."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import tunescope

QUICK = {"trials": 2, "strategy": "random"}
CLASSIFIER = tunescope.AutoClassifier(model="logistic", **QUICK)
REGRESSOR = tunescope.AutoRegressor(model="linear", **QUICK)


@pytest.fixture(autouse=True)
def no_copies(monkeypatch):
    """Runs end in this process: the copy costs more than they do."""
    from core.tuning.results import conclude

    monkeypatch.setattr(conclude, "stream_from_fork", lambda stream, *_, **__: stream)


@pytest.mark.slow
def test_scikit_learns_checks_of_a_classifier_pass():
    check_estimator(tunescope.AutoClassifier(model="logistic", strategy="mm"), on_skip=None)


@pytest.mark.slow
def test_scikit_learns_checks_of_regressors_alone_pass():
    """The others look at what both kinds share; `check_estimator` of a regressor runs all."""
    kinds = (clone(CLASSIFIER), tunescope.AutoRegressor(model="linear", strategy="mm"))
    shared, pairs = (list(estimator_checks_generator(estimator)) for estimator in kinds)
    names = {check.func.__name__ for _, check in shared}
    own = [pair for pair in pairs if pair[1].func.__name__ not in names]
    assert len(own) >= 4
    for estimator, check in own:
        check(clone(estimator))


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 120
    day = pd.date_range("2020-01-01", periods=n)
    frame = pd.DataFrame(
        {
            "level": pd.Categorical(rng.choice([1.0, 2.5, 3.0], n)),
            "code": pd.Series(rng.choice(["01", "1", "NA"], n), dtype="str"),
            "ok": rng.random(n) < 0.5,
            "day": day,
            "hour": day.tz_localize("Europe/Vienna") + pd.Timedelta("90min"),
            "zip": 10000 + rng.integers(0, 5, n),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            '<b>bold</b>, "quoted"': rng.normal(size=n),
            "target": rng.normal(size=n),
            "column 1": rng.normal(size=n),
        }
    )
    return frame, np.where(frame["ok"] ^ (rng.random(n) < 0.1), "yes", "no")


def test_types_of_a_table_are_the_columns_meaning(table):
    X, y = table
    model = clone(CLASSIFIER).fit(X, y)
    kinds = {c.name: c.kind_text for c in model.results_._finished.takeaway.columns}
    assert kinds == {
        "level": "category", "code": "category", "ok": "yes/no", "day": "date", "hour": "date",
        "zip": "number", "gap": "number", "column 7": "number", "column 8": "number",
        "column 9": "number", "target": "yes/no",
    }  # fmt: skip
    assert list(model.feature_names_in_) == list(X)
    assert model.score(X, y) > 0.8
    assert set(model.predict(X)) <= {"yes", "no"}
    # A row by itself is read as among the others.
    alone = [model.predict_proba(X.iloc[[row]])[0] for row in range(8)]
    assert np.allclose(alone, model.predict_proba(X)[:8])


def test_categories_that_were_never_seen_and_missing_cells_are_predicted(table):
    X, y = table
    model = clone(CLASSIFIER).fit(X, y)
    strange = X.iloc[:3].astype({"code": object, "level": object, "ok": object})
    strange.loc[strange.index[0], ["code", "level", "ok", "day"]] = ["new", 9.0, None, pd.NaT]
    assert np.isfinite(model.predict_proba(strange)).all()


@pytest.mark.parametrize(
    "labels",
    [
        [False, True], [0.0, 1.0, 3.0], [-1, 1], ["NA", "null", "x"], [" a", "a", ""],
        ["1.0", "1", "01"], ["2020-01-01", "2020-01-02"], ["5 kg", "6 kg"],
    ],
)  # fmt: skip
def test_labels_come_back_as_they_were(labels):
    X, codes = make_classification(
        120, 4, n_informative=3, n_redundant=0, n_classes=len(labels), n_clusters_per_class=1,
        class_sep=3.0, random_state=0,
    )  # fmt: skip
    y = np.array(labels)[codes]
    model = clone(CLASSIFIER).set_params(trials=1).fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.8
    order = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (order == model.predict(X)).mean() > 0.9


def test_an_array_has_the_columns_of_the_table_before_it():
    X, y = make_classification(60, 4, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(CLASSIFIER).fit(table, y)
    with pytest.warns(UserWarning, match="valid feature names"):
        predictions = fitted.predict(X)
    np.testing.assert_array_equal(predictions, fitted.predict(table))


def test_a_sparse_matrix_is_predicted_as_if_dense_whatever_columns_are_empty():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(100, 12)) * (rng.random((100, 12)) < 0.4)
    dense[:, -2:] = 0.0
    y = np.where(dense[:, 0] > 0, "up", "down")
    X = sparse.csr_array(dense)
    model = clone(CLASSIFIER).fit(X, y)
    assert model.score(X, y) > 0.8
    assert (model.predict(X) == model.predict(dense)).all()
    dense_model = clone(CLASSIFIER).fit(dense, y)
    assert (dense_model.predict(X) == dense_model.predict(dense)).all()


def test_in_pipelines_and_cross_validation_cloned_and_pickled():
    X, y = make_classification(120, 5, class_sep=2.0, random_state=0)
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIER))
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.7
    pipeline.fit(X, y)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    assert again[-1].results_._repr_html_() == pipeline[-1].results_._repr_html_()
    assert (
        again[-1].results_.trials["score"].tolist()
        == pipeline[-1].results_.trials["score"].tolist()
    )


def test_the_same_seed_gives_the_same_model():
    X, y = make_classification(100, 5, random_state=0)
    first, second = (clone(CLASSIFIER).fit(X, y).predict_proba(X) for _ in range(2))
    assert np.array_equal(first, second)


def test_nothing_is_left_on_disk_unless_a_run_is_asked_for(tmp_path, monkeypatch, own_history):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    X = pd.DataFrame({"x": np.arange(60.0), "z": np.arange(60) % 7})
    y = 3 * X["x"] + X["z"]
    model = clone(REGRESSOR).fit(X, y)
    assert model.score(X, y) > 0.99
    assert list((tmp_path / "temporary").iterdir()) == []
    assert list(own_history.parent.iterdir()) == []
    kept = clone(REGRESSOR).set_params(run=tmp_path / "run").fit(X, y)
    assert np.allclose(tunescope.open_run(tmp_path / "run").model.predict(X), kept.predict(X))
    with pytest.raises(ValueError, match="give another folder"):
        clone(kept).fit(X, y)


def test_a_class_of_one_row_has_no_probability():
    X, y = make_classification(80, 4, class_sep=3.0, random_state=0)
    model = clone(CLASSIFIER).fit(X, np.where(np.arange(80) == 7, 2, y))
    assert model.classes_.tolist() == [0, 1, 2]
    probabilities = model.predict_proba(X)
    assert (probabilities[:, 2] == 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1.0)


def test_settings_of_tune_and_refused_ones():
    X, y = make_classification(80, 4, random_state=0)
    model = clone(CLASSIFIER).set_params(settings={"folds": 3}).fit(X, y)
    assert model.results_.plan.folds == 3
    with pytest.raises(ValueError, match="there is no model “logistics”"):
        tunescope.AutoClassifier(model="logistics").fit(X, y)
    with pytest.raises(TypeError, match="did you mean “folds”"):
        tunescope.AutoClassifier(settings={"fold": 3}).fit(X, y)


def test_a_model_without_probabilities_offers_none():
    X, y = make_classification(60, 4, class_sep=2.0, random_state=0)
    svm = tunescope.AutoClassifier(model="svm", trials=1, strategy="random")
    assert not hasattr(svm.fit(X, y), "predict_proba")
    assert hasattr(svm.set_params(metric="log_loss").fit(X, y), "predict_proba")


def test_several_models_share_the_trials():
    X, y = make_classification(80, 4, class_sep=2.0, random_state=0)
    model = tunescope.AutoClassifier(trials=1).fit(X, y)
    assert model.score(X, y) > 0.7
    assert "<table>" in model.results_._repr_html_()
    assert Path(model.results_.run).exists() is False


def test_a_weight_of_two_is_the_row_twice_and_of_zero_none():
    X, y = make_classification(60, 4, class_sep=2.0, random_state=0)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    order = np.repeat(np.arange(60), counts)
    table = pd.DataFrame(X, index=range(60, 0, -1))
    weighted = clone(CLASSIFIER).fit(table, y, sample_weight=counts)
    repeated = clone(CLASSIFIER).fit(X[order], y[order])
    np.testing.assert_array_equal(weighted.predict_proba(table), repeated.predict_proba(X))


@pytest.mark.parametrize("weights", [np.full(60, 0.5), np.full(60, 1e9)])
def test_weights_that_count_no_rows_are_refused(weights):
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(ValueError, match="sample_weight says how often each row counts"):
        clone(REGRESSOR).fit(X, y, sample_weight=weights)


def test_no_processes_are_refused():
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(ValueError, match="n_jobs=0 is no number of processes"):
        clone(CLASSIFIER).set_params(n_jobs=0).fit(X, y)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, (), {3}, np.arange(2)])
def test_a_cell_of_several_values_is_refused_with_its_column(value):
    table = pd.DataFrame({"x": np.arange(60.0), "bag": pd.Series([1.5] * 60, dtype=object)})
    table.at[7, "bag"] = value
    sentence = rf"column “bag”, row 8: a cell is of type {type(value).__name__}"
    with pytest.raises(ValueError, match=sentence):
        clone(CLASSIFIER).fit(table, np.arange(60) % 2)
    with pytest.raises(tunescope.UnusableError, match=sentence):
        tunescope.read(table)
