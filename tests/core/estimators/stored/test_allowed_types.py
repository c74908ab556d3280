"""The list of what fitted models may hold: every model, fitted, needs what is on it and no more."""

from __future__ import annotations

import importlib
import io
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.reading import read_dataset
from core.estimators.averages.table_average import average_models
from core.estimators.baseline import baseline_pipeline
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import EXPORTED, KEPT, NUMBERS
from core.estimators.stored.plain_model import plain_pipeline
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem, build_problem
from core.tuning.results.threshold import with_threshold

CARD = {"builtins.bool", "builtins.float", "builtins.int"}  # keys and values of other settings


def table(task: str, rows: int = 90) -> pd.DataFrame:
    """Every kind of column, with holes and without, in so few outputs that a tree serves."""
    random = np.random.default_rng(5)
    made = pd.DataFrame(random.normal(size=(rows, 2)), columns=["size", "age"])
    for name, words in {
        "colour": ["red", "green", "blue"],
        "taste": ["sweet", "sour", ""],
        "paid": ["yes", "no"],
    }.items():
        made[name] = random.choice(words, rows)
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(random.integers(0, 500, rows), unit="D")
    made["day"] = day.strftime("%d.%m.%Y")
    made["shop"] = [f"shop {i}" for i in random.integers(0, 15, rows)]
    pull = made["size"] + 0.3 * random.normal(size=rows)
    made.loc[::11, ["age", "shop"]] = np.nan
    if task == "regression":
        return made.assign(goal=3 * pull)
    cuts = [0.0] if task == "binary" else [-0.5, 0.5]
    return made.assign(goal=np.array(["low", "middle", "top"])[np.digitize(pull, cuts)])


def data_of(folder: Path, kind: str) -> Dataset:
    if kind == "libsvm":
        random = np.random.default_rng(1)
        X = sparse.csr_matrix(sparse.random_array((90, 6), density=0.4, rng=random))
        path = folder / "data.libsvm"
        dump_svmlight_file(X, random.integers(0, 2, 90), str(path), zero_based=False)
    else:
        path = folder / "data.csv"
        table(kind).to_csv(path, index=False)
    return read_dataset(str(path))


def fitted(problem: Problem) -> list[Pipeline]:
    """The model at its default, and with every choice of its axes."""
    choices = [
        {axis.name: choice}
        for axis in problem.space
        if axis.kind == "choice"
        for choice in axis.choices
    ]
    made = []
    for setting in [{}, *choices]:
        pipeline = problem.pipeline({**problem.default, **setting})
        if "n_estimators" in pipeline[-1].get_params():
            pipeline[-1].set_params(n_estimators=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append(pipeline.fit(*problem.training_data))
    return made


def models_of(dataset: Dataset, name: str) -> list[Pipeline]:
    """What a run may keep of a model: alone, averaged, with a threshold; and the baseline."""
    data, task = DataPlan(dataset.source.path), dataset.task
    made = []
    for strategy in ("random", "eb-hyp"):
        problem = build_problem(Plan(data, name, strategy, folds=2), dataset)
        own = fitted(problem)
        if strategy == "eb-hyp":
            members = [("first", own[0][-1]), ("second", own[-1][-1])]
            vote = average_models(task, members, (0.5, 0.5), dataset.classes)
            own.append(Pipeline([("prepare", own[0][0]), ("model", vote)]))
            if task == "binary":
                half: Any = SimpleNamespace(value=0.4)
                own += [with_threshold(one, half, dataset.classes) for one in (own[0], own[-1])]
        made += own
    return [*made, baseline_pipeline(task, problem.preparation()).fit(*problem.training_data)]


def checked_again(pipeline: Pipeline, dataset: Dataset, path: Path) -> set[str]:
    """The names in what is written, which is read and predicts the very same."""
    with path.open("wb") as file:
        names = archive.dump_model(pipeline, file)
    again = archive.load_model(path, KEPT)
    assert again.predict(dataset.features).tolist() == pipeline.predict(dataset.features).tolist()
    return names


def with_texts(folder: Path) -> tuple[set[str], set[str]]:
    """The same where a column is texts: a model of sparse columns each, and one of dense ones."""
    random = np.random.default_rng(2)
    words = ["large", "small", "clean", "dusty", "fast", "slow"]
    remarks = [" ".join(random.choice(words, 8)) for _ in range(60)]
    kept: set[str] = set()
    exported: set[str] = set()
    for task, name in (("binary", "logistic"), ("binary", "boosting"), ("regression", "svm")):
        path = folder / f"{name}.csv"
        table(task, 60)[["size", "goal"]].assign(remark=remarks).to_csv(path, index=False)
        dataset = read_dataset(str(path))
        assert dataset.has_texts
        problem = build_problem(Plan(DataPlan(str(path)), name, "random", folds=2), dataset)
        pipeline = problem.pipeline(problem.default).fit(*problem.training_data)
        kept |= checked_again(pipeline, dataset, folder / "model.skops")
        exported |= archive.dump_model(plain_pipeline(pipeline), io.BytesIO())
    return kept, exported


def of_tables(folder: Path, kind: str) -> tuple[set[str], set[str]]:
    """What is in run folders, and in exported files."""
    dataset = data_of(folder, kind)
    kept: set[str] = set()
    exported: set[str] = set()
    for name, model in MODELS.items():
        if dataset.task in model.tasks and not model.extra and name != SEVERAL:
            for pipeline in models_of(dataset, name):
                kept |= checked_again(pipeline, dataset, folder / "model.skops")
                exported |= archive.dump_model(plain_pipeline(pipeline), io.BytesIO())
    return kept, exported


def of_bounded(folder: Path) -> tuple[set[str], set[str]]:
    """The same of a regression's model among several."""
    dataset = data_of(folder, "regression")
    problem = build_problem(Plan(DataPlan(dataset.source.path), SEVERAL, "race"), dataset)
    pipeline = problem.pipeline({"model": "linear"}).fit(*problem.training_data)
    kept = checked_again(pipeline, dataset, folder / "model.skops")
    return kept, archive.dump_model(plain_pipeline(pipeline), io.BytesIO())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    kept: set[str] = set()
    exported: set[str] = set()
    for kind in ("regression", "binary", "multiclass", "libsvm"):
        own = of_tables(tmp_path_factory.mktemp(kind), kind)
        kept, exported = kept | own[0], exported | own[1]
    for others in (with_texts, of_bounded):
        own = others(tmp_path_factory.mktemp(others.__name__))
        kept, exported = kept | own[0], exported | own[1]
    return kept, exported


def test_the_list_of_exports_is_what_they_need(found: tuple[set[str], set[str]]) -> None:
    needed = found[1]
    assert sorted(needed - EXPORTED) == []
    assert sorted(EXPORTED - needed - NUMBERS - CARD) == []


def test_the_list_of_run_folders_is_what_they_need(found: tuple[set[str], set[str]]) -> None:
    assert sorted(found[0] - KEPT) == []
    ours = {name for name in KEPT - EXPORTED if name.startswith("core.estimators.tables")}
    assert ours <= found[0]


def test_every_name_is_there() -> None:
    for name in KEPT - {"numpy.bool_"}:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
