"""Between a run and the history of earlier datasets: what it reads there, and what it keeps.

Where the history cannot be used, the run goes on without it and says so once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from core.errors import UnusableError
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.tuning.events import Event, HistoryRead, Noticed, TrialFinished
from core.tuning.history.readers import remember_reader
from core.tuning.history.store import Facts, History, statistics_of
from core.tuning.payloads import HistoryDataset
from core.tuning.problem import Problem


class RunHistory:
    """One run's dealings with the history.

    Args:
        problem: the run's problem.
        opened: opens the history; None to read and keep nothing.
        name: under which the history keeps this run's trials already; "" for a new run.
        folder: where the run keeps what it reads, if anywhere.
    """

    def __init__(
        self,
        problem: Problem,
        opened: Callable[[], History] | None,
        name: str = "",
        folder: Path | None = None,
    ) -> None:
        self.name = name
        self._problem = problem
        self._history: History | None = None
        self._sentences: list[str] = []
        if opened is None or problem.strategy.kind != "trials" or problem.strategy.several:
            return
        try:
            self._history = opened()
            self._facts = facts_of(problem)
            self.name = name or self._history.begin(self._facts)
            if folder is not None and problem.strategy.uses_history and self._history.enabled:
                remember_reader(self._history.path, folder)
        except UnusableError as error:
            self._give_up(error)

    def read(self) -> HistoryRead:
        """What the history holds that fits this run's space."""
        datasets: tuple[EarlierDataset, ...] = ()
        if self._history is not None and self._history.enabled:
            try:
                datasets = self._history.datasets_for(self._facts, without=self.name)
            except UnusableError as error:
                self._give_up(error)
        return event_of(datasets, self._problem)

    def keep(self, trial: TrialFinished) -> None:
        """Leave one finished trial in the history."""
        if self._history is None or not self.name:
            return
        try:
            self._history.add(self.name, trial.number, trial.setting, trial.score)
        except UnusableError as error:
            self._give_up(error)

    def notices(self) -> Iterator[Noticed]:
        """What a person should know, each once."""
        if self._history is not None:
            self._sentences += self._history.notices
            self._history.notices.clear()
        while self._sentences:
            yield Noticed(sentence=self._sentences.pop(0))

    def close(self) -> None:
        """Let go of the history's file."""
        if self._history is not None:
            self._history.close()
            self._history = None

    def _give_up(self, error: UnusableError) -> None:
        self._sentences.append(f"{error.sentence} This run goes on without the history.")
        self.close()


def facts_of(problem: Problem) -> Facts:
    """What the history keeps of a run beside its trials; nothing of the data itself."""
    dataset = problem.dataset
    return Facts(
        model=problem.model.name,
        task=dataset.task,
        metric=problem.scored_by.name,
        maximize=problem.scored_by.maximize,
        statistics=statistics_of(
            len(problem.train_rows), dataset.features.shape[1], len(dataset.classes)
        ),
        strategy=problem.strategy.name,
        axes=problem.space,
    )


def event_of(datasets: Sequence[EarlierDataset], problem: Problem) -> HistoryRead:
    """Earlier datasets as an event, so that a resumed run has the same."""
    axes = [axis.name for axis in problem.space]
    history = TuningHistory(tuple(datasets), facts_of(problem).statistics)
    distances = history.distances() if datasets else ()
    return HistoryRead(
        statistics=list(history.statistics),
        axes=axes,
        datasets=[
            HistoryDataset(
                id=one.id,
                statistics=list(one.statistics),
                values=[[setting[name] for name in axes] for setting in one.settings],
                scores=list(one.scores),
                maximize=one.maximize,
                starter=one.starter,
                distance=float(distance),
            )
            for one, distance in zip(datasets, distances, strict=True)
        ],
        simplex=list(problem.model.simplex),
    )


def history_of(read: HistoryRead, simplex: tuple[str, ...] = ()) -> TuningHistory:
    """What the sampler learns from, from the event."""
    return TuningHistory(
        datasets=tuple(_dataset(one, read.axes) for one in read.datasets),
        statistics=_three(read.statistics),
        simplex=simplex,
    )


def _dataset(one: HistoryDataset, axes: list[str]) -> EarlierDataset:
    return EarlierDataset(
        id=one.id,
        statistics=_three(one.statistics),
        settings=tuple(dict(zip(axes, values, strict=True)) for values in one.values),
        scores=tuple(one.scores),
        maximize=one.maximize,
        starter=one.starter,
    )


def _three(numbers: Sequence[float]) -> tuple[float, float, float]:
    rows, features, classes = numbers
    return float(rows), float(features), float(classes)


def read_before(past: Sequence[Event]) -> HistoryRead | None:
    """What an interrupted run had read in the history; None if it had not."""
    return next((event for event in past if isinstance(event, HistoryRead)), None)
