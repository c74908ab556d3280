"""What is independent in a dataset: a row, a patient, the copies of a row, a moment of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.split_units import item_codes, unit_noun, with_units
from core.wording import count_text


@dataclass(frozen=True)
class Units:
    """Which rows belong to one unit. Statistics count units, since rows of one are alike."""

    codes: np.ndarray  # the unit of every row, shape (n,); of time, growing with it
    noun: str = "row"  # what one is called
    is_time: bool = False  # whether units next to each other are alike as well

    @cached_property
    def index(self) -> np.ndarray:
        """The codes from 0 without gaps, in their order, shape (n,)."""
        return np.unique(self.codes, return_inverse=True)[1]

    @cached_property
    def count(self) -> int:
        return int(self.index.max(initial=-1)) + 1

    @cached_property
    def row_shares(self) -> np.ndarray:
        """The share of the rows that each unit has, in the order of `index`."""
        return np.bincount(self.index) / len(self.codes)

    @property
    def has_groups(self) -> bool:
        return self.count < len(self.codes)

    @property
    def plural_noun(self) -> str:
        return f"{self.noun[:-1]}ies" if self.noun.endswith("ly") else f"{self.noun}s"

    @property
    def count_text(self) -> str:
        """Such as "3 patients"."""
        return count_text(self.count, self.noun, self.plural_noun)

    def take_rows(self, rows: np.ndarray) -> Units:
        return replace(self, codes=self.codes[rows])

    def unit_sums(self, values: np.ndarray) -> np.ndarray:
        """The sum over each unit's rows of numbers, shape (n,), in the order of `index`."""
        return np.bincount(self.index, values, self.count)


def join_units(units: Units, max_count: int) -> Units:
    """Units joined to so many at most: moments to blocks of time in order, others at random."""
    if units.count <= max_count:
        return units
    if units.is_time:
        sizes = np.bincount(units.index)
        # Blocks of about as many rows, by the middle of each moment.
        block = ((np.cumsum(sizes) - sizes / 2) * max_count / sizes.sum()).astype(int)
    else:
        block = np.random.default_rng(0).permutation(units.count) % max_count
    return replace(units, codes=block[units.index])


def single_rows(count: int, noun: str = "row") -> Units:
    """Every row a unit."""
    return Units(np.arange(count), noun)


def dataset_units(dataset: Dataset) -> Units:
    """The units of a dataset: what no split divides, else moments where the latest rows test."""
    is_series = dataset.times is not None and dataset.row_groups is None
    if dataset.kept_together is not None and not is_series:
        _, codes = np.unique(dataset.kept_together.astype(str), return_inverse=True)
        return Units(codes, unit_noun(dataset))
    # Single rows of a series resemble those before them.
    if dataset.times is not None:
        _, codes = np.unique(dataset.times, return_inverse=True)
        return Units(codes, "moment", is_time=True)
    return Units(item_codes(dataset), dataset.task.item)


def file_units(test: Dataset) -> Units:
    """The units of a second file, whose equal rows were not looked for before."""
    if test.units is None and test.task.is_table and not test.is_sparse:
        test = with_units(test)
    return dataset_units(test)
