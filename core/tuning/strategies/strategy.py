"""The Strategy: an entry of the registry of ways to tune."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from core.estimators.facts import ModelingFacts, Suggestion
from core.extensions import check_kind
from core.options import Option, StrategyOptions, with_defaults
from core.space import Axis

if TYPE_CHECKING:
    from core.samplers.transfer.history import TuningHistory

Space = Sequence[Axis]


@dataclass(frozen=True)
class Implementation:
    """The code of a strategy; imported only when a run or a form needs it."""

    options: tuple[Option, ...]  # with the papers' defaults
    # (space, options, seed, history) -> Optuna sampler; for penalties (PenaltyProblem, options) ->
    # iterator of LearnerStep
    make: Callable[..., Any]
    # with a field for each option; else NamedOptions
    option_class: type[StrategyOptions] | None = None


def sampler_maker(module: str, name: str, *keys: str) -> Callable[..., Any]:
    """Makes a sampler of core.samplers: by options, seed, and what else these names give it."""

    # Optuna takes seconds to import, and the window shows options without it.
    def make_sampler(space: Space, options: NamedOptions, seed: int, history: object) -> Any:
        sampler = getattr(importlib.import_module(f"core.samplers.{module}"), name)
        arguments = {"space": space, "history": history}
        return sampler(seed=seed, **options.by_name, **{key: arguments[key] for key in keys})

    return make_sampler


@dataclass(frozen=True)
class NamedOptions(StrategyOptions, Mapping[str, Any]):
    """The options of a strategy without an option class: attributes and keys alike."""

    by_name: Mapping[str, Any]

    def __post_init__(self) -> None:
        # Past the frozen dataclass: attributes of the instance hide the class's defaults.
        vars(self).update(self.by_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def changed(self, **values: Any) -> NamedOptions:
        return NamedOptions({**self.by_name, **values})


@dataclass(frozen=True)
class RunContext:
    """The state of a run, for the text of how a strategy works."""

    options: Mapping[str, Any] = field(default_factory=dict)  # of the plan
    tried: int = 0  # trials so far
    task: str = ""  # "" where it is unknown
    groups: int = 0  # with a penalty of their own; 0 where unknown
    items: str = "rows"  # units held out ("rows", "sequences")


@dataclass(frozen=True)
class LearnerCost:
    """The cost of a penalty learner, in fits at the default penalty."""

    tables: float = 30.0  # on rows of a table
    structured: float = 30.0  # on sequences and molecules
    in_turns: float = 30.0  # there, with every part held out in turns


@dataclass(frozen=True)
class Strategy:
    """One way of tuning. Texts are plain sentences for the window."""

    name: str  # on the command line
    title: str  # in the window
    kind: Literal["trials", "penalties"]  # proposes settings, or learns L2 penalties on a loss
    does: str  # one or two sentences
    costs: str  # one sentence
    shows: str  # what can be watched, one sentence
    load: Callable[[], Implementation]  # options and maker, without what the maker imports
    works: Callable[[RunContext], str] = lambda moment: ""  # how it works now, two sentences
    why: str = ""  # a setting is tried, after "it", where its sampler notes no reason
    why_short: str = ""  # the same in a table cell
    default_trials: int = 50
    patience: int = 50  # trials in a row without improvement; 0 for any number
    source: str = ""  # the paper
    tasks: tuple[str, ...] = ()  # empty for all
    # why to choose it; None for no suggestion
    suggests: Callable[[ModelingFacts, Space], Suggestion | None] = lambda facts, space: None
    suits: Callable[[Space], bool] = lambda space: True  # whether it can search a space
    # raises UnusableError for options that take too long
    check: Callable[[Space, Any], None] = lambda space, options: None
    # {axis: values tried}, where it can list them
    values: Callable[[Space, Any], dict[str, list[Any]]] | None = None
    numbers_only: bool = False  # no choices, such as class weights
    uses_history: bool = False  # trials of earlier datasets decide its own
    averages: bool = False  # the best models at the end
    # of this dataset, or of earlier ones too
    surrogate: Literal["", "scores", "common", "ranks"] = ""
    holds_out: bool = False  # a penalty learner learns from held-out rows
    asking: float = 0.005  # seconds of a proposal, around trial 50
    effort: LearnerCost = LearnerCost()  # of a penalty learner
    several: bool = False  # tunes several models in one run
    costs_structured: str = ""  # for sequences and molecules; "" for `costs`

    def recalls(self, options: StrategyOptions) -> int:
        """From how many earlier datasets the best setting is tried at the beginning."""
        return 0 if options.as_published else options.earlier

    @property
    def options(self) -> tuple[Option, ...]:
        return self.load().options

    @property
    def make(self) -> Callable[..., Any]:
        """`Implementation.make`."""
        return self.load().make

    def option_values(self, values: Mapping[str, Any]) -> StrategyOptions:
        implementation = self.load()
        checked_values = with_defaults(implementation.options, values)
        option_class = implementation.option_class
        return option_class(**checked_values) if option_class else NamedOptions(checked_values)

    def sampler(
        self,
        space: Space,
        options: Mapping[str, Any],
        seed: int,
        history: TuningHistory | None = None,
    ) -> Any:
        """The Optuna sampler over a space; raises UnusableError as `option_values`."""
        return self.make(space, self.option_values(options), seed, history)


def check_strategy(entry: Any) -> None:
    """Raise an exception for an entry of an extension that is no usable strategy."""
    check_kind(entry, Strategy)
    # Its code is run here already: a fault is then told when it is read, and not in a run.
    for option in entry.options:
        check_kind(option, Option)
    check_kind(entry.works(RunContext()), str)


# The names of earlier versions.
Moment = RunContext
Effort = LearnerCost
