"""Between a run and the history of past datasets: what it recalls, and what it leaves there.

Where the history cannot be used, the run goes on without it and says so once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from core.errors import UnusableError
from core.samplers.transfer.past import Memory, PastDataset
from core.tuning.events import Event, Noticed, PastRecalled, TrialFinished
from core.tuning.history.store import Facts, History, statistics_of
from core.tuning.payloads import RecalledDataset
from core.tuning.problem import Problem


class Remembering:
    """One run's dealings with the history.

    Args:
        problem: the run's problem.
        opened: opens the history; None to recall and keep nothing.
        name: under which the history keeps this run's trials already; "" for a new run.
    """

    def __init__(
        self, problem: Problem, opened: Callable[[], History] | None, name: str = ""
    ) -> None:
        self.name = name
        self._problem = problem
        self._history: History | None = None
        self._sentences: list[str] = []
        if opened is None or problem.strategy.kind != "trials":
            return
        try:
            self._history = opened()
            self._facts = facts_of(problem)
            self.name = name or self._history.begin(self._facts)
        except UnusableError as error:
            self._give_up(error)

    def recalled(self) -> PastRecalled:
        """What is remembered that fits this run's space."""
        past: tuple[PastDataset, ...] = ()
        if self._history is not None and self._history.enabled:
            try:
                past = self._history.recall(self._facts, without=self.name)
            except UnusableError as error:
                self._give_up(error)
        return event_of(past, self._problem)

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


def event_of(past: Sequence[PastDataset], problem: Problem) -> PastRecalled:
    """The recalled datasets as an event, so that a resumed run recalls the same."""
    axes = [axis.name for axis in problem.space]
    memory = Memory(tuple(past), facts_of(problem).statistics)
    distances = memory.distances() if past else ()
    return PastRecalled(
        statistics=list(memory.statistics),
        axes=axes,
        datasets=[
            RecalledDataset(
                id=one.id,
                statistics=list(one.statistics),
                values=[[setting[name] for name in axes] for setting in one.settings],
                scores=list(one.scores),
                maximize=one.maximize,
                starter=one.starter,
                distance=float(distance),
            )
            for one, distance in zip(past, distances, strict=True)
        ],
        simplex=list(problem.model.simplex),
    )


def memory_of(recalled: PastRecalled, simplex: tuple[str, ...] = ()) -> Memory:
    """What the sampler is told of the past, from the event."""
    return Memory(
        past=tuple(_dataset(one, recalled.axes) for one in recalled.datasets),
        statistics=_three(recalled.statistics),
        simplex=simplex,
    )


def _dataset(recalled: RecalledDataset, axes: list[str]) -> PastDataset:
    return PastDataset(
        id=recalled.id,
        statistics=_three(recalled.statistics),
        settings=tuple(dict(zip(axes, values, strict=True)) for values in recalled.values),
        scores=tuple(recalled.scores),
        maximize=recalled.maximize,
        starter=recalled.starter,
    )


def _three(numbers: Sequence[float]) -> tuple[float, float, float]:
    rows, features, classes = numbers
    return float(rows), float(features), float(classes)


def recalled_before(past: Sequence[Event]) -> PastRecalled | None:
    """What an interrupted run had recalled; None if it had not."""
    return next((event for event in past if isinstance(event, PastRecalled)), None)
