"""The options of the strategy and of the run, folded away."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.preferences import remembered_choices
from app.widgets.buttons import LinkButton
from app.widgets.card import Card
from app.widgets.collapsible_section import CollapsibleSection
from app.widgets.option_form import OptionForm
from app.widgets.text_labels import wrapping_label
from core.datasets.task import Task
from core.options import Option
from core.tuning.evaluation import FEW_ROWS, OUTER_FOLDS
from core.tuning.plan import DECODINGS, EVALUATIONS, GAMMA_CHOICES

if TYPE_CHECKING:
    from app.session.session import Session
    from core.datasets.dataset_summary import DatasetSummary
    from core.tuning.guidance.guidance_records import StrategyAdvice
    from core.tuning.scores.metric import Metric

USUAL = "usual"
FOLDS_HINT = (
    "How many times the training rows are split to score one trial. More folds: steadier "
    "scores, longer runs."
)
METRIC_HINT = (
    "The score that tuning optimizes. Recommended is accuracy for classes, log loss where a "
    "class is rare or mistakes have costs, and the share of variance explained for numbers; "
    "for averages of models how likely they find what is true, and the squared error."
)
SEED_HINT = "The seed of the random numbers. The same seed gives the same run."
WORKERS_HINT = (
    f"How many trials run side by side on this computer. It has {os.cpu_count() or 1} processors."
    " Automatic: one, or of several models in some minutes one for each processor."
)
STANDARDIZE_HINT = (
    "Mean 0 and standard deviation 1, for models that need it. Leave it on, unless the columns "
    "are on one scale already."
)
REFIT_HINT = (
    "The score is measured on a model fitted without the test rows. The model that you export "
    "then learns from those rows too, at the same setting. Turn it off to export exactly the "
    "model that was tested."
)


class AdvancedCard(Card):
    """Two forms, made from descriptions of options."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self._recommended_metric = ""  # "" while it is unknown
        self.section = CollapsibleSection("Advanced", "advanced")
        self.body.addWidget(self.section)
        self._strategy_title = wrapping_label("This strategy", "section")
        self.strategy_form = OptionForm()
        self.strategy_form.changed.connect(self._on_strategy_option_changed)
        self.run_form = OptionForm()
        self.run_form.changed.connect(self._on_run_option_changed)
        for widget in (
            self._strategy_title,
            self.strategy_form,
            wrapping_label("Every strategy", "section"),
            self.run_form,
        ):
            self.section.body.addWidget(widget)
        self.usual = LinkButton("Back to the usual values", self._back_to_usual)
        self.usual.setToolTip("Of the time, the trials and everything here.")
        self.section.body.addWidget(self.usual, 0, Qt.AlignmentFlag.AlignLeft)
        self._differs = wrapping_label("Some values are not the usual ones.", "caption")
        self.body.addWidget(self._differs)

    def refresh(self, strategy: StrategyAdvice | None) -> None:
        """Show the options of the strategy and of the run."""
        plan = self.session.plan
        if plan is None:
            return
        options = strategy.options if strategy else ()
        is_usual = strategy is None or remembered_choices.is_usual(plan, strategy)
        self._differs.setVisible(not is_usual)
        self.usual.set_allowed(not is_usual, "All values are the usual ones.")
        self._strategy_title.setVisible(bool(options))
        self.strategy_form.setVisible(bool(options))
        self.strategy_form.show_options(options, plan.options)
        values = {
            "folds": plan.folds,
            "metric": plan.metric or USUAL,
            "seed": plan.seed,
            "workers": plan.workers,
            "time_limit": plan.time_limit or 0,
            "standardize": plan.standardize,
            "decoding": plan.decoding,
            "evaluation": plan.evaluation or USUAL,
            "refit": plan.refit,
            "gamma": plan.gamma,
            "gamma_by": plan.gamma_by,
            "sensitivity": plan.sensitivity,
        }
        self.run_form.show_options(self._run_options(), values)

    def _on_strategy_option_changed(self, name: str, value: Any) -> None:
        self.session.set_option(name, value)
        remembered_choices.remember_plan(self.session.current_plan)

    def _back_to_usual(self) -> None:
        self.session.set_plan(**remembered_choices.usual_values(self.session.current_plan))
        remembered_choices.remember_plan(self.session.current_plan)

    def _on_run_option_changed(self, name: str, value: Any) -> None:
        if name in ("metric", "evaluation"):
            value = "" if value == USUAL else value
        if name == "time_limit":
            value = value or None
        self.session.set_plan(**{name: value})
        remembered_choices.remember_plan(self.session.current_plan)

    def _run_options(self) -> tuple[Option, ...]:
        metrics, estimate = _task_metrics(self.session.summary), self.session.estimate
        if estimate and estimate.metric and not self.session.current_plan.metric:
            self._recommended_metric = estimate.metric
        words = "The recommended one"
        if self._recommended_metric in metrics:
            title = metrics[self._recommended_metric].title
            words = f"The recommended one: {title}"
        return (
            Option("folds", "Folds", "int", 5, FOLDS_HINT, low=2, high=50),
            Option(
                "metric",
                "Score",
                "choice",
                USUAL,
                METRIC_HINT,
                choices=(USUAL, *metrics),
                choice_labels=(words, *(m.title for m in metrics.values())),
            ),
            Option("seed", "Seed", "int", 0, SEED_HINT, low=0, high=2**31 - 1),
            Option(
                "workers",
                "Trials at once",
                "int",
                0,
                WORKERS_HINT,
                low=0,
                high=64,
                lowest_label="automatic",
            ),
            Option(
                "time_limit",
                "Seconds a trial may take",
                "float",
                0.0,
                "A trial that takes longer counts as failed.",
                low=0.0,
                lowest_label="no limit",
            ),
            *self._task_options(),
            Option("refit", "Fit the model on all rows at the end", "bool", True, REFIT_HINT),
        )

    def _task_options(self) -> tuple[Option, ...]:
        task = self.session.summary.task if self.session.summary else Task.UNKNOWN
        if task.has_pairs:
            return _molecule_options()
        if task.has_sequences:
            labels = ("Token by token (posterior)", "The whole sequence at once (Viterbi)")
            return (
                Option(
                    "decoding",
                    "How labels are chosen",
                    "choice",
                    DECODINGS[0],
                    "The likeliest label of every token gets most tokens right; the "
                    "likeliest whole sequence gets most sequences right.",
                    choices=DECODINGS,
                    choice_labels=labels,
                ),
            )
        return (
            *self._evaluation_options(task),
            Option("standardize", "Standardize the columns", "bool", True, STANDARDIZE_HINT),
        )

    def _evaluation_options(self, task: Task) -> tuple[Option, ...]:
        if not task.is_table or self.session.current_data.test_file:
            return ()
        return (
            Option(
                "evaluation",
                "How the result is tested",
                "choice",
                USUAL,
                "One test set: some rows are held out. Nested cross-validation: the whole "
                "tuning is done five times more, each time without a fifth of the rows, so "
                "that every row is tested once and smaller gains can be shown. The usual one "
                f"is nested where penalties are learned from fewer than {FEW_ROWS:,} rows.",
                choices=(USUAL, *EVALUATIONS),
                choice_labels=(
                    "The usual one",
                    "One test set",
                    f"Nested cross-validation ({OUTER_FOLDS} times as long)",
                ),
            ),
        )


def _molecule_options() -> tuple[Option, ...]:
    return (
        Option(
            "gamma_by",
            "How many base pairs are called",
            "choice",
            GAMMA_CHOICES[0],
            "A larger trade-off γ finds more of the true pairs and calls more wrong ones. It "
            "can be given, or chosen on training molecules held out: five fits more.",
            choices=GAMMA_CHOICES,
            choice_labels=(
                "As given below (γ)",
                "For the best F1",
                "So that a given share of the true pairs is found (sensitivity)",
            ),
        ),
        Option(
            "gamma",
            "Trade-off γ",
            "float",
            4.0,
            "How much a base pair counts beside an unpaired base. Used where it is given.",
            low=0.0,
            low_open=True,
            high=1e6,
        ),
        Option(
            "sensitivity",
            "Share of true pairs to find",
            "float",
            0.8,
            "Used where a share of the true pairs is to be found.",
            low=0.0,
            low_open=True,
            high=1.0,
        ),
    )


def _task_metrics(summary: DatasetSummary | None) -> dict[str, Metric]:
    from core.tuning.scores.metrics import METRICS  # not needed for the first paint

    task = summary.task if summary else Task.UNKNOWN
    return {name: metric for name, metric in METRICS.items() if task in metric.tasks}
