"""What a CRF's parameters are called: told one by one, as ten million take gigabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, overload

from core.losses.crf.encoding import Encoding

INITIAL, TRANSITION = "initial", "transition"


class ParameterNames(Sequence[str]):
    """The names of all n parameters, each made when it is asked for.

    Args:
        encoding: what tells the features of a token.
        classes: the K labels.
    """

    def __init__(self, encoding: Encoding, classes: Sequence[Any]) -> None:
        self._encoding = encoding
        self._labels = [str(label) for label in classes]

    @cached_property
    def _from(self) -> list[str]:
        """What stands before the arrow: initial, the labels, the features; K parameters of each."""
        return [INITIAL, *self._labels, *self._encoding.names()[0]]

    def __len__(self) -> int:
        K = len(self._labels)
        return K * (1 + K + self._encoding.size)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        before, label = divmod(place, len(self._labels))
        return f"{self._from[before]} → {self._labels[label]}"

    def __iter__(self) -> Iterator[str]:
        return (f"{before} → {label}" for before, label in product(self._from, self._labels))


def sources_of(encoding: Encoding, classes: Sequence[Any]) -> list[str]:
    """Where every parameter comes from: initial, transition, or its column."""
    K, columns = len(classes), encoding.names()[1]
    found = [INITIAL] * K + [TRANSITION] * (K * K)
    for column in columns:
        found += [column] * K
    return found
