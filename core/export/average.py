"""The average of a run as exporters see it: its members, their weights, scores and settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.export.finished_run import FinishedRun
from core.space import Setting


@dataclass(frozen=True)
class Member:
    """One model of the average.

    Attributes:
        number: of the trial that found it.
        weight: its share; all shares sum to 1.
        score: its validation score.
    """

    number: int
    weight: float
    score: float
    setting: Setting


def members_of(run: FinishedRun) -> list[Member]:
    """The members that count, the best first; empty where the run gave one model."""
    ensemble: dict[str, Any] = run.results.get("ensemble") or {}
    names = ("members", "weights", "scores", "settings")
    rows = zip(*(ensemble.get(name, []) for name in names), strict=True)
    return [Member(int(n), float(w), score, setting) for n, w, score, setting in rows if w > 0]
