"""The columns of a LIBSVM file, which have numbers for names and are described when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import overload

import numpy as np

from core.datasets.dataset import Column


class NumberedColumns(Sequence[Column]):
    """The columns "feature 1" … "feature p" and the target, in place of a tuple of them.

    A file may have millions of features; making a Column for each takes as long as reading a
    sparse file does, and reading alone needs none of them.

    Args:
        filled: p truth values: whether a feature is anything but 0 in some row.
        target: the target's column, the last one.
        called: what a feature is called.
    """

    def __init__(self, filled: np.ndarray, target: Column, called: str = "feature") -> None:
        self._filled = filled
        self._target = target
        self.called = called

    @cached_property
    def _all_columns(self) -> tuple[Column, ...]:
        features = [
            Column(
                f"{self.called} {i + 1}", "feature", "number", note="" if used else "0 in every row"
            )
            for i, used in enumerate(self._filled.tolist())
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
