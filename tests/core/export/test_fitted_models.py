"""Averages, thresholds and the last fit on all rows: every file says what the run's model says."""

import json

import numpy as np
import pandas as pd
import pytest
from exported_files import OPEN, exported, script_output, tuned_run

from core.estimators.optional_parts import is_installed
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.results.model_metadata import read_metadata
from core.tuning.runs.best import best_of

pytestmark = pytest.mark.slow
MODEL_FILES = (".skops", ".joblib", *([".onnx"] if is_installed("onnx") else []))

AVERAGES = {
    "machines": ("binary", "svm", [({"C": 0.3}, 0.6), ({"gamma": 0.03}, 0.4)]),
    "votes": (
        "binary",
        "vote7",
        [({"weight_svm": 0.2}, 0.7), ({"weight_pa": 0.0, "weight_bayes": 0.5}, 0.3)],
    ),
    "numbers": (
        "regression",
        "boosting",
        [({"learning_rate": 0.05, "max_iter": 10}, 0.75), ({"max_iter": 12}, 0.25)],
    ),
}


def test_models_and_a_script_do_the_same_without_the_program(make_run, run_outside, tmp_path):
    made, files = {}, []
    for name, (task, model, members) in AVERAGES.items():
        part = name == "numbers"  # the members learned from half of the training rows
        made[name] = make_run(task, model, members=members, part=part, folder=tmp_path / name)
        (tmp_path / f"{name}.csv").write_bytes((tmp_path / name / "data.csv").read_bytes())
        for ending in ("skops", "joblib"):
            files.append(f"{name}-.{ending}")
            exported(made[name].folder, tmp_path / files[-1])
    ran = run_outside(OPEN, tmp_path, *files)
    assert ran.returncode == 0, ran.stderr
    for file, (answers, shares) in json.loads(ran.stdout).items():
        run = made[file.partition("-")[0]]
        pipeline, X = best_of(run.folder), run.dataset.features
        if shares is None:
            np.testing.assert_allclose(answers, pipeline.predict(X), rtol=1e-12)
            continue
        assert answers == pipeline.predict(X).tolist()
        np.testing.assert_allclose(shares, pipeline.predict_proba(X), rtol=1e-12, atol=1e-12)
    script = exported(made["numbers"].folder, tmp_path / "numbers" / "tuned.py")
    printed = script_output(run_outside, script, tmp_path / "numbers")
    scores = [line.rpartition(" ")[2] for line in printed.splitlines()]
    assert scores == [f"{made['numbers'].score:.6f}", f"{made['numbers'].default_score:.6f}"]


def test_script_numbers_and_report_name_the_members(make_run, tmp_path):
    members = [({"C": 0.1}, 0.5), ({"C": 3.0}, 0.3), ({}, 0.2)]
    folder = make_run("multiclass", "logistic", members=members).folder
    text = exported(folder, tmp_path / "tuned.py").read_text()
    assert text.startswith('"""Average of 3 models, logistic regression, for data')
    assert text.count('("trial ') == 3
    assert 'VotingClassifier(members, voting="soft", weights=weights)' in text
    average = json.loads(exported(folder, tmp_path / "run.json").read_text())["average"]
    assert [member["weight"] for member in average["members"]] == [0.5, 0.3, 0.2]
    assert [member["parameters"]["C"] for member in average["members"]] == [0.1, 3.0, 1.0]
    assert average["members"][1]["trial"] == 1
    assert average["members"][1]["score"] == pytest.approx(0.89)
    assert average["left_out"][0]["trial"] == 9
    page = exported(folder, tmp_path / "run.html").read_text()
    assert "Who is in the average?" in page
    assert "Is the average better than the single best?" in page
    assert "Trial 9 is left out of the average: it failed." in page


def costly_rows(path, labels=("healthy", "sick")):
    random = np.random.default_rng(4)
    sick = np.arange(240) % 8 == 0
    frame = pd.DataFrame(random.normal(size=(240, 3)), columns=["a", "b", "c"]).round(3)
    frame["a"] += 1.5 * sick
    frame["ward"] = random.choice(["x", "y"], 240)
    frame["state"] = np.where(sick, labels[1], labels[0])
    frame.to_csv(path, index=False)
    return path


