"""What the guidance answers: advice on models and strategies, and how long a run takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.options import Option
from core.records import Record
from core.space import Axis


@dataclass(frozen=True)
class MissingModel(Record):
    """A model that a package would bring: the package, and the command that installs it."""

    title: str
    needs: str
    install: str


@dataclass(frozen=True)
class ModelAdvice(Record):
    """A model, and whether it is the one to take.

    Attributes:
        suits: whether `reason` speaks for it.
        fits_task: whether it can be used at all; otherwise `reason` says why not.
        needs, install: the package that it lacks and the command that brings it; "" for none.
        tries, alone: of several models: titles of those that are tuned together, and of those
            that are tuned by themselves only.
        lacking: of several models: those that a package would bring.
    """

    name: str
    title: str
    good_for: str = ""
    cost: str = ""
    recommended: bool = False
    suits: bool = False
    reason: str = ""
    fits_task: bool = True
    needs: str = ""
    install: str = ""
    tries: list[str] = field(default_factory=list)
    alone: list[str] = field(default_factory=list)
    lacking: list[MissingModel] = field(default_factory=list)


@dataclass(frozen=True)
class StrategyAdvice(Record):
    """A strategy for a model, and whether it is the one to take.

    Attributes:
        default_trials: where nobody gives a number; 0 for penalties.
        default_minutes: of several models.
        groups: the regularization groups that suit the data.
    """

    name: str
    title: str
    kind: str
    does: str = ""
    costs: str = ""
    shows: str = ""
    recommended: bool = False
    reason: str = ""
    options: tuple[Option, ...] = ()
    default_trials: int = 0
    default_minutes: float | None = None
    groups: str = "single"
    uses_history: bool = False


@dataclass(frozen=True)
class Advice(Record):
    """Every model, the recommended one first, and the strategies of each that fits the data.

    Attributes:
        models: those that do not fit come last.
        strategies: {model: strategies}, the recommended one first.
        left_out: a sentence for each extension that failed here.
    """

    models: list[ModelAdvice] = field(default_factory=list)
    strategies: dict[str, list[StrategyAdvice]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    @property
    def fitting_models(self) -> list[ModelAdvice]:
        """The models that can be used."""
        return [model for model in self.models if model.fits_task]


@dataclass(frozen=True)
class RunEstimate(Record):
    """How long a plan will take, or why it cannot be carried out.

    Attributes:
        sentence: "about 3 minutes, 50 trials".
        trials: 0 for a penalty learner.
        axes: the model's own, where trials search them.
        values: of a grid: {axis label: the values that it tries, ascending}.
        settings: how many those make in all combinations.
        metric, metric_reason: what the run would be scored by, and why that is not the task's
            usual one; "" if it is.
        power: a sentence on the gains that the test can show.
        unusable: whether `sentence` says why the plan cannot be carried out.
    """

    sentence: str
    seconds: float = 0.0
    trials: int = 0
    seconds_per_trial: float = 0.0
    axes: tuple[Axis, ...] = ()
    values: dict[str, list[Any]] = field(default_factory=dict)
    settings: int = 0
    metric: str = ""
    metric_reason: str = ""
    power: str = ""
    unusable: bool = False
