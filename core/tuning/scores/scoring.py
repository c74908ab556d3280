"""One setting's validation score: the estimator fitted and scored on every prepared fold."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from core.datasets.task import Task
from core.estimators.registry import MODELS, model_named
from core.space import Setting
from core.tuning.events import Event
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS, predict_for_metric, targets_of

CLEARLY = 2.5  # standard errors
_OF_EACH_CLASS = 5  # rows, in a look


@dataclass(frozen=True)
class FoldData:
    """One fold, prepared once: what an estimator is fitted on and what it is scored on.

    The preparation was fitted on the fit rows alone. Matrices are float64, dense or CSR; tokens and
    molecules stay tables.

    Attributes:
        names: the columns of the prepared rows (the words of documents), for models that show them.
        memory: what a model of sequences or molecules keeps from setting to setting.
    """

    fit_X: Any
    fit_y: np.ndarray
    score_X: Any
    score_y: np.ndarray
    names: tuple[str, ...] = ()
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoringJob:
    """What a trial process needs to score any setting; sent to it once.

    Attributes:
        fixed: parameters of the estimator that are no part of the setting.
        folds: the prepared folds; where they lie in a file, memory-mapped by every process.
        probabilities: whether the model must give probabilities of classes.
        returns_predictions: whether a trial gives what its models say about the held-out rows, for
            an average.
        returns_model: whether it gives the fitted estimator of its only fold.
        fitted_rows: whether it is scored by how well it explains the rows it was fitted to.
    """

    model: str
    task: str
    metric: str
    seed: int
    classes: tuple[Any, ...]
    folds: Sequence[FoldData]
    fixed: Setting = field(default_factory=dict)
    probabilities: bool = False
    returns_predictions: bool = False
    returns_model: bool = False
    fitted_rows: bool = False


@dataclass(frozen=True)
class TrialResult:
    """What became of a trial: fold scores, or the reason why there are none.

    Attributes:
        predictions: what the model of every fold says about its held-out rows, where `Work.tells`.
        fitted: the estimator of the only fold, where `ScoringJob.returns_model`.
        display_event: what there is to see of the first fold's model; None for most models.
        estimate: the score of a trial that was ended early, from the folds it had; None otherwise.
    """

    number: int
    setting: Setting
    fold_scores: tuple[float, ...] = ()
    took: float = 0.0
    failure: str = ""
    predictions: tuple[Predictions, ...] = ()
    fitted: Any = None
    display_event: Event | None = None
    estimate: float | None = None

    @property
    def score(self) -> float:
        """The mean over folds, or what it is estimated to be."""
        if self.estimate is not None:
            return self.estimate
        return float(np.mean(self.fold_scores)) if self.fold_scores else math.nan


@dataclass(frozen=True)
class Incumbent:
    """The best trial so far: one that is clearly behind it after some folds is ended early.

    Attributes:
        fold_scores: of every fold.
        spread: the standard deviation of the difference that a fold makes between two settings.
        sign: 1 where larger scores are better, otherwise −1.
    """

    fold_scores: tuple[float, ...]
    spread: float
    sign: float

    def estimate(self, scores: Sequence[float]) -> float | None:
        """The score over all folds of a setting that is clearly behind after some; else None.

        Clearly: by `CLEARLY` standard errors of the mean difference in the folds so far.
        """
        done = len(scores)
        if not 0 < done < len(self.fold_scores):
            return None
        gap = float(np.mean(np.subtract(scores, self.fold_scores[:done])))
        if self.sign * gap >= -CLEARLY * self.spread / math.sqrt(done):
            return None
        return float(np.mean(self.fold_scores)) + gap


@dataclass(frozen=True)
class TrialRequest:
    """One thing that a trial process is asked for.

    Attributes:
        number: of the trial.
        incumbent: the trial that it is ended early against, if any.
        screening_rows: where above 0, only the first fold is scored, and at most so many of its
            rows are fitted, and as many scored.
    """

    number: int
    setting: Setting
    incumbent: Incumbent | None = None
    screening_rows: int = 0


@dataclass(frozen=True)
class _FoldScore:
    """One fold's score and what else is to be told of it."""

    score: float
    estimator: Any
    predictions: Predictions | None = None


def score_setting(job: ScoringJob, number: int, setting: Setting) -> TrialResult:
    """Fit and score one setting on every fold; whatever goes wrong becomes the reason."""
    return score_trial(job, TrialRequest(number, setting))


