"""A file of a text or table, and the dataset that is read of it, as most tests of reading begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from core.datasets.dataset import Dataset
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset

Content = str | bytes | pd.DataFrame


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes a text, bytes or a table, and says where it is."""

    def written(content: Content, name: str = "table.csv", encoding: str = "utf-8") -> str:
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return str(path)

    return written


@pytest.fixture
def read(write: Callable[..., str]) -> Callable[..., Dataset]:
    """Reads a text, bytes or a table from a file, with a person's choices."""

    def dataset_of(
        content: Content, name: str = "table.csv", test_file: str = "", **choices: object
    ) -> Dataset:
        return read_dataset(write(content, name), DataOptions(**choices), test_file=test_file)

    return dataset_of
