"""The cards of the Strategy page: budget, values of a grid, costs of mistakes, options."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QWidget

from app.help.glossary import read_help
from app.look import appearance
from app.preferences import remembered_choices
from app.session.session import Session
from app.widgets.buttons import LinkButton
from app.widgets.cards import Card, CollapsibleSection
from app.widgets.forms import OptionForm
from app.widgets.layouts import LEFT, FlowLayout, add_to, clear_layout, in_grid, in_lines
from app.widgets.quiet_controls import QuietDoubleSpinBox, QuietSpinBox
from app.widgets.text_labels import apply_style, titled_control, wrapping_label
from core.datasets.task import Task
from core.estimators.registry import MODELS
from core.options import Option
from core.processes import processor_count
from core.tuning.guidance.guidance_records import RunEstimate, StrategyAdvice
from core.tuning.patience import patience_of, stop_rule_text, usual_patience
from core.tuning.plan import DECODINGS, EVALUATIONS, FEW_ROWS, GAMMA_CHOICES, OUTER_FOLDS
from core.wording import format_integer, format_value, shortened_text

MAX_MINUTES = 60 * 24 * 7
MAX_TRIALS = 100_000
MAX_VALUES = 40  # of one setting
MAX_COST = 1e6
MAX_CLASS = 20  # letters of a class over a number
USUAL, RECOMMENDED = "usual", "The recommended one"


def change_plan(session: Session, **fields: Any) -> None:
    """Change the plan, and remember it for the next start."""
    session.set_plan(**fields)
    remembered_choices.remember_plan(session.current_plan)


class BudgetCard(Card):
    """Minutes, trials, patience; the first limit ends the run."""

    def __init__(self, session: Session) -> None:
        caption = "Tuning ends at the first limit. You can stop at any time and keep the best."
        super().__init__("How long may it take?", caption)
        self.session = session
        self.minutes = QuietDoubleSpinBox(maximum=MAX_MINUTES, specialValueText="no limit")
        self.minutes.valueChanged.connect(lambda value: change_plan(session, minutes=value or None))
        self.trials = QuietSpinBox(minimum=1, maximum=MAX_TRIALS)
        self.trials.valueChanged.connect(lambda value: change_plan(session, trials=value or None))
        self.patience = QuietSpinBox(maximum=MAX_TRIALS, specialValueText="never")
        self.patience.valueChanged.connect(self._choose_patience)
        for control in (self.minutes, self.trials, self.patience):
            control.valueChanged.connect(self._update_units)
            control.setMaximumWidth(appearance.pixels(240))
        self._trials_limit = titled_control("Trials at most", self.trials)
        self._patience_limit = titled_control("Stop when nothing improves for", self.patience)
        limits = (titled_control("Time at most", self.minutes), self._trials_limit)
        self._holder = in_lines(*limits, self._patience_limit, gap=20, column_width=200)
        self.estimate = wrapping_label("")
        self.ends = wrapping_label("", "caption")
        add_to(self.body, self._holder, self.estimate, self.ends)

    def refresh(self, default_trials: int, default_minutes: float | None = None) -> None:
        """`default_trials` is 0 for a strategy without trials."""
        plan = self.session.plan
        if plan is None:
            return
        usual_minutes = default_minutes if plan.trials is None else None
        # Where minutes bound the run the trials need no limit, and 0 says so.
        is_bounded = plan.minutes is not None or default_minutes is not None
        usual_trials = 0 if is_bounded else default_trials
        minutes, trials, patience = map(QSignalBlocker, (self.minutes, self.trials, self.patience))
        with minutes, trials, patience:
            self.minutes.setValue(plan.minutes or usual_minutes or 0)
            self.trials.setRange(min(1, usual_trials), MAX_TRIALS)
            self.trials.setSpecialValueText("" if usual_trials else "no limit")
            self.trials.setValue(plan.trials or usual_trials)
            self.patience.setValue(patience_of(plan))
        self._update_units()
        for control in (self._trials_limit, self._patience_limit, self.ends):
            control.setVisible(default_trials > 0)
        self.ends.setText(stop_rule_text(plan))
        self._holder.updateGeometry()
        self.show_estimate()

    def _update_units(self) -> None:
        units: dict[QuietSpinBox | QuietDoubleSpinBox, str]
        units = {self.minutes: "minute", self.trials: "trial", self.patience: "trial"}
        for control, unit in units.items():
            control.setSuffix(f" {unit}" if control.value() == 1 else f" {unit}s")

    def _choose_patience(self, value: int) -> None:
        """The usual number follows the strategy."""
        usual = usual_patience(self.session.current_plan.strategy)
        change_plan(self.session, patience=None if value == usual else value)

    def show_estimate(self) -> None:
        estimate = self.session.estimate
        sentence = "Estimating the time …" if estimate is None else estimate.sentence
        is_bad = estimate is not None and estimate.unusable
        if estimate is not None and not is_bad:
            sentence = f"{sentence[:1].upper()}{sentence[1:]}."
        self.estimate.setText(sentence)
        apply_style(self.estimate, voice="bad" if is_bad else "")


class ValuesCard(Card):
    """Each setting's values, for a grid only."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._shown_for: tuple[str, str] | None = None
        self.table = in_grid(20, 6, 0, 1)
        self.body.addLayout(self.table)
        self.hide()

    def refresh(self) -> None:
        plan, estimate = self.session.plan, self.session.estimate
        if plan is None or (plan.model, plan.strategy) != self._shown_for:
            self._shown_for = None
        if plan is not None and estimate and estimate.values:
            self._shown_for = (plan.model, plan.strategy)
            self._show_values(estimate)
        # While the next estimate is on its way the table stays, or it would flicker at every
        # change.
        elif estimate:
            self._shown_for = None
        self.setVisible(self._shown_for is not None)

    def _show_values(self, estimate: RunEstimate) -> None:
        settings, trials = estimate.settings, estimate.trials
        words = "All are tried."
        if trials < settings:
            words = f"{format_integer(trials)} of them are tried, the coarse ones first."
        caption = f"Combined, these make {format_integer(settings)} settings. {words}"
        self.set_words("Values that will be tried", caption)
        clear_layout(self.table)
        for row, (setting, values) in enumerate(estimate.values.items()):
            self.table.addWidget(wrapping_label(setting), row, 0, Qt.AlignmentFlag.AlignTop)
            self.table.addWidget(wrapping_label(_values_text(values)), row, 1)