def score_trial(job: ScoringJob, request: TrialRequest) -> TrialResult:
    """Fit and score what a task asks for; whatever goes wrong becomes the reason."""
    start_time = time.perf_counter()
    event, estimate = None, None
    number, setting = request.number, request.setting
    try:
        fold_scores: list[_FoldScore] = []
        for index, fold in enumerate(_folds_of(job, request)):
            fold_score = _score_fold(job, setting, fold)
            if index == 0:
                event = _model_event(job, fold_score.estimator, fold, number)
            fold_scores.append(
                fold_score if job.returns_model else replace(fold_score, estimator=None)
            )
            if request.incumbent is not None:
                estimate = request.incumbent.estimate(
                    [fold_score.score for fold_score in fold_scores]
                )
                if estimate is not None:
                    break
    except Exception as error:  # a trial may fail in any way; the run goes on
        return TrialResult(
            number, setting, (), time.perf_counter() - start_time, one_line_error(error)
        )
    seconds = time.perf_counter() - start_time
    scores = tuple(fold_score.score for fold_score in fold_scores)
    if not all(math.isfinite(score) for score in scores):
        return TrialResult(number, setting, (), seconds, "The score was not a number.")
    return TrialResult(
        number,
        setting,
        scores,
        seconds,
        predictions=tuple(
            fold_score.predictions
            for fold_score in fold_scores
            if fold_score.predictions is not None
        ),
        fitted=fold_scores[0].estimator if job.returns_model else None,
        display_event=event,
        estimate=estimate,
    )


def _folds_of(job: ScoringJob, request: TrialRequest) -> Sequence[FoldData]:
    """The folds of a task; for a look a part of the first one, the same for every setting."""
    if not request.screening_rows:
        return job.folds
    fold = job.folds[0]
    fit_rows = _sample_rows(fold.fit_y, request.screening_rows, job)
    score_rows = _sample_rows(fold.score_y, request.screening_rows, job)
    return (
        FoldData(
            fold.fit_X[fit_rows],
            fold.fit_y[fit_rows],
            fold.score_X[score_rows],
            fold.score_y[score_rows],
        ),
    )


def _sample_rows(y: np.ndarray, max_rows: int, job: ScoringJob) -> np.ndarray:
    """At most so many rows at random, of every class a few where there are any."""
    if len(y) <= max_rows:
        return np.arange(len(y))
    shuffled_rows = np.random.default_rng(job.seed).permutation(len(y))
    if not job.classes:
        return np.sort(shuffled_rows[:max_rows])
    # The rows of a class in turns: its first five stand in front.
    codes = np.unique(y[shuffled_rows].astype(str), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
    position_in_class = np.arange(len(y)) - np.repeat(starts, np.diff(np.r_[starts, len(y)]))
    turn = np.empty(len(y), dtype=int)
    turn[order] = position_in_class
    early_rows = np.flatnonzero(turn < _OF_EACH_CLASS)
    later_rows = np.flatnonzero(turn >= _OF_EACH_CLASS)
    return np.sort(shuffled_rows[np.concatenate([early_rows, later_rows])][:max_rows])


def fit_estimator(job: ScoringJob, setting: Setting, fold: FoldData) -> Any:
    """The estimator of a setting, fitted on the rows of a fold."""
    model = model_named(job.model, probabilities=job.probabilities)
    estimator = model.build(job.task, setting, job.seed).set_params(**job.fixed)
    with _ignore_warnings():
        if Task(job.task).is_structured:
            return estimator.fit(fold.fit_X, fold.fit_y, memory=fold.memory)
        return estimator.fit(fold.fit_X, fold.fit_y)


def _score_fold(job: ScoringJob, setting: Setting, fold: FoldData) -> _FoldScore:
    estimator, metric = fit_estimator(job, setting, fold), METRICS[job.metric]
    with _ignore_warnings():
        if job.fitted_rows:
            return _FoldScore(_training_score(job, estimator, fold), estimator)
        predictions = predict_for_metric(
            metric, estimator, fold.score_X, fold.score_y, job.classes, job.task
        )
        score = metric.score(targets_of(fold.score_y, job.task, job.classes), predictions)
    return _FoldScore(score, estimator, predictions if job.returns_predictions else None)


def _training_score(job: ScoringJob, estimator: Any, fold: FoldData) -> float:
    """The log likelihood of the rows fitted to."""
    judge = MODELS[job.model].training_score
    assert judge is not None  # refused where the run is planned
    return judge(estimator, fold.fit_X, fold.fit_y)


def _model_event(job: ScoringJob, estimator: Any, fold: FoldData, number: int) -> Event | None:
    model = MODELS[job.model]
    if not model.shows:
        return None
    from core.tuning.runs.fit_events import display_event

    return display_event(model, estimator, fold.score_X, fold.score_y, number, fold.names)


@contextlib.contextmanager
def _ignore_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the score itself is the verdict
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def one_line_error(error: BaseException) -> str:
    """An exception as one line: its kind and the first sentence of its text."""
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {text}"[:300] if text else f"{type(error).__name__}."
