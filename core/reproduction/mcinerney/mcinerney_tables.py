"""Tables 2 and 3 of McInerney 2017."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.reproduction.checkpoint import kept_folder
from core.reproduction.mcinerney.faces import BOTH, LABELS, faces_problem
from core.reproduction.mcinerney.mcinerney_figures import figures_page
from core.reproduction.mcinerney.mcinerney_searches import (
    BAYES,
    EB_HYP,
    PROCESSES,
    RANDOM,
    Runs,
    SearchProblem,
    run_searches,
    scores_by_trial,
    searches,
    test_log_densities,
)
from core.reproduction.mcinerney.topics_table import TOKENS, topics_problem
from core.reproduction.measured_table import SENTENCE, Cells
from core.reproduction.papers import MCINERNEY_TABLE_2, MCINERNEY_TABLE_3
from core.samplers.averaging import best_tenth, log_predictive, uniform_weights
from core.samplers.transfer.paired_difference import paired_difference

Rows = Iterator[Cells | str]
Key = tuple[str, bool, str]  # method, whether with validation, "best" or "average"
BEST, AVERAGE = "best", "average"
PRINTED: tuple[Key, ...] = (
    (BAYES, True, BEST),
    (BAYES, False, BEST),
    (EB_HYP, True, AVERAGE),
    (EB_HYP, False, AVERAGE),
    (RANDOM, True, BEST),
    (RANDOM, False, BEST),
)
# The averaging by itself: EB-Hyp's single best, and averages over the other searches' trials.
BEYOND: tuple[Key, ...] = tuple(
    (method, validated, AVERAGE if rule == BEST else BEST) for method, validated, rule in PRINTED
)
REFERENCE: Key = (BAYES, True, BEST)
OURS: Key = (EB_HYP, False, AVERAGE)


@dataclass(frozen=True)
class TableSize:
    """How much of a table is measured."""

    trials: int  # of every search
    seeds: int
    data: int  # documents, or points a side that become one; 0 for all
    effort: int  # passes or epochs of a fit


TOPICS, QUICK_TOPICS = TableSize(30, 5, 0, 3), TableSize(20, 2, 1500, 2)
FACES, QUICK_FACES = TableSize(30, 5, 0, 15), TableSize(20, 2, 3, 15)


def table2_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Topics of 20 Newsgroups, or of drawn documents."""
    size = size or (QUICK_TOPICS if quick else TOPICS)
    problem = topics_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (TOKENS,), MCINERNEY_TABLE_2, processes)
    yield {SENTENCE: f"Every fit goes {size.effort} times through its documents."}


def table3_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Deep latent Gaussian models of faces, or of drawn pictures."""
    size = size or (QUICK_FACES if quick else FACES)
    problem = faces_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (BOTH, LABELS), MCINERNEY_TABLE_3, processes)
    points = f"means of {size.data} × {size.data} points" if size.data else "all points"
    yield {SENTENCE: f"Every fit goes {size.effort} times through its pictures, {points}."}


def _measured_rows(
    problem: SearchProblem,
    size: TableSize,
    predicted: Sequence[str],
    printed: Mapping[tuple[str, bool], tuple[float, float]],
    processes: int,
) -> Rows:
    all_searches = searches(problem, size.trials, range(size.seeds))
    runs = yield from run_searches(all_searches, processes)
    for target in predicted:
        log_likelihoods = predictions(runs, range(size.seeds), target)
        paper = printed if target == predicted[0] else {}
        yield from log_likelihood_rows(log_likelihoods, target, paper)
        for sentence in difference_sentences(log_likelihoods, target):
            yield {SENTENCE: sentence}
    page = kept_folder() / f"{problem.checkpoint_name}.html"
    page.write_text(figures_page(problem, runs, predicted[0]), encoding="utf-8")
    yield {SENTENCE: f"Figures 1 and 2: {page}"}


Predicted = dict[Key, list[float]]  # log predictive likelihoods in nats, one a seed


def predictions(runs: Runs, seeds: Sequence[int], target: str) -> Predicted:
    """Log predictive likelihoods by method; nan without a fitted trial."""
    log_likelihoods: Predicted = {key: [] for key in (*PRINTED, *BEYOND)}
    for method, validated, rule in log_likelihoods:
        for seed in seeds:
            trials = runs[method, validated, seed]
            chosen = best_tenth(scores_by_trial(trials), maximize=True)
            chosen = chosen[:1] if rule == BEST else chosen
            value = math.nan
            if chosen:
                densities = test_log_densities(trials, chosen, target)
                value = log_predictive(densities, uniform_weights(len(chosen)))
            log_likelihoods[method, validated, rule].append(value)
    return log_likelihoods


def percent(value: float, reference: float) -> float:
    """By how many percent a value is better than the reference."""
    return 100.0 * (value - reference) / abs(reference)


def log_likelihood_rows(
    log_likelihoods: Predicted, target: str, printed: Mapping[tuple[str, bool], tuple[float, float]]
) -> Iterator[Cells]:
    """A row a method: the paper's, then ours alone."""
    reference = log_likelihoods[REFERENCE]
    for key in (*PRINTED, *BEYOND):
        method, validated, rule = key
        values = np.array(log_likelihoods[key])
        better = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        theirs = printed.get((method, validated)) if key in PRINTED else None
        total = f"log lik., {target}"
        yield {
            "method": method,
            "validation": "with" if validated else "without",
            "predicts by": rule,
            f"{total} (paper)": None if theirs is None else f"{theirs[0]:.0f}",
            total: f"{values.mean():.1f}" if target == LABELS else f"{values.mean():.0f}",
            "% better (paper)": None if theirs is None else f"{theirs[1]:+.2f}",
            "% better": f"{np.mean(better):+.2f}",
        }


def difference_sentences(log_likelihoods: Predicted, target: str) -> Iterator[str]:
    """Differences paired by seed, with standard errors."""
    pairs = (
        (OURS, REFERENCE),
        ((EB_HYP, True, AVERAGE), REFERENCE),
        (OURS, (EB_HYP, False, BEST)),
        (OURS, (BAYES, False, AVERAGE)),
        (OURS, (BAYES, True, AVERAGE)),
        (OURS, (RANDOM, False, AVERAGE)),
    )
    for first, second in pairs:
        values, reference = log_likelihoods[first], log_likelihoods[second]
        mean, error = paired_difference(values, reference)
        percents = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        error_text = f" ± {error:.1f}" if math.isfinite(error) else ""
        seeds = "1 seed" if len(percents) == 1 else f"{len(percents)} seeds"
        yield (
            f"{_key_text(first)} − {_key_text(second)}: {mean:+.1f}{error_text} nats "
            f"({np.mean(percents):+.2f} %) over {seeds}, {target}"
        )


def _key_text(key: Key) -> str:
    method, validated, rule = key
    return f"{method} {'with' if validated else 'without'} ({rule})"
