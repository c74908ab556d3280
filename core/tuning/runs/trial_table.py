"""The trials of a run as rows, and which of them is the best that counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from core.estimators.multi_model import MODEL, SEVERAL
from core.space import Setting
from core.tuning.events import RunStarted


class Trial(msgspec.Struct, frozen=True, gc=False):
    """One trial that ended, with its score or the reason it has none."""

    number: int
    setting: Setting
    score: float = math.nan
    took: float = 0.0
    fits: int = 0
    reason: str = ""  # why this setting was tried
    expected: float | None = None  # the predicted score, and its standard deviation
    uncertainty: float | None = None
    response: tuple[float, float] | None = None  # standardized, before this dataset's own scale
    candidates: float | None = None  # among how many settings it was drawn in effect
    failure: str = ""  # why it failed; "" where it has a score
    behind: bool = False  # ended early, clearly behind the best; the score is an estimate
    fold_scores: Sequence[float] = ()
    repeats: int = 1  # divisions into folds
    ended: float = 0.0  # seconds of the run when it ended

    @property
    def error(self) -> float:
        """Standard error over the folds; 0 with one."""
        return fold_error(self.fold_scores, self.repeats)


class GrowingArray:
    """An array with append in amortized constant time, a tenth of numpy's."""

    def __init__(self, kind: type, width: int | None = None) -> None:
        self._rows: np.ndarray = np.empty((64,) if width is None else (64, width), dtype=kind)
        self._used = 0
        self._fresh: list[Any] = []  # rows that the array does not have yet

    def first(self, count: int) -> GrowingArray:
        """A copy of the first rows."""
        copied = GrowingArray(self._rows.dtype.type)
        copied._rows, copied._used = np.copy(self.rows[:count]), count
        return copied

    def __len__(self) -> int:
        return self._used + len(self._fresh)

    def append(self, row: Any) -> None:
        # A list takes a row in a tenth of the time; both are joined when the rows are read.
        self._fresh.append(row)

    def extend(self, rows: Iterable[Any]) -> None:
        self._fresh.extend(rows)

    @property
    def rows(self) -> np.ndarray:
        """A view, not a copy."""
        if self._fresh:
            self._flush_rows()
        return self._rows[: self._used]

    def _flush_rows(self) -> None:
        used, needed = self._used, self._used + len(self._fresh)
        if needed > len(self._rows):
            more = max(needed, 2 * len(self._rows)) - used
            spare = np.empty_like(self._rows, shape=(more, *self._rows.shape[1:]))
            self._rows = np.concatenate([self._rows[:used], spare])
        self._rows[used:needed] = self._fresh
        self._used, self._fresh = needed, []


