"""A rare class: another score than accuracy, class weights in the space, and runs that began."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_events import tune_here as tune
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss

from core.datasets.summary import summarize
from core.estimators.registry import MODELS
from core.space import default_setting
from core.tuning.events import RunStarted, TrialStarted
from core.tuning.guidance.advice import advise
from core.tuning.guidance.forecast import estimate
from core.tuning.history.dataset_records import settings_in
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import as_first_started, build_problem, read_data
from core.tuning.scores.imbalance import RareClass, rare_class, recommended_metric

WEIGHING = ("logistic", "elastic-net", "svm", "forest", "extra-trees", "boosting")


def table(path, shares, rows=300):
    """Classes a and b with these shares, of which a column knows something."""
    random = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], np.round(np.array(shares) * rows).astype(int))
    frame = pd.DataFrame(random.normal(size=(len(labels), 4)), columns=["w", "x", "y", "z"])
    frame["w"] += 2.0 * (labels == "b")
    frame.round(3).assign(**{"class": labels}).to_csv(path, index=False)
    return DataPlan(str(path))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Tables in which a class is rare, and in which none is, with what was read of them."""
    folder = tmp_path_factory.mktemp("two")
    plans = table(folder / "rare.csv", (0.9, 0.1)), table(folder / "even.csv", (0.7, 0.3))
    return [(plan, read_data(plan)) for plan in plans]


def problem_of(data):
    return build_problem(Plan(data, "logistic", "random"), read_data(data))


@pytest.mark.parametrize(
    ("counts", "rare"),
    [
        ({"a": 98, "b": 2}, RareClass("b", 0.02)),
        ({"a": 81, "b": 19}, RareClass("b", 0.19)),
        ({"a": 80, "b": 20}, None),
        ({"a": 19, "b": 40, "c": 41}, RareClass("a", 0.19)),
        ({str(digit): 10 for digit in range(10)}, None),  # each a tenth, none rare
        ({**{str(digit): 10 for digit in range(9)}, "9": 1}, RareClass("9", 1 / 91)),
        ({"a": 50, "b": 0}, RareClass("b", 0.0)),
    ],
)
def test_which_class_is_rare(counts, rare):
    assert rare_class("binary" if len(counts) == 2 else "multiclass", counts) == rare
    assert rare_class("sequence", counts) is None
    assert rare_class("regression", {}) is None


def test_what_accuracy_hides_on_one_in_fifty(tmp_path):
    problem = problem_of(table(tmp_path / "t.csv", (0.98, 0.02), 1000))
    X, y = problem.test_data
    nothing = DummyClassifier().fit(*problem.training_data)
    model = problem.pipeline(problem.default).fit(*problem.training_data)
    assert nothing.score(X, y) >= 0.98
    assert model.score(X, y) - nothing.score(X, y) < 0.02
    assert problem.metric.name == "log_loss"
    losses = [log_loss(y, each.predict_proba(X)) for each in (model, nothing)]
    assert losses[0] < 0.85 * losses[1]


@pytest.mark.parametrize(
    "model", [n for n, m in MODELS.items() if "binary" in m.tasks and not m.extra and n != "auto"]
)
def test_a_rare_class_changes_the_score_and_the_space_of_every_model(two, model):
    rare, even = (build_problem(Plan(data, model, "random"), read) for data, read in two)
    assert rare.metric.name == ("auc" if MODELS[model].probabilistic else "log_loss")
    assert "10\u00a0%" in rare.metric_reason
    assert "“b”" in rare.metric_reason
    assert rare.metric.title.lower() in rare.metric_reason.lower()
    asked = build_problem(Plan(two[0][0], model, "random", metric="accuracy"), two[0][1])
    for problem in (even, asked):
        assert (problem.metric.name, problem.metric_reason) == ("accuracy", "")
    assert "class_weight" not in [axis.name for axis in even.space]
    assert ("class_weight" in [axis.name for axis in rare.space]) == (model in WEIGHING)
    if model in WEIGHING:
        assert rare.default["class_weight"] == "none"
        for given, expected in (("none", None), ("balanced", "balanced")):
            built = rare.model.build("binary", {**rare.default, "class_weight": given}, 0)
            weights = [v for k, v in built.get_params().items() if k.endswith("class_weight")]
            assert weights == [expected]
    if model == "logistic":
        assert estimate(Plan(two[0][0], model, "random"), two[0][1])["metric"] == "log_loss"


