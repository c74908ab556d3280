"""Finished runs whose models are taken away as folders: topics, and deep latent Gaussian models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from exported_files import ensemble_of, write_run
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import Pipeline

from core.datasets.preparation import output_names, preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.estimators.averages.table_average import average_models
from core.estimators.dlgm.dlgm_classifier import DlgmClassifier
from core.estimators.dlgm.network import first_weights
from core.estimators.lda.online_lda import OnlineLda
from core.tuning.events import (
    EnsembleUpdated,
    ImagesDrawn,
    RunStarted,
    Topic,
    TopicsFound,
    TrialFinished,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

WEIGHTS = (0.2, 0.5, 0.3)
SUBJECTS = (
    "ship harbour captain wave sailor naïve",
    "soup bread onion butter oven spoon",
    "planet comet orbit telescope galaxy moon",
)


def texts_file(path: Path, rows: int = 60) -> None:
    """Texts about one or two of three subjects; some are missing, one has no known word."""
    random = np.random.default_rng(5)
    texts = []
    for _ in range(rows):
        two = random.choice(3, 2)
        words = [
            random.choice(SUBJECTS[two[int(random.random() < 0.3)]].split()) for _ in range(25)
        ]
        texts.append("The " + " ".join(words).capitalize() + ', "and so, on".')
    table = pd.DataFrame({"id": range(rows), "text": texts})
    table.loc[3, "text"] = None
    table.loc[4, "text"] = "123 of it"
    table.to_csv(path, index=False)


def counts_file(path: Path, rows: int = 50) -> None:
    """Counts of twenty words as LIBSVM lines; the last ones come everywhere or hardly ever."""
    random = np.random.default_rng(2)
    counts = random.poisson(0.8 * random.dirichlet(np.full(20, 0.3), rows) * 20)
    counts[:, 18], counts[:, 19] = 3, 0
    counts[0, 19] = 1
    labels = np.zeros(rows)
    dump_svmlight_file(sparse.csr_matrix(counts.astype(float)), labels, str(path), zero_based=False)


def chinese_file(path: Path, rows: int = 60) -> None:
    """One column of Chinese texts about three subjects, without quotes."""
    random = np.random.default_rng(5)
    subjects = ("船港口风暴水手", "面包洋葱黄油汤", "行星彗星望远镜")
    texts = ["".join(random.choice(list(subjects[i % 3]), 30)) + "，Python。" for i in range(rows)]
    path.write_text("\n".join(["text", *texts]) + "\n", encoding="utf-8")


def topic_run(folder, *, members=3, counts=False, chinese=False):
    """A finished run of topics, of one model or an average."""
    folder.mkdir(exist_ok=True)
    path = folder / ("counts.libsvm" if counts else "texts.csv")
    (chinese_file if chinese else counts_file if counts else texts_file)(path)
    data = DataPlan(str(path), task="topics", target="" if counts else "text")
    dataset = read_dataset(data.file, DataOptions(task="topics", target=data.target))
    prepare = preparation(dataset, scale=False, sparse_ok=True)
    X = prepare.fit_transform(dataset.features)
    fitted = [
        (f"trial {t}", OnlineLda(3 + t, minibatch=20, passes=3, random_state=t).fit(X))
        for t in range(members)
    ]
    plan = Plan(data, "lda", "eb-hyp" if members > 1 else "random")
    settings = [{"topics": 3 + t, "alpha": 0.1, "eta": 0.1, "kappa": 0.7} for t in range(members)]
    return finished(folder, plan, dataset, fitted, prepare, settings, {"completion": -2.5})


def causes_file(path: Path, rows: int = 80) -> None:
    """Numbers with holes, a category, a yes/no column, a date; three classes."""
    random = np.random.default_rng(9)
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(random.integers(0, 500, rows), unit="D")
    table = pd.DataFrame(
        {
            "kind": random.choice(["left", "middle", "right"], rows),
            "colour": random.choice(["red", "green", "blue"], rows),
            "paid": random.choice(["yes", "no", ""], rows),
            "day": day.strftime("%d.%m.%Y"),
            "size": np.where(random.random(rows) < 0.1, np.nan, random.normal(size=rows)),
            "weight": random.normal(size=rows),
        }
    )
    table.to_csv(path, index=False, sep=";", decimal=",")


def dlgm_of(X: np.ndarray, y: np.ndarray, seed: int) -> DlgmClassifier:
    """A model with the weights that training starts from: as good as any to predict with."""
    model = DlgmClassifier(6 + seed, 4 * (seed % 2), random_state=seed)
    random = np.random.default_rng(seed)
    model.classes_ = np.unique(y)
    sizes = (X.shape[1], len(model.classes_), 6 + seed, 4 * (seed % 2))
    weights = first_weights(*sizes, random)
    model.weights_ = {name: np.asarray(value, np.float32) for name, value in weights.items()}
    model.mean_, model.scale_, model.n_features_in_ = X.mean(axis=0), X.std(axis=0), X.shape[1]
    model.noise_ = random.standard_normal((5, sizes[2] + sizes[3]))
    return model


def dlgm_run(folder: Path, *, members: int = 3, libsvm: bool = False) -> RunFolder:
    """A finished run of deep latent Gaussian models on a table, of one model or an average."""
    folder.mkdir(exist_ok=True)
    if libsvm:
        random = np.random.default_rng(4)
        X, y = sparse.random_array((60, 7), density=0.5, rng=random), random.integers(3, size=60)
        file = folder / "causes.libsvm"
        dump_svmlight_file(sparse.csr_matrix(X), y, str(file), zero_based=False)
        data = DataPlan(str(file))
    else:
        causes_file(folder / "causes.csv")
        data = DataPlan(str(folder / "causes.csv"), target="kind")
    dataset = read_dataset(data.file, DataOptions(target=data.target))
    prepare = preparation(dataset, scale=False, sparse_ok=False)
    X = prepare.fit_transform(dataset.features)
    fitted = [(f"trial {t}", dlgm_of(X, dataset.target, t)) for t in range(members)]
    plan = Plan(data, "dlgm", "eb-hyp" if members > 1 else "random")
    settings = [{"n1": 6 + t, "n2": 0, "kappa": 0.5, "rho": 0.1} for t in range(members)]
    score = {"log_loss": 1.1, "accuracy": 0.4}
    return finished(folder, plan, dataset, fitted, prepare, settings, score)


def finished(folder, plan, dataset, fitted, prepare, settings, score):
    """Everything that a run of one fitted model, or of their average, leaves."""
    several = len(fitted) > 1
    averaged = (average_models(dataset.task, fitted, WEIGHTS, dataset.classes),) if several else ()
    metric, rows = next(iter(score)), np.arange(dataset.rows)
    course: list[Any] = [
        RunStarted(run="made", metric=metric, total=30, maximize=metric == "completion"),
        TrialFinished(number=0, setting=settings[0], score=-2.5),
    ]
    if several:
        course.append(EnsembleUpdated(finished=30, members=[0, 1, 2], weights=list(WEIGHTS)))
    if plan.model == "lda":
        topics = [Topic(0.6, ["ship", "wave"], [0.4, 0.3])]
        course.append(TopicsFound(number=0, count=3, documents=dataset.rows, topics=topics))
    else:
        picture = [0.0, 0.25, 0.5, 0.75, 1.0, 0.0]
        pictures = {"originals": [picture], "reconstructions": [picture], "samples": [picture] * 2}
        course.append(ImagesDrawn(number=0, height=2, width=3, labels=["left"], **pictures))
    results = {
        "setting": settings[0],
        "default_setting": settings[0],
        "metric": metric,
        "maximize": metric == "completion",
        **dict.fromkeys(("validation", "test", "default_test"), score),
        "trials": 30,
        "fits": 33,
        "seconds": 4.0,
    }
    if several:
        results["ensemble"] = ensemble_of(settings, WEIGHTS, finished=30)
    return write_run(
        RunFolder.create(plan, path=folder / "run"),
        dataset,
        Pipeline([("prepare", prepare), ("model", [*averaged, fitted[0][1]][0])]),
        course,
        results,
        (rows[10:], rows[:10]),
        output_names=output_names(prepare),
    )
