"""Files that a person names for a benchmark: PATH or PATH:TARGET, and what is read from them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.preparation import preparation
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

SAMPLE = "sample:"  # before the name of a sample
TABLES = ("regression", "binary", "multiclass")


def add_to(parser: argparse.ArgumentParser, what: str = "CSV or LIBSVM files") -> None:
    """The option; a path where nothing lies is refused as the command line is read."""
    parser.add_argument(
        "--files",
        nargs="*",
        default=[],
        type=existing,
        metavar="PATH[:TARGET]",
        help=f"{what} in place of the usual ones; the target where it is not the last column",
    )


def existing(given: str) -> str:
    """What was given, where there is such a file.

    Raises:
        argparse.ArgumentTypeError: there is none.
    """
    path, _ = divided(given)
    if not Path(path).is_file() and not path.startswith(SAMPLE):
        raise argparse.ArgumentTypeError(f"there is no file {path}")
    return given


@contextmanager
def refusing(parser: argparse.ArgumentParser) -> Iterator[None]:
    """One sentence and exit status 2 where a file cannot be used."""
    try:
        yield
    except UnusableError as error:
        parser.error(str(error))


def divided(given: str) -> tuple[str, str]:
    """The path, and the target; "" for the last column."""
    path, _, target = given.rpartition(":")
    named = (
        path not in ("", SAMPLE[:-1])
        and "/" not in target
        and "\\" not in target
        and not Path(given).exists()
    )
    return (path, target) if named else (given, "")


def name_of(given: str) -> str:
    """The file's name alone."""
    return Path(divided(given)[0]).name


def is_table(given: str) -> bool:
    """Whether the file's name is that of comma or tab separated values."""
    path = divided(given)[0].lower().removesuffix(".gz")
    return path.endswith((".csv", ".tsv"))


def dataset_of(given: str, task: str = "") -> Dataset:
    """The dataset in a file.

    Raises:
        UnusableError: as `read_dataset` does.
    """
    path, target = divided(given)
    return read_dataset(path, DataOptions(target=target, task=task))


def refuse_other_tasks(dataset: Dataset, given: str) -> None:
    """See that a dataset is a table to predict a column of.

    Raises:
        UnusableError: it is not.
    """
    if dataset.task not in TABLES:
        raise UnusableError(
            f"it is a file for {dataset.task}, and this compares tables of rows",
            where=name_of(given),
        )


def arrays(given: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Dense features, the target, and whether it is a number.

    Raises:
        UnusableError: as `read_dataset` does, or the file is no table to predict a column of.
    """
    dataset = dataset_of(given)
    refuse_other_tasks(dataset, given)
    prepare: Any = preparation(dataset, scale=False, sparse_ok=False)
    X = prepare.fit_transform(dataset.features, dataset.target)
    return np.asarray(X, dtype=float), dataset.target, dataset.task == "regression"
