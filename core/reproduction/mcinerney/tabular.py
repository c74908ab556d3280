"""Averages of settings against the single best on tables: a comparison of ours."""

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
    TabularStep,
    run_step,
)
from core.reproduction.measured_table import SENTENCE, Cells
from core.reproduction.pool import WorkerPool
from core.reproduction.yogatama.paper_datasets import PaperDataset, available_datasets, read_source
from core.samplers.transfer.paired_difference import paired_difference
from core.tuning.guidance.forecast import duration_text

PROCESSES = 2
MODELS_COMPARED = ("svm", "boosting", "mlp")
SEARCHES = ("eb-hyp", "gp", "random", "tpe")
MAX_ROWS, SMALLEST_CLASS, MAX_TABLES = 800, 20, 8

Way = tuple[str, str]  # a search, and a variant of its predictions
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
class TabularSize:
    """How much is compared."""

    trials: int = 40  # of every search
    seeds: int = 10
    tables: int = MAX_TABLES
    models: tuple[str, ...] = MODELS_COMPARED
    searches: tuple[str, ...] = SEARCHES


FULL = TabularSize()
QUICK = TabularSize(trials=20, seeds=2, tables=2, models=("svm", "boosting"))

Losses = dict[tuple[str, str, int], dict[Way, float]]  # nats a row, by table, model and seed


def tabular_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TabularSize | None = None
) -> Iterator[Cells | str]:
    """Differences of test log losses, by model and overall."""
    size = size or (QUICK if quick else FULL)
    sources = smallest_tables(folder, size.tables)
    losses = yield from measure_losses(sources, size, processes)
    for model in (*size.models, ""):
        yield from difference_rows(losses, model)
    names = ", ".join(source.name for source in sources)
    yield {
        SENTENCE: f"{names}; {size.trials} trials, {size.seeds} seeds, {FOLDS} folds, "
        f"{100 * TEST:.0f} % of the rows to test."
    }


def smallest_tables(folder: Path | None, max_tables: int) -> list[PaperDataset]:
    """The smallest classification tables of a folder, or of the samples.

    Raises:
        UnusableError: no table has at most 800 rows with 20 of every class.
    """
    available = available_datasets(folder)
    sources: list[PaperDataset] = []
    sized_sources = zip(available.sources, available.sizes, strict=True)
    for source, rows in sorted(sized_sources, key=lambda pair: pair[1]):
        if rows > MAX_ROWS or len(sources) == max_tables:
            break
        if np.unique(read_source(source).target, return_counts=True)[1].min() >= SMALLEST_CLASS:
            sources.append(source)
    if not sources:
        raise UnusableError(
            f"no table has at most {MAX_ROWS} rows and {SMALLEST_CLASS} of every class",
            where=f"--data {folder}",
            cure="give a folder with smaller tables",
        )
    return sources


def measure_losses(
    sources: Sequence[PaperDataset], size: TabularSize, processes: int = PROCESSES
) -> Generator[str, None, Losses]:
    """Run the missing searches, yielding progress; returns all losses."""
    checkpoint = _checkpoint(size.trials)
    seeds = range(size.seeds)
    cells = [(source, model, seed) for seed in seeds for model in size.models for source in sources]
    steps = {}
    for source, model, seed in cells:
        keys = {name: _search_key(source, model, seed, name) for name in size.searches}
        if missing := tuple(name for name, key in keys.items() if key not in checkpoint):
            name = f"{seed}|{model}|{source.name}"
            steps[name] = TabularStep(source, model, seed, missing, size.trials)
    waiting, ended, start = list(steps), 0, time.perf_counter()
    with WorkerPool(processes) as pool:
        while ended < len(steps):
            while waiting and pool.has_free_process:
                name = waiting.pop(0)
                pool.submit(run_step, (steps[name],), name)
            for name, losses_by_method in pool.as_completed(at_least=1):
                step = steps[name]
                for method, losses in losses_by_method.items():
                    key = _search_key(step.source, step.model, step.seed, method)
                    checkpoint.record_result(key, losses)
                ended += 1
                seconds_left = (time.perf_counter() - start) / ended * (len(steps) - ended)
                yield (
                    f"{time.strftime('%H:%M:%S')} {name}: {ended} of {len(steps)} tables, models "
                    f"and seeds, {duration_text(seconds_left)} left"
                )
    return {
        (source.name, model, seed): {
            (name, variant): loss
            for name in size.searches
            for variant, loss in checkpoint[_search_key(source, model, seed, name)].items()
            if variant != "took"
        }
        for source, model, seed in cells
    }


def difference_rows(losses: Losses, model: str, ours: Way = OURS) -> Iterator[Cells]:
    """Differences of `ours` to the others, paired; of all models for ""."""
    cells = {key: by_way for key, by_way in losses.items() if not model or key[1] == model}
    rivals = [way for way in OTHERS if all(way in by_way for by_way in cells.values())]
    for rival in rivals:
        our_losses = [by_way[ours] for by_way in cells.values()]
        rival_losses = [by_way[rival] for by_way in cells.values()]
        mean, error = paired_difference(our_losses, rival_losses)
        differences = np.array(our_losses) - np.array(rival_losses)
        table_error = error_over([key[0] for key in cells], differences)
        yield {
            "model": model or "all",
            "of": " ".join(ours),
            "less that of": " ".join(rival),
            "log loss": f"{np.mean(our_losses):.4f}",
            "its": f"{np.mean(rival_losses):.4f}",
            "difference": f"{mean:+.4f}",
            "± pairs": f"{error:.4f}",
            "± tables": f"{table_error:.4f}",
            "lower in": f"{100 * np.mean(differences < 0):.0f} %",
        }


def error_over(names: Sequence[str], differences: np.ndarray) -> float:
    """s/√n of the tables' means; nan below two tables."""
    means = [
        float(np.mean([d for d, name in zip(differences, names, strict=True) if name == table]))
        for table in dict.fromkeys(names)
    ]
    return float(np.std(means, ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan


def _checkpoint(trials: int) -> Checkpoint:
    mark = hashlib.sha256(json.dumps([trials, FOLDS, TEST]).encode()).hexdigest()[:12]
    return Checkpoint(f"mcinerney-tabular-{mark}")


def _search_key(source: PaperDataset, model: str, seed: int, method: str) -> str:
    return f"{seed}|{model}|{source.name} {read_source(source).source.fingerprint[:12]}|{method}"
