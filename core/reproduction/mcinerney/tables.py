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
from core.reproduction.mcinerney.figures import figures_page
from core.reproduction.mcinerney.runs import (
    BAYES,
    EB_HYP,
    PROCESSES,
    RANDOM,
    Problem,
    Runs,
    measured,
    scores,
    searches,
    test_rows,
)
from core.reproduction.mcinerney.topics import TOKENS, topics_problem
from core.reproduction.papers import MCINERNEY_TABLE_2, MCINERNEY_TABLE_3
from core.reproduction.table import SAID, Cells
from core.samplers.averaging import log_predictive, members, uniform_weights
from core.samplers.transfer.paired import paired_difference

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
    (method, validated, AVERAGE if how == BEST else BEST) for method, validated, how in PRINTED
)
REFERENCE: Key = (BAYES, True, BEST)
OURS: Key = (EB_HYP, False, AVERAGE)


@dataclass(frozen=True)
class Size:
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


TOPICS, QUICK_TOPICS = Size(30, 5, 0, 3), Size(20, 2, 1500, 2)
FACES, QUICK_FACES = Size(30, 5, 0, 15), Size(20, 2, 3, 15)


def table2_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: Size | None = None
) -> Rows:
    """Latent Dirichlet allocation on 20 Newsgroups, or on drawn documents without a folder."""
    size = size or (QUICK_TOPICS if quick else TOPICS)
    problem = topics_problem(folder, size.data, size.effort)
    yield from _table(problem, size, (TOKENS,), MCINERNEY_TABLE_2, processes)
    yield {SAID: f"Every fit goes {size.effort} times through its documents."}


def table3_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: Size | None = None
) -> Rows:
    """Deep latent Gaussian models of faces, or of drawn pictures without a folder."""
    size = size or (QUICK_FACES if quick else FACES)
    problem = faces_problem(folder, size.data, size.effort)
    yield from _table(problem, size, (BOTH, LABELS), MCINERNEY_TABLE_3, processes)
    points = f"means of {size.data} × {size.data} points" if size.data else "all points"
    yield {SAID: f"Every fit goes {size.effort} times through its pictures, {points}."}


def _table(
    problem: Problem,
    size: Size,
    predicted: Sequence[str],
    printed: Mapping[tuple[str, bool], tuple[float, float]],
    processes: int,
) -> Rows:
    """The paper's rows, those beyond, the comparison in words, and where the figures are."""
    every = searches(problem, size.trials, range(size.seeds))
    runs = yield from measured(every, processes)
    for what in predicted:
        found = predictions(runs, range(size.seeds), what)
        paper = printed if what == predicted[0] else {}
        yield from log_likelihood_rows(found, what, paper)
        for sentence in in_words(found, what):
            yield {SAID: sentence}
    page = kept_folder() / f"{problem.kept_as}.html"
    page.write_text(figures_page(problem, runs, predicted[0]), encoding="utf-8")
    yield {SAID: f"Figures 1 and 2: {page}"}


Predicted = dict[Key, list[float]]
"""Log predictive likelihood of the test rows in nats, one a seed."""


def predictions(runs: Runs, seeds: Sequence[int], what: str) -> Predicted:
    """What every method predicts, by its single best trial and by the mean of its best tenth.

    A search without a trial that could be fitted gives nan.
    """
    found: Predicted = {key: [] for key in (*PRINTED, *BEYOND)}
    for method, validated, how in found:
        for seed in seeds:
            trials = runs[method, validated, seed]
            chosen = members(scores(trials), maximize=True)[: 1 if how == BEST else None]
            value = math.nan
            if chosen:
                densities = test_rows(trials, chosen, what)
                value = log_predictive(densities, uniform_weights(len(chosen)))
            found[method, validated, how].append(value)
    return found


def percent(value: float, reference: float) -> float:
    """By how many percent a log likelihood is better than the reference, as the paper counts."""
    return 100.0 * (value - reference) / abs(reference)


def log_likelihood_rows(
    found: Predicted, what: str, printed: Mapping[tuple[str, bool], tuple[float, float]]
) -> Iterator[Cells]:
    """A row a method, the paper's beside ours; then the rows that the paper does not have."""
    reference = found[REFERENCE]
    for key in (*PRINTED, *BEYOND):
        method, validated, how = key
        values = np.array(found[key])
        better = [percent(v, r) for v, r in zip(values, reference, strict=True)]
        theirs = printed.get((method, validated)) if key in PRINTED else None
        total = f"log lik., {what}"
        yield {
            "method": method,
            "validation": "with" if validated else "without",
            "predicts by": how,
            f"{total} (paper)": None if theirs is None else f"{theirs[0]:.0f}",
            total: f"{values.mean():.1f}" if what == LABELS else f"{values.mean():.0f}",
            "% better (paper)": None if theirs is None else f"{theirs[1]:+.2f}",
            "% better": f"{np.mean(better):+.2f}",
        }


def in_words(found: Predicted, what: str) -> Iterator[str]:
    """The differences that matter, paired by seed, with their standard errors."""
    pairs = (
        (OURS, REFERENCE),
        ((EB_HYP, True, AVERAGE), REFERENCE),
        (OURS, (EB_HYP, False, BEST)),
        (OURS, (BAYES, False, AVERAGE)),
        (OURS, (BAYES, True, AVERAGE)),
        (OURS, (RANDOM, False, AVERAGE)),
    )
    for one, other in pairs:
        mean, error = paired_difference(found[one], found[other])
        share = [percent(a, b) for a, b in zip(found[one], found[other], strict=True)]
        sure = f" ± {error:.1f}" if math.isfinite(error) else ""
        seeds = "1 seed" if len(share) == 1 else f"{len(share)} seeds"
        yield (
            f"{_named(one)} − {_named(other)}: {mean:+.1f}{sure} nats "
            f"({np.mean(share):+.2f} %) over {seeds}, {what}"
        )


def _named(key: Key) -> str:
    method, validated, how = key
    return f"{method} {'with' if validated else 'without'} ({how})"
