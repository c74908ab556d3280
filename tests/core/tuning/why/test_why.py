"""Answers about the tested model against scikit-learn's own on the same fitted model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import accuracy_score, confusion_matrix

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from core.tuning.why import column_importance
from core.tuning.why.answer_types import LearningCurve, LearningGain, LearningSize
from core.tuning.why.answers import answers, keep_answer, kept_answer
from core.tuning.why.column_importance import ColumnPermuter
from core.tuning.why.tested_model import fit_tested_model


def made(tmp_path, table, model="logistic", test_size=0.3):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    given = Plan(DataPlan(str(path), test_size=test_size), model, "mm")
    folder = RunFolder.create(given, path=tmp_path / "run")
    dataset = read_dataset(str(path))
    for _ in tune(given, dataset, folder=folder):
        pass
    folder.close()
    return folder, dataset


_LAST: dict = {}


def answer(judged, question, **options):
    """The last answer; of one model each question is asked once."""
    key = (id(judged), question, *options.values())
    if key not in _LAST:
        _LAST[key] = judged, list(answers(judged, question, **options))[-1]
    return _LAST[key][1]


def classes_table(rows=240):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(rows)
    table = pd.DataFrame({"x": x, "copy": x + 0.01 * rng.standard_normal(rows)})
    table["noise"] = rng.standard_normal(rows)
    table["colour"] = rng.choice(["red", "blue"], rows)
    table["target"] = np.where(x + 0.4 * rng.standard_normal(rows) > 0, "yes", "no")
    return table


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder, dataset = made(tmp_path_factory.mktemp("two"), classes_table())
    return folder, dataset, fit_tested_model(folder, dataset)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    rng = np.random.default_rng(6)
    table = pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "noise"])
    table["target"] = 3 * table["a"] + table["b"] + 2 * rng.standard_normal(200)
    folder, dataset = made(tmp_path_factory.mktemp("numbers"), table, "linear")
    return folder, dataset, fit_tested_model(folder, dataset)


def test_only_test_rows_are_asked_about_and_the_model_never_saw_them(two):
    _, dataset, judged = two
    (part,) = judged.folds
    assert not set(part.rows) & set(part.problem.train_rows)
    pd.testing.assert_frame_equal(part.X, dataset.features.iloc[part.rows])
    # What its preparation learned are the training rows' means, not those of all rows.
    x = dataset.features["x"].iloc[part.problem.train_rows]
    _, numbers, names = part.pipeline[0].named_steps["columns"].transformers_[0]
    assert names[0] == "x"
    scale = numbers.named_steps["scale"]
    assert scale.mean_[0] == pytest.approx(x.mean())
    assert scale.mean_[0] != pytest.approx(dataset.features["x"].mean())


def test_the_score_of_the_run_is_the_one_that_falls(two):
    _, _, judged = two
    found = judged.metric.score(judged.y, judged.predictions)
    assert found == pytest.approx(judged.state.results["test"][judged.metric.name])


@pytest.mark.parametrize("task", ["two", "numbers"])
def test_importance_is_scikit_learns_up_to_the_chance_of_shuffling(request, task):
    _, dataset, judged = request.getfixturevalue(task)
    (part,) = judged.folds
    y = dataset.target[part.rows]
    theirs = permutation_importance(part.pipeline, part.X, y, n_repeats=30, random_state=0)
    found = {one["names"][0]: one for one in answer(judged, "importance")["columns"]}
    for place, name in enumerate(dataset.feature_names):
        chance = 4 * theirs.importances_std[place] / np.sqrt(5) + 1e-9
        assert abs(found[name]["mean"] - theirs.importances_mean[place]) < chance
    assert found[dataset.feature_names[0]]["low"] > 0 or task == "two"  # x has a copy
    assert found["noise"]["low"] <= 0 <= found["noise"]["high"]


def test_shuffling_what_was_prepared_is_preparing_what_was_shuffled(tmp_path):
    rng = np.random.default_rng(5)
    table = classes_table(200)
    table["holes"] = np.where(rng.random(200) < 0.2, np.nan, rng.standard_normal(200))
    table["day"] = pd.Series(pd.date_range("2021-01-01", periods=200)).astype(str)
    table["note"] = [" ".join(rng.choice(list("abcdefgh"), 12)) + f" {i}" for i in range(200)]
    folder, dataset = made(tmp_path, table)
    (part,) = fit_tested_model(folder, dataset).folds
    judged = fit_tested_model(folder, dataset)
    shuffler = ColumnPermuter(judged, [part], 2)
    orders = shuffler._folds[0]._orders
    for columns in [[at] for at in range(part.X.shape[1])] + [[0, 1, 3]]:
        found = shuffler._folds[0].predict_shuffled(columns)
        for order, said in zip(orders, found, strict=True):
            X = part.X.reset_index(drop=True).copy()
            for column in columns:
                values = X.iloc[:, column].iloc[order].reset_index(drop=True)
                X.isetitem(column, values)
            expected = part.pipeline.predict_proba(X)
            np.testing.assert_allclose(said.probabilities, expected, atol=1e-12)


def test_many_rows_have_the_normal_interval_of_the_resampled_one(numbers, monkeypatch):
    _, _, judged = numbers
    drawn = ColumnPermuter(judged, judged.folds, 5).importance_of([0])
    monkeypatch.setattr("core.tuning.why.column_importance.MIN_NORMAL_ROWS", 10)
    normal = ColumnPermuter(judged, judged.folds, 5).importance_of([0])
    assert normal["mean"] == drawn["mean"]
    width = drawn["high"] - drawn["low"]
    assert abs(normal["low"] - drawn["low"]) < 0.2 * width
    assert abs(normal["high"] - drawn["high"]) < 0.2 * width


def test_more_rows_are_shuffled_where_there_is_time(tmp_path, monkeypatch):
    monkeypatch.setattr(column_importance, "MIN_ROWS", 50)
    folder, dataset = made(tmp_path, classes_table(800))
    judged = fit_tested_model(folder, dataset)
    assert answer(judged, "importance")["rows"] == len(judged.y) == 240
    monkeypatch.setattr(column_importance, "SECONDS", 0.0)
    *_, found = answers(judged, "importance")
    assert found["rows"] == 50
    assert found["test_rows"] == 240


def test_what_is_known_of_some_columns_is_told_before_all_are(two, monkeypatch):
    _, _, judged = two
    monkeypatch.setattr(column_importance, "_REPORT_SECONDS", 0.0)
    told = list(answers(judged, "importance"))
    assert [one["shuffled"] for one in told] == list(range(1, told[-1]["asked"] + 1))
    assert [one["done"] for one in told] == [False] * (len(told) - 1) + [True]
    assert len(told[0]["columns"]) == 1


def test_columns_that_say_the_same_are_shuffled_together(two):
    _, _, judged = two
    found = answer(judged, "importance")
    (alike,) = found["alike"]
    assert alike["names"] == ["x", "copy"]
    assert alike["least"] > 0.99
    both = next(one for one in found["groups"] if one["names"] == ["x", "copy"])
    alone = {one["names"][0]: one["mean"] for one in found["columns"]}
    assert both["mean"] > max(alone["x"], alone["copy"])
    assert both["low"] > 0


def test_a_linear_models_weights_stand_beside(two):
    _, _dataset, judged = two
    (part,) = judged.folds
    found = {one["names"][0]: one["weight"] for one in answer(judged, "importance")["columns"]}
    w = dict(zip(["x", "copy", "noise"], part.pipeline[-1].coef_[0], strict=False))
    for name, weight in w.items():
        assert found[name] == pytest.approx(weight, rel=1e-6)  # its columns are scaled already


def test_partial_dependence_is_scikit_learns(two, numbers):
    for (_, _, judged), name in ((two, "x"), (numbers, "a")):
        (part,) = judged.folds
        found = answer(judged, "dependence", column=name)
        theirs = partial_dependence(
            part.pipeline, part.X, [name], kind="both",
            response_method="auto" if name == "a" else "predict_proba",
            custom_values={name: np.array(found["grid"])},
        )  # fmt: skip
        np.testing.assert_allclose(found["mean"], theirs["average"][0], atol=1e-9)
        for row in found["rows"]:
            assert np.abs(theirs["individual"][0] - row).max(axis=1).min() < 1e-5
        assert sum(found["counts"]) == len(judged.y)


def test_partial_dependence_of_a_category(two):
    _, _, judged = two
    (part,) = judged.folds
    found = answer(judged, "dependence", column="colour")
    for word, mean, count in zip(found["words"], found["mean"], found["counts"], strict=True):
        rows = part.X.assign(colour=word)
        assert part.pipeline.predict_proba(rows)[:, 1].mean() == pytest.approx(mean)
        assert count == (part.X["colour"] == word).sum()


def test_counts_of_every_threshold_are_those_of_the_test_rows(two):
    _, _, judged = two
    found = answer(judged, "rows")
    assert found["labels"] == ["yes", "no"]
    assert found["scale"] == "probability"
    of = found["of"]["yes"]
    share = judged.predictions.probabilities[:, 1]
    for threshold, true, false in zip(of["thresholds"], of["true"], of["false"], strict=True):
        matrix = confusion_matrix(judged.y, share >= threshold, labels=[0, 1])
        assert (matrix[1, 1], matrix[0, 1]) == (true, false)


def test_the_worst_rows_are_quoted_from_their_lines(two):
    folder, _dataset, judged = two
    lines = Path(folder.plan.data.file).read_text().splitlines()
    wrong = answer(judged, "rows")["wrong"]
    assert wrong["counted"] == "line"
    assert wrong["headers"] == lines[0].split(",")
    accuracy = accuracy_score(judged.y, judged.predictions.labels)
    assert wrong["wrong"] == round((1 - accuracy) * len(judged.y))
    for line, cells in zip(wrong["lines"], wrong["rows"], strict=True):
        there = lines[line - 1].split(",")
        assert there[3:] == cells[3:]
        assert float(there[0]) == pytest.approx(cells[0])


def test_residuals_are_predicted_less_actual(numbers):
    _, _dataset, judged = numbers
    (part,) = judged.folds
    found = answer(judged, "rows")
    predicted = part.pipeline.predict(part.X)
    np.testing.assert_allclose(found["residuals"]["predicted"], predicted)
    np.testing.assert_allclose(found["residuals"]["residual"], predicted - part.y)
    np.testing.assert_allclose(found["residuals"]["along"]["a"], part.X["a"])
    worst = np.abs(predicted - part.y).argmax()
    assert found["wrong"]["sure"][0] == pytest.approx((predicted - part.y)[worst])


def test_more_rows_help_where_they_do(numbers):
    _, _, judged = numbers
    several = list(answers(judged, "learning"))
    assert len(several) == 5
    assert [one["done"] for one in several] == [False] * 4 + [True]
    sizes = several[-1]["sizes"]
    assert [one["rows"] for one in sizes] == [14, 35, 70, 105, 140]
    assert sizes[-1]["mean"] > sizes[0]["mean"]
    assert all(one["low"] <= one["mean"] <= one["high"] for one in sizes)
    score = judged.state.results["test"]["r2"]
    assert sizes[-1]["mean"] == pytest.approx(score)
    assert several[-1]["answer"] in ("yes", "unclear")


def test_answers_are_kept_for_the_results_that_they_are_of(two):
    folder, _, judged = two
    results = judged.state.results
    size = LearningSize(10, 0.5, float("nan"), 0.75, 3)
    curve = LearningCurve("accuracy", True, [size], gain=LearningGain(0.1, None, 0.2, 5, 10))
    as_kept = keep_answer(folder, results, "learning", curve)
    assert as_kept == replace(curve, sizes=[replace(size, low=None)])
    assert kept_answer(folder, results, "learning") == as_kept
    assert kept_answer(folder, replace(results, trials=7), "learning") is None
    (folder.path / "answers" / "learning.json").write_text("[1")
    assert kept_answer(folder, results, "learning") is None


def test_changed_data_are_refused(tmp_path):
    table = classes_table(60)
    folder, _ = made(tmp_path, table)
    table.iloc[:50].to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(UnusableError, match="changed since this run"):
        fit_tested_model(folder, read_dataset(str(tmp_path / "data.csv")))


def test_wide_data_are_screened_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setattr(column_importance, "MAX_COLUMNS", 20)
    rng = np.random.default_rng(8)
    X = rng.standard_normal((150, 200))
    table = pd.DataFrame(X, columns=[f"gene {at}" for at in range(200)])
    table["target"] = np.where(X[:, 7] + 0.3 * rng.standard_normal(150) > 0, "a", "b")
    folder, dataset = made(tmp_path, table)
    found = answer(fit_tested_model(folder, dataset), "importance")
    assert found["screened"]
    assert found["total"] == 200
    assert len(found["columns"]) <= 20
    assert "gene 7" in {one["names"][0] for one in found["columns"]}


def test_of_outer_folds_every_row_is_asked_about_by_the_model_that_never_saw_it(tmp_path):
    folder, dataset = made(tmp_path, classes_table(80), test_size=None)
    judged = fit_tested_model(folder, dataset)
    assert len(judged.folds) == judged.state.results["folds"] > 1
    assert sorted(judged.row_indices) == list(range(80))
    assert all(not set(p.rows) & set(p.problem.train_rows) for p in judged.folds)
    found = answer(judged, "importance")
    assert found["rows"] == 80
    assert answer(judged, "dependence", column="x")["used"] == 80
