"""What models of sequences and molecules learn, and what they say of the examples that are watched.

The examples are training data; how good the model is on others, the results say.
"""

from __future__ import annotations

from typing import Any

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
        "rightly; it is {sure}\u00a0% sure on average."
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


def sequences_in_words(sequences: dict[str, Any]) -> str:
    """How many whole sequences are right."""
    words = (
        "It labels {tuned} of {count} sequences without any error, the default setting {default}."
    )
    return words.format(**sequences)


def pairs_in_words(pairs: dict[str, Any]) -> tuple[str, ...]:
    """How many base pairs each setting finds, and how many it calls wrongly."""
    words = (
        "On {molecules} test molecules the tuned model finds {right} of {true} true base pairs; "
        "{right} of the {called} pairs that it calls are right."
    )
    other = "The default setting finds {right}; {right} of the {called} it calls are right."
    return (
        words.format(molecules=pairs["molecules"], **pairs["tuned"]),
        other.format(**pairs["default"]),
    )


def found_in_short(counts: dict[str, int]) -> str:
    """Sensitivity and specificity of one setting: "finds 62 of 100 true base pairs; …"."""
    words = "Finds {found} of 100 true base pairs; {right} of 100 called pairs are right"
    return words.format(
        found=_of_hundred(counts["right"], counts["true"]),
        right=_of_hundred(counts["right"], counts["called"]),
    )


def _of_hundred(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"
