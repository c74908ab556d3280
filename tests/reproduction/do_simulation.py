"""Figure 2 of Do 2008: label error on simulated sequences (section 5).

A binary hidden Markov model stays with probability 0.6; a relevant feature equals the state with
0.6, a noise feature with 0.5 (footnotes 2 and 3).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.losses.crf.chain import marginals
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.optimize.descent import solve_penalized
from core.penalties.penalty_problem import LearnerStep, PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES
from tests.reproduction.kept_work import Checkpoint, finished_parts, time_left
from tests.reproduction.tables import Cells

FEATURES, LENGTH = 40, 10
HOLDOUT, TEST = 10, 1000  # sequences
STAYS, SHOWS = 0.6, 0.6
GRID = 2.0 ** np.arange(-5, 11)
LINE_SEARCHES = 5  # "roughly 3-5 line searches were sufficient" (footnote 1)
GROUPINGS = ("single", "separate", "grouped")
PAPERS = ("grid", *GROUPINGS)  # fitted on the M training sequences alone
METHODS = (*PAPERS, *(f"refit {name}" for name in PAPERS), *(f"mm {g}" for g in GROUPINGS))


def simulate_sequences(
    sequences: int, relevant: int, generator: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray]:
    """Table of sequence, x1 … x40 (the `relevant` ones first), and the states, as text."""
    states = np.empty((sequences, LENGTH), dtype=int)
    states[:, 0] = generator.integers(2, size=sequences)
    for t in range(1, LENGTH):
        stays = generator.random(sequences) < STAYS
        states[:, t] = np.where(stays, states[:, t - 1], 1 - states[:, t - 1])
    flat = states.ravel()
    chance = np.where(np.arange(FEATURES) < relevant, SHOWS, 0.5)
    agrees = generator.random((len(flat), FEATURES)) < chance
    shown = np.where(agrees, flat[:, None], 1 - flat[:, None])
    columns = {f"x{j + 1}": shown[:, j].astype(str) for j in range(FEATURES)}
    numbers = np.repeat(np.arange(sequences), LENGTH)
    return pd.DataFrame({"sequence": numbers, **columns}), flat.astype(str)


def label_errors(sequences: int, relevant: int, seed: int) -> dict[str, float]:
    """{method: share of wrong labels on 1,000 test sequences} of one run.

    Methods of the paper fit the training sequences alone, "refit" and mm the holdout as well.
    """
    generator = np.random.default_rng([seed, sequences, relevant])
    train, train_y = simulate_sequences(sequences, relevant, generator)
    held, held_y = simulate_sequences(HOLDOUT, relevant, generator)
    test, test_y = simulate_sequences(TEST, relevant, generator)
    held["sequence"] += sequences
    all_tokens = pd.concat([train, held], ignore_index=True)
    loss = build_crf(all_tokens, "sequence", np.concatenate([train_y, held_y]), ["0", "1"])
    pair = (loss.for_data(train, train_y), loss.for_data(held, held_y))
    tokens = loss.encoding.encode_tokens(test)
    codes = (test_y == "1").astype(int)

    def label_error(w: np.ndarray) -> float:
        return float(np.mean(marginals(w, 2, tokens).argmax(axis=1) != codes))

    chosen = dict(zip(("grid", "refit grid"), _grid_solutions(loss, *pair), strict=True))
    for grouping in GROUPINGS:
        groups = _penalty_groups(loss, grouping, relevant)
        steps = _learner_steps("gradient", loss, groups, pair, steps=LINE_SEARCHES)
        # The last step is the refit on all sequences, the one before it the paper's solution.
        chosen[grouping], chosen[f"refit {grouping}"] = steps[-2].w, steps[-1].w
        chosen[f"mm {grouping}"] = _learner_steps("mm", loss, groups, pair)[-1].w
    return {method: label_error(chosen[method]) for method in METHODS}


def _penalty_groups(loss: CrfLoss, grouping: str, relevant: int) -> np.ndarray:
    if grouping == "single":
        return np.zeros(loss.size, dtype=np.intp)
    if grouping == "separate":
        return np.arange(loss.size)
    codes = {f"x{j + 1}": 1 if j < relevant else 2 for j in range(FEATURES)}  # noise: 2
    kinds = [codes.get(source, 0) for source in loss.sources]  # transitions: 0
    return np.unique(kinds, return_inverse=True)[1]  # no group is empty where R is 0 or 40


def _learner_steps(
    name: str, loss: CrfLoss, groups: np.ndarray, pair: Any, **option_values: Any
) -> list[LearnerStep]:
    learner = STRATEGIES[name]
    options = learner.option_values(option_values)
    return list(learner.make(PenaltyProblem(loss, groups, holdout=[pair]), options))


def _grid_solutions(loss: CrfLoss, fit: CrfLoss, held: CrfLoss) -> tuple[np.ndarray, np.ndarray]:
    """The best C = 2^k, k = −5 … 10, by holdout loss: w on training, w on all sequences."""
    w, best = fit.initial_weights(), np.inf
    for C in GRID[::-1]:
        w = solve_penalized(fit, np.full(fit.size, C), w, tolerance=1e-8).point.w
        value = held.value_and_gradient(w)[0]
        if value < best:
            best, chosen, best_w = value, C, w
    return best_w, solve_penalized(loss, np.full(loss.size, chosen), best_w, tolerance=1e-8).point.w


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
    start, parts = (
        time.perf_counter(),
        iter([(_run_key(*run), label_errors, run) for run in missing_runs]),
    )
    # One process a core; in each of them sequences are too few to share among threads.
    results = finished_parts(lambda: parts, os.cpu_count() or 1)
    for done, (key, errors) in enumerate(results, start=1):
        checkpoint.record_result(key, errors)
        missing = len(missing_runs) - done
        count_text = f"{len(wanted_runs) - missing} of {len(wanted_runs)} runs"
        yield f"{count_text}, {time_left(start, done, missing)}"
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
