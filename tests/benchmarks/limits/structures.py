"""Sequences, molecules and topics, beside gradients, values and products on the same arrays."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse

from core.estimators.lda.online_lda import OnlineLda
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.rna.rna_loss import RnaLoss, build_rna
from core.optimize.descent import solve_penalized
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES
from limits.work import TIMES, Work, seconds

PAIRED = {"A": "U", "C": "G", "G": "C", "U": "A"}


@cache
def documents() -> sparse.csr_matrix:
    """5,000 documents of 50 planted topics, some 58 of 1,000 words each."""
    rng = np.random.default_rng(0)
    beta = rng.gamma(rng.dirichlet(np.full(1000, 0.5)) * 20.0 + 1e-9, size=(50, 1000)) + 1e-12
    beta /= beta.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(50, 0.05), 5000)
    lengths = np.maximum(1, rng.lognormal(3.6, 0.9, 5000).astype(int))
    drawn = [rng.multinomial(n, p @ beta) for n, p in zip(lengths, theta, strict=True)]
    return sparse.csr_matrix(np.stack(drawn).astype(float))


def passing(topics: int) -> Callable[[], float]:
    """Seconds of a pass over the documents in minibatches of 100."""

    def measured() -> float:
        X = documents()
        model = OnlineLda(topics, alpha=0.02, eta=0.02, minibatch=100, passes=1, random_state=0)
        model.fit(X[:200])  # compiles
        return seconds(lambda: model.fit(X), 3)

    return measured


def weighing(topics: int) -> Callable[[], float]:
    """Seconds of thirty products of every count's topics, as many as ten inner rounds take."""

    def measured() -> float:
        X = documents()
        gathered = np.random.default_rng(0).random((X.nnz, topics))
        one = np.ones(topics)
        return 30 * seconds(lambda: gathered @ one, 3)

    return measured


