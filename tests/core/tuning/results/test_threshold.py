"""The threshold by costs: the curve by hand, scikit-learn's own search, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_events import tune_here as tune
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from core.errors import UnusableError
from core.estimators.tables.linear_models import LOGISTIC
from core.export.finished_run import finished_run
from core.export.script.python_script import script_source
from core.tuning.events import ThresholdSelected
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.conclude import conclude, select_model
from core.tuning.results.result_facts import result_facts
from core.tuning.results.threshold import calibrated_threshold, choose_threshold
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.imbalance import costs_of


def mean_cost(is_second, called, costs):
    (_, false_second), (false_first, _) = confusion_matrix(is_second, called, labels=[False, True])
    return (costs[0] * false_second + costs[1] * false_first) / len(is_second)


def rare_table(path, rows, one_in):
    random, sick = np.random.default_rng(0), np.arange(rows) % one_in == 0
    columns = random.normal(size=(rows, 4)) + 1.5 * sick[:, None] * np.array([1, 1, 0, 0])
    table = pd.DataFrame(columns, columns=["a", "b", "c", "d"]).round(4)
    table["state"] = np.where(sick, "sick", "healthy")
    table.to_csv(path, index=False)
    return str(path)


def results_of(plan, folder=None):
    dataset = read_data(plan.data)
    return list(tune(plan, dataset, folder=folder))[-1].results, dataset


@pytest.mark.parametrize("seed", range(8))
def test_it_is_where_the_curve_by_hand_meets_the_costs(seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(20, 400))
    second, costs = random.beta(1, 3, rows), ((1.0, 1.0), (1.0, 20.0), (5.0, 1.0))[seed % 3]
    is_second = random.random(rows) < expit(0.6 * logit(second) + 0.5)
    weight = 1.0 if seed < 4 else 0.3

    def curve(p, w):
        return w[0] + w[1] * np.log(2 * p) - w[2] * np.log(2 * (1 - p))

    def loss(w):
        q = expit(curve(second, w))
        fit = -np.log(np.where(is_second, q, 1 - q)).sum()
        return weight * fit + w[0] ** 2 / 2 + 2 * ((w[1] - 1) ** 2 + (w[2] - 1) ** 2)

    w = minimize(loss, [0.0, 1.0, 1.0], method="Nelder-Mead", options={"maxiter": 4000}).x
    at = brentq(lambda z: curve(expit(z), w) - logit(costs[0] / sum(costs)), -20, 20)
    value = calibrated_threshold(second, is_second, costs, weight)
    assert logit(value) == pytest.approx(at, abs=0.02)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.5])
def test_probabilities_that_are_off_by_a_factor_are_put_right(scale):
    random = np.random.default_rng(1)
    true = random.beta(1, 2, 50_000)
    is_second = random.random(len(true)) < true
    value = calibrated_threshold(expit(scale * logit(true)), is_second, (1.0, 4.0))
    assert expit(logit(value) / scale) == pytest.approx(0.2, abs=0.02)


def test_ends_and_equal_probabilities_do_no_harm():
    few = np.arange(30) < 3
    assert calibrated_threshold(np.full(30, 0.1), few, (1.0, 0.0)) > 1
    assert calibrated_threshold(np.full(30, 0.1), few, (0.0, 1.0)) == 0
    # Always .5, where a tenth is true: called where the other mistake costs over some nine times.
    assert calibrated_threshold(np.full(30, 0.5), few, (1.0, 20.0)) < 0.5
    assert calibrated_threshold(np.full(30, 0.5), few, (1.0, 1.0)) > 0.5
    # Votes of 0 of which a tenth are true: every row is called, or none.
    votes = np.where(np.arange(300) < 5, 0.1, 0.0)
    assert calibrated_threshold(votes, np.arange(300) % 10 == 0, (1.0, 30.0)) == 0
    assert calibrated_threshold(votes, np.arange(300) % 10 == 0, (1.0, 2.0)) > 0


def test_scikit_learns_search_finds_no_cheaper_one(tmp_path):
    X, y = make_classification(600, 6, weights=[0.85], flip_y=0.1, random_state=2)
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["y"] = np.where(y == 1, "yes", "no")
    table.to_csv(tmp_path / "t.csv", index=False)
    costs = {"no": 1.0, "yes": 6.0}
    plan = Plan(DataPlan(str(tmp_path / "t.csv")), "logistic", "random", trials=1, costs=costs)
    results, dataset = results_of(plan)
    told, problem = results["costs"], build_problem(plan, dataset)
    prepared = problem.preparation().fit_transform(*problem.training_data)
    peer = TunedThresholdClassifierCV(
        LogisticRegression(max_iter=1000),
        scoring=make_scorer(lambda truth, called: -mean_cost(truth, called, (1.0, 6.0))),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        thresholds=500,
    ).fit(prepared, problem.training_data[1] == "yes")
    # The peer's is the least of all cuts on these rows, by the folds' mean curve.
    assert abs(told["out_of_fold"]["cost"] + peer.best_score_) < 0.03
    assert told["theoretical"] == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("model", "strategy"),
    [("logistic", "random"), ("logistic", "evidence"), ("svm", "random"), ("logistic", "eb-hyp")],
)
def test_a_threshold_by_costs_is_cheaper_than_one_half_on_a_rare_class(tmp_path, model, strategy):
    data, costs = DataPlan(rare_table(tmp_path / "t.csv", 1500, 20)), {"healthy": 1.0, "sick": 30.0}
    plan = Plan(
        data, model, strategy, trials=3, folds=3, costs=costs, evaluation="test", refit=False
    )
    folder = RunFolder.create(plan, path=tmp_path / "run")
    results, dataset = results_of(plan, folder)
    told = results["costs"]
    assert told["tuned"]["cost"] < told["half"]["cost"]
    assert told["tuned"]["cost"] < told["baseline"]["cost"]
    assert results["metric"] == "log_loss"
    # Labels, accuracy and the table of errors follow the threshold.
    pipeline, (X, y) = best_of(folder), build_problem(plan, dataset).test_data
    shares = pipeline.predict_proba(X)[:, 1]
    labels = np.where(shares >= told["threshold"], "sick", "healthy")
    assert (pipeline.predict(X) == labels).all()
    assert results["test"]["accuracy"] == (labels == y).mean()
    (_, false_second), (missed, _) = results["confusion"]["tuned"]
    assert told["tuned"]["mistakes"] == {"healthy": false_second, "sick": missed}
    assert told["tuned"]["cost"] == pytest.approx((false_second + 30 * missed) / len(y))
    assert told["half"]["mistakes"]["healthy"] == ((shares > 0.5) & (y == "healthy")).sum()
    always = told["baseline"]
    of_each = {"healthy": (y == "sick").sum() * 30, "sick": (y == "healthy").sum()}
    assert always["cost"] == pytest.approx(of_each[always["says"]] / len(y))
    # A run that is concluded from its events ends with the same.
    assert conclude(plan, dataset, folder.all_events()[:-1]).results["costs"] == told


def test_a_threshold_of_a_person_goes_with_the_model_until_it_is_taken_back(tmp_path):
    data = DataPlan(rare_table(tmp_path / "rare.csv", 300, 6), target="state")
    folder = RunFolder.create(Plan(data, "logistic", "random", trials=2), root=tmp_path)
    before, dataset = results_of(folder.plan, folder)
    plain = best_of(folder).predict(dataset.features)

    last = select_model(folder, ThresholdSelected(value=0.1), dataset)
    run = finished_run(folder)  # as every export and prediction opens it
    second = run.pipeline.predict_proba(dataset.features)[:, 1]
    assert list(run.pipeline.predict(dataset.features) == "sick") == list(second >= 0.1)
    assert (last.results.threshold, run.takeaway.threshold) == (0.1, 0.1)
    assert last.results.test["accuracy"] != before.test["accuracy"]
    facts = [fact.sentence for fact in result_facts(last.results, run.started)]
    assert any("0.1 was chosen by hand" in sentence for sentence in facts)
    assert "threshold=0.1, pos_label=" in script_source(run)
    assert select_model(folder, ThresholdSelected(), dataset).results.test == before.test
    assert list(best_of(folder).predict(dataset.features)) == list(plain)
    with pytest.raises(UnusableError, match="no probability"):
        select_model(folder, ThresholdSelected(value=1.5), dataset)


def test_the_test_rows_have_no_part_in_the_threshold(tmp_path):
    data = DataPlan(rare_table(tmp_path / "t.csv", 600, 10))
    plan = Plan(data, "logistic", "random", trials=1, costs={"sick": 9.0})
    results, dataset = results_of(plan)
    problem, target = build_problem(plan, dataset), dataset.target.copy()
    target[problem.test_rows] = target[problem.test_rows][::-1]
    changed = replace(problem, dataset=replace(dataset, target=target))
    value = choose_threshold(changed, changed.pipeline(changed.default)).value
    assert value == pytest.approx(results["costs"]["threshold"])
    assert "costs" not in results_of(plan.changed(costs={}))[0]


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"ill": 2.0}, "there is no class “ill”"),
        ({"sick": -1.0}, "“-1” is no cost"),
        ({"sick": float("nan")}, "“nan” is no cost"),
        ({"sick": 0.0, "healthy": 0.0}, "both kinds of mistakes cost nothing"),
    ],
)
def test_bad_costs_are_refused_and_a_class_that_is_not_named_costs_one(tmp_path, costs, said):
    dataset = read_data(DataPlan(rare_table(tmp_path / "t.csv", 100, 10)))
    assert costs_of({"sick": 5.0}, dataset, LOGISTIC) == (1.0, 5.0)
    assert costs_of({}, dataset, LOGISTIC) is None
    with pytest.raises(UnusableError, match=said):
        costs_of(costs, dataset, LOGISTIC)


@pytest.mark.parametrize("sample", ["sample:iris", "sample:diabetes"])
def test_costs_need_two_classes(sample):
    plan = Plan(DataPlan(sample), "forest", "random", costs={"setosa": 2.0})
    with pytest.raises(UnusableError, match="between two classes only"):
        build_problem(plan, read_data(plan.data))
