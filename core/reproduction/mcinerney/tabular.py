"""Averages of settings against the single best on tables: a comparison of ours, not the paper's.

EB-Hyp predicts by the mean of its best tenth of trials, fitted again to all training rows. Beside
it stand the single best trial of GP, random search and TPE; other weights of the same trials; and
the same average over the other searches' trials, which shows what is due to the search.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import UnusableError
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.mcinerney.tabular_step import (
    FOLDS,
    GREEDY,
    GREEDY_OF_ALL,
    SINGLE,
    TEMPERED,
    TEST,
    UNIFORM,
    Step,
    taken,
)
from core.reproduction.pool import Pool
from core.reproduction.table import SAID, Cells
from core.reproduction.yogatama.data import Source, found, read
from core.samplers.transfer.paired import paired_difference
from core.tuning.guidance.forecast import in_time

PROCESSES = 2
MODELS_COMPARED = ("svm", "boosting", "mlp")
SEARCHES = ("eb-hyp", "gp", "random", "tpe")
MOST_ROWS, SMALLEST_CLASS, MOST_TABLES = 800, 20, 8

Way = tuple[str, str]
"""A search and how its trials predict."""

OURS: Way = ("eb-hyp", UNIFORM)
OTHERS: tuple[Way, ...] = (
    ("gp", SINGLE),
    ("random", SINGLE),
    ("tpe", SINGLE),
    ("eb-hyp", SINGLE),
    ("eb-hyp", TEMPERED),
    ("eb-hyp", GREEDY),
    ("eb-hyp", GREEDY_OF_ALL),
    ("gp", UNIFORM),
    ("random", UNIFORM),
)


@dataclass(frozen=True)
class Size:
    """How much is compared.

    Attributes:
        trials: of every search.
        seeds: how many.
        tables: how many at most, the smallest.
        models: by their names.
        searches: by their names.
    """

    trials: int = 40
    seeds: int = 10
    tables: int = MOST_TABLES
    models: tuple[str, ...] = MODELS_COMPARED
    searches: tuple[str, ...] = SEARCHES


FULL = Size()
QUICK = Size(trials=20, seeds=2, tables=2, models=("svm", "boosting"))

Losses = dict[tuple[str, str, int], dict[Way, float]]
"""Test log loss in nats a row, by table, model and seed."""


def tabular_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: Size | None = None
) -> Iterator[Cells | str]:
    """Differences of test log losses, for every model and over all."""
    size = size or (QUICK if quick else FULL)
    sources = tables(folder, size.tables)
    losses = yield from compared(sources, size, processes)
    for model in (*size.models, ""):
        yield from difference_rows(losses, model)
    names = ", ".join(source.name for source in sources)
    yield {
        SAID: f"{names}; {size.trials} trials, {size.seeds} seeds, {FOLDS} folds, "
        f"{100 * TEST:.0f} % of the rows to test."
    }


def tables(folder: Path | None, most: int) -> list[Source]:
    """The smallest classification tables of a folder, or of samples and drawn ones without it.

    Raises:
        UnusableError: no table has at most 800 rows with 20 or more of every class.
    """
    here = found(folder)
    kept: list[Source] = []
    for source, rows in sorted(zip(here.sources, here.sizes, strict=True), key=lambda one: one[1]):
        if rows > MOST_ROWS or len(kept) == most:
            break
        if np.unique(read(source).target, return_counts=True)[1].min() >= SMALLEST_CLASS:
            kept.append(source)
    if not kept:
        raise UnusableError(
            f"no table has at most {MOST_ROWS} rows and {SMALLEST_CLASS} of every class",
            where=f"--data {folder}",
            cure="give a folder with smaller tables",
        )
    return kept


def compared(
    sources: Sequence[Source], size: Size, processes: int = PROCESSES
) -> Generator[str, None, Losses]:
    """Make the searches that are missing, seed after seed; in the end all losses."""
    kept = _checkpoint(size.trials)
    cells = [
        (source, model, seed)
        for seed in range(size.seeds)
        for model in size.models
        for source in sources
    ]
    steps = {}
    for source, model, seed in cells:
        missing = tuple(
            name for name in size.searches if _key(source, model, seed, name) not in kept
        )
        if missing:
            name = f"{seed}|{model}|{source.name}"
            steps[name] = Step(source, model, seed, missing, size.trials)
    waiting, ended, begun = list(steps), 0, time.perf_counter()
    with Pool(processes) as pool:
        while ended < len(steps):
            while waiting and pool.free:
                name = waiting.pop(0)
                pool.submit(taken, (steps[name],), name)
            for name, part in pool.ended(at_least=1):
                step = steps[name]
                for method, losses in part.items():
                    kept.keep(_key(step.source, step.model, step.seed, method), losses)
                ended += 1
                left = (time.perf_counter() - begun) / ended * (len(steps) - ended)
                yield (
                    f"{time.strftime('%H:%M:%S')} {name}: {ended} of {len(steps)} tables, models "
                    f"and seeds, {in_time(left)} left"
                )
    return {
        (source.name, model, seed): {
            (name, way): loss
            for name in size.searches
            for way, loss in kept[_key(source, model, seed, name)].items()
            if way != "took"
        }
        for source, model, seed in cells
    }


def difference_rows(losses: Losses, model: str, ours: Way = OURS) -> Iterator[Cells]:
    """EB-Hyp's average less every other, paired by table, model and seed.

    Args:
        losses: of everything.
        model: of these alone; "" for all.
        ours: what the others are taken from.
    """
    cells = {key: found for key, found in losses.items() if not model or key[1] == model}
    others = [way for way in OTHERS if all(way in found for found in cells.values())]
    for other in others:
        one = [found[ours] for found in cells.values()]
        another = [found[other] for found in cells.values()]
        mean, error = paired_difference(one, another)
        names = [key[0] for key in cells]
        share = float(np.mean(np.array(one) < np.array(another)))
        yield {
            "model": model or "all",
            "of": " ".join(ours),
            "less that of": " ".join(other),
            "log loss": f"{np.mean(one):.4f}",
            "its": f"{np.mean(another):.4f}",
            "difference": f"{mean:+.4f}",
            "± pairs": f"{error:.4f}",
            "± tables": f"{error_over(names, np.array(one) - np.array(another)):.4f}",
            "lower in": f"{100 * share:.0f} %",
        }


def error_over(names: Sequence[str], differences: np.ndarray) -> float:
    """The standard error of the mean where tables, not pairs, are what was drawn.

    s/√n of the tables' own means; nan below two tables.
    """
    means = [
        float(np.mean([d for d, name in zip(differences, names, strict=True) if name == table]))
        for table in dict.fromkeys(names)
    ]
    return float(np.std(means, ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan


def _checkpoint(trials: int) -> Checkpoint:
    mark = hashlib.sha256(json.dumps([trials, FOLDS, TEST]).encode()).hexdigest()[:12]
    return Checkpoint(f"mcinerney-tabular-{mark}")


def _key(source: Source, model: str, seed: int, method: str) -> str:
    return f"{seed}|{model}|{source.name} {read(source).source.fingerprint[:12]}|{method}"
