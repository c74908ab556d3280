"""What models of sequences and molecules learn, and what they say of the examples that are watched.

The examples are training data; how good the model is on others, the results say.
"""

from __future__ import annotations

from app.text.numbers import fixed
from core.datasets.molecules import bracket_pairs
from core.tuning.events import MoleculesFolded, SequencesLabelled


def what_is_learned(task: str) -> str:
    """What a model of this task learns, in a sentence; "" for tables."""
    return {
        "sequence": (
            "The model learns which features speak for which label, and which label tends to "
            "follow which."
        ),
        "structure": (
            "The model learns which base pairs, stacks and loops speak for a fold, from molecules "
            "whose fold is known."
        ),
    }.get(task, "")


def of_sequences(event: SequencesLabelled) -> str:
    """How many tokens of the watched sequences are right, and how sure the model is."""
    tokens = right = 0
    sure = 0.0
    for one in event.sequences:
        tokens += len(one.tokens)
        right += sum(a == b for a, b in zip(one.truth, one.labels, strict=True))
        sure += sum(max(shares, default=0.0) for shares in one.marginals)
    if not tokens:
        return ""
    words = (
        "In the {count} training sequences shown, the model labels {right} of {tokens} tokens "
        "rightly; it is {sure} % sure on average."
    )
    return words.format(
        count=len(event.sequences), right=right, tokens=tokens, sure=fixed(100 * sure / tokens, 0)
    )


def of_molecules(event: MoleculesFolded) -> str:
    """How many true base pairs are found, and how many called ones are right."""
    right = called = true = 0
    for one in event.molecules:
        said, there = set(bracket_pairs(one.predicted)), set(bracket_pairs(one.truth))
        right, called, true = right + len(said & there), called + len(said), true + len(there)
    if not event.molecules:
        return ""
    words = (
        "In the {count} training molecules shown, the model finds {right} of {true} true base "
        "pairs; {right} of the {called} pairs it calls are right."
    )
    return words.format(count=len(event.molecules), right=right, true=true, called=called)
