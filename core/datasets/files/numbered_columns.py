"""The columns of a LIBSVM file: numbered, and described on access."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from core.datasets.dataset import Column


class NumberedColumns(Sequence[Column]):
    """Columns "feature 1" … "feature p" and the target, made on access.

    Args:
        filled: p booleans: whether a feature is nonzero in some row.
        target: the last column.
        called: the noun in the features' names.
    """

    def __init__(self, filled: np.ndarray, target: Column, called: str = "feature") -> None:
        self._filled = filled
        self._target = target
        self.called = called

    @cached_property
    def _all_columns(self) -> tuple[Column, ...]:
        notes = ["" if is_filled else "0 in every row" for is_filled in self._filled.tolist()]
        features = [
            Column(f"{self.called} {i}", "feature", "number", note=note)
            for i, note in enumerate(notes, 1)
        ]
        return (*features, self._target)

    def __len__(self) -> int:
        return len(self._filled) + 1

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...
    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        if index in (-1, len(self._filled)):
            return self._target
        return self._all_columns[index]
