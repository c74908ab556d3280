"""What a run reads from the history of earlier datasets, and what it adds.

Where the history cannot be used, the run goes on without it and says so once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.errors import UnusableError
from core.gp.transfer.earlier_trials import NEIGHBOURS
from core.samplers.transfer.history import EarlierDataset, TuningHistory, teaching_datasets
from core.space import Setting, unit_vector
from core.tuning.events import Event, HistoryDataset, HistoryRead, RemarkMade, TrialFinished
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History
from core.tuning.history.traces import remember_reader
from core.tuning.problem import Problem


class RunHistory:
    """The history as one run uses it.

    It begins a dataset (for each of several models) with the first full trial, before that trial's
    event: one missing at a resumption was deleted, and stays so.

    `opened` opens the history, None to read and write nothing; `name` is the id of this run's
    dataset, "" for none, a prefix for several models; `folder` is where the run stores what it
    reads, if anywhere. A run that is not `fresh` and began with the history off stays out.
    """

    def __init__(
        self,
        problem: Problem,
        opened: Callable[[], History] | None,
        name: str = "",
        folder: Path | None = None,
        fresh: bool = True,
    ) -> None:
        self.name = name
        self._problem = problem
        self._history: History | None = None
        self._sentences: list[str] = []
        self._begun: set[str] = set()  # ids of datasets
        if opened is None or problem.strategy.kind != "trials":
            return
        try:
            self._history = opened()
            if fresh and not name:
                self.name = self._history.fresh_id()
            # Only a run that reads the history keeps something that has to be forgotten later.
            reads = (
                problem.strategy.several
                or problem.strategy.uses_history
                or problem.warm_start_datasets > 0
            )
            if folder is not None and reads and self._history.enabled:
                remember_reader(self._history.path, folder)
        except UnusableError as error:
            self._give_up(error)

    def read(self, problem: Problem | None = None) -> HistoryRead:
        """What teaches in the space of this run, or of one model's `problem`."""
        model_problem = problem or self._problem
        metadata, datasets = metadata_of(model_problem), tuple[EarlierDataset, ...]()
        if self._history is not None and self._history.enabled:
            try:
                datasets = self._history.datasets_for(metadata, without=self._id_of(model_problem))
            except UnusableError as error:
                self._give_up(error)
        present = (metadata.statistics, *metadata.test_statistics)
        datasets, same_count = teaching_datasets(datasets, present)
        return replace(event_of(datasets, model_problem), same=same_count or None)

    def record_trial(self, problem: Problem, trial: TrialFinished) -> None:
        """Add a trial of this run, of several models of that of `problem`."""
        if self._history is None or not self.name:
            return
        id = self._id_of(problem)
        try:
            if id not in self._begun:
                self._history.begin_dataset(metadata_of(problem), id)
                self._begun.add(id)
            self._history.add_trial(id, trial.number, trial.setting, trial.score)
        except UnusableError as error:
            self._give_up(error)

    def restore_trials(self, problem: Problem, trials: Sequence[TrialFinished]) -> None:
        """Make a dataset hold the trials that a resumed run has recorded, and no other."""
        if self._history is None or not self.name:
            return
        id = self._id_of(problem)
        if trials:
            self._begun.add(id)
        try:
            rows = [(t.number, t.setting, t.score) for t in trials]
            self._history.write_trials(id, rows, is_replaced=True)
        except UnusableError as error:
            self._give_up(error)

    def _id_of(self, problem: Problem) -> str:
        is_per_model = self.name and self._problem.strategy.several
        return f"{self.name}-{problem.model.name}" if is_per_model else self.name

    def notices(self) -> Iterator[RemarkMade]:
        if self._history is not None:
            self._sentences += self._history.notices
            self._history.notices.clear()
        while self._sentences:
            yield RemarkMade(sentence=self._sentences.pop(0))

    def close(self) -> None:
        if self._history is not None:
            self._history.close()
            self._history = None

    def _give_up(self, error: UnusableError) -> None:
        self._sentences.append(f"{error.sentence} This run continues without the history.")
        self.close()


