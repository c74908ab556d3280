"""How results are judged: nested cross-validation, the fit on all rows, the unseen test set."""

import contextlib
import json
from collections import deque

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from core.errors import UnusableError
from core.losses.registry import build_loss, parameter_groups
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.events import (
    EvaluationShortened,
    FoldTested,
    PenaltyStep,
    Progress,
    RunFinished,
    RunStopped,
    TrialStarted,
    TuningEnded,
    to_json,
)
from core.tuning.plan import DataPlan, Plan, evaluation_of, plan_from_dict
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results import test_evaluation
from core.tuning.results.conclude import conclude
from core.tuning.results.model_metadata import read_metadata
from core.tuning.results.test_evaluation import EvaluationContext, predictions_of_folds
from core.tuning.runs.best import best_of
from core.tuning.runs.run_clock import RunClock
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.tune import RecordedRun, tune

ROWS, WIDTH, SEED = 90, 4, 7


def table_of(task, rows=ROWS, seed=1):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(rows, WIDTH)), columns=list("abcd"))
    pull = 2 * table["a"] - table["b"] + random.normal(size=rows)
    table["y"] = 5 + pull if task == "regression" else np.where(pull > 0, "yes", "no")
    return table


def data_of(folder, task, name="data.csv", **more):
    file = folder / name
    table_of(task).to_csv(file, index=False)
    return DataPlan(str(file), target="y", **more)


def drained(generator):
    while True:
        try:
            next(generator)
        except StopIteration as ended:
            return ended.value


def learned_by_mm(X, y, task, seed):
    """The penalty that mm learns for all columns, in its own unit for numbers."""
    unit = y.std() / 10.0 if task == "regression" else 1.0
    target = y / unit if task == "regression" else y
    loss = build_loss("linear" if task == "regression" else "logistic", X, target)
    *_, last = STRATEGIES["mm"].make(
        PenaltyProblem(loss, parameter_groups(loss), group_count=1, seed=seed), options_of_mm()
    )
    noise = loss.noise_variance(last.w) if task == "regression" else None
    return float(last.C[0]), noise


def options_of_mm():
    return STRATEGIES["mm"].option_values({})


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
    ("plan", "task"),
    [
        (Plan(DataPlan("f", test_file="g"), "logistic", "mm", evaluation="nested"), "binary"),
        (Plan(DataPlan("f", latest="day"), "logistic", "mm", evaluation="nested"), "binary"),
        (Plan(DataPlan("f"), "crf", "mm", evaluation="nested"), "sequence"),
        (Plan(DataPlan("f"), "logistic", "mm", evaluation="twice"), "binary"),
    ],
)
def test_an_evaluation_that_does_not_fit_is_refused(plan, task):
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
    model = "linear" if task == "regression" else "logistic"
    plan = Plan(data_of(tmp_path, task), model, "mm", seed=SEED)
    dataset = read_data(plan.data)
    *_, last = tune(plan, dataset)
    table = table_of(task)
    X, y = table[list("abcd")].to_numpy(), table["y"].to_numpy()
    kind = KFold if task == "regression" else StratifiedKFold
    scores, default_scores, sizes = [], [], []
    for fit, held in kind(5, shuffle=True, random_state=SEED).split(X, y):
        scale = StandardScaler().fit(X[fit])
        fit_X, held_X = scale.transform(X[fit]), scale.transform(X[held])
        C, noise = learned_by_mm(fit_X, y[fit], task, SEED)
        if task == "regression":
            tuned, default, score = Ridge(noise * C), Ridge(1.0), r2_score
        else:
            tuned = LogisticRegression(C=1 / C, tol=1e-10, max_iter=1000)
            default, score = LogisticRegression(), accuracy_score
        scores.append(score(y[held], tuned.fit(fit_X, y[fit]).predict(held_X)))
        default_scores.append(score(y[held], default.fit(fit_X, y[fit]).predict(held_X)))
        sizes.append(len(held))
    results = last.results
    assert results["test"][results["metric"]] == pytest.approx(np.mean(scores), abs=1e-5)
    assert results["default_test"][results["metric"]] == pytest.approx(
        np.mean(default_scores), abs=1e-5
    )
    assert results["rows"] == sum(sizes) == ROWS
    assert results["evaluation"]["kind"] == "nested"
    assert results["folds"] == results["evaluation"]["folds"] == 5


