"""Folds that are the same in every fit; exported scripts hold this source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold

RANDOM_FOLDS = KFold(5, shuffle=True, random_state=0)


class FixedFolds(BaseCrossValidator):
    """Folds of rows that are told by their index from 0; `folds` has a digit for each row."""

    def __init__(self, folds: str) -> None:
        self.folds = folds

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.folds!r})"  # the usual one leaves digits out

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(set(self.folds))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """The positions outside and inside each fold; random ones where only one fold is there."""
        fold = np.frombuffer(self.folds.encode(), dtype=np.uint8)[np.asarray(X.index)]
        present = np.unique(fold)
        if len(present) < 2:
            yield from RANDOM_FOLDS.split(X)
        else:
            for number in present:
                yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
