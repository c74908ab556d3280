"""The linear-chain CRF as a loss: −log p of the labels, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| K, F | ``states``, | | labels, features |
| n | ``size`` | | K + K² + F K parameters: initial, transition (from-major), each feature's K |
| Z | | | sum over labelings of exp(score) |
| c | ``observed`` | (n,) | how often every feature is active in the labels as given |
| E[c] | | (n,) | the same expected over labelings with probability exp(score)/Z |

loss = Σ log Z − wᵀc, gradient = E[c] − c, Hessian = covariance of c (Do 2008, eq. 1–3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.losses.crf.chain import add_scores, labeling_score, parts
from core.losses.crf.encoding import Encoding, Tokens, encoding_of
from core.losses.crf.wide import wide_change, wide_counts


class CrfLoss:
    """−log p(labels | tokens), summed over sequences.

    Args:
        encoding: what tells the features of a token.
        classes: the K labels.
        tokens: the tokens.
        codes: the place of every token's label among the classes, shape (N,).
    """

    def __init__(
        self, encoding: Encoding, classes: tuple[Any, ...], tokens: Tokens, codes: np.ndarray
    ) -> None:
        self.encoding, self.classes = encoding, classes
        self.tokens, self.codes = tokens, codes
        self.names, self.sources = _names(encoding, classes)
        self._at: np.ndarray | None = None

    @property
    def states(self) -> int:
        """How many labels there are (K)."""
        return len(self.classes)

    @property
    def examples(self) -> int:
        """How many sequences there are."""
        return len(self.tokens.starts) - 1

    @property
    def size(self) -> int:
        """How many parameters there are (n)."""
        return self.states * (1 + self.states + self.encoding.size)

    def start(self) -> np.ndarray:
        """Zeros: every labeling is as probable as any other."""
        return np.zeros(self.size)

    def on(self, table: pd.DataFrame, y: Any) -> CrfLoss:
        """The same parameters, on other tokens.

        Raises:
            ValueError: a label is not among the classes.
        """
        tokens = self.encoding.tokens(table)
        return CrfLoss(self.encoding, self.classes, tokens, codes_among(y, self.classes))

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient at w."""
        if self._at is None or not np.array_equal(w, self._at):
            self._evaluate(w)
        return self._value, self._gradient.copy()

    def _evaluate(self, w):
        K, tokens = self.states, self.tokens
        initial, transition, scores = parts(w, K, tokens)
        N = tokens.count
        ahead, behind, p = np.empty((3, N, K))
        pairs = np.zeros((K, K))
        value = 0.0
        for first, last in zip(tokens.starts[:-1], tokens.starts[1:], strict=True):
            value += wide_counts(
                first, last, tokens.unit, scores, initial, transition, ahead, behind, p, pairs
            )
            value -= labeling_score(
                first, last, tokens.unit, scores, initial, transition, self.codes
            )
        self._state = (scores, transition, ahead, behind, p.copy())
        p[np.arange(N), self.codes] -= 1.0
        starts = tokens.starts
        inner = np.ones(N, bool)
        inner[starts[:-1]] = False
        t = np.flatnonzero(inner)
        np.subtract.at(pairs, (self.codes[t - 1], self.codes[t]), 1.0)
        self._gradient = self._gather(p, pairs)
        self._value, self._at = value, w.copy()

    def _gather(self, p, pairs):
        K, tokens = self.states, self.tokens
        R = np.zeros((len(tokens.begins) - 1, K))
        np.add.at(R, tokens.unit, p)
        G = np.zeros((self.encoding.size, K))
        np.add.at(G, tokens.features, np.repeat(R, np.diff(tokens.begins), axis=0))
        G[tokens.number_features] += tokens.numbers.T @ R
        return np.concatenate((p[tokens.starts[:-1]].sum(axis=0), pairs.ravel(), G.ravel()))

    def hessian_product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The exact Hessian at w times v, shape (n,)."""
        self.value_and_gradient(w)
        K, tokens = self.states, self.tokens
        v_initial, v_step, turns = parts(v, K, tokens)
        scores, transition, ahead, behind, _ = self._state
        a, b, p = np.empty((3, tokens.count, K))
        pairs = np.zeros((K, K))
        for first, last in zip(tokens.starts[:-1], tokens.starts[1:], strict=True):
            wide_change(
                first, last, tokens.unit, scores, transition, ahead, behind,
                turns, v_initial, v_step, a, b, p, pairs,
            )  # fmt: skip
        return self._gather(p, pairs)

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """The dense Hessian."""
        if self.size > 400:
            return None
        return np.array([self.hessian_product(w, row) for row in np.eye(self.size)])

    def hessian_diagonal(self, w: np.ndarray) -> np.ndarray:
        """Σ x² p (1 − p): the Hessian's diagonal but for the coupling between tokens."""
        self.value_and_gradient(w)
        p = self._state[4]
        K, tokens = self.states, self.tokens
        R = np.zeros((len(tokens.begins) - 1, K))
        np.add.at(R, tokens.unit, p * (1 - p))
        G = np.zeros((self.encoding.size, K))
        np.add.at(G, tokens.features, np.repeat(R, np.diff(tokens.begins), axis=0))
        G[tokens.number_features] += np.square(tokens.numbers).T @ R
        f = p[tokens.starts[:-1]]
        pairs = np.full(K * K, tokens.count / K**2)
        return np.concatenate(((f * (1 - f)).sum(axis=0), pairs, G.ravel()))


def build_crf(table: pd.DataFrame, sequence: str, y: Any, classes: Sequence[Any]) -> CrfLoss:
    """The loss of a table of tokens.

    Args:
        table: one row a token, those of a sequence together and in order.
        sequence: the column that says which sequence a token belongs to.
        y: a label for every token, shape (N,).
        classes: the labels, also such as these tokens do not have.

    Raises:
        UnusableError: there is one label only, or no feature.
        ValueError: a label is not among the classes.
    """
    if len(classes) < 2:
        raise UnusableError(
            "all tokens have the same label", cure="take a file with at least two labels"
        )
    encoding = encoding_of(table, sequence)
    if not encoding.columns:
        raise UnusableError(
            "no column says anything about the tokens",
            cure="keep at least one column with different values as a feature",
        )
    tokens = encoding.tokens(table)
    return CrfLoss(encoding, tuple(classes), tokens, codes_among(y, tuple(classes)))


def codes_among(y: Any, classes: tuple[Any, ...]) -> np.ndarray:
    """The place of every label among the classes, shape (N,).

    Raises:
        ValueError: a label is not among them.
    """
    codes = pd.Index(list(classes)).get_indexer(pd.Index(np.asarray(y)))
    if (codes < 0).any():
        unknown = np.asarray(y)[np.argmax(codes < 0)]
        raise ValueError(f"label {unknown!r} is not among the classes")
    return np.asarray(codes, dtype=np.int64)


def _names(encoding: Encoding, classes: tuple[Any, ...]) -> tuple[list[str], list[str]]:
    """What every parameter is called, and where it comes from."""
    features, columns = encoding.names()
    names = [f"initial → {label}" for label in classes]
    names += [f"{one} → {other}" for one in classes for other in classes]
    names += [f"{feature} → {label}" for feature in features for label in classes]
    K = len(classes)
    sources = ["initial"] * K + ["transition"] * (K * K)
    sources += [column for column in columns for _ in range(K)]
    return names, sources
