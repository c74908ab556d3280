"""The Strategy: what the registry says of one way of tuning."""

from __future__ import annotations

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
    """How a strategy is carried out; imported only when a run or a form needs it.

    Attributes:
        options: what can be set, with the papers' defaults.
        make: for trials, (space, options, seed, history) -> an Optuna sampler; for penalties, what
            (core.penalties.penalty_problem.PenaltyProblem, options) ->
            core.penalties.step.LearnerStep's.
        option_class: has a field for each of the options; by default they are read by their names
            as of a dictionary.
    """

    options: tuple[Option, ...]
    make: Callable[..., Any]
    option_class: type[StrategyOptions] | None = None


@dataclass(frozen=True)
class NamedOptions(StrategyOptions, Mapping[str, Any]):
    """The options of a strategy that has no class for them: attributes and keys alike."""

    by_name: Mapping[str, Any]

    def __post_init__(self) -> None:
        vars(self).update(self.by_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def changed(self, **values: Any) -> NamedOptions:
        """The same options with other values of some."""
        return NamedOptions({**self.by_name, **values})


@dataclass(frozen=True)
class RunContext:
    """A moment of a run, in which a strategy says how it works.

    Attributes:
        options: of the plan.
        tried: trials so far.
        task: of the data; "" where it is not known.
        groups: how many groups have a penalty of their own; 0 where nobody knows yet.
        items: what is held out as a whole ("rows", "sequences").
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    tried: int = 0
    task: str = ""
    groups: int = 0
    items: str = "rows"


@dataclass(frozen=True)
class LearnerCost:
    """What a penalty learner takes, in fits at the default penalty.

    Attributes:
        tables: on rows of a table.
        structured: on sequences and molecules.
        in_turns: there, where every part of the data is held out in turns.
    """

    tables: float = 30.0
    structured: float = 30.0
    in_turns: float = 30.0


@dataclass(frozen=True)
class Strategy:
    """One way of tuning, as the pages, the command line and the tests find it.

    Attributes:
        name: on the command line.
        title: in the window ("Gaussian process, hybrid exploration").
        kind: "trials" proposes settings for any model; "penalties" learns L2 penalties on a loss.
        does: what it does, one or two plain sentences.
        costs: what it costs, one plain sentence.
        shows: what can be watched, one plain sentence.
        load: imports and gives its implementation, so that the registry is read in no time.
        works: how it works at a moment of a run, two plain sentences.
        why: why it tries a setting, after "it" ("is the next point of the grid"), where its sampler
            notes no other reason; `why_short` the same in a cell of a table.
        default_trials: the budget when none is given.
        patience: how many trials in a row may improve nothing before a run ends, where nobody says
            (core.tuning.patience); 0 for any number.
        source: the paper it comes from.
        tasks: which tasks it can do; empty for all.
        suggests: (facts of the data, space of the model) -> why it is the strategy to take; None
            where another may be.
        suits: whether it can do anything with a space.
        check: raises UnusableError for (space, options) that nobody would wait for.
        values: (space, options) -> {axis: the values that it tries}, where it can list them.
        numbers_only: whether it knows no choices, such as class weights.
        uses_history: whether the trials of earlier datasets decide its own.
        averages: whether the best models are averaged at the end instead of taking the best.
        surrogate: what is modelled and can be watched: "scores" of this dataset alone, or those of
            earlier datasets too, in "common" units or as "ranks"; "" for nothing.
        holds_out: whether a penalty learner learns from held-out rows; else the training rows are
            enough.
        asking: seconds that a proposal takes, around trial 50.
        effort: what a penalty learner takes.
        several: whether it tunes several models in one run, each by a strategy of its own.
        costs_structured: what it costs for sequences and molecules; `costs` where it is empty.
    """

    name: str
    title: str
    kind: Literal["trials", "penalties"]
    does: str
    costs: str
    shows: str
    load: Callable[[], Implementation]
    works: Callable[[RunContext], str] = lambda moment: ""
    why: str = ""
    why_short: str = ""
    default_trials: int = 50
    patience: int = 50
    source: str = ""
    tasks: tuple[str, ...] = ()
    suggests: Callable[[ModelingFacts, Space], Suggestion | None] = lambda facts, space: None
    suits: Callable[[Space], bool] = lambda space: True
    check: Callable[[Space, Any], None] = lambda space, options: None
    values: Callable[[Space, Any], dict[str, list[Any]]] | None = None
    numbers_only: bool = False
    uses_history: bool = False
    averages: bool = False
    surrogate: Literal["", "scores", "common", "ranks"] = ""
    holds_out: bool = False
    asking: float = 0.005
    effort: LearnerCost = LearnerCost()
    several: bool = False
    costs_structured: str = ""

    def recalls(self, options: StrategyOptions) -> int:
        """From how many earlier datasets the best setting is tried at the beginning."""
        return 0 if options.as_published else options.earlier

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be set, with the papers' defaults."""
        return self.load().options

    @property
    def make(self) -> Callable[..., Any]:
        """What makes the sampler, or runs the learner (`Implementation.make`)."""
        return self.load().make

    def option_values(self, values: Mapping[str, Any]) -> StrategyOptions:
        """Every option's value: these are checked, the others at their defaults.

        Raises:
            UnusableError: an option that does not exist or is out of its range.
        """
        implementation = self.load()
        checked_values = with_defaults(implementation.options, values)
        if implementation.option_class is None:
            return NamedOptions(checked_values)
        return implementation.option_class(**checked_values)

    def sampler(
        self,
        space: Space,
        options: Mapping[str, Any],
        seed: int,
        history: TuningHistory | None = None,
    ) -> Any:
        """The Optuna sampler over a space, with the options that are given.

        Raises:
            UnusableError: an option that does not exist or is out of its range.
        """
        return self.make(space, self.option_values(options), seed, history)


def check_strategy(entry: Any) -> None:
    """Raise an exception for an object of an extension that is no usable strategy."""
    check_kind(entry, Strategy)
    for option in entry.options:
        check_kind(option, Option)
    check_kind(entry.works(RunContext()), str)


# The names of earlier versions.
Moment = RunContext
Effort = LearnerCost
