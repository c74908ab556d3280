"""Average ranks over datasets (Yogatama & Mann 2014); equals share their mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from core.reproduction.measured_table import Cells

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True)
class MethodRanks:
    """Mean ranks in every run, (runs, methods)."""

    methods: tuple[str, ...]
    of_runs: np.ndarray

    @property
    def mean_ranks(self) -> np.ndarray:
        """Over runs, (methods,)."""
        return self.of_runs.mean(axis=0)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation over runs, (methods,)."""
        runs = len(self.of_runs)
        return self.of_runs.std(axis=0, ddof=1) if runs > 1 else np.full(len(self.methods), np.nan)

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the mean over runs, (methods,)."""
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
    first: Cells,
    accuracies: Mapping[str, np.ndarray],
    methods: Sequence[str],
    printed: Mapping[str, Sequence[float]],
) -> Iterator[Cells]:
    """A row a method, the paper's ranks beside ours, behind the `first` cells.

    Args:
        accuracies: by split ("dev", "test"), shape (runs, datasets, methods).
        printed: rank on development data, its deviation, the same on test data.
    """
    ranked = {split: rank_methods(accuracy, methods) for split, accuracy in accuracies.items()}
    for method_index, method in enumerate(methods):
        cells: dict[str, object] = {**first, "method": method}
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
