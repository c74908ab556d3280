"""The validation score of a setting: the estimator fitted and scored on every prepared fold."""

import contextlib
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from core.awake_timer import AWAKE
from core.datasets.memory_limit import is_memory_error, memory_failure
from core.datasets.preparation import OwnColumns
from core.datasets.task import Task
from core.estimators.model import FitSize
from core.estimators.multi_model import with_own_columns
from core.estimators.registry import MODELS, model_named
from core.processes import data_size
from core.space import Setting
from core.tuning.candidate_models import columns_of_setting
from core.tuning.events import Event
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS, fold_metric, predict_for_metric, targets_of

CLEAR_ERRORS = 2.5  # standard errors
MIN_FOLDS = 3  # that a verdict rests on
_ROWS_PER_CLASS = 5  # of a screening, where a class has them


@dataclass(frozen=True)
class FoldData:
    """One fold, prepared once by a preparation fitted on the fit rows alone.

    Matrices are float64, dense or CSR; tokens and molecules stay tables.
    """

    fit_X: Any
    fit_y: np.ndarray
    score_X: Any
    score_y: np.ndarray
    names: tuple[str, ...] = ()  # of the prepared columns, for models that show them
    # kept by a model of sequences or molecules between settings
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoringJob:
    """The work of a trial process for any setting; sent to it once."""

    model: str
    task: str
    metric: str
    seed: int
    classes: tuple[Any, ...]
    folds: Sequence[FoldData]  # memory-mapped by every process if in a file
    fixed: Setting = field(default_factory=dict)  # parameters of the estimator outside the setting
    probabilities: bool = False  # whether the model must give them
    returns_predictions: bool = False  # of held-out rows, for an average
    returns_model: bool = False  # the fitted estimator of the only fold
    own_columns: OwnColumns | None = None  # of several models
    variance: float | None = None  # of all training targets, for the R² of folds
    fitted_rows: bool = False  # score by how well the fitted rows are explained
    memory: int | None = None  # bytes that its process may take; None for the usual share


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial: fold scores, or why there are none."""

    number: int
    setting: Setting
    fold_scores: tuple[float, ...] = ()
    took: float = 0.0  # seconds by the clock
    failure: str = ""
    predictions: tuple[Predictions, ...] = ()  # of every fold, if returned
    fitted: Any = None  # estimator of the only fold, if returned
    display_event: Event | None = None  # of the first fold's model
    estimate: float | None = None  # the score of a trial that was ended early
    cpu: float = 0.0  # seconds of the processor

    @property
    def score(self) -> float:
        if self.estimate is not None:
            return self.estimate
        return float(np.mean(self.fold_scores)) if self.fold_scores else math.nan


@dataclass(frozen=True)
class Incumbent:
    """The best trial so far; one that is clearly behind it after some folds is ended early."""

    fold_scores: tuple[float, ...]
    # standard deviation of the difference of two settings in a fold, by other pairs
    spread: float
    sign: float  # 1 where larger scores are better, else −1

    def estimate(self, scores: Sequence[float]) -> float | None:
        """The estimated score over all folds of a setting that is clearly behind; else None.

        Clearly: by `CLEAR_ERRORS` standard errors of the mean difference in `MIN_FOLDS` or more.
        """
        done = len(scores)
        if not MIN_FOLDS <= done < len(self.fold_scores):
            return None
        differences = np.subtract(scores, self.fold_scores[:done])
        gap = float(np.mean(differences))
        # Three differences may be alike by chance: other pairs say how much they differ at least.
        spread = max(self.spread, float(np.std(differences, ddof=1)))
        if self.sign * gap >= -CLEAR_ERRORS * spread / math.sqrt(done):
            return None
        return float(np.mean(self.fold_scores)) + gap


@dataclass(frozen=True)
class TrialRequest:
    """A request to a trial process."""

    number: int
    setting: Setting
    incumbent: Incumbent | None = None  # that the trial is ended early against
    screening_rows: int = 0  # above 0: score the first fold alone, on so many rows at most


@dataclass(frozen=True)
class _FoldScore:
    score: float
    estimator: Any
    predictions: Predictions | None = None


def score_setting(job: ScoringJob, number: int, setting: Setting) -> TrialResult:
    """Fit and score a setting on every fold; any failure becomes the reason."""
    return score_trial(job, TrialRequest(number, setting))


def score_trial(job: ScoringJob, request: TrialRequest) -> TrialResult:
    """Fit and score a request; any failure becomes the reason."""
    start_time, start_cpu = AWAKE.seconds, time.process_time()
    event, estimate = None, None
    number, setting = request.number, request.setting
    try:
        fold_scores: list[_FoldScore] = []
        for index, fold in enumerate(_folds_of(job, request)):
            fold_score = _score_fold(job, setting, fold)
            if index == 0:
                # The model of one fold stands for all of them.
                event = _model_event(job, fold_score.estimator, fold, number)
            if not job.returns_model:
                fold_score = replace(fold_score, estimator=None)
            fold_scores.append(fold_score)
            if request.incumbent is not None:
                estimate = request.incumbent.estimate([f.score for f in fold_scores])
                if estimate is not None:
                    break
    except Exception as error:  # a trial may fail in any way; the run goes on
        seconds, failure = AWAKE.seconds - start_time, one_line_error(error)
        if is_memory_error(error) and job.memory:
            failure = memory_failure(job.memory, getattr(error, "need", 0.0))
        return TrialResult(number, setting, (), seconds, failure)
    seconds = AWAKE.seconds - start_time
    scores = tuple(fold_score.score for fold_score in fold_scores)
    if not all(math.isfinite(score) for score in scores):
        return TrialResult(number, setting, (), seconds, "The score was not a number.")
    return TrialResult(
        number,
        setting,
        scores,
        seconds,
        predictions=tuple(f.predictions for f in fold_scores if f.predictions is not None),
        fitted=fold_scores[0].estimator if job.returns_model else None,
        display_event=event,
        estimate=estimate,
        cpu=time.process_time() - start_cpu,
    )


def _folds_of(job: ScoringJob, request: TrialRequest) -> Sequence[FoldData]:
    """The folds of a request; for a screening the same part of the first one."""
    if not request.screening_rows:
        return job.folds
    fold = job.folds[0]
    fit_rows = _sample_rows(fold.fit_y, request.screening_rows, job)
    score_rows = _sample_rows(fold.score_y, request.screening_rows, job)
    fit_X, score_X = fold.fit_X[fit_rows], fold.score_X[score_rows]
    return (FoldData(fit_X, fold.fit_y[fit_rows], score_X, fold.score_y[score_rows]),)


def _sample_rows(y: np.ndarray, max_rows: int, job: ScoringJob) -> np.ndarray:
    if len(y) <= max_rows:
        return np.arange(len(y))
    shuffled_rows = np.random.default_rng(job.seed).permutation(len(y))
    if not job.classes:
        return np.sort(shuffled_rows[:max_rows])
    # The first rows of every class come first.
    codes = np.unique(y[shuffled_rows].astype(str), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
    position_in_class = np.arange(len(y)) - np.repeat(starts, np.diff(np.r_[starts, len(y)]))
    turn = np.empty(len(y), dtype=int)
    turn[order] = position_in_class
    early_rows = np.flatnonzero(turn < _ROWS_PER_CLASS)
    later_rows = np.flatnonzero(turn >= _ROWS_PER_CLASS)
    return np.sort(shuffled_rows[np.concatenate([early_rows, later_rows])][:max_rows])


def import_model(job: ScoringJob, setting: Setting) -> None:
    """Import what a setting's estimator needs, whatever else is wrong with it."""
    with contextlib.suppress(Exception):  # the trial itself gives the reason
        _make_estimator(job, setting)