def test_what_a_row_is_told_does_not_depend_on_its_own_target(tmp_path):
    plan = Plan(data_of(tmp_path, "regression"), "linear", "mm", seed=SEED)
    dataset = read_data(plan.data)
    told = _told(plan, dataset)
    held = [rows for _, rows in build_problem(plan, dataset).outer]
    for place in (0, 40):
        row = np.concatenate(held)[place]
        before = dataset.target[row]
        dataset.target[row] = before + 1000.0
        again = _told(plan, dataset)
        dataset.target[row] = before
        for one, other in ((told.tuned, again.tuned), (told.default, again.default)):
            assert one.labels[place] == other.labels[place]
            assert not np.allclose(one.labels, other.labels)  # the other rows learned from it
    assert sorted(np.concatenate(held)) == list(range(ROWS))


def _told(plan, dataset):
    problem = build_problem(plan, dataset)
    return drained(predictions_of_folds(problem, EvaluationContext(RunState(), RunClock()), None))


def test_random_labels_of_a_wide_table_cannot_be_told(tmp_path):
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(100, 150))).add_prefix("x")
    table["y"] = random.permutation(["no", "yes"] * 50)
    table.to_csv(tmp_path / "data.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "data.csv"), target="y"), "logistic", "mm")
    *_, last = tune(plan, read_data(plan.data))
    for name in ("test", "default_test"):
        assert 0.3 < last.results[name]["accuracy"] < 0.7
    assert not last.results["gain"]["real"]


def test_rows_of_one_group_are_tested_together(tmp_path):
    table = table_of("binary")
    table["patient"] = [f"p{number // 5}" for number in range(ROWS)]
    table.to_csv(tmp_path / "data.csv", index=False)
    data = DataPlan(str(tmp_path / "data.csv"), target="y", roles={"patient": "group"})
    problem = build_problem(Plan(data, "logistic", "mm"), read_data(data))
    assert problem.is_nested
    patients = problem.dataset.row_groups
    for fit, held in problem.outer:
        assert not set(patients[fit]) & set(patients[held])


def test_a_run_cut_in_the_middle_of_the_folds_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(test_evaluation, "SOON", np.inf)
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "mm", groups="each")
    dataset = read_data(plan.data)
    whole = list(tune(plan, dataset))
    folder = RunFolder.create(plan, path=tmp_path / "run")
    with contextlib.closing(tune(plan, dataset, folder=folder)) as stream:
        for event in stream:
            if isinstance(event, FoldTested) and event.fold == 2:
                break
    past = folder.all_events()
    resumed = list(tune(plan, dataset, folder=folder, past=past))
    assert not [event for event in resumed if isinstance(event, PenaltyStep)]
    assert [e.fold for e in resumed if isinstance(e, FoldTested)] == [0, 1, 2, 3, 4, 5]
    assert resumed[-1].results["test"] == whole[-1].results["test"]
    stopped = conclude(plan, dataset, past)
    assert stopped.results["test"] == pytest.approx(whole[-1].results["test"])
    assert stopped.results["evaluation"]["repeated"]


def test_whoever_stops_trials_does_not_wait_for_the_folds_and_is_told(tmp_path):
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "random", trials=4, evaluation="nested")
    dataset = read_data(plan.data)
    events = []
    with contextlib.closing(tune(plan, dataset)) as stream:
        for event in stream:
            events.append(event)
            if isinstance(event, TrialStarted) and event.number == 2:
                break
    results = conclude(plan, dataset, events).results
    assert results["rows"] == ROWS
    assert not results["evaluation"]["repeated"]
    assert not results["gain"]["real"]


