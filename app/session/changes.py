"""What was changed on the Data page, step by step, so that it can be undone and done again.

A step is the data as they were understood, with the plan that there was. Undoing goes back to the
step before: what was chosen meanwhile on other pages stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.session.plan import plan_for
from core.tuning.plan import DataPlan, Plan

MOST = 200  # steps that are kept


@dataclass(frozen=True)
class Step:
    """How the data were understood.

    Attributes:
        data: what was read, and how.
        came: the plan as this step began; None where no model fits.
        left: the plan as it was last.
    """

    data: DataPlan
    came: Plan | None
    left: Plan | None

    @property
    def groups(self) -> Any:
        """How columns were grouped."""
        return None if self.left is None else self.left.groups


class Changes:
    """The steps of one file, and which of them is shown.

    Attributes:
        reading: what the worker reads now, for a change or a step; None while nothing is read.
    """

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._at = -1
        self._going: int | None = None  # the step that is read
        self.reading: DataPlan | None = None

    # What can be undone -----------------------------------------------------------------------

    def beside(self, by: int) -> tuple[Step, Step] | None:
        """The step that is shown (or on its way) and the one before (−1) or after it (+1)."""
        here = self._at if self._going is None else self._going
        there = here + by
        if not 0 <= there < len(self._steps):
            return None
        return self._steps[here], self._steps[there]

    # What happens -----------------------------------------------------------------------------

    def begin(self, data: DataPlan, plan: Plan | None) -> None:
        """Other data: what was before cannot come back."""
        self._steps, self._at = [Step(data, plan, plan)], 0
        self.read_no_more()

    def add(self, data: DataPlan, plan: Plan | None) -> None:
        """A person changed something; what was undone is forgotten."""
        step = Step(data, plan, plan)
        self._going = None
        if self._steps and (data, step.groups) == (self._here.data, self._here.groups):
            self._steps[self._at] = replace(self._here, left=plan)
            return
        self._steps = [*self._steps[: self._at + 1], step][-MOST:]
        self._at = len(self._steps) - 1

    def watch(self, plan: Plan) -> None:
        """The plan is another one now, by what was chosen anywhere."""
        if self._steps:
            self._steps[self._at] = replace(self._here, left=plan)

    def read(self, data: DataPlan) -> None:
        """A change is being read."""
        self.reading, self._going = data, None

    def read_no_more(self) -> bool:
        """What was being read came, was refused or does not matter; whether there was anything."""
        was, self.reading, self._going = self.reading, None, None
        return was is not None

    def go(self, by: int) -> Step | None:
        """Set out for the step before or after; it has to be read, and `arrive` ends it."""
        found = self.beside(by)
        if found is None:
            return None
        self._going = (self._at if self._going is None else self._going) + by
        self.reading = found[1].data
        return found[1]

    def arrive(self, advice: dict[str, Any], now: Plan | None) -> Plan | None:
        """The plan of the step that was set out for, which is shown from now on.

        Args:
            advice: what fits its data.
            now: the plan that was shown until now.
        """
        assert self._going is not None
        here, there = self._here, self._steps[self._going]
        self._at = self._going
        self.read_no_more()
        plan = _plan_there(here, there, advice, now)
        self._steps[self._at] = Step(there.data, plan, plan)
        return plan

    @property
    def _here(self) -> Step:
        return self._steps[self._at]

    @property
    def travels(self) -> bool:
        """Whether a step is being read, rather than a change."""
        return self._going is not None


def _plan_there(here: Step, there: Step, advice: dict[str, Any], now: Plan | None) -> Plan | None:
    """The plan that there was; with what was chosen meanwhile on other pages, if anything was."""
    came = here.came
    if now is None or came is None or there.left is None:
        return there.left or plan_for(there.data, advice, now)
    if now.changed(data=came.data, groups=came.groups) == came:
        return there.left
    found = plan_for(there.data, advice, now)
    return None if found is None else found.changed(groups=there.left.groups)
