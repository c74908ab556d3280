"""Options without effect in a run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.tuning.problem import Problem


def unused_option_texts(arguments: argparse.Namespace, problem: Problem) -> list[str]:
    """A sentence for each argument without effect on this problem."""
    strategy, task = problem.strategy, problem.dataset.task
    strategy_options = {option.name for option in strategy.options}
    named_options = {text.partition("=")[0].strip() for text in arguments.option}
    general_options = named_options - strategy_options
    reasons = {}
    if strategy.kind == "penalties":
        bound = next((name for name in ("max_steps", "steps") if name in strategy_options), "")
        cure = f"; --option {bound}=N bounds its steps" if bound else ""
        why = f"{strategy.name} learns penalties and makes no trials"
        if arguments.trials is not None:
            reasons["--trials"] = why + cure
        learned = f"{strategy.name} learns the penalty and searches no ranges"
        reasons |= {f"--{name}": learned for name in ("range", "fix") if getattr(arguments, name)}
        if arguments.patience is not None:
            reasons["--patience"] = why
        if arguments.workers not in (None, 1):
            reasons["--workers"] = why
        if arguments.cluster:
            reasons["--cluster"] = f"{strategy.name} is one fit, which is made on this computer"
        without_effect = [name for name in ("folds", "time_limit") if name in general_options]
        reasons |= {f"--option {name}": why for name in without_effect}
        if "counts" in named_options & strategy_options and not task.is_structured:
            reasons["--option counts"] = "every weight of a table counts"
    elif arguments.groups:
        reasons["--groups"] = f"{strategy.name} tunes settings and learns no penalties of groups"
    if "standardize" in general_options and not (problem.model.scaled or strategy.several):
        reasons["--option standardize"] = f"{problem.model.name} takes columns as they are"
    if "decoding" in general_options and "decoding" not in task.parameters:
        reasons["--option decoding"] = "only sequences are decoded"
    if arguments.gamma and "gamma" not in task.parameters:
        reasons["--gamma"] = "only molecules have base pairs to weigh"
    if arguments.test_size is not None and problem.outer:
        reasons["--test-size"] = "in nested cross-validation every row tests once"
    return [f"{option} has no effect: {why}." for option, why in reasons.items()]
