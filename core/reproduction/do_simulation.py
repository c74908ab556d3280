"""Figure 2 of Do 2008: label error on simulated sequences."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core.reproduction.checkpoint import Checkpoint
from core.reproduction.hidden_markov import METHODS, PAPERS, label_errors
from core.reproduction.measured_table import Cells
from core.reproduction.pool import WorkerPool
from core.tuning.guidance.forecast import duration_text

RUNS, QUICK_RUNS = 100, 20
OVER_R = [(10, R) for R in range(0, 41, 5)]
OVER_M = [(M, 5) for M in range(20, 81, 10)]  # M = 10 at R = 5 is among the others


def figure2_rows(folder: Path | None, quick: bool) -> Iterator[Cells | str]:
    """Mean label error in %, over runs, and its standard error."""
    runs = QUICK_RUNS if quick else RUNS
    checkpoint = Checkpoint("do-figure2")  # a run is the same whether quick or not
    points = [*OVER_R, *OVER_M]
    wanted_runs = [(M, R, seed) for M, R in points for seed in range(runs)]
    missing_runs = [run for run in wanted_runs if _run_key(*run) not in checkpoint]
    # One process a core; in each of them sequences are too few to share among threads.
    with WorkerPool(os.cpu_count() or 1) as pool:
        start = time.perf_counter()
        for run in missing_runs:
            pool.submit(label_errors, run, _run_key(*run))
        for done, (key, errors) in enumerate(pool.as_completed(), start=1):
            checkpoint.record_result(key, errors)
            missing = len(missing_runs) - done
            time_left = duration_text((time.perf_counter() - start) / done * missing)
            yield f"{len(wanted_runs) - missing} of {len(wanted_runs)} runs, {time_left} left"
    for M, R in points:
        yield _error_row(M, R, [checkpoint[_run_key(M, R, seed)] for seed in range(runs)])


def _run_key(M: int, R: int, seed: int) -> str:
    return f"M={M} R={R} seed={seed}"


def _error_row(M: int, R: int, errors: list[dict[str, float]]) -> Cells:
    percent = {method: 100 * np.array([run[method] for run in errors]) for method in METHODS}
    cells: dict[str, object] = {"M": M, "R": R}
    cells |= {method: round(float(error.mean()), 2) for method, error in percent.items()}
    cells["±"] = round(float(percent["grouped"].std(ddof=1) / np.sqrt(len(errors))), 2)
    for prefix in ("", "refit "):
        next_best = min(percent[prefix + name].mean() for name in PAPERS if name != "grouped")
        lead = float(next_best - percent[f"{prefix}grouped"].mean())
        cells[f"{prefix}lead"] = round(lead, 2)
    cells["lead (paper)"] = 6.7 if (M, R) == (10, 5) else None
    return cells
