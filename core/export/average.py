"""What a run gave as exporters see it: one model, or an average with its members."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from core.estimators.facts import uncapitalized
from core.export.choices import TUNED
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


def told_model(run: FinishedRun) -> str:
    """What the exported model is, and of how many it is the best or the average.

    Such as "Random forest, the best of 9 models", "Average of 4 models of 3 kinds".
    """
    members = members_of(run) if run.which == TUNED else []
    kinds = Counter(run.kind_of(member.setting) for member in members)
    if kinds.total() > 1:
        only = f", {uncapitalized(next(iter(kinds)))}"
        of = only if len(kinds) == 1 else f" of {len(kinds)} kinds"
        return f"Average of {kinds.total()} models{of}"
    if run.several and run.which == TUNED and run.models_tried > 1:
        return f"{run.kind}, the best of {run.models_tried} models"
    return run.kind
