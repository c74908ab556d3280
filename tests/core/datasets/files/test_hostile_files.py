"""Files that are made to take time or memory: read, or refused in a sentence, at small cost."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.file_bytes import unchanged
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

MAX_SECONDS = 30  # of a processor that others use too; in linear time it is one or two


def seconds(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


def test_columns_in_their_thousands(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).integers(0, 10, (20, 20_001))
    path = tmp_path / "wide.csv"
    pd.DataFrame(numbers).add_prefix("c").to_csv(path, index=False)
    assert seconds(lambda: read_dataset(str(path), DataOptions(target="c0"))) < MAX_SECONDS


@pytest.mark.parametrize(
    "text",
    ['a,b\n1,"{}",2\n', 'a,b\n"{}', 'a,b\n1,2\n3,"{}"\n'],
    ids=["in a row too many", "open", "in a cell"],
)
def test_millions_of_quotes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "quotes.csv"
    path.write_text(text.format('""' * 1_500_000))

    def read() -> None:
        with contextlib.suppress(UnusableError):
            read_dataset(str(path))

    assert seconds(read) < MAX_SECONDS


def test_empty_cells_alone(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("a,b,c\n" + ",,\n" * 300_000)
    with pytest.raises(UnusableError, match="every cell below the header is empty"):
        read_dataset(str(path))


def test_blank_lines_under_the_header(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    rows = "".join(f"{i * 7 % 5},{i * i % 11},{i % 2}\n" for i in range(60))
    path.write_text("a,b,y\n" + "\n" * 1000 + rows)
    dataset = read_dataset(str(path))
    assert (dataset.rows, dataset.feature_names) == (60, ["a", "b"])


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "growing.csv"
    path.write_text("a,y\n1,0\n")
    with unchanged(path):
        path.read_text()
    with pytest.raises(UnusableError, match="the file changed while it was read"), unchanged(path):
        path.write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(UnusableError, match="the file is gone"), unchanged(path):
        os.remove(path)


@pytest.mark.parametrize("cells", ['"None"\r\n"#DIV/0!"', "x\n1\n2"])
def test_an_empty_cell_above_the_only_column_is_a_blank_line(tmp_path, cells):
    path = tmp_path / "one.csv"
    path.write_text(f'\ufeff""\r\n{cells}\r\n', encoding="utf-8")
    with pytest.raises(UnusableError, match=r"only one column|every cell below the header"):
        read_dataset(str(path))
