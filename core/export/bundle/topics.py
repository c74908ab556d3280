"""Topics of new documents from the named arrays of topic models, by numpy alone.

An exported folder holds this file's source, and the program itself predicts through it
too. The arrays are described in core.export.bundle.folder_arrays; the notation is that of
core.estimators.lda.inference, whose compiled loops do the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.datasets.texts.words import words_of
from core.export.bundle.reading import UnreadableError, columns_of

LEAST = 1e-300  # keeps 0/0 away where a word is impossible


def predicted(
    arrays: Mapping[str, np.ndarray], text: str, tell: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """What every document is about, and how well its words were foretold.

    Args:
        arrays: the members, and the words that they know.
        text: CSV with the column of texts, or LIBSVM lines of counts.
        tell: (documents done, documents) from time to time.

    Returns:
        A header, and one row a document: the share of every topic of the best member; the log
        density of a random half of its words given the other half, averaged over the members, in
        nats; and how many words that half has.

    Raises:
        UnreadableError: a column is missing, or a count is no whole number.
    """
    settings = json.loads(str(arrays["settings"]))
    documents = _documents(arrays, settings, text)
    first, second = _halves(documents)
    weights = arrays["weights"]
    logs = np.empty((len(documents), len(weights)))
    shares: list[np.ndarray] = []
    best = int(np.argmax(weights))
    for t in range(len(weights)):
        lam = arrays[f"components_{t}"].T
        B, beta = exp_digamma(lam) / exp_digamma(lam.sum(axis=0)), lam / lam.sum(axis=0)
        how = (float(arrays["alpha"][t]), float(arrays["tolerance"][t]))
        steps = int(arrays["iterations"][t])
        for d, document in enumerate(documents):
            if t == best:
                shares.append(_shares(document, B, *how, steps))
            theta = _shares(first[d], B, *how, steps)
            words, counts = second[d]
            logs[d, t] = counts @ np.log(beta[words] @ theta) if len(words) else 0.0
        tell((t + 1) * len(documents), len(weights) * len(documents))
    most = logs.max(axis=1, keepdims=True)
    density = np.log(np.exp(logs - most) @ weights) + most[:, 0]
    sizes = [float(counts.sum()) for _, counts in second]
    topics = [f"topic {k + 1}" for k in range(arrays[f"components_{best}"].shape[0])]
    header = [*topics, "log density of half the words", "words in that half"]
    rows = zip(shares, density.tolist(), sizes, strict=True)
    return header, [[*share.tolist(), log, int(size)] for share, log, size in rows]


def exp_digamma(x: np.ndarray) -> np.ndarray:
    """Exp ψ(x) of positive numbers: ψ(x) = ψ(x + 10) − Σ_{i<10} 1/(x + i), the rest by its series.

    ψ(z) = ln z − 1/(2z) − 1/(12z²) + 1/(120z⁴) − 1/(252z⁶) + 1/(240z⁸) − …
    """
    total = sum(1.0 / (x + i) for i in range(10))
    z = x + 10.0
    q = 1.0 / (z * z)
    series = 0.5 / z + q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q / 240)))
    found: np.ndarray = z * np.exp(-series - total)
    return found


def _shares(
    document: tuple[np.ndarray, np.ndarray],
    B: np.ndarray,
    alpha: float,
    tolerance: float,
    iterations: int,
) -> np.ndarray:
    """E[θ] of one document: γ = α + e ∘ Σ_w (n_w / Σ_j e_j B_wj) B_w· until it settles."""
    words, counts = document
    own = B[words]
    gamma, e = np.ones(B.shape[1]), np.ones(B.shape[1])
    for _ in range(iterations):
        new = alpha + e * ((counts / (own @ e + LEAST)) @ own)
        change = float(np.abs(new - gamma).sum())
        gamma, e = new, exp_digamma(new)
        if change < tolerance * len(gamma):
            break
    shares: np.ndarray = gamma / gamma.sum()
    return shares


def _halves(documents: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Any, Any]:
    """Every document's words in two random halves, the first larger by at most one."""
    random = np.random.default_rng(0)
    first: list[Any] = []
    second: list[Any] = []
    for words, counts in documents:
        tokens = np.repeat(words, counts.astype(np.int64))
        order = np.argsort(random.random(len(tokens)), kind="stable")
        early = tokens[order[: (len(tokens) + 1) // 2]]
        late = tokens[order[(len(tokens) + 1) // 2 :]]
        for half, found in ((early, first), (late, second)):
            some, times = np.unique(half, return_counts=True)
            found.append((some, times.astype(float)))
    return first, second


def _documents(
    arrays: Mapping[str, np.ndarray], settings: dict[str, Any], text: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The numbers of the known words in every document, ascending, and how often each comes."""
    if settings["column"]:
        place = {word: number for number, word in enumerate(arrays["words"].tolist())}
        reading, column = settings["reading"], settings["column"]
        cells, _ = columns_of(text, [column], reading["quote"], reading["padded"])
        missing = set(_missing_words(reading["missing"], column))
        said = ("" if cell in missing else cell for cell in cells[column])
        return [_counted([place[w] for w in words_of(one) if w in place]) for one in said]
    columns = {int(column): number for number, column in enumerate(arrays["columns"])}
    zero_based = bool(settings["zero_based"])
    return [
        _of_pairs(pairs, columns, 0 if zero_based else 1)
        for pairs in (_pairs(line, at) for at, line in enumerate(text.splitlines(), start=1))
        if pairs is not None
    ]


def _missing_words(given: Any, column: str) -> list[str]:
    return list(given.get(column, [])) if isinstance(given, dict) else list(given)


def _counted(numbers: list[int]) -> tuple[np.ndarray, np.ndarray]:
    words, times = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
    return words, times.astype(float)


def _pairs(line: str, at: int) -> list[tuple[int, float]] | None:
    """The pairs index:count of a line; None for a line that says nothing."""
    cells = line.partition("#")[0].split()
    if not cells:
        return None
    pairs = []
    for cell in cells[":" not in cells[0] :]:
        index, _, count = cell.partition(":")
        try:
            pairs.append((int(index), float(count)))
        except ValueError:
            raise UnreadableError(f"“{cell[:40]}” is no index:count", f"line {at}") from None
        if not (float(count) >= 0 and float(count).is_integer()):
            raise UnreadableError(f"“{cell[:40]}” is no whole number of words", f"line {at}")
    return pairs


def _of_pairs(
    pairs: list[tuple[int, float]], columns: dict[int, int], first: int
) -> tuple[np.ndarray, np.ndarray]:
    known: dict[int, float] = {}
    for index, count in pairs:
        number = columns.get(index - first)
        if number is not None and count > 0:
            known[number] = known.get(number, 0.0) + count
    words = np.array(sorted(known), dtype=np.int64)
    return words, np.array([known[w] for w in words.tolist()], dtype=float)
