"""Which model and strategy to take for a dataset, and why, judged by its summary alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import FEW_LEVELS, ColumnSummary, DatasetSummary, DocumentSummary
from core.datasets.groups import OTHER
from core.datasets.summary import summarize
from core.datasets.task import TABLE_TASKS
from core.datasets.texts.ngrams import DIRECTIONS
from core.estimators.facts import ModelingFacts, Suggestion, model_scales, picture_kind
from core.estimators.model import Model
from core.estimators.multi_model import SEVERAL, selectable_models
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, is_installed, missing_package_text
from core.estimators.registry import MODELS
from core.extensions import extension_errors
from core.tuning.candidate_models import MAX_DENSE_BYTES, TEXT_WIDTH, minutes_for
from core.tuning.guidance.guidance_records import Advice, MissingModel, ModelAdvice, StrategyAdvice
from core.tuning.plan import FEW_ROWS
from core.tuning.scores.imbalance import rare_class
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Space, Strategy
from core.wording import count_text

_TRAINING_SHARE = 0.7
_ROWS_OF_A_GROUP = 20  # rows for every penalty that is learned
_VERY_WIDE = 500  # columns of a sparse file that are better not filled in
_DENSE_LIMIT = 4e9  # bytes


def advise(summary: DatasetSummary) -> Advice:
    """Every model and its strategies, the recommended ones first."""
    # What went wrong with an extension before this call was told then.
    facts, earlier_errors = _modeling_facts(summary), set(extension_errors())
    candidates = MODELS.answers(lambda model: _candidate(model, facts))
    best = _best_of({name: candidate.suggestion for name, candidate in candidates.items()})
    models = []
    for name, candidate in candidates.items():
        advice, suggestion = candidate.advice, candidate.suggestion
        if suggestion is not None and advice.fits_task:
            reason, is_best = suggestion.reason, name == best
            advice = replace(advice, recommended=is_best, reason=reason, suits=True)
        models.append(advice)
    models = [_with_joint_tuning(entry, models, summary) for entry in models]
    # Stable: models of one rank keep the order of the registry.
    models.sort(key=lambda entry: (not entry.fits_task, -candidates[entry.name].rank))
    fitting = {entry.name: candidates[entry.name] for entry in models if entry.fits_task}
    offers = STRATEGIES.answers(lambda strategy: _strategy_offer(strategy, fitting, facts))
    return Advice(
        models=models,
        strategies={name: _strategies(name, offers) for name in fitting},
        left_out=[sentence for sentence in extension_errors() if sentence not in earlier_errors],
    )


@dataclass(frozen=True)
class _Candidate:
    advice: ModelAdvice
    suggestion: Suggestion | None  # why to take it, if at all
    learned: bool  # whether penalties can be learned on it
    spaces: tuple[Space, Space]  # without and with class weights where a class is rare

    @property
    def rank(self) -> int:
        return 0 if self.suggestion is None else self.suggestion.rank


def _candidate(model: Model, facts: ModelingFacts) -> _Candidate:
    does_task = facts.task in model.tasks
    obstacle, needs, install = _obstacle(model, facts), "", ""
    if does_task and model.extra and not is_installed(model.extra):
        dependency = OPTIONAL_DEPENDENCIES[model.extra]
        needs, install = dependency.modules[0], dependency.command
    advice = ModelAdvice(
        name=model.name,
        title=model.title,
        good_for=model.good_for,
        cost=model.cost,
        reason=obstacle or model.warns(facts),
        fits_task=not obstacle,
        needs=needs,
        install=install,
        lacking=[MissingModel(model.title, model.extra)] if install else [],
        is_for_other_data=not does_task,
        rare=model.rare,
        picture=f"{model.name}-{picture_kind(facts.task)}",
        scales=model_scales(model.name, facts.task, model.complexity),
    )
    spaces: tuple[Space, Space] = ((), ())
    if does_task:
        plain = model.space_of(facts.task)
        spaces = (plain, model.space_of(facts.task, rare=True) if facts.rare else plain)
    suggestion = model.suggests(facts) if does_task else None
    return _Candidate(advice, suggestion, facts.task in model.loss, spaces)


def _with_joint_tuning(
    advice: ModelAdvice, models: list[ModelAdvice], summary: DatasetSummary
) -> ModelAdvice:
    if advice.name != SEVERAL:
        return advice
    selectable_names = selectable_models(MODELS, summary.task)
    dense = 8.0 * summary.rows * summary.features
    is_sparse = _has_texts(summary) or (summary.format == "libsvm" and dense > MAX_DENSE_BYTES)
    tuned_names = [name for name in selectable_names if MODELS[name].takes_sparse or not is_sparse]
    competing_models = [entry for entry in models if MODELS[entry.name].competes]
    return replace(
        advice,
        good_for=f"Tries {count_text(len(tuned_names), 'model')} in the minutes you give, and "
        "averages the best where that helps.",
        tries=[entry.title for entry in models if entry.name in tuned_names],
        lacking=[missing for entry in competing_models for missing in entry.lacking],
    )


def _modeling_facts(summary: DatasetSummary) -> ModelingFacts:
    features = summary.feature_columns
    # Beyond the columns that the summary lists, each counts as a number.
    unlisted = max(0, summary.features - len(features))
    input_count = sum(_input_count(column) for column in features)
    share = 1.0 if summary.test_rows else _TRAINING_SHARE
    counts = {entry.label: entry.count for entry in summary.classes}
    rows, task, structured = summary.rows, summary.task, summary.structured
    training = max(1, round(rows * share))
    groups = {name: columns for name, columns in summary.prefixes.items() if name != OTHER}
    column_count = sum(len(columns) for columns in groups.values())
    # Names that begin alike by chance make small groups, or leave most columns out.
    min_columns = max(3 * len(groups), summary.features / 2)
    return ModelingFacts(
        task=task,
        rows=rows,
        columns=summary.features,
        inputs=max(1, input_count + unlisted),
        classes=len(summary.classes),
        training=training,
        learning=rows if rows < FEW_ROWS and task.is_table else training,
        sparse=summary.format == "libsvm" and summary.features > _VERY_WIDE,
        groups=tuple(groups) if len(groups) > 1 and column_count >= min_columns else (),
        items=structured.items if structured else "",
        words=structured.vocabulary if isinstance(structured, DocumentSummary) else 0,
        rare=rare_class(task, counts) is not None,
        texts=_has_texts(summary),
    )


def _has_texts(summary: DatasetSummary) -> bool:
    has_text = any(column.kind == "text" for column in summary.feature_columns)
    return has_text and summary.task.is_table


def _input_count(column: ColumnSummary) -> int:
    if column.kind == "text":
        return DIRECTIONS  # where a model takes no sparse columns; the others take any number
    return max(1, column.distinct) if column.kind == "category" else 1


def _obstacle(model: Model, facts: ModelingFacts) -> str:
    """Why a model cannot be used here; "" if it can."""
    if facts.task not in model.tasks:
        if not facts.task.has_target:
            return "It predicts, and here nothing is to be predicted."
        # A model of structures says itself what it is for.
        if not facts.task.is_table or set(TABLE_TASKS).isdisjoint(model.tasks):
            return model.known_tasks[0].model_text
        if facts.task.has_numbers:
            return "It predicts classes, and here a number is to be predicted."
        return "It predicts numbers, and here classes are to be predicted."
    if not facts.task.has_target:
        if facts.training >= model.minibatch:
            return ""
        texts = f"{model.minibatch} texts at a time"
        return f"It learns from {texts}, and here are {facts.training:,} to train on."
    if needs := missing_package_text(model.extra):
        return f"It needs {needs}."
    # Of a category with more levels than these it takes means of the target.
    inputs = min(facts.inputs, (FEW_LEVELS + DIRECTIONS * facts.texts) * facts.columns)
    if not model.takes_sparse and 8.0 * facts.rows * inputs > _DENSE_LIMIT:
        need = 8e-9 * facts.rows * inputs
        return f"It would need {need:,.0f} GB of memory for {inputs:,} columns."
    return ""


def _best_of(suggestions: Mapping[str, Suggestion | None]) -> str:
    """The name with the best suggestion; "" for none."""
    ranks = {name: s.rank for name, s in suggestions.items() if s is not None}
    return max(ranks, key=ranks.__getitem__, default="")


_Offer = tuple[StrategyAdvice, dict[str, Suggestion | None]]  # and, by model, why to take it


def _strategy_offer(
    strategy: Strategy, models: Mapping[str, _Candidate], facts: ModelingFacts
) -> _Offer:
    suggestions = {}
    if not strategy.tasks or facts.task in strategy.tasks:
        for name, model in models.items():
            space = model.spaces[not strategy.numbers_only]
            if strategy.several != (name == SEVERAL):
                continue
            if (model.learned or strategy.kind == "trials") and strategy.suits(space):
                suggestions[name] = strategy.suggests(facts, space)
    columns = facts.columns + (TEXT_WIDTH if facts.texts else 0)
    minutes = minutes_for(facts.rows, columns, facts.classes)
    advice = StrategyAdvice(
        name=strategy.name,
        title=strategy.title,
        kind=strategy.kind,
        does=strategy.does,
        costs=(facts.structured and strategy.costs_structured) or strategy.costs,
        shows=strategy.shows,
        options=tuple(strategy.options),
        default_trials=strategy.default_trials,
        default_minutes=minutes if strategy.several else None,
        groups=_suiting_groups(strategy.kind, facts),
        uses_history=strategy.uses_history,
    )
    return advice, suggestions


def _strategies(model: str, offers: Mapping[str, _Offer]) -> list[StrategyAdvice]:
    suggestions = {
        name: by_model[model] for name, (_, by_model) in offers.items() if model in by_model
    }
    best = _best_of(suggestions)
    entries = [
        replace(offers[name][0], recommended=True, reason=suggestion.reason)
        if suggestion is not None and name == best
        else offers[name][0]
        for name, suggestion in suggestions.items()
    ]
    return sorted(entries, key=lambda entry: not entry.recommended)


def _suiting_groups(kind: str, facts: ModelingFacts) -> str:
    if kind == "penalties" and not facts.task.is_table:
        return "column"  # a group for every kind of parameter, as in the papers
    if kind != "penalties":
        return "single"
    if facts.groups:
        return "prefix"
    # The levels of a category share a penalty that is their own.
    has_levels = not facts.texts and facts.inputs >= facts.columns + FEW_LEVELS
    return "column" if has_levels and facts.columns * _ROWS_OF_A_GROUP <= facts.rows else "single"


def chosen_or_recommended(dataset: Dataset, model: str, strategy: str) -> tuple[str, str, str]:
    """Model, strategy and groups, recommended where a name is ""."""
    structured = dataset.task.is_structured
    if model and strategy and not structured:
        return model, strategy, "single"
    advice = advise(summarize(dataset))
    # Where none fits, the best one is refused with its reason.
    fitting = advice.fitting_models or advice.models[:1]
    fitting.sort(key=lambda entry: not entry.recommended)
    for name in [model] if model else [entry.name for entry in fitting]:
        offers = advice.strategies.get(name, [])  # the recommended one first
        groups = {offer.name: offer.groups for offer in offers}
        if not strategy and offers:
            return name, offers[0].name, offers[0].groups
        if strategy in groups:
            # Every parameter of a structured model has a kind; columns of a table may have none.
            return name, strategy, groups[strategy] if structured else "single"
    return model or fitting[0].name, strategy or "random", "single"