def metadata_of(problem: Problem) -> RunMetadata:
    """What the history stores of a run beside its trials; nothing of the data itself."""
    dataset = problem.dataset
    test_counts = [] if dataset.test is None else [dataset.test.rows]
    statistics = tuple(
        statistics_of(rows, dataset.features.shape[1], len(dataset.classes))
        for rows in (len(problem.train_rows), *test_counts)
    )
    return RunMetadata(
        model=problem.model.name,
        task=dataset.task,
        metric=problem.scored_by.name,
        maximize=problem.scored_by.maximize,
        statistics=statistics[0],
        strategy=problem.strategy.name,
        axes=problem.space,
        test_statistics=statistics[1:],
    )


def event_of(datasets: Sequence[EarlierDataset], problem: Problem) -> HistoryRead:
    """Earlier datasets as an event, which a resumed run reads again."""
    axes = [axis.name for axis in problem.space]
    history = TuningHistory(tuple(datasets), metadata_of(problem).statistics)
    distances = history.distances() if datasets else ()
    return HistoryRead(
        statistics=list(history.statistics),
        axes=axes,
        datasets=[
            HistoryDataset(
                id=dataset.id,
                statistics=list(dataset.statistics),
                values=[[setting[name] for name in axes] for setting in dataset.settings],
                scores=list(dataset.scores),
                maximize=dataset.maximize,
                starter=dataset.starter,
                distance=float(distance),
            )
            for dataset, distance in zip(datasets, distances, strict=True)
        ],
        simplex=list(problem.model.simplex),
    )


def history_of(read: HistoryRead, simplex: tuple[str, ...] = ()) -> TuningHistory:
    """The sampler's history from the event."""
    return TuningHistory(
        datasets=tuple(_dataset(dataset, read.axes) for dataset in read.datasets),
        statistics=_three_floats(read.statistics),
        simplex=simplex,
    )


def _dataset(dataset: HistoryDataset, axes: list[str]) -> EarlierDataset:
    return EarlierDataset(
        id=dataset.id,
        statistics=_three_floats(dataset.statistics),
        settings=tuple(dict(zip(axes, values, strict=True)) for values in dataset.values),
        scores=tuple(dataset.scores),
        maximize=dataset.maximize,
        starter=dataset.starter,
    )


def _three_floats(numbers: Sequence[float]) -> tuple[float, float, float]:
    rows, features, classes = numbers
    return float(rows), float(features), float(classes)


def read_before(past: Sequence[Event]) -> tuple[HistoryRead, ...]:
    """What an interrupted run had read: one event at most, or one for each of several models."""
    return tuple(event for event in past if isinstance(event, HistoryRead))


MAX_DATASETS = 2  # settings of a model
SAME = 0.05  # of an axis: settings that differ by no more anywhere count as one


def warm_start_history(
    history: HistoryRead, problem: Problem, max_datasets: int = MAX_DATASETS
) -> HistoryRead:
    """The best trials of the nearest datasets, one each, which are tried again."""
    near = sorted(
        history.datasets,
        key=lambda dataset: (dataset.distance, -_signed_score(dataset, _best_index(dataset))),
    )
    # The nearest first, each unlike the default and those before it. Applied to its own result this
    # changes nothing, so that a resumed run may do it again.
    seen = [unit_vector(problem.space, problem.default)]
    nearest: list[HistoryDataset] = []
    for dataset in near[:NEIGHBOURS]:
        if len(nearest) == max_datasets:
            break
        index = _best_index(dataset)
        values, score = dataset.values[index], dataset.scores[index]
        unit = unit_vector(problem.space, dict(zip(history.axes, values, strict=True)))
        if all(np.abs(unit - seen_unit).max() > SAME for seen_unit in seen):
            seen.append(unit)
            nearest.append(replace(dataset, values=[values], scores=[score]))
    return replace(history, datasets=nearest)


def settings_in(history: HistoryRead) -> list[Setting]:
    """The settings of all trials of an event, in order."""
    return [
        dict(zip(history.axes, values, strict=True))
        for dataset in history.datasets
        for values in dataset.values
    ]


def _best_index(dataset: HistoryDataset) -> int:
    return max(range(len(dataset.scores)), key=lambda index: _signed_score(dataset, index))


def _signed_score(dataset: HistoryDataset, index: int) -> float:
    return dataset.scores[index] if dataset.maximize else -dataset.scores[index]