def costly_run(folder, data, model, strategy, costs):
    trials = {"evidence": None, "eb-hyp": 20}.get(strategy, 1)
    how = {"trials": trials, "folds": 2, "costs": costs, "evaluation": "test", "refit": False}
    return tuned_run(folder, Plan(DataPlan(str(data), target="state"), model, strategy, **how))


ONNX = (("logistic", "evidence"), ("svm", "random"))


@pytest.mark.parametrize(
    ("model", "strategy"),
    [
        ("logistic", "evidence"),
        ("logistic-l1l2", "random"),
        ("svm", "random"),
        ("vote7", "random"),
        ("logistic", "eb-hyp"),
    ],
)
def test_every_file_calls_rows_as_the_run_does(tmp_path, run_outside, model, strategy):
    data = costly_rows(tmp_path / "data.csv")
    run = costly_run(tmp_path / "run", data, model, strategy, {"sick": 6.0})
    results = run.all_events()[-1].results
    pipeline, rows = best_of(run), pd.read_csv(data)
    ours = pipeline.predict(rows)
    threshold = results["costs"]["threshold"]
    shares = pipeline.predict_proba(rows)[:, 1]
    assert (ours == np.where(shares >= threshold, "sick", "healthy")).all()
    assert (ours != np.where(shares > 0.5, "sick", "healthy")).any()
    for ending in (".skops", ".joblib"):
        path = exported(run, tmp_path / f"model{ending}")
        said = predict_file(path, data, trust=True)["prediction"]
        assert said.tolist() == ours.tolist()
    (tmp_path / "model.skops").rename(tmp_path / "data-.skops")
    done = run_outside(OPEN, tmp_path, "data-.skops")
    assert json.loads(done.stdout)["data-.skops"][0] == ours.tolist(), done.stderr
    if (model, strategy) in ONNX and is_installed("onnx"):
        said = predict_file(exported(run, tmp_path / "model.onnx"), data)["prediction"]
        clear = np.abs(shares - threshold) > 1e-6
        assert (said.to_numpy() == ours)[clear].all()
    numbers = json.loads(exported(run, tmp_path / "numbers.json").read_text())
    if strategy == "evidence":  # the coefficients are those behind the threshold
        weights = np.array(list(numbers["coefficients"]["weights"].values()))
        sums = numbers["coefficients"]["intercept"] + pipeline[0].transform(rows) @ weights
        np.testing.assert_allclose(1 / (1 + np.exp(-sums)), shares)
    assert numbers["threshold"]["threshold"] == threshold
    assert numbers["threshold"]["costs"] == {"healthy": 1.0, "sick": 6.0}
    page = exported(run, tmp_path / "report.html").read_text()
    assert "What do its mistakes cost?" in page
    assert f"threshold {threshold:.2g}" in page


@pytest.mark.parametrize(("labels", "costs"), [((0, 1), {"1": 6.0}), (("no", "yes"), {"no": 0.1})])
def test_the_script_calls_rows_as_the_run_does(tmp_path, run_outside, labels, costs):
    data = costly_rows(tmp_path / "data.csv", labels)
    run = costly_run(tmp_path / "run", data, "logistic", "evidence", costs)
    script = exported(run, tmp_path / "model.py").read_text()
    done = run_outside(
        script + "\nimport json\nprint(json.dumps(tuned.predict(X_test).tolist()))",
        tmp_path,
        str(data),
    )
    *scores, said = done.stdout.strip().splitlines()
    results, plan = run.all_events()[-1].results, run.plan
    problem = build_problem(plan, read_data(plan.data))
    pipeline = best_of(run)
    assert json.loads(said) == pipeline.predict(problem.test_data[0]).tolist(), done.stderr
    assert scores[0].endswith(f"tuned: {results['test']['log_loss']:.6f}")


