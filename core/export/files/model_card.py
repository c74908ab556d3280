"""The model card: what an exported model says about itself, carried inside the pipeline.

A plain dict in the attribute ``tunescope_`` of the scikit-learn pipeline survives skops and joblib
alike, needs no second file, and means nothing to programs that do not look for it.
"""

from __future__ import annotations

from typing import Any

from pandas.api.types import is_numeric_dtype

from core.datasets.samples.registry import SAMPLES
from core.estimators.settings import own_setting
from core.estimators.stored.plain_model import plain_pipeline
from core.export.average import members_of
from core.export.choices import BASELINE, TUNED
from core.export.finished_run import FinishedRun

ATTRIBUTE = "tunescope_"


def with_card(run: FinishedRun) -> Any:
    """The fitted pipeline, plain, with its card attached; the run's own stays as it is."""
    pipeline = plain_pipeline(run.pipeline)
    setattr(pipeline, ATTRIBUTE, _card(run))
    return pipeline


def card_of(pipeline: Any) -> dict[str, Any]:
    """The card of an exported pipeline; empty for one from elsewhere."""
    card = getattr(pipeline, ATTRIBUTE, {})
    return dict(card) if isinstance(card, dict) else {}


def _card(run: FinishedRun) -> dict[str, Any]:
    takeaway = run.takeaway
    return {
        "run": run.name,
        "model": run.plan.model,
        "exported": run.which,
        **({"models": _models(run)} if run.several and run.which != BASELINE else {}),
        "strategy": run.plan.strategy,
        "task": takeaway.task,
        "target": takeaway.target,
        "features": takeaway.feature_names,
        "text": _text_features(run),
        "columns": [column["name"] for column in takeaway.columns],
        "format": takeaway.source["format"],
        "read_csv": takeaway.source["read_csv"],
        "libsvm": takeaway.source["libsvm"],
        "fingerprint": takeaway.source["fingerprint"],
        "validation": run.results.get("validation", {}),
        "test": run.results.get("test", {}),
        "fitted_rows": takeaway.kept_rows,
        **({"sampled": takeaway.sampled} if takeaway.sampled else {}),
        "evaluation": run.results.get("evaluation", {}),
        "versions": takeaway.versions,
    }


def _models(run: FinishedRun) -> list[str]:
    """The names of the models that it is, or that it averages, each once."""
    settings = [member.setting for member in members_of(run)] if run.which == TUNED else []
    of = (own_setting(run.plan.model, s)[0] for s in settings or [run.results["setting"]])
    return list(dict.fromkeys(of))


def _text_features(run: FinishedRun) -> list[str]:
    """The features that the pipeline takes as text; the others are numbers."""
    names, source = run.takeaway.feature_names, run.takeaway.source
    if source["format"] != "sample":
        return [name for name in names if name in source["read_csv"].get("dtype", {})]
    table = SAMPLES[run.plan.data.file.removeprefix("sample:")].table()
    return [name for name in names if not is_numeric_dtype(table[name].dtype)]
