"""Guidance: which model and strategy to take for this data, and why, with the data's numbers.

It works on the plain summary of a dataset, so that it needs neither the data nor scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.datasets.groups import OTHER
from core.datasets.texts.ngrams import DIRECTIONS
from core.estimators.facts import Facts, Suggestion
from core.estimators.model import Model
from core.estimators.optional_parts import OPTIONAL_PARTS, is_installed, lacking
from core.estimators.registry import MODELS
from core.estimators.several import SEVERAL, choosable
from core.extensions import faults
from core.tuning.contenders import MOST_DENSE, TEXT_WIDTH, minutes_for
from core.tuning.evaluation import FEW_ROWS, TABLES
from core.tuning.guidance.forecast import estimate
from core.tuning.scores.imbalance import rare_class
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Space, Strategy

__all__ = ["advise", "estimate"]

_TRAINING_SHARE = 0.7
_VERY_WIDE = 500  # columns of a sparse file that are better not filled in
_DENSE_LIMIT = 4e9  # bytes

_ONLY_FOR = {
    "sequence": "It labels the tokens of sequences.",
    "structure": "It folds RNA molecules.",
    "topics": "It finds the topics of texts.",
}


def advise(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Every model and its strategies, the recommended ones first.

    Args:
        summary: as `core.datasets.summary.summarize` gives it.

    Returns:
        ``models``: a list of {name, title, good_for, cost, recommended, suits, reason, fits_task,
        needs, install}: suits is whether the reason speaks for it, needs and install the package
        that it lacks and the command that brings it, "" for none. The entry of several models has
        {tries, alone, lacking} beside: titles of the models that are tuned together and of those
        that are tuned by themselves only, and {title, needs, install} of those that a package would
        bring;
        ``strategies``: {model: list of {name, title, kind, does, costs, shows, recommended,
        reason, options, default_trials, default_minutes, groups, uses_history}}, where groups is
        the regularization groups that suit the data; ``left_out``: a sentence for each extension
        that failed here. Models that do not fit come last, with the reason, and without strategies.
    """
    facts, failed = _facts(summary), set(faults())
    found = MODELS.answers(lambda model: _model(model, facts))
    best, _ = _best({name: one.suggestion for name, one in found.items()})
    models = [one.entry for one in found.values()]
    for entry in models:
        suggestion = found[entry["name"]].suggestion
        if suggestion is not None and entry["fits_task"]:
            entry |= {"recommended": entry["name"] == best, "reason": suggestion.reason}
            entry["suits"] = True
    for entry in models:
        if entry["name"] == SEVERAL:
            entry |= _together(models, summary)
    models.sort(key=lambda entry: (not entry["fits_task"], -found[entry["name"]].rank))
    fitting = {entry["name"]: found[entry["name"]] for entry in models if entry["fits_task"]}
    offers = STRATEGIES.answers(lambda strategy: _offers(strategy, fitting, facts))
    return {
        "models": models,
        "strategies": {name: _strategies(name, offers) for name in fitting},
        "left_out": [sentence for sentence in faults() if sentence not in failed],
    }


@dataclass(frozen=True)
class _Found:
    """What a model says of the data.

    Attributes:
        entry: of the advice.
        suggestion: why it is the model to take, where it may be.
        learned: whether penalties can be learned on it.
        spaces: its search space without and with class weights where a class is rare.
    """

    entry: dict[str, Any]
    suggestion: Suggestion | None
    learned: bool
    spaces: tuple[Space, Space]

    @property
    def rank(self) -> int:
        """How well it suits the data by its own word; 0 where it does not suggest itself."""
        return 0 if self.suggestion is None else self.suggestion.rank


def _model(model: Model, facts: Facts) -> _Found:
    fits = facts.task in model.tasks
    obstacle = _obstacle(model, facts)
    entry = {
        "name": model.name,
        "title": model.title,
        "good_for": model.good_for,
        "cost": model.cost,
        "recommended": False,
        "suits": False,
        "reason": obstacle or model.warns(facts),
        "fits_task": not obstacle,
        **_lacking(model, facts),
    }
    spaces: tuple[Space, Space] = ((), ())
    if fits:
        plain = model.space_of(facts.task)
        spaces = (plain, model.space_of(facts.task, rare=True) if facts.rare else plain)
    return _Found(entry, model.suggests(facts) if fits else None, facts.task in model.loss, spaces)


def _together(models: list[dict[str, Any]], summary: Mapping[str, Any]) -> dict[str, Any]:
    """Which models are tuned together, which are not, and which a package would bring."""
    there = choosable(MODELS, summary["task"])
    dense = 8.0 * summary["rows"] * summary["features"]
    sparse = _has_texts(summary) or (summary["format"] == "libsvm" and dense > MOST_DENSE)
    tried = [name for name in there if MODELS[name].takes_sparse or not sparse]
    others = [one for one in models if one["name"] not in (*tried, SEVERAL)]
    competing = [one for one in others if MODELS[one["name"]].competes]
    return {
        "tries": [one["title"] for one in models if one["name"] in tried],
        "alone": [one["title"] for one in others if one["fits_task"]],
        "lacking": [
            {name: one[name] for name in ("title", "needs", "install")}
            for one in competing
            if one["install"]
        ],
    }


