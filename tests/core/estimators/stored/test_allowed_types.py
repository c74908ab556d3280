"""The list of what fitted models may hold: every model, fitted, needs what is on it and no more."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Iterator
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
from core.tuning.problem import Problem, take_rows
from core.tuning.problem_setup import build_problem
from core.tuning.results.threshold import with_threshold

SIZES = ("n_estimators", "max_iter")  # what a type does not depend on
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
    path = folder / f"{kind}.csv"
    if kind == "libsvm":
        random = np.random.default_rng(1)
        X = sparse.csr_matrix(sparse.random_array((90, 6), density=0.4, rng=random))
        path = folder / "data.libsvm"
        dump_svmlight_file(X, random.integers(0, 2, 90), str(path), zero_based=False)
    elif kind.startswith("texts of "):
        words = ["large", "small", "clean", "dusty", "fast", "slow"]
        random = np.random.default_rng(2)
        remarks = [" ".join(random.choice(words, 8)) for _ in range(60)]
        rows = table(kind.removeprefix("texts of "), 60)[["size", "goal"]]
        rows.assign(remark=remarks).to_csv(path, index=False)
    else:
        table(kind).to_csv(path, index=False)
    return read_dataset(str(path))


def fitted(problem: Problem) -> list[Pipeline]:
    """The model with two choices of each of its axes, in few rounds and trees."""
    choices = {axis.name: axis.choices for axis in problem.space if axis.kind == "choice"}
    made = []
    # No type depends on a third choice.
    for place in range(min(2, max(map(len, choices.values()), default=1))):
        setting = {name: own[place % len(own)] for name, own in choices.items()}
        pipeline = problem.pipeline({**problem.default, **setting})
        sizes = [name for name in pipeline[-1].get_params() if name.endswith(SIZES)]
        pipeline[-1].set_params(**dict.fromkeys(sizes, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.append(pipeline.fit(*problem.training_data))
    return made


def problem_of(dataset: Dataset, name: str, strategy: str = "random") -> Problem:
    return build_problem(Plan(DataPlan(dataset.source.path), name, strategy, folds=2), dataset)


def models_of(dataset: Dataset, name: str, whole: bool) -> list[Pipeline]:
    """What a run may keep of a model: alone, averaged, with a threshold."""
    task, plain = dataset.task, problem_of(dataset, name)
    if not whole:
        return fitted(plain)[:1]
    own = fitted(problem_of(dataset, name, "eb-hyp"))
    members = [("first", own[0][-1]), ("second", own[-1][-1])]
    vote = average_models(task, members, (0.5, 0.5), dataset.classes)
    own.append(Pipeline([("prepare", own[0][0]), ("model", vote)]))
    if task == "binary":
        half: Any = SimpleNamespace(value=0.4)
        own.append(with_threshold(own[-1], half, dataset.classes))
    # Averages take the probabilistic form, which other runs do not.
    return own + (fitted(plain) if MODELS[name].probabilistic and task == "binary" else [])


def kept_models(folder: Path) -> Iterator[tuple[Dataset, Pipeline]]:
    """Every model of tables and the baseline, of texts as sparse and as dense columns."""
    # With more classes and sparse rows a model holds little else: one of each is enough.
    kinds = {"regression": True, "binary": True, "multiclass": False, "libsvm": False}
    for kind, whole in kinds.items():
        dataset = data_of(folder, kind)
        for name, model in MODELS.items():
            if dataset.task in model.tasks and not model.extra and name != SEVERAL:
                yield from ((dataset, own) for own in models_of(dataset, name, whole))
        plain = problem_of(dataset, "forest")
        baseline = baseline_pipeline(dataset.task, plain.preparation())
        yield dataset, baseline.fit(*plain.training_data)
        if kind == "regression":
            several = problem_of(dataset, SEVERAL, "race")
            yield dataset, several.pipeline({"model": "linear"}).fit(*several.training_data)
    for name, task in (("logistic", "binary"), ("boosting", "binary"), ("svm", "regression")):
        dataset = data_of(folder, f"texts of {task}")
        assert dataset.has_texts
        yield dataset, fitted(problem_of(dataset, name))[0]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The names in run folders, each read again in a model that predicts the same; in exports."""
    folder, kept, exported = tmp_path_factory.mktemp("models"), set[str](), set[str]()
    path = folder / "model.skops"
    for dataset, pipeline in kept_models(folder):
        with path.open("wb") as file:
            names = archive.dump_model(pipeline, file)
        # Reading is slow: once for every name that is new.
        if not names <= kept:
            again = archive.load_model(path, KEPT)
            X = take_rows(dataset.features, np.arange(12))
            assert again.predict(X).tolist() == pipeline.predict(X).tolist()
        kept |= names
        exported |= archive.dump_model(plain_pipeline(pipeline), io.BytesIO())
    return kept, exported


@pytest.mark.slow
def test_the_list_of_exports_is_what_they_need(found: tuple[set[str], set[str]]) -> None:
    needed = found[1]
    assert sorted(needed - EXPORTED) == []
    assert sorted(EXPORTED - needed - NUMBERS - CARD) == []


@pytest.mark.slow
def test_the_list_of_run_folders_is_what_they_need(found: tuple[set[str], set[str]]) -> None:
    assert sorted(found[0] - KEPT) == []
    ours = {name for name in KEPT - EXPORTED if name.startswith("core.estimators.tables")}
    assert ours <= found[0]


def test_every_name_is_there() -> None:
    for name in KEPT - {"numpy.bool_"}:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