class TrialTable:
    """Ended trials in order; one counts by a finite score on all rows, unless it is excluded."""

    def __init__(self, maximize: bool = True) -> None:
        self.maximize = maximize
        self.trials: list[Trial] = []
        self.row_of: dict[int, int] = {}  # by number, in the order of the rows
        self.replaced: list[tuple[int, Trial]] = []  # (row, trial before a resumed run's)
        self.excluded: set[int] = set()  # numbers of trials that a person took out, ended or not
        self.finished = self.failed = 0  # trials with and without a score
        self.changes = 0  # exclusions and replacements, after which known rows may differ
        self.trial_fits, self.took = 0, 0.0  # models of all trials, seconds of the finished ones
        self._filled = GrowingArray(int), GrowingArray(float), GrowingArray(bool)
        self._best = -1  # row
        self._finished_at_best = 0

    @property
    def numbers(self) -> np.ndarray:
        return self._columns()[0].rows

    @property
    def scores(self) -> np.ndarray:
        """NaN for a failed trial, shape (n,)."""
        return self._columns()[1].rows

    @property
    def is_excluded(self) -> np.ndarray:
        """Boolean, shape (n,)."""
        mask = np.zeros(len(self.trials), dtype=bool)
        mask[[self.row_of[number] for number in self.excluded if number in self.row_of]] = True
        return mask

    @property
    def is_ended_early(self) -> np.ndarray:
        """Its score is an estimate then, boolean, shape (n,)."""
        return self._columns()[2].rows

    def _columns(self) -> tuple[GrowingArray, GrowingArray, GrowingArray]:
        # Filled when they are asked for: a long run is read in fewer steps.
        numbers, scores, early = self._filled
        if fresh := self.trials[len(numbers) :]:
            numbers.extend([trial.number for trial in fresh])
            scores.extend([trial.score for trial in fresh])
            early.extend([trial.behind for trial in fresh])
        return self._filled

    @property
    def competing(self) -> np.ndarray:
        """Boolean, shape (n,)."""
        return self.scored_rows & ~self.is_ended_early

    @property
    def scored_rows(self) -> np.ndarray:
        """Estimates among them, without what is excluded, boolean, shape (n,)."""
        return np.isfinite(self.scores) & ~self.is_excluded

    def best_rows(self, count: int, *, estimates: bool = False) -> np.ndarray:
        """`count` rows (0: all), best first, the earlier among equals."""
        rows = np.flatnonzero(self.scored_rows if estimates else self.competing)
        losses = -self.scores[rows] if self.maximize else self.scores[rows]
        if 0 < count < len(rows):  # no need to sort them all
            near = losses <= np.partition(losses, count - 1)[count - 1]
            rows, losses = rows[near], losses[near]
        return rows[np.argsort(losses, kind="stable")[:count]]

    def staircase(self) -> tuple[np.ndarray, np.ndarray]:
        """Trial numbers in order, and the best score up to each (NaN before the first)."""
        order = np.argsort(self.numbers, kind="stable")
        sign = 1.0 if self.maximize else -1.0
        scores = np.where(self.competing, sign * self.scores, -np.inf)[order]
        best = np.maximum.accumulate(scores) if len(scores) else scores
        return self.numbers[order], np.where(np.isfinite(best), sign * best, np.nan)

    @property
    def best_trial(self) -> Trial | None:
        return None if self._best < 0 else self.trials[self._best]

    @property
    def without_improvement(self) -> int:
        """Trials with a score that ended after the best; 0 where none counts."""
        return 0 if self._best < 0 else self.finished - self._finished_at_best

    def find_trial(self, number: int | None) -> Trial | None:
        row = self.row_of.get(-1 if number is None else number)
        return None if row is None else self.trials[row]

    def setting_of(self, number: int) -> Setting:
        return self.trials[self.row_of[number]].setting

    def scored_trials(self) -> list[Trial]:
        return [trial for trial in self.trials if not trial.failure]

    def add_trial(self, trial: Trial) -> None:
        """In a resumed run perhaps for the second time."""
        self._count_trial(trial, 1)
        number, row, best = trial.number, len(self.trials), self.best_trial
        if number in self.row_of:
            self._replace(self.row_of[number], trial)
            return
        self.row_of[number] = row
        self.trials.append(trial)
        if best is not None and not self._is_better(trial.score, best.score):
            return
        if not (trial.failure or trial.behind or number in self.excluded):
            self._best, self._finished_at_best = row, self.finished

    def exclude(self, number: int, excluded: bool) -> None:
        """Also one that has not ended yet."""
        (self.excluded.add if excluded else self.excluded.discard)(number)
        if number in self.row_of:
            self.changes += 1
            self._compete_again()

    def _is_better(self, score: float, other_score: float) -> bool:
        return score > other_score if self.maximize else score < other_score

    def _count_trial(self, trial: Trial, change: int) -> None:
        self.trial_fits += change * trial.fits
        if trial.failure:
            self.failed += change
        else:
            self.finished += change
            self.took += change * trial.took

    def _replace(self, row: int, trial: Trial) -> None:
        previous = self.trials[row]
        self._count_trial(previous, -1)
        self.replaced.append((row, previous))
        self.trials[row] = trial
        self.scores[row], self.is_ended_early[row] = trial.score, trial.behind
        self.changes += 1
        self._compete_again()

    def _compete_again(self) -> None:
        best = self.best_rows(1)
        self._best = int(best[0]) if len(best) else -1
        self._finished_at_best = int(np.isfinite(self.scores[: self._best + 1]).sum())

    def _copy_first(self, source: TrialTable, trials: int, replaced: int) -> None:
        self.excluded = set(self.excluded)
        self.trials = source.trials[:trials]
        self.replaced = source.replaced[:replaced]
        numbers, scores, early = (column.first(trials) for column in source._columns())
        # Backwards, so that of several replacements of a row the oldest stays.
        for row, previous in reversed(source.replaced[replaced:]):
            if row < trials:
                self.trials[row], scores.rows[row] = previous, previous.score
                early.rows[row] = previous.behind
        self.row_of = dict(islice(source.row_of.items(), trials))
        self._filled = numbers, scores, early


def fold_error(scores: Sequence[float], repeats: int = 1) -> float:
    """Of the mean of fold scores; 0 for fewer than two."""
    count = len(scores)
    if count < 2:
        return 0.0
    # Another division of the same rows adds little, so only the folds of one of the `repeats`
    # divisions count.
    folds = max(1.0, count / max(1, repeats))
    return math.dist(scores, [sum(scores) / count] * count) / math.sqrt((count - 1) * folds)


def tunes_several(started: RunStarted) -> bool:
    """Whether a run tunes several models: its one axis is which of them."""
    names = [axis.name for axis in started.space]
    return names == [MODEL] and started.run_plan.model == SEVERAL
