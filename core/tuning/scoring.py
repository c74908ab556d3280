"""One setting's validation score: the estimator fitted and scored on every prepared fold."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.metrics import METRICS, score_one
from core.tuning.structured_metrics import STRUCTURED_TASKS


@dataclass(frozen=True)
class FoldData:
    """One fold, prepared once: what an estimator is fitted on and what it is scored on.

    The preparation was fitted on the fit rows alone. Matrices are float64, dense or CSR; tokens and
    molecules stay tables.

    Attributes:
        memory: what a model of sequences or molecules keeps from setting to setting.
    """

    fit_X: Any
    fit_y: np.ndarray
    score_X: Any
    score_y: np.ndarray
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What a trial process needs to score any setting; sent to it once.

    Attributes:
        fixed: parameters of the estimator that are no part of the setting.
        folds: the prepared folds; where they lie in a file, memory-mapped by every process.
    """

    model: str
    task: str
    metric: str
    seed: int
    classes: tuple[Any, ...]
    folds: Sequence[FoldData]
    fixed: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: fold scores, or the reason why there are none."""

    number: int
    setting: Setting
    fold_scores: tuple[float, ...] = ()
    took: float = 0.0
    failure: str = ""

    @property
    def score(self) -> float:
        """The mean over folds."""
        return float(np.mean(self.fold_scores)) if self.fold_scores else math.nan


def score_setting(work: Work, number: int, setting: Setting) -> Outcome:
    """Fit and score one setting on every fold; whatever goes wrong becomes the reason."""
    begun = time.perf_counter()
    try:
        scores = tuple(_fold_score(work, setting, fold) for fold in work.folds)
    except Exception as error:  # a trial may fail in any way; the run goes on
        return Outcome(number, setting, (), time.perf_counter() - begun, in_a_sentence(error))
    took = time.perf_counter() - begun
    if not all(math.isfinite(score) for score in scores):
        return Outcome(number, setting, (), took, "The score was not a number.")
    return Outcome(number, setting, scores, took)


def _fold_score(work: Work, setting: Setting, fold: FoldData) -> float:
    estimator = MODELS[work.model].build(work.task, setting, work.seed).set_params(**work.fixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the score itself is the verdict
        warnings.simplefilter("ignore", RuntimeWarning)
        if work.task in STRUCTURED_TASKS:
            estimator.fit(fold.fit_X, fold.fit_y, memory=fold.memory)
        else:
            estimator.fit(fold.fit_X, fold.fit_y)
        score_X, score_y = fold.score_X, fold.score_y
        return score_one(METRICS[work.metric], estimator, score_X, score_y, work.classes, work.task)


def in_a_sentence(error: BaseException) -> str:
    """An exception as one line: its kind and the first sentence of its text."""
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {text}"[:300] if text else f"{type(error).__name__}."
