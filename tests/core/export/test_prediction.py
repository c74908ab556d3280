"""Predictions of exported models for files that are written otherwise than the training file."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from core.datasets.dataset import Dataset
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.exporters import export_from_folder
from core.export.files import model_file
from core.export.prediction import predict_file
from core.export.raw_rows import card_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.best import best_of


@pytest.fixture
def model(make_run: Callable[..., Any], tmp_path: Path) -> Any:
    """An exported model, the table of its run, and what the model says of every row."""
    made = make_run("binary", "logistic")
    path = export_from_folder(made.folder, tmp_path / "model.skops")
    table = pd.read_csv(tmp_path / "data.csv", sep=";")
    return path, table, best_of(made.folder).predict(table[made.dataset.feature_names])


@pytest.mark.parametrize(
    "how", ["as it was", "commas", "decimal commas", "tabs, gzip", "no target", "more"]
)
def test_another_way_of_writing(model: Any, tmp_path: Path, how: str) -> None:
    path, table, said = model
    file = tmp_path / "new.csv"
    if how == "as it was":
        file = tmp_path / "data.csv"
    elif how == "commas":
        table.to_csv(file, index=False)
    elif how == "decimal commas":
        table.to_csv(file, index=False, sep=";", decimal=",")
    elif how == "tabs, gzip":
        file = tmp_path / "new.tsv.gz"
        file.write_bytes(gzip.compress(table.to_csv(index=False, sep="\t").encode()))
    elif how == "no target":
        table.drop(columns="y").to_csv(file, index=False, sep=";")
    else:
        shuffled = table[["noise_b", "colour", "age", "shop", "size_b", "size_a", "noise_a"]]
        shuffled.assign(note="x, y; z").to_csv(file, index=False)
    assert predict_file(path, file)["prediction"].tolist() == said.tolist()


@pytest.mark.parametrize("trained", ["with blanks", "without", "by an earlier version"])
def test_blanks_around_the_names_of_columns(
    finish_run: Callable[..., Any], tmp_path: Path, trained: str
) -> None:
    """Whichever file has them; text that looks like numbers stays text."""
    random = np.random.default_rng(0)
    rows = [f"{age:.3f};0{int(age > 0) + i % 2};" for i, age in enumerate(random.normal(size=80))]
    lines = [f"{row}{'no' if '-' in row else 'yes'}" for row in rows]
    header = "age;colour;y" if trained == "without" else "age ;colour ;y"
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    train.write_text("\n".join([header, *lines]))
    data = DataPlan(str(train), kinds={"colour": "category"}, target="y")
    dataset = read_dataset(str(train), DataOptions("y", kinds={"colour": "category"}))
    if trained == "by an earlier version":
        dataset = with_blanks(dataset)
    made = finish_run(Plan(data, "logistic", "random"), dataset)
    path = export_from_folder(made.folder, tmp_path / "model.skops")
    ours = best_of(made.folder).predict(dataset.features).tolist()
    for header in ("age ; colour ", "age;colour", "age , colour"):
        text = "\n".join([header, *(row.rstrip(";") for row in rows)])
        new.write_text(text.replace(";", ",") if "," in header else text)
        assert predict_file(path, new)["prediction"].tolist() == ours, header


def with_blanks(dataset: Dataset) -> Dataset:
    """The data with a blank behind every feature's name, read as earlier versions did."""
    how = {"sep": ";", "index_col": False, "dtype": {"colour ": "str", "y": "str"}}
    return replace(
        dataset,
        source=replace(dataset.source, read_csv=how),
        columns=tuple(
            replace(one, name=f"{one.name} ") if one.role == "feature" else one
            for one in dataset.columns
        ),
        table=dataset.table.add_suffix(" "),
    )


def test_new_categories_and_missing_values_are_taken(model: Any, tmp_path: Path) -> None:
    path, table, _ = model
    table = table.head(30).assign(colour="violet", size_a=np.nan)
    table.to_csv(tmp_path / "new.csv", index=False)
    assert len(predict_file(path, tmp_path / "new.csv")) == 30


def test_a_table_without_header(finish_run: Callable[..., Any], tmp_path: Path) -> None:
    """The target stands first; in the new file it is absent, so that all columns move up."""
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 3)).round(3)
    y = np.where(X[:, 0] > 0, 1, 2)
    train = tmp_path / "train.csv"
    pd.DataFrame(np.column_stack([y, X])).astype({0: int}).to_csv(train, header=False, index=False)
    dataset = read_dataset(str(train), DataOptions(target="column 1"))
    made = finish_run(Plan(DataPlan(str(train), target="column 1"), "logistic", "random"), dataset)
    path = export_from_folder(made.folder, tmp_path / "model.skops")
    pd.DataFrame(X).to_csv(tmp_path / "new.csv", header=False, index=False)
    ours = best_of(made.folder).predict(dataset.features)
    for file in ("train.csv", "new.csv"):
        assert predict_file(path, tmp_path / file)["prediction"].tolist() == ours.tolist()