@cache
def text(sequences: int, length: int, labels: int, words: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Sentences whose words and endings hang on their tags, as text does."""
    rng = np.random.default_rng(0)
    count = sequences * length
    tags = rng.integers(0, labels, count)
    for k in range(1, count):
        if rng.random() < 0.5:
            tags[k] = (tags[k - 1] + 1) % labels
    common = np.minimum(rng.zipf(1.3, count), words) - 1
    word = (common * labels + np.where(rng.random(count) < 0.8, tags, 0)) % (3 * words)
    columns = {
        "sequence": np.repeat(np.arange(sequences), length),
        "word": word,
        "ending": word % (words // 3),
        "beginning": word % (words // 7),
        "shape": word % 5,
    }
    table = pd.DataFrame({name: pd.Series(values).astype(str) for name, values in columns.items()})
    return table, tags


@cache
def tagged(sequences: int, length: int, labels: int, words: int) -> CrfLoss:
    """The loss of such sentences, on one thread."""
    table, tags = text(sequences, length, labels, words)
    loss = build_crf(table, "sequence", tags, list(range(labels)))
    loss.threads = 1
    return loss


def sentences() -> CrfLoss:
    """600 sentences of 15 tokens, 17 labels."""
    return tagged(600, 15, 17, 2400)


def tokens() -> CrfLoss:
    """200,000 tokens, 50 labels."""
    return tagged(8000, 25, 50, 20_000)


def kinds() -> float:
    """Seconds of the implicit gradient with a penalty for every kind of feature."""
    loss = sentences()
    sources = list(dict.fromkeys(loss.sources))
    groups = np.array([sources.index(source) for source in loss.sources])
    table, tags = text(600, 15, 17, 2400)
    last = table["sequence"].astype(int).to_numpy() % 5 == 4
    halves = loss.for_data(table[~last], tags[~last]), loss.for_data(table[last], tags[last])
    problem = PenaltyProblem(loss, groups, holdout=[halves])
    begin = time.process_time()
    for _ in STRATEGIES["gradient"].make(problem):
        pass
    return time.process_time() - begin


def gradients(loss: Callable[[], CrfLoss], count: int) -> Callable[[], float]:
    """Seconds of so many gradients, each at another point."""

    def measured() -> float:
        own = loss()
        rng = np.random.default_rng(1)
        return count * seconds(
            lambda: own.value_and_gradient(0.3 * rng.standard_normal(own.size)), 5
        )

    return measured


def fitting() -> float:
    loss = tokens()
    begin = time.process_time()
    solve_penalized(loss, np.ones(loss.size), loss.initial_weights(), tolerance=1e-6)
    return time.process_time() - begin


TOLD = 1000  # names, spread evenly over all weights


def naming() -> float:
    """Seconds of telling what some of the weights are called, from the loss on."""
    loss = tokens()
    places = np.linspace(0, loss.size - 1, TOLD).astype(int)
    begin = time.process_time()
    names = loss.names
    assert len(names) == loss.size
    assert all(names[int(place)] for place in places)
    return time.process_time() - begin


def formatting() -> float:
    """Seconds of putting so many names together."""
    return seconds(lambda: [f"word={number} → {number}" for number in range(TOLD)], 9)


@cache
def molecule(bases: int) -> RnaLoss:
    letters = "".join(np.random.default_rng(bases).choice(list("ACGU"), bases))
    return build_rna([letters], ["." * bases], threads=1)


@cache
def hairpin(bases: int) -> RnaLoss:
    """Each base of the first half pairs with one of the second, but for a loop of four."""
    half = np.random.default_rng(0).choice(list("ACGU"), bases // 2 - 2)
    back = "".join(PAIRED[base] for base in reversed(half))
    stem = len(half)
    structure = "(" * stem + "...." + ")" * stem
    return build_rna(["".join(half) + "GAAA" + back], [structure], threads=1)


def gradient_of(bases: int, scale: float = 0.2) -> Callable[[], float]:
    """Seconds of a gradient at a new point; beyond a scale of some 50 in logarithms."""

    def measured() -> float:
        loss, rng = molecule(bases), np.random.default_rng(0)
        loss.value_and_gradient(scale * rng.standard_normal(loss.size))
        return seconds(lambda: loss.value_and_gradient(scale * rng.standard_normal(loss.size)), 7)

    return measured


def product_of(bases: int) -> Callable[[], float]:
    """Seconds of a product with the Hessian at the last gradient's point."""

    def measured() -> float:
        loss, rng = molecule(bases), np.random.default_rng(0)
        w, v = 0.2 * rng.standard_normal((2, loss.size))
        loss.point_at(w).product(v)
        loss.value_and_gradient(w)
        return seconds(lambda: loss.point_at(w).product(v), 7)

    return measured


def multiplied(bases: int) -> Callable[[], float]:
    """Seconds of the sums that a gradient consists of, as dot products of vectors in the cache.

    Inwards a pair of places extends 32 chains from two sides; one in 6/16 of them, whose letters
    pair, is summed over 32 large loops, bulges of both sides, 56 small loops and 11 symmetric ones;
    branches are a product for every three places. Outwards it is twice that, and the chains' uses.
    """
    cells, branches = bases**2 / 2, bases**3 / 6
    inwards = cells * 64 + cells * 6 / 16 * (3 * 32 + 56 + 11) + branches
    outwards = cells * 64 + cells * 90 + 2 * cells * 6 / 16 * (3 * 32 + 56 + 11) + 2 * branches

    def measured() -> float:
        a, b = np.random.default_rng(0).random((2, 2000))  # both in the first cache
        rounds = int((inwards + outwards) / a.size / 100)
        return 100 * seconds(lambda: [a.dot(b) for _ in range(rounds)], 5)

    return measured


def value_of(scale: float) -> Callable[[], float]:
    """Seconds of a value and gradient of the hairpin, with weights as large as trained ones."""

    def measured() -> float:
        loss = hairpin(1500)
        w = scale * np.abs(np.random.default_rng(0).standard_normal(loss.size))
        begin = time.process_time()
        loss.value_and_gradient(w)
        return time.process_time() - begin

    return measured


WORK = (
    Work("LDA, a pass over 5,000 documents, K = 50", 0.3, passing(50), weighing(50),
         "30 products of K a count"),
    Work("LDA, a pass over 5,000 documents, K = 200", 0.6, passing(200), weighing(200),
         "30 products of K a count"),
    Work("RNA, gradient of 200 bases", 0.005, gradient_of(200), multiplied(200),
         "its products, in vectors"),
    Work("RNA, Hessian product of 200 bases", 0.008, product_of(200),
         lambda: 2 * gradient_of(200)(), "2 gradients"),
    Work("RNA, gradient of 400 bases", 0.02, gradient_of(400), multiplied(400),
         "its products, in vectors"),
    Work("RNA, Hessian product of 400 bases", 0.032, product_of(400),
         lambda: 2 * gradient_of(400)(), "2 gradients"),
    Work("RNA, gradient of 100 bases, huge weights", 15.0, gradient_of(100, 100.0),
         gradient_of(100), "the same with moderate ones", TIMES),
    Work("RNA, a perfect hairpin of 1,500 bases, large weights", 8.0, value_of(1.0),
         value_of(0.0), "the same at w = 0"),
    Work("CRF, gradient by kind on 600 sentences", 30.0, kinds, gradients(sentences, 20),
         "20 gradients"),
    Work("CRF, one fit of 200,000 tokens, 50 labels", 40.0, fitting, gradients(tokens, 63),
         "63 gradients"),
    Work(f"CRF, {TOLD:,} of its millions of names", 0.1, naming, formatting, "as many formatted"),
)  # fmt: skip