def test_costs_recommend_the_score_that_judges_probabilities():
    advised = recommended_metric("accuracy", None, probabilities=False, costs=True)
    assert advised.metric == "log_loss"
    assert recommended_metric("r2", None, probabilities=True).metric == "r2"
    rare = RareClass("b", 0.02)
    for several, words in ((False, "this model"), (True, "not every model")):
        chosen = recommended_metric("accuracy", rare, probabilities=False, several=several)
        assert chosen.metric == "auc"
        assert words in chosen.reason


def test_the_share_is_that_of_the_training_rows(tmp_path):
    train = table(tmp_path / "a.csv", (0.9, 0.1))
    table(tmp_path / "b.csv", (0.5, 0.5))
    both = replace(train, test_file=str(tmp_path / "b.csv"))
    assert problem_of(both).rare == RareClass("b", 0.1)


def test_penalty_learners_and_strategies_of_numbers_have_no_class_weights(two):
    data, dataset = two[0]
    for model, strategy in (("logistic", "evidence"), ("svm", "cma-es")):
        assert "class_weight" not in build_problem(Plan(data, model, strategy), dataset).default


def test_a_run_tries_them_and_its_stream_names_them(two):
    data, dataset = two[0]
    events = list(tune(Plan(data, "logistic", "random", trials=12, folds=3), dataset))
    started = events[0]
    assert started.metric == "log_loss"
    assert [axis["name"] for axis in started.space] == ["C", "class_weight"]
    tried = {e.setting["class_weight"] for e in events if isinstance(e, TrialStarted)}
    assert tried == {"none", "balanced"}
    assert "log loss" in events[-1].results["metric_reason"]


def test_the_guidance_counts_them_among_the_settings(two):
    for (_, dataset), count in zip(two, ("Five", "Four"), strict=True):
        offered = advise(summarize(dataset))["strategies"]["boosting"]
        assert next(e["reason"] for e in offered if e["recommended"]).startswith(count)
        assert "cma-es" in [entry["name"] for entry in offered]


def test_a_run_that_began_with_accuracy_goes_on_with_it(two):
    data, dataset = two[0]
    plan = Plan(data, "logistic", "gp", trials=4, folds=3)
    began = list(tune(plan.changed(metric="accuracy"), dataset))
    # As an earlier version left it: without a metric in its plan, or class weights in its space.
    past = [replace(began[0], plan=plan.as_dict(), space=list(MODELS["logistic"].space("binary")))]
    for event in began[1:]:
        if isinstance(getattr(event, "setting", None), dict):
            event = event.with_fields(setting={"C": event.setting["C"]})
        past.append(event)
    cut = next(i for i, e in enumerate(past) if isinstance(e, TrialStarted) and e.number == 2)
    events = list(tune(plan, dataset, past=past[:cut]))
    results = events[-1].results
    assert results["metric"] == "accuracy"
    assert "metric_reason" not in results
    settings = [e.setting for e in events if isinstance(e, TrialStarted)]
    assert settings
    assert all(set(setting) == {"C"} for setting in settings)


def test_an_elastic_net_in_the_unit_of_its_target_goes_on_in_it():
    data = DataPlan("sample:diabetes")
    plan, dataset = Plan(data, "elastic-net", "random", trials=2, folds=2), read_data(data)
    first_axis, *axes = MODELS["elastic-net"].space("regression")
    axes.insert(0, replace(first_axis, name="alpha", high=1e4, default=1.0))
    problem = as_first_started(build_problem(plan, dataset), RunStarted(metric="r2", space=axes))
    assert set(problem.default) == {"alpha", "l1_ratio"}
    assert type(problem.estimator(problem.default)).__name__ == "ElasticNet"


def test_records_with_and_without_class_weights_are_of_use_to_each_other():
    model = MODELS["logistic"]
    plain, weighed = model.space_of("binary"), model.space_of("binary", rare=True)
    assert settings_in(weighed, ("C",), [[2.0]]) == [{"C": 2.0, "class_weight": "none"}]
    rows = [[2.0, "none"], [3.0, "balanced"]]
    names = ("C", "class_weight")
    assert settings_in(plain, names, rows) == [{"C": 2.0}, None]
    both = [dict(zip(names, row, strict=True)) for row in rows]
    assert settings_in(weighed, names, rows) == both
    assert settings_in(weighed, ("C", "gamma"), [[1.0, 1.0]]) == [None]
    assert settings_in(plain, (), [[]]) == [None]
    assert default_setting(weighed)["class_weight"] == "none"
