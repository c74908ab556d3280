"""What the results of a run of several models say of these: which is best, and which was usual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from app.text.results.averaging import members_of
from core.estimators.settings import noun_of, own_setting, title_of
from core.tuning.events import RunStarted
from core.tuning.runs.competition import tunes_several
from core.tuning.runs.one_model import models_of


def which_models(results: Mapping[str, Any], started: RunStarted) -> tuple[str, ...]:
    """Which model is the best, and whose default setting it is compared with; nothing of one."""
    if not tunes_several(started):
        return ()
    return (_found(results, started), _compared_with(results, started))


def _found(results: Mapping[str, Any], started: RunStarted) -> str:
    many, best = len(models_of(started)), noun_of(_of(started, _best(results)))
    taken = str(results.get("taken", "best"))
    if members_of(dict(results)) < 2 and taken == "best":
        return f"The best of {many} models is {best}."
    if members_of(dict(results)) < 2:
        own = noun_of(_of(started, results.get("setting") or {}))
        return f"The model that you took is {own}; the best of {many} models is {best}."
    settings = results["ensemble"]["settings"]
    kinds = Counter(title_of(_of(started, setting)) for setting in settings)
    told = ", ".join(f"{count} × {title.lower()}" for title, count in kinds.most_common())
    return (
        f"The result is an average of {len(settings)} models: {told}. The best of {many} models "
        f"alone is {best}."
    )


def _best(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """The setting of the best trial, whatever was taken."""
    best = (one for one in results.get("candidates") or () if one["kind"] == "best")
    return next(best, results).get("setting") or {}


def _compared_with(results: Mapping[str, Any], started: RunStarted) -> str:
    default = results.get("default_setting") or {}
    if not default:
        return ""
    noun = noun_of(_of(started, default))
    return f"The default setting beside it is that of {noun}, as one would take without tuning."


def _of(started: RunStarted, setting: Mapping[str, Any]) -> str:
    return own_setting(str(started.plan.get("model", "")), setting)[0]
