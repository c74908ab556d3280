"""Reading files, beside the reader that a person would call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from core.datasets.reading import read_dataset
from limits.work import TIMES, Work, seconds

ROWS = 1_000_000


def write_csv(path: Path, rows: int, *, texts: bool) -> None:
    """A table of 30 columns: 29 numbers (or 24 with 3 categories, a date and a yes/no) and y."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.standard_normal((rows, 29)).round(5), columns=[f"x{i}" for i in range(29)]
    )
    table["x1"] = rng.integers(0, 1000, rows)
    if texts:
        for i, count in enumerate((3, 20, 200)):
            words = np.array([f"kind {k}" for k in range(count)])
            table[f"x{i + 2}"] = words[rng.integers(0, count, rows)]
        days = rng.integers(0, 3000, rows).astype("timedelta64[D]")
        table["x6"] = np.datetime_as_string(np.datetime64("2015-01-01") + days)
        table["x7"] = np.where(rng.random(rows) < 0.5, "yes", "no")
        table["x8"] = table["x8"].mask(rng.random(rows) < 0.1)
    table["y"] = rng.integers(0, 2, rows)
    table.to_csv(path, index=False)


def write_libsvm(path: Path, rows: int, width: int, filled: int) -> None:
    """Rows of ``filled`` random pairs among ``width`` features, labels -1 and 1."""
    rng = np.random.default_rng(1)
    with path.open("w", encoding="ascii") as file:
        for _ in range(rows):
            indices = np.unique(rng.integers(1, width + 1, filled))
            values = rng.standard_normal(len(indices))
            pairs = " ".join(f"{i}:{v:.5f}" for i, v in zip(indices, values, strict=True))
            file.write(f"{rng.choice((-1, 1))} {pairs}\n")


@cache
def table(texts: bool) -> str:
    path = Path(tempfile.mkdtemp()) / "table.csv"
    write_csv(path, ROWS, texts=texts)
    return str(path)


@cache
def pairs(width: int, filled: int) -> str:
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
