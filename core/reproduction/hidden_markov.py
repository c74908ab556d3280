"""The simulated sequences of Do 2008, section 5, and the methods compared.

A binary hidden Markov model stays with probability 0.6; a relevant feature equals the state with
0.6, a noise feature with 0.5 (footnotes 2 and 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.losses.crf.chain import marginals
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.optimize.descent import solve_penalized
from core.penalties.penalty_problem import PenaltyProblem
from core.penalties.step import LearnerStep
from core.tuning.strategies.registry import STRATEGIES

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
