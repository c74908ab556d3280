"""Tables 2 and 3 and figure 3 of Yogatama & Mann 2014: six methods that tune dataset by dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from core.reproduction.papers import (
    YOGATAMA_FIGURE_3,
    YOGATAMA_TABLE_2,
    YOGATAMA_TABLE_3_ENSEMBLE,
    YOGATAMA_TABLE_3_LOGISTIC,
)
from core.reproduction.table import SAID, Cells
from core.reproduction.yogatama.data import Found, found, read
from core.reproduction.yogatama.division import Arrival, perturbation
from core.reproduction.yogatama.ranks import in_words, rank_rows
from core.reproduction.yogatama.runs import PROCESSES, Experiment, Parts, mark_of_data, measured
from core.reproduction.yogatama.step import COMPARED, METHODS, OWN_GP, OWN_GP_EARLIER

LOGISTIC, ENSEMBLE = "logistic-l1l2", "vote7"
PRINTED = {LOGISTIC: YOGATAMA_TABLE_3_LOGISTIC, ENSEMBLE: YOGATAMA_TABLE_3_ENSEMBLE}
COPIES = 5  # of every dataset, table 2
TABLE_2, TABLE_3 = (1 + 5, 5), (1 + 10, 10)  # trials, orders
QUICK_DATASETS, QUICK_COPIES, QUICK_TRIALS, QUICK_ORDERS = 3, 2, 1 + 3, 2
MARKS = (5, 10, 20, 40, 80, 160)  # datasets seen, figure 3
OURS, PEERS = "transfer-mkl", ("gp", "random")
QUICK_WORDS = (
    "Quick: few small datasets, few trials and two orders. It shows that everything works, not "
    "what the paper found."
)

Rows = Iterator[Cells | str]


def table2_rows(folder: Path | None, quick: bool, processes: int = PROCESSES) -> Rows:
    """Logistic regression on perturbed copies: a row a method, then what each copy lacks."""
    here = found(folder)
    experiment = copies(here, quick)
    parts = yield from measured(experiment, processes)
    yield from _ranked(experiment, parts, YOGATAMA_TABLE_2)
    for source in dict.fromkeys(arrival.source for arrival in experiment.arrivals):
        features = read(source).features.shape[1]
        lacking = [
            perturbation(arrival, features)
            for arrival in experiment.arrivals
            if arrival.source == source
        ]
        shares = [f"{100 * one.share:.0f} % of the {one.of}" for one in lacking]
        yield {"dataset": source.name, "its copies lack": ", ".join(shares)}
    yield from _remarks(here, quick)


def table3_rows(
    folder: Path | None,
    quick: bool,
    models: Sequence[str] = (LOGISTIC, ENSEMBLE),
    processes: int = PROCESSES,
) -> Rows:
    """Logistic regression and the ensemble on the datasets themselves: a row a method."""
    here = found(folder)
    for model in models:
        experiment = originals(here, model, quick)
        parts = yield from measured(experiment, processes)
        yield from _ranked(experiment, parts, PRINTED.get(model, YOGATAMA_TABLE_3_LOGISTIC))
    yield from _remarks(here, quick)


def figure3_rows(
    folder: Path | None,
    quick: bool,
    models: Sequence[str] = (LOGISTIC, ENSEMBLE),
    processes: int = PROCESSES,
) -> Rows:
    """CPU seconds that every method took to propose, from the first order of both tables."""
    here = found(folder)
    experiments = [copies(here, quick, orders=1)]
    experiments += [originals(here, model, quick, orders=1) for model in models]
    for experiment in experiments:
        parts = yield from measured(experiment, processes)
        yield from seconds_rows(experiment, parts)
    yield {
        "text of the paper": "logistic regression, 20 to 40 datasets",
        **{name: f"× {late / early:.3g}" for name, (early, late) in YOGATAMA_FIGURE_3.items()},
    }
    yield from _remarks(here, quick)


def copies(here: Found, quick: bool, orders: int | None = None) -> Experiment:
    """Table 2: perturbed copies of every dataset."""
    trials, most = (QUICK_TRIALS, QUICK_ORDERS) if quick else TABLE_2
    numbers = range(1, (QUICK_COPIES if quick else COPIES) + 1)
    arrivals = tuple(
        Arrival(one.source, number) for one in _wanted(here, quick) for number in numbers
    )
    return Experiment(
        "copies", LOGISTIC, arrivals, trials, min(orders or most, most), mark_of_data(here)
    )


def originals(here: Found, model: str, quick: bool, orders: int | None = None) -> Experiment:
    """Table 3: the datasets as they are."""
    trials, most = (QUICK_TRIALS, QUICK_ORDERS) if quick else TABLE_3
    return Experiment(
        "files", model, _wanted(here, quick), trials, min(orders or most, most), mark_of_data(here)
    )


def _wanted(here: Found, quick: bool) -> tuple[Arrival, ...]:
    """All datasets, or the smallest."""
    every = tuple(Arrival(source) for source in here.sources)
    smallest = sorted(range(len(every)), key=lambda at: here.sizes[at])[:QUICK_DATASETS]
    return tuple(every[at] for at in sorted(smallest)) if quick else every


def _ranked(
    experiment: Experiment, parts: Parts, printed: dict[str, tuple[float, ...]]
) -> Iterator[Cells]:
    """The table of an experiment, and what it says in words."""
    methods = tuple(name for name in COMPARED if name in METHODS)
    accuracies = _accuracies(experiment, parts, methods)
    yield from rank_rows({"model": experiment.model}, accuracies, methods, printed)
    for sentence in in_words(accuracies, methods, OURS, PEERS):
        yield {SAID: f"{experiment.model}: {sentence}"}
    if OWN_GP_EARLIER in METHODS:
        every = tuple(METHODS)
        whole = _accuracies(experiment, parts, every)
        for sentence in in_words(whole, every, OWN_GP_EARLIER, ("gp", OURS, OWN_GP)):
            yield {SAID: f"Beyond the paper, {experiment.model}: {sentence}"}


def _accuracies(
    experiment: Experiment, parts: Parts, methods: Sequence[str]
) -> dict[str, np.ndarray]:
    """Of the settings that the methods end with, shape (runs, datasets, methods)."""
    names = [arrival.name for arrival in experiment.arrivals]
    return {
        part: np.array(
            [
                [[parts[run, method, name][part] for method in methods] for name in names]
                for run in range(experiment.orders)
            ]
        )
        for part in ("dev", "test")
    }


def seconds_rows(experiment: Experiment, parts: Parts) -> Iterator[Cells]:
    """Seconds so far at every mark, how they grow from mark to mark, and what a trial costs."""
    what = f"{experiment.model} on {experiment.name}"
    order = experiment.order(0)
    each = {
        method: np.array([sum(parts[0, method, one.name]["asking"]) for one in order])
        for method in METHODS
    }
    marks = [mark for mark in MARKS if mark < len(order)] + [len(order)]
    for mark in marks:
        so_far = {name: round(float(took[:mark].sum()), 3) for name, took in each.items()}
        yield {"CPU seconds": what, "datasets": mark, **so_far}
    for early, late in pairwise(marks):
        growth = {
            name: f"× {took[:late].sum() / took[:early].sum():.3g}" for name, took in each.items()
        }
        yield {"growth": what, "datasets": f"{early} to {late}", **growth}
    for mark in marks:
        last = slice(max(0, mark - 5), mark)
        cost = {
            name: round(1000 * float(took[last].mean()) / experiment.trials, 2)
            for name, took in each.items()
        }
        yield {"ms a trial, last five": what, "datasets": mark, **cost}


def _remarks(here: Found, quick: bool) -> Iterator[Cells]:
    for sentence in (*here.remarks, *([QUICK_WORDS] if quick else [])):
        yield {SAID: sentence}