def _make_estimator(job: ScoringJob, setting: Setting) -> Any:
    model = model_named(job.model, probabilities=job.probabilities)
    return model.build(job.task, setting, job.seed).set_params(**job.fixed)


class FitTooLargeError(MemoryError):
    """A fit that is not begun, as it is known to need more bytes than there are."""

    def __init__(self, need: float) -> None:
        super().__init__()
        self.need = need


def fit_estimator(job: ScoringJob, setting: Setting, fold: FoldData) -> Any:
    """The estimator of a setting, fitted on a fold; FitTooLargeError if that needs too much."""
    size = FitSize(len(fold.fit_y), fold.fit_X.shape[1], len(job.classes))
    need = model_named(job.model).fit_bytes(size, setting)
    if job.memory and data_size() + need > job.memory:
        raise FitTooLargeError(need)
    estimator = _make_estimator(job, setting)
    if job.own_columns is not None:
        estimator = with_own_columns(estimator, columns_of_setting(job.own_columns, setting))
    with fit_warnings_ignored():
        if Task(job.task).is_structured:
            return estimator.fit(fold.fit_X, fold.fit_y, memory=fold.memory)
        return estimator.fit(fold.fit_X, fold.fit_y)


def _score_fold(job: ScoringJob, setting: Setting, fold: FoldData) -> _FoldScore:
    estimator = fit_estimator(job, setting, fold)
    metric = fold_metric(METRICS[job.metric], job.variance)
    with fit_warnings_ignored():
        if job.fitted_rows:
            return _FoldScore(_training_score(job, estimator, fold), estimator)
        X, y, classes, task = fold.score_X, fold.score_y, job.classes, job.task
        predictions = predict_for_metric(metric, estimator, X, y, classes, task)
        score = metric.score(targets_of(y, task, classes), predictions)
    return _FoldScore(score, estimator, predictions if job.returns_predictions else None)


def _training_score(job: ScoringJob, estimator: Any, fold: FoldData) -> float:
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
def fit_warnings_ignored() -> Iterator[None]:
    """Within `with`, no warnings of fits that have not converged or divide by 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the score shows it
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def one_line_error(error: BaseException) -> str:
    """An exception as one line: its type and the first line of its text."""
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {text}"[:300] if text else f"{type(error).__name__}."
