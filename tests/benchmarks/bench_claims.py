"""What it takes where a claim of the papers does not hold: experiments, one a claim.

    python tests/benchmarks/bench_claims.py [counting] [sentences] --data DIR [--files FILE …]

counting: MM integrates out C with every weight counted as free. It is compared with counts of one
class's weights, with a prior that holds C near 1, and with what counts by the data (evidence) or by
prediction (leave-one-out, the best of a grid on the test rows themselves as the bound).
sentences: the same for a CRF, whose parameters are mostly of pairs of feature and label that never
occur together.

That earlier datasets help only by other first points is part of `python -m tests.reproduction
yogatama-table3`; averages on tables are `python -m tests.reproduction averages-on-tables`.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.losses.crf.chain import marginals
from core.losses.crf.crf_loss import build_crf
from core.losses.registry import build_loss, parameter_groups
from core.optimize.descent import solve_penalized
from core.optimize.loss import Loss
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES
from tests.reproduction.foo_tables import splits_of

SEEDS = 10
BOUND = 1e9  # a penalty beyond which all weights are zero
FILES = ("glass.scale.libsvm", "iris.scale.libsvm", "wine.scale.libsvm", "segment.scale.libsvm")
Found = tuple[np.ndarray, np.ndarray]
"""C, shape (k,), and the weights."""


def learned(strategy: str, loss: Loss, groups: np.ndarray, **known: np.ndarray) -> Found:
    """A learner's last step; `known` of the parameters is what a run knows of them."""
    options = STRATEGIES[strategy].option_values({})
    problem = PenaltyProblem(loss, groups, seed=0, **known)
    steps = STRATEGIES[strategy].make(problem, options)
    last = deque(steps, maxlen=1)[-1]
    return last.C, last.w


def fixed_point(loss: Loss, groups: np.ndarray, counts: np.ndarray, beta: np.ndarray) -> Found:
    """C_j = counts_j / (½‖w_j‖² + β_j) and the fit at C in turns, each solved to its end."""
    C, w = np.ones(len(counts)), loss.initial_weights()
    penalized = groups >= 0
    for _ in range(100):
        penalties = np.where(penalized, C[groups], 0.0)
        w = solve_penalized(loss, penalties, w, tolerance=1e-4).point.w
        squares = np.bincount(groups[penalized], w[penalized] ** 2, minlength=len(counts))
        new = counts / (0.5 * squares + beta)
        done = np.abs(np.log(new / C)).max() < 1e-3 or new.max() > BOUND
        C = new
        if done:
            break
    return C, w


def ways(loss: Loss, groups: np.ndarray, few: np.ndarray) -> dict[str, Callable[[], Found]]:
    """{what is counted: learn by it}; `few` says which parameters count at the least."""
    every = 0.5 * np.bincount(groups[groups >= 0])
    some = 0.5 * np.bincount(groups[groups >= 0], few[groups >= 0])
    none = np.zeros(len(every))
    return {
        "mm, all, β = 1": lambda: learned("mm", loss, groups),
        "mm, few, β = 1": lambda: learned("mm", loss, groups, counted=few > 0.0),
        "mm, all, β = 0": lambda: fixed_point(loss, groups, every, none),
        "mm, few, β = 0": lambda: fixed_point(loss, groups, some, none),
        "mm, few, β = their number / 2": lambda: fixed_point(loss, groups, some, some),
        "evidence": lambda: learned("evidence", loss, groups),
    }


def counting(paths: list[Path]) -> None:
    """Tables with several classes: test accuracy and C, means and medians over seeds."""
    for path in paths:
        found: dict[str, list[tuple[float, float]]] = {}
        for train, test, _ in splits_of([path], SEEDS):
            kind = "multinomial" if len(np.unique(train.y)) > 2 else "logistic"
            loss = build_loss(kind, train.X, train.y, fit_intercept=False)
            groups = parameter_groups(loss)
            few = np.zeros(loss.size)
            few[: loss.size // len(loss.classes)] = 1.0  # the weights of one class
            own: dict[str, Any] = ways(loss, groups, few)
            own["leave-one-out"] = lambda loss=loss, groups=groups: learned("loo", loss, groups)
            for name, learn in own.items():
                C, w = learn()
                found.setdefault(name, []).append((right(loss, w, test), float(C[0])))
        print(
            f"\n{path.name}: {len(train.y)} rows, {loss.size} weights, {len(loss.classes)} classes"
        )
        for name, pairs in found.items():
            accuracy, C = np.array(pairs).T
            error = accuracy.std(ddof=1) / np.sqrt(len(accuracy))
            print(f"  {name:32s}{accuracy.mean():8.2f} % ± {error:.2f}   C {np.median(C):.4g}")


def right(loss: Any, w: np.ndarray, rows: Any) -> float:
    """The share of rows whose class is told, in %."""
    coef, _ = loss.coefficients(w)
    scores = rows.X @ np.atleast_2d(coef).T
    chosen = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
    return 100 * float(np.mean(np.asarray(loss.classes)[chosen] == rows.y))


def sentences(train: Path, test: Path) -> None:
    """Tokens with tags: test accuracy and log loss a token, one penalty and one a kind."""
    (X, y), (held, tags) = tokens(train), tokens(test)
    classes = sorted({*y, *tags})
    loss = build_crf(X, str(X.columns[0]), y, classes)
    codes = np.searchsorted(classes, tags)
    encoded = loss.encoding.encode_tokens(held)
    kinds = list(dict.fromkeys(loss.sources))
    by_kind = np.array([kinds.index(source) for source in loss.sources])
    print(
        f"\n{train.name}: {loss.size:,} parameters, {int(loss.seen_parameters.sum()):,} of them "
        "seen"
    )
    for grouping, groups in (("one", np.zeros(loss.size, dtype=int)), ("by kind", by_kind)):
        own = ways(loss, groups, loss.seen_parameters.astype(float))
        own["mm, as a run has it"] = lambda groups=groups: learned(
            "mm", loss, groups, counted=loss.seen_parameters, occurrences=loss.occurrences
        )
        for name, learn in own.items():
            _, w = learn()
            p = marginals(w, len(classes), encoded)
            hit = 100 * np.mean(p.argmax(axis=1) == codes)
            log_loss = -np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-300)).mean()
            print(f"  {grouping:8s}{name:32s}{hit:8.2f} %   log loss {log_loss:.4f}", flush=True)


def tokens(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """The features and the tags, which are the last column."""
    table = pd.read_csv(path, keep_default_na=False)
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy()


def paths_of(given: argparse.Namespace) -> Iterator[Path]:
    yield from given.files or (given.data / name for name in FILES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="counting, sentences")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--files", nargs="*", type=Path, metavar="FILE")
    given = parser.parse_args()
    claims = given.claims or ["counting", "sentences"]
    if "counting" in claims:
        counting(list(paths_of(given)))
    if "sentences" in claims:
        sentences(given.data / "pos_ewt_train.csv", given.data / "pos_ewt_test.csv")


if __name__ == "__main__":
    main()
