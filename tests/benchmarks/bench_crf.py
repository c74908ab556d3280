"""The linear-chain CRF beside CRFsuite: our gradient and Hessian product, its L-BFGS iteration.

CRFsuite (python-crfsuite, lbfgs, c2 = 1) is given feature.possible_states and
feature.possible_transitions, so that it has the same parameters as ours: every (value, label)
pair. Its iteration is timed as the difference of runs of 2N and N iterations. Processor time is
compared, which other programs on the machine disturb less than the clock. Texts have a row of
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

from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.crf.encoding import encoding_of

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
        start = time.process_time()
        with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
            trainer.train(file.name)
        taken[most] = time.process_time() - start
        ran = trainer.logparser.last_iteration["num"]
        assert ran == most, f"CRFsuite stopped after {ran} iterations"
    return (taken[2 * iterations] - taken[iterations]) / iterations


def seconds(call: Callable[[int], object], times: int, clock: Callable[[], float]) -> float:
    """The median time of a call by a clock, after one to warm up."""
    call(0)
    taken = []
    for k in range(1, times + 1):
        start = clock()
        call(k)
        taken.append(clock() - start)
    return statistics.median(taken)


def ours(
    loss: CrfLoss, threads: int, times: int, clock: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    """Seconds of a gradient and of a Hessian product."""
    loss.threads = threads
    rng = np.random.default_rng(1)
    w, v = 0.3 * rng.standard_normal((2, loss.size))
    gradient = seconds(lambda k: loss.value_and_gradient(w * (1.0 + 1e-3 * k)), times, clock)
    at = w * (1.0 + 1e-3 * times)
    return gradient, seconds(lambda k: loss.hessian_product(at, v), times, clock)


def beside_crfsuite(iterations: int, times: int) -> None:
    """Print our gradient beside CRFsuite's iteration."""
    print(f"{'2,000 x 25 tokens, 5 labels':<36}{'CRFsuite':>11}{'ours':>11}{'ratio':>7}", end="")
    print(f"{'product/gradient':>18}{'2 threads (wall)':>18}")
    for title, attributes, repeating in (
        ("50,000 features, random tokens", 10_000, False),
        ("50,000 features, text", 10_000, True),
        ("250,000 features, random tokens", 50_000, False),
        ("250,000 features, text", 50_000, True),
    ):
        table, y = generated(2000, 25, attributes, repeating)
        loss = build_crf(table, "sequence", y, LABELS)
        peer = crfsuite_iteration(table, y, iterations)
        own, product = ours(loss, 1, times)
        two, _ = ours(loss, 2, times, time.perf_counter)
        print(f"{title:<36}{1e3 * peer:>8.1f} ms{1e3 * own:>8.2f} ms{peer / own:>7.1f}", end="")
        print(f"{product / own:>18.2f}{1e3 * two:>15.2f} ms")


def alone(times: int) -> None:
    """Print what many labels and small problems cost, and the encoding of many tokens."""
    print(f"\n{'ours alone':<36}{'gradient':>11}{'product':>11}{'ratio':>7}{'Hessian':>18}")
    for title, sequences, length, attributes, count in (
        ("2,000 x 25, 17 labels, text", 2000, 25, 10_000, 17),
        ("10 x 10, 2 labels, 16 values", 10, 10, 16, 2),
        ("80 x 10, 2 labels, 16 values", 80, 10, 16, 2),
    ):
        labels = [chr(ord("A") + k) for k in range(count)]
        table, y = generated(sequences, length, attributes, sequences > 100, labels)
        loss = build_crf(table, "sequence", y, labels)
        own, product = ours(loss, 1, times)
        print(
            f"{title:<36}{1e3 * own:>8.3f} ms{1e3 * product:>8.3f} ms{product / own:>7.2f}", end=""
        )
        w = np.full(loss.size, 0.1)
        small = loss.hessian(w) is not None
        dense = seconds(lambda k, loss=loss, w=w: loss.hessian(w), times, time.process_time)
        print(f"{1e3 * dense:>15.3f} ms" if small else f"{'too large':>18}")
    table, _ = generated(20_000, 25, 50_000, True)
    encoding = encoding_of(table, "sequence")
    taken = seconds(lambda k: encoding.encode_tokens(table), 3, time.process_time)
    print(f"encoding 500,000 tokens with 8 columns: {taken:.2f} s")


def main() -> None:
    """Print the tables. Times are of the processor, on one thread, but where it says wall."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--times", type=int, default=21)
    chosen = parser.parse_args()
    beside_crfsuite(chosen.iterations, chosen.times)
    alone(chosen.times)


if __name__ == "__main__":
    main()
