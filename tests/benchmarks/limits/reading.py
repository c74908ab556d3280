"""Reading files, beside the reader that a person would call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pandas as pd
from bench_reading import write_csv, write_libsvm
from sklearn.datasets import load_svmlight_file

from core.datasets.reading import read_dataset
from limits.work import TIMES, Work, seconds

ROWS = 1_000_000


@cache
def table(texts: bool) -> str:
    """A CSV of 30 columns."""
    path = Path(tempfile.mkdtemp()) / "table.csv"
    write_csv(path, ROWS, texts=texts)
    return str(path)


@cache
def pairs(width: int, filled: int) -> str:
    """A LIBSVM file of 20,000 rows."""
    path = Path(tempfile.mkdtemp()) / "table.libsvm"
    write_libsvm(path, 20_000, width, filled)
    return str(path)


def taking(read: Callable[[str], object], path: Callable[[], str]) -> Callable[[], float]:
    """Seconds of reading a file that lies in the system's cache."""
    return lambda: (path(), seconds(lambda: read(path()), 3))[1]


def _row(name: str, path: Callable[[], str], peer: Callable[[str], object], is_: str) -> Work:
    return Work(name, 1.3, taking(read_dataset, path), taking(peer, path), is_, TIMES)


WORK = (
    _row("CSV, 1e6 × 30, numbers", lambda: table(False), pd.read_csv, "pandas.read_csv"),
    _row("CSV, 1e6 × 30, texts and dates", lambda: table(True), pd.read_csv, "pandas.read_csv"),
    _row("LIBSVM, 2e4 × 5e4, 50 pairs a row", lambda: pairs(50_000, 50), load_svmlight_file,
         "load_svmlight_file"),
    _row("LIBSVM, 2e4 × 200, 200 pairs a row", lambda: pairs(200, 200), load_svmlight_file,
         "load_svmlight_file"),
)  # fmt: skip
