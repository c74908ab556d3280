"""Finished runs to export: small tables with every kind of column, and LIBSVM files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported_files import ensemble_of, write_run
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from structured_runs import Run, averaged_run, crf_run, rna_run

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names, output_sources, preparation
from core.datasets.reading import read_dataset
from core.datasets.splitting import hold_out
from core.estimators.averages.table_average import average_models
from core.estimators.fitting import fit_with_remarks
from core.estimators.registry import MODELS, model_named
from core.space import default_setting
from core.tuning.events import (
    EnsembleUpdated,
    PenaltyStep,
    Progress,
    RunStarted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.model_metadata import LearnedPenalties
from core.tuning.run_results import OmittedTrial
from core.tuning.runs.run_folder import RunFolder

Members = Sequence[tuple[dict[str, Any], float]]  # settings with their weights
ROWS = 160
BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("app", "core", "resources"):
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Blocked())
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    # To start another Python, and its libraries in it, takes seconds.
    for item in items:
        if "run_outside" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Made:
    """A run folder and what its model says about the test rows."""

    folder: RunFolder
    dataset: Dataset
    test_rows: np.ndarray
    said: np.ndarray
    score: float
    default_score: float


def csv_file(path: Path, task: str, seed: int = 3) -> None:
    """Numbers in two groups, categories of few and many levels, holes; a row lacks the target."""
    random = np.random.default_rng(seed)
    names = ["size_a", "size_b", "age", "noise_a", "noise_b"]
    table = pd.DataFrame(random.normal(size=(ROWS, 5)), columns=names)
    table["colour"] = random.choice(["red", "green", "blue"], ROWS)
    table["shop"] = np.random.default_rng(seed).choice([f"shop {i}" for i in range(12)], ROWS)
    pull = 2 * table["size_a"] - table["size_b"] + (table["colour"] == "red")
    pull += 0.5 * random.normal(size=ROWS)
    cuts = [0.0] if task == "binary" else [-1.0, 1.0]
    labels = {"binary": ["no", "yes"], "multiclass": ["a", "b", "c"], "regression": [""] * 3}[task]
    classes = np.array(labels, dtype=object)[np.digitize(pull, cuts)]
    table["y"] = 10 + 3 * pull if task == "regression" else classes
    table.loc[::17, ["age", "shop"]] = np.nan
    table.loc[5, "y"] = np.nan
    table.to_csv(path, sep=";", index=False)


def libsvm_file(path: Path, task: str, seed: int = 3) -> None:
    """Sparse numbers, two of twelve with a meaning, as a LIBSVM file."""
    random = np.random.default_rng(seed)
    X = sparse.random_array((ROWS, 12), density=0.4, rng=random, format="csr")
    pull = X @ np.array([3.0, -2.0] + [0.0] * 10) + 0.1 * random.normal(size=ROWS)
    cuts = [0.0] if task == "binary" else [-0.3, 0.3]
    y = pull if task == "regression" else np.digitize(pull, cuts)
    dump_svmlight_file(sparse.csr_matrix(X), y, str(path), zero_based=False)


def pipeline_of(dataset: Dataset, plan: Plan, setting: dict[str, Any]) -> Pipeline:
    model = model_named(plan.model, probabilities=plan.strategy == "eb-hyp")
    prepare = preparation(
        dataset, scale=model.scaled, sparse_ok=model.takes_sparse, categories=model.categories
    )
    return Pipeline(
        [("prepare", prepare), ("model", model.build(dataset.task, setting, plan.seed))]
    )


def average_of(dataset: Dataset, plan: Plan, X: Any, y: np.ndarray, members: Members) -> Pipeline:
    """The average of settings, each fitted behind the same preparation."""
    fitted = []
    for number, (setting, _) in enumerate(members):
        pipeline = pipeline_of(dataset, plan, setting)
        fit_with_remarks(pipeline, X, y)
        fitted.append((f"trial {number}", pipeline[-1]))
    weights = [weight for _, weight in members]
    vote = average_models(dataset.task, fitted, weights, dataset.classes)
    return Pipeline([("prepare", pipeline[0]), ("model", vote)])


def learned_model(dataset: Dataset, X: Any, y: np.ndarray, penalties: np.ndarray) -> Any:
    """A linear model with one penalty a column, by a route of its own (a dense normal equation or
    a division of columns folded back into the weights)."""
    if dataset.task == "regression":
        model, dense = Ridge().fit(X, y), X.toarray() if sparse.issparse(X) else X
        centred, mean = dense - dense.mean(axis=0), y.mean()
        model.coef_ = np.linalg.solve(
            centred.T @ centred + 0.25 * np.diag(penalties), centred.T @ (y - mean)
        )
        model.intercept_ = mean - dense.mean(axis=0) @ model.coef_
        return model
    divided = X @ sparse.diags_array(1 / np.sqrt(penalties))
    model = LogisticRegression(C=1.0, tol=1e-12, max_iter=10000, solver="newton-cg").fit(divided, y)
    model.coef_ = model.coef_ / np.sqrt(penalties)
    return model


def take(features: Any, rows: np.ndarray) -> Any:
    return features.iloc[rows] if hasattr(features, "iloc") else features[rows]


@dataclass(frozen=True)
class Ran:
    """What a program left: its exit status and its two streams."""

    returncode: int
    stdout: str
    stderr: str


# Imports what exports need, then runs in a copy of itself whatever it is told.
WARM = """
import json, os, traceback, types
import joblib, pandas, scipy.optimize, skops.io
import sklearn.compose, sklearn.ensemble, sklearn.feature_extraction.text, sklearn.impute
import sklearn.metrics, sklearn.model_selection, sklearn.naive_bayes, sklearn.neural_network
import sklearn.pipeline, sklearn.svm

