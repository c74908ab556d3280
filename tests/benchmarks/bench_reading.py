"""Reading files: this program beside pandas.read_csv and scikit-learn's LIBSVM loader.

Ours does more in the time: it finds out how the file is written, describes every column, looks for
duplicate rows and for columns that give the target away, and takes the file's fingerprint.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import own_files
import pandas as pd
from sklearn.datasets import load_svmlight_file

from core.datasets.reading import read_dataset


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


def seconds(read: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    read()
    return time.perf_counter() - start


def compare(
    title: str, ours: Callable[[], object], theirs: Callable[[], object], limit: float, times: int
) -> None:
    """Print the medians of alternating calls and their ratio."""
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(times)]
    peer = statistics.median(pair[0] for pair in pairs)
    own = statistics.median(pair[1] for pair in pairs)
    print(f"{title:<44}{peer:>9.2f} s{own:>9.2f} s{own / peer:>8.2f}  (at most {limit})")


def main() -> None:
    """Write the files, read them, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    own_files.add_to(parser)
    chosen = parser.parse_args()
    print(f"{'file':<44}{'peer':>11}{'ours':>11}{'ratio':>8}")
    for given in chosen.files:
        path, tabular = own_files.divided(given)[0], own_files.is_table(given)
        peer = pd.read_csv if tabular else load_svmlight_file
        with own_files.refusing(parser):
            compare(
                own_files.name_of(given),
                lambda given=given: own_files.dataset_of(given),
                lambda path=path, peer=peer: peer(path),
                1.5 if tabular else 1.2,
                chosen.times,
            )
    if chosen.files:
        return
    with tempfile.TemporaryDirectory() as folder:
        for texts in (False, True):
            path = Path(folder) / f"texts-{texts}.csv"
            write_csv(path, chosen.rows, texts=texts)
            compare(
                f"CSV, {chosen.rows:,} × 30, {'texts and dates' if texts else 'numbers'}",
                lambda path=path: read_dataset(str(path)),
                lambda path=path: pd.read_csv(path),
                1.5 if texts else 1.3,
                chosen.times,
            )
            path.unlink()
        for rows, width, filled in ((20_000, 50_000, 50), (20_000, 200, 200)):
            path = Path(folder) / f"{width}.libsvm"
            write_libsvm(path, rows, width, filled)
            compare(
                f"LIBSVM, {rows:,} × {width:,}, {filled} pairs a row",
                lambda path=path: read_dataset(str(path)),
                lambda path=path: load_svmlight_file(str(path)),
                1.2,
                chosen.times,
            )


if __name__ == "__main__":
    main()
