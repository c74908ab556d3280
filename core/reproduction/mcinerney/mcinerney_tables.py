"""Tables 2 and 3 of McInerney 2017: three searches, each with and without validation data.

EB-Hyp predicts every test row by the mean of the densities of its best tenth of trials, each with
the same weight; the other two by their single best trial. Rows that the paper does not have show
what the averaging does by itself: EB-Hyp's single best, and the same average over the others'
trials.
"""

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
Key = tuple[str, bool, str]
"""Method, whether with validation, and how it predicts: "best" or "average"."""

BEST, AVERAGE = "best", "average"
PRINTED: tuple[Key, ...] = (
    (BAYES, True, BEST),
    (BAYES, False, BEST),
    (EB_HYP, True, AVERAGE),
    (EB_HYP, False, AVERAGE),
    (RANDOM, True, BEST),
    (RANDOM, False, BEST),
)
BEYOND: tuple[Key, ...] = tuple(
    (method, validated, AVERAGE if rule == BEST else BEST) for method, validated, rule in PRINTED
)
REFERENCE: Key = (BAYES, True, BEST)
OURS: Key = (EB_HYP, False, AVERAGE)


@dataclass(frozen=True)
class TableSize:
    """How much of a table is measured.

    Attributes:
        trials: S, of every search.
        seeds: how many.
        data: documents, 0 for all; or points a side that become one, 0 for every point.
        effort: passes or epochs of a fit.
    """

    trials: int
    seeds: int
    data: int
    effort: int


TOPICS, QUICK_TOPICS = TableSize(30, 5, 0, 3), TableSize(20, 2, 1500, 2)
FACES, QUICK_FACES = TableSize(30, 5, 0, 15), TableSize(20, 2, 3, 15)


def table2_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Latent Dirichlet allocation on 20 Newsgroups, or on drawn documents without a folder."""
    size = size or (QUICK_TOPICS if quick else TOPICS)
    problem = topics_problem(folder, size.data, size.effort)
    yield from _measured_rows(problem, size, (TOKENS,), MCINERNEY_TABLE_2, processes)
    yield {SENTENCE: f"Every fit goes {size.effort} times through its documents."}


def table3_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TableSize | None = None
) -> Rows:
    """Deep latent Gaussian models of faces, or of drawn pictures without a folder."""
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
    """The paper's rows, those beyond, the comparison in words, and where the figures are."""
    every = searches(problem, size.trials, range(size.seeds))
    runs = yield from run_searches(every, processes)
    for target in predicted:
        log_likelihoods = predictions(runs, range(size.seeds), target)
        paper = printed if target == predicted[0] else {}
        yield from log_likelihood_rows(log_likelihoods, target, paper)
        for sentence in difference_sentences(log_likelihoods, target):
            yield {SENTENCE: sentence}
    page = kept_folder() / f"{problem.checkpoint_name}.html"
    page.write_text(figures_page(problem, runs, predicted[0]), encoding="utf-8")
    yield {SENTENCE: f"Figures 1 and 2: {page}"}


Predicted = dict[Key, list[float]]
"""Log predictive likelihood of the test rows in nats, one a seed."""


def predictions(runs: Runs, seeds: Sequence[int], target: str) -> Predicted:
    """What every method predicts, by its single best trial and by the mean of its best tenth.

    A search without a trial that could be fitted gives nan.
    """
    log_likelihoods: Predicted = {key: [] for key in (*PRINTED, *BEYOND)}
    for method, validated, rule in log_likelihoods:
        for seed in seeds:
            trials = runs[method, validated, seed]
            chosen = best_tenth(scores_by_trial(trials), maximize=True)[
                : 1 if rule == BEST else None
            ]
            value = math.nan
            if chosen:
                densities = test_log_densities(trials, chosen, target)
                value = log_predictive(densities, uniform_weights(len(chosen)))
            log_likelihoods[method, validated, rule].append(value)
    return log_likelihoods


def percent(value: float, reference: float) -> float:
    """By how many percent a log likelihood is better than the reference, as the paper counts."""
    return 100.0 * (value - reference) / abs(reference)


def log_likelihood_rows(
    log_likelihoods: Predicted, target: str, printed: Mapping[tuple[str, bool], tuple[float, float]]
) -> Iterator[Cells]:
    """A row a method, the paper's beside ours; then the rows that the paper does not have."""
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
    """The differences that matter, paired by seed, with their standard errors."""
    pairs = (
        (OURS, REFERENCE),
        ((EB_HYP, True, AVERAGE), REFERENCE),
        (OURS, (EB_HYP, False, BEST)),
        (OURS, (BAYES, False, AVERAGE)),
        (OURS, (BAYES, True, AVERAGE)),
        (OURS, (RANDOM, False, AVERAGE)),
    )
    for first, second in pairs:
        mean, error = paired_difference(log_likelihoods[first], log_likelihoods[second])
        share = [
            percent(a, b)
            for a, b in zip(log_likelihoods[first], log_likelihoods[second], strict=True)
        ]
        sure = f" ± {error:.1f}" if math.isfinite(error) else ""
        seeds = "1 seed" if len(share) == 1 else f"{len(share)} seeds"
        yield (
            f"{_key_text(first)} − {_key_text(second)}: {mean:+.1f}{sure} nats "
            f"({np.mean(share):+.2f} %) over {seeds}, {target}"
        )


def _key_text(key: Key) -> str:
    method, validated, rule = key
    return f"{method} {'with' if validated else 'without'} ({rule})"