@pytest.mark.parametrize("strategy", ["random", "mm"])
def test_whoever_stops_while_folds_are_tested_keeps_those_and_waits_for_no_tuning(
    tmp_path, strategy
):
    more = {"trials": 4} if strategy == "random" else {}
    plan = Plan(data_of(tmp_path, "binary"), "logistic", strategy, evaluation="nested", **more)
    dataset, requests, events = read_data(plan.data), deque(), []
    for event in tune(plan, dataset, requests=requests):
        events.append(event)
        if isinstance(event, FoldTested) and event.fold == 2:
            requests.append(EvaluationShortened())
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert [event.fold for event in events if isinstance(event, FoldTested)] == [0, 1, 2, 3, 4, 5]
    assert any(isinstance(event, EvaluationShortened) for event in events)
    at = next(n for n, event in enumerate(events) if isinstance(event, EvaluationShortened))
    beats = sum(isinstance(event, Progress) for event in events[at:])
    assert beats <= 1  # nothing is tuned any more
    assert not last.results["evaluation"]["repeated"]
    assert not last.results["gain"]["real"]
    (ended,) = [event for event in events if isinstance(event, TuningEnded)]
    assert last.because == ended.because


@pytest.mark.parametrize("strategy", ["random", "mm"])
def test_a_run_killed_while_its_winner_was_tested_had_come_to_its_end(tmp_path, strategy):
    more = {"trials": 3} if strategy == "random" else {}
    plan = Plan(data_of(tmp_path, "binary"), "logistic", strategy, evaluation="test", **more)
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    with contextlib.closing(tune(plan, dataset, folder=folder)) as stream:
        ended = next(event for event in stream if isinstance(event, TuningEnded))
    last = conclude(plan, dataset, folder.all_events(), folder=folder)
    assert isinstance(last, RunFinished)
    assert last.because == last.results["stopped_because"] == ended.because
    whole = list(tune(plan, dataset))[-1]
    assert last.results["test"] == pytest.approx(whole.results["test"])


def test_a_run_that_goes_on_has_not_ended(tmp_path):
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "random", trials=3, evaluation="test")
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    list(tune(plan, dataset, folder=folder))
    with contextlib.closing(
        tune(plan, dataset, folder=folder, past=RecordedRun(folder.all_events(), 2))
    ) as stream:
        next(event for event in stream if isinstance(event, TrialStarted))
    assert isinstance(conclude(plan, dataset, folder.all_events()), RunStopped)


def test_trials_are_repeated_in_every_fold(tmp_path):
    """By hand: a grid of one axis, its best by 3 folds of the other folds, tested on the fold."""
    plan = Plan(
        data_of(tmp_path, "regression"), "linear", "grid", folds=3, seed=SEED, evaluation="nested",
        options={"points": 3},
    )  # fmt: skip
    dataset = read_data(plan.data)
    events = list(tune(plan, dataset))
    grid = sorted({e.setting["alpha"] for e in events if isinstance(e, TrialStarted)})
    table = table_of("regression")
    X, y = table[list("abcd")].to_numpy(), table["y"].to_numpy()
    scores = []
    for fit, held in KFold(5, shuffle=True, random_state=SEED).split(X):

        def predict(alpha, learn, ask):
            scale = StandardScaler().fit(X[learn])
            model = Ridge(alpha).fit(scale.transform(X[learn]), y[learn])
            return model.predict(scale.transform(X[ask]))

        inner = list(KFold(3, shuffle=True, random_state=SEED).split(fit))
        losses = [  # of equal folds, so that the mean of all rows decides
            np.mean([np.mean((y[fit[j]] - predict(a, fit[i], fit[j])) ** 2) for i, j in inner])
            for a in grid
        ]
        scores.append(r2_score(y[held], predict(grid[int(np.argmin(losses))], fit, held)))
    assert events[-1].results["test"]["r2"] == pytest.approx(np.mean(scores), abs=1e-6)


def test_minutes_are_shared_among_the_folds(tmp_path):
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "mm", minutes=1e-6)
    events = list(tune(plan, read_data(plan.data)))
    assert len([event for event in events if isinstance(event, PenaltyStep)]) == 1
    assert events[-1].results["rows"] == ROWS


