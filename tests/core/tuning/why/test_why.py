"""Answers about the tested model against scikit-learn's own, and which settings mattered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import accuracy_score, confusion_matrix

from core.datasets.task import Task
from core.errors import UnusableError
from core.space import Axis
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.tune import tune
from core.tuning.why import column_importance
from core.tuning.why.answer_types import LearningCurve, LearningGain, LearningSize
from core.tuning.why.answers import answers, keep_answer, kept_answer
from core.tuning.why.column_importance import ColumnPermuter
from core.tuning.why.setting_importance import _MIN_RESAMPLES, RESAMPLES, setting_importance
from core.tuning.why.tested_model import fit_tested_model


def made(tmp_path, table, model="logistic", test_size=0.3):
    """The folder of a run on a table, and its tested model."""
    table.to_csv(tmp_path / "data.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "data.csv"), test_size=test_size), model, "mm")
    folder, dataset = RunFolder.create(plan, path=tmp_path / "run"), read_data(plan.data)
    list(tune(plan, dataset, folder=folder))
    return folder, fit_tested_model(folder, dataset)


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
def of_two_classes(tmp_path_factory):
    return made(tmp_path_factory.mktemp("two"), classes_table())


@pytest.fixture(scope="module")
def two(of_two_classes):
    return of_two_classes[1]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    rng = np.random.default_rng(6)
    table = pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "noise"])
    table["target"] = 3 * table["a"] + table["b"] + 2 * rng.standard_normal(200)
    return made(tmp_path_factory.mktemp("numbers"), table, "linear")[1]


def test_only_test_rows_are_asked_about_and_the_model_never_saw_them(two):
    (part,), features = two.folds, two.dataset.features
    train_rows = part.problem.train_rows
    assert not set(part.rows) & set(train_rows)
    pd.testing.assert_frame_equal(part.X, features.iloc[part.rows])
    # What its preparation learned are the training rows' means, not those of all rows.
    _, numbers, names = part.pipeline[0].named_steps["columns"].transformers_[0]
    mean = numbers.named_steps["scale"].mean_[0]
    assert names[0] == "x"
    assert mean == pytest.approx(features["x"].iloc[train_rows].mean())
    assert mean != pytest.approx(features["x"].mean())
    # The score of the run is the one that falls.
    score = two.metric.score(two.y, two.predictions)
    assert score == pytest.approx(two.state.results["test"][two.metric.name])


@pytest.mark.parametrize("task", ["two", "numbers"])
def test_importance_is_scikit_learns_up_to_the_chance_of_shuffling(request, task):
    judged = request.getfixturevalue(task)
    (part,), dataset = judged.folds, judged.dataset
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
    judged = made(tmp_path, table)[1]
    (part,) = judged.folds
    prepared = ColumnPermuter(judged, [part], 2)._folds[0]
    for columns in [[at] for at in range(part.X.shape[1])] + [[0, 1, 3]]:
        shuffled = prepared.predict_shuffled(columns)
        for order, said in zip(prepared._orders, shuffled, strict=True):
            X = part.X.reset_index(drop=True).copy()
            for column in columns:
                X.isetitem(column, X.iloc[:, column].iloc[order].reset_index(drop=True))
            expected = part.pipeline.predict_proba(X)
            np.testing.assert_allclose(said.probabilities, expected, atol=1e-12)


def test_many_rows_have_the_interval_of_few_to_first_order(numbers, monkeypatch):
    ends = []
    for max_cells in (1e9, 0.0):
        monkeypatch.setattr(column_importance, "_WEIGHED", max_cells)
        loss = ColumnPermuter(numbers, numbers.folds, 5).importance_of([0])
        ends.append((loss["low"], loss["high"]))
    assert ends[0] == pytest.approx(ends[1], abs=0.2 * (ends[0][1] - ends[0][0]))


def test_more_rows_are_shuffled_where_there_is_time(tmp_path, monkeypatch):
    monkeypatch.setattr(column_importance, "MIN_ROWS", 50)
    judged = made(tmp_path, classes_table(800))[1]
    assert answer(judged, "importance")["rows"] == len(judged.y) == 240
    monkeypatch.setattr(column_importance, "SECONDS", 0.0)
    *_, found = answers(judged, "importance")
    assert (found["rows"], found["test_rows"]) == (50, 240)


def test_what_is_known_of_some_columns_is_told_before_all_are(two, monkeypatch):
    judged = two
    monkeypatch.setattr(column_importance, "_REPORT_SECONDS", 0.0)
    told = list(answers(judged, "importance"))
    assert [one["shuffled"] for one in told] == list(range(1, told[-1]["asked"] + 1))
    assert [one["done"] for one in told] == [False] * (len(told) - 1) + [True]
    assert len(told[0]["columns"]) == 1


def test_columns_that_say_the_same_are_shuffled_together(two):
    judged = two
    found = answer(judged, "importance")
    (alike,) = found["alike"]
    assert alike["names"] == ["x", "copy"]
    assert alike["least"] > 0.99
    both = next(one for one in found["groups"] if one["names"] == ["x", "copy"])
    alone = {one["names"][0]: one["mean"] for one in found["columns"]}
    assert both["mean"] > max(alone["x"], alone["copy"])
    assert both["low"] > 0


def test_a_linear_models_weights_stand_beside(two):
    (part,) = two.folds
    found = {one["names"][0]: one["weight"] for one in answer(two, "importance")["columns"]}
    w = part.pipeline[-1].coef_[0][:3].tolist()  # its columns are scaled already
    assert [found[name] for name in ("x", "copy", "noise")] == pytest.approx(w, rel=1e-6)


def test_partial_dependence_is_scikit_learns(two, numbers):
    for judged, name, method in ((two, "x", "predict_proba"), (numbers, "a", "auto")):
        (part,), found = judged.folds, answer(judged, "dependence", column=name)
        values = {name: np.array(found["grid"])}
        theirs = partial_dependence(
            part.pipeline, part.X, [name], kind="both", response_method=method, custom_values=values
        )
        np.testing.assert_allclose(found["mean"], theirs["average"][0], atol=1e-9)
        for row in found["rows"]:
            assert np.abs(theirs["individual"][0] - row).max(axis=1).min() < 1e-5
        assert sum(found["counts"]) == len(judged.y)


def test_partial_dependence_of_a_category(two):
    judged = two
    (part,) = judged.folds
    found = answer(judged, "dependence", column="colour")
    for word, mean, count in zip(found["words"], found["mean"], found["counts"], strict=True):
        rows = part.X.assign(colour=word)
        assert part.pipeline.predict_proba(rows)[:, 1].mean() == pytest.approx(mean)
        assert count == (part.X["colour"] == word).sum()


def test_counts_of_every_threshold_are_those_of_the_test_rows(two):
    judged = two
    found = answer(judged, "rows")
    assert found["labels"] == ["yes", "no"]
    assert found["scale"] == "probability"
    of = found["of"]["yes"]
    share = judged.predictions.probabilities[:, 1]
    for threshold, true, false in zip(of["thresholds"], of["true"], of["false"], strict=True):
        matrix = confusion_matrix(judged.y, share >= threshold, labels=[0, 1])
        assert (matrix[1, 1], matrix[0, 1]) == (true, false)


def test_the_worst_rows_are_quoted_from_their_lines(of_two_classes):
    folder, judged = of_two_classes
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
    judged = numbers
    (part,) = judged.folds
    found = answer(judged, "rows")
    predicted = part.pipeline.predict(part.X)
    np.testing.assert_allclose(found["residuals"]["predicted"], predicted)
    np.testing.assert_allclose(found["residuals"]["residual"], predicted - part.y)
    np.testing.assert_allclose(found["residuals"]["along"]["a"], part.X["a"])
    worst = np.abs(predicted - part.y).argmax()
    assert found["wrong"]["sure"][0] == pytest.approx((predicted - part.y)[worst])


def test_more_rows_help_where_they_do(numbers):
    judged = numbers
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


def test_answers_are_kept_for_the_results_that_they_are_of(of_two_classes):
    folder, judged = of_two_classes
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
        fit_tested_model(folder, read_data(folder.plan.data))


def test_wide_data_are_screened_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setattr(column_importance, "MAX_COLUMNS", 20)
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.standard_normal((150, 200))).add_prefix("gene ")
    table["target"] = np.where(table["gene 7"] + 0.3 * rng.standard_normal(150) > 0, "a", "b")
    found = answer(made(tmp_path, table)[1], "importance")
    assert (found["screened"], found["total"]) == (True, 200)
    assert len(found["columns"]) <= 20
    assert "gene 7" in {one["names"][0] for one in found["columns"]}


def test_of_outer_folds_every_row_is_asked_about_by_the_model_that_never_saw_it(tmp_path):
    judged = made(tmp_path, classes_table(80), test_size=None)[1]
    assert len(judged.folds) == judged.state.results["folds"] > 1
    assert sorted(judged.row_indices) == list(range(80))
    assert all(not set(p.rows) & set(p.problem.train_rows) for p in judged.folds)
    assert answer(judged, "importance")["rows"] == 80
    assert answer(judged, "dependence", column="x")["used"] == 80


A = Axis("a", "First", "float", 0.0, 1.0, default=0.5)
B = Axis("b", "Second", "float", 1e-3, 1e3, log=True, default=1.0)
C = Axis("c", "Third", "choice", choices=("x", None, "z"), default="x")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """As many as an importance_of needs at least: twenty take seconds."""
    monkeypatch.setattr("core.tuning.why.setting_importance.RESAMPLES", _MIN_RESAMPLES)


def run(score, axes=(A, B, C), count=80, extra=()):
    rng = np.random.default_rng(3)
    events = [RunStarted(plan={"model": "svm"}, space=list(axes))]
    for number in range(count):
        u, v, w = rng.random(3)
        setting = {"a": u, "b": 10 ** (6 * v - 3), "c": C.choices[int(3 * w)]}
        own = {axis.name: setting[axis.name] for axis in axes}
        events.append(TrialFinished(number=number, setting=own, score=score(u, v, int(3 * w))))
    return state_from_events([*events, *extra, RunFinished(results=Results(trials=count))])


def importance_of(state):
    return list(setting_importance(state))[-1]


def by_name(importance_of):
    return {setting["name"]: setting for setting in importance_of["settings"]}


def test_shares_are_those_of_the_variance():
    # Var(3u) = 9/12, Var(1.5v) = 2.25/12, and of the choice nothing: 0.8, 0.2, 0.
    found = importance_of(run(lambda u, v, w: 3 * u + 1.5 * v))
    settings = by_name(found)
    assert list(settings)[:2] == ["a", "b"]
    for name, share in (("a", 0.8), ("b", 0.2), ("c", 0.0)):
        assert settings[name]["share"] == pytest.approx(share, abs=0.1)
        assert settings[name]["low"] <= settings[name]["share"] <= settings[name]["high"]
    assert found["together"] < 0.1


def test_a_choice_can_matter_most_and_what_only_two_explain_together_is_said():
    first, *_ = importance_of(run(lambda u, v, w: float(w == 1) + 0.1 * u))["settings"]
    assert (first["name"], first["share"] > 0.8) == ("c", True)
    # (u − ½)(v − ½) has no main effects at all.
    assert importance_of(run(lambda u, v, w: (u - 0.5) * (v - 0.5), count=120))["together"] > 0.5


def test_few_trials_have_long_intervals():
    def wide(count):
        setting = by_name(importance_of(run(lambda u, v, w: 3 * u + 1.5 * v, count=count)))["a"]
        return setting["high"] - setting["low"]

    assert wide(12) > 1.5 * wide(120)


def test_what_cannot_be_told_is_said_in_a_sentence():
    assert "two settings" in importance_of(run(lambda u, v, w: u, axes=(A,)))["problem"]
    assert "10 trials" in importance_of(run(lambda u, v, w: u, count=9))["problem"]
    assert "no setting mattered" in importance_of(run(lambda u, v, w: 0.5))["problem"]


def test_failed_and_excluded_trials_do_not_count():
    bad = TrialFinished(number=20, setting={"a": 0.5, "b": 1.0, "c": "x"}, score=float("nan"))
    out = TrialExcluded(number=4)
    assert importance_of(run(lambda u, v, w: 3 * u, count=20, extra=[out, bad]))["of"] == 19


def test_of_very_many_trials_some_are_drawn(monkeypatch):
    monkeypatch.setattr("core.tuning.why.setting_importance.MAX_TRIALS", 40)
    found = importance_of(run(lambda u, v, w: 3 * u + 1.5 * v))
    assert (found["trials"], found["of"]) == (40, 80)


def test_what_is_known_so_far_is_told(monkeypatch):
    monkeypatch.setattr("core.tuning.why.setting_importance._REPORT_SECONDS", 0.0)
    told = list(setting_importance(run(lambda u, v, w: 3 * u + v, count=20)))
    assert [one["done"] for one in told] == [False] * (len(told) - 1) + [True]
    assert _MIN_RESAMPLES <= told[-1]["resamples"] <= RESAMPLES


def test_of_several_models_the_best_ones_settings_are_told():
    rng = np.random.default_rng(1)
    axis = Axis("model", "Model", "choice", choices=("svm", "knn"), default="svm")
    facts = DatasetFacts(task=Task.BINARY)
    events = [RunStarted(plan={"model": "auto"}, dataset=facts, space=[axis])]
    for number in range(0, 40, 2):
        C, gamma = 10 ** rng.uniform(-2, 3), 10 ** rng.uniform(-4, 1)
        svm = {"model": "svm", "C": C, "gamma": gamma}
        knn = {"model": "knn", "n_neighbors": 5, "weights": "uniform", "p": 2}
        score = float(0.6 + 0.05 * np.log10(C))
        events.append(TrialFinished(number=number, setting=svm, score=score))
        events.append(TrialFinished(number=number + 1, setting=knn, score=0.5))
    found = importance_of(state_from_events([*events, RunFinished(results=Results(trials=40))]))
    assert (found["model"], found["of"], found["settings"][0]["name"]) == ("svm", 20, "C")
