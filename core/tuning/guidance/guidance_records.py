"""Records of the guidance: advice on models and strategies, and a run's forecast."""

from dataclasses import dataclass, field
from typing import Any

from core.estimators.facts import ModelScale
from core.options import Option
from core.records import Record
from core.space import Axis


@dataclass(frozen=True)
class MissingModel(Record):
    """A model whose package is missing."""

    title: str
    extra: str  # by which it is installed


@dataclass(frozen=True)
class ModelAdvice(Record):
    """A model, and whether it is recommended."""

    name: str
    title: str
    good_for: str = ""
    cost: str = ""
    recommended: bool = False
    suits: bool = False  # whether `reason` speaks for it
    reason: str = ""
    fits_task: bool = True  # whether it can be used at all; otherwise `reason` says why not
    needs: str = ""  # the missing package
    install: str = ""  # the command that installs it
    tries: list[str] = field(default_factory=list)  # of several models: those tuned together
    lacking: list[MissingModel] = field(default_factory=list)  # its packages, or those of several
    is_for_other_data: bool = False
    rare: bool = False
    picture: str = ""  # the name of a file in resources/models, which an extension lacks
    scales: tuple[ModelScale, ...] = ()


@dataclass(frozen=True)
class StrategyAdvice(Record):
    """A strategy for a model, and whether it is recommended."""

    name: str
    title: str
    kind: str
    does: str = ""
    costs: str = ""
    shows: str = ""
    recommended: bool = False
    reason: str = ""
    options: tuple[Option, ...] = ()
    default_trials: int = 0  # 0 for penalties
    default_minutes: float | None = None  # of several models
    groups: str = "single"  # the regularization groups that suit the data
    uses_history: bool = False


@dataclass(frozen=True)
class Advice(Record):
    """Every model, the recommended one first, and the strategies of each that fits the data."""

    models: list[ModelAdvice] = field(default_factory=list)  # those that do not fit come last
    strategies: dict[str, list[StrategyAdvice]] = field(default_factory=dict)  # by model
    left_out: list[str] = field(default_factory=list)  # a sentence for each extension that failed

    @property
    def fitting_models(self) -> list[ModelAdvice]:
        return [model for model in self.models if model.fits_task]


@dataclass(frozen=True)
class RunEstimate(Record):
    """How long a plan will take, or why it cannot be carried out."""

    sentence: str  # "about 3 minutes, 50 trials"
    seconds: float = 0.0
    trials: int = 0  # 0 for a penalty learner
    seconds_per_trial: float = 0.0
    axes: tuple[Axis, ...] = ()  # the model's own, where trials search them
    values: dict[str, list[Any]] = field(default_factory=dict)  # of a grid, by axis label
    settings: int = 0  # how many combinations those make
    metric: str = ""
    metric_reason: str = ""  # why it is not the task's default; "" if it is
    power: str = ""  # a sentence on the gains that the test can show
    unusable: bool = False  # whether `sentence` says why the plan cannot be carried out
