"""What models of sequences and molecules say of the examples that are watched.

The examples are training data; how good the model is on others, the results say.
"""

from __future__ import annotations

from app.text.number_format import format_decimals
from core.datasets.molecules import bracket_pairs
from core.tuning.events import MoleculesFolded, SequencesLabelled
from core.tuning.run_results import MoleculePairs, PairCounts, SequenceCounts


def sequence_examples_text(event: SequencesLabelled) -> str:
    """How many tokens of the watched sequences are right, and how sure the model is."""
    tokens = right = 0
    sure = 0.0
    for sequence in event.sequences:
        tokens += len(sequence.tokens)
        right += sum(a == b for a, b in zip(sequence.truth, sequence.labels, strict=True))
        sure += sum(max(shares, default=0.0) for shares in sequence.marginals)
    if not tokens:
        return ""
    words = (
        "In the {count} training sequences shown, the model labels {right} of {tokens} tokens "
        "rightly; it is {sure}\u00a0% sure on average."
    )
    return words.format(
        count=len(event.sequences),
        right=right,
        tokens=tokens,
        sure=format_decimals(100 * sure / tokens, 0),
    )


def molecule_examples_text(event: MoleculesFolded) -> str:
    """How many true base pairs are found, and how many called ones are right."""
    right = called = true = 0
    for molecule in event.molecules:
        predicted_pairs, true_pairs = (
            set(bracket_pairs(molecule.predicted)),
            set(bracket_pairs(molecule.truth)),
        )
        right, called, true = (
            right + len(predicted_pairs & true_pairs),
            called + len(predicted_pairs),
            true + len(true_pairs),
        )
    if not event.molecules:
        return ""
    words = (
        "In the {count} training molecules shown, the model finds {right} of {true} true base "
        "pairs; {right} of the {called} pairs it calls are right."
    )
    return words.format(count=len(event.molecules), right=right, true=true, called=called)


def sequences_text(sequences: SequenceCounts) -> str:
    """How many whole sequences are right."""
    return (
        f"It labels {sequences.tuned} of {sequences.count} sequences without any error, the "
        f"default setting {sequences.default}."
    )


def pairs_text(pairs: MoleculePairs) -> tuple[str, ...]:
    """How many base pairs each setting finds, and how many it calls wrongly."""
    tuned, default = pairs.tuned, pairs.default
    return (
        f"On {pairs.molecules} test molecules the tuned model finds {tuned.right} of {tuned.true} "
        f"true base pairs; {tuned.right} of the {tuned.called} pairs that it calls are right.",
        f"The default setting finds {default.right}; {default.right} of the {default.called} it "
        "calls are right.",
    )


def pairs_summary(counts: PairCounts) -> str:
    """Sensitivity and specificity of one setting: "finds 62 of 100 true base pairs; …"."""
    found = _of_hundred(counts.right, counts.true)
    right = _of_hundred(counts.right, counts.called)
    return f"Finds {found} of 100 true base pairs; {right} of 100 called pairs are right"


def _of_hundred(count: int, total: int) -> str:
    return f"{100 * count / total:.0f}" if total else "–"
