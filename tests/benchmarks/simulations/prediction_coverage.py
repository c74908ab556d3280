"""What transfer, SCoT and the Gaussian process predict of a trial, against the score that follows.

Each set is a generated history: 3 to 12 earlier datasets that share an optimum up to a shift (one
in five has another one), each with an offset and a spread of its own; and the present dataset of
the same kind. On every second present dataset good settings lie on a plateau that a cliff ends:
its first scores nearly agree. One half is an accuracy, the other a log loss.

The formulas were chosen on two other families (a sigmoid plateau of accuracies, a bowl of log
losses with waves); the ridges and steps of this one measured them afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import optuna

from core.gp.kernels import Array
from core.gp.warping import predicted_scores
from core.samplers.bayes import GpSampler
from core.samplers.proposing_sampler import ProposingSampler
from core.samplers.search_space import distributions
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.samplers.transfer.joint_surrogate import TransferSampler
from core.samplers.transfer.scot import ScotSampler
from core.space import Axis
from core.tuning.scores.metrics import METRICS
from tests.benchmarks.simulations.figure import Figure

ScoreOfPoint = Callable[[Array], float]
TRIALS = range(3, 11)
LOW, HIGH = 0.90, 0.98
SEED = 20_000


@dataclass(frozen=True)
class GeneratedHistory:
    """Earlier datasets, and the score of a setting on the present one."""

    space: tuple[Axis, ...]
    history: TuningHistory
    score: ScoreOfPoint
    metric: str


def _gain(random: np.random.Generator, optimum: Array, has_plateau: bool) -> ScoreOfPoint:
    """A gain over the cube, 0 at the optimum and about −1 far from it."""
    slopes = random.uniform(0.5, 2.0, len(optimum))
    bend = random.uniform(0.7, 2.0)
    edge, drop = random.uniform(0.3, 0.6), random.uniform(0.5, 2.0)
    directions = random.standard_normal((5, len(optimum))) * 3.0
    phases, rough = random.uniform(0.0, 2.0 * np.pi, 5), random.uniform(0.0, 0.15)

    def gain(u: Array) -> float:
        far = float(np.abs(slopes * (u - optimum)).mean())
        ripple = rough * float(np.sin(directions @ u + phases).mean())
        if has_plateau:
            return (-drop if far > edge / 2 else -0.02 * far) + 0.1 * ripple
        return -(far**bend) * 2.0 + ripple

    return gain


def _dataset(
    random: np.random.Generator, optimum: Array, usual_spread: float, is_loss: bool, plateau: bool
) -> ScoreOfPoint:
    gain = _gain(random, optimum, plateau)
    spread = usual_spread * math.exp(0.5 * random.standard_normal())
    best = random.uniform(0.05, 1.0) if is_loss else 1.0 - 10.0 ** random.uniform(-2.0, -0.5)
    noise = spread * random.uniform(0.0, 0.05)

    def score(u: Array) -> float:
        # The same setting scores the same: its noise hangs on it alone.
        own = np.random.default_rng(np.round(1e6 * u).astype(np.int64)).standard_normal()
        value = spread * gain(u) + noise * float(own)
        return max(best - value, 1e-3) if is_loss else min(1.0, max(0.0, best + value))

    return score


def generated_history(seed: int) -> GeneratedHistory:
    """One set: an accuracy where the seed is even, a log loss where it is odd."""
    random, is_loss = np.random.default_rng([SEED, seed]), bool(seed % 2)
    axes = int(random.integers(1, 5))
    space = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(axes))
    common, shift = random.uniform(0.15, 0.85, axes), random.uniform(0.02, 0.15)
    usual_spread = 10.0 ** random.uniform(-1.7, -0.3)

    def dataset(plateau: bool) -> ScoreOfPoint:
        near = np.clip(common + shift * random.standard_normal(axes), 0.0, 1.0)
        optimum = random.random(axes) if random.random() < 0.2 else near
        return _dataset(random, optimum, usual_spread, is_loss, plateau)

    earlier = []
    for k in range(int(random.integers(3, 13))):
        score, points = (
            dataset(random.random() < 0.5),
            random.random((int(random.integers(6, 21)), axes)),
        )
        settings = tuple({f"x{j}": float(x) for j, x in enumerate(u)} for u in points)
        size = random.standard_normal(3)
        scores = tuple(map(score, points))
        earlier.append(EarlierDataset(f"d{k}", tuple(size), settings, scores, maximize=not is_loss))
    history = TuningHistory(tuple(earlier), tuple(random.standard_normal(3)))
    metric = "log_loss" if is_loss else "accuracy"
    return GeneratedHistory(space, history, dataset(seed % 4 < 2), metric)


def _told_interval(sampler: ProposingSampler) -> tuple[float, float] | None:
    """The 95 % interval of the next score, as the window's outer band has it."""
    if isinstance(sampler, GpSampler):
        surrogate = sampler.surrogate
        assert surrogate is not None
        posterior = surrogate.regression().posterior(np.array([surrogate.next]))
        predicted = surrogate.score_predictions(*posterior, sampler.limits)
    else:
        state = sampler.state  # type: ignore[attr-defined]
        if not state.settled:
            return None
        response = np.array([state.expected]), np.array([state.deviation])
        predicted = predicted_scores(state.score_warp, *response, sampler.limits)
    low, high = predicted.wide_band
    return float(low[0]), float(high[0])


Make = Callable[[GeneratedHistory, int], ProposingSampler]
METHODS: dict[str, Make] = {
    "transfer": lambda s, seed: TransferSampler(s.space, seed=seed, history=s.history),
    "gp": lambda s, seed: GpSampler(s.space, seed=seed),
    "scot": lambda s, seed: ScotSampler(s.space, seed=seed, history=s.history),
}


def is_covered(method: str, seed: int) -> dict[int, bool]:
    """Whether the interval told before a trial, 3 to 10, held the score that it then had."""
    generated = generated_history(seed)
    metric = METRICS[generated.metric]
    sampler = METHODS[method](generated, seed)
    sampler.limits = metric.score_limits
    study = optuna.create_study(
        sampler=sampler, direction="maximize" if metric.maximize else "minimize"
    )
    covered = {}
    for number in range(1, TRIALS.stop):
        trial = study.ask(distributions(generated.space))
        score = generated.score(np.array(list(trial.params.values())))
        if number in TRIALS and (interval := _told_interval(sampler)) is not None:
            covered[number] = interval[0] <= score <= interval[1]
        study.tell(trial, score)
    return covered


def figures(sets: int) -> Iterator[Figure]:
    """Coverage of the predictions of every method, at the third trial and at trials 3 to 10."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for method in METHODS:
        covered = [is_covered(method, seed) for seed in range(sets)]
        third = [trials[3] for trials in covered if 3 in trials]
        every = [is_held for trials in covered for is_held in trials.values()]
        for trials, held in (("trial 3", third), ("trials 3 to 10", every)):
            name = f"coverage of {method}'s 95 % prediction, {trials}"
            yield Figure(name, float(np.mean(held)), LOW, HIGH, sets)
