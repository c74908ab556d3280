"""The names of a CRF's parameters, made one by one: ten million of them take gigabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, overload

from core.losses.crf.encoding import FeatureEncoding

INITIAL, TRANSITION = "initial", "transition"


class ParameterNames(Sequence[str]):
    """The names of all n parameters, each made when it is asked for."""

    def __init__(self, encoding: FeatureEncoding, classes: Sequence[Any]) -> None:
        self._encoding = encoding
        self._labels = [str(label) for label in classes]

    @cached_property
    def _origins(self) -> list[str]:
        """The words before the arrow: initial, the labels, the features; K parameters of each."""
        return [INITIAL, *self._labels, *self._encoding.names_and_columns()[0]]

    def __len__(self) -> int:
        K = len(self._labels)
        return K * (1 + K + self._encoding.feature_count)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        before, label = divmod(position, len(self._labels))
        return f"{self._origins[before]} → {self._labels[label]}"

    def __iter__(self) -> Iterator[str]:
        return (f"{before} → {label}" for before, label in product(self._origins, self._labels))


def sources_of(encoding: FeatureEncoding, classes: Sequence[Any]) -> list[str]:
    """Where every parameter comes from: initial, transition, or its column."""
    K, columns = len(classes), encoding.names_and_columns()[1]
    return [INITIAL] * K + [TRANSITION] * (K * K) + [name for name in columns for _ in range(K)]
