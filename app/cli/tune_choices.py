"""What `tune --help` ends with: models, strategies, options and metrics from the registries."""

import textwrap
from collections.abc import Iterable, Mapping

from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.tuning.plan import DECODINGS, DataPlan, Plan
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import METRICS, default_metric
from core.tuning.strategies.registry import STRATEGIES

_WIDTH = 98
_OF_EVERY_RUN = """
  metric=NAME            what the result is scored by (below)
  folds=N                folds of the cross-validation that scores a trial (default: {folds})
  time_limit=SECONDS     how long a trial may take (default: {limit})
  standardize=yes|no     whether models see standardized columns, where that matters to them
                         (default: {standardize})
  decoding=NAME          of sequences: {decodings} (default: {decoding})
  vocabulary=N           of topics: how many words count (default: {vocabulary})
  stop_words=NAME        of topics: auto, none, frequency, or a language: en, de, fr, es, it, pt,
                         nl, sv, da, pl, ru (default: {stop_words})
""".strip("\n")


def choices_text() -> str:
    """Models, strategies, options and metrics for `tune --help`."""
    kinds = {
        words: [strategy.name for strategy in STRATEGIES.values() if strategy.kind == kind]
        for words, kind in (("propose trials", "trials"), ("learn L2 penalties", "penalties"))
    }
    return "\n\n".join(
        (
            "Models (tunescope models says more), by task:\n"
            + _list_lines(_names_by_task(MODELS.values())),
            "Strategies (tunescope strategies says more, with their options and defaults):\n"
            + _list_lines(kinds),
            "Options of every run, as --option KEY=VALUE:\n" + _options_of_every_run(),
            "Metrics, as --option metric=NAME. The first of a line is the usual one; where a class"
            " is rare,\nmistakes have costs or models are averaged, another is taken, and that is"
            " said:\n" + _list_lines(_metrics_by_task()),
            "Trials where neither --trials nor --minutes is given:\n"
            + _list_lines(_strategies_by_budget()),
        )
    )


def _options_of_every_run() -> str:
    data = DataPlan("")
    plan = Plan(data, "", "")
    return _OF_EVERY_RUN.format(
        folds=plan.folds,
        limit="none" if plan.time_limit is None else plan.time_limit,
        standardize="yes" if plan.standardize else "no",
        decodings=" or ".join(DECODINGS),
        decoding=plan.decoding,
        vocabulary=data.vocabulary,
        stop_words=data.stop_words,
    )


def _names_by_task(entries: Iterable[Model | Metric]) -> dict[str, list[str]]:
    names_by_task: dict[str, list[str]] = {}
    for entry in entries:
        for task in entry.tasks:
            names_by_task.setdefault(task, []).append(entry.name)
    return names_by_task


def _metrics_by_task() -> dict[str, list[str]]:
    # The usual one first; sorting leaves the others in their order.
    return {
        task: sorted(names, key=lambda name: name != default_metric(task))
        for task, names in _names_by_task(METRICS.values()).items()
    }


def _strategies_by_budget() -> dict[str, list[str]]:
    names_by_budget: dict[str, list[str]] = {}
    for strategy in STRATEGIES.values():
        if strategy.kind == "trials" and not strategy.several:
            names_by_budget.setdefault(str(strategy.default_trials), []).append(strategy.name)
    return names_by_budget


def _list_lines(lists: Mapping[str, Iterable[str]]) -> str:
    together: dict[str, list[str]] = {}
    for name, items in lists.items():
        together.setdefault(", ".join(items), []).append(name)
    return "\n".join(
        textwrap.fill(
            f"{', '.join(names)}: {items}", _WIDTH, initial_indent="  ", subsequent_indent="      "
        )
        for items, names in together.items()
    )
