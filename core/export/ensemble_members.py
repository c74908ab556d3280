"""The members of an exported average, and what the exported model is called."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.estimators.facts import uncapitalized
from core.export.exportable_models import TUNED
from core.export.finished_run import FinishedRun
from core.space import Setting
from core.tuning.run_results import EnsembleResults


@dataclass(frozen=True)
class EnsembleMember:
    """One model of the average."""

    number: int  # of its trial
    weight: float  # all sum to 1
    score: float  # in validation
    setting: Setting


def members_of(run: FinishedRun) -> list[EnsembleMember]:
    """The members with a weight, best first; empty where the run gave one model."""
    ensemble = run.results.ensemble or EnsembleResults()
    rows = zip(ensemble.members, ensemble.weights, ensemble.scores, ensemble.settings, strict=True)
    return [EnsembleMember(n, w, score, setting) for n, w, score, setting in rows if w > 0]


def model_noun(run: FinishedRun) -> str:
    """The exported model in words, such as "Average of 4 models of 3 kinds"."""
    members = members_of(run) if run.selected_name == TUNED else []
    kinds = Counter(run.model_title_of(member.setting) for member in members)
    if kinds.total() > 1:
        single_kind = f", {uncapitalized(next(iter(kinds)))}"
        kinds_text = single_kind if len(kinds) == 1 else f" of {len(kinds)} kinds"
        return f"Average of {kinds.total()} models{kinds_text}"
    if run.tunes_several_models and run.selected_name == TUNED and run.tried_model_count > 1:
        return f"{run.model_title}, the best of {run.tried_model_count} models"
    return run.model_title
