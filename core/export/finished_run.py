"""The finished run as exporters see it: plan, events, results, metadata and fitted pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from core.datasets.dataset import DataSource
from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.model_settings import labels_of, model_and_values, title_of
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import model_named
from core.export.exportable_models import TUNED
from core.export.redaction import without_examples
from core.space import Setting
from core.tuning.events import Event, RunFinished, RunStarted, RunStopped
from core.tuning.plan import Plan
from core.tuning.results.model_metadata import ModelMetadata, read_metadata
from core.tuning.run_results import Results
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class FinishedRun:
    """Everything that a run leaves, read once for all exporters."""

    name: str
    plan: Plan
    events: list[Event]
    started: RunStarted
    results: Results  # of its last RunFinished or RunStopped
    takeaway: ModelMetadata
    folder: RunFolder = field(repr=False)
    selected_name: str = TUNED  # of the exported model; results and takeaway are that model's
    selected_pipeline: Any = field(default=None, repr=False)  # of a model other than the tuned one
    allows_examples: bool = True  # whether exports may hold rows and examples of the data

    @cached_property
    def pipeline(self) -> Any:
        """The fitted pipeline of raw rows."""
        return best_of(self.folder) if self.selected_pipeline is None else self.selected_pipeline

    @cached_property
    def state(self) -> RunState:
        """The state after all events."""
        return state_from_events(self.events)

    @property
    def model(self) -> Model:
        """The kind of model, in the form that the run fitted."""
        strategy, metric = STRATEGIES[self.plan.strategy], METRICS[self.results.metric]
        averages = strategy.averages or self.plan.costs
        probabilities = bool(averages or metric.needs == "probabilities")
        return model_named(self.plan.model, probabilities=probabilities)

    @property
    def tunes_several_models(self) -> bool:
        """Whether it tuned several models."""
        return self.plan.model == SEVERAL

    def model_title_of(self, setting: Mapping[str, Any]) -> str:
        """The title of a setting's model."""
        return title_of(model_and_values(self.plan.model, setting)[0])

    @property
    def model_title(self) -> str:
        """The title of the exported model; of an average that of its best member."""
        return self.model_title_of(self.results.setting)

    def model_setting(self, setting: Mapping[str, Any]) -> Setting:
        """A setting's values for the axes of its own model."""
        return model_and_values(self.plan.model, setting)[1]

    def labels_of(self, model: str) -> dict[str, str]:
        """{hyperparameter: label} of one of the run's models, with the axes of this run's data."""
        if self.tunes_several_models:
            return labels_of(model, self.takeaway.task)
        axes = {axis.name: axis.label for axis in self.model.space(self.takeaway.task)}
        return axes | {axis.name: axis.label for axis in self.started.space}

    @property
    def tried_model_count(self) -> int:
        """The number of models with a scored trial."""
        trials = self.state.scored_trials()
        return len({model_and_values(self.plan.model, trial.setting)[0] for trial in trials})

    @property
    def is_nested(self) -> bool:
        """Whether every row was tested, by models of outer folds."""
        facts = self.results.evaluation
        return facts is not None and facts.kind == "nested"

    def test_score_text(self, form: str = ".6f") -> str:
        """The metric and its score on test rows: "accuracy on test rows 0.912300"."""
        metric = self.results.metric
        if metric not in self.results.test:
            return f"{metric.replace('_', ' ')} on test rows not measured"
        formatted_score = score_text(self.results.test[metric], form)
        return f"{metric.replace('_', ' ')} on test rows {formatted_score}"

    def events_of_kind(self, kind: type[E]) -> list[E]:
        """Its events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def has_learned_penalties(self) -> bool:
        """Whether L2 penalties were learned."""
        return bool(self.takeaway.penalties)


def score_text(score: float | None, form: str = ".6f") -> str:
    """A score as text; some are undefined, such as an area of rows of one class."""
    return "undefined" if score is None else format(score, form)


def file_name_of(source: DataSource) -> str:
    """The name of a data file without its folder, which is private; "" of samples."""
    return source.path.replace("\\", "/").rsplit("/", 1)[-1]


def finished_run(folder: RunFolder, examples: bool = True) -> FinishedRun:
    """The run in a folder, or UnusableError; `examples` allows exports to hold rows of the data."""
    events = folder.all_events()
    ends = [event for event in events if isinstance(event, (RunFinished, RunStopped))]
    starts = [event for event in events if isinstance(event, RunStarted)]
    results = ends[-1].results if ends else None
    if not starts or results is None or not has_best(folder):
        raise _nothing_yet(folder)
    try:
        takeaway = read_metadata(folder.path)
    except FileNotFoundError:
        raise _nothing_yet(folder) from None
    run = FinishedRun(
        name=starts[0].run or folder.path.name,
        plan=folder.plan,
        events=events,
        started=starts[0],
        results=results,
        takeaway=takeaway,
        folder=folder,
    )
    return run if examples else without_examples(run)


def _nothing_yet(folder: RunFolder) -> UnusableError:
    return UnusableError(
        "this run has no fitted model yet",
        where=str(folder.path),
        cure="let it finish, or stop it and keep the best",
    )
