"""RNA folding: seconds of a gradient and of a Hessian product, on one core and on all.

The peer is CONTRAfold-SE, measured elsewhere on this kind of machine: 0.33 s a sequence and
iteration of training. Molecules are random letters, parameters small and random; the 151 sequences
are read where the data are there.

    python tests/benchmarks/bench_rna.py [--data DIR] [--repeats N]
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.losses.rna import RnaLoss, build_rna

PEER_SECONDS = 0.33  # CONTRAfold-SE, a sequence and iteration; measured elsewhere


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of a call, the first one left out."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def measured(loss: RnaLoss, repeats: int) -> tuple[float, float]:
    """Seconds of a gradient at a new point, and of a Hessian product at the last one."""
    rng = np.random.default_rng(0)
    w = 0.2 * rng.normal(size=loss.size)
    v = rng.normal(size=loss.size)
    loss.hessian_product(w, v)  # from here on the tables are kept
    gradient = seconds(
        lambda: loss.value_and_gradient(w + 1e-3 * rng.normal(size=loss.size)), repeats
    )
    loss.value_and_gradient(w)
    return gradient, seconds(lambda: loss.hessian_product(w, v), repeats)


def lengths(repeats: int) -> None:
    """One molecule of each length, on one core."""
    print(f"{'bases':>6} {'gradient':>10} {'product':>10} {'ratio':>6} {'0.33 s / gradient':>18}")
    for bases in (100, 200, 400):
        letters = "".join(np.random.default_rng(bases).choice(list("ACGU"), bases))
        loss = build_rna([letters], ["." * bases], threads=1)
        gradient, product = measured(loss, repeats)
        print(
            f"{bases:6d} {1e3 * gradient:7.1f} ms {1e3 * product:7.1f} ms "
            f"{product / gradient:6.2f} {PEER_SECONDS / gradient:18.1f}"
        )
    print("0.33 s: CONTRAfold-SE, a sequence and iteration (measured elsewhere)")


def published(folder: Path, repeats: int) -> None:
    """The 151 sequences with their structures."""
    with (folder / "rna_s151rfam.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    letters, structures = zip(*((row["sequence"], row["structure"]) for row in rows), strict=True)
    for threads in (1, 2):
        loss = build_rna(letters, structures, threads=threads)
        gradient, product = measured(loss, repeats)
        print(
            f"{len(rows)} sequences, {threads} threads: gradient {gradient:.2f} s, product "
            f"{product:.2f} s (ratio {product / gradient:.2f}); {len(rows) * PEER_SECONDS:.0f} s "
            f"for CONTRAfold-SE on one core ({len(rows) * PEER_SECONDS / gradient:.0f} times)"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest history of this process: {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    lengths(given.repeats)
    if (given.data / "rna_s151rfam.csv").is_file():
        published(given.data, given.repeats)
    else:
        print(f"the 151 sequences are not there ({given.data})")


if __name__ == "__main__":
    main()
