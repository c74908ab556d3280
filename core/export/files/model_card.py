"""The model card: what an exported model says about itself, carried inside the pipeline.

A plain dict in the attribute ``tunescope_`` of the scikit-learn pipeline survives skops and joblib
alike, needs no second file, and means nothing to programs that do not look for it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from pandas.api.types import is_numeric_dtype

from core.datasets.samples.registry import SAMPLES
from core.estimators.settings import own_setting
from core.estimators.stored.plain_model import plain_pipeline
from core.evaluation.conformal import Interval, interval_of
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
        **_for_new_rows(run),
        "evaluation": run.results.get("evaluation", {}),
        "versions": takeaway.versions,
    }


def _for_new_rows(run: FinishedRun) -> dict[str, Any]:
    """What the training rows were like, as JSON, and the interval around predicted numbers."""
    told: dict[str, Any] = {}
    if run.takeaway.training:
        told["training"] = json.dumps(run.takeaway.training, ensure_ascii=False)
    if (interval := interval_of_run(run)) is not None:
        told["interval"] = asdict(interval)
    return told


def interval_of_run(run: FinishedRun) -> Interval | None:
    """The interval around numbers that a run's model predicts; None for classes, or of few rows.

    Its errors are those on test rows, which the tested model had not seen.
    """
    seen = run.results.get("predictions")
    if run.takeaway.task != "regression" or run.which != TUNED or not seen:
        return None
    return interval_of(np.array(seen["actual"], float), np.array(seen["tuned"], float))


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
