"""The curves of files: reading, what the Data page tells of a table, tuning, predicting."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from limits.reading import write_csv, write_libsvm
from scipy.stats import loguniform
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.export.using.file_prediction import predict_into
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.trials.executors import InProcessExecutor
from core.tuning.tune import tune
from scale.curve import Curve, Line

Call = Callable[[], object]
MODEL_ROWS = 2_000
PAIRS, WIDTH = 50, 10_000


def csv_path(rows: int, *, texts: bool) -> str:
    path = Path(tempfile.mkdtemp()) / "table.csv"
    write_csv(path, rows, texts=texts)
    return str(path)


def read_csv(read: Callable[[str], object], *, texts: bool) -> Callable[[int], Call]:

    def make(rows: int) -> Call:
        path = csv_path(rows, texts=texts)
        return lambda: read(path)

    return make


def read_libsvm(read: Callable[[str], object]) -> Callable[[int], Call]:

    def make(rows: int) -> Call:
        path = Path(tempfile.mkdtemp()) / "table.libsvm"
        write_libsvm(path, rows, WIDTH, PAIRS)
        return lambda: read(str(path))

    return make


def describe(rows: int) -> Call:
    """Kinds, spreads, classes and findings of a table that was read."""
    dataset = read_dataset(csv_path(rows, texts=True))
    return lambda: summarize(dataset)


def exported_model() -> Path:
    """A forest of ten trees on 2,000 rows of 30 numbers."""
    plan = Plan(DataPlan(csv_path(MODEL_ROWS, texts=False), target="y"), "forest", "random")
    plan = replace(plan, trials=1, folds=2, fixed={"n_estimators": 10})
    folder = RunFolder.create(plan, root=Path(tempfile.mkdtemp()))
    list(tune(plan, read_data(plan.data), folder=folder))
    return export_run(finished_run(folder), folder.path / "model.skops")


def predict_rows(rows: int) -> Call:
    """Every row with its prediction behind it, written."""
    model, path = exported_model(), csv_path(rows, texts=False)
    return lambda: predict_into(model, path, open(os.devnull, "wb"))


def predict_alone(rows: int) -> Call:
    """The predictions alone, in memory."""
    model, path = exported_model(), csv_path(rows, texts=False)
    return lambda: predict_file(model, path)


def dump_table(rows: int) -> Call:
    """A table of numbers, written by pandas."""
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((rows, 30)).round(5))
    return lambda: table.to_csv(os.devnull, index=False)


def tune_table(rows: int) -> Call:
    """Twenty random settings on five folds in this process, and the best refitted."""
    plan = Plan(DataPlan(csv_path(rows, texts=False), target="y"), "logistic", "random")
    plan = replace(plan, trials=20, folds=5)
    dataset = read_data(plan.data)
    return lambda: list(tune(plan, dataset, executor=InProcessExecutor))


def search_table(rows: int) -> Call:
    """The same in scikit-learn."""
    table = pd.read_csv(csv_path(rows, texts=False))
    X, y = table.drop(columns="y"), table["y"]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    settings = {"logisticregression__C": loguniform(1e-3, 1e3)}
    search = RandomizedSearchCV(pipeline, settings, n_iter=20, cv=5, random_state=0)
    return lambda: search.fit(X, y)


SIZES = (1_000, 10_000, 100_000, 1_000_000)


def reading_curve(name: str, columns: str, remark: str, *, texts: bool) -> Curve:
    lines = (
        Line("Tunescope", read_csv(read_dataset, texts=texts), 1.0),
        Line("pandas.read_csv", read_csv(pd.read_csv, texts=texts)),
    )
    return Curve(name, f"Reading a CSV of 30 columns{columns}", "rows", SIZES, lines, remark)


CURVES = (
    reading_curve(
        "numbers",
        " of numbers",
        "Tunescope also tells what each column is, and where a cell is wrong.",
        texts=False,
    ),
    reading_curve(
        "texts",
        ", with categories, a date, a yes/no",
        "pandas leaves dates and categories as texts.",
        texts=True,
    ),
    Curve(
        "pairs",
        "Reading LIBSVM: 10,000 columns, 50 entries a row",
        "rows",
        (1_000, 10_000, 100_000),
        (
            Line("Tunescope", read_libsvm(read_dataset), 1.0),
            Line("load_svmlight_file", read_libsvm(load_svmlight_file)),
        ),
    ),
    Curve(
        "description",
        "Describing a table of 30 columns, as the Data page does",
        "rows",
        SIZES,
        (Line("Tunescope", describe, 1.0),),
    ),
    Curve(
        "tuning",
        "Twenty settings of logistic regression, on five folds of 30 columns",
        "rows",
        (100, *SIZES[:3]),
        (Line("Tunescope", tune_table, 1.0), Line("RandomizedSearchCV", search_table)),
        "Tunescope also judges the best on its test set, beside the default setting and without.",
    ),
    Curve(
        "predicting",
        "Predicting a file of 30 columns with a forest of ten trees",
        "rows",
        SIZES,
        (
            Line("the table with predictions", predict_rows, 1.0),
            Line("predictions alone", predict_alone, 1.0),
            Line("pandas: reading", read_csv(pd.read_csv, texts=False)),
            Line("pandas: writing", dump_table),
        ),
        "Rows are read, predicted and written in pieces: memory does not grow with the file.",
    ),
)
