"""The plan that a person edits: model, strategy, options, groups, budget, and its estimate."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.session.plan_choice import with_model, with_strategy
from core.tuning.plan import Plan

ESTIMATE_AFTER = 300  # milliseconds after the last change of the plan


class Planning(QObject):
    """The part of the session in which a person chooses; nothing is tuned here.

    A subclass says how an estimate is asked for and when one on its way counts no longer.

    Attributes:
        advice: the models and strategies that fit (core.tuning.guidance.advice).
        estimate: {"seconds", "trials", "sentence"}; with "unusable": True, the sentence says why
            the plan cannot be carried out; "values" are those that a grid tries, {label: values}.
        known: what the history holds for the plan's model, as `Recalled` tells it; {} while
            nobody knows.
        plan: what would be tuned now; the recommendation until a person chooses.
    """

    plan_changed = Signal()
    estimate_changed = Signal()
    known_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.advice: dict[str, Any] | None = None
        self.estimate: dict[str, Any] | None = None
        self.known: dict[str, Any] = {}
        self.plan: Plan | None = None
        self._estimate_timer = QTimer(self, singleShot=True, interval=ESTIMATE_AFTER)
        self._estimate_timer.timeout.connect(self._ask_estimate)

    def refuse_estimate(self, sentence: str) -> None:
        """The plan cannot be carried out, and why."""
        nothing = {"seconds": None, "trials": None}
        self.estimate = {**nothing, "sentence": sentence, "unusable": True}
        self.estimate_changed.emit()

    def set_groups(self, spec: str | dict[str, list[str]]) -> None:
        """Set the regularization groups: single, each, column, prefix or {group: [columns]}."""
        self.set_plan(groups=spec)

    def choose_model(self, name: str) -> None:
        """Tune this model; the strategy stays if it fits, else it becomes the recommended one."""
        if self.plan is not None and self.advice is not None:
            self._change_plan(with_model(self.plan, name, self.advice))

    def choose_strategy(self, name: str) -> None:
        """Tune in this way, with the options that were chosen for it before."""
        if self.plan is not None and self.advice is not None and name != self.plan.strategy:
            self._change_plan(with_strategy(self.plan, name, self.advice))

    def set_option(self, name: str, value: Any) -> None:
        """Set one option of the strategy."""
        if self.plan is not None:
            self.set_plan(options={**self.plan.options, name: value})

    def set_budget(self, trials: int | None = None, minutes: float | None = None) -> None:
        """Bound the run; None leaves a bound out."""
        self.set_plan(trials=trials, minutes=minutes)

    def set_plan(self, **fields: Any) -> None:
        """Change fields of the plan."""
        if self.plan is not None:
            self._change_plan(self.plan.changed(**fields))

    def _change_plan(self, plan: Plan) -> None:
        if plan != self.plan:
            if self.plan is None or plan.model != self.plan.model:
                self.known = {}
            self.plan, self.estimate = plan, None
            self._forget_estimate()
            self.plan_changed.emit()
            self.estimate_changed.emit()
            self._estimate_timer.start()

    def _ask_estimate(self) -> None:
        raise NotImplementedError

    def _forget_estimate(self) -> None:
        """The answer on its way would be about the plan before."""
        raise NotImplementedError
