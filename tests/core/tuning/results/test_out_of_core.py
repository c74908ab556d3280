"""Models that learn the rest of a file in parts: what they know, and that no test row is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.model_metadata import read_metadata
from core.tuning.results.tuned_model import fit_remaining_rows
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

ROWS, DRAWN = 3000, 400


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Classes that two numbers tell, a category of which one value is rare, holes."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(ROWS, 2)), columns=["a", "b"])
    table["colour"] = random.choice(["red", "blue"], ROWS)
    table.loc[17, "colour"] = "unseen"
    table.loc[::9, "b"] = np.nan
    table["label"] = np.where(table["a"] + random.normal(size=ROWS) > 0, "yes", "no")
    table.loc[5, "label"] = np.nan
    path = tmp_path_factory.mktemp("parts") / "rows.csv"
    table.to_csv(path, index=False)
    return path


def run_of(file, folder, model, task="", **fields):
    target = "a" if task == "regression" else "label"
    data = DataPlan(str(file), target=target, task=task, rows=DRAWN, rows_seed=1)
    plan = Plan(data, model, "random", trials=1, folds=2, **fields)
    dataset = read_data(data)
    run = RunFolder.create(plan, path=folder)
    *_, last = tune(plan, dataset, folder=run)
    return run, dataset, last.results


def test_naive_bayes_knows_every_row_of_the_file(file, tmp_path):
    """Means and counts of the classes, by hand, in the preparation of the drawn rows."""
    run, dataset, results = run_of(file, tmp_path / "run", "naive-bayes")
    assert dataset.rows + dataset.set_aside == DRAWN
    pipeline = best_of(run)
    whole = read_data(DataPlan(str(file), target="label", rows=0))
    assert whole.rows == ROWS - 1
    X = pipeline[:-1].transform(whole.features)
    for place, label in enumerate(("no", "yes")):
        own = X[whole.target == label]
        np.testing.assert_allclose(pipeline[-1].theta_[place], own.mean(axis=0), rtol=1e-9)
        assert pipeline[-1].class_count_[place] == len(own)
    said = " ".join(results["remarks"])
    assert f"learned from {ROWS - 1 - dataset.rows:,} others of the file" in said
    assert f"all {dataset.rows} drawn rows" in sentence_of(results)
    takeaway = read_metadata(run.path)
    assert takeaway.kept_rows == ROWS - 1
    assert takeaway.sampled["of"] == ROWS
    assert any("drawn at random" in one for one in takeaway.findings)


def sentence_of(results):
    from core.tuning.run_results import evaluation_text

    return evaluation_text(results)


def test_without_a_refit_no_test_row_and_nothing_beyond_the_training_rows_is_known(file, tmp_path):
    run, dataset, results = run_of(file, tmp_path / "run", "naive-bayes", refit=False)
    problem = build_problem(run.plan, dataset)
    assert not set(problem.train_rows) & set(problem.test_rows)
    assert best_of(run)[-1].class_count_.sum() == len(problem.train_rows)
    assert "it is the one that was tested" in " ".join(results["remarks"])
    assert read_metadata(run.path).kept_rows == len(problem.train_rows)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # whether it converges is no matter
@pytest.mark.parametrize("task", ["", "regression"])
def test_a_network_goes_on_from_what_it_is(file, tmp_path, task, monkeypatch):
    """Each other row once, in scikit-learn's own steps; the fitted pipeline stays as it was."""
    monkeypatch.setattr("core.tuning.results.tuned_model.MAX_CHUNK_ROWS", 700)
    run, dataset, _ = run_of(file, tmp_path / "run", "mlp", task)
    problem = build_problem(run.plan, dataset)
    fitted = problem.with_rows(np.arange(dataset.rows), np.arange(0)).pipeline(problem.default)
    fitted.fit(dataset.features, dataset.target)
    network = getattr(fitted[-1], "regressor_", fitted[-1])
    before, seen = [w.copy() for w in network.coefs_], network.t_
    more = fit_remaining_rows(fitted, dataset)
    after = getattr(more.pipeline[-1], "regressor_", more.pipeline[-1])
    known = ROWS - (0 if task else 1)  # with an own target
    assert more.rows == known - dataset.rows
    assert after.t_ - seen == more.rows
    for one, other in zip(network.coefs_, before, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(after.coefs_[0], before[0])


def test_a_model_that_cannot_says_so(file, tmp_path):
    run, dataset, results = run_of(file, tmp_path / "run", "logistic")
    said = " ".join(results["remarks"])
    assert "fitted on the drawn rows alone: logistic regression cannot learn the others" in said
    assert read_metadata(run.path).kept_rows == dataset.rows


def test_a_threshold_stands_before_a_model_that_learned_the_rest(file, tmp_path):
    costs = {"yes": 1.0, "no": 5.0}
    run, _, results = run_of(file, tmp_path / "run", "naive-bayes", costs=costs)
    assert "others of the file" in " ".join(results["remarks"])
    assert best_of(run)[-1].estimator_.class_count_.sum() == ROWS - 1


def test_a_file_that_changed_is_not_learned(file, tmp_path):
    copy = tmp_path / "rows.csv"
    copy.write_bytes(file.read_bytes())
    data = DataPlan(str(copy), target="label", rows=DRAWN)
    dataset = read_data(data)
    with copy.open("a") as into:
        into.write("1,2,red,yes\n")
    plan = Plan(data, "naive-bayes", "random", trials=1, folds=2)
    *_, last = tune(plan, dataset)
    assert "has changed since its rows were drawn" in " ".join(last.results["remarks"])


def test_rows_of_classes_that_were_not_drawn_are_left_out(tmp_path):
    """More labels than are classes of a share; one of them is in a row that was not drawn."""
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{k % 5} 1:{k % 7} 2:{k % 5 + 1}\n" for k in range(500)))
    dataset = read_data(DataPlan(str(path), task="multiclass", rows=100))
    problem = build_problem(Plan(DataPlan(str(path)), "naive-bayes", "random"), dataset)
    fitted = problem.pipeline(problem.default).fit(dataset.features, dataset.target)
    from dataclasses import replace

    fewer = replace(dataset, classes=(0, 1, 2, 3))
    assert (
        fit_remaining_rows(fitted, dataset).rows,
        fit_remaining_rows(fitted, fewer).skipped_rows,
    ) == (400, 80)