# -- the model that is taken away ----------------------------------------------------------------


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_best_setting_is_fitted_on_all_rows(tmp_path, task):
    model = "linear" if task == "regression" else "logistic"
    data = data_of(tmp_path, task)
    plan = Plan(data, model, "random", trials=3, seed=SEED)
    dataset, folder = read_data(data), RunFolder.create(plan, path=tmp_path / "run")
    *_, last = tune(plan, dataset, folder=folder)
    table = table_of(task)
    X, y = table[list("abcd")], table["y"]
    kept = best_of(folder)
    by_hand = clone(kept).fit(X, y)
    np.testing.assert_allclose(kept[-1].coef_, by_hand[-1].coef_, rtol=1e-6)
    scale = StandardScaler().fit(X)
    np.testing.assert_allclose(kept[:-1].transform(X), scale.transform(X))
    takeaway = read_metadata(folder.path)
    assert takeaway.refitted
    assert len(takeaway.train_rows) + len(takeaway.test_rows) == ROWS
    assert last.results["evaluation"]["fitted"] == "all"


@pytest.mark.parametrize("evaluation", ["test", "nested"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_learned_penalties_are_kept_where_the_weights_are_fitted_on_all_rows(
    tmp_path, task, evaluation
):
    model = "linear" if task == "regression" else "logistic"
    plan = Plan(data_of(tmp_path, task), model, "mm", evaluation=evaluation, seed=SEED)
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    events = list(tune(plan, dataset, folder=folder))
    C = [event for event in events if isinstance(event, PenaltyStep)][-1].penalties["all"]
    table, takeaway = table_of(task), read_metadata(folder.path)
    X, y = StandardScaler().fit_transform(table[list("abcd")]), table["y"]
    kept = best_of(folder)
    if task == "regression":
        # σ² C is kept: what the penalty is in ridge regression.
        before = (takeaway.judged or takeaway).noise_variance
        by_hand = Ridge(before * C).fit(X, y)
        assert takeaway.noise_variance * takeaway.penalties["all"] == pytest.approx(before * C)
        # σ² is that of all rows, in the unit in which the penalty was learned.
        unit = y.std(ddof=0) / 10 if evaluation == "nested" else None
        if unit is None:
            unit = y.iloc[takeaway.train_rows].std(ddof=0) / 10
        residuals = (y - kept.predict(table[list("abcd")])) / unit
        assert takeaway.noise_variance == pytest.approx(np.mean(residuals**2), rel=1e-6)
    else:
        by_hand = LogisticRegression(C=1 / C, tol=1e-12, max_iter=1000).fit(X, y)
        assert takeaway.penalties["all"] == pytest.approx(C)
    np.testing.assert_allclose(kept[-1].coef_.ravel(), by_hand.coef_.ravel(), rtol=1e-5)
    assert takeaway.refitted == (evaluation == "test")


@pytest.mark.parametrize("strategy", ["mm", "random", "eb-hyp"])
def test_without_the_last_fit_exactly_the_tested_model_is_kept(tmp_path, strategy):
    plan = Plan(data_of(tmp_path, "regression", test_size=0.3), "linear", strategy, trials=2,
                refit=False)  # fmt: skip
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    *_, last = tune(plan, dataset, folder=folder)
    X, y = build_problem(plan, dataset).test_data
    said = best_of(folder).predict(X)
    assert r2_score(y, said) == pytest.approx(last.results["test"]["r2"])
    assert not read_metadata(folder.path).refitted
    assert last.results["evaluation"]["fitted"] == "train"


@pytest.mark.parametrize("judged", ["cv", "validation"])
def test_the_members_of_an_average_are_fitted_on_all_rows(tmp_path, judged):
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "eb-hyp", trials=20, folds=2, seed=SEED,
                options={"judged": judged})  # fmt: skip
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    *_, last = tune(plan, dataset, folder=folder)
    ensemble, problem = last.results["ensemble"], build_problem(plan, dataset)
    assert len(ensemble["members"]) == 2
    X, y = table_of("binary")[list("abcd")], table_of("binary")["y"]
    probable = sum(
        weight * problem.pipeline(setting).fit(X, y).predict_proba(X)
        for weight, setting in zip(ensemble["weights"], ensemble["settings"], strict=True)
    )
    kept = best_of(folder)
    np.testing.assert_allclose(kept.predict_proba(X), probable, atol=1e-6)
    assert "single_test" not in ensemble


def test_a_threshold_is_chosen_in_every_fold_and_kept(tmp_path):
    plan = Plan(data_of(tmp_path, "binary"), "logistic", "mm", costs={"yes": 9.0})
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=tmp_path / "run")
    *_, last = tune(plan, dataset, folder=folder)
    costs = last.results["costs"]
    assert last.results["evaluation"]["kind"] == "nested"
    assert costs["rows"] == ROWS
    kept, table = best_of(folder), table_of("binary")
    shares = kept.predict_proba(table)[:, 1]
    said = np.where(shares >= costs["threshold"], "yes", "no")
    assert (kept.predict(table) == said).all()
    assert (said == "yes").sum() > (shares > 0.5).sum()