def _facts(summary: Mapping[str, Any]) -> Facts:
    features = [column for column in summary["columns"] if column["role"] == "feature"]
    # Beyond the columns that the summary lists, each counts as a number.
    unlisted = max(0, summary["features"] - len(features))
    spread = sum(_inputs(column) for column in features)
    sparse = summary["format"] == "libsvm"
    share = 1.0 if summary["test_rows"] else _TRAINING_SHARE
    counts = {one["label"]: one["count"] for one in summary["classes"]}
    rows, task = summary["rows"], summary["task"]
    training = max(1, round(rows * share))
    return Facts(
        task=task,
        rows=rows,
        columns=summary["features"],
        inputs=max(1, spread + unlisted),
        classes=len(summary["classes"]),
        training=training,
        learning=rows if rows < FEW_ROWS and task in TABLES else training,
        sparse=sparse and summary["features"] > _VERY_WIDE,
        groups=_groups(summary),
        items=summary.get("structured", {}).get("items", ""),
        words=summary.get("structured", {}).get("vocabulary", 0),
        rare=rare_class(task, counts) is not None,
        texts=_has_texts(summary),
    )


def _has_texts(summary: Mapping[str, Any]) -> bool:
    """Whether words of texts become columns."""
    kinds = {(column["role"], column["kind"]) for column in summary["columns"]}
    return summary["task"] in TABLES and ("feature", "text") in kinds


def _groups(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups that column names form, if they say something: most columns, a few in each."""
    named = {name: of for name, of in summary["prefixes"].items() if name != OTHER}
    covered = sum(len(columns) for columns in named.values())
    telling = len(named) > 1 and covered >= max(3 * len(named), summary["features"] / 2)
    return tuple(named) if telling else ()


def _inputs(column: Mapping[str, Any]) -> int:
    if column["kind"] == "text":
        return DIRECTIONS  # where a model takes no sparse columns; the others take any number
    return max(1, column["distinct"]) if column["kind"] == "category" else 1


def _obstacle(model: Model, facts: Facts) -> str:
    """Why a model cannot be used here; "" if it can."""
    if facts.task not in model.tasks:
        if facts.task == "topics":
            return "It predicts, and here nothing is to be predicted."
        if facts.task in _ONLY_FOR or set(model.tasks) <= set(_ONLY_FOR):
            return _ONLY_FOR.get(model.tasks[0], "It takes every row by itself.")
        if facts.task == "regression":
            return "It tells classes apart, and here a number is to be predicted."
        return "It predicts numbers, and here classes are to be told apart."
    if facts.task == "topics":
        return _too_few_texts(model, facts)
    if needs := lacking(model.extra):
        return f"It needs {needs}."
    if not model.takes_sparse and 8.0 * facts.rows * facts.inputs > _DENSE_LIMIT:
        need = 8e-9 * facts.rows * facts.inputs
        return f"It would need {need:,.0f} GB of memory for {facts.inputs:,} columns."
    return ""


def _too_few_texts(model: Model, facts: Facts) -> str:
    """Why these are too few texts to find topics in; "" if they are enough."""
    if facts.training >= model.minibatch:
        return ""
    return (
        f"It learns from {model.minibatch} texts at a time, and here are {facts.training:,} to "
        "train on."
    )


def _lacking(model: Model, facts: Facts) -> dict[str, str]:
    """The package that a model would need for this task, and the command that brings it."""
    if facts.task not in model.tasks or not model.extra or is_installed(model.extra):
        return {"needs": "", "install": ""}
    part = OPTIONAL_PARTS[model.extra]
    return {"needs": part.modules[0], "install": part.command}


def _best(suggestions: Mapping[str, Suggestion | None]) -> tuple[str, str]:
    """The name with the suggestion of the highest rank, and its reason; "" where there is none."""
    there = {name: one for name, one in suggestions.items() if one is not None}
    if not there:
        return "", ""
    best = max(there, key=lambda name: there[name].rank)
    return best, there[best].reason


_Offers = dict[str, Suggestion | None]


def _offers(
    strategy: Strategy, models: Mapping[str, _Found], facts: Facts
) -> tuple[dict[str, Any], _Offers]:
    """The strategy's entry in the advice, and {model: its suggestion} of those that it suits."""
    suggestions = {}
    if not strategy.tasks or facts.task in strategy.tasks:
        for name, model in models.items():
            space = model.spaces[not strategy.numbers_only]
            if strategy.several != (name == SEVERAL):
                continue
            if (model.learned or strategy.kind == "trials") and strategy.suits(space):
                suggestions[name] = strategy.suggests(facts, space)
    entry = {
        "name": strategy.name,
        "title": strategy.title,
        "kind": strategy.kind,
        "does": strategy.does,
        "costs": (facts.structured and strategy.costs_structured) or strategy.costs,
        "shows": strategy.shows,
        "recommended": False,
        "reason": "",
        "options": [asdict(option) for option in strategy.options],
        "default_trials": strategy.default_trials,
        "default_minutes": _minutes(facts) if strategy.several else None,
        "groups": _suiting_groups(strategy.kind, facts),
        "uses_history": strategy.uses_history,
    }
    return entry, suggestions


def _strategies(
    model: str, offers: Mapping[str, tuple[dict[str, Any], _Offers]]
) -> list[dict[str, Any]]:
    """The entries of the strategies that suit a model, the recommended one first."""
    suited = {name: (entry, of[model]) for name, (entry, of) in offers.items() if model in of}
    best, why = _best({name: suggestion for name, (_, suggestion) in suited.items()})
    entries = [
        {**entry, "recommended": name == best, "reason": why if name == best else ""}
        for name, (entry, _) in suited.items()
    ]
    return sorted(entries, key=lambda entry: not entry["recommended"])


def _minutes(facts: Facts) -> float:
    """How long several models are tuned where nobody said."""
    columns = facts.columns + (TEXT_WIDTH if facts.texts else 0)
    return minutes_for(facts.rows, columns, facts.classes)


def _suiting_groups(kind: str, facts: Facts) -> str:
    if kind == "penalties" and facts.task in _ONLY_FOR:
        return "column"  # a group for every kind of parameter, as in the papers
    return "prefix" if kind == "penalties" and facts.groups else "single"
