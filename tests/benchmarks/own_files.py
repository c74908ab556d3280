"""Files that a person names for a benchmark: PATH or PATH:TARGET, as numbers alone."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.preparation import preparation
from core.datasets.raw_table import Choices
from core.datasets.reading import read_dataset


def add_to(parser: argparse.ArgumentParser) -> None:
    """The option."""
    parser.add_argument(
        "--files",
        nargs="*",
        default=[],
        metavar="PATH[:TARGET]",
        help="CSV or LIBSVM files in place of the usual ones; the target where it is not the last "
        "column",
    )


def divided(given: str) -> tuple[str, str]:
    """The path, and the target; "" for the last column."""
    path, _, target = given.rpartition(":")
    return (path, target) if path and "/" not in target and "\\" not in target else (given, "")


def name_of(given: str) -> str:
    """The file's name alone."""
    return Path(divided(given)[0]).name


def arrays(given: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Dense features, the target, and whether it is a number.

    Raises:
        UnusableError: as `read_dataset` does.
    """
    path, target = divided(given)
    dataset = read_dataset(path, Choices(target=target))
    prepare: Any = preparation(dataset, scale=False, sparse_ok=False)
    X = prepare.fit_transform(dataset.features, dataset.target)
    return np.asarray(X, dtype=float), dataset.target, dataset.task == "regression"
