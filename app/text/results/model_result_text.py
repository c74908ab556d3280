"""The best of several models, and the compared default."""

from __future__ import annotations

from collections import Counter

from app.text.results.average_result_text import members_of
from app.text.tuning.model_progress_text import untried_text
from core.estimators.model_settings import model_and_values, noun_of, title_of
from core.space import Setting
from core.tuning.events import RunStarted
from core.tuning.run_results import Results
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.trial_table import tunes_several


def which_models(results: Results, started: RunStarted) -> tuple[str, ...]:
    """The best model and the compared default; empty for one model."""
    if not tunes_several(started):
        return ()
    return (
        _best_model_text(results, started),
        untried_text(results.untried or {}, len(models_of(started))),
        _compared_with(results, started),
    )


def _best_model_text(results: Results, started: RunStarted) -> str:
    count = len(models_of(started)) - len(results.untried or {})
    best = noun_of(_model_of(started, _best_setting(results)))
    if members_of(results) < 2 and results.taken in (None, "best"):
        return f"The best of {count} models is {best}."
    if results.ensemble is None or members_of(results) < 2:
        selected = noun_of(_model_of(started, results.setting))
        return f"The model that you selected is {selected}; the best of {count} models is {best}."
    settings = results.ensemble.settings
    kinds = Counter(title_of(_model_of(started, setting)) for setting in settings)
    kinds_text = ", ".join(f"{n} × {title.lower()}" for title, n in kinds.most_common())
    return (
        f"The result is an average of {len(settings)} models: {kinds_text}. The best of "
        f"{count} models alone is {best}."
    )


def _best_setting(results: Results) -> Setting:
    best = (candidate.setting for candidate in results.candidates or () if candidate.kind == "best")
    return next(best, results.setting)


def _compared_with(results: Results, started: RunStarted) -> str:
    if not results.default_setting:
        return ""
    noun = noun_of(_model_of(started, results.default_setting))
    return f"The default setting beside it is that of {noun}, as one would take without tuning."


def _model_of(started: RunStarted, setting: Setting) -> str:
    return model_and_values(started.run_plan.model, setting)[0]
