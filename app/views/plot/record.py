"""The record of a run as the views need it: trials in growing arrays, steps, and what is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.views.plot.scales import Scale, scale_of
from core.tuning.events import (
    CommonSurfaceFitted,
    EnsembleUpdated,
    Event,
    HyperGradientStep,
    MembersDisagree,
    MoleculesFolded,
    PastRecalled,
    PenaltyStep,
    Progress,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SequencesLabelled,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)


@dataclass
class Trial:
    """One trial that ended: its setting, and its score or why it has none."""

    number: int
    setting: dict[str, Any]
    score: float = math.nan
    took: float = 0.0
    reason: str = ""  # why this setting was tried
    expected: float | None = None  # the score that was predicted
    uncertainty: float | None = None  # the prediction's standard deviation
    candidates: float | None = None  # among how many settings it was drawn in effect
    failure: str = ""  # why it gave no score
    excluded: bool = False


@dataclass(frozen=True)
class Standard:
    """By what a dataset's scores were standardized, and whether it is the dataset's own yet."""

    mean: float
    scale: float
    settled: bool


class Growing:
    """An array that grows at its end in amortized constant time a row."""

    def __init__(self, width: int | None = None, kind: type = float) -> None:
        self._rows = np.empty((64,) if width is None else (64, width), dtype=kind)
        self._used = 0

    def append(self, row: Any) -> None:
        """One more row."""
        if self._used == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._used] = row
        self._used += 1

    @property
    def rows(self) -> np.ndarray:
        """The rows so far (a view, not a copy)."""
        return self._rows[: self._used]


class Record:
    """Everything received of one run, and the person's choices that all views share.

    Rows are trials in the order in which they ended; `numbers`, `scores`, `excluded` and `places`
    (the places of every hyperparameter on its scale) have one entry a row. `standards` are those
    after so many scores.
    """

    def __init__(self) -> None:
        self.best_k: int | None = None
        self.selected: int | None = None
        self.example = 0  # which of the sequences or molecules a person looks at
        self.started = RunStarted()
        self._take: dict[type[Event], Callable[[Any], None]] = {
            RunStarted: self.start,
            RunResumed: self._resumed,
            TrialStarted: self._trial_started,
            TrialFinished: self._trial_finished,
            TrialFailed: self._trial_failed,
            TrialExcluded: self._trial_excluded,
            SurrogateFitted: lambda event: setattr(self, "surrogate", event),
            PastRecalled: lambda event: setattr(self, "past", event),
            CommonSurfaceFitted: self._common_fitted,
            PenaltyStep: lambda event: self.steps.append(event),
            HyperGradientStep: lambda event: self.gradients.append(event),
            SequencesLabelled: lambda event: setattr(self, "labelled", event),
            MoleculesFolded: lambda event: setattr(self, "folded", event),
            EnsembleUpdated: self._averaged,
            MembersDisagree: lambda event: setattr(self, "disagreement", event),
            Progress: lambda event: setattr(self, "progress", event),
            RunFinished: self._concluded,
            RunStopped: self._concluded,
            RunFailed: self._ended,
        }
        self.start(RunStarted())

    def start(self, started: RunStarted) -> None:
        """Forget everything and begin the record of this run."""
        if started.run != self.started.run:  # a replay keeps what a person looks at
            self.example = 0
        self.started = started
        self.total = started.total
        self.axes: list[dict[str, Any]] = list(started.space)
        self.scales: list[Scale] = [scale_of(axis) for axis in self.axes]
        self.trials: list[Trial] = []
        self.row_of: dict[int, int] = {}
        self.running: dict[int, TrialStarted] = {}
        self.steps: list[PenaltyStep] = []
        self.gradients: list[HyperGradientStep] = []
        self.surrogate: SurrogateFitted | None = None
        self.past: PastRecalled | None = None
        self.common: CommonSurfaceFitted | None = None
        self._foretold: dict[int, tuple[float, float]] = {}  # responses, not yet scores
        self.standards: dict[int, Standard] = {}
        self.labelled: SequencesLabelled | None = None
        self.folded: MoleculesFolded | None = None
        self.ensemble: EnsembleUpdated | None = None
        self.ensembles: dict[int, EnsembleUpdated] = {}  # after so many trials with a score
        self.disagreement: MembersDisagree | None = None
        self.progress: Progress | None = None
        self.results: dict[str, Any] | None = None
        self.ended = False
        self.changes = 0
        self.selected = None
        self._numbers, self._scores = Growing(kind=int), Growing()
        self._excluded, self._places = Growing(kind=bool), Growing(len(self.axes))

    def consume(self, event: Event) -> None:
        """Keep what the event says."""
        take = self._take.get(type(event))
        if take is not None:
            take(event)

    # -- what was received ---------------------------------------------------------------------

    @property
    def numbers(self) -> np.ndarray:
        """Trial numbers, shape (n,)."""
        return self._numbers.rows

    @property
    def scores(self) -> np.ndarray:
        """Scores, NaN for a failed trial, shape (n,)."""
        return self._scores.rows

    @property
    def excluded(self) -> np.ndarray:
        """Whether a person took the trial out, shape (n,)."""
        return self._excluded.rows

    @property
    def places(self) -> np.ndarray:
        """Places of the settings, shape (n, axes)."""
        return self._places.rows

    @property
    def competing(self) -> np.ndarray:
        """Rows with a score that are not excluded, boolean, shape (n,)."""
        return np.isfinite(self.scores) & ~self.excluded

    def filtered(self) -> np.ndarray:
        """Rows with a score that the best-k filter lets through, boolean, shape (n,)."""
        if self.best_k is None:
            return np.isfinite(self.scores)
        mask = np.zeros(len(self.scores), dtype=bool)
        mask[self.best_rows(self.best_k)] = True
        return mask

    def best_rows(self, count: int) -> np.ndarray:
        """The rows of the best trials, best first, the earlier one first among equals."""
        rows = np.flatnonzero(self.competing)
        losses = -self.scores[rows] if self.started.maximize else self.scores[rows]
        return rows[np.argsort(losses, kind="stable")[:count]]

    def best(self) -> Trial | None:
        """The best trial so far."""
        rows = self.best_rows(1)
        return self.trials[int(rows[0])] if len(rows) else None

    def staircase(self) -> tuple[np.ndarray, np.ndarray]:
        """Trial numbers in order and the best score until each of them (NaN before the first)."""
        order = np.argsort(self.numbers, kind="stable")
        sign = 1.0 if self.started.maximize else -1.0
        scores = np.where(self.competing, sign * self.scores, -np.inf)[order]
        best = np.maximum.accumulate(scores) if len(scores) else scores
        return self.numbers[order], np.where(np.isfinite(best), sign * best, np.nan)

    @property
    def default_score(self) -> float | None:
        """The default setting's score, once known."""
        if self.progress is not None and self.progress.default is not None:
            return self.progress.default
        first = self.trials[0] if self.trials else None
        if first is not None and first.reason == "default" and math.isfinite(first.score):
            return first.score
        return None

    def trial(self, number: int | None) -> Trial | None:
        """The trial of this number, if it has ended."""
        row = self.row_of.get(-1 if number is None else number)
        return None if row is None else self.trials[row]

    @property
    def weights(self) -> dict[int, float]:
        """{trial: its weight} of the members of the average."""
        if self.ensemble is None:
            return {}
        return dict(zip(self.ensemble.members, self.ensemble.weights, strict=True))

    # -- taking events in ----------------------------------------------------------------------

    def _resumed(self, event: RunResumed) -> None:
        self.total, self.ended = event.total or self.total, False
        self.results = None

    def _concluded(self, event: RunFinished | RunStopped) -> None:
        self.results = event.results
        self._ended(event)

    def _averaged(self, event: EnsembleUpdated) -> None:
        self.ensemble = self.ensembles[event.finished] = event

    def _ended(self, _event: Event) -> None:
        self.ended = True
        self.running.clear()

    def _common_fitted(self, event: CommonSurfaceFitted) -> None:
        self.common = event
        self.standards[event.trials] = Standard(event.mean, event.scale, event.settled)
        if event.settled:
            self._translate(event)

    def _translate(self, event: CommonSurfaceFitted) -> None:
        """Predictions made before this dataset had a mean and a deviation of its own, as scores."""
        sign = 1.0 if event.maximize else -1.0
        for number, (response, deviation) in self._foretold.items():
            row = self.row_of.get(number)
            if row is not None:
                self.trials[row].expected = event.mean + sign * event.scale * response
                self.trials[row].uncertainty = event.scale * deviation

    def _trial_started(self, event: TrialStarted) -> None:
        self.running[event.number] = event
        if event.expected is None and self.common is not None:
            self._foretold[event.number] = (self.common.expected, self.common.deviation)

    def _trial_finished(self, event: TrialFinished) -> None:
        trial = Trial(event.number, event.setting, event.score, event.took)
        if not math.isfinite(event.score):
            trial.failure = "its score is not a number"
        self._add(trial)

    def _trial_failed(self, event: TrialFailed) -> None:
        self._add(Trial(event.number, event.setting, took=event.took, failure=event.reason))

    def _trial_excluded(self, event: TrialExcluded) -> None:
        row = self.row_of.get(event.number)
        if row is not None:
            self.trials[row].excluded = event.excluded
            self.excluded[row] = event.excluded
            self.changes += 1

    def _add(self, trial: Trial) -> None:
        begun = self.running.pop(trial.number, None)
        if begun is not None:
            trial.reason = begun.reason
            trial.expected, trial.uncertainty = begun.expected, begun.uncertainty
            trial.candidates = begun.candidates
        if trial.number in self.row_of:  # told again, after a resumed run
            self._replace(self.row_of[trial.number], trial)
            return
        self.row_of[trial.number] = len(self.trials)
        self.trials.append(trial)
        self._numbers.append(trial.number)
        self._scores.append(trial.score)
        self._excluded.append(False)
        self._places.append(self._places_of(trial.setting))

    def _replace(self, row: int, trial: Trial) -> None:
        trial.excluded = self.trials[row].excluded
        self.trials[row] = trial
        self.scores[row] = trial.score
        self.places[row] = self._places_of(trial.setting)
        self.changes += 1

    def _places_of(self, setting: dict[str, Any]) -> list[float]:
        pairs = zip(self.axes, self.scales, strict=True)
        return [scale.place(setting.get(axis["name"])) for axis, scale in pairs]
