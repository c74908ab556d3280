"""Reading files, describing them and predicting, beside what a person would call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from app.cli import main as run_command
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.export.prediction import load_model, predictions_table
from core.export.using.file_prediction import predict_into
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


def write_one_kind(path: Path, rows: int, kind: str) -> None:
    """29 columns of one kind and y."""
    rng, columns = np.random.default_rng(0), dict[str, object]()
    for i in range(29):
        if kind == "categories":
            columns[f"x{i}"] = rng.choice(["red", "green", "blue", "dark grey"], rows)
        elif kind == "dates":
            days = rng.integers(0, 1000, rows).astype("timedelta64[D]")
            columns[f"x{i}"] = np.datetime_as_string(np.datetime64("2020-01-01") + days)
        else:
            columns[f"x{i}"] = [f"item {k} of the shop" for k in rng.integers(0, 10**6, rows)]
    columns["x0"] = rng.standard_normal(rows).round(4)
    pd.DataFrame(columns).assign(y=rng.integers(0, 2, rows)).to_csv(path, index=False)


@cache
def table(kind: str, rows: int) -> str:
    path = Path(tempfile.mkdtemp()) / "table.csv"
    if kind in ("numbers", "texts and dates"):
        write_csv(path, rows, texts=kind != "numbers")
    else:
        write_one_kind(path, rows, kind)
    return str(path)


@cache
def pairs(rows: int, width: int, filled: int) -> str:
    path = Path(tempfile.mkdtemp()) / "table.libsvm"
    write_libsvm(path, rows, width, filled)
    return str(path)


@cache
def model_and_rows(rows: int) -> tuple[str, str]:
    """An exported model of a table, and new rows like it."""
    folder, file = Path(tempfile.mkdtemp()), table("numbers", 10_000)
    tune = ["tune", file, "--model", "logistic", "--strategy", "random", "--trials", "1"]
    run_command([*tune, "--run-dir", str(folder / "run")])
    run_command(["export", str(folder / "run"), str(folder / "model.skops")])
    return str(folder / "model.skops"), table("numbers", rows)


def predict_rows(rows: int) -> float:
    model, file = model_and_rows(rows)
    return seconds(lambda: predict_into(model, file, Path(file).with_name("answers.csv")), 3)


def predict_by_pandas(rows: int) -> float:
    """Seconds of reading the rows, predicting, and writing both."""
    path, file = model_and_rows(rows)
    pipeline, out = load_model(path)[0], Path(file).with_name("peer.csv")

    def answer() -> None:
        frame = pd.read_csv(file)
        answers = predictions_table(pipeline, frame)
        pd.concat([frame, answers], axis=1).to_csv(out, index=False)

    return seconds(answer, 3)


def summarizing() -> float:
    dataset = read_dataset(table("texts and dates", ROWS))
    return seconds(lambda: summarize(dataset), 3)


def taking(read: Callable[[str], object], path: Callable[[], str]) -> Callable[[], float]:
    """Seconds of reading a file that lies in the system's cache."""
    return lambda: (path(), read(path()), seconds(lambda: read(path()), 3))[-1]


def _row(name: str, path: Callable[[], str], peer: Callable[[str], object], asked: float) -> Work:
    now, limit = taking(read_dataset, path), taking(peer, path)
    return Work(name, asked, now, limit, peer.__name__, TIMES)


def _csv_row(kind: str, rows: int, asked: float) -> Work:
    return _row(
        f"CSV, {rows:.0e} × 30, {kind}".replace("+0", ""),
        partial(table, kind, rows),
        pd.read_csv,
        asked,
    )


WORK = (
    *(_csv_row("numbers", rows, 1.3) for rows in (10_000, 100_000, ROWS)),
    *(_csv_row("texts and dates", rows, 1.5) for rows in (10_000, 100_000, ROWS)),
    *(_csv_row(kind, 100_000, 1.5) for kind in ("categories", "dates", "texts")),
    _row("LIBSVM, 2e4 × 5e4, 50 pairs a row", partial(pairs, 20_000, 50_000, 50),
         load_svmlight_file, 1.3),
    _row("LIBSVM, 2e4 × 200, 200 pairs a row", partial(pairs, 20_000, 200, 200),
         load_svmlight_file, 1.3),
    _row("LIBSVM, 1e5 × 1e4, 50 pairs a row", partial(pairs, 100_000, 10_000, 50),
         load_svmlight_file, 0.7),
    Work("summary, 1e6 × 30, texts and dates", 2.0, summarizing,
         taking(read_dataset, partial(table, "texts and dates", ROWS)), "reading it", TIMES),
    Work("predict, 1e5 × 30, logistic", 1.0, partial(predict_rows, 100_000),
         partial(predict_by_pandas, 100_000), "pandas: read, predict, write", TIMES),
)  # fmt: skip