@pytest.mark.parametrize("how", ["as it was", "without labels", "one feature more", "fewer"])
def test_libsvm_rows(make_run: Callable[..., Any], tmp_path: Path, how: str) -> None:
    made = make_run("binary", "logistic", libsvm=True)
    path = export_from_folder(made.folder, tmp_path / "model.skops")
    ours = best_of(made.folder).predict(made.dataset.features)
    lines = (tmp_path / "data.libsvm").read_text().splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    if how == "without labels":
        rows = [i for i, line in enumerate(lines) if " " in line.strip()]
        lines, ours = [lines[i].partition(" ")[2] for i in rows], ours[rows]
    elif how == "one feature more":
        lines[0] += " 13:5"
    elif how == "fewer":
        rows = [i for i, line in enumerate(lines) if "12:" not in line and "11:" not in line]
        lines, ours = [lines[i] for i in rows], ours[rows]
    (tmp_path / "new.libsvm").write_text("\n".join(lines) + "\n")
    said = predict_file(path, tmp_path / "new.libsvm")["prediction"]
    assert said.tolist() == ours.tolist()


def test_the_wrong_kind_of_file(make_run: Callable[..., Any], model: Any, tmp_path: Path) -> None:
    sparse = make_run("binary", "logistic", libsvm=True, folder=tmp_path / "sparse")
    other = export_from_folder(sparse.folder, tmp_path / "sparse.skops")
    with pytest.raises(UnusableError, match="trained on LIBSVM lines"):
        predict_file(other, tmp_path / "data.csv")
    with pytest.raises(UnusableError, match="trained on a table"):
        predict_file(model[0], tmp_path / "sparse" / "data.libsvm")


def test_no_model(tmp_path: Path) -> None:
    joblib.dump({"a": 1}, tmp_path / "thing.joblib")
    (tmp_path / "torn.joblib").write_bytes(b"\x80\x05 torn")
    (tmp_path / "model.txt").write_text("hello")
    for name, sentence in (
        ("thing.joblib", "does not say which columns"),
        ("torn.joblib", "damaged"),
        ("model.txt", "no exported model"),
        ("absent.skops", "no such file"),
    ):
        with pytest.raises(UnusableError, match=sentence):
            predict_file(tmp_path / name, tmp_path / "model.txt", trust=True)


def test_a_file_that_can_run_code_is_opened_on_trust_alone(tmp_path: Path) -> None:
    class Executes:
        def __reduce__(self) -> Any:
            return Path.mkdir, (tmp_path / "executed",)

    joblib.dump(Executes(), tmp_path / "model.joblib")
    with pytest.raises(UnusableError, match=r"can run any code.* give --trust"):
        predict_file(tmp_path / "model.joblib", tmp_path / "data.csv")
    assert not (tmp_path / "executed").exists()
    with pytest.raises(UnusableError):
        predict_file(tmp_path / "model.joblib", tmp_path / "data.csv", trust=True)
    assert (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"read_csv": {"filepath_or_buffer": "/etc/passwd", "sep": ";"}},
        {"read_csv": {"sep": "(a+)+$", "engine": "python"}},
        {"read_csv": {"memory_map": True, "storage_options": {"a": "b"}, "dtype": 7}},
        {"read_csv": {"converters": {"age": "eval"}, "skiprows": "x"}},
    ],
)
def test_a_card_says_how_cells_are_written_and_nothing_else(
    model: Any, tmp_path: Path, change: dict[str, Any]
) -> None:
    path, _, said = model
    pipeline = model_file.load_skops(path)
    pipeline.tunescope_ |= change
    skops.io.dump(pipeline, path)
    assert predict_file(path, tmp_path / "data.csv")["prediction"].tolist() == said.tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"features": 7},
        {"features": [7]},
        {"read_csv": []},
        {"text": None},
        {"columns": {"a": 1}},
        {},
    ],
)
def test_a_card_that_says_nothing_or_a_part_that_lacks_is_one_sentence(
    model: Any, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = model[0]
    pipeline = model_file.load_skops(path)
    pipeline.tunescope_ |= change
    if not change:
        del pipeline[-1].coef_
    skops.io.dump(pipeline, path)
    sentence = "does not say which columns" if change else "cannot predict these rows"
    with pytest.raises(UnusableError, match=sentence):
        predict_file(path, tmp_path / "data.csv")


def test_the_card_says_what_the_model_takes(make_run: Callable[..., Any], tmp_path: Path) -> None:
    made = make_run()
    export_from_folder(made.folder, tmp_path / "model.skops")
    card = card_of(model_file.load_skops(tmp_path / "model.skops"))
    assert card["features"] == made.dataset.feature_names
    assert card["text"] == ["colour", "shop"]
    assert card["target"] == "y"
    assert card["read_csv"]["sep"] == ";"
    # The run's own pipeline carries no card: it was copied before.
    assert not hasattr(best_of(made.folder), "tunescope_")


def test_a_file_with_strange_functions_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "evil.skops"
    skops.io.dump(Pipeline([("run", FunctionTransformer(pickle.loads))]), path)
    with pytest.raises(UnusableError, match=r"pickle\.loads"):
        model_file.load_skops(path)