# -- the test set stays unseen -------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["mm", "gradient", "random", "gp", "eb-hyp"])
def test_nothing_before_the_end_depends_on_the_test_targets(tmp_path, strategy):
    data = data_of(tmp_path, "regression")
    other = table_of("regression", seed=2)
    streams = []
    for name, target in (("one.csv", other["y"]), ("two.csv", other["y"].to_numpy()[::-1] * 9)):
        other.assign(y=target).to_csv(tmp_path / name, index=False)
        with_test = DataPlan(data.file, target="y", test_file=str(tmp_path / name))
        plan = Plan(with_test, "linear", strategy, trials=20 if strategy == "eb-hyp" else 4,
                    folds=2)  # fmt: skip
        streams.append(list(tune(plan, read_data(with_test))))
    for stream in streams:
        assert isinstance(stream[-1], RunFinished)
        for event in stream[1:-1]:
            assert "test" not in json.loads(to_json(event)), event
    first, second = (
        [plain(event) for event in stream[1:-1] if not isinstance(event, Progress)]
        for stream in streams
    )
    assert first == second
    assert streams[0][-1].results["test"] != streams[1][-1].results["test"]


def plain(event):
    """An event without what a clock said."""
    said = json.loads(to_json(event))
    return {key: v for key, v in said.items() if key not in ("seconds", "took")}


def test_many_rows_keep_some_ten_thousand_for_the_test(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=50_000), "y": random.normal(size=50_000)})
    table.to_csv(tmp_path / "data.csv", index=False)
    data = DataPlan(str(tmp_path / "data.csv"), target="y")
    dataset = read_data(data)
    assert len(build_problem(Plan(data, "linear", "mm"), dataset).test_rows) == 10_000
    given = DataPlan(data.file, target="y", test_size=0.3)
    assert len(build_problem(Plan(given, "linear", "mm"), dataset).test_rows) == 15_000
    assert DataPlan("f").share_tested(200) == 0.3


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("strategy", ["mm", "random"])
def test_a_target_whose_squares_are_no_numbers_is_refused(tmp_path, strategy, scale):
    table = table_of("regression")
    table["y"] *= scale
    table.to_csv(tmp_path / "data.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "data.csv"), target="y"), "linear", strategy, trials=3)
    with pytest.raises(UnusableError, match=r"to be squared.*another unit"):
        list(tune(plan, read_data(plan.data)))


@pytest.mark.parametrize("strategy", ["mm", "random"])
def test_a_target_of_any_other_size_gives_the_same_score(tmp_path, strategy):
    scores = []
    for scale in (1.0, 1e140, 1e-140):
        table = table_of("regression")
        table["y"] *= scale
        table.to_csv(tmp_path / "data.csv", index=False)
        data = DataPlan(str(tmp_path / "data.csv"), target="y")
        *_, last = tune(Plan(data, "linear", strategy, trials=2), read_data(data))
        scores.append(last.results["test"]["r2"])
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-6)
