"""The finished run as exporters see it: plan, events, results, takeaway and the fitted pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.registry import model_named
from core.estimators.settings import labels_of, own_setting, title_of
from core.estimators.several import SEVERAL
from core.export.choices import TUNED
from core.export.without_examples import quieted
from core.space import Setting
from core.tuning.events import Event, RunFinished, RunStarted, RunStopped
from core.tuning.plan import Plan
from core.tuning.results.takeaway import Takeaway, read_takeaway
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, folded
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class FinishedRun:
    """Everything that a run leaves, read once for all exporters.

    Attributes:
        name: the run's name.
        events: every event in order.
        started: the first event.
        results: of its last RunFinished or RunStopped.
        takeaway: what lies beside the fitted pipeline.
        which: the model that is exported (core.export.choices): the tuned one, or another, which
            then stands in its place in results and takeaway.
        fitted: that other one's pipeline.
        examples: whether rows and examples of the data may leave the computer.
    """

    name: str
    plan: Plan
    events: list[Event]
    started: RunStarted
    results: dict[str, Any]
    takeaway: Takeaway
    folder: RunFolder = field(repr=False)
    which: str = TUNED
    fitted: Any = field(default=None, repr=False)
    examples: bool = True

    @cached_property
    def pipeline(self) -> Any:
        """The fitted scikit-learn pipeline that takes raw rows."""
        return best_of(self.folder) if self.fitted is None else self.fitted

    @cached_property
    def state(self) -> RunState:
        """What its events add up to."""
        return folded(self.events)

    @property
    def model(self) -> Model:
        """The kind of model, in the form that the run built."""
        strategy, metric = STRATEGIES[self.plan.strategy], METRICS[self.results["metric"]]
        asked = strategy.averages or self.plan.costs or metric.needs == "probabilities"
        return model_named(self.plan.model, probabilities=bool(asked))

    @property
    def several(self) -> bool:
        """Whether it tuned several models."""
        return self.plan.model == SEVERAL

    def kind_of(self, setting: Mapping[str, Any]) -> str:
        """The title of the model that a setting is of."""
        return title_of(own_setting(self.plan.model, setting)[0])

    @property
    def kind(self) -> str:
        """The title of the model that is exported; of an average that of its best member."""
        return self.kind_of(self.results.get("setting") or {})

    def own(self, setting: Mapping[str, Any]) -> Setting:
        """A setting's values for the axes of its own model."""
        return own_setting(self.plan.model, setting)[1]

    def labels_of(self, model: str) -> dict[str, str]:
        """{hyperparameter: a lay person's words} of one of the run's models.

        Those that this run's data alone had are among them.
        """
        if self.several:
            return labels_of(model, self.takeaway.task)
        axes = {axis.name: axis.label for axis in self.model.space(self.takeaway.task)}
        return axes | {axis["name"]: axis["label"] for axis in self.started.space}

    @property
    def models_tried(self) -> int:
        """How many models have a trial with a score."""
        tried = {own_setting(self.plan.model, t.setting)[0] for t in self.state.scored()}
        return len(tried)

    @property
    def nested(self) -> bool:
        """Whether every row was tested, by models of outer folds."""
        return bool(self.results.get("evaluation", {}).get("kind") == "nested")

    def said_test(self, form: str = ".6f") -> str:
        """The score on test rows with its metric: "accuracy on test rows 0.912300"."""
        metric = self.results["metric"]
        if metric not in self.results["test"]:
            return f"{metric.replace('_', ' ')} on test rows not measured"
        said = score_said(self.results["test"][metric], form)
        return f"{metric.replace('_', ' ')} on test rows {said}"

    def of_kind(self, kind: type[E]) -> list[E]:
        """Its events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def learned_penalties(self) -> bool:
        """Whether L2 penalties were learned (not settings tried)."""
        return bool(self.takeaway.penalties)


def score_said(score: float | None, form: str = ".6f") -> str:
    """A score as text; some are undefined, such as an area of rows of one class."""
    return "undefined" if score is None else format(score, form)


def file_of(source: Mapping[str, Any]) -> str:
    """The name of a data file without its folder, which is nobody else's business; "" of samples.

    Args:
        source: as the takeaway has it.
    """
    return str(source["path"]).replace("\\", "/").rsplit("/", 1)[-1]


def finished_run(folder: RunFolder, examples: bool = True) -> FinishedRun:
    """What a run folder holds.

    Args:
        folder: of the run.
        examples: whether exports may hold rows and examples of the data.

    Raises:
        UnusableError: the run has no results or no fitted best yet.
    """
    events = folder.events()
    ends = [event for event in events if isinstance(event, (RunFinished, RunStopped))]
    starts = [event for event in events if isinstance(event, RunStarted)]
    if not starts or not ends or not ends[-1].results or not has_best(folder):
        raise _nothing_yet(folder)
    try:
        takeaway = read_takeaway(folder.path)
    except FileNotFoundError:
        raise _nothing_yet(folder) from None
    run = FinishedRun(
        name=starts[0].run or folder.path.name,
        plan=folder.plan,
        events=events,
        started=starts[0],
        results=ends[-1].results,
        takeaway=takeaway,
        folder=folder,
    )
    return run if examples else quieted(run)


def _nothing_yet(folder: RunFolder) -> UnusableError:
    return UnusableError(
        "this run has no fitted model yet",
        where=str(folder.path),
        cure="let it finish, or stop it and keep the best",
    )
