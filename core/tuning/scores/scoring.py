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

from core.estimators.registry import MODELS, model_named
from core.space import Setting
from core.tuning.events import Event
from core.tuning.scores.metric import Said
from core.tuning.scores.metrics import METRICS, said_by, targets_of
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

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
class Work:
    """What a trial process needs to score any setting; sent to it once.

    Attributes:
        fixed: parameters of the estimator that are no part of the setting.
        folds: the prepared folds; where they lie in a file, memory-mapped by every process.
        probabilities: whether the model must give probabilities of classes.
        tells: whether a trial gives what its models say about the held-out rows, for an average.
        keeps: whether it gives the fitted estimator of its only fold.
        fitted_rows: whether it is scored by how well it explains the rows it was fitted to.
    """

    model: str
    task: str
    metric: str
    seed: int
    classes: tuple[Any, ...]
    folds: Sequence[FoldData]
    fixed: dict[str, Any] = field(default_factory=dict)
    probabilities: bool = False
    tells: bool = False
    keeps: bool = False
    fitted_rows: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: fold scores, or the reason why there are none.

    Attributes:
        said: what the model of every fold says about its held-out rows, where `Work.tells`.
        fitted: the estimator of the only fold, where `Work.keeps`.
        shown: what there is to see of the first fold's model; None for most models.
        estimate: the score of a trial that was ended early, from the folds it had; None otherwise.
    """

    number: int
    setting: Setting
    fold_scores: tuple[float, ...] = ()
    took: float = 0.0
    failure: str = ""
    said: tuple[Said, ...] = ()
    fitted: Any = None
    shown: Event | None = None
    estimate: float | None = None

    @property
    def score(self) -> float:
        """The mean over folds, or what it is estimated to be."""
        if self.estimate is not None:
            return self.estimate
        return float(np.mean(self.fold_scores)) if self.fold_scores else math.nan


@dataclass(frozen=True)
class Rival:
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
class Task:
    """One thing that a trial process is asked for.

    Attributes:
        number: of the trial.
        rival: the trial that it is ended early against, if any.
        look_rows: where above 0, only the first fold is scored, and at most so many of its rows
            are fitted, and as many scored.
    """

    number: int
    setting: Setting
    rival: Rival | None = None
    look_rows: int = 0


@dataclass(frozen=True)
class _Scored:
    """One fold's score and what else is to be told of it."""

    score: float
    estimator: Any
    said: Said | None = None


def score_setting(work: Work, number: int, setting: Setting) -> Outcome:
    """Fit and score one setting on every fold; whatever goes wrong becomes the reason."""
    return score(work, Task(number, setting))


def score(work: Work, task: Task) -> Outcome:
    """Fit and score what a task asks for; whatever goes wrong becomes the reason."""
    begun = time.perf_counter()
    event, estimate = None, None
    number, setting = task.number, task.setting
    try:
        folds: list[_Scored] = []
        for at, fold in enumerate(_folds_of(work, task)):
            scored = _scored(work, setting, fold)
            if at == 0:
                event = _shown(work, scored.estimator, fold, number)
            folds.append(scored if work.keeps else replace(scored, estimator=None))
            if task.rival is not None:
                estimate = task.rival.estimate([one.score for one in folds])
                if estimate is not None:
                    break
    except Exception as error:  # a trial may fail in any way; the run goes on
        return Outcome(number, setting, (), time.perf_counter() - begun, in_a_sentence(error))
    took = time.perf_counter() - begun
    scores = tuple(fold.score for fold in folds)
    if not all(math.isfinite(score) for score in scores):
        return Outcome(number, setting, (), took, "The score was not a number.")
    return Outcome(
        number,
        setting,
        scores,
        took,
        said=tuple(fold.said for fold in folds if fold.said is not None),
        fitted=folds[0].estimator if work.keeps else None,
        shown=event,
        estimate=estimate,
    )


def _folds_of(work: Work, task: Task) -> Sequence[FoldData]:
    """The folds of a task; for a look a part of the first one, the same for every setting."""
    if not task.look_rows:
        return work.folds
    fold = work.folds[0]
    fit = _some(fold.fit_y, task.look_rows, work)
    held = _some(fold.score_y, task.look_rows, work)
    return (FoldData(fold.fit_X[fit], fold.fit_y[fit], fold.score_X[held], fold.score_y[held]),)


def _some(y: np.ndarray, most: int, work: Work) -> np.ndarray:
    """At most so many rows at random, of every class a few where there are any."""
    if len(y) <= most:
        return np.arange(len(y))
    mixed = np.random.default_rng(work.seed).permutation(len(y))
    if not work.classes:
        return np.sort(mixed[:most])
    # The rows of a class in turns: its first five stand in front.
    codes = np.unique(y[mixed].astype(str), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) > 0])
    place = np.arange(len(y)) - np.repeat(starts, np.diff(np.r_[starts, len(y)]))
    turn = np.empty(len(y), dtype=int)
    turn[order] = place
    first = np.flatnonzero(turn < _OF_EACH_CLASS)
    rest = np.flatnonzero(turn >= _OF_EACH_CLASS)
    return np.sort(mixed[np.concatenate([first, rest])][:most])


def fitted_on(work: Work, setting: Setting, fold: FoldData) -> Any:
    """The estimator of a setting, fitted on the rows of a fold."""
    model = model_named(work.model, probabilities=work.probabilities)
    estimator = model.build(work.task, setting, work.seed).set_params(**work.fixed)
    with _quiet():
        if work.task in STRUCTURED_TASKS:
            return estimator.fit(fold.fit_X, fold.fit_y, memory=fold.memory)
        return estimator.fit(fold.fit_X, fold.fit_y)


def _scored(work: Work, setting: Setting, fold: FoldData) -> _Scored:
    estimator, metric = fitted_on(work, setting, fold), METRICS[work.metric]
    with _quiet():
        if work.fitted_rows:
            return _Scored(_explained(work, estimator, fold), estimator)
        said = said_by(metric, estimator, fold.score_X, fold.score_y, work.classes, work.task)
        score = metric.score(targets_of(fold.score_y, work.task, work.classes), said)
    return _Scored(score, estimator, said if work.tells else None)


def _explained(work: Work, estimator: Any, fold: FoldData) -> float:
    """The log likelihood of the rows fitted to."""
    judge = MODELS[work.model].training_score
    assert judge is not None  # refused where the run is planned
    return judge(estimator, fold.fit_X, fold.fit_y)


def _shown(work: Work, estimator: Any, fold: FoldData, number: int) -> Event | None:
    model = MODELS[work.model]
    if not model.shows:
        return None
    from core.tuning.runs.showing import shown

    return shown(model, estimator, fold.score_X, fold.score_y, number, fold.names)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the score itself is the verdict
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def in_a_sentence(error: BaseException) -> str:
    """An exception as one line: its kind and the first sentence of its text."""
    lines = str(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    if isinstance(error, MemoryError):
        return "There was not enough memory."
    return f"{type(error).__name__}: {text}"[:300] if text else f"{type(error).__name__}."
