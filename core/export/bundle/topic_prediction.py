"""Topics of documents from `core.export.bundle.lda_carrier`; carried into folders.

Notation of core.estimators.lda.inference, whose compiled loops do the same.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from core.datasets.texts.words import words_of
from core.export.bundle.csv_rows import UnreadableError, cell_format_of, columns_of, libsvm_pairs

MIN_DENOMINATOR = 1e-300  # keeps 0/0 away where a word is impossible


def predict_table(
    arrays: Mapping[str, np.ndarray], text: str, report: Callable[[int, int], None]
) -> tuple[list[str], list[list[Any]]]:
    """Header and rows: what every document is about, and how well its words were foretold.

    The share of every topic of the best member; the log density of a random half of the words given
    the other half, averaged over the members, in nats; and how many words that half has. The text
    is CSV with the column of texts, or LIBSVM lines of counts; an UnreadableError says that the
    column is missing, or a count is no whole number.
    """
    settings = json.loads(str(arrays["settings"]))
    documents = _documents(arrays, settings, text)
    first, second = _split_halves(documents)
    weights = arrays["weights"]
    logs = np.empty((len(documents), len(weights)))
    shares: list[np.ndarray] = []
    best = int(np.argmax(weights))
    for t in range(len(weights)):
        lam = arrays[f"components_{t}"].T
        B, beta = exp_digamma(lam) / exp_digamma(lam.sum(axis=0)), lam / lam.sum(axis=0)
        options = (float(arrays["alpha"][t]), float(arrays["tolerance"][t]))
        steps = int(arrays["iterations"][t])
        for d, document in enumerate(documents):
            if t == best:
                shares.append(_topic_shares(document, B, *options, steps))
            theta = _topic_shares(first[d], B, *options, steps)
            words, counts = second[d]
            logs[d, t] = counts @ np.log(beta[words] @ theta) if len(words) else 0.0
        report((t + 1) * len(documents), len(weights) * len(documents))
    max_logs = logs.max(axis=1, keepdims=True)
    density = np.log(np.exp(logs - max_logs) @ weights) + max_logs[:, 0]
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
    exp_psi: np.ndarray = z * np.exp(-series - total)
    return exp_psi


def _topic_shares(
    document: tuple[np.ndarray, np.ndarray],
    B: np.ndarray,
    alpha: float,
    tolerance: float,
    iterations: int,
) -> np.ndarray:
    """E[θ] of one document: γ = α + e ∘ Σ_w (n_w / Σ_j e_j B_wj) B_w· until it settles."""
    words, counts = document
    word_rows = B[words]
    gamma, e = np.ones(B.shape[1]), np.ones(B.shape[1])
    for _ in range(iterations):
        new = alpha + e * ((counts / (word_rows @ e + MIN_DENOMINATOR)) @ word_rows)
        change = float(np.abs(new - gamma).sum())
        gamma, e = new, exp_digamma(new)
        if change < tolerance * len(gamma):
            break
    shares: np.ndarray = gamma / gamma.sum()
    return shares


def _split_halves(documents: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    first: list[Any] = []
    second: list[Any] = []
    for words, counts in documents:
        tokens = np.repeat(words, counts.astype(np.int64))
        order = np.argsort(random.random(len(tokens)), kind="stable")
        half = (len(tokens) + 1) // 2
        first.append(_count_words(tokens[order[:half]]))
        second.append(_count_words(tokens[order[half:]]))
    return first, second


def _documents(
    arrays: Mapping[str, np.ndarray], settings: dict[str, Any], text: str
) -> list[tuple[np.ndarray, np.ndarray]]:
    if settings["column"]:
        number_of_word = {word: number for number, word in enumerate(arrays["words"].tolist())}
        cell_format, column = cell_format_of(settings), settings["column"]
        cells, _ = columns_of(text, [column], cell_format)
        missing = cell_format.missing_words(column)
        documents = ("" if cell in missing else cell for cell in cells[column])
        return [
            _count_words([number_of_word[w] for w in words_of(document) if w in number_of_word])
            for document in documents
        ]
    columns = {int(column): number for number, column in enumerate(arrays["columns"])}
    first = 0 if settings["zero_based"] else 1
    return [_counts_of_columns(*line, columns, first) for line in libsvm_pairs(text)]


def _count_words(numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    words, times = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
    return words, times.astype(float)


def _counts_of_columns(
    line_number: int, pairs: list[tuple[int, float]], columns: dict[int, int], first: int
) -> tuple[np.ndarray, np.ndarray]:
    count_of_word: dict[int, float] = {}
    for index, count in pairs:
        if not (count >= 0 and count.is_integer()):
            fault = f"“{index}:{count:g}” is no whole number of words"
            raise UnreadableError(fault, f"line {line_number}")
        number = columns.get(index - first)
        if number is not None and count > 0:
            count_of_word[number] = count_of_word.get(number, 0.0) + count
    words = np.array(sorted(count_of_word), dtype=np.int64)
    return words, np.array([count_of_word[w] for w in words.tolist()], dtype=float)
