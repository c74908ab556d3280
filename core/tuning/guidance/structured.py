"""Guidance for sequences and molecules: which learner, why, and what each really costs here.

For sequences the gradient was ahead of the default and of MM on parts of an English treebank of 60
to 300 sentences, where the weights outnumber the tokens and most belong to words that come once or
twice: MM switches such kinds off. For molecules MM by kind was ahead of the default by log loss.
"""

from __future__ import annotations

_COSTS = {
    "mm": "As much as five to ten fits: no trials, and a fifth of the training data is held out "
    "only to see that the result beats the default.",
    "direct": "As much as ten fits or more, and two to see that the result beats the default.",
    "evidence": "Hundreds of fits: at each step it is estimated anew how much the data determines, "
    "which here takes many passes over all of it.",
    "gradient": "Some dozens of fits on a part of the training data; five times as many where so "
    "little can be held out that every part takes its turn.",
}


def best_structured_learner(task: str, weights: int, training: int) -> tuple[str, str]:
    """The recommended learner and the reason.

    Args:
        task: sequence or structure.
        weights: of the model, for sequences.
        training: tokens or molecules to train on.
    """
    if task == "sequence":
        return "gradient", (
            f"{weights:,} weights for {training:,} training tokens, most of them for words that "
            "are rare: sequences held out show how strongly to hold back each kind of weights."
        )
    return "mm", (
        "Some kinds of weights matter more than others: MM learns how strongly to hold back each "
        "kind, and needs no validation data."
    )


def structured_costs(strategy: str, usual: str) -> str:
    """What a strategy costs for sequences and molecules, a sentence; the usual one for trials."""
    return _COSTS.get(strategy, usual)
