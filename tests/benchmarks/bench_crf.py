"""The linear-chain CRF beside CRFsuite: our gradient and Hessian product, its L-BFGS iteration.

CRFsuite (python-crfsuite, lbfgs, c2 = 1) is given feature.possible_states and
feature.possible_transitions, so that it has the same parameters as ours: every (value, label)
pair. Its iteration is timed as the difference of runs of 2N and N iterations. Texts have a row of
features that follows from the word, so that tokens repeat; random tokens never do.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pandas as pd
import pycrfsuite

from core.losses.crf.loss import CrfLoss, build_crf

LABELS = list("ABCDE")
COLUMNS = 8


def generated(
    sequences: int, length: int, attributes: int, repeating: bool, labels: list[str] = LABELS
) -> tuple[pd.DataFrame, np.ndarray]:
    """Tokens with eight category columns that have so many values together, and their labels."""
    rng = np.random.default_rng(0)
    count, each = sequences * length, attributes // COLUMNS
    table = pd.DataFrame({"sequence": np.repeat(np.arange(sequences), length)})
    if repeating:
        # Words by Zipf's law; every value of a column belongs to words of its own.
        words = each * 2
        share = 1.0 / np.arange(1, words + 1)
        word = rng.choice(words, size=count, p=share / share.sum())
        for j in range(COLUMNS):
            table[f"c{j}"] = np.char.add("v", (rng.permutation(words)[word] % each).astype(str))
    else:
        for j in range(COLUMNS):
            table[f"c{j}"] = np.char.add("v", rng.integers(each, size=count).astype(str))
    return table, rng.choice(labels, count)


def crfsuite_iteration(table: pd.DataFrame, y: np.ndarray, iterations: int) -> float:
    """Seconds of one iteration of CRFsuite's L-BFGS."""
    trainer = pycrfsuite.Trainer(verbose=False)
    names = [column for column in table if column != "sequence"]
    rows = (name + "=" + table[name] for name in names)
    items = list(zip(*rows, strict=True))
    for _, at in table.groupby("sequence", sort=False).indices.items():
        trainer.append([list(items[i]) for i in at], y[at].tolist())
    trainer.set_params(
        {
            "c2": 1.0,
            "epsilon": 1e-12,
            "period": 100000,
            "delta": 1e-12,
            "feature.possible_states": True,
            "feature.possible_transitions": True,
        }
    )
    taken: dict[int, float] = {}
    for most in (iterations, 2 * iterations):
        trainer.set("max_iterations", most)
        start = time.perf_counter()
        with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
            trainer.train(file.name)
        taken[most] = time.perf_counter() - start
        ran = trainer.logparser.last_iteration["num"]
        assert ran == most, f"CRFsuite stopped after {ran} iterations"
    return (taken[2 * iterations] - taken[iterations]) / iterations


def seconds(call: Callable[[int], object], times: int) -> float:
    """The median time of a call, after one to warm up."""
    call(0)
    taken = []
    for k in range(1, times + 1):
        start = time.perf_counter()
        call(k)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def ours(loss: CrfLoss, threads: int, times: int) -> tuple[float, float]:
    """Seconds of a gradient and of a Hessian product."""
    loss.threads = threads
    rng = np.random.default_rng(1)
    w, v = 0.3 * rng.standard_normal((2, loss.size))
    gradient = seconds(lambda k: loss.value_and_gradient(w * (1.0 + 1e-3 * k)), times)
    product = seconds(lambda k: loss.hessian_product(w * (1.0 + 1e-3 * times), v), times)
    return gradient, product


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--times", type=int, default=21)
    chosen = parser.parse_args()
    print(f"{'2,000 x 25 tokens, 5 labels':<40}{'CRFsuite':>10}{'ours':>10}{'ratio':>7}", end="")
    print(f"{'2 threads':>11}{'ratio':>7}{'product/gradient':>18}")
    for title, attributes, repeating in (
        ("50,000 features, random tokens", 10_000, False),
        ("50,000 features, text", 10_000, True),
        ("250,000 features, random tokens", 50_000, False),
        ("250,000 features, text", 50_000, True),
    ):
        table, y = generated(2000, 25, attributes, repeating)
        loss = build_crf(table, "sequence", y, LABELS)
        peer = crfsuite_iteration(table, y, chosen.iterations)
        own, product = ours(loss, 1, chosen.times)
        two, _ = ours(loss, 2, chosen.times)
        print(f"{title:<40}{1e3 * peer:>7.1f} ms{1e3 * own:>7.2f} ms{peer / own:>7.1f}", end="")
        print(f"{1e3 * two:>8.2f} ms{peer / two:>7.1f}{product / own:>18.2f}")


if __name__ == "__main__":
    main()
