"""Tables 2 and 3 and figure 3 of Yogatama & Mann 2014: average ranks, and seconds of proposing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from tests.reproduction.tables import SENTENCE, Cells, printed_figures
from tests.reproduction.yogatama_datasets import (
    AvailableDatasets,
    StreamedDataset,
    available_datasets,
    perturbation,
    read_source,
)
from tests.reproduction.yogatama_runs import (
    COMPARED,
    METHODS,
    OWN_GP,
    OWN_GP_EARLIER,
    PROCESSES,
    Experiment,
    Parts,
    mark_of_data,
    run_experiment,
)

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True)
class MethodRanks:
    """Mean ranks in every run, (runs, methods)."""

    methods: tuple[str, ...]
    of_runs: np.ndarray

    @property
    def mean_ranks(self) -> np.ndarray:
        return self.of_runs.mean(axis=0)

    @property
    def deviation(self) -> np.ndarray:
        runs = len(self.of_runs)
        return self.of_runs.std(axis=0, ddof=1) if runs > 1 else np.full(len(self.methods), np.nan)

    @property
    def standard_errors(self) -> np.ndarray:
        return self.deviation / np.sqrt(len(self.of_runs))

    def position_of(self, method: str) -> int:
        """1 for the smallest mean rank."""
        return 1 + int(np.sum(self.mean_ranks < self.mean_ranks[self.methods.index(method)] - 1e-9))

    def mean_lead(self, method: str, rival: str) -> tuple[float, float]:
        """The mean lead in ranks, paired over runs, and its error."""
        columns = [self.methods.index(name) for name in (rival, method)]
        lead = self.of_runs[:, columns[0]] - self.of_runs[:, columns[1]]
        error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
        return float(lead.mean()), float(error)


def rank_methods(accuracy: np.ndarray, methods: Sequence[str]) -> MethodRanks:
    """Ranks from accuracies, (runs, datasets, methods)."""
    dataset_ranks = rankdata(-accuracy, method="average", axis=2)
    return MethodRanks(tuple(methods), dataset_ranks.mean(axis=1))


def rank_rows(
    model: str,
    accuracies: Mapping[str, np.ndarray],
    methods: Sequence[str],
    printed: Mapping[str, Sequence[float]],
) -> Iterator[Cells]:
    """A row a method, the paper's ranks beside ours.

    Args:
        accuracies: by split ("dev", "test"), shape (runs, datasets, methods).
        printed: rank on development data, its deviation, the same on test data.
    """
    ranked = {split: rank_methods(accuracy, methods) for split, accuracy in accuracies.items()}
    for method_index, method in enumerate(methods):
        cells: dict[str, object] = {"model": model, "method": method}
        for column, (split, ours) in enumerate(ranked.items()):
            rank, deviation = printed[method][2 * column : 2 * column + 2]
            cells |= {
                f"{split} (paper)": rank,
                f"{split} sd (paper)": deviation,
                split: round(float(ours.mean_ranks[method_index]), 3),
                f"{split} sd": _rounded(ours.deviation[method_index]),
                f"{split} se": _rounded(ours.standard_errors[method_index]),
                f"{split} %": round(100 * float(accuracies[split][:, :, method_index].mean()), 2),
            }
        yield cells


def rank_text(
    accuracies: Mapping[str, np.ndarray], methods: Sequence[str], method: str, rivals: Sequence[str]
) -> Iterator[str]:
    """A method's position, and its leads in standard errors."""
    for split, accuracy in accuracies.items():
        method_ranks = rank_methods(accuracy, methods)
        leads = [_lead_text(method_ranks, method, rival) for rival in rivals]
        position = method_ranks.position_of(method)
        comes = "last" if position == len(methods) else _ORDINALS[position - 1]
        mean_rank = method_ranks.mean_ranks[method_ranks.methods.index(method)]
        yield (
            f"On {split} data {method} comes {comes} of {len(methods)} ({mean_rank:.2f}): "
            f"{', '.join(leads)}."
        )


def _lead_text(method_ranks: MethodRanks, method: str, rival: str) -> str:
    lead, error = method_ranks.mean_lead(method, rival)
    text = f"{abs(lead):.2f} {'better' if lead >= 0 else 'worse'} than {rival}"
    return f"{text}, {abs(lead) / error:.1f} standard errors" if error > 0 else text


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)


LOGISTIC, ENSEMBLE = "logistic-l1l2", "vote7"
COPIES = 5  # of every dataset, table 2
TABLE_2, TABLE_3 = (1 + 5, 5), (1 + 10, 10)  # trials, orders
QUICK, QUICK_DATASETS, QUICK_COPIES = (1 + 3, 2), 3, 2
MARKS = (5, 10, 20, 40, 80, 160)  # datasets seen, figure 3
OURS, PEERS = "transfer-mkl", ("gp", "random")
QUICK_WORDS = (
    "Quick: few small datasets, few trials and two orders. It shows that everything works, not "
    "what the paper found."
)

Rows = Iterator[Cells | str]


def table2_rows(folder: Path | None, quick: bool, processes: int = PROCESSES) -> Rows:
    """Logistic regression on perturbed copies."""
    datasets = available_datasets(folder)
    experiment = copies_experiment(datasets, quick)
    step_results = yield from run_experiment(experiment, processes)
    yield from _experiment_rows(experiment, step_results, "yogatama-table2")
    for source in dict.fromkeys(arrival.source for arrival in experiment.arrivals):
        features = read_source(source).features.shape[1]
        copies = [arrival for arrival in experiment.arrivals if arrival.source == source]
        changes = [perturbation(copy, features) for copy in copies]
        shares = [f"{100 * change.share:.0f} % of the {change.kind}" for change in changes]
        yield {"dataset": source.name, "its copies lack": ", ".join(shares)}
    yield from _remarks(datasets, quick)


