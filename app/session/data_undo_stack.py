"""The first plan of data, and undo and redo of changes on the Data page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from app.preferences import remembered_choices
from core.tuning.guidance.guidance_records import Advice, ModelAdvice, StrategyAdvice
from core.tuning.plan import DataPlan, Plan

T = TypeVar("T", "ModelAdvice", "StrategyAdvice")
MAX_STEPS = 200


def _recommended(offered: Sequence[T]) -> T:
    return min(offered, key=lambda entry: not entry.recommended)


def plan_for(data: DataPlan, advice: Advice, before: Plan | None) -> Plan | None:
    """The one before with the new data where it fits, else the recommended one."""
    fitting = advice.fitting_models
    if before is not None and any(entry.name == before.model for entry in fitting):
        has_same_target = (before.data.target, before.data.task) == (data.target, data.task)
        # Costs name classes of the target, and ranges suit the sizes of its task.
        base_plan = before if has_same_target else before.changed(costs={}, ranges={}, fixed={})
        return base_plan.changed(data=data)
    if not fitting:
        return None
    model = _recommended(fitting).name
    strategy = _recommended(advice.strategies[model])
    plan = Plan(data=data, model=model, strategy=strategy.name, groups=strategy.groups)
    return remembered_choices.recalled_plan(plan, strategy)


def with_model(plan: Plan, model: str, advice: Advice) -> Plan:
    """With another model, without ranges; the strategy stays if it fits."""
    if model != plan.model:
        plan = plan.changed(ranges={}, fixed={})
    offered = advice.strategies.get(model, [])
    if any(strategy.name == plan.strategy for strategy in offered):
        return plan.changed(model=model)
    strategy = _recommended(offered)
    # Groups that a person made stay; the usual ones are the strategy's.
    groups = strategy.groups if plan.groups == "single" else plan.groups
    changed = plan.changed(model=model, strategy=strategy.name, groups=groups)
    return remembered_choices.with_strategy_choices(changed, strategy)


def with_strategy(plan: Plan, name: str, advice: Advice) -> Plan:
    """The plan with another strategy, and the choices remembered for it."""
    strategy = next(entry for entry in advice.strategies[plan.model] if entry.name == name)
    return remembered_choices.with_strategy_choices(plan.changed(strategy=name), strategy)


@dataclass(frozen=True)
class DataVersion:
    """A data plan and the plans made of it."""

    data: DataPlan
    first_plan: Plan | None  # as this version began; None where no model fits
    last_plan: Plan | None  # the latest

    @property
    def groups(self) -> str | dict[str, list[str]] | None:
        return None if self.last_plan is None else self.last_plan.groups


class DataUndoStack:
    """The versions of one file's data, and which of them is shown."""

    def __init__(self) -> None:
        self._steps: list[DataVersion] = []
        self._position = -1
        self._target_position: int | None = None  # of the version that is being read
        self.reading: DataPlan | None = None  # what the worker reads now

    # What can be undone -----------------------------------------------------------------------

    def shown_and_neighbour(self, offset: int) -> tuple[DataVersion, DataVersion] | None:
        """The one shown (or being read), and the one before (−1) or after (+1)."""
        index = self._position if self._target_position is None else self._target_position
        target = index + offset
        if not 0 <= target < len(self._steps):
            return None
        return self._steps[index], self._steps[target]

    # What happens -----------------------------------------------------------------------------

    def reset_to(self, data: DataPlan, plan: Plan | None) -> None:
        self._steps, self._position = [DataVersion(data, plan, plan)], 0
        self.read_no_more()

    def add_change(self, data: DataPlan, plan: Plan | None) -> None:
        step = DataVersion(data, plan, plan)
        self._target_position = None
        shown = self._shown_version if self._steps else None
        # Only the data and the groups are undone: other choices belong to the version that is
        # shown.
        if shown is not None and (data, step.groups) == (shown.data, shown.groups):
            self._steps[self._position] = replace(shown, last_plan=plan)
            return
        self._steps = [*self._steps[: self._position + 1], step][-MAX_STEPS:]
        self._position = len(self._steps) - 1

    def record_plan(self, plan: Plan) -> None:
        if self._steps:
            self._steps[self._position] = replace(self._shown_version, last_plan=plan)

    def begin_reading(self, data: DataPlan) -> None:
        self.reading, self._target_position = data, None

    def read_no_more(self) -> None:
        self.reading = self._target_position = None

    def begin_travel(self, offset: int) -> DataVersion | None:
        """The version before or after, to be read until `end_travel`."""
        pair = self.shown_and_neighbour(offset)
        if pair is None:
            return None
        index = self._position if self._target_position is None else self._target_position
        self._target_position = index + offset
        self.reading = pair[1].data
        return pair[1]

    def end_travel(self, advice: Advice, now: Plan | None) -> Plan | None:
        """Show the version read; its plan, given the plan before (`now`)."""
        assert self._target_position is not None
        current, target = self._shown_version, self._steps[self._target_position]
        self._position = self._target_position
        self.read_no_more()
        plan = _plan_at_target(current, target, advice, now)
        # Its first plan stays: what was chosen meanwhile goes on with a second step back.
        self._steps[self._position] = replace(target, last_plan=plan)
        return plan

    @property
    def _shown_version(self) -> DataVersion:
        return self._steps[self._position]

    @property
    def is_travelling(self) -> bool:
        """Whether a version is being read, rather than a change."""
        return self._target_position is not None


def _plan_at_target(
    current: DataVersion, target: DataVersion, advice: Advice, now: Plan | None
) -> Plan | None:
    """The target's last plan, with what was chosen meanwhile on other pages."""
    first_plan = current.first_plan
    if now is None or first_plan is None or target.last_plan is None:
        return target.last_plan or plan_for(target.data, advice, now)
    # Nothing was chosen on other pages meanwhile, so that all comes back as it was: the costs of an
    # earlier target too.
    if now.changed(data=first_plan.data, groups=first_plan.groups) == first_plan:
        return target.last_plan
    plan = plan_for(target.data, advice, now)
    return None if plan is None else plan.changed(groups=target.last_plan.groups)
