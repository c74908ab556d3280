"""What the tests of runs share: datasets that are read once, and how events are picked."""

import pytest

from core.datasets.dataset import Dataset
from core.datasets.reading import read_dataset


@pytest.fixture(scope="session")
def iris() -> Dataset:
    return read_dataset("sample:iris")


@pytest.fixture(scope="session")
def wine() -> Dataset:
    return read_dataset("sample:wine")
