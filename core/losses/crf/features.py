"""The features of units as a matrix that is multiplied with, sparse or, where small, dense.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| U, F, K | | | units (different tokens), features, labels |
| X | | (U, F) | value of every feature, 1 or 0 for a category's |
| W | ``W`` | (F, K) | weights |
| R | ``R`` | (U, K) | a number for every unit and label |
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from core.losses.crf.chain import add_numbers, add_rows
from core.losses.crf.chunks import chunk_bounds, run_chunks
from core.losses.crf.encoding import Tokens

_LARGEST_DENSE = 1_000_000  # entries of X
_DENSE_SHARE = 0.05  # of entries that are active


class FeatureMatrix:
    """X of the units of tokens, with products from both sides."""

    def __init__(self, tokens: Tokens, size: int, states: int) -> None:
        self.tokens, self.size, self.states = tokens, size, states
        self.units = len(tokens.begins) - 1
        entries = len(tokens.features) + tokens.numbers.size
        cells = self.units * size
        self.is_dense = cells <= _LARGEST_DENSE and entries >= _DENSE_SHARE * cells
        self.entries = cells if self.is_dense else entries  # what a product for one label costs
        # The transpose: the units of one feature after another.
        order = np.argsort(tokens.features, kind="stable")
        unit = np.repeat(np.arange(self.units), np.diff(tokens.begins))
        self.owners = unit[order].astype(np.int32)
        counts = np.bincount(tokens.features, minlength=size)
        self.owners_begin = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        extra = tokens.numbers.shape[1]
        self._units = chunk_bounds((tokens.begins + extra * np.arange(self.units + 1)) * states)
        self._features = chunk_bounds(self.owners_begin * states)

    @cached_property
    def dense_matrix(self) -> np.ndarray:
        """X, shape (U, F)."""
        X = np.zeros((self.units, self.size))
        tokens = self.tokens
        X[np.repeat(np.arange(self.units), np.diff(tokens.begins)), tokens.features] = 1.0
        X[:, tokens.number_features] = tokens.numbers
        return X

    def fill_scores(self, W: np.ndarray, out: np.ndarray, threads: int) -> None:
        """Fills out (U, K) with X W."""
        t = self.tokens

        def fill_chunk(chunk: int, first: int, last: int) -> None:
            add_rows(W, t.begins, t.features, first, last, out)
            add_numbers(W, t.numbers, t.number_features, first, last, out)

        if self.is_dense:
            np.matmul(self.dense_matrix, W, out=out)
        else:
            run_chunks(fill_chunk, self._units, threads)

    def transpose_product(self, R: np.ndarray, threads: int, power: int = 1) -> np.ndarray:
        """Xᵀ R, shape (F, K); with power 2 the squares of X take its place."""
        if self.is_dense:
            return (self.dense_matrix if power == 1 else np.square(self.dense_matrix)).T @ R
        out = np.empty((self.size, self.states))

        def sum_chunk(chunk: int, first: int, last: int) -> None:
            add_rows(R, self.owners_begin, self.owners, first, last, out)

        run_chunks(sum_chunk, self._features, threads)
        numbers = self.tokens.numbers
        if numbers.shape[1]:
            out[self.tokens.number_features] = (numbers**power).T @ R
        return out