def obey(code, folder, arguments, *streams):
    os.chdir(folder)
    for number, path in enumerate(streams, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv, sys.modules["__main__"] = ["-c", *arguments], types.ModuleType("__main__")
    sys.modules["__main__"].sys = sys
    try:
        exec(compile(code, "<string>", "exec"), vars(sys.modules["__main__"]))
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return 1 if isinstance(end.code, str) else end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for order in sys.stdin:
    copy = os.fork()
    if copy == 0:
        status = obey(*json.loads(order))
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def run_outside(tmp_path_factory):
    # Run code in an isolated Python in which this program cannot be imported: in a fresh one where
    # it is `bare`, else in a copy of one that has the libraries, which take seconds to import.
    env = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
    streams = [tmp_path_factory.mktemp("outside") / name for name in ("out", "err")]
    command = [sys.executable, "-I", "-c"]
    warm = []

    def run(code, folder, *arguments, bare=False):
        if bare or not hasattr(os, "fork"):
            ran = subprocess.run(
                [*command, BLOCK + code, *arguments],
                cwd=folder, capture_output=True, text=True, env=env, check=False,
            )  # fmt: skip
            return Ran(ran.returncode, ran.stdout, ran.stderr)
        if not warm:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            warm.append(subprocess.Popen([*command, BLOCK + WARM], env=env, **pipes))
        order = [code, str(folder), arguments, *map(str, streams)]
        warm[0].stdin.write(json.dumps(order) + "\n")
        warm[0].stdin.flush()
        status = int(warm[0].stdout.readline())
        return Ran(status, *(path.read_text(encoding="utf-8") for path in streams))

    yield run
    for process in warm:
        process.communicate()


def made_run(folder, task, model, setting=None, *, libsvm=False, second_file=False, **how):
    """A finished run in the folder, beside the files that it learned from."""
    ending = "libsvm" if libsvm else "csv"
    path, other = folder / f"data.{ending}", folder / f"other.{ending}"
    for file, seed in ((path, 3), (other, 11)):
        (libsvm_file if libsvm else csv_file)(file, task, seed)
    data = DataPlan(str(path), test_file=str(other) if second_file else "")
    dataset = read_dataset(data.file, test_file=data.test_file)
    assert dataset.task == task
    strategy = "mm" if how.get("learned") else "eb-hyp" if how.get("members") else "random"
    plan = Plan(data, model, strategy, seed=4)
    split = hold_out(dataset, 0.3, plan.seed)
    if how.pop("explicit_split", False):
        split = np.split(np.arange(dataset.rows), [len(split[0])])
    return finish(folder / "run", plan, dataset, split, setting or {}, **how)


def moved_run(made: Made, folder: Path) -> Made:
    """A copy of the run and its files in another folder, which they name in place of theirs."""
    old = made.folder.path.parent
    shutil.copytree(old, folder, dirs_exist_ok=True)
    for path in (folder / "run").rglob("*.json*"):
        path.write_text(path.read_text(encoding="utf-8").replace(str(old), str(folder)), "utf-8")
    source = replace(
        made.dataset.source, path=made.dataset.source.path.replace(str(old), str(folder))
    )
    dataset = replace(made.dataset, source=source)
    return replace(made, folder=RunFolder.open(folder / "run"), dataset=dataset)


@pytest.fixture(scope="session")
def fitted_runs(tmp_path_factory):
    # A run of these arguments, fitted once for all tests, which leave it as it is.
    runs: dict[str, Made] = {}

    def made(*arguments, **options):
        key = repr((arguments, options))
        if key not in runs:
            runs[key] = made_run(tmp_path_factory.mktemp("fitted"), *arguments, **options)
        return runs[key]

    return made


@pytest.fixture(scope="session")
def tagger(tmp_path_factory) -> Run:
    return crf_run(tmp_path_factory.mktemp("crf") / "run")


@pytest.fixture(scope="session")
def folding(tmp_path_factory) -> Run:
    return rna_run(tmp_path_factory.mktemp("rna") / "run")


@pytest.fixture(scope="session")
def averages(tagger, folding, tmp_path_factory) -> dict[str, Run]:
    place = tmp_path_factory.mktemp("averages")
    runs = {"tags": tagger, "structures": folding}
    return {name: averaged_run(run, place / name) for name, run in runs.items()}


@pytest.fixture
def make_run(tmp_path, fitted_runs):
    # A finished run of the test's own: (task, model, setting=None, as of made_run) -> Made.

    def make(task="binary", model="logistic", *arguments, folder=tmp_path, **options):
        return moved_run(fitted_runs(task, model, *arguments, **options), folder)

    return make


@pytest.fixture
def finish_run(tmp_path):
    # Make a finished run of any dataset at the default setting: (plan, dataset) -> Made.

    def make(plan, dataset, folder=tmp_path):
        folder.mkdir(exist_ok=True)
        split = hold_out(dataset, plan.data.share_tested(dataset.rows), plan.seed)
        return finish(folder / "run", plan, dataset, split, {})

    return make


def finish(folder, plan, dataset, split, setting, learned=False, members=(), part=False):
    """Fit the best and the default, and write everything that a run leaves."""
    train, test = split
    tested = dataset
    if dataset.test is not None:
        train, test, tested = np.arange(dataset.rows), np.arange(dataset.test.rows), dataset.test
    X, y = take(dataset.features, train), dataset.target[train]
    test_X, test_y = take(tested.features, test), tested.target[test]
    default = default_setting(MODELS[plan.model].space(dataset.task))
    tuned = {**default, **setting}
    members = [({**default, **setting}, weight) for setting, weight in members]
    fitted_rows = train[::2] if part else train  # the others are held out once
    if members:
        own = take(dataset.features, fitted_rows), dataset.target[fitted_rows]
        pipeline = average_of(dataset, plan, *own, members)
    else:
        pipeline = pipeline_of(dataset, plan, tuned)
        fit_with_remarks(pipeline, X, y)
    prepare, of_output, penalties, noise = pipeline.named_steps["prepare"], [], {}, None
    if learned:
        sources = [source.split("_")[0] for source in output_sources(prepare)]
        groups = sorted(set(sources))
        of_output = [groups.index(source) for source in sources]
        penalties = {name: 0.3 * 4.0**i for i, name in enumerate(groups)}
        C = np.array(list(penalties.values()))[of_output]
        pipeline.steps[-1] = ("model", learned_model(dataset, prepare.transform(X), y, C))
        noise = 0.25 if dataset.task == "regression" else None
    reference = pipeline_of(dataset, plan, default)
    fit_with_remarks(reference, X, y)
    score_of = r2_score if dataset.task == "regression" else accuracy_score
    said = pipeline.predict(test_X)
    score, default_score = score_of(test_y, said), score_of(test_y, reference.predict(test_X))
    metric = "r2" if dataset.task == "regression" else "accuracy"
    results = results_of(dataset, metric, test_y, said) | {
        "setting": {} if learned else tuned,
        "default_setting": default,
        "validation": {} if learned else {metric: 0.9},
        "test": {metric: score},
        "default_test": {metric: default_score},
        "test_interval": [score - 0.05, min(1.0, score + 0.05)],
        "default_interval": [default_score - 0.06, min(1.0, default_score + 0.06)],
        "groups": penalties,
        "switched_off": list(penalties)[-1:],
    }
    if members:
        results["ensemble"] = ensemble_of(
            [setting for setting, _ in members],
            [weight for _, weight in members],
            finished=10 * len(members),
            held_out={metric: 0.91},
            single_held_out={metric: 0.9},
            left_out=[{"number": 9, "reason": "Trial 9 is left out of the average: it failed."}],
        )
    run = write_run(
        RunFolder.create(plan, path=folder),
        dataset,
        pipeline,
        course_of(plan, metric, tuned, penalties, results.get("ensemble")),
        results,
        (train, test),
        fitted_rows=fitted_rows if part else (),
        output_names=output_names(prepare),
        penalties=LearnedPenalties(penalties, of_output, noise),
    )
    return Made(run, dataset, test, said, score, default_score)


def results_of(dataset: Dataset, metric: str, test_y: np.ndarray, said: np.ndarray) -> Any:
    """What a run knows of its test beside the scores, as JSON has it."""
    results: dict[str, Any] = {
        "metric": metric,
        "gain": {"metric": metric, "difference": 0.037, "low": 0.004, "high": 0.07, "real": True},
        "optimism": 0.01,
        "remarks": ["Validation was optimistic by 1.0 points."],
        "fits": 55,
        "trials": 10,
        "failed": 1,
        "seconds": 12.5,
        "stopped_because": "all trials were made",
        "seed": 4,
    }
    if dataset.task == "regression":
        return results | {"predictions": {"actual": test_y.tolist(), "tuned": said.tolist()}}
    labels, right = list(dataset.classes), int(sum(test_y == said))
    counts = [[int(sum((test_y == a) & (said == b))) for b in labels] for a in labels]
    results["confusion"] = {"labels": [*map(str, labels)], "tuned": counts, "default": counts}
    results["right"] = {"tuned": right, "default": right - 3, "rows": len(said)}
    if dataset.task == "binary":
        shares, observed = [0.05, 0.3, 0.7, 0.95], [0.1, 0.25, 0.6, 1.0]
        calibration = {"predicted": shares, "observed": observed, "counts": [9, 4, 5, 8]}
        results["calibration"] = calibration
    return results


def course_of(plan, metric, tuned, penalties, ensemble):
    """The events before the end: the start, and ten trials or nine steps of a penalty learner."""
    started = RunStarted(
        run="2026-01-05_data",
        plan=json.loads(json.dumps(plan.as_dict())),
        kind="penalties" if penalties else "trials",
        metric=metric,
        total=10,
        started_at="2026-01-05T10:00:00+00:00",
    )
    if penalties:
        norms = dict.fromkeys(penalties, 1.0)
        paths = [{name: C ** (t / 8) for name, C in penalties.items()} for t in range(9)]
        scales = [1 / (t + 1) for t in range(9)]
        steps = zip(range(9), scales, paths, strict=True)
        return [started, *(PenaltyStep(0.0, t, 100 * s, 90 * s, p, norms) for t, s, p in steps)]
    course: list[Any] = [started, Progress(done=1, total=10, default=0.84)]
    if ensemble:
        names = ("finished", "members", "weights", "scores", "effective")
        last = {name: ensemble[name] for name in names}
        left_out = [OmittedTrial(**omitted) for omitted in ensemble["left_out"]]
        course += [
            EnsembleUpdated(finished=1, members=[0], weights=[1.0], scores=[0.9], single=0.8),
            EnsembleUpdated(**last, left_out=left_out, average=0.91, single=0.9),
        ]
    for number in range(10):
        course.append(TrialStarted(number=number, setting=tuned, reason="random"))
        how: dict[str, Any] = {"number": number, "setting": tuned}
        score = 0.8 + 0.09 * np.sin(number)
        course.append(
            TrialFailed(**how, reason="There was not enough memory.")
            if number == 4
            else TrialFinished(**how, score=score, took=0.2)
        )
    return course