def _values_text(values: list[Any]) -> str:
    if len(values) <= MAX_VALUES:
        return "   ".join(format_value(value) for value in values)
    half_count = MAX_VALUES // 2
    return f"{_values_text(values[:half_count])}   …   {_values_text(values[-half_count:])}"


class MistakesCard(Card):
    """Two numbers, one a kind of mistake; for two classes only."""

    def __init__(self, session: Session) -> None:
        super().__init__(
            "What does a mistake cost?",
            "Where one kind of mistake is worse than the other, say how many times. The "
            "threshold is then where it costs least, in the exported model too.",
        )
        self.session = session
        self._classes: tuple[str, ...] = ()
        self.controls: dict[str, QuietDoubleSpinBox] = {}
        self._holder = QWidget()
        self._row = FlowLayout(self._holder, gap=20, column_width=240)
        self.threshold_note = wrapping_label("", "caption")
        add_to(self.body, self._holder, self.threshold_note)

    def refresh(self) -> None:
        plan, summary = self.session.plan, self.session.summary
        if plan is None or summary is None:
            return
        model = MODELS.get(plan.model)
        # A model that is exported as a folder has no threshold.
        has_threshold = summary.task.has_two_classes and model is not None and not model.folder
        self.setVisible(has_threshold)
        if not has_threshold:
            return
        classes = tuple(entry.label for entry in summary.classes)
        if classes != self._classes:
            self._rebuild_controls(classes)
        for name, control in self.controls.items():
            with QSignalBlocker(control):
                control.setValue(plan.costs.get(name, 1.0))
        note = "Both cost the same: each row gets its likelier class."
        if plan.costs:
            note = (
                "The threshold is chosen on the training rows alone, each predicted by a "
                "model that has not seen it."
            )
        self.threshold_note.setText(note)

    def _rebuild_controls(self, classes: tuple[str, ...]) -> None:
        clear_layout(self._row)
        self._classes, self.controls = classes, {}
        for name, predicted_name in (classes, classes[::-1]):
            control = QuietDoubleSpinBox(decimals=2, maximum=MAX_COST)
            control.setMaximumWidth(appearance.pixels(240))
            control.valueChanged.connect(self._set_costs)
            class_names = (shortened_text(text, MAX_CLASS) for text in (name, predicted_name))
            words = "Calling “{}” rows “{}” costs".format(*class_names)
            self._row.addWidget(titled_control(words, control))
            self.controls[name] = control

    def _set_costs(self) -> None:
        costs = {name: control.value() for name, control in self.controls.items()}
        # Equal costs need no threshold; two zeros are left for the worker to refuse in words.
        are_equal = len(set(costs.values())) == 1 and all(costs.values())
        self.session.set_plan(costs={} if are_equal else costs)


