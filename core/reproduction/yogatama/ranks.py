"""Average ranks of methods over datasets, and what they say of one method (Yogatama & Mann 2014).

On every dataset the best of k methods gets rank 1, the worst k; equals share the mean of their
ranks. The ranks are averaged over the datasets of a run; runs give mean, deviation and error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from core.reproduction.table import Cells

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of the methods in every run, shape (runs, methods)."""

    methods: tuple[str, ...]
    of_runs: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Over runs, shape (methods,)."""
        return self.of_runs.mean(axis=0)

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation over runs, shape (methods,)."""
        runs = len(self.of_runs)
        return self.of_runs.std(axis=0, ddof=1) if runs > 1 else np.full(len(self.methods), np.nan)

    @property
    def error(self) -> np.ndarray:
        """Standard error of the mean over runs, shape (methods,)."""
        return self.deviation / np.sqrt(len(self.of_runs))

    def place(self, method: str) -> int:
        """1 for the smallest mean rank."""
        return 1 + int(np.sum(self.mean < self.mean[self.methods.index(method)] - 1e-9))

    def lead(self, method: str, other: str) -> tuple[float, float]:
        """By how much a method's rank is better than another's, paired over runs, and its error."""
        at = [self.methods.index(name) for name in (other, method)]
        lead = self.of_runs[:, at[0]] - self.of_runs[:, at[1]]
        error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
        return float(lead.mean()), float(error)


def ranks(accuracy: np.ndarray, methods: Sequence[str]) -> Ranks:
    """Ranks from accuracies, shape (runs, datasets, methods)."""
    each = rankdata(-accuracy, method="average", axis=2)
    return Ranks(tuple(methods), each.mean(axis=1))


def rank_rows(
    first: Cells,
    accuracies: Mapping[str, np.ndarray],
    methods: Sequence[str],
    printed: Mapping[str, Sequence[float]],
) -> Iterator[Cells]:
    """A row a method: the paper's ranks beside ours.

    Args:
        first: cells that every row begins with.
        accuracies: {"dev" and "test": accuracies, shape (runs, datasets, methods)}.
        methods: their names, in the order of the last axis.
        printed: {method: rank on development data, its deviation, the same on test data}.
    """
    ranked = {part: ranks(accuracy, methods) for part, accuracy in accuracies.items()}
    for at, method in enumerate(methods):
        cells: dict[str, object] = {**first, "method": method}
        for column, (part, ours) in enumerate(ranked.items()):
            rank, deviation = printed[method][2 * column : 2 * column + 2]
            cells |= {
                f"{part} (paper)": rank,
                f"{part} sd (paper)": deviation,
                part: round(float(ours.mean[at]), 3),
                f"{part} sd": _rounded(ours.deviation[at]),
                f"{part} se": _rounded(ours.error[at]),
                f"{part} %": round(100 * float(accuracies[part][:, :, at].mean()), 2),
            }
        yield cells


def in_words(
    accuracies: Mapping[str, np.ndarray], methods: Sequence[str], method: str, others: Sequence[str]
) -> Iterator[str]:
    """Where a method comes, and by how many standard errors it leads others."""
    for part, accuracy in accuracies.items():
        found = ranks(accuracy, methods)
        leads = [_lead(found, method, other) for other in others]
        place = found.place(method)
        comes = "last" if place == len(methods) else _PLACES[place - 1]
        yield (
            f"On {part} data {method} comes {comes} of {len(methods)} "
            f"({found.mean[found.methods.index(method)]:.2f}): {', '.join(leads)}."
        )


def _lead(found: Ranks, method: str, other: str) -> str:
    lead, error = found.lead(method, other)
    said = f"{abs(lead):.2f} {'better' if lead >= 0 else 'worse'} than {other}"
    return f"{said}, {abs(lead) / error:.1f} standard errors" if error > 0 else said


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)
