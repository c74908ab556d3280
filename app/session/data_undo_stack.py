"""What was changed on the Data page, step by step, so that it can be undone and done again.

A step is the data as they were understood, with the plan that there was. Undoing goes back to the
step before: what was chosen meanwhile on other pages stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.session.starting_plan import plan_for
from core.tuning.plan import DataPlan, Plan

if TYPE_CHECKING:
    from core.tuning.guidance.guidance_records import Advice

MAX_STEPS = 200  # steps that are kept


@dataclass(frozen=True)
class DataVersion:
    """How the data were understood.

    Attributes:
        data: what was read, and how.
        first_plan: the plan as this step began; None where no model fits.
        last_plan: the plan as it was last.
    """

    data: DataPlan
    first_plan: Plan | None
    last_plan: Plan | None

    @property
    def groups(self) -> str | dict[str, list[str]] | None:
        """How columns were grouped."""
        return None if self.last_plan is None else self.last_plan.groups


class DataUndoStack:
    """The steps of one file, and which of them is shown.

    Attributes:
        reading: what the worker reads now, for a change or a step; None while nothing is read.
    """

    def __init__(self) -> None:
        self._steps: list[DataVersion] = []
        self._position = -1
        self._target_position: int | None = None  # the step that is read
        self.reading: DataPlan | None = None

    # What can be undone -----------------------------------------------------------------------

    def shown_and_neighbour(self, offset: int) -> tuple[DataVersion, DataVersion] | None:
        """The step that is shown (or on its way) and the one before (−1) or after it (+1)."""
        index = self._position if self._target_position is None else self._target_position
        target = index + offset
        if not 0 <= target < len(self._steps):
            return None
        return self._steps[index], self._steps[target]

    # What happens -----------------------------------------------------------------------------

    def reset_to(self, data: DataPlan, plan: Plan | None) -> None:
        """Other data: what was before cannot come back."""
        self._steps, self._position = [DataVersion(data, plan, plan)], 0
        self.read_no_more()

    def add_change(self, data: DataPlan, plan: Plan | None) -> None:
        """A person changed something; what was undone is forgotten."""
        step = DataVersion(data, plan, plan)
        self._target_position = None
        if self._steps and (data, step.groups) == (
            self._shown_version.data,
            self._shown_version.groups,
        ):
            self._steps[self._position] = replace(self._shown_version, last_plan=plan)
            return
        self._steps = [*self._steps[: self._position + 1], step][-MAX_STEPS:]
        self._position = len(self._steps) - 1

    def record_plan(self, plan: Plan) -> None:
        """The plan is another one now, by what was chosen anywhere."""
        if self._steps:
            self._steps[self._position] = replace(self._shown_version, last_plan=plan)

    def begin_reading(self, data: DataPlan) -> None:
        """A change is being read."""
        self.reading, self._target_position = data, None

    def read_no_more(self) -> bool:
        """What was being read came, was refused or does not matter; whether there was anything."""
        was, self.reading, self._target_position = self.reading, None, None
        return was is not None

    def begin_travel(self, offset: int) -> DataVersion | None:
        """Set out for the step before or after; it has to be read, and `end_travel` ends it."""
        pair = self.shown_and_neighbour(offset)
        if pair is None:
            return None
        self._target_position = (
            self._position if self._target_position is None else self._target_position
        ) + offset
        self.reading = pair[1].data
        return pair[1]

    def end_travel(self, advice: Advice, now: Plan | None) -> Plan | None:
        """The plan of the step that was set out for, which is shown from now on.

        Args:
            advice: what fits its data.
            now: the plan that was shown until now.
        """
        assert self._target_position is not None
        current, target = self._shown_version, self._steps[self._target_position]
        self._position = self._target_position
        self.read_no_more()
        plan = _plan_at_target(current, target, advice, now)
        self._steps[self._position] = DataVersion(target.data, plan, plan)
        return plan

    @property
    def _shown_version(self) -> DataVersion:
        return self._steps[self._position]

    @property
    def is_travelling(self) -> bool:
        """Whether a step is being read, rather than a change."""
        return self._target_position is not None


def _plan_at_target(
    current: DataVersion, target: DataVersion, advice: Advice, now: Plan | None
) -> Plan | None:
    """The plan that there was; with what was chosen meanwhile on other pages, if anything was."""
    first_plan = current.first_plan
    if now is None or first_plan is None or target.last_plan is None:
        return target.last_plan or plan_for(target.data, advice, now)
    if now.changed(data=first_plan.data, groups=first_plan.groups) == first_plan:
        return target.last_plan
    plan = plan_for(target.data, advice, now)
    return None if plan is None else plan.changed(groups=target.last_plan.groups)