RUN_FOLDERS = """
import contextlib, io, json, runpy, warnings
warnings.simplefilter("ignore")
said = {}
for folder in sys.argv[1].split():
    sys.argv = ["tuned.py", "data.csv"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        made = runpy.run_path(f"{folder}/tuned.py", run_name="__main__")
    said[folder] = [out.getvalue(), made["tuned"].predict(made["X"]).tolist()]
print(json.dumps(said))
"""
FITS = {
    "learned": {"strategy": "mm", "evaluation": "test"},
    "each": {"strategy": "mm", "evaluation": "test", "groups": "each"},
    "nested": {"strategy": "mm", "groups": "column"},
    "tried": {"strategy": "random"},
    "judged": {"strategy": "random", "refit": False},
    "averaged": {"strategy": "eb-hyp", "trials": 20, "options": {"judged": "validation"}},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    # {case: run folder and results}, on numbers and a category with eight levels of a row each.
    place, random = tmp_path_factory.mktemp("runs"), np.random.default_rng(4)
    table = pd.DataFrame(random.normal(size=(150, 3)), columns=["a", "b", "c"])
    table["town"] = random.choice(["Ulm", "Bonn", "Trier"], 150)
    rare = random.choice(150, 8, replace=False)
    table.loc[rare, "town"] = [f"Zug {i}" for i in range(8)]
    pull = 2 * table["a"] + (table["town"] == "Ulm") + random.normal(size=150)
    table.assign(y=10 + pull).to_csv(place / "data.csv", index=False)
    data = DataPlan(str(place / "data.csv"), target="y")
    dataset, made = read_data(data), {}
    for name, changes in FITS.items():
        plan = Plan(data, "linear", **{"trials": 3, "folds": 2, "seed": 5, **changes})
        folder = tuned_run(place / name, plan, dataset)
        made[name] = folder, folder.all_events()[-1].results
    return made


def test_the_script_prints_the_test_scores_and_ends_with_the_kept_model(runs, run_outside):
    place = runs["tried"][0].path.parent
    for folder, _ in runs.values():
        exported(folder, folder.path / "tuned.py")
    ran = run_outside(RUN_FOLDERS, place, " ".join(runs))
    assert ran.returncode == 0, ran.stderr
    table = pd.read_csv(place / "data.csv")
    for name, (printed, predicted) in json.loads(ran.stdout).items():
        folder, results = runs[name]
        for score in (results["test"], results["default_test"]):
            assert f"{score[results['metric']]:.6f}" in printed, (name, printed)
        assert ("fitted on all 150 rows" in printed) == (name not in ("nested", "judged"))
        kept = best_of(folder)
        np.testing.assert_allclose(predicted, kept.predict(table), rtol=1e-5, err_msg=name)


def test_more_rows_may_have_columns_of_their_own(runs):
    takeaway = read_metadata(runs["each"][0].path)
    others = takeaway.judged["penalties"]
    new = [name for name in takeaway.output_names if name not in others]
    assert new
    assert all(name.startswith("town=Zug ") for name in new)
    # All penalties of numbers move with the noise variance; those of ridge regression stay.
    scale = takeaway.penalties["a"] / others["a"]
    for name in new:
        assert takeaway.penalties[name] == pytest.approx(scale * np.median(list(others.values())))


@pytest.mark.parametrize("name", FITS)
def test_every_file_is_of_the_kept_model(runs, tmp_path, name):
    folder, _ = runs[name]
    file = folder.path.parent / "data.csv"
    kept = best_of(folder).predict(pd.read_csv(file))
    for ending in MODEL_FILES:
        path = exported(folder, tmp_path / f"model{ending}")
        said = predict_file(path, file, trust=True)["prediction"]
        np.testing.assert_allclose(said, kept, rtol=1e-4, err_msg=ending)
    numbers = json.loads(exported(folder, tmp_path / "parameters.json").read_text())
    assert numbers["scores"]["evaluation"]["fitted"] == ("train" if name == "judged" else "all")
    if name != "judged":
        assert numbers["data"]["fitted_rows"] == 150