class AdvancedCard(Card):
    """Two forms, made from descriptions of options."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._recommended_metric = ""  # "" while it is unknown
        self.section = CollapsibleSection("Advanced", "advanced")
        self._strategy_title = wrapping_label("This strategy", "section")
        self.strategy_form = OptionForm()
        self.strategy_form.changed.connect(self._on_strategy_option_changed)
        self.run_form = OptionForm()
        self.run_form.changed.connect(self._on_run_option_changed)
        self.usual = LinkButton("Back to the usual values", self._back_to_usual)
        self.usual.setToolTip("Of the time, the trials and everything here.")
        self._differs = wrapping_label("Some values are not the usual ones.", "caption")
        of_run = (wrapping_label("Every strategy", "section"), self.run_form, (self.usual, LEFT))
        add_to(self.section.body, self._strategy_title, self.strategy_form, *of_run)
        add_to(self.body, self.section, self._differs)

    def refresh(self, strategy: StrategyAdvice | None) -> None:
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
            **vars(plan),
            "metric": plan.metric or USUAL,
            "time_limit": plan.time_limit or 0,
            "evaluation": plan.evaluation or USUAL,
        }
        self.run_form.show_options(self._run_options(), values)

    def _on_strategy_option_changed(self, name: str, value: Any) -> None:
        self.session.set_option(name, value)
        remembered_choices.remember_plan(self.session.current_plan)

    def _back_to_usual(self) -> None:
        change_plan(self.session, **remembered_choices.usual_values(self.session.current_plan))

    def _on_run_option_changed(self, name: str, value: Any) -> None:
        if name in ("metric", "evaluation"):
            # The plan says nothing of what is usual, so that the usual one may change with the
            # data.
            value = "" if value == USUAL else value
        if name == "time_limit":
            # 0 seconds stand for no limit.
            value = value or None
        change_plan(self.session, **{name: value})

    @property
    def _dataset_task(self) -> Task:
        return self.session.summary.task if self.session.summary else Task.UNKNOWN

    def _run_options(self) -> tuple[Option, ...]:
        # Not for the first paint: metrics bring scipy.
        from core.tuning.scores.metrics import METRICS

        estimate, task = self.session.estimate, self._dataset_task
        metrics = {name: metric for name, metric in METRICS.items() if task in metric.tasks}
        if estimate and estimate.metric and not self.session.current_plan.metric:
            self._recommended_metric = estimate.metric
        recommended = metrics.get(self._recommended_metric)
        words = f"The recommended one: {recommended.title}" if recommended else RECOMMENDED
        titles = tuple(metric.title for metric in metrics.values())
        score = run_option("metric", (USUAL, *metrics), (words, *titles))
        of_all = map(run_option, ("seed", "workers", "time_limit"))
        return (run_option("folds"), score, *of_all, *self._task_options(), run_option("refit"))

    def _task_options(self) -> tuple[Option, ...]:
        task = self._dataset_task
        if task.has_pairs:
            pairs_called = run_option("gamma_by", GAMMA_CHOICES)
            return (pairs_called, run_option("gamma"), run_option("sensitivity"))
        if task.has_sequences:
            return (run_option("decoding", DECODINGS),)
        # A second file is the test set; nothing is left to choose.
        has_choice = task.is_table and not self.session.current_data.test_file
        tests = [run_option("evaluation", (USUAL, *EVALUATIONS))] * has_choice
        return (*tests, run_option("standardize"))


def run_option(name: str, choices: Sequence[str] = (), labels: Sequence[str] = ()) -> Option:
    """An option of every strategy, whose words are those of the help."""
    fields: dict[str, Any] = read_help("run_options.json")[name]
    facts = {"processors": processor_count(), "few_rows": f"{FEW_ROWS:,}", "folds": OUTER_FOLDS}
    labels = labels or [label.format(**facts) for label in fields.get("choice_labels", ())]
    words = {"help": fields["help"].format(**facts), "choice_labels": tuple(labels)}
    return Option(name, **fields | words, choices=tuple(choices))
