"""How results are judged: nested cross-validation, the fit on all rows, the unseen test set."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_events import about, of, until
from run_events import tune_here as tune
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.errors import UnusableError
from core.losses.registry import build_loss, parameter_groups
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.event_lines import to_json
from core.tuning.events import (
    EvaluationShortened,
    FoldTested,
    PenaltyStep,
    Progress,
    RunFinished,
    RunStopped,
    TrialStarted,
    TuningEnded,
)
from core.tuning.plan import DataPlan, Plan, evaluation_of, plan_from_dict
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results import test_evaluation
from core.tuning.results.conclude import conclude
from core.tuning.results.model_metadata import read_metadata
from core.tuning.results.test_evaluation import EvaluationContext, predictions_of_folds
from core.tuning.results.tuned_model import fit_remaining_rows
from core.tuning.run_results import evaluation_text
from core.tuning.runs.best import best_of
from core.tuning.runs.run_clock import RunClock
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.tune import RecordedRun

ROWS, SEED, X_NAMES = 90, 7, list("abcd")


def table_of(task, seed=1):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(ROWS, 4)), columns=X_NAMES)
    pull = 2 * table["a"] - table["b"] + random.normal(size=ROWS)
    table["y"] = 5 + pull if task == "regression" else np.where(pull > 0, "yes", "no")
    return table


def written(folder, table, **more):
    table.to_csv(folder / "data.csv", index=False)
    return DataPlan(str(folder / "data.csv"), target="y", **more)


def data_of(folder, task, **more):
    return written(folder, table_of(task), **more)


def plan_of(folder, task, strategy="mm", **more):
    """A plan for a linear model of a table of the task."""
    model = "linear" if task == "regression" else "logistic"
    return Plan(data_of(folder, task), model, strategy, seed=SEED, **more)


def run_of(plan, path=None):
    """The folder (where a path is given), the dataset and the events of a whole run."""
    dataset = read_data(plan.data)
    folder = None if path is None else RunFolder.create(plan, path=path / "run")
    return folder, dataset, list(tune(plan, dataset, folder=folder))


def results_of(plan):
    return run_of(plan)[2][-1].results


def drained(generator):
    while True:
        try:
            next(generator)
        except StopIteration as ended:
            return ended.value


def learned_by_mm(X, y, task, seed):
    """The penalty that mm learns for all columns, in its own unit for numbers."""
    is_linear, mm = task == "regression", STRATEGIES["mm"]
    kind, target = ("linear", y / (y.std() / 10.0)) if is_linear else ("logistic", y)
    loss = build_loss(kind, X, target)
    problem = PenaltyProblem(loss, parameter_groups(loss), group_count=1, seed=seed)
    *_, last = mm.make(problem, mm.option_values({}))
    return float(last.C[0]), loss.noise_variance(last.w) if is_linear else None


@pytest.mark.parametrize(
    ("task", "rows", "kind", "changes", "expected"),
    [
        ("binary", 999, "penalties", {}, "nested"),
        ("binary", 1000, "penalties", {}, "test"),
        ("regression", 100, "penalties", {}, "nested"),
        ("multiclass", 100, "trials", {}, "test"),
        ("multiclass", 100, "trials", {"evaluation": "nested"}, "nested"),
        ("multiclass", 100, "penalties", {"evaluation": "test"}, "test"),
        ("sequence", 100, "penalties", {}, "test"),
        ("binary", 100, "penalties", {"data": DataPlan("f", test_file="g")}, "test"),
        ("binary", 100, "penalties", {"data": DataPlan("f", test_size=0.3)}, "test"),
        ("binary", 100, "penalties", {"data": DataPlan("f", latest="day")}, "test"),
    ],
)
def test_few_rows_of_a_table_are_all_tested_where_penalties_are_learned(
    task, rows, kind, changes, expected
):
    plan = Plan(DataPlan("f"), "logistic", "mm").changed(**changes)
    assert evaluation_of(plan, task, rows, kind) == expected


@pytest.mark.parametrize(
    ("data", "evaluation", "task"),
    [
        ({"test_file": "g"}, "nested", "binary"),
        ({"latest": "day"}, "nested", "binary"),
        ({}, "nested", "sequence"),
        ({}, "twice", "binary"),
    ],
)
def test_an_evaluation_that_does_not_fit_is_refused(data, evaluation, task):
    plan = Plan(DataPlan("f", **data), "logistic", "mm", evaluation=evaluation)
    with pytest.raises(UnusableError):
        evaluation_of(plan, task, 100, "penalties")


def test_a_plan_from_before_keeps_its_test_set():
    old = Plan(DataPlan("f"), "logistic", "mm").as_dict()
    old["data"]["test_size"] = 0.3
    for name in ("evaluation", "refit"):
        del old[name]
    assert evaluation_of(plan_from_dict(old), "binary", 100, "penalties") == "test"


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_nested_scores_are_those_of_a_loop_by_hand(tmp_path, task):
    results, table = results_of(plan_of(tmp_path, task)), table_of(task)
    X, y = table[X_NAMES].to_numpy(), table["y"].to_numpy()
    kind = KFold if task == "regression" else StratifiedKFold
    said, default_said = np.empty_like(y), np.empty_like(y)
    for fit, held in kind(5, shuffle=True, random_state=SEED).split(X, y):
        scale = StandardScaler().fit(X[fit])
        fit_X, held_X = scale.transform(X[fit]), scale.transform(X[held])
        C, noise = learned_by_mm(fit_X, y[fit], task, SEED)
        if task == "regression":
            tuned, default, score = Ridge(noise * C), Ridge(1.0), r2_score
        else:
            tuned = LogisticRegression(C=1 / C, tol=1e-10, max_iter=1000)
            default, score = LogisticRegression(), accuracy_score
        said[held] = tuned.fit(fit_X, y[fit]).predict(held_X)
        default_said[held] = default.fit(fit_X, y[fit]).predict(held_X)
    metric, evaluation = results["metric"], results["evaluation"]
    assert results["test"][metric] == pytest.approx(score(y, said), abs=1e-5)
    assert results["default_test"][metric] == pytest.approx(score(y, default_said), abs=1e-5)
    assert (results["rows"], evaluation["kind"]) == (ROWS, "nested")
    assert results["folds"] == evaluation["folds"] == 5


def test_what_a_row_is_told_does_not_depend_on_its_own_target(tmp_path):
    plan = plan_of(tmp_path, "regression")
    dataset = read_data(plan.data)

    def told():
        context = EvaluationContext(build_problem(plan, dataset), RunState(), RunClock())
        return drained(predictions_of_folds(context, None))

    first = told()
    held = np.concatenate([rows for _, rows in build_problem(plan, dataset).outer])
    for place in (0, 40):
        before = dataset.target[held[place]]
        dataset.target[held[place]] = before + 1000.0
        again = told()
        dataset.target[held[place]] = before
        for one, other in ((first.tuned, again.tuned), (first.default, again.default)):
            assert one.labels[place] == other.labels[place]
            assert not np.allclose(one.labels, other.labels)  # the other rows learned from it
    assert sorted(held) == list(range(ROWS))


def test_random_labels_of_a_wide_table_cannot_be_told(tmp_path):
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(100, 150))).add_prefix("x")
    table["y"] = random.permutation(["no", "yes"] * 50)
    results = results_of(Plan(written(tmp_path, table), "logistic", "mm"))
    for name in ("test", "default_test"):
        assert 0.3 < results[name]["accuracy"] < 0.7
    assert not results["gain"]["real"]


def test_rows_of_one_group_are_tested_together(tmp_path):
    table = table_of("binary")
    table["patient"] = [f"p{number // 5}" for number in range(ROWS)]
    data = written(tmp_path, table, roles={"patient": "group"})
    problem = build_problem(Plan(data, "logistic", "mm"), read_data(data))
    assert problem.is_nested
    patients = problem.dataset.row_groups
    for fit, held in problem.outer:
        assert not set(patients[fit]) & set(patients[held])


@pytest.mark.parametrize("roles", [{}, {"patient": "group"}])
def test_rows_of_a_group_on_both_sides_are_warned_of(tmp_path, roles):
    table = table_of("binary")
    table["patient"] = [f"p{number // 5}" for number in range(ROWS)]
    remarks = results_of(Plan(written(tmp_path, table, roles=roles), "logistic", "mm"))["remarks"]
    assert any("both sides" in remark for remark in remarks) is not bool(roles)


def test_a_run_cut_in_the_middle_of_the_folds_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(test_evaluation, "SOON", np.inf)
    plan = plan_of(tmp_path, "binary", groups="each")
    _, dataset, whole = run_of(plan)
    past = until(tune(plan, dataset), lambda e: isinstance(e, FoldTested) and e.fold == 2)
    resumed = list(tune(plan, dataset, past=past))
    assert not of(PenaltyStep, resumed)
    assert [e.fold for e in of(FoldTested, resumed)] == [0, 1, 2, 3, 4, 5]
    assert resumed[-1].results["test"] == whole[-1].results["test"]
    stopped = conclude(plan, dataset, past)
    assert stopped.results["test"] == pytest.approx(whole[-1].results["test"])
    assert stopped.results["evaluation"]["repeated"]


def test_whoever_stops_trials_does_not_wait_for_the_folds_and_is_told(tmp_path):
    plan = plan_of(tmp_path, "binary", "random", trials=4, evaluation="nested")
    dataset = read_data(plan.data)
    events = until(tune(plan, dataset), about(2, TrialStarted))
    results = conclude(plan, dataset, events).results
    assert results["rows"] == ROWS
    assert not results["evaluation"]["repeated"]
    assert not results["gain"]["real"]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "mm"])
def test_whoever_stops_while_folds_are_tested_keeps_those_and_waits_for_no_tuning(
    tmp_path, strategy
):
    more = {"trials": 4} if strategy == "random" else {}
    plan = plan_of(tmp_path, "binary", strategy, evaluation="nested", **more)
    requests, events = deque(), []
    for event in tune(plan, read_data(plan.data), requests=requests):
        events.append(event)
        if isinstance(event, FoldTested) and event.fold == 2:
            requests.append(EvaluationShortened())
    last, (ended,), (shortened,) = (
        events[-1],
        of(TuningEnded, events),
        of(EvaluationShortened, events),
    )
    assert isinstance(last, RunFinished)
    assert [event.fold for event in of(FoldTested, events)] == [0, 1, 2, 3, 4, 5]
    assert len(of(Progress, events[events.index(shortened) :])) <= 1  # nothing is tuned any more
    assert not last.results["evaluation"]["repeated"]
    assert not last.results["gain"]["real"]
    assert last.because == ended.because


@pytest.mark.parametrize("strategy", ["random", "mm"])
def test_a_run_killed_while_its_winner_was_tested_had_come_to_its_end(tmp_path, strategy):
    more = {"trials": 3} if strategy == "random" else {}
    plan = plan_of(tmp_path, "binary", strategy, evaluation="test", **more)
    folder, dataset, whole = run_of(plan, tmp_path)
    past = whole[: whole.index(*of(TuningEnded, whole)) + 1]
    last = conclude(plan, dataset, past)
    assert isinstance(last, RunFinished)
    assert last.because == last.results["stopped_because"] == past[-1].because
    assert last.results["test"] == pytest.approx(whole[-1].results["test"])
    if strategy == "random":  # one that goes on has not ended
        more_trials = RecordedRun(folder.all_events(), 2)
        further = until(tune(plan, dataset, past=more_trials), TrialStarted)
        assert isinstance(conclude(plan, dataset, [*whole, *further]), RunStopped)


@pytest.mark.slow
def test_trials_are_repeated_in_every_fold(tmp_path):
    """By hand: a grid of one axis, its best by 3 folds of the other folds, tested on the fold."""
    few = {"folds": 3, "options": {"points": 3}}
    events = run_of(plan_of(tmp_path, "regression", "grid", evaluation="nested", **few))[2]
    grid = sorted({event.setting["alpha"] for event in of(TrialStarted, events)})
    table = table_of("regression")
    X, y = table[X_NAMES].to_numpy(), table["y"].to_numpy()

    def predict(alpha, learn, ask):
        model = make_pipeline(StandardScaler(), Ridge(alpha)).fit(X[learn], y[learn])
        return model.predict(X[ask])

    said = np.empty_like(y)
    for fit, held in KFold(5, shuffle=True, random_state=SEED).split(X):
        inner = list(KFold(3, shuffle=True, random_state=SEED).split(fit))
        losses = [  # of equal folds, so that the mean of all rows decides
            np.mean([np.mean((y[fit[j]] - predict(a, fit[i], fit[j])) ** 2) for i, j in inner])
            for a in grid
        ]
        said[held] = predict(grid[int(np.argmin(losses))], fit, held)
    assert events[-1].results["test"]["r2"] == pytest.approx(r2_score(y, said), abs=1e-6)


# -- the model that is taken away ----------------------------------------------------------------


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_best_setting_is_fitted_on_all_rows(tmp_path, task):
    folder, _, events = run_of(plan_of(tmp_path, task, "random", trials=3), tmp_path)
    table, kept, takeaway = table_of(task), best_of(folder), read_metadata(folder.path)
    X, y = table[X_NAMES], table["y"]
    by_hand = clone(kept).fit(X, y)
    np.testing.assert_allclose(kept[-1].coef_, by_hand[-1].coef_, rtol=1e-6)
    np.testing.assert_allclose(kept[:-1].transform(X), StandardScaler().fit_transform(X))
    assert takeaway.refitted
    assert len(takeaway.train_rows) + len(takeaway.test_rows) == ROWS
    assert events[-1].results["evaluation"]["fitted"] == "all"


@pytest.mark.parametrize("evaluation", ["test", "nested"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_learned_penalties_are_kept_where_the_weights_are_fitted_on_all_rows(
    tmp_path, task, evaluation
):
    folder, _, events = run_of(plan_of(tmp_path, task, evaluation=evaluation), tmp_path)
    C = of(PenaltyStep, events)[-1].penalties["all"]
    table, takeaway, kept = table_of(task), read_metadata(folder.path), best_of(folder)
    X, y = StandardScaler().fit_transform(table[X_NAMES]), table["y"]
    if task == "regression":
        # σ² C is kept: what the penalty is in ridge regression.
        before = (takeaway.judged or takeaway).noise_variance
        by_hand = Ridge(before * C).fit(X, y)
        assert takeaway.noise_variance * takeaway.penalties["all"] == pytest.approx(before * C)
        # σ² is that of all rows, in the unit in which the penalty was learned.
        learned = y if evaluation == "nested" else y.iloc[takeaway.train_rows]
        residuals = (y - kept.predict(table[X_NAMES])) / (learned.std(ddof=0) / 10)
        assert takeaway.noise_variance == pytest.approx(np.mean(residuals**2), rel=1e-6)
    else:
        by_hand = LogisticRegression(C=1 / C, tol=1e-12, max_iter=1000).fit(X, y)
        assert takeaway.penalties["all"] == pytest.approx(C)
    np.testing.assert_allclose(kept[-1].coef_.ravel(), by_hand.coef_.ravel(), rtol=1e-5)
    assert takeaway.refitted == (evaluation == "test")


@pytest.mark.parametrize("strategy", ["mm", "random", "eb-hyp"])
def test_without_the_last_fit_exactly_the_tested_model_is_kept(tmp_path, strategy):
    plan = plan_of(tmp_path, "regression", strategy, trials=2, refit=False, evaluation="test")
    folder, dataset, events = run_of(plan, tmp_path)
    X, y = build_problem(plan, dataset).test_data
    results = events[-1].results
    assert r2_score(y, best_of(folder).predict(X)) == pytest.approx(results["test"]["r2"])
    assert not read_metadata(folder.path).refitted
    assert results["evaluation"]["fitted"] == "train"


@pytest.mark.parametrize("judged", ["cv", "validation"])
def test_the_members_of_an_average_are_fitted_on_all_rows(tmp_path, judged):
    plan = plan_of(tmp_path, "binary", "eb-hyp", trials=20, folds=2, options={"judged": judged})
    folder, dataset, events = run_of(plan, tmp_path)
    ensemble, problem = events[-1].results["ensemble"], build_problem(plan, dataset)
    assert len(ensemble["members"]) == 2
    X, y = table_of("binary")[X_NAMES], table_of("binary")["y"]
    probable = sum(
        weight * problem.pipeline(setting).fit(X, y).predict_proba(X)
        for weight, setting in zip(ensemble["weights"], ensemble["settings"], strict=True)
    )
    np.testing.assert_allclose(best_of(folder).predict_proba(X), probable, atol=1e-6)
    assert "single_test" not in ensemble


def test_a_threshold_is_chosen_in_every_fold_and_kept(tmp_path):
    folder, _, events = run_of(plan_of(tmp_path, "binary", costs={"yes": 9.0}), tmp_path)
    results, kept, table = events[-1].results, best_of(folder), table_of("binary")
    assert results["evaluation"]["kind"] == "nested"
    assert results["costs"]["rows"] == ROWS
    shares = kept.predict_proba(table)[:, 1]
    said = np.where(shares >= results["costs"]["threshold"], "yes", "no")
    assert (kept.predict(table) == said).all()
    assert (said == "yes").sum() > (shares > 0.5).sum()


# -- the test set stays unseen -------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["mm", "gradient", "random", "gp", "eb-hyp"])
def test_nothing_before_the_end_depends_on_the_test_targets(tmp_path, strategy):
    data, other, streams = data_of(tmp_path, "regression"), table_of("regression", seed=2), []
    for name, target in (("one.csv", other["y"]), ("two.csv", other["y"].to_numpy()[::-1] * 9)):
        other.assign(y=target).to_csv(tmp_path / name, index=False)
        with_test = replace(data, test_file=str(tmp_path / name))
        trials = 20 if strategy == "eb-hyp" else 4
        streams.append(run_of(Plan(with_test, "linear", strategy, trials=trials, folds=2))[2])
    before_end = []
    for stream in streams:
        assert isinstance(stream[-1], RunFinished)
        plain = [e for e in stream[1:-1] if not isinstance(e, Progress)]
        # Without what a clock said.
        plain = [{**json.loads(to_json(event)), "seconds": 0, "took": 0} for event in plain]
        assert not any("test" in event for event in plain)
        before_end.append(plain)
    assert before_end[0] == before_end[1]
    assert streams[0][-1].results["test"] != streams[1][-1].results["test"]


def test_many_rows_keep_some_ten_thousand_for_the_test(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=50_000), "y": random.normal(size=50_000)})
    data = written(tmp_path, table)
    dataset = read_data(data)
    for size, rows in ((None, 10_000), (0.3, 15_000)):
        plan = Plan(replace(data, test_size=size), "linear", "mm")
        assert len(build_problem(plan, dataset).test_rows) == rows
    assert DataPlan("f").share_tested(200) == 0.3


def scaled(folder, strategy, scale):
    table = table_of("regression")
    table["y"] *= scale
    return Plan(written(folder, table), "linear", strategy, trials=2)


@pytest.mark.parametrize("strategy", ["mm", "random"])
def test_a_target_whose_squares_are_numbers_gives_the_same_score_and_others_are_refused(
    tmp_path, strategy
):
    sizes = (1.0, 1e140, 1e-140)
    scores = [results_of(scaled(tmp_path, strategy, scale))["test"]["r2"] for scale in sizes]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-6)
    for scale in (1e200, 1e-200):
        with pytest.raises(UnusableError, match=r"to be squared.*another unit"):
            results_of(scaled(tmp_path, strategy, scale))


@pytest.mark.parametrize("number", [1e160, -1e308])
def test_a_feature_whose_square_is_no_number_is_refused_with_its_column(tmp_path, number):
    table = table_of("regression")
    name = next(name for name in table.select_dtypes("number").columns if name != "y")
    table.loc[3, name] = number
    with pytest.raises(UnusableError, match=rf"column {name}: .* to be squared"):
        results_of(Plan(written(tmp_path, table), "linear", "mm", trials=2))


FILE_ROWS, DRAWN = 3000, 400


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Classes that two numbers tell, a category of which one value is rare, holes."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(FILE_ROWS, 2)), columns=["a", "b"])
    table["colour"] = random.choice(["red", "blue"], FILE_ROWS)
    table.loc[17, "colour"] = "unseen"
    table.loc[::9, "b"] = np.nan
    table["label"] = np.where(table["a"] + random.normal(size=FILE_ROWS) > 0, "yes", "no")
    table.loc[5, "label"] = np.nan
    path = tmp_path_factory.mktemp("parts") / "rows.csv"
    table.to_csv(path, index=False)
    return path


def drawn_run(file, folder, model, task="", **fields):
    target = "a" if task == "regression" else "label"
    data = DataPlan(str(file), target=target, task=task, rows=DRAWN, rows_seed=1)
    plan = Plan(data, model, "random", trials=1, folds=2, **fields)
    dataset = read_data(data)
    run = RunFolder.create(plan, path=folder)
    *_, last = tune(plan, dataset, folder=run)
    return run, dataset, last.results


def test_naive_bayes_knows_every_row_of_the_file(file, tmp_path):
    """Means and counts of the classes, by hand, in the preparation of the drawn rows."""
    run, dataset, results = drawn_run(file, tmp_path / "run", "naive-bayes")
    assert dataset.rows + dataset.set_aside == DRAWN
    pipeline = best_of(run)
    whole = read_data(DataPlan(str(file), target="label", rows=0))
    assert whole.rows == FILE_ROWS - 1
    X = pipeline[:-1].transform(whole.features)
    for place, label in enumerate(("no", "yes")):
        own = X[whole.target == label]
        np.testing.assert_allclose(pipeline[-1].theta_[place], own.mean(axis=0), rtol=1e-9)
        assert pipeline[-1].class_count_[place] == len(own)
    said = " ".join(results["remarks"])
    assert f"learned from {FILE_ROWS - 1 - dataset.rows:,} others of the file" in said
    assert f"all {dataset.rows} drawn rows" in evaluation_text(results)
    takeaway = read_metadata(run.path)
    assert takeaway.kept_rows == FILE_ROWS - 1
    assert takeaway.sampled["of"] == FILE_ROWS
    assert any("drawn at random" in one for one in takeaway.findings)


def test_without_a_refit_no_test_row_and_nothing_beyond_the_training_rows_is_known(file, tmp_path):
    run, dataset, results = drawn_run(file, tmp_path / "run", "naive-bayes", refit=False)
    train_rows = build_problem(run.plan, dataset).train_rows
    assert best_of(run)[-1].class_count_.sum() == len(train_rows)
    assert "it is the one that was tested" in " ".join(results["remarks"])
    assert read_metadata(run.path).kept_rows == len(train_rows)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # whether it converges is no matter
@pytest.mark.parametrize("task", ["", "regression"])
def test_a_network_goes_on_from_what_it_is(file, tmp_path, task, monkeypatch):
    """Each other row once, in scikit-learn's own steps; the fitted pipeline stays as it was."""
    monkeypatch.setattr("core.tuning.results.tuned_model.MAX_CHUNK_ROWS", 700)
    run, dataset, _ = drawn_run(file, tmp_path / "run", "mlp", task)
    problem = build_problem(run.plan, dataset)
    fitted = problem.with_rows(np.arange(dataset.rows), np.arange(0)).pipeline(problem.default)
    fitted.fit(dataset.features, dataset.target)
    network = getattr(fitted[-1], "regressor_", fitted[-1])
    before, seen = [w.copy() for w in network.coefs_], network.t_
    more = fit_remaining_rows(fitted, dataset)
    after = getattr(more.pipeline[-1], "regressor_", more.pipeline[-1])
    known = FILE_ROWS - (0 if task else 1)  # with an own target
    assert more.rows == known - dataset.rows
    assert after.t_ - seen == more.rows
    for one, other in zip(network.coefs_, before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(after.coefs_[0], before[0])


def test_a_model_that_cannot_says_so(file, tmp_path):
    run, dataset, results = drawn_run(file, tmp_path / "run", "logistic")
    said = " ".join(results["remarks"])
    assert "fitted on the drawn rows alone: logistic regression cannot learn the others" in said
    assert read_metadata(run.path).kept_rows == dataset.rows


def test_a_threshold_stands_before_a_model_that_learned_the_rest(file, tmp_path):
    costs = {"yes": 1.0, "no": 5.0}
    run, _, results = drawn_run(file, tmp_path / "run", "naive-bayes", costs=costs)
    assert "others of the file" in " ".join(results["remarks"])
    assert best_of(run)[-1].estimator_.class_count_.sum() == FILE_ROWS - 1


def test_a_file_that_changed_is_not_learned(file, tmp_path):
    copy = tmp_path / "rows.csv"
    copy.write_bytes(file.read_bytes())
    data = DataPlan(str(copy), target="label", rows=DRAWN)
    dataset = read_data(data)
    copy.write_bytes(file.read_bytes() + b"1,2,red,yes\n")
    *_, last = tune(Plan(data, "naive-bayes", "random", trials=1, folds=2), dataset)
    assert "has changed since its rows were drawn" in " ".join(last.results["remarks"])


def test_rows_of_classes_that_were_not_drawn_are_left_out(tmp_path):
    """More labels than are classes of a share; one of them is in a row that was not drawn."""
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{k % 5} 1:{k % 7} 2:{k % 5 + 1}\n" for k in range(500)))
    dataset = read_data(DataPlan(str(path), task="multiclass", rows=100))
    problem = build_problem(Plan(DataPlan(str(path)), "naive-bayes", "random"), dataset)
    fitted = problem.pipeline(problem.default).fit(dataset.features, dataset.target)
    assert fit_remaining_rows(fitted, dataset).rows == 400
    fewer = replace(dataset, classes=(0, 1, 2, 3))
    assert fit_remaining_rows(fitted, fewer).skipped_rows == 80