def table3_rows(
    folder: Path | None,
    quick: bool,
    models: Sequence[str] = (LOGISTIC, ENSEMBLE),
    processes: int = PROCESSES,
) -> Rows:
    """Logistic regression and the ensemble on the datasets."""
    datasets = available_datasets(folder)
    for model in models:
        experiment = originals_experiment(datasets, model, quick)
        step_results = yield from run_experiment(experiment, processes)
        kind = "ensemble" if model == ENSEMBLE else "logistic"
        yield from _experiment_rows(experiment, step_results, f"yogatama-table3-{kind}")
    yield from _remarks(datasets, quick)


def figure3_rows(
    folder: Path | None,
    quick: bool,
    models: Sequence[str] = (LOGISTIC, ENSEMBLE),
    processes: int = PROCESSES,
) -> Rows:
    """CPU seconds of proposing, from each first order."""
    datasets = available_datasets(folder)
    experiments = [copies_experiment(datasets, quick, orders=1)]
    experiments += [originals_experiment(datasets, model, quick, orders=1) for model in models]
    for experiment in experiments:
        step_results = yield from run_experiment(experiment, processes)
        yield from seconds_rows(experiment, step_results)
    text = printed_figures("yogatama-figure3").items()
    yield {
        "text of the paper": "logistic regression, 20 to 40 datasets",
        **{name: f"× {late / early:.3g}" for name, (early, late) in text},
    }
    yield from _remarks(datasets, quick)


def copies_experiment(
    datasets: AvailableDatasets, quick: bool, orders: int | None = None
) -> Experiment:
    """Table 2: perturbed copies of every dataset."""
    arrivals = tuple(
        StreamedDataset(arrival.source, number)
        for arrival in _selected_arrivals(datasets, quick)
        for number in range(1, (QUICK_COPIES if quick else COPIES) + 1)
    )
    trials, max_orders = QUICK if quick else TABLE_2
    data_mark = mark_of_data(datasets)
    return Experiment("copies", LOGISTIC, arrivals, trials, orders or max_orders, data_mark)


def originals_experiment(
    datasets: AvailableDatasets, model: str, quick: bool, orders: int | None = None
) -> Experiment:
    """Table 3: the datasets as they are."""
    arrivals = _selected_arrivals(datasets, quick)
    trials, max_orders = QUICK if quick else TABLE_3
    data_mark = mark_of_data(datasets)
    return Experiment("files", model, arrivals, trials, orders or max_orders, data_mark)


def _selected_arrivals(datasets: AvailableDatasets, quick: bool) -> tuple[StreamedDataset, ...]:
    arrivals = tuple(StreamedDataset(source) for source in datasets.sources)
    order = sorted(range(len(arrivals)), key=lambda index: datasets.sizes[index])
    return tuple(arrivals[k] for k in sorted(order[:QUICK_DATASETS])) if quick else arrivals


def _experiment_rows(experiment: Experiment, step_results: Parts, table: str) -> Iterator[Cells]:
    methods = tuple(name for name in COMPARED if name in METHODS)
    accuracies = _accuracies(experiment, step_results, methods)
    yield from rank_rows(experiment.model, accuracies, methods, printed_figures(table))
    for sentence in rank_text(accuracies, methods, OURS, PEERS):
        yield {SENTENCE: f"{experiment.model}: {sentence}"}
    if OWN_GP_EARLIER in METHODS:
        methods, rivals = tuple(METHODS), ("gp", OURS, OWN_GP)
        accuracies = _accuracies(experiment, step_results, methods)
        for sentence in rank_text(accuracies, methods, OWN_GP_EARLIER, rivals):
            yield {SENTENCE: f"Beyond the paper, {experiment.model}: {sentence}"}


def _accuracies(
    experiment: Experiment, step_results: Parts, methods: Sequence[str]
) -> dict[str, np.ndarray]:
    """Of the final settings, (runs, datasets, methods)."""
    names = [arrival.name for arrival in experiment.arrivals]
    shape = (experiment.orders, len(names), len(methods))
    keys = [(run, m, name) for run in range(experiment.orders) for name in names for m in methods]
    results = [step_results[key] for key in keys]
    return {
        "dev": np.reshape([result.dev for result in results], shape),
        "test": np.reshape([result.test for result in results], shape),
    }


def seconds_rows(experiment: Experiment, step_results: Parts) -> Iterator[Cells]:
    """Seconds so far, their growth, and costs a trial."""
    title = f"{experiment.model} on {experiment.name}"
    order = experiment.arrival_order(0)
    method_seconds = {
        method: np.array([sum(step_results[0, method, arrival.name].asking) for arrival in order])
        for method in METHODS
    }
    marks = [mark for mark in MARKS if mark < len(order)] + [len(order)]
    for mark in marks:
        so_far = {name: round(float(took[:mark].sum()), 3) for name, took in method_seconds.items()}
        yield {"CPU seconds": title, "datasets": mark, **so_far}
    for early, late in pairwise(marks):
        growth = {
            name: f"× {took[:late].sum() / took[:early].sum():.3g}"
            for name, took in method_seconds.items()
        }
        yield {"growth": title, "datasets": f"{early} to {late}", **growth}
    for mark in marks:
        last = slice(max(0, mark - 5), mark)
        cost = {
            name: round(1000 * float(took[last].mean()) / experiment.trials, 2)
            for name, took in method_seconds.items()
        }
        yield {"ms a trial, last five": title, "datasets": mark, **cost}


def _remarks(datasets: AvailableDatasets, quick: bool) -> Iterator[Cells]:
    for sentence in (*datasets.remarks, *([QUICK_WORDS] if quick else [])):
        yield {SENTENCE: sentence}
